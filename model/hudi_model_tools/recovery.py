"""Recovery: a table whose timeline and metadata are lost gets a timeline again, from the names of its files."""

from collections import defaultdict

from hudi_model.actions import Action, CommitMetadata, CompactionOperation, CompactionPlan, State, WriteStat
from hudi_model.blocks import Change, blocks_of
from hudi_model.effects import CommitMetadataTable, Effects, entry, generate_shared
from hudi_model.files import BaseFile, LogFile, Schema
from hudi_model.slicing import data_files, group_of, path_of
from hudi_model.tables import Table, open_table
from hudi_model.time import InstantTime


def unknown() -> tuple[str, ...]:
    """What names do not tell, which whoever rebuilds a table says: no group is taken for replaced.

    Clauses: SR-011.
    """
    return (
        "which writes had completed: each is taken for one that completed before the next began",
        "which of two files of one group and instant counts",
        "when writes completed",
        "which file groups had been replaced",
        "which writes had been rolled back, where the rollback left no command",
        "what was planned, saved, cleaned or archived",
    )


def recover(table: Table, schema: Schema) -> Effects:
    """A completed write for each instant that names tell of, the newest first: what is older counts meanwhile.

    Names of version 6 logs tell slices, and only their blocks tell writes. [Modified in v8]

    Raises: LOG_CONTENT_CORRUPT.

    Clauses: SR-010, SR-011, TL-018.
    """
    by_slice = open_table(table).configuration.rules.logs_name_their_slice
    named = {one.instant for one in data_files(table) if isinstance(one, BaseFile) or not by_slice}
    instants = sorted(named | block_instants(table))
    effects_of_instants = (effect for one in reversed(instants) for effect in recovered(table, one, schema))
    return (CommitMetadataTable(None), *(waiting(table) if by_slice else ()), *effects_of_instants)


def waiting(table: Table) -> Effects:
    """Version 6: the compactions that opened a slice which has no base file, above an older one; they wait.

    Readers join such a slice with the one before, whose rows would be lost without.

    Clauses: RD-008, SR-010.
    """
    bases = {(group_of(one), one.instant) for one in table.base_files}
    opened = {(one.instant, group_of(one)) for one in table.log_files if (group_of(one), one.instant) not in bases}
    plans = defaultdict[InstantTime, list[CompactionOperation]](list)
    for instant, group in sorted(opened):
        older = [one for one in data_files(table) if group_of(one) == group and one.instant < instant]
        last = max((one.instant for one in older), default=None)
        logs = tuple(one.name for one in older if isinstance(one, LogFile) and one.instant == last)
        base = next((one.name for one in older if isinstance(one, BaseFile) and one.instant == last), None)
        if last is not None:
            plans[instant].append(CompactionOperation(*group, last, base, logs))
    return tuple(
        entry(table, instant, Action.COMPACTION, State.REQUESTED, CompactionPlan(tuple(operations)))
        for instant, operations in plans.items()
    )


def block_instants(table: Table) -> set[InstantTime]:
    """The writes that blocks tell of."""
    blocks = (block for log in table.log_files if not log.cdc for block in blocks_of(log))
    return {block.instant for block in blocks if isinstance(block, Change)}


def recovered(table: Table, instant: InstantTime, schema: Schema) -> Effects:
    """The entries of one recovered write, which names the files that bear its instant; the completed one first.

    Clauses: SR-010, SR-011.
    """
    action = Action.DELTA_COMMIT if open_table(table).configuration.merge_on_read else Action.COMMIT
    own = [one for one in data_files(table) if one.instant == instant]
    stats = tuple(WriteStat(one.partition, one.file_id, path_of(one)) for one in own)
    metadata = CommitMetadata("UNKNOWN", write_stats=stats, schema=schema, extra={})
    return (
        entry(table, instant, action, State.COMPLETED, metadata, generate_shared(instant, instant)),
        entry(table, instant, action, State.INFLIGHT),
        entry(table, instant, action, State.REQUESTED),
    )
