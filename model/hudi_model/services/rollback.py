"""Rollback: what a write that will not complete left behind is removed, and then the write itself."""

import datetime as dt
from collections.abc import Mapping

import hudi_model.effects as durable
from hudi_model.actions import Action, CompactionPlan, ReplacePlan, RollbackMetadata, RollbackPlan, State
from hudi_model.blocks import Change
from hudi_model.effects import Effect, Effects, entries_of, entry, forget, log_file_name, perform
from hudi_model.files import Damaged, LogFile, RollbackBlock
from hudi_model.metadata import with_metadata
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import number, setting, switch
from hudi_model.services.plans import foreign, is_completed, plan_of, refuse_foreign, request
from hudi_model.slicing import data_files, group_of
from hudi_model.tables import Table, open_table
from hudi_model.time import InstantTime, moment_of
from hudi_model.timeline import DATA_ACTIONS


def failed_writes(table: Table, now: InstantTime, settings: Mapping[str, str]) -> tuple[InstantTime, ...]:
    """The pending writes that will not complete, newest first: all of them, or those whose heartbeat stopped.

    Services are no writes: they are done again from their plan.

    Clauses: RB-001, RB-002, RB-008.
    """
    waiting = (one for one in open_table(table).timeline.instants if one.state is not State.COMPLETED)
    writes = [one.requested for one in waiting if one.action in DATA_ACTIONS and not has_plan(table, one.requested)]
    policy = setting(settings, "hoodie.clean.failed.writes.policy").upper()
    if policy == "LAZY":
        writes = [one for one in writes if is_expired(table, one, now, settings)]
    return tuple(reversed(writes)) if policy in ("EAGER", "LAZY") else ()


def is_expired(table: Table, write: InstantTime, now: InstantTime, settings: Mapping[str, str]) -> bool:
    """Whether a write has missed more heartbeats than are tolerated; one that has none has failed.

    Clauses: RB-002.
    """
    interval = number(settings, "hoodie.client.heartbeat.interval_in_ms")
    tolerated = interval * number(settings, "hoodie.client.heartbeat.tolerable.misses")
    last = max((beat for owner, beat in table.heartbeats if owner == write), default=None)
    return last is None or moment_of(now) - moment_of(last) > dt.timedelta(milliseconds=tolerated)


def has_plan(table: Table, requested: InstantTime) -> bool:
    """Whether an action is a service, which stays planned when an attempt at it is rolled back.

    Clauses: RB-008.
    """
    plans = (one.content for one in table.timeline if one.requested == requested)
    return any(isinstance(one, CompactionPlan) or (isinstance(one, ReplacePlan) and one.groups) for one in plans)


def schedule(
    table: Table, requested: InstantTime, settings: Mapping[str, str], target: InstantTime | None = None
) -> Effects:
    """The plan to roll back a write, the newest failed one by default; none where a plan for it waits already.

    Raises: INSTANT_NOT_FOUND; CONFIG_INVALID where the action has completed: only a restore undoes that.

    Clauses: RB-003, RB-004, RB-005.
    """
    for one in (target,) if target else failed_writes(table, requested, settings)[:1]:
        if pending_rollback(table, one):
            return ()
        if not any(known.requested == one for known in table.timeline):
            raise Rejection(Reason.INSTANT_NOT_FOUND, "RB-005", one, "there is no such action to roll back")
        if is_completed(table, one):
            raise Rejection(Reason.CONFIG_INVALID, "RB-005", one, "a completed action is undone by a restore only")
        plan = plan_for(table, one, by_markers=switch(settings, "hoodie.rollback.using.markers"))
        return request(table, requested, Action.ROLLBACK, plan)
    return ()


def pending_rollback(table: Table, target: InstantTime) -> InstantTime | None:
    """The rollback of a write that is planned and has not completed; not one whose plan nobody may carry out.

    Clauses: RB-004, SL-007.
    """
    plans = [one for one in table.timeline if isinstance(one.content, RollbackPlan) and one.content.target == target]
    plans = [one for one in plans if isinstance(one.content, RollbackPlan) and not foreign(named_files(one.content))]
    return next((one.requested for one in plans if not is_completed(table, one.requested)), None)


