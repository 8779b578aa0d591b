"""The one projection: a world of the model as the variables of the TLA+ modules, each by one function.

Every module names its variables as here and takes those it needs. Times are ticks, 0 is no time. A file group is named
by its day and the instant that began it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial

from hudi_format.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_model.actions import (
    Action,
    CleanPlan,
    CompactionOperation,
    CompactionPlan,
    ReplacePlan,
    RollbackPlan,
    SavepointMetadata,
    State,
    TimelineEntry,
)
from hudi_model.effects import DeleteInstant
from hudi_model.files import BaseFile, LogFile, Record
from hudi_model.time import InstantTime
from hudi_model_tools.protocol import EXPIRED, Process, World

from hudi_conformance.verification.agreement import projecting_history as archiving
from hudi_conformance.verification.agreement import projecting_metadata as indexing
from hudi_conformance.verification.agreement.rows_of_files import records_in
from hudi_conformance.verification.agreement.steps import step_of
from hudi_conformance.verification.agreement.times import ticks
from hudi_conformance.verification.tla.expressions import Function, Value, function
from hudi_conformance.verification.tla.graph import State as TlaState

Variable = Callable[["Projection", World], Value]


class Projection:
    """Worlds as states of a module; what a search has met before says when each file group began."""

    def __init__(self, variables: Iterable[str], processes: Iterable[str]) -> None:
        self._variables = {name: VARIABLES[name] for name in variables}
        self._processes = frozenset(processes)
        self._began: dict[str, int] = {}

    def state(self, world: World) -> TlaState:
        """The state that a world is, in the variables and for the processes that the module has."""
        return function({name: variable(self, world) for name, variable in self._variables.items()})

    def group(self, partition: str, file_id: str, instant: InstantTime) -> dict[str, Value]:
        """A file group; a search meets it first with the instant that began it."""
        return {"day": partition, "since": self._began.setdefault(file_id, ticks(instant))}

    def of_processes(self, world: World, value: Callable[[Process], Value]) -> Function:
        """A variable that is a function of the processes."""
        return function({one.name: value(one) for one in world.processes if one.name in self._processes})


def timeline(_: Projection, world: World) -> Value:
    """The files of the timeline, as `TimelineFiles` has them."""
    entries = world.shared.table.value.timeline
    targets = {one.requested: one.content.target for one in entries if isinstance(one.content, RollbackPlan)}
    return frozenset(timeline_file(one, targets) for one in entries)


def timeline_file(one: TimelineEntry, targets: Mapping[InstantTime, InstantTime]) -> Function:
    """A file of the timeline."""
    target = targets.get(one.requested) if one.action is Action.ROLLBACK else None
    return function(
        {
            "requested": ticks(one.requested),
            "completed": ticks(one.completed) if one.state is State.COMPLETED else 0,
            "action": one.action.value,
            "state": one.state.name,
            "target": ticks(target),
            "whole": True,
        }
    )


def files(projection: Projection, world: World) -> Value:
    """The data files with the rows in them."""
    table = world.shared.table.value
    bases = sorted(table.base_files, key=lambda one: one.instant)
    every: tuple[BaseFile | LogFile, ...] = (*bases, *table.log_files)
    return frozenset(data_file(projection, one) for one in every)


def data_file(projection: Projection, file: BaseFile | LogFile) -> Function:
    """A base file or a log file with the rows in it."""
    rows = frozenset(map(row, records_in(file)))
    return function({**named_file(projection, file.partition, file.name), "rows": rows})


def row(record: Record) -> Function:
    """A row: its key, the write it comes from, its ordering value."""
    key, by, ts = (str(record.values[name]) for name in ("id", "_hoodie_commit_time", "ts"))
    return function({"key": key, "by": ticks(by), "ts": int(ts)})


def markers(_: Projection, world: World) -> Value:
    """The markers: of which write, and in which partition."""
    marked = world.shared.table.value.markers
    return frozenset(function({"instant": ticks(one.instant), "day": one.partition}) for one in marked)


def heartbeat_states(_: Projection, world: World) -> Value:
    """The heartbeats, and whether they are live."""
    beats = world.shared.table.value.heartbeats
    return frozenset(function({"instant": ticks(instant), "live": beat != EXPIRED}) for instant, beat in beats)


def plans(projection: Projection, world: World) -> Value:
    """The files that plans and savepoints on the timeline name: to merge, to rewrite, to delete or to keep."""
    entries = world.shared.table.value.timeline
    named = ((one.requested, *name) for one in entries for name in named_files(one))
    return frozenset(
        function({"requested": ticks(requested), **named_file(projection, partition, name)})
        for requested, partition, name in named
    )


def doomed(projection: Projection, world: World) -> Value:
    """The files that the plans of rollbacks name: to remove."""
    entries = world.shared.table.value.timeline
    plans = ((one.requested, one.content) for one in entries if isinstance(one.content, RollbackPlan))
    return frozenset(
        function({"requested": ticks(requested), **named_file(projection, *place)})
        for requested, plan in plans
        for place in plan.files
    )


def named_file(projection: Projection, partition: str, name: str) -> dict[str, Value]:
    """A file as plans name it, which may be gone."""
    found = parsed(name)
    kind = "base" if isinstance(found, BaseFileName) else "log"
    return {
        **projection.group(partition, found.file_id, InstantTime(found.instant)),
        "instant": ticks(found.instant),
        "kind": kind,
    }


@cache
def parsed(name: str) -> BaseFileName | LogFileName:
    """The parts of a data file's name, which every state states again."""
    found = parse_data_file_name(name)
    assert found, name
    return found


