"""An action completes, or an attempt at it is taken back.

Clauses: MK-001, MK-003, OW-009, RB-008, CL-005.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from hudi_format.names import TimelineFileName
from hudi_format.storage import Storage
from hudi_format.table.markers import MARKERS_FOLDER, Marker, batch_number, parse_marker_path, parse_markers
from hudi_format.timeline.commit_metadata import WriteStat

from hudi_spark.concurrency import Effects, Holding, delete_entries, joined
from hudi_spark.errors import HudiError, OutcomeUnknownError, Reason, UnsupportedFeature, typed_errors
from hudi_spark.metadata import FinishedWrite, take_back, update_metadata_table
from hudi_spark.schema import WriterState
from hudi_spark.table_state import (
    DATA_ACTIONS,
    Instant,
    Snapshot,
    TableConfiguration,
    Timeline,
    is_data_file,
    load_configuration,
    load_timeline,
)
from hudi_spark.write.action import TableWork, state_of_table
from hudi_spark.write.schema_metadata import SchemaStatement, put_history


def announced(storage: Storage, requested: str) -> tuple[Marker, ...]:
    """The data files that the markers of a write announce, whichever kind of markers it has.

    A marker of anything else than a data file of a partition announces nothing.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT, PATH_ESCAPES_TABLE for markers that are none.

    Clauses: MK-001, MK-002, SL-007.

    """
    found = _markers(storage, joined(MARKERS_FOLDER, requested))
    return tuple(sorted((one for one in found if is_data_file(one.partition, one.name.data_file)), key=str))


def _markers(storage: Storage, folder: str) -> Iterator[Marker]:
    for status in storage.list_files(folder):
        inside = status.path.removeprefix(f"{folder}/")
        if batch_number(inside) is not None:
            yield from parse_markers(storage.read(status.path), status.path)
        elif (found := parse_marker_path(inside, status.path)) is not None:
            yield found


def remove_unnamed(effects: Effects, requested: str, written: Iterable[WriteStat]) -> None:
    """Delete what tasks announced and no successful attempt named.

    Clauses: MK-003.
    """
    named = {path for stat in written for path in (stat.path or "", *(stat.cdc_stats or {}))}
    _remove(effects, requested, named)


def remove_announced(effects: Effects, requested: str) -> None:
    """Delete every file that a write announced.

    Clauses: MK-003, OW-009.
    """
    _remove(effects, requested, frozenset())


def _remove(effects: Effects, requested: str, kept: Iterable[str]) -> None:
    for marker in announced(effects.storage, requested):
        path = joined(marker.partition, marker.name.data_file)
        if path not in kept and effects.storage.exists(path):
            effects.delete_data_file(requested, marker.partition, marker.name.data_file)


def back_to_requested(work: TableWork, configuration: TableConfiguration, inflight: Instant) -> None:
    """What an attempt at a plan left behind goes, and the plan waits again. Called under the table's lock.

    Clauses: RB-008, MK-003, MT-006.
    """
    take_back(work.effects, inflight.requested, work.clock)
    remove_announced(work.effects, inflight.requested)
    work.effects.delete_markers(inflight.requested)
    delete_entries(work.effects, configuration, inflight, ("INFLIGHT",))


def give_up(work: TableWork, configuration: TableConfiguration, requested: str) -> None:
    """A plan that nobody can carry out any more leaves the timeline, and every attempt with it; takes the lock.

    Nothing where it has completed, or is gone.

    Clauses: CL-005, MK-003.
    """
    with work.lock(requested):
        timeline = load_timeline(work.storage, configuration)
        for one in timeline.one_of_each_time:
            if one.requested == requested and not one.is_completed:
                if one.state == "INFLIGHT":
                    back_to_requested(work, configuration, one)
                delete_entries(work.effects, configuration, one, ("REQUESTED",))


def _nothing() -> None:
    """Nothing else leaves the timeline."""


Check = Callable[[Timeline], None]
"""Refuses, by a HudiError, an action that what completed meanwhile does not leave standing."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What an action completes with: what the metadata table records, and what the completed file holds.

    `requested_as`: the action in the file names of its pending states, where that differs (a compaction is a commit).
    `stated`: what a write says of the schema. `retire`: takes off the timeline what a rollback undid, once the metadata
    table knows.

    Clauses: TL-006, TL-019, RB-009.
    """

    finished: FinishedWrite
    content: bytes
    requested_as: str = ""
    stated: SchemaStatement | None = None
    retire: Callable[[], None] = _nothing


def complete(
    work: TableWork, snapshot: Snapshot, completion: Completion, check: Check, state: WriterState | None = None
) -> str | None:
    """The action counts from here on; its completion time, None before version 8.

    `snapshot`: what the action was carried out on. Takes the lock. What is refused is taken back from the metadata
    table; its files and its instant are the caller's.

    Raises:
        HudiError: WRITE_CONFLICT, by `check` too; LOCK_UNAVAILABLE, LOCK_LOST.
        OutcomeUnknownError: it may stand; nothing of it is taken back.

    Clauses: OW-010, TL-003, LK-003, LK-004, MT-003, TM-003.

    """
    try:
        with work.lock(completion.finished.requested) as holding:
            return complete_locked(work, holding, snapshot, completion, check, state)
    except HudiError as error:
        if error.reason is not Reason.LOCK_LOST:
            raise
        done = _after_loss(work, snapshot, completion)
        if done is None:
            raise
        return done.completed


def complete_locked(  # noqa: PLR0917 - an action is reported by all of them
    work: TableWork,
    holding: Holding,
    snapshot: Snapshot,
    completion: Completion,
    check: Check,
    state: WriterState | None = None,
) -> str | None:
    """The same for who holds the lock already.

    Clauses: OW-010, LK-003.
    """
    finished, configuration = completion.finished, snapshot.configuration
    now = refuse_other_version(work, snapshot)
    timeline = load_timeline(work.storage, configuration)
    # Where somebody else completed the action, what the metadata table holds of it is theirs: nothing is taken back.
    refuse_not_inflight(timeline, finished.requested, completion.requested_as or finished.action)
    try:
        with typed_errors():
            check(timeline)
            if completion.stated is not None:
                put_history(work.effects, configuration, finished.requested, completion.stated, work.clock)
            schema_state = state or state_of_table(work.storage, snapshot, work.options)
            update_metadata_table(work.effects, schema_state, finished, work.executor, work.clock, (now, timeline))
            completion.retire()
            completed = work.time(timeline, finished.requested) if configuration.has_completion_times else None
            name = TimelineFileName(finished.requested, finished.action, "COMPLETED", completed)
            holding.complete(configuration, name, completion.content)
    except OutcomeUnknownError:
        raise
    except (HudiError, UnsupportedFeature):
        # A lock that was lost meanwhile is the reason, whatever failed first; without it nothing is touched.
        holding.prove()
        take_back(work.effects, finished.requested, work.clock)
        raise
    return completed


def _after_loss(work: TableWork, snapshot: Snapshot, completion: Completion) -> Instant | None:
    """The action where it has completed all the same; None, and nothing of it in the metadata table, where it has not.

    The lock is taken again for that, which carries out what was claimed before.

    Raises:
        HudiError: LOCK_UNAVAILABLE; the next worker takes the action for failed, or finds it completed.

    Clauses: LK-002, OW-009.

    """
    requested, action = completion.finished.requested, completion.finished.action
    with work.lock(requested):
        timeline = load_timeline(work.storage, snapshot.configuration)
        done = [one for one in timeline.instants if one.requested == requested and one.action == action]
        if done and done[0].is_completed:
            return done[0]
        take_back(work.effects, requested, work.clock)
        return None


def refuse_other_version(work: TableWork, snapshot: Snapshot) -> TableConfiguration:
    """The table's configuration as it is now, when it has the version that an action was carried out on.

    What completes on the timeline of another version is seen by nobody.

    Raises:
        HudiError: WRITE_CONFLICT.

    Clauses: VR-006.

    """
    began_with, now = snapshot.configuration.version, load_configuration(work.storage)
    if now.version != began_with:
        message = f"the table became one of version {now.version}; the action began with version {began_with}"
        raise HudiError(Reason.WRITE_CONFLICT, "VR-006", message, hint="do it again")
    return now


def refuse_not_inflight(timeline: Timeline, requested: str, action: str) -> None:
    """Nothing when the action is inflight; a write's request must be there too.

    Where it is not, the write was rolled back before it went inflight: its process was slow.

    Raises:
        HudiError: WRITE_CONFLICT.

    Clauses: OW-008, TL-003.

    """
    own = (one for one in timeline.instants if one.requested == requested and one.action == action)
    needed = {"REQUESTED", "INFLIGHT"} if action in DATA_ACTIONS else {"INFLIGHT"}
    if not any(one.state == "INFLIGHT" and needed <= set(one.files) for one in own):
        message = f"the {action} {requested} is no longer inflight: it was rolled back, or has completed"
        raise HudiError(Reason.WRITE_CONFLICT, "OW-008", message, hint="look at the timeline; do it again if need be")


def nothing_to_check(timeline: Timeline) -> None:
    """For actions that nothing can conflict with."""
    del timeline
