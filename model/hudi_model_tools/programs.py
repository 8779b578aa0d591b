"""What each kind of process does, step by step: lock, time, the effects of a writer or a service; or a read."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from types import ModuleType
from typing import TypeAlias

from hudi_model.actions import Action, CompactionOperation, State, TimelineEntry
from hudi_model.effects import CommitMetadataTable, CreateInstant, Effect
from hudi_model.files import Record
from hudi_model.reading import read_slice
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import Operation, Request, Write
from hudi_model.schemas import table_schema
from hudi_model.services import (
    archival,
    cleaning,
    clustering,
    compaction,
    indexing,
    log_compaction,
    rollback,
    savepoints,
)
from hudi_model.services.plans import operation_on, planned_slice
from hudi_model.slicing import snapshot_slices
from hudi_model.tables import RELEASED, Table, open_table, view_at
from hudi_model.time import InstantTime, tick
from hudi_model.timeline import completed_data, completion, timeline_of
from hudi_model.writers import abort, begin, commit, stage


@dataclass(frozen=True, slots=True)
class Unstored:
    """An effect that storage does not see: of the lock, the clock, a reader; named as in specs/effects.toml."""

    name: str
    parameters: tuple[str, ...] = ()


Act: TypeAlias = Effect | Unstored
TAKE, RELEASE, GENERATE, READ = "take_lock", "release_lock", "generate_time", "read_slice"
NEVER, LATER = InstantTime(""), tick(10**5)
"""Before and after every time of a search, not so late that a running heartbeat seems stopped."""
NO_WRITE = Write(NEVER, Action.COMMIT, Request(Operation.UPSERT))
SERVICES: Mapping[str, tuple[ModuleType, Action]] = {
    "compaction": (compaction, Action.COMPACTION),
    "log_compaction": (log_compaction, Action.LOG_COMPACTION),
    "clustering": (clustering, Action.CLUSTERING),
    "cleaning": (cleaning, Action.CLEAN),
    "indexing": (indexing, Action.INDEXING),
    "rollback": (rollback, Action.ROLLBACK),
}


@dataclass(frozen=True, slots=True)
class LocalState:
    """What a process knows; all but service, request and settings dies with it. `turn` names its next program."""

    service: str = ""
    request: Request = NO_WRITE.request
    settings: Mapping[str, str] = field(default_factory=dict)
    todo: tuple[Act, ...] = ()
    next_program: str = ""
    done: tuple[Act, ...] = ()
    time: InstantTime = NEVER
    instant: InstantTime = NEVER
    write: Write = NO_WRITE
    seen: tuple[TimelineEntry, ...] = ()
    slices: tuple[CompactionOperation, ...] = ()
    rows: tuple[Record, ...] = ()
    refused: Reason | None = None
    holds: bool = False


Part: TypeAlias = Callable[[Iterable[Act]], Iterable[Act]]
Step: TypeAlias = Callable[[Table, LocalState], LocalState | None]


def program(name: str) -> tuple[Step, ...]:
    """The steps of a program, by its name."""
    programs: dict[str, Callable[[], tuple[Step, ...]]] = {
        "writer": writer,
        "refused": lambda: (release_lock, abort_write),
        "abort": lambda: (abort_write,),
        "service": service,
        "executor": executor,
        "idle": lambda: (release_lock,),
        "done": lambda: (),
        "archiver": lambda: (take_lock, archive, release_lock),
        "savepointer": lambda: (take_lock, generate_time, save, release_lock),
        "reader": lambda: (pick_snapshot,),
    }
    return programs[name]()


def writer() -> tuple[Step, ...]:
    """A write: begun and finished inside the lock, staged outside.

    Clauses: OW-001, LK-003, TM-005.
    """
    opening = (take_lock, generate_time, begin_write, release_lock)
    return (*opening, stage_write, take_lock, generate_time, commit_write, release_lock)


def service() -> tuple[Step, ...]:
    """A plan made inside the lock, and carried out.

    Clauses: LK-004, CP-002.
    """
    return (wake_up, take_lock, generate_time, plan, release_lock, *executor())


def executor() -> tuple[Step, ...]:
    """A plan carried out: files first, and inside the lock what makes them count."""
    return (prepare, take_lock, generate_time, finish, release_lock)


def take_lock(_: Table, local: LocalState) -> LocalState:
    """Wait for the lock."""
    return replace(local, todo=(Unstored(TAKE),))


def release_lock(_: Table, local: LocalState) -> LocalState:
    """Let go of the lock."""
    return replace(local, todo=(Unstored(RELEASE),))


def generate_time(_: Table, local: LocalState) -> LocalState:
    """Get a time."""
    return replace(local, todo=(Unstored(GENERATE),))


def begin_write(table: Table, local: LocalState) -> LocalState:
    """Request a write at the time just generated."""
    write, effects = begin(table, local.request, local.time)
    return replace(local, write=write, instant=write.requested, todo=effects)


def stage_write(table: Table, local: LocalState) -> LocalState:
    """Make the files; a write that meets a plan it may not touch goes on to abort."""
    try:
        write, effects = stage(table, local.write)
    except Rejection as rejection:
        return replace(local, refused=rejection.reason, next_program="abort")
    return replace(local, write=write, todo=effects)


def commit_write(table: Table, local: LocalState) -> LocalState:
    """Check and complete; a write in conflict goes on to abort."""
    try:
        return replace(local, todo=commit(table, local.write, local.time))
    except Rejection as rejection:
        return replace(local, refused=rejection.reason, next_program="refused")


def abort_write(table: Table, local: LocalState) -> LocalState:
    """Remove what was staged."""
    return replace(local, todo=abort(table, local.write))


def wake_up(table: Table, local: LocalState) -> LocalState | None:
    """Take up a plan that waits, else make one if there is anything to plan."""
    if waiting := pending_plans(table, local.service):
        return replace(local, instant=waiting[0], next_program="executor")
    return local if SERVICES[local.service][0].schedule(table, LATER, local.settings) else None


def pending_plans(table: Table, service: str) -> tuple[InstantTime, ...]:
    """The actions of a service that wait to be carried out."""
    kept = (one for one in timeline_of(table.timeline).instants if one.action is SERVICES[service][1])
    return tuple(one.requested for one in kept if one.state is not State.COMPLETED)


def plan(table: Table, local: LocalState) -> LocalState:
    """Request the service; where others did its work meanwhile, be done."""
    effects = SERVICES[local.service][0].schedule(table, local.time, local.settings)
    return replace(local, instant=local.time, todo=effects, next_program="" if effects else "idle")


def prepare(table: Table, local: LocalState) -> LocalState:
    """The effects of a plan up to those that make it count, whose time is not known yet."""
    found = carried_out(table, local, LATER, lambda effects: takewhile(lambda one: not is_final(one), effects), "done")
    return replace(found, done=found.todo)


def finish(table: Table, local: LocalState) -> LocalState:
    """What follows what has been done of a plan, worked out anew at the time just generated."""
    return carried_out(table, local, local.time, lambda effects: after(tuple(effects), local.done), "idle")


def after(effects: tuple[Act, ...], done: tuple[Act, ...]) -> tuple[Act, ...]:
    """The effects behind the last one that is done."""
    return effects[max((place for place, one in enumerate(effects, start=1) if one in done), default=0) :]


def carried_out(table: Table, local: LocalState, completed: InstantTime, part: Part, otherwise: str) -> LocalState:
    """A part of what executing a plan does; a plan that others overtook gives way."""
    try:
        effects = SERVICES[local.service][0].execute(table, local.instant, completed)
    except Rejection as rejection:
        return replace(local, refused=rejection.reason, next_program=otherwise)
    return replace(local, todo=tuple(part(effects)))


def is_final(effect: Act) -> bool:
    """Whether an effect makes an action count: from here on inside the lock."""
    completes = isinstance(effect, CreateInstant) and effect.entry.state is State.COMPLETED
    return completes or isinstance(effect, CommitMetadataTable)


def archive(table: Table, local: LocalState) -> LocalState:
    """Move old actions to the history."""
    return replace(local, todo=archival.archive(table, local.settings))


def save(table: Table, local: LocalState) -> LocalState:
    """Save the newest write, inside the lock."""
    newest = completed_data(timeline_of(table.timeline))[-1].requested
    return replace(local, instant=newest, todo=savepoints.savepoint(table, newest, local.time))


def pick_snapshot(table: Table, local: LocalState) -> LocalState:
    """Fix the completed instants to read, and the files of their slices.

    Clauses: RD-001, RD-004.
    """
    opened = open_table(table)
    upto = max((completion(one) for one in opened.timeline.instants if one.state is State.COMPLETED), default=NEVER)
    slices = tuple(map(operation_on, snapshot_slices(view_at(opened, None, RELEASED))))
    reads = (Unstored(READ, (one.partition, one.file_id, one.base_instant)) for one in slices)
    seen = tuple(one for one in table.timeline if one.state is State.COMPLETED)
    return replace(local, seen=seen, slices=slices, todo=(Unstored("pick_snapshot", (upto,)), *reads))


def read_next_slice(table: Table, local: LocalState) -> LocalState:
    """The rows of the next slice, from its files as they are by now; a reader that misses one gives up.

    Clauses: RD-002, RD-011, RD-018.
    """
    view = view_at(open_table(replace(table, timeline=local.seen)), None, RELEASED)
    try:
        rows = read_slice(view, planned_slice(view, local.slices[0]), table_schema(view))
    except Rejection as rejection:
        return replace(local, refused=rejection.reason, todo=(), slices=())
    return replace(local, rows=(*local.rows, *rows), slices=local.slices[1:])
