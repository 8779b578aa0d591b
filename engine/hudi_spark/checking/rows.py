"""Rows of base files, in tasks: that they decode, what their meta fields say, and that a key has one file group."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.base.bloom_filters import BloomFilter, decode_bloom_filter
from hudi_format.base.files import (
    BLOOM_FILTER_KEY,
    BLOOM_TYPE_KEY,
    MAXIMUM_KEY,
    MINIMUM_KEY,
    base_file_footer,
    open_base_parquet,
    read_base_file,
)
from hudi_format.schemas import META_FIELDS
from hudi_format.storage import Storage
from hudi_format.texts import utf16_range

from hudi_spark.checking.stored import TableState
from hudi_spark.checking.violations import FOUND, Violations
from hudi_spark.execution.planning import Query
from hudi_spark.flows.flow import Executor, TaskIdentity
from hudi_spark.keying.generator import key_generator
from hudi_spark.keying.paths import PathRule
from hudi_spark.metadata.listing import ENABLED_KEY
from hudi_spark.options.resolving import resolve
from hudi_spark.state.slicing import BaseFile

_COMMIT_TIME, _NUMBER, _KEY, _PARTITION, _FILE_NAME = META_FIELDS
_FILES_A_TASK: Final = 8
_MOST_NAMED: Final = 20
_PLAIN_FILTER: Final = "SIMPLE"
_SKELETON: Final = "00000000000001"


def check_rows(state: TableState, executor: Executor, violations: Violations) -> None:
    """Every row of every base file that counts, and no key in two file groups of a partition.

    Clauses: BF-002, BF-004, DM-001, DM-031, IX-012, MF-010, MF-011, MF-012, MF-013.
    """
    files = sorted((one for one in state.committed() if isinstance(one, BaseFile)), key=lambda one: one.path)
    chunks = [tuple(files[at : at + _FILES_A_TASK]) for at in range(0, len(files), _FILES_A_TASK)]
    if chunks:
        keyed = state.configuration.populates_meta_fields
        check = partial(_checked, check=RowCheck(state.storage, keyed, _path_rule(state) if keyed else None))
        violations.gathered(executor.tasks(chunks, check, FOUND).gathered())
    if state.configuration.populates_meta_fields:
        _check_keys(state.storage, executor, violations)


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
    # What keeps the table from being read has been found already.
    refused = Violations()
    with refused.noting():
        rows = executor.query(storage, query).shuffled([_KEY, _PARTITION])
        violations.gathered(rows.map(_doubles, FOUND).gathered())


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


def _checked(files: Sequence[BaseFile], identity: TaskIdentity, check: "RowCheck") -> pa.Table:
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
                if self.keyed and set(META_FIELDS) <= set(part.column_names):
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
    if misnamed := _count(pc.and_(pc.not_equal(names, ""), pc.not_equal(names, file_name))):
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
        if self.least is not None and _rank(ends[0]) < _rank(self.least):
            violations.warning("IX-012", path, f"the key {ends[0]!r} is below the footer's least key")
        if self.greatest is not None and _rank(ends[1]) > _rank(self.greatest):
            violations.warning("IX-012", path, f"the key {ends[1]!r} is above the footer's greatest key")
        if self.bloom is not None:
            absent = _count(pc.invert(pa.chunked_array([self.bloom.may_contain_each(present)])))
            if absent:
                violations.warning("BF-002", path, f"the bloom filter excludes {absent} keys of the file")


def _rank(key: str) -> bytes:
    """Keys are compared by their UTF-16 units."""
    return key.encode("utf-16-be", "surrogatepass")
