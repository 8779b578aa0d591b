"""Data files by themselves, in tasks: footers, log blocks, and the rows of base files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.base.bloom_filters import BloomFilter, decode_bloom_filter
from hudi_format.base.files import (
    BLOOM_FILTER_KEY,
    BLOOM_TYPE_KEY,
    MAXIMUM_KEY,
    MINIMUM_KEY,
    Footer,
    base_file_footer,
    open_base_parquet,
    read_base_file,
)
from hudi_format.log.blocks import BlockType, CorruptBlock, HeaderKey, RawBlock, read_blocks
from hudi_format.log.changes import decode_changes
from hudi_format.log.content import decode_arrow, decode_command, decode_deletes
from hudi_format.log.headers import record_positions
from hudi_format.schemas import META_FIELDS
from hudi_format.storage import Storage, in_threads
from hudi_format.texts import utf16_order, utf16_range
from hudi_format.timeline.commit_metadata import WriteStat

from hudi_spark.fsck.stored import DataFile, TableState
from hudi_spark.fsck.violations import ERROR, FOUND, WARNING, Violation, Violations
from hudi_spark.keys import KeptBuckets, PathRule, key_generator
from hudi_spark.options import resolve
from hudi_spark.read import Executor, Query, TaskIdentity
from hudi_spark.schema import one_chunk
from hudi_spark.table_state import ENABLED_KEY, BaseFile, LogFile, Visibility, load_snapshot

_FILES_A_TASK: Final = 64
# Of an object store several footers are fetched at a time.
_AT_A_TIME: Final = 8
_DATA: Final = (BlockType.AVRO_DATA, BlockType.HFILE_DATA, BlockType.PARQUET_DATA)
_CHANGING: Final = (*_DATA, BlockType.DELETE)
_PLAIN_FILTER: Final = "SIMPLE"
_NAMED_AFTER_WRITES: Final = ("8", "9")
_SKELETON: Final = "00000000000001"


def check_files(state: TableState, executor: Executor, violations: Violations) -> None:
    """Every data file that counts: one job.

    Clauses: BF-001, BF-002, BF-004, BF-010, BF-013, CD-009, LF-003, LF-004, LF-006, LF-007, LF-008, LF-009, LF-010,
    LF-013, LF-014, LF-018, LF-021, LF-022, LF-023, LF-026, LF-027, LF-028, MF-012, MF-013, OW-017, SA-001, SL-021.
    """
    stated = {stat.path: stat for commit in state.commits for _, stat in commit.stats()}
    files = [_stored(one, state, stated) for one in sorted(state.committed(), key=lambda one: one.path)]
    chunks = [tuple(files[at : at + _FILES_A_TASK]) for at in range(0, len(files), _FILES_A_TASK)]
    if chunks:
        check = partial(_files_checked, check=FileCheck.of(state))
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


def _files_checked(files: Sequence[StoredFile], identity: TaskIdentity, check: "FileCheck") -> pa.Table:
    del identity
    each = in_threads(check, files, (one.size for one in files), _AT_A_TIME)
    return pa.concat_tables(found.rows() for found in each)


@dataclass(frozen=True, slots=True)
class FileCheck:
    """Looks at one data file; can be pickled.

    `columns`: those that every base file has, the meta fields first. `keyed`: whether rows have their meta fields.
    `own_instants`: whether all blocks of a log have the instant of its name.
    """

    storage: Storage
    seen: Visibility
    columns: tuple[str, ...]
    keyed: bool
    own_instants: bool

    @classmethod
    def of(cls, state: TableState) -> "FileCheck":
        """The check of a table's files."""
        configuration = state.configuration
        metadata = configuration.key_generator == "HOODIE_TABLE_METADATA" or configuration.name.endswith("_metadata")
        style = configuration.partitions
        stays = () if style.columns_dropped else tuple(one.partition(".")[0] for one in configuration.partition_by)
        columns = () if metadata else (*META_FIELDS, *stays)
        # A table that was upgraded has logs that are named after their slices.
        was_made = configuration.properties.get("hoodie.table.initial.version", "").strip()
        own_instants = configuration.has_completion_times and was_made in _NAMED_AFTER_WRITES
        return cls(state.storage, state.seen, columns, configuration.populates_meta_fields, own_instants)

    def __call__(self, stored: StoredFile) -> Violations:
        """What is wrong with a file."""
        violations, one = Violations(), stored.file
        with violations.noting(one.path):
            if isinstance(one, BaseFile):
                footer = base_file_footer(self.storage, one.path)
                self._check_footer(one, footer, violations)
                _check_stated(stored, footer, violations)
            else:
                self._check_log(stored, one, violations)
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

    def _check_log(self, stored: StoredFile, one: LogFile, violations: Violations) -> None:
        """Clauses: LF-001, LF-010, LF-011, LF-012, RD-013, SA-001."""
        blocks = read_blocks(self.storage.read(one.path), one.path)
        for block in blocks:
            if isinstance(block, CorruptBlock):
                message = f"{block.length} bytes at {block.offset} are no block: {block.why}"
                violations.warning("LF-010", one.path, message)
            else:
                with violations.noting(one.path):
                    self._check_block(block, one, violations)
        whole = [block for block in blocks if isinstance(block, RawBlock)]
        # Others may have appended to a log. What a torn block lacks is reported with it.
        if len(whole) == len(blocks) and stored.size < stored.stated_size:
            message = f"the log has {stored.size} bytes, the write put {stored.stated_size}"
            violations.error("SA-001", one.path, message)
        _check_order(whole, one.path, violations)

    def _check_block(self, block: RawBlock, one: LogFile, violations: Violations) -> None:
        """Clauses: CD-009, LF-007, LF-008, LF-009, LF-013, LF-018, LF-021, LF-022, LF-023, LF-026, LF-027."""
        path = one.path
        instant = block.header.get(HeaderKey.INSTANT_TIME)
        if instant is None:
            violations.error("LF-021", path, f"the block at {block.offset} names no instant")
        elif (
            self.own_instants
            and instant != one.name.instant
            and block.type in _CHANGING
            and not self.seen.sees(instant)
        ):
            message = f"the block at {block.offset} is of {instant}, and the log of {one.name.instant}"
            violations.error("LF-021", path, message)
        if block.type is BlockType.CDC_DATA and not one.name.cdc:
            violations.error("LF-018", path, f"the block at {block.offset} is of the change feed, the log of rows")
        if block.type is BlockType.COMMAND:
            decode_command(block, path)
        elif block.type is BlockType.CDC_DATA:
            decode_changes(block, path)
        elif instant is None or self.seen.sees(instant):
            rows = decode_arrow(block, path) if block.type in _DATA else None
            record_positions(block, len(decode_deletes(block, path)) if rows is None else rows.num_rows, path)
            if rows is not None and self.keyed:
                _check_logged(one, rows, violations)


