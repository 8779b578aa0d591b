"""What must hold in every state of a world. What a table is to answer, a plain dict states that takes the requests."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TypeAlias

from hudi_model import metadata
from hudi_model.actions import CleanMetadata, CleanPlan, SavepointMetadata, State, TimelineEntry
from hudi_model.history import history_instants
from hudi_model.queries import read_as_of
from hudi_model.rejection import Rejection
from hudi_model.requests import Operation, Request
from hudi_model.tables import Readings, Table
from hudi_model.timeline import DATA_ACTIONS, timeline_of
from hudi_model_tools.explore import Law
from hudi_model_tools.protocol import Process, World
from hudi_model_tools.transitions import timeline_faults
from hudi_model_tools.violations import metadata_violations

from hudi_conformance.verification.properties.histories import COMMIT_TIME, EVENT_TIME, Place, Row, place_of, rows_of
from hudi_conformance.verification.properties.registry import Counterexample

LawOf: TypeAlias = Callable[[World], Law]
"""A law, made for the world that a search starts from."""
Key: TypeAlias = Callable[[World], Hashable]


def remembering(law: Law, key: Key) -> Law:
    """A law that is asked once for all states which are the same to it."""
    known: dict[Hashable, str] = {}

    def law_of(world: World) -> str:
        place = key(world)
        if place not in known:
            known[place] = law(world)
        return known[place]

    return law_of


def writers_of(world: World) -> tuple[Hashable, ...]:
    """Which write is whose."""
    return tuple(one.local.value.instant for one in world.processes)


def of_the_table(world: World) -> Hashable:
    """What a law looks at that is about the table and who wrote it."""
    return world.shared.table.number, writers_of(world)


def answers(start: World) -> Law:
    """The table holds what the completed writes put into it, one after the other as they completed."""
    before = rows_of(start.shared.table.value)

    def law(world: World) -> str:
        table = world.shared.table.value
        expected = serial(before, completed_requests(world, table.timeline), mode_of(table))
        try:
            found = rows_of(table)
        except (Rejection, Counterexample) as error:
            return f"the table cannot be read: {error}"
        return (
            "" if found == expected else f"the table holds {shown(found)}, the completed writes make {shown(expected)}"
        )

    return remembering(law, of_the_table)


def completed_requests(world: World, entries: Iterable[TimelineEntry]) -> tuple[Request, ...]:
    """The requests of the writes that have completed, in the order of their completion."""
    done = {one.requested: str(one.completed or one.requested) for one in entries if one.state is State.COMPLETED}
    writers = (one.local.value for one in world.processes if one.local.value.request.rows)
    ended = sorted(
        (done[local.instant], local.request.rows[0].values["note"], local) for local in writers if local.instant in done
    )
    return tuple(local.request for _, _, local in ended)


def serial(before: Mapping[Place, Row], requests: Iterable[Request], mode: str) -> dict[Place, Row]:
    """Rows after requests, one after the other."""
    held = dict(before)
    for request in requests:
        for row in (dict(record.values) for record in request.rows):
            place = str(row["day"]), str(row["id"])
            if request.operation is Operation.DELETE:
                held.pop(place, None)
            elif mode == COMMIT_TIME or place not in held or row["ts"] >= held[place]["ts"]:
                held[place] = row
    return held


def mode_of(table: Table) -> str:
    """How a table merges."""
    assert isinstance(table.properties, Mapping)
    by_commit = COMMIT_TIME in table.properties.values() or "OverwriteWithLatest" in str(table.properties)
    return COMMIT_TIME if by_commit else EVENT_TIME


def shown(rows: Mapping[Place, Row]) -> str:
    """Rows in few words."""
    return ", ".join(f"{day}/{key}={row['note']}" for (day, key), row in sorted(rows.items())) or "nothing"


def nothing_uncommitted(_: World) -> Law:
    """No row is seen whose write has not completed."""

    def law(world: World) -> str:
        table = world.shared.table.value
        done = {request.rows[0].values["note"] for request in completed_requests(world, table.timeline)}
        others = {one.name for one in world.processes} - done
        try:
            early = [row for row in rows_of(table).values() if row["note"] in others]
        except (Rejection, Counterexample) as error:
            return f"the table cannot be read: {error}"
        return f"{early[0]['note']} is seen and has not completed" if early else ""

    return remembering(law, of_the_table)


def readers(start: World) -> Law:
    """A reader gets the rows of the writes that had completed when it picked its snapshot, whenever it reads them."""
    before = rows_of(start.shared.table.value)

    def law(world: World) -> str:
        return next(filter(None, (fault_of_reader(world, one, before) for one in readers_of(world))), "")

    return remembering(law, lambda world: (world.processes, writers_of(world)))


def readers_of(world: World) -> Iterator[Process]:
    """The readers that have picked a snapshot."""
    return (one for one in world.processes if one.program == "reader" and one.local.value.seen)


def fault_of_reader(world: World, reader: Process, before: Mapping[Place, Row]) -> str:
    """What is wrong with what a reader has read so far."""
    local = reader.local.value
    if local.refused:
        return f"{reader.name} cannot read its snapshot: {local.refused}"
    expected = serial(before, completed_requests(world, local.seen), mode_of(world.shared.table.value))
    fields = ("id", "day", "ts", "note")
    rows = [{name: record.values.get(name) for name in fields} for record in local.rows]
    strange = [row for row in rows if expected.get((str(row["day"]), str(row["id"]))) != row]
    if strange:
        return f"{reader.name} reads {strange[0]['id']!s}={strange[0]['note']!s}, its snapshot holds {shown(expected)}"
    return (
        f"{reader.name} reads {len(rows)} of {shown(expected)}"
        if not local.slices and len(rows) < len(expected)
        else ""
    )


def snapshots_stay(_: World) -> Law:
    """What had completed up to a reader's snapshot never changes afterwards."""

    def law(world: World) -> str:
        for reader in readers_of(world):
            seen = {one.name for one in reader.local.value.seen}
            upto = max(one.completed or one.requested for one in reader.local.value.seen)
            done = (one for one in world.shared.table.value.timeline if one.state is State.COMPLETED)
            late = [one for one in done if (one.completed or one.requested) <= upto and one.name not in seen]
            if late:
                return f"{late[0].name} completed by {upto}, up to which {reader.name} had read the timeline before"
        return ""

    return law