def named_files(entry: TimelineEntry) -> Iterator[tuple[str, str]]:
    """The files that the content of a timeline file names, as partition and name."""
    match entry.content:
        case CompactionPlan(operations):
            yield from operation_files(operations)
        case ReplacePlan(groups=groups):
            yield from (name for group in groups for name in operation_files(group.slices))
        case CleanPlan(files=names) | SavepointMetadata(files=names):
            yield from names


def operation_files(operations: Iterable[CompactionOperation]) -> Iterator[tuple[str, str]]:
    """The files of the slices that a plan takes."""
    for one in operations:
        yield from ((one.partition, name) for name in (one.base_file, *one.log_files) if name)


def instant_of(process: Process) -> Value:
    """The action that a process works on; what it worked on before it was done or died is a write's alone."""
    under_way = step_of(process) not in ("idle", "locked", "timed", "done") or process.local.value.request.rows
    return ticks(process.local.value.instant) if under_way else 0


def time_of(process: Process) -> Value:
    """The time that a process has generated under the lock that it holds."""
    local = process.local.value
    return ticks(local.time) if local.holds and step_of(process) not in ("locked", "locked to finish") else 0


def seen_by(process: Process) -> Value:
    """The completed actions that a write found when it began, or that a reader reads: their requested times."""
    local = process.local.value
    found = (one.requested for one in local.seen) if process.program == "reader" else local.write.seen
    return frozenset(map(ticks, found))


def left_to_read(projection: Projection, process: Process) -> Value:
    """The slices that a reader has not come to yet."""
    slices = process.local.value.slices
    return frozenset(
        function({**projection.group(one.partition, one.file_id, one.base_instant), "base": ticks(one.base_instant)})
        for one in slices
    )


def to_take_back(process: Process) -> Value:
    """The timeline files that a process found when it began to undo a write and has not deleted yet, by their state."""
    todo = (one.name for one in process.local.value.todo if isinstance(one, DeleteInstant))
    ends = (name.rsplit(".", 1)[1].upper() for name in todo)
    return frozenset(end if end in ("REQUESTED", "INFLIGHT") else "COMPLETED" for end in ends)


VARIABLES: Mapping[str, Variable] = {
    "clock": lambda _, world: world.shared.clock,
    "lock": lambda _, world: world.shared.holder or "nobody",
    "crashes": lambda _, world: world.crashes,
    "timeline": timeline,
    "files": files,
    "markers": markers,
    "heartbeats": heartbeat_states,
    "plans": plans,
    "doomed": doomed,
    # The metadata table.
    "stored": lambda made, world: indexing.stored(partial(named_file, made), world),
    "metadata": lambda made, world: indexing.metadata(partial(named_file, made), world),
    "indexed": lambda made, world: indexing.indexed(partial(named_file, made), world),
    "building": lambda _, world: indexing.building(world),
    "built": lambda _, world: indexing.built(world),
    "covered": lambda _, world: indexing.covered(world),
    # The history of the timeline; no process of the model follows its version file.
    "history": lambda _, world: archiving.history(world),
    "manifests": lambda _, world: archiving.manifests(world),
    "version": lambda _, world: archiving.version(world),
    "followers": lambda *_: (),
    # What each process knows.
    "step": lambda made, world: made.of_processes(world, step_of),
    "instant": lambda made, world: made.of_processes(world, instant_of),
    "time": lambda made, world: made.of_processes(world, time_of),
    "seen": lambda made, world: made.of_processes(world, seen_by),
    "left": lambda made, world: made.of_processes(world, partial(left_to_read, made)),
    "rows": lambda made, world: made.of_processes(world, lambda one: frozenset(map(row, one.local.value.rows))),
    "found": lambda made, world: made.of_processes(world, to_take_back),
    "work": lambda made, world: made.of_processes(world, partial(archiving.work_of, world)),
}