def _check_logged(one: LogFile, rows: pa.Table, violations: Violations) -> None:
    """Rows of a log are of its partition and its file group: else the log has another one's name.

    Clauses: MF-012, MF-013, MF-014.
    """
    folder, names = one.path.rpartition("/")[0], rows.schema.names
    texts = (name for name in (_PARTITION, _FILE_NAME) if name in names)
    held = [name for name in texts if pa.types.is_string(rows.schema.field(name).type)]
    if _PARTITION in held and (elsewhere := _count(_is_other(rows.column(_PARTITION), folder))):
        violations.error("MF-012", one.path, f"{elsewhere} rows have the path of another partition")
    if _FILE_NAME in held:
        ids = pc.list_element(pc.split_pattern(rows.column(_FILE_NAME), "_", max_splits=1), 0)
        if others := _count(_is_other(ids, one.name.file_id)):
            violations.warning("MF-013", one.path, f"{others} rows name another file group")


def _is_other(texts: pa.ChunkedArray, own: str) -> pa.ChunkedArray:
    """Which texts are another one; an empty one may have been left out."""
    return pc.and_(pc.not_equal(texts, ""), pc.not_equal(texts, own))


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


_COMMIT_TIME, _NUMBER, _KEY, _PARTITION, _FILE_NAME = META_FIELDS
_ROW_FILES_A_TASK: Final = 8
_MOST_NAMED: Final = 20


def check_rows(state: TableState, executor: Executor, violations: Violations) -> None:
    """Every row of every base file that counts, and no key in two file groups of a partition.

    Clauses: BF-002, BF-004, DM-001, DM-031, IX-012, MF-010, MF-011, MF-012, MF-013, OW-034, OW-036.
    """
    files = sorted((one for one in state.committed() if isinstance(one, BaseFile)), key=lambda one: one.path)
    chunks = [tuple(files[at : at + _ROW_FILES_A_TASK]) for at in range(0, len(files), _ROW_FILES_A_TASK)]
    if chunks:
        keyed = state.configuration.populates_meta_fields
        check = partial(_rows_checked, check=RowCheck(state.storage, keyed, _path_rule(state) if keyed else None))
        violations.gathered(executor.tasks(chunks, check, FOUND).gathered())
    if state.configuration.populates_meta_fields:
        _check_keys(state.storage, executor, violations)
        if KeptBuckets.are_there(state.storage):
            _check_buckets(state, executor, violations)


