"""Optimistic and non-blocking concurrency: what happened since a write began, and whether it may still commit."""

from hudi_model.actions import Action, CommitMetadata, Instant, RollbackPlan, State
from hudi_model.blocks import blocks_of
from hudi_model.configuration import Configuration
from hudi_model.files import BaseFile, DataBlock, DeleteBlock, GroupId, valid_deletes, valid_records
from hudi_model.keys import key_of
from hudi_model.merge_modes import merge_mode
from hudi_model.merge_rules import MergeMode
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import REPLACES, Operation, Request, Write, setting, switch
from hudi_model.retention import groups_of
from hudi_model.slicing import group_of
from hudi_model.tables import RELEASED, Reading, Readings, Table, open_table
from hudi_model.tagging import NON_BLOCKING, index_kind, place_of
from hudi_model.time import InstantTime
from hudi_model.timeline import Timeline, completed_data

MODES = ("SINGLE_WRITER", "OPTIMISTIC_CONCURRENCY_CONTROL", NON_BLOCKING)

PLANNED = (Action.COMPACTION, Action.LOG_COMPACTION, Action.CLUSTERING, Action.REPLACE_COMMIT)

OVERWRITE, OVERWRITE_TABLE = "INSERT_OVERWRITE", "INSERT_OVERWRITE_TABLE"
"""Operations that bring rows in place of others, as commits name them."""


def checks_conflicts(request: Request) -> bool:
    """Whether a write compares itself with those beside it: not where it is alone, nor where it only logs.

    Clauses: OW-026, SW-003, SW-004, SW-005.
    """
    mode = setting(request.settings, "hoodie.write.concurrency.mode").upper()
    logs_only = mode == NON_BLOCKING and request.operation not in (Operation.BULK_INSERT, Operation.DELETE_PARTITION)
    return mode != "SINGLE_WRITER" and not logs_only


def refuse_mode(configuration: Configuration, request: Request) -> None:
    """Nothing, unless the table or the operation does not go with the way a writer asks to work.

    Raises: CONFIG_INVALID.

    Clauses: MG-010, OW-025, OW-026, OW-030, SW-001, SW-004.
    """
    requested_mode = request.settings.get("hoodie.write.record.merge.mode", "").upper()
    write_mode(configuration, MergeMode.__members__.get(requested_mode), RELEASED)
    mode = setting(request.settings, "hoodie.write.concurrency.mode").upper()
    kind, operation, rules = index_kind(request.settings), request.operation, configuration.rules
    overwrites = operation in REPLACES - {Operation.DELETE_PARTITION}
    deterministic = configuration.merge_on_read and kind == "BUCKET" and not rules.logs_name_their_slice
    own = {"recordkey": configuration.record_key, "partitionpath": configuration.partition_by}
    own["precombine"] = configuration.ordering
    stated = {name: request.settings.get(f"hoodie.datasource.write.{name}.field") for name in own}
    detail = "non-blocking writers log to bucketed merge-on-read tables from version 8 on and overwrite nothing"
    faults = {
        ("OW-026", f"{mode!r} is no mode"): mode not in MODES,
        ("MG-010", f"{requested_mode!r} is no merge mode"): requested_mode not in {"", *MergeMode.__members__},
        ("SW-001", detail): mode == NON_BLOCKING and (overwrites or not deterministic),
        ("OW-030", f"the table has {own}"): any(stated[name] not in (None, ",".join(own[name])) for name in own),
        ("OW-025", "partial updates need version 8"): operation is Operation.PARTIAL_UPDATE and rules.version < 8,
    }
    for clause, text in (fault for fault, is_wrong in faults.items() if is_wrong):
        raise Rejection(Reason.CONFIG_INVALID, clause, f"the {operation}", text)


def write_mode(configuration: Configuration, requested_mode: MergeMode | None, readings: Readings) -> MergeMode:
    """The mode that a write uses which requests one: the table's own, which the text lets a writer override.

    Raises: CONFIG_INVALID where as released the two differ.

    Clauses: MG-010.
    """
    persisted = merge_mode(configuration)
    if requested_mode is None or requested_mode is persisted:
        return persisted
    if readings.mode_override is Reading.TEXT:
        return requested_mode
    raise Rejection(Reason.CONFIG_INVALID, "MG-010", "hoodie.write.record.merge.mode", f"the table has {persisted}")


def refuse_conflicts(table: Table, write: Write, readings: Readings = RELEASED) -> None:
    """Nothing, unless something since the write began is in its way.

    Raises: WRITE_CONFLICT.

    Clauses: OW-004, OW-005, OW-006, OW-007, OW-008, OW-035, TL-023.
    """
    timeline = open_table(table).timeline
    if not may_complete(timeline, write.requested):
        raise conflict("OW-008", write, "it is not inflight any more, or is being rolled back")
    if not checks_conflicts(write.request):
        return
    for other in concurrent_set(timeline, write):
        shared = sorted(units(write, groups_of(write.metadata)) & units(write, touched_groups(timeline, other)))
        if shared:
            clause = "OW-005" if other.state is State.COMPLETED else "OW-006"
            raise conflict(clause, write, f"{other.requested}.{other.action} touches {shared} too")
        if readings.concurrent_overwrites is Reading.TEXT and overwrite_each_other(write.metadata, other.content):
            raise conflict("OW-035", write, f"{other.requested}.{other.action} overwrites the same partitions")
    refuse_common_keys(table, write)