def travel_stays(readings: Readings) -> LawOf:
    """As of a reader's snapshot the table answers what the snapshot holds, at whatever later moment it is asked."""

    def made(start: World) -> Law:
        before = rows_of(start.shared.table.value)
        return lambda world: next(
            filter(None, (fault_of_travel(world, one, before, readings) for one in readers_of(world))), ""
        )

    return made


def fault_of_travel(world: World, reader: Process, before: Mapping[Place, Row], readings: Readings) -> str:
    """What has changed of a moment that a reader saw."""
    table, seen = world.shared.table.value, reader.local.value.seen
    upto = max(one.completed or one.requested for one in seen)
    expected = serial(before, completed_requests(world, seen), mode_of(table))
    answered = [dict(one) for one in read_as_of(table, upto, readings).rows]
    found = {place_of(one, partitioned=True): one for one in answered}
    return "" if found == expected else f"as of {upto}: {shown(found)}; it was {shown(expected)}"


def one_holder(_: World) -> Law:
    """At most one process takes itself for the holder of the lock."""

    def law(world: World) -> str:
        holders = [one.name for one in world.processes if one.local.value.holds]
        return f"{' and '.join(holders)} hold the lock" if len(holders) > 1 else ""

    return law


def valid_times(_: World) -> Law:
    """The timeline has no fault: no time twice, no completion before its request, no state skipped.

    Actions that the history holds already are on their way out.
    """

    def law(world: World) -> str:
        table = world.shared.table.value
        gone = {one.requested for one in history_instants(table.history)}
        entries = tuple(one for one in table.timeline if one.requested not in gone)
        faults = timeline_faults(entries)
        requested = [one.requested for one in entries if one.state is State.REQUESTED]
        done = [one.completed for one in entries if one.completed]
        if faults:
            return f"{faults[0].where}: {faults[0].detail}"
        return "one time was given twice" if len(set(requested + done)) < len(requested + done) else ""

    return remembering(law, lambda world: world.shared.table.number)


