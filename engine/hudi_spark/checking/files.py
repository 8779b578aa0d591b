"""Data files by themselves, in tasks: footers of base files, and the blocks of logs with what they hold."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa
from hudi_format.base.bloom_filters import decode_bloom_filter
from hudi_format.base.files import BLOOM_FILTER_KEY, BLOOM_TYPE_KEY, MAXIMUM_KEY, MINIMUM_KEY, Footer, base_file_footer
from hudi_format.log.blocks import BlockType, CorruptBlock, HeaderKey, RawBlock, read_blocks
from hudi_format.log.changes import decode_changes
from hudi_format.log.content import decode_arrow, decode_command, decode_deletes
from hudi_format.log.headers import record_positions
from hudi_format.schemas import META_FIELDS
from hudi_format.storage import Storage
from hudi_format.timeline.commit_metadata import WriteStat

from hudi_spark.checking.stored import DataFile, TableState
from hudi_spark.checking.violations import FOUND, Violations
from hudi_spark.flows.flow import Executor, TaskIdentity
from hudi_spark.state.slicing import BaseFile, LogFile
from hudi_spark.state.timeline import Visibility

_FILES_A_TASK: Final = 64
# Of an object store several footers are fetched at a time.
_AT_A_TIME: Final = 8
_DATA: Final = (BlockType.AVRO_DATA, BlockType.HFILE_DATA, BlockType.PARQUET_DATA)
_PLAIN_FILTER: Final = "SIMPLE"
_SKELETON: Final = "00000000000001"


def check_files(state: TableState, executor: Executor, violations: Violations) -> None:
    """Every data file that counts: one job.

    Clauses: BF-001, BF-002, BF-004, BF-010, BF-013, CD-009, LF-003, LF-004, LF-006, LF-007, LF-008, LF-009, LF-010,
    LF-013, LF-014, LF-021, LF-022, LF-023, LF-026, LF-027, LF-028, OW-017, SA-001, SL-021.
    """
    stated = {stat.path: stat for commit in state.commits for _, stat in commit.stats()}
    files = [_stored(one, state, stated) for one in sorted(state.committed(), key=lambda one: one.path)]
    chunks = [tuple(files[at : at + _FILES_A_TASK]) for at in range(0, len(files), _FILES_A_TASK)]
    if chunks:
        check = partial(_checked, check=FileCheck.of(state))
        violations.gathered(executor.tasks(chunks, check, FOUND).gathered())


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A data file with its bytes in storage, and with the bytes and rows that its commit counts; 0 for not counted."""

    file: DataFile
    size: int
    stated_size: int
    stated_rows: int


def _stored(one: DataFile, state: TableState, stated: Mapping[str | None, WriteStat]) -> StoredFile:
    stat, size = stated.get(one.path), state.stored.files[one.path].size
    return StoredFile(one, size, (stat and stat.file_size_in_bytes) or 0, (stat and stat.num_writes) or 0)


def _checked(files: Sequence[StoredFile], identity: TaskIdentity, check: "FileCheck") -> pa.Table:
    del identity
    with ThreadPoolExecutor(max_workers=min(_AT_A_TIME, len(files))) as pool:
        each = list(pool.map(check, files))
    return pa.concat_tables(found.rows() for found in each)


