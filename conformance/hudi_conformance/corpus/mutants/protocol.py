"""Rules of how processes share a table, broken."""

from dataclasses import replace

from hudi_model.services.plans import operation_on
from hudi_model.slicing import snapshot_slices
from hudi_model.tables import RELEASED, Table, open_table, view_at
from hudi_model_tools import programs
from hudi_model_tools.programs import LocalState, Step

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant(
    "lock-for-everyone", "LK-001", "Every process that requests the lock gets it.", "hudi_model_tools.protocol.is_free"
)
def _lock_for_everyone(_: Function) -> Function:
    return lambda _shared: True


@mutant("lease-never-ends", "LK-002", "A failed process keeps the lock.", "hudi_model_tools.protocol.lease_ended")
def _lease_never_ends(_: Function) -> Function:
    return lambda shared, _process: shared


@mutant(
    "late-holder-goes-on",
    "LK-002",
    "A holder that lost the lock completes its write.",
    "hudi_model_tools.protocol.is_late",
)
def _late_holder_goes_on(_: Function) -> Function:
    return lambda _process, _local, _shared: False


@mutant(
    "failed-writer-keeps-its-heartbeat",
    "RB-002",
    "The heartbeat of a failed writer goes on.",
    "hudi_model_tools.protocol.with_expired_heartbeat",
)
def _failed_writers_keep_a_heartbeat(_: Function) -> Function:
    return lambda shared, _instant, _store: shared


@mutant("clock-forgets", "TM-003", "A time is given twice.", "hudi_model_tools.protocol.next_tick")
def _clock_forgets(_: Function) -> Function:
    return lambda shared: shared.clock + 1 if shared.clock % 2 else max(shared.clock, 1)


@mutant(
    "completion-time-before-lock",
    "TL-013 LK-003",
    "A writer generates its completion time before it waits for the lock.",
    "hudi_model_tools.programs.writer",
)
def _completion_time_before_lock(original: Function) -> Function:
    def early() -> tuple[Step, ...]:
        *opening, lock, time, commit, release = original()
        return (*opening, time, lock, commit, release)

    return early


@mutant("commit-without-lock", "LK-003", "A writer completes without the lock.", "hudi_model_tools.programs.writer")
def _commit_without_lock(original: Function) -> Function:
    def unlocked() -> tuple[Step, ...]:
        *opening, _lock, time, commit, _release = original()
        return (*opening, time, commit)

    return unlocked


@mutant(
    "services-plan-without-lock",
    "LK-004",
    "A table service plans without the lock.",
    "hudi_model_tools.programs.service",
)
def _services_plan_without_lock(original: Function) -> Function:
    def unlocked() -> tuple[Step, ...]:
        locks = (programs.take_lock, programs.release_lock)
        found: tuple[Step, ...] = original()
        return (*(step for step in found[:5] if step not in locks), *found[5:])

    return unlocked


@mutant(
    "aborted-files-stay", "OW-009", "A refused write leaves all it has made.", "hudi_model_tools.programs.abort_write"
)
def _aborted_files_stay(_: Function) -> Function:
    return lambda _table, local: local


@mutant("rollback-keeps-files", "RB-009", "A rollback removes no files.", "services.rollback.undo_files")
def _rollback_keeps_files(_: Function) -> Function:
    return lambda *_: ()


@mutant(
    "reader-lists-anew",
    "RD-001 RD-004",
    "A reader takes each slice as it is when it comes to it.",
    "hudi_model_tools.programs.read_next_slice",
)
def _reader_lists_anew(original: Function) -> Function:
    def anew(table: Table, local: LocalState) -> LocalState:
        now = snapshot_slices(view_at(open_table(table), None, RELEASED))
        slices = tuple(map(operation_on, now))[-len(local.slices) :]
        found: LocalState = original(table, replace(local, seen=table.timeline, slices=slices))
        return replace(found, seen=local.seen)

    return anew
