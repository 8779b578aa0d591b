"""Processes over one shared table, each a step machine that has one durable effect at a time.

A step reads what it needs and works out its effects; reading and the first effect after it are one move.
Between any two effects other processes move, or the process dies, forgets what it knew, and its lease ends.
"""

from dataclasses import dataclass, replace
from typing import TypeAlias

from hudi_model.actions import ReplacePlan, State
from hudi_model.effects import (
    CommitMetadataTable,
    CreateInstant,
    DeleteDataFile,
    DeleteMarkers,
    PutBaseFile,
    PutLogFile,
    PutMarker,
    PutPartitionMetafile,
    WriteHeartbeat,
    apply,
)
from hudi_model.rejection import Reason
from hudi_model.tables import Table
from hudi_model.time import InstantTime, tick
from hudi_model.timeline import DATA_ACTIONS

from hudi_model_tools.programs import GENERATE, RELEASE, Act, LocalState, Unstored, program, read_next_slice
from hudi_model_tools.store import Interned, Store

OWN = (WriteHeartbeat, DeleteMarkers, PutBaseFile, PutMarker, PutPartitionMetafile)
"""Effects on what no process looks at as long as the one that has them lives."""
EXPIRED = InstantTime("19700101000000000")
"""When a stopped heartbeat was last updated: longer ago than any patience."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process: what it runs, how far it has come, what it knows; whether it may be paused while it holds the lock."""

    name: str
    program: str
    local: Interned[LocalState]
    step: int = 0
    is_alive: bool = True
    is_slow: bool = False


@dataclass(frozen=True, slots=True)
class Shared:
    """What all processes see: the table, who holds its lock, the last tick that was given out.

    `lapsed`: the holder is paused, and its lease has ended.
    """

    table: Interned[Table]
    holder: str | None = None
    clock: int = 0
    lapsed: bool = False


@dataclass(frozen=True, slots=True)
class World:
    """A state: what is shared, every process, how many have died."""

    shared: Shared
    processes: tuple[Process, ...]
    crashes: int = 0


@dataclass(frozen=True, slots=True)
class Move:
    """A process has an effect, and those after it that nobody sees; then it dies where `dies`."""

    process: Process
    acts: tuple[Act, ...]
    world: World
    is_crash: bool = False


Stand: TypeAlias = tuple[tuple[Act, ...], Process, Shared]
"""What a process has done since it was its turn, and how it and the table stand then."""


class Protocol:
    """The moves of a world, each turn worked out once; `crashes` is how many processes may die."""

    def __init__(self, store: Store, crashes: int = 0, *, whole: bool = False) -> None:
        self._store, self._crashes, self._whole = store, crashes, whole
        self._stands_of: dict[tuple[Process, Shared], tuple[Stand, ...]] = {}

    def moves(self, world: World) -> tuple[Move, ...]:
        """What may happen next: a turn of some process, or its death before or within its turn.

        Acts that no other process can see or stop join the act before them: in whatever order they fall they lead to
        the same states. Only where `whole` is each a turn of its own.
        """
        found = []
        for place, process in enumerate(world.processes):
            *crashable, last = self._stands(process, world.shared)
            if last[0]:
                found.append(Move(process, last[0], placed(world, place, *last[1:])))
            if paused := pause(process, world.shared, self._store):
                found.append(Move(process, (Unstored("pause"),), placed(world, place, *paused)))
            if world.crashes < self._crashes:
                stands = (one for one in crashable or (last,) if may_crash(one[1]))
                found += [Move(process, one[0], self._crashed(world, place, one), is_crash=True) for one in stands]
        return tuple(found)

    def _stands(self, process: Process, shared: Shared) -> tuple[Stand, ...]:
        """How a process stands before, within and after its turn; no more than before where it has none."""
        key = process, shared
        if key not in self._stands_of:
            stands: list[Stand] = [((), process, shared)]
            while (step := self._step(*stands[-1])) is not None:
                stands.append(step)
            self._stands_of[key] = tuple(stands)
        return self._stands_of[key]

    def _step(self, acts: tuple[Act, ...], process: Process, shared: Shared) -> Stand | None:
        """One act more, if the process can have it and it still belongs to the turn."""
        ready = make_ready(process, shared.table.value)
        done = ready and perform_act(*ready, shared, self._store)
        if not done or (acts and (self._whole or not is_unseen(done[0], process, shared))):
            return None
        return (*acts, done[0]), *done[1:]

    def _crashed(self, world: World, place: int, stand: Stand) -> World:
        """The world in which a process has died where it stood."""
        return crash(placed(world, place, *stand[1:]), place, self._store)


def placed(world: World, place: int, process: Process, shared: Shared) -> World:
    """The world in which one process and what is shared stand otherwise."""
    return World(shared, (*world.processes[:place], process, *world.processes[place + 1 :]), world.crashes)


def make_ready(process: Process, table: Table) -> tuple[Process, LocalState] | None:
    """A process that knows what to do next: it takes steps, reading only, until one has effects."""
    name, step, local = process.program, process.step, process.local.value
    while process.is_alive and not local.todo:
        steps = program(name)
        found = steps[step](table, local) if step < len(steps) else None
        if found is None:
            return None
        name, step, local = (
            (found.next_program, 0, replace(found, next_program="")) if found.next_program else (name, step + 1, found)
        )
    return (replace(process, program=name, step=step), local) if process.is_alive else None