def _path_rule(state: TableState) -> PathRule | None:
    """How partition paths come of columns; None where the table has no partitions, or does not tell.

    Clauses: DM-030, DM-031.
    """
    with Violations().noting():
        rule = key_generator(state.configuration, resolve({})).path
        return rule if rule.fields and not state.configuration.partitions.columns_dropped else None
    return None


def _check_keys(storage: Storage, executor: Executor, violations: Violations) -> None:
    """Clauses: DM-001."""
    query = Query(columns=[_KEY, _PARTITION, _FILE_NAME], meta_columns=True, configs={ENABLED_KEY: "false"})
    refused = Violations()
    with refused.noting():
        rows = executor.query(storage, query).shuffled([_KEY, _PARTITION])
        violations.gathered(rows.map(_doubles, FOUND).gathered())
    # What else keeps the table from being read has been found already, but not that a log has rows without keys.
    violations.found |= {one for one in refused.found if one.clause == "DM-001"}


def _check_buckets(state: TableState, executor: Executor, violations: Violations) -> None:
    """Keys that lie in another file group than their hash says, where the table keeps what decides.

    It keeps no hash fields: the choice of them counts by which the fewest groups have such keys.

    Clauses: OW-022, OW-034, OW-036.
    """
    kept, found, fields = None, Violations(), state.configuration.record_key
    with found.noting():
        kept = KeptBuckets.of(state.storage, load_snapshot(state.storage))
    # What else keeps the table from being read has been found already.
    violations.found |= {one for one in found.found if one.clause in _OF_BUCKETS}
    if kept is None or not (kept.rings or kept.counts):
        return
    choices = tuple(some for length in range(len(fields)) for some in combinations(fields, length + 1))
    query = Query(columns=[_KEY, _PARTITION, _FILE_NAME], meta_columns=True, configs={ENABLED_KEY: "false"})
    with Violations().noting():
        rows = executor.query(state.storage, query).map(_Placing(kept, choices), _MISPLACED).gathered().to_pylist()
        ways: list[dict[str, Violation]] = [{} for _ in choices]
        for row in rows:
            number = row.pop("choice")
            ways[number].setdefault(row["where"], Violation(**row))
        violations.found |= set(min(ways, key=len, default={}).values())


_OF_BUCKETS: Final = ("OW-034", "OW-036")
_MISPLACED: Final = FOUND.append(pa.field("choice", pa.int64()))


@dataclass(frozen=True, slots=True)
class _Placing:
    """A key of each file group that has keys of others, by each choice of the hash fields."""

    kept: KeptBuckets
    choices: tuple[tuple[str, ...], ...]

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        found: dict[tuple[int, str], dict[str, object]] = {}
        groups = pc.list_element(pc.split_pattern(rows.column(_FILE_NAME), "_", max_splits=1), 0)
        placed = rows.select([_KEY, _PARTITION]).append_column("group", groups)
        for partition in pc.unique(rows.column(_PARTITION)).to_pylist():
            there = placed.filter(pc.equal(placed.column(_PARTITION), partition)).combine_chunks()
            keys, file_ids = (one_chunk(there.column(name)) for name in (_KEY, "group"))
            clause, outside = _OF_BUCKETS[partition not in self.kept.rings], self.kept.outside(partition, file_ids)
            for number, fields in enumerate(self.choices):
                wrong = self.kept.misplaced(partition, keys, file_ids, fields)
                for severity, which in ((ERROR, wrong), (WARNING, outside)):
                    for row in there.filter(which).to_pylist():
                        where = f"{partition}/{row['group']}".lstrip("/")
                        message = f"the key {row[_KEY]!r} is not where writers look for it"
                        entry = {"clause": clause, "severity": severity, "where": where, "message": message}
                        found.setdefault((number, where), {**entry, "choice": number})
        return pa.Table.from_pylist(list(found.values()), schema=_MISPLACED)


def _doubles(rows: pa.Table, identity: TaskIdentity) -> pa.Table:
    """Keys that stand in two file groups of a partition; the name of a base file begins with its group's id.

    Inserts of a key that was there may leave that: no more than a warning.
    """
    del identity
    group = pc.list_element(pc.split_pattern(rows.column(_FILE_NAME), "_", max_splits=1), 0)
    grouped = rows.append_column("group", group).group_by([_PARTITION, _KEY]).aggregate([("group", "count_distinct")])
    found = Violations()
    for row in grouped.filter(pc.greater(grouped.column("group_count_distinct"), 1)).slice(0, _MOST_NAMED).to_pylist():
        message = f"the key {row[_KEY]!r} stands in {row['group_count_distinct']} file groups"
        found.warning("DM-001", row[_PARTITION] or ".", message)
    return found.rows()


def _rows_checked(files: Sequence[BaseFile], identity: TaskIdentity, check: "RowCheck") -> pa.Table:
    del identity
    return pa.concat_tables(check(one).rows() for one in files)