def plans_complete(_: World) -> Law:
    """At rest no plan waits."""

    def law(world: World) -> str:
        timeline = timeline_of(world.shared.table.value.timeline)
        waiting = [
            one for one in timeline.instants if one.state is not State.COMPLETED and one.action not in DATA_ACTIONS
        ]
        return f"{waiting[0].action} {waiting[0].requested} was planned and never completes" if waiting else ""

    return law


def nothing_left(_: World) -> Law:
    """At rest nothing is there of a write that did not complete: no instant, no marker, no file.

    Markers of completed writes whose writer died stay until archival (AR-009).
    """

    def law(world: World) -> str:
        table = world.shared.table.value
        instants = timeline_of(table.timeline).instants
        done = {one.requested for one in instants if one.state is State.COMPLETED}
        done |= {one.requested for one in history_instants(table.history)}
        pending = [f"{one.action} {one.requested}" for one in instants if one.requested not in done]
        markers = [f"marker {one.name}" for one in table.markers if one.instant not in done]
        files = [one.name for many in (table.base_files, table.log_files) for one in many if one.instant not in done]
        left = [*pending, *sorted(markers), *files]
        return f"{left[0]} is left" if left else ""

    return law


def metadata_agrees(_: World) -> Law:
    """The metadata table lists the files of the completed writes, each of them and no others."""

    def law(world: World) -> str:
        table = world.shared.table.value
        if table.metadata is None:
            return "there is no metadata table"
        listed = listed_files(table)
        done = {one.requested for one in table.timeline if one.state is State.COMPLETED}
        there = {(one.partition, one.name) for one in table.base_files if one.instant in done}
        differing = sorted(listed ^ there)
        return f"{differing[0]} is listed or there, and not both" if differing else ""

    return remembering(law, lambda world: world.shared.table.number)


def metadata_valid(_: World) -> Law:
    """Every index that readers may use is as the table's own files make it."""

    def law(world: World) -> str:
        found = metadata_violations(world.shared.table.value)
        return f"{found[0].where}: {found[0].message}" if found else ""

    return remembering(law, lambda world: world.shared.table.number)


def listed_files(table: Table) -> set[tuple[str, str]]:
    """The files that a reader of the metadata table finds, by partition and name."""
    held = metadata.rows_of(metadata.view_of(metadata.valid(table)))["files"]
    return {(partition, name) for partition, files in held.items() if partition in table.partitions for name in files}


def saved_files_stay(_: World) -> Law:
    """The files of a savepoint are there."""

    def law(world: World) -> str:
        table = world.shared.table.value
        there = {(one.partition, one.name) for many in (table.base_files, table.log_files) for one in many}
        kept = (one.content.files for one in table.timeline if isinstance(one.content, SavepointMetadata))
        lost = sorted(frozenset().union(*kept) - there)
        return f"{lost[0][1]} is gone, a savepoint keeps it" if lost else ""

    return remembering(law, lambda world: world.shared.table.number)


def retained_readers(start: World) -> Law:
    """A reader whose snapshot is not older than what the cleaner keeps loses nothing."""
    inner = readers(start)

    def law(world: World) -> str:
        contents = (one.content for one in world.shared.table.value.timeline)
        kept = [one.earliest_to_retain or "" for one in contents if isinstance(one, CleanPlan | CleanMetadata)]
        oldest = min((max(each.requested for each in one.local.value.seen) for one in readers_of(world)), default="")
        return inner(world) if all(one <= oldest for one in kept) else ""

    return law


def history_whole(start: World) -> Law:
    """Every completed action is in the active timeline or in the history, in the latter once, and none is lost."""
    first = {(one.requested, one.action) for one in completed(start)}

    def law(world: World) -> str:
        archived = [(one.requested, one.action) for one in history_instants(world.shared.table.value.history)]
        known = {*archived, *((one.requested, one.action) for one in completed(world))}
        lost = sorted(first - known)
        return (
            f"{lost[0]} is neither active nor archived"
            if lost
            else ""
            if len(set(archived)) == len(archived)
            else "twice"
        )

    return remembering(law, lambda world: world.shared.table.number)


def completed(world: World) -> Iterator[TimelineEntry]:
    """The completed files of the active timeline."""
    return (one for one in world.shared.table.value.timeline if one.state is State.COMPLETED)