@dataclass(frozen=True, slots=True)
class FileCheck:
    """Looks at one data file; can be pickled.

    `columns`: those that every base file has, the meta fields first. `keyed`: whether rows have their meta fields.
    """

    storage: Storage
    seen: Visibility
    columns: tuple[str, ...]
    keyed: bool

    @classmethod
    def of(cls, state: TableState) -> "FileCheck":
        """The check of a table's files."""
        configuration = state.configuration
        metadata = configuration.key_generator == "HOODIE_TABLE_METADATA" or configuration.name.endswith("_metadata")
        style = configuration.partitions
        stays = () if style.columns_dropped else tuple(one.partition(".")[0] for one in configuration.partition_by)
        return cls(
            state.storage, state.seen, () if metadata else (*META_FIELDS, *stays), configuration.populates_meta_fields
        )

    def __call__(self, stored: StoredFile) -> Violations:
        """What is wrong with a file."""
        violations, one = Violations(), stored.file
        with violations.noting(one.path):
            if isinstance(one, BaseFile):
                footer = base_file_footer(self.storage, one.path)
                self._check_footer(one, footer, violations)
                _check_stated(stored, footer, violations)
            else:
                self._check_log(one, violations)
        return violations

    def _check_footer(self, one: BaseFile, footer: Footer, violations: Violations) -> None:
        """Clauses: BF-001, BF-002, BF-003, BF-012, SL-021."""
        names = footer.schema.names
        wanted = self.columns[: len(META_FIELDS)] if one.name.instant == _SKELETON else self.columns
        if list(names[: len(META_FIELDS)]) != list(wanted[: len(META_FIELDS)]) and wanted:
            violations.error("BF-001", one.path, f"the file begins with the columns {', '.join(names[:5])}")
        if twice := sorted({one for one in names if names.count(one) > 1}):
            violations.error("BF-001", one.path, f"two columns are named {', '.join(twice)}")
        if MINIMUM_KEY in footer.keys and not self.keyed:
            violations.error("BF-003", one.path, "the footer has a range of record keys, and the table keeps none")
        for name in wanted[len(META_FIELDS) :]:
            if name not in names:
                violations.error("SL-021", one.path, f"the file lacks the partition column {name}")
        if footer.rows and (MINIMUM_KEY in footer.keys) != (MAXIMUM_KEY in footer.keys):
            violations.warning("BF-002", one.path, "the footer has one bound of the record keys")
        text = footer.keys.get(BLOOM_FILTER_KEY)
        if text is not None:
            with violations.noting(one.path):
                decode_bloom_filter(text, footer.keys.get(BLOOM_TYPE_KEY) or _PLAIN_FILTER, one.path)

    def _check_log(self, one: LogFile, violations: Violations) -> None:
        """Clauses: LF-001, LF-010, LF-011, LF-012, RD-013."""
        blocks = read_blocks(self.storage.read(one.path), one.path)
        for block in blocks:
            if isinstance(block, CorruptBlock):
                message = f"{block.length} bytes at {block.offset} are no block: {block.why}"
                violations.warning("LF-010", one.path, message)
            else:
                with violations.noting(one.path):
                    self._check_block(block, one.path, violations)
        _check_order([block for block in blocks if isinstance(block, RawBlock)], one.path, violations)

    def _check_block(self, block: RawBlock, path: str, violations: Violations) -> None:
        """Clauses: CD-009, LF-007, LF-008, LF-009, LF-013, LF-021, LF-022, LF-023, LF-026, LF-027."""
        instant = block.header.get(HeaderKey.INSTANT_TIME)
        if instant is None:
            violations.error("LF-021", path, f"the block at {block.offset} names no instant")
        if block.type is BlockType.COMMAND:
            decode_command(block, path)
        elif block.type is BlockType.CDC_DATA:
            decode_changes(block, path)
        elif instant is None or self.seen.sees(instant):
            records = decode_arrow(block, path).num_rows if block.type in _DATA else len(decode_deletes(block, path))
            record_positions(block, records, path)


def _check_stated(stored: StoredFile, footer: Footer, violations: Violations) -> None:
    """The bytes and rows of a base file are those that its commit counts.

    Clauses: OW-017, SA-001.
    """
    path = stored.file.path
    if stored.stated_size and stored.size and stored.stated_size != stored.size:
        violations.error("SA-001", path, f"the file has {stored.size} bytes, the write put {stored.stated_size}")
    if stored.stated_rows and footer.rows != stored.stated_rows:
        violations.error("OW-017", path, f"the file has {footer.rows} rows, the commit counts {stored.stated_rows}")


def _check_order(blocks: Iterable[RawBlock], path: str, violations: Violations) -> None:
    """Clauses: LF-028."""
    deleting: set[str] = set()
    for instant, block in _by_instant(blocks):
        if block.type is BlockType.DELETE:
            deleting.add(instant)
        elif block.type in _DATA and instant in deleting:
            violations.warning("LF-028", path, f"rows of {instant} stand after its deletes")


def _by_instant(blocks: Iterable[RawBlock]) -> Iterator[tuple[str, RawBlock]]:
    return ((block.header.get(HeaderKey.INSTANT_TIME, ""), block) for block in blocks)