@dataclass(frozen=True, slots=True)
class RowCheck:
    """Reads one base file; can be pickled.

    `keyed`: whether rows have their meta fields. `path`: how their columns make partition paths, where that is known.
    """

    storage: Storage
    keyed: bool
    path: PathRule | None = None

    def __call__(self, one: BaseFile) -> Violations:
        """What is wrong with its rows."""
        violations = Violations()
        with violations.noting(one.path):
            bounds = _Bounds.of(self.storage, one.path)
            for part in self._parts(one.path):
                if self.keyed and all(part.column_names.count(name) == 1 for name in META_FIELDS):
                    _check_meta_fields(one, part, violations)
                    bounds.check(one.path, part.column(_KEY), violations)
                if self.path is not None and one.name.instant != _SKELETON:
                    self._check_place(self.path, one.path, part, violations)
        return violations

    def _check_place(self, rule: PathRule, path: str, rows: pa.Table, violations: Violations) -> None:
        """A writer whose index finds a key in another partition may leave its row there: no more than a warning.

        Clauses: DM-031.
        """
        folder, found = path.rpartition("/")[0], Violations()
        with found.noting():
            elsewhere = _count(pc.not_equal(rule.paths(rows), folder))
            if elsewhere:
                violations.warning("DM-031", path, f"the columns of {elsewhere} rows make another partition path")

    def _parts(self, path: str) -> Iterator[pa.Table]:
        """The rows, group by group where the format has groups; every column is decoded.

        Clauses: BF-004.
        """
        if not path.endswith(".parquet"):
            yield read_base_file(self.storage, path)
            return
        yield from open_base_parquet(self.storage, path).row_groups()


def _check_meta_fields(one: BaseFile, rows: pa.Table, violations: Violations) -> None:
    """Clauses: DM-001, MF-010, MF-011, MF-012, MF-013."""
    times, numbers, keys, partitions, names = (rows.column(name).cast(pa.string()) for name in META_FIELDS)
    folder, _, file_name = one.path.rpartition("/")
    if lacking := _count(pc.equal(pc.fill_null(keys, ""), "")):
        violations.error("DM-001", one.path, f"{lacking} rows have no record key")
    if later := _count(pc.greater(times, one.name.instant)):
        violations.error("MF-010", one.path, f"{later} rows have a commit time after the file's own")
    if elsewhere := _count(pc.not_equal(partitions, folder)):
        violations.error("MF-012", one.path, f"{elsewhere} rows have the path of another partition")
    if partitions.null_count:
        violations.error("MF-012", one.path, f"{partitions.null_count} rows have no partition path")
    if misnamed := _count(_is_other(names, file_name)):
        violations.warning("MF-013", one.path, f"{misnamed} rows have the name of another file")
    begins = pc.equal(times, pc.list_element(pc.split_pattern(numbers, "_", max_splits=1), 0))
    if strange := _count(pc.and_(pc.not_equal(numbers, ""), pc.invert(begins))):
        violations.warning("MF-011", one.path, f"{strange} sequence numbers do not begin with the commit time")


def _count(which: pa.ChunkedArray) -> int:
    return int(pc.sum(pc.fill_null(which, fill_value=False)).as_py() or 0)


@dataclass(frozen=True, slots=True)
class _Bounds:
    """What a footer says of the record keys of its file."""

    least: str | None
    greatest: str | None
    bloom: BloomFilter | None

    @classmethod
    def of(cls, storage: Storage, path: str) -> "_Bounds":
        keys = base_file_footer(storage, path).keys
        text = keys.get(BLOOM_FILTER_KEY)
        bloom = None if text is None else decode_bloom_filter(text, keys.get(BLOOM_TYPE_KEY) or _PLAIN_FILTER, path)
        return cls(keys.get(MINIMUM_KEY), keys.get(MAXIMUM_KEY), bloom)

    def check(self, path: str, keys: pa.ChunkedArray, violations: Violations) -> None:
        """Clauses: BF-002, IX-012."""
        present = keys.drop_null()
        ends = utf16_range(present)
        if ends is None:
            return
        if self.least is not None and utf16_order(ends[0]) < utf16_order(self.least):
            violations.warning("IX-012", path, f"the key {ends[0]!r} is below the footer's least key")
        if self.greatest is not None and utf16_order(ends[1]) > utf16_order(self.greatest):
            violations.warning("IX-012", path, f"the key {ends[1]!r} is above the footer's greatest key")
        if self.bloom is not None:
            absent = _count(pc.invert(pa.chunked_array([self.bloom.may_contain_each(present)])))
            if absent:
                violations.warning("BF-002", path, f"the bloom filter excludes {absent} keys of the file")
