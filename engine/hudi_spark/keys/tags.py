"""Which index finds the keys of a write, and the columns that it reads and adds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.errors import HudiError, Reason, UnsupportedFeature
from hudi_spark.options import INDEX_TYPE, Options
from hudi_spark.read import Flow, TaskIdentity
from hudi_spark.schema import WriterState
from hudi_spark.table_state import FileSlice

RECORD_KEY: Final = "_hoodie_record_key"
PARTITION_PATH: Final = "_hoodie_partition_path"
FILE_ID: Final = "_tag_file_id"
BASE_INSTANT: Final = "_tag_base_instant"
POSITION: Final = "_tag_position"
MOVED: Final = "_tag_moved"
# Whether a log has deleted the row of the key in that place.
DELETED: Final = "_tag_dead"
# A slice by its number among those of the snapshot: a number travels where three texts would.
SLICE: Final = "_tag_slice"

TAG_FIELDS: Final = (
    pa.field(FILE_ID, pa.string()),
    pa.field(BASE_INSTANT, pa.string()),
    pa.field(POSITION, pa.int64()),
    pa.field(MOVED, pa.bool_()),
)
KEY_FIELD: Final = pa.field(RECORD_KEY, pa.string())
PARTITION_FIELD: Final = pa.field(PARTITION_PATH, pa.string())
SLICE_FIELD: Final = pa.field(SLICE, pa.int32())
POSITION_FIELD: Final = pa.field(POSITION, pa.int64())
DELETED_FIELD: Final = pa.field(DELETED, pa.bool_())
PLACE_FIELDS: Final = (SLICE_FIELD, POSITION_FIELD, DELETED_FIELD)
"""A place: number of the slice, row in its base file, whether a log deleted that row."""
PLACES: Final = pa.schema([KEY_FIELD, PARTITION_FIELD, *PLACE_FIELDS])
"""Where keys live, by key and partition path."""


def tagged_schema(schema: pa.Schema) -> pa.Schema:
    """The columns of keyed rows and their tags."""
    return pa.schema([*schema, *TAG_FIELDS])


@dataclass(frozen=True, slots=True)
class SliceNames:
    """What tags say of slices, by their numbers: partition path, file id, base instant."""

    partitions: pa.Array
    file_ids: pa.Array
    base_instants: pa.Array

    @staticmethod
    def of(slices: Sequence[FileSlice]) -> "SliceNames":
        """The names of slices in order."""
        return SliceNames(
            pa.array([one.partition for one in slices], pa.string()),
            pa.array([one.file_id for one in slices], pa.string()),
            pa.array([one.base_instant for one in slices], pa.string()),
        )


def with_tags(rows: pa.Table, names: SliceNames, moved: pa.Array | None = None) -> pa.Table:
    """Rows with a number of a slice (null: none) and a position, with tags in place of these, which go last.

    Clauses: OW-003, OW-020.
    """
    numbers = rows.column(SLICE)
    none_moved = pa.repeat(pa.scalar(value=False), rows.num_rows)
    tags = [names.file_ids.take(numbers), names.base_instants.take(numbers), rows.column(POSITION)]
    own = rows.drop_columns([field.name for field in PLACE_FIELDS])
    columns = [*own.columns, *tags, none_moved if moved is None else moved]
    return pa.Table.from_arrays(columns, schema=tagged_schema(own.schema))


@dataclass(frozen=True, slots=True)
class Named:
    """Rows whose slice is known by number get their tags; `stored_paths`: also the partition path of the slice.

    Clauses: OW-003, OW-020, OW-021.
    """

    names: SliceNames
    stored_paths: bool = False

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        """The part with tags."""
        del identity
        if self.stored_paths:
            stored = self.names.partitions.take(rows.column(SLICE))
            rows = with_paths(rows, pc.coalesce(stored, rows.column(PARTITION_PATH)))
        return with_tags(rows, self.names)


@dataclass(frozen=True, slots=True)
class Tagged:
    """Rows with their tags, or with places that `naming` makes tags of: later, where rows are worked on anyway."""

    rows: Flow
    naming: Named | None = None

    def named(self) -> Flow:
        """The rows with their tags."""
        return self.of(self.rows)

    def of(self, rows: Flow) -> Flow:
        """Rows of the same columns, kept or chosen, with their tags."""
        if self.naming is None:
            return rows
        own = [one for one in rows.schema if one not in PLACE_FIELDS]
        return rows.map(self.naming, tagged_schema(pa.schema(own)))

    def counted(self, rows: Flow) -> pa.Table:
        """How many of the rows go to each partition path and file group."""
        if self.naming is None:
            return rows.counted([PARTITION_PATH, FILE_ID])
        counts = rows.counted([PARTITION_PATH, SLICE])
        file_ids = self.naming.names.file_ids.take(counts.column(SLICE))
        return counts.set_column(1, pa.field(FILE_ID, pa.string()), file_ids)


@dataclass(frozen=True, slots=True)
class Untagged:
    """Rows of a table that holds none."""

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        """The part with empty tags."""
        del identity
        nothing = [pa.nulls(rows.num_rows, one.type) for one in TAG_FIELDS[:-1]]
        columns = [*rows.columns, *nothing, pa.repeat(pa.scalar(value=False), rows.num_rows)]
        return pa.Table.from_arrays(columns, schema=tagged_schema(rows.schema))


def with_paths(rows: pa.Table, paths: pa.Array | pa.ChunkedArray) -> pa.Table:
    """The rows with other partition paths."""
    index = rows.column_names.index(PARTITION_PATH)
    return rows.set_column(index, rows.schema.field(index), paths)


IndexKind = Literal["simple", "bloom", "bucket", "ring", "record"]

_ENGINE: Final = "hoodie.index.bucket.engine"
_KINDS: Final[dict[str, tuple[IndexKind, bool]]] = {
    "SIMPLE": ("simple", False),
    "GLOBAL_SIMPLE": ("simple", True),
    "BLOOM": ("bloom", False),
    "GLOBAL_BLOOM": ("bloom", True),
    "BUCKET": ("bucket", False),
    "RECORD_INDEX": ("record", True),
    "GLOBAL_RECORD_LEVEL_INDEX": ("record", True),
    "RECORD_LEVEL_INDEX": ("record", False),
}
_MOVES: Final = "hoodie.{kind}.index.update.partition.path"
_CONSISTENT: Final = "CONSISTENT_HASHING"
_MERGE_ON_READ: Final = "MERGE_ON_READ"


class MissingIndexWarning(UserWarning):
    """The table has no record index to look keys up in; they are found in the files.

    Clauses: OW-020.
    """


@dataclass(frozen=True, slots=True)
class Index:
    """How keys are found.

    `anywhere`: a key lives once in the table, else once in each partition. `moves`: a row of another partition than
    the stored one moves there.

    Clauses: OW-020, OW-021.
    """

    kind: IndexKind
    anywhere: bool = False
    moves: bool = False


def index_of(state: WriterState) -> Index:
    """The index of a write.

    Raises:
        HudiError: CONFIG_INVALID for an index that the table cannot have.
        UnsupportedFeature: an index that is not built.

    Clauses: OW-020, OW-021.

    """
    name = state.options.text(INDEX_TYPE).upper()
    if name not in _KINDS:
        raise UnsupportedFeature(f"index-{name.lower()}", f"{INDEX_TYPE} may be one of {', '.join(_KINDS)}")
    kind, anywhere = _KINDS[name]
    if hashes_consistently(state.options):
        kind = "ring"
        _refuse_copy_on_write(state)
    partitioned = bool(state.configuration.partition_by)
    moves = anywhere and partitioned and state.options.flag(_MOVES.format(kind=kind))
    return Index(kind, anywhere, moves)


def hashes_consistently(options: Options) -> bool:
    """Whether the index of a write has buckets that split and merge.

    Clauses: OW-034.
    """
    return options.text(INDEX_TYPE).upper() == "BUCKET" and options.text(_ENGINE).upper() == _CONSISTENT


def is_global(state: WriterState) -> bool:
    """Whether a key lives once in the table, so that rows of one write combine across partitions.

    Clauses: OW-019, OW-021.
    """
    return index_of(state).anywhere


def _refuse_copy_on_write(state: WriterState) -> None:
    """Clauses: OW-034."""
    if state.configuration.table_type != _MERGE_ON_READ:
        message = f"{_ENGINE}={_CONSISTENT} is for merge-on-read tables"
        hint = f"choose {_ENGINE}=SIMPLE, or make the table MERGE_ON_READ"
        raise HudiError(Reason.CONFIG_INVALID, "OW-034", message, hint=hint)
