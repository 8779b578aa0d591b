"""What files say of themselves: partitions, base files' footers, blocks of logs."""

from collections.abc import Iterable, Iterator

from hudi_model.configuration import is_true
from hudi_model.files import (
    META_FIELDS,
    BaseFile,
    Block,
    CdcBlock,
    CorruptBlock,
    Damaged,
    DataBlock,
    DeleteBlock,
    LogFile,
    Record,
    RollbackBlock,
)
from hudi_model.indexes import held_files
from hudi_model.origins import DROPPED
from hudi_model.slicing import path_of, snapshot_slices
from hudi_model.tables import Evidence, Footer, OpenTable, View
from hudi_model.time import InstantTime

from hudi_model_tools.checks.finding import Violation, error, violation_of, warning

BOOTSTRAPPED = "00000000000001"
"""The instant of files that hold meta fields alone."""


def file_violations(view: View, evidence: Evidence) -> Iterator[Violation]:
    """Every fault of the files that count, also of older slices and of groups that were replaced.

    Clauses: SL-002, SL-005, BF-001, BF-003, BF-004, LF-009, LF-010, LF-013, LF-019, LF-021, LF-025, MF-012, RD-013.
    """
    yield from map(violation_of, evidence.damages)
    for partition, depth in evidence.depths.items():
        if depth != (wanted := len(partition.split("/")) if partition else 0):
            yield error("SL-002", partition or ".", f"its metafile says depth {depth}, the folder lies {wanted} deep")
    # Which slice a log is in matters to partial blocks alone, where a version has none.
    slices = () if view.configuration.rules.mode_is_persisted else snapshot_slices(view)
    current = {one.name for found in slices for one in found.log_files}
    for file in held_files(view):
        if isinstance(file, LogFile):
            yield from log_violations(view.table, file, is_current=file.name in current)
            continue
        if isinstance(file.records, Damaged):
            yield violation_of(file.records)
        elif footer := evidence.footers.get(path_of(file)):
            yield from footer_violations(view.table, file, footer)


def footer_violations(table: OpenTable, file: BaseFile, footer: Footer) -> Iterator[Violation]:
    """A base file without the meta columns in front or a partition column, or with keys where it is to have none.

    Clauses: BF-001, BF-003, MF-001, BF-002, SL-021.
    """
    where = path_of(file)
    if footer.columns[: len(META_FIELDS)] != META_FIELDS:
        yield error("BF-001", where, f"the first columns are {', '.join(footer.columns[:5]) or 'none'}")
    twice = sorted({name for name in footer.columns if footer.columns.count(name) > 1})
    if twice:
        yield error("BF-001", where, f"two columns are named {', '.join(twice)}")
    for name in partition_columns(table) if file.instant != BOOTSTRAPPED else ():
        if name not in footer.columns:
            yield error("SL-021", where, f"the file lacks the partition column {name}")
    if footer.least_key is not None and not is_true(table.configuration.properties, "hoodie.populate.meta.fields"):
        yield error("BF-003", where, "the footer has a range of keys, and the table keeps none")
    for key in footer.excluded_keys:
        yield error("BF-002", where, f"the bloom filter denies the key {key!r}, which is there")


def partition_columns(table: OpenTable) -> tuple[str, ...]:
    """The columns that place a row and that its file has, unless the properties say that they are dropped.

    Clauses: SL-021.
    """
    configuration = table.configuration
    dropped = is_true(configuration.properties, DROPPED)
    fields = () if dropped else configuration.partition_by
    return tuple(one.partition(":")[0].partition(".")[0].strip() for one in fields)


def log_violations(table: OpenTable, log: LogFile, *, is_current: bool) -> Iterator[Violation]:
    """Damage in a log that counts, bytes that are no block, and blocks that do not say what they must.

    Clauses: LF-010, LF-013, RD-013, SL-005, TT-001.
    """
    if log.version < 1:
        yield error("SL-005", path_of(log), "versions of logs count from 1")
    if not (log.cdc or table.configuration.merge_on_read):
        yield error("TT-001", path_of(log), "a copy-on-write table has a log with rows, which no reader looks at")
    if isinstance(log.blocks, Damaged):
        yield violation_of(log.blocks)
        return
    for block in log.blocks:
        match block:
            case DataBlock(records=Damaged() as damage) | DeleteBlock(deletes=Damaged() as damage):
                yield violation_of(damage)
            case DataBlock(records=tuple() as records):
                yield from logged_violations(log, records)
            case CdcBlock(changes=Damaged() as damage):
                yield violation_of(damage)
            case Damaged():
                yield violation_of(block)
            case CorruptBlock(offset, length):
                yield warning("LF-010", path_of(log), f"{length} bytes at {offset}")
        yield from header_violations(table, log, block, is_current=is_current)


def logged_violations(log: LogFile, records: Iterable[Record]) -> Iterator[Violation]:
    """Rows of another partition or file group than the log's name says; an empty meta field may have been left out.

    Clauses: MF-012, MF-013, MF-014.
    """
    held = [[str(row.values.get(name) or "") for row in records] for name in (META_FIELDS[3], META_FIELDS[4])]
    folders, ids = {*held[0]}, {name.partition("_")[0] for name in held[1]}
    for folder in sorted(folders - {"", log.partition}):
        yield error("MF-012", path_of(log), f"a row is of the partition {folder!r}")
    for file_id in sorted(ids - {"", log.file_id}):
        yield warning("MF-013", path_of(log), f"a row is of the file group {file_id}")


def header_violations(table: OpenTable, log: LogFile, block: Block, *, is_current: bool) -> Iterator[Violation]:
    """A header that lacks what its block is read by, or says what its table's version does not have.

    A downgrade leaves partial blocks in older slices, which only reads of the past reach.

    Clauses: LF-009, LF-019, LF-021, LF-025.
    """
    where = path_of(log)
    if isinstance(block, CorruptBlock | Damaged):
        return
    if not block.instant:
        yield error("LF-021", where, "a block does not say whose it is")
    if isinstance(block, RollbackBlock):
        if not block.target:
            yield error("LF-009", where, "a command does not say what it rolls back")
        return
    rules = table.configuration.rules
    if isinstance(block, DataBlock) and block.partial and not rules.mode_is_persisted:
        found = error if is_current else warning
        yield found("LF-025", where, f"table version {rules.version} has no partial blocks")
    later = [one for one in instants_before(block) if one >= block.instant]
    if later:
        yield error("LF-019", where, f"the block of {block.instant} stands for {later[0]}, which is no earlier one")


def instants_before(block: Block) -> Iterable[InstantTime]:
    """The instants that a block of a log compaction stands for."""
    return block.compacted_instants if isinstance(block, DataBlock | DeleteBlock) else ()