def perform_act(
    process: Process, local: LocalState, shared: Shared, store: Store
) -> tuple[Act, Process, Shared] | None:
    """The next act done; None where it is to take a lock that another process holds.

    Clauses: LK-002, TM-003, TM-005, SA-001, SA-002.
    """
    if is_late(process, local, shared):
        process, local = give_way(process, local)
    elif shared.holder == process.name:
        shared = replace(shared, lapsed=False)
    act, local = local.todo[0], replace(local, todo=local.todo[1:])
    match act:
        case Unstored("take_lock"):
            if not is_free(shared):
                return None
            shared, local = replace(shared, holder=process.name, lapsed=False), replace(local, holds=True)
        case Unstored("release_lock"):
            shared, local = let_go(shared, process), replace(local, holds=False)
        case Unstored("generate_time"):
            shared = replace(shared, clock=next_tick(shared))
            local = replace(local, time=tick(shared.clock))
        case Unstored("read_slice"):
            local = read_next_slice(shared.table.value, local)
        case Unstored():
            pass
        case _:
            shared = replace(shared, table=store.keep(apply(shared.table.value, act)))
    return act, replace(process, local=store.keep(local)), shared


def is_free(shared: Shared) -> bool:
    """Whether nobody holds the lock, or only a process whose lease has ended.

    Clauses: LK-001, LK-002.
    """
    return shared.holder is None or shared.lapsed


def pause(process: Process, shared: Shared, store: Store) -> tuple[Process, Shared] | None:
    """A slow holder has looked at the table, and has not done yet what follows from it, when its lease ends.

    Clauses: LK-002.
    """
    is_holder = process.is_slow and shared.holder == process.name and not shared.lapsed
    ready = make_ready(process, shared.table.value) if is_holder else None
    if ready and not isinstance(ready[1].todo[0], Unstored | WriteHeartbeat):
        process = replace(ready[0], local=store.keep(ready[1]))
    return ready and (process, replace(shared, lapsed=True))


def is_late(process: Process, local: LocalState, shared: Shared) -> bool:
    """Whether a process is about to do what only the holder of the lock may, and another took it while it was paused.

    Clauses: LK-002.
    """
    is_lost = process.is_slow and local.holds and shared.holder != process.name
    return is_lost and isinstance(local.todo[0], CreateInstant | CommitMetadataTable)


def give_way(process: Process, local: LocalState) -> tuple[Process, LocalState]:
    """A late holder lets go: a writer takes back what it made, a service begins anew or finishes under the lock again.

    Clauses: LK-002, OW-009.
    """
    program_name, step = ("refused", 1) if not local.service else ("executor", 1) if local.done else ("service", 0)
    lost = replace(local, todo=(Unstored(RELEASE),), refused=Reason.LOCK_LOST)
    return replace(process, program=program_name, step=step), lost


def next_tick(shared: Shared) -> int:
    """A tick after all that were given out.

    Clauses: TM-003.
    """
    return shared.clock + 1


def let_go(shared: Shared, process: Process) -> Shared:
    """The lock is free, if this process held it."""
    return replace(shared, holder=None, lapsed=False) if shared.holder == process.name else shared


def is_unseen(act: Act, process: Process, shared: Shared) -> bool:
    """Whether no other process can see an act, undo it or keep it from happening, nor change what it came from.

    Inside the lock these are times, the metadata table and the request of a write: what looks for them waits for the
    lock. Outside they are a step's own markers, files and heartbeat after its first effect.
    [New in v8] A log file is its writer's own; before, writers shared them.
    """
    locked = shared.holder == process.name
    match act:
        case Unstored(name):
            return locked and name in (GENERATE, RELEASE)
        case CreateInstant(entry):
            is_write = entry.action in DATA_ACTIONS and entry.state is State.REQUESTED
            return locked and is_write and not (isinstance(entry.content, ReplacePlan) and entry.content.groups)
        case CommitMetadataTable():
            return locked
        case PutLogFile(file):
            return file.instant == process.local.value.instant
        case DeleteDataFile():
            return process.program in ("abort", "refused") and bool(process.local.value.todo)
    return isinstance(act, OWN) and (locked or bool(process.local.value.todo))


def may_crash(process: Process) -> bool:
    """Whether the death of a process can matter: it has begun and is not done, and it has durable effects."""
    has_started = process.step > 0 or bool(process.local.value.todo)
    done = process.step == len(program(process.program)) and not process.local.value.todo
    return process.is_alive and has_started and not done and process.program != "reader"


def crash(world: World, place: int, store: Store) -> World:
    """A process dies: its lease ends, its heartbeat stops; a service begins anew, a write does not.

    Clauses: LK-002, RB-002, CP-002.
    """
    process = world.processes[place]
    before = process.local.value
    shared = lease_ended(with_expired_heartbeat(world.shared, before.instant, store), process)
    local = store.keep(LocalState(before.service, before.request, before.settings, instant=before.instant))
    again = replace(process, program="service" if before.service else process.program, local=local, step=0)
    after = replace(again, is_alive=bool(before.service))
    return replace(placed(world, place, after, shared), crashes=world.crashes + 1)


def with_expired_heartbeat(shared: Shared, instant: InstantTime, store: Store) -> Shared:
    """The heartbeat of a write was last updated long ago.

    Clauses: RB-002.
    """
    table = shared.table.value
    beats = frozenset((one, EXPIRED if one == instant else beat) for one, beat in table.heartbeats)
    return replace(shared, table=store.keep(replace(table, heartbeats=beats)))


def lease_ended(shared: Shared, process: Process) -> Shared:
    """The lock of a failed process is free.

    Clauses: LK-002.
    """
    return let_go(shared, process)
