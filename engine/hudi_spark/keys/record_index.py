"""Record indexes: keys go to the file group of the index that knows them, and are looked up there, by tasks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.hashing import file_group_indexes
from hudi_format.metadata.partitions import Partition, data_partition_of_id, file_group_of_id
from hudi_format.metadata.records import RecordLocation

from hudi_spark.errors import HudiError, Reason
from hudi_spark.keys.bloom_index import each_once
from hudi_spark.keys.tags import DELETED_FIELD, PARTITION_PATH, PLACE_FIELDS, POSITION_FIELD, RECORD_KEY, SLICE_FIELD
from hudi_spark.read import Flow, TaskIdentity
from hudi_spark.schema import WriterState
from hudi_spark.table_state import FileSlice, GroupReader, MetadataTable, Wanted

_GROUP: Final = "_tag_group"
_GROUP_FIELD: Final = pa.field(_GROUP, pa.int32())
_BETWEEN: Final = "\0"

Series = Mapping[str | None, tuple[int, int]]
"""By partition path (None: of the whole table) the number of the first file group, and how many there are."""


def found_in_index(keys: Flow, state: WriterState, metadata: MetadataTable, *, within_partitions: bool) -> Flow:
    """The lines of `keys` whose key the index knows in a slice that is read, with the slice's number.

    A place that no slice of the snapshot is at does not count. The row in the base file is not known.
    `within_partitions`: the index knows keys within partitions; a line is looked up in its own.

    Raises:
        HudiError: CONFIG_INVALID where the table's index is of the other kind.

    Clauses: IX-020, IX-022, IX-023, OW-003, OW-020.

    """
    groups = metadata.indexes[Partition.RECORD_INDEX].groups
    _refuse_other_kind(groups, within_partitions=within_partitions)
    ordered = sorted(groups, key=_place)
    numbered = pa.schema([*keys.schema, _GROUP_FIELD])
    lines = keys.map(_Grouping(_series(ordered)), numbered).shuffled([_GROUP])
    looking_up = _LookingUp(tuple(ordered), _known_places(state.slices), _alone_in(state.slices))
    return lines.map(looking_up, pa.schema([*keys.schema, *PLACE_FIELDS]))


def _refuse_other_kind(groups: Iterable[GroupReader], *, within_partitions: bool) -> None:
    """Clauses: IX-022, OW-020."""
    partitioned = any(data_partition_of_id(one.slice.file_id) is not None for one in groups)
    if partitioned == within_partitions:
        return
    own, other = ("RECORD_LEVEL_INDEX", "GLOBAL_RECORD_LEVEL_INDEX")[:: 1 if partitioned else -1]
    message = f"the table's record index is no index for hoodie.index.type={other}"
    hint = f"write with hoodie.index.type={own}, or drop the record index"
    raise HudiError(Reason.CONFIG_INVALID, "IX-022", message, hint=hint)


def _place(group: GroupReader) -> tuple[str, int]:
    file_id = group.slice.file_id
    return data_partition_of_id(file_id) or "", file_group_of_id(file_id)[0]


def _series(ordered: Iterable[GroupReader]) -> Series:
    series: dict[str | None, tuple[int, int]] = {}
    for number, group in enumerate(ordered):
        partition = data_partition_of_id(group.slice.file_id)
        first, count = series.get(partition, (number, 0))
        series[partition] = (first, count + 1)
    return series


def _known_places(slices: Iterable[FileSlice]) -> pa.Array:
    return pa.array([f"{one.partition}{_BETWEEN}{one.file_id}" for one in slices], pa.string())


def _alone_in(slices: Iterable[FileSlice]) -> bool:
    """Whether the table has no partitions; writers differ on what the index says of the path then."""
    return all(not one.partition for one in slices)


@dataclass(frozen=True, slots=True)
class _Grouping:
    """The lines with the number of the index' file group that knows their key, if one does.

    Clauses: MT-017, IX-022.
    """

    series: Series

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        if None in self.series:
            return self._numbered(rows, *self.series[None])
        paths = rows.column(PARTITION_PATH)
        parts = [
            self._numbered(rows.filter(pc.equal(paths, partition)), *self.series[partition])
            for partition in pc.unique(paths).to_pylist()
            if partition in self.series
        ]
        return pa.concat_tables(parts) if parts else self._numbered(rows.slice(0, 0), 0, 1)

    @staticmethod
    def _numbered(rows: pa.Table, first: int, count: int) -> pa.Table:
        numbers = first + file_group_indexes(rows.column(RECORD_KEY), count)
        return rows.append_column(_GROUP_FIELD, [pa.array(numbers.astype(np.int32))])


@dataclass(frozen=True, slots=True)
class _LookingUp:
    """The lines of a part whose key the index places in a slice.

    Clauses: IX-020, IX-023.
    """

    groups: tuple[GroupReader, ...]
    places: pa.Array
    unpartitioned: bool

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        keys, places = [], []
        for number in pc.unique(rows.column(_GROUP)).to_pylist():
            wanted = pc.unique(rows.filter(pc.equal(rows.column(_GROUP), number)).column(RECORD_KEY))
            # Records of the index are decoded one by one, whatever is done with them.
            found = self.groups[number].records(Wanted(keys=frozenset(wanted.to_pylist())))
            for key, record in found.items():
                if isinstance(record.content, RecordLocation):
                    keys.append(f"{number}{_BETWEEN}{key}")
                    places.append(self._name(record.content))
        return self._found(rows, pa.array(keys, pa.string()), pa.array(places, pa.string()))

    def _name(self, location: RecordLocation) -> str:
        partition = "" if self.unpartitioned else location.partition
        return f"{partition}{_BETWEEN}{location.file_id}"

    def _found(self, rows: pa.Table, keys: pa.Array, places: pa.Array) -> pa.Table:
        wanted = pc.binary_join_element_wise(rows.column(_GROUP).cast(pa.string()), rows.column(RECORD_KEY), _BETWEEN)
        slices = pc.index_in(places, value_set=self.places).cast(pa.int32())
        numbers = slices.take(pc.index_in(wanted, value_set=keys))
        lines = rows.drop_columns([_GROUP]).append_column(SLICE_FIELD, numbers)
        lines = lines.filter(pc.is_valid(numbers))
        lines = lines.append_column(POSITION_FIELD, [pa.nulls(lines.num_rows, pa.int64())])
        return each_once(lines.append_column(DELETED_FIELD, [pa.repeat(pa.scalar(value=False), lines.num_rows)]))
