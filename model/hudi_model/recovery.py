"""Recovery: a table whose timeline and metadata are lost gets a timeline again, from the names of its files."""

from hudi_model.actions import Action, State
from hudi_model.blocks import Change, blocks_of
from hudi_model.contents import CommitMetadata, WriteStat
from hudi_model.effects import CommitMetadataTable, Effects
from hudi_model.records import Schema
from hudi_model.services.plans import entry
from hudi_model.slicing import data_files, path_of
from hudi_model.tables import Table, open_table
from hudi_model.time import InstantTime, generate_shared

UNKNOWN = (
    "which writes had completed",
    "which of two files of one group and instant counts",
    "when writes completed",
    "which file groups had been replaced",
    "which writes had been rolled back, where the rollback left no command",
    "what was planned, saved, cleaned or archived",
)
"""What names do not tell. Recovery takes each write for completed before the next began, no group for replaced."""


def recover(table: Table, schema: Schema) -> Effects:
    """A completed write for each instant that names tell of, the newest first: what is older counts meanwhile.

    Names of version 6 logs tell slices, and only their blocks tell writes. [Modified in v8]

    Raises: LOG_CONTENT_CORRUPT.

    Clauses: SR-010, SR-011, TL-018.
    """
    instants = sorted({one.instant for one in data_files(table)} | block_instants(table))
    told = (effect for one in reversed(instants) for effect in recovered(table, one, schema))
    return (CommitMetadataTable(None), *told)


def block_instants(table: Table) -> set[InstantTime]:
    """The writes that blocks tell of."""
    blocks = (block for log in table.log_files if not log.cdc for block in blocks_of(log))
    return {block.instant for block in blocks if isinstance(block, Change)}


def recovered(table: Table, instant: InstantTime, schema: Schema) -> Effects:
    """The entries of one recovered write, which names the files that bear its instant; the completed one first.

    Clauses: SR-010.
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