def overwrite_each_other(mine: object, other: object) -> bool:
    """Whether two commits are overwrites that wrote into one partition, or both of the whole table.

    Clauses: OW-035.
    """
    if not (isinstance(mine, CommitMetadata) and isinstance(other, CommitMetadata)):
        return False
    operations = {mine.operation, other.operation}
    if not operations <= {OVERWRITE, OVERWRITE_TABLE}:
        return False
    written = [{group_of(stat)[0] for stat in one.write_stats} for one in (mine, other)]
    return operations == {OVERWRITE_TABLE} or bool(written[0] & written[1])


def conflict(clause: str, write: Write, detail: str) -> Rejection:
    """The refusal of a write."""
    return Rejection(Reason.WRITE_CONFLICT, clause, f"{write.requested}.{write.action}", detail)


def concurrent_set(timeline: Timeline, write: Write) -> tuple[Instant, ...]:
    """The data actions that completed since the write began, and the plans made since that wait.

    A compaction planned before the write began changes nothing for it.

    Clauses: OW-004, OW-006.
    """
    done = [one for one in completed_data(timeline) if one.requested not in write.seen and follows(one, write)]
    later = (one for one in timeline.instants if one.requested > write.requested and one.action in PLANNED)
    return *done, *(one for one in later if one.state is not State.COMPLETED)


def follows(other: Instant, write: Write) -> bool:
    """Whether an action is no compaction, or one that was planned after the write began.

    Clauses: OW-006.
    """
    is_compaction = isinstance(other.content, CommitMetadata) and other.content.operation == "COMPACT"
    return not is_compaction or other.requested > write.requested


def touched_groups(timeline: Timeline, instant: Instant) -> frozenset[GroupId]:
    """The file groups that an action wrote or replaced, or that its plan holds.

    Clauses: OW-005, OW-006.
    """
    if instant.state is State.COMPLETED:
        return groups_of(instant.content)
    contents = (one.content for one in timeline.entries if one.requested == instant.requested)
    return frozenset(group for content in contents for group in groups_of(content))


def units(write: Write, groups: frozenset[GroupId]) -> frozenset[GroupId]:
    """What two writes must not share: file groups; buckets where those are numbered, whatever group each opened.

    Clauses: OW-005, OW-023.
    """
    length = 8 if index_kind(write.request.settings) == "BUCKET" else None
    return frozenset((partition, file_id[:length]) for partition, file_id in groups)


def refuse_pending_clustering(table: Table, write: Write) -> None:
    """Nothing, unless the write changes file groups that a clustering is about to replace.

    Raises: WRITE_CONFLICT.

    Clauses: OW-011.
    """
    strategy = setting(write.request.settings, "hoodie.clustering.updates.strategy")
    if strategy.rpartition(".")[2] != "SparkRejectUpdateStrategy":
        return
    timeline = open_table(table).timeline
    for one in timeline.instants:
        waits = one.state is not State.COMPLETED and one.action in (Action.CLUSTERING, Action.REPLACE_COMMIT)
        shared = groups_of(write.metadata) & touched_groups(timeline, one) if waits else frozenset()
        if shared and one.requested != write.requested:
            raise conflict("OW-011", write, f"the clustering of {one.requested} holds {sorted(shared)}")


def refuse_common_keys(table: Table, write: Write) -> None:
    """Nothing, unless the write's files hold keys that a write of the concurrent set wrote too.

    Raises: WRITE_CONFLICT.

    Clauses: OW-007.
    """
    if switch(write.request.settings, "hoodie.write.concurrency.record.key.check"):
        mine = written_keys(table, write, write.requested)
        for other in concurrent_set(open_table(table).timeline, write):
            common = sorted(mine & written_keys(table, write, other.requested))
            if common:
                raise conflict("OW-007", write, f"{other.requested} wrote the keys {common} too")


def written_keys(table: Table, write: Write, instant: InstantTime) -> frozenset[tuple[str, str]]:
    """The keys in the files of an instant: its base files' rows, its log blocks' rows and tombstones.

    Clauses: OW-007.
    """
    made, kind, found = open_table(table).configuration, index_kind(write.request.settings), set[tuple[str, str]]()
    blocks = [(one.partition, block) for one in table.log_files for block in blocks_of(one)]
    for partition, content in [*((one.partition, one) for one in table.base_files), *blocks]:
        if isinstance(content, BaseFile | DataBlock) and content.instant == instant:
            found |= {place_of(partition, key_of(row, made, partition), kind) for row in valid_records(content.records)}
        if isinstance(content, DeleteBlock) and content.instant == instant:
            found |= {place_of(partition, one.key, kind) for one in valid_deletes(content.deletes)}
    return frozenset(found)


def marker_conflicts(table: Table, write: Write) -> frozenset[GroupId]:
    """File groups of the write that markers of other live writes announce: reason to give up early.

    Clauses: OW-011, MK-006.
    """
    others = (one for one in table.markers if one.instant != write.requested)
    announced = {(one.partition, one.name.removeprefix(".").split("_")[0]) for one in others}
    return groups_of(write.metadata) & announced


def may_complete(timeline: Timeline, requested: InstantTime) -> bool:
    """Whether an action is still its process's to complete: it was requested and is inflight, and nobody undoes it.

    Where its request is gone, a rollback has been and gone while its process was slow.
    Who asks holds the table's lock until the action has completed.

    Clauses: TL-023, OW-008.
    """
    own = (one for one in timeline.entries if one.requested == requested and one.action is not Action.SAVEPOINT)
    done = {one.requested for one in timeline.entries if one.state is State.COMPLETED}
    plans = (one.content for one in timeline.entries if one.requested not in done)
    targets = {plan.target for plan in plans if isinstance(plan, RollbackPlan)}
    return {one.state for one in own} == {State.REQUESTED, State.INFLIGHT} and requested not in targets