def plan_for(table: Table, target: InstantTime, *, by_markers: bool, whole: bool = False) -> RollbackPlan:
    """What to remove of an action: what its markers announce, or what storage holds under its instant.

    Logs under the instant of a compaction that waits belong to later writes, and stay unless the `whole` slice goes.
    Version 6 names logs after slices: there a command takes the action's blocks back. [Modified in v8]

    Clauses: RB-006, RB-007, RB-008, NL-012.
    """
    action = entries_of(table, target)[-1].action
    announced = frozenset((one.partition, one.name) for one in table.markers if by_markers and one.instant == target)
    spared = not whole and action is Action.COMPACTION
    files, commands = set(), set()
    for file in data_files(table):
        place, is_log = (file.partition, file.name), isinstance(file, LogFile)
        if file.instant == target and (not announced or place in announced) and not (is_log and spared):
            files.add(place)
        elif file.instant != target and isinstance(file, LogFile) and (place in announced or holds_block(file, target)):
            commands.add((file.partition, file.file_id, file.instant))
    return RollbackPlan(target, action.value, frozenset(files), frozenset(commands))


def holds_block(log: LogFile, instant: InstantTime) -> bool:
    """Whether a log file holds a block that an action wrote.

    Clauses: RB-007.
    """
    blocks = () if isinstance(log.blocks, Damaged) else log.blocks
    return any(isinstance(one, Change) and one.instant == instant for one in blocks)


def execute(table: Table, requested: InstantTime, completed: InstantTime) -> Effects:
    """The planned rollback, from wherever an earlier attempt stopped.

    Raises: INSTANT_NOT_FOUND, PATH_ESCAPES_TABLE.

    Clauses: RB-004, RB-009, RB-010, RB-011, SL-007.
    """
    plan = plan_of(table, requested, RollbackPlan)
    if is_completed(table, requested):
        return ()
    refuse_foreign(named_files(plan))
    metadata = RollbackMetadata((plan.target,), plan.files)
    effects: Effects = (
        entry(table, requested, Action.ROLLBACK, State.INFLIGHT),
        *undo_files(table, plan, requested),
        *withdraw(table, plan.target, requested),
        *forget(table, plan.target, keep_plan=has_plan(table, plan.target)),
        entry(table, requested, Action.ROLLBACK, State.COMPLETED, metadata, completed),
        durable.DeleteMarkers(plan.target),
        durable.WriteHeartbeat(plan.target, None),
    )
    return with_metadata(table, effects)


def named_files(plan: RollbackPlan) -> frozenset[tuple[str, str]]:
    """The files that a rollback removes; of the slices that get a command no name."""
    return plan.files | {(partition, "") for partition, _, _ in plan.commands}


def undo_files(table: Table, plan: RollbackPlan, requested: InstantTime) -> Effects:
    """The planned files go; then a command joins each slice whose logs hold blocks to take back, once for all attempts.

    Clauses: RB-007, RB-009, LF-015.
    """
    command = RollbackBlock(requested, plan.target)
    effects: list[Effect] = [durable.DeleteDataFile(*place) for place in sorted(plan.files)]
    for place in sorted(plan.commands):
        logs = [log for log in table.log_files if (*group_of(log), log.instant) == place]
        if not any(command in log.blocks for log in logs if isinstance(log.blocks, tuple)):
            version, token = max((log.version for log in logs), default=0) + 1, f"1-{int(requested[-9:])}-1"
            name = log_file_name(*place[1:], version, token)
            effects.append(durable.PutLogFile(LogFile(*place, version, token, cdc=False, name=name, blocks=(command,))))
    return tuple(effects)


def withdraw(table: Table, target: InstantTime, requested: InstantTime) -> Effects:
    """The metadata table loses what a write, which died before it completed, had committed there.

    Clauses: RB-011.
    """
    metadata = table.metadata
    if metadata is None or not entries_of(metadata, target):
        return ()
    files = undo_files(metadata, plan_for(metadata, target, by_markers=False, whole=True), requested)
    return (durable.CommitMetadataTable(perform(metadata, (*files, *forget(metadata, target)))),)


def roll_back(
    table: Table, target: InstantTime, requested: InstantTime, completed: InstantTime, settings: Mapping[str, str]
) -> Effects:
    """A whole rollback of one write; one that stopped is taken up under its own instant.

    Raises: as `schedule`.

    Clauses: RB-004.
    """
    planned = schedule(table, requested, settings, target)
    return (*planned, *execute(perform(table, planned), pending_rollback(table, target) or requested, completed))
