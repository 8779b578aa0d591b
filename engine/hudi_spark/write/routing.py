"""Which file group each incoming row goes to: small ones filled, new ones sized.

Rows that the index found stay with their group. The others fill small files up, and what is left opens new groups; to
which of these a row goes is reported by a hash of its key, so that a task that runs again comes to the same.

Clauses: OW-012, OW-015, OW-016.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.hashing import java_string_hashes
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError, Reason
from hudi_spark.keys import FILE_ID, KEY_FIELD, PARTITION_FIELD, PARTITION_PATH, RECORD_KEY, index_of
from hudi_spark.options import INDEX_TYPE, Options
from hudi_spark.read import OPENING_BYTES, Flow, TaskIdentity, bytes_to_read
from hudi_spark.schema import WriterState
from hudi_spark.table_state import Commit, FileSlice, Snapshot, StatedFile, pending_clusterings, stated_files
from hudi_spark.write.planning import Operation, WriteContext

# Where a row stood in the input: a later version of a key has a greater number.
SEQUENCE: Final = "_tag_sequence"
TARGET: Final = "_tag_target"

KEY_FIELDS: Final = (KEY_FIELD, PARTITION_FIELD, pa.field(SEQUENCE, pa.int64()))
TARGET_FIELD: Final = pa.field(TARGET, pa.int32())


TargetKind = Literal["create", "merge", "append"]
NewFileId = Callable[[], str]
_BETWEEN: Final = "\0"
_ROW_BYTES: Final = 256
# Spreads hashes of similar keys over all 32 bits.
_SPREAD: Final = np.uint32(2_654_435_761)


@dataclass(frozen=True, slots=True)
class Target:
    """One file group that a write goes to, and how: a new base file, one in place of another, or a log.

    `inserts`: rows of new keys that are expected, `updates`: rows of keys that the group holds.
    `slice`: what the group holds now, None for a new group. `stated`: what a commit counts of its base file, where a
    new one takes its place.

    Clauses: TT-001, TT-002.
    """

    partition: str
    file_id: str
    kind: TargetKind
    slice: FileSlice | None = None
    inserts: int = 0
    updates: int = 0
    stated: StatedFile | None = None


def counted_targets(targets: Sequence[Target], snapshot: Snapshot) -> tuple[Target, ...]:
    """Targets that know what commits count of the base files in whose place new ones come.

    Clauses: OW-017, SA-001.
    """
    stated = stated_files(snapshot, (one.slice for one in targets if one.kind == "merge" and one.slice is not None))
    return tuple(
        one if one.slice is None else replace(one, stated=stated.get(one.slice.base_file or "")) for one in targets
    )


def bytes_to_write(target: Target, storage: Storage) -> int:
    """About how many bytes a task works on that writes a target: its rows, and the base file that they go into.

    What a row takes is a guess: it only says which targets share a task.
    """
    files = (target.slice.base_file,) if target.kind == "merge" and target.slice else ()
    return OPENING_BYTES + bytes_to_read(storage, files) + (target.inserts + target.updates) * _ROW_BYTES


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the new keys of a partition: up to which fraction of the hashes they go to a target."""

    limit: float
    target: int


@dataclass(frozen=True, slots=True)
class Routes:
    """All targets of a write, by number, and how new keys are shared among them, by partition."""

    targets: tuple[Target, ...]
    shares: Mapping[str, tuple[Share, ...]]

    def known_groups(self) -> frozenset[tuple[str, str]]:
        """Partition and id of the file groups that are there already."""
        return frozenset((one.partition, one.file_id) for one in self.targets if one.slice is not None)


@dataclass(frozen=True, slots=True)
class SmallFile:
    """A file group with room for as many rows."""

    slice: FileSlice
    room: int


@dataclass(frozen=True, slots=True)
class Sizing:
    """How many rows a new file group takes, and which groups of a partition have room."""

    rows_a_group: int
    small_files: Callable[[str], Sequence[SmallFile]]


@dataclass(frozen=True, slots=True)
class Groups:
    """How the table's file groups take rows: those that are small files of a partition with new keys, others, new ones.

    Clauses: TT-001, TT-002.
    """

    slices: Mapping[tuple[str, str], FileSlice]
    small: TargetKind
    other: TargetKind
    new: TargetKind
    new_file_id: NewFileId


def plan_routes(counts: pa.Table, groups: Groups, sizing: Sizing) -> Routes:
    """The targets for as many rows as `counts` says of each partition path and file id (null: new keys).

    Clauses: TT-001, TT-002.
    """
    news: dict[str, int] = {}
    totals: dict[tuple[str, str], int] = {}
    found = zip(*(counts.column(name).to_pylist() for name in (PARTITION_PATH, FILE_ID, "rows")), strict=True)
    for partition, file_id, rows in found:
        if file_id is None:
            news[partition] = news.get(partition, 0) + rows
        else:
            totals[partition, file_id] = totals.get((partition, file_id), 0) + rows
    small_files = {partition: sizing.small_files(partition) for partition in sorted(news)}
    planned = _Planned(groups, frozenset(_place(small.slice) for each in small_files.values() for small in each))
    for (partition, file_id), rows in sorted(totals.items()):
        planned.add_known(partition, file_id, rows)
    shares = {
        partition: planned.shared(partition, news[partition], small, sizing.rows_a_group)
        for partition, small in small_files.items()
    }
    return Routes(tuple(planned.targets), shares)


class _Planned:
    """The targets while they are found."""

    def __init__(self, groups: Groups, small: frozenset[tuple[str, str]]) -> None:
        self._groups = groups
        self._small = small
        self._numbers: dict[tuple[str, str], int] = {}
        self.targets: list[Target] = []

    def add_known(self, partition: str, file_id: str, rows: int) -> None:
        """A group that an index named; one that is not there yet is a bucket that no row has come to."""
        found = self._groups.slices.get((partition, file_id))
        if found is None:
            self._add(Target(partition, file_id, self._groups.new, inserts=rows))
        else:
            self._add(Target(partition, file_id, self._kind(found), found, updates=rows))

    def shared(
        self, partition: str, rows: int, small_files: Sequence[SmallFile], rows_a_group: int
    ) -> tuple[Share, ...]:
        """How new keys of a partition are shared: small files are filled up, the rest opens new groups."""
        parts: list[tuple[int, int]] = []
        left = rows
        for small in small_files:
            taken = min(small.room, left)
            if taken > 0:
                parts.append((self._fill_up(small.slice, taken), taken))
                left -= taken
        for taken in _new_groups(left, rows_a_group):
            new = Target(partition, self._groups.new_file_id(), self._groups.new, inserts=taken)
            parts.append((self._add(new), taken))
        limits = np.cumsum([taken for _, taken in parts]) / rows
        return tuple(Share(float(limit), number) for limit, (number, _) in zip(limits, parts, strict=True))

    def _fill_up(self, one: FileSlice, taken: int) -> int:
        """The number of a small file among the targets; updates may go to it as well."""
        number = self._numbers.get(_place(one))
        if number is None:
            return self._add(Target(one.partition, one.file_id, self._groups.small, one, inserts=taken))
        self.targets[number] = replace(self.targets[number], inserts=taken)
        return number

    def _kind(self, one: FileSlice) -> TargetKind:
        return self._groups.small if _place(one) in self._small else self._groups.other

    def _add(self, target: Target) -> int:
        self._numbers[target.partition, target.file_id] = len(self.targets)
        self.targets.append(target)
        return len(self.targets) - 1


def _place(one: FileSlice) -> tuple[str, str]:
    return one.partition, one.file_id


def _new_groups(rows: int, rows_a_group: int) -> Iterable[int]:
    if rows <= 0:
        return ()
    count = math.ceil(rows / rows_a_group)
    return (min(rows_a_group, rows - number * rows_a_group) for number in range(count))


def routed(rows: pa.Table, routes: Routes) -> pa.Table:
    """The rows with the number of each one's target."""
    known = {f"{one.partition}{_BETWEEN}{one.file_id}": number for number, one in enumerate(routes.targets)}
    places = pc.binary_join_element_wise(rows.column(PARTITION_PATH), rows.column(FILE_ID), _BETWEEN)
    numbers = pc.index_in(places, value_set=pa.array(list(known), pa.string()))
    # The targets of known groups stand in the order of their names here, so places are numbers.
    if numbers.null_count:
        numbers = pc.coalesce(numbers, _of_new_keys(rows, routes))
    return rows.append_column(TARGET_FIELD, numbers.cast(pa.int32()))


def _of_new_keys(rows: pa.Table, routes: Routes) -> pa.Array:
    """For each row the target that it goes to as a new key."""
    hashes = java_string_hashes(rows.column(RECORD_KEY)).astype(np.uint32) * _SPREAD
    fractions = hashes.astype(np.float64) / 2.0**32
    found = np.zeros(rows.num_rows, dtype=np.int32)
    paths = rows.column(PARTITION_PATH)
    for partition, shares in routes.shares.items():
        there = pc.fill_null(pc.equal(paths, partition), fill_value=False).to_numpy(zero_copy_only=False)
        places = np.searchsorted([share.limit for share in shares], fractions[there], side="right")
        numbers = np.array([share.target for share in shares], dtype=np.int32)
        found[there] = numbers[np.minimum(places, len(numbers) - 1)]
    return pa.array(found, pa.int32())


_BUCKET: Final = "BUCKET"


def is_bucketed(state: WriterState) -> bool:
    """Whether a key's hash states its file group.

    Clauses: OW-022.
    """
    return state.options.text(INDEX_TYPE) == _BUCKET


def groups_of(state: WriterState, context: WriteContext) -> Groups:
    """How groups take rows: merge-on-read logs changes; new keys open base files, or logs where a hash finds them.

    An overwrite opens base files always: nobody else writes to its groups yet.

    Clauses: OW-012, OW-015, OW-016.
    """
    slices = {(one.partition, one.file_id): one for one in state.slices}
    if state.configuration.table_type == "COPY_ON_WRITE":
        return Groups(slices, "merge", "merge", "create", context.new_file_id)
    operation = context.operation
    logs = is_bucketed(state) and not operation.bulk and operation.replaces == "nothing"
    new: TargetKind = "append" if logs else "create"
    small: TargetKind = "append" if is_bucketed(state) or operation.partial else "merge"
    return Groups(slices, small, "append", new, context.new_file_id)


def state_for_tags(state: WriterState, operation: Operation) -> WriterState:
    """The table as an index is asked about it: an operation that replaces file groups goes to none of them.

    Clauses: OW-018, OW-020.
    """
    if operation.replaces == "nothing":
        return state
    if index_of(state).kind == "ring":
        message = f"{operation.name} does not go together with an index of consistent hashing"
        hint = "delete the rows and insert the new ones, or use the bucket engine SIMPLE"
        raise HudiError(Reason.CONFIG_INVALID, "OW-034", message, hint=hint)
    return replace(state, snapshot=replace(state.snapshot, slices=()))


def state_of_files(state: WriterState) -> WriterState:
    """The table as an index of buckets is asked whether it has a key: by the keys of its files.

    Clauses: OW-020.
    """
    if not is_bucketed(state):
        return state
    return replace(state, options=state.options.with_values({INDEX_TYPE: "SIMPLE"}))


_SMALL: Final = "hoodie.parquet.small.file.limit"
_MOST: Final = "hoodie.parquet.max.file.size"


def sizing_of(state: WriterState, *, fills_small_files: bool) -> Sizing:
    """The sizes that a write's options and the table's last commits give.

    What a pending clustering is to replace is not filled up.

    Clauses: OW-011, OW-012.
    """
    a_row = max(average_row_bytes(state), 1)
    filled: dict[str, list[FileSlice]] = {}
    clustered = pending_clusterings(state.storage, state.snapshot.timeline) if fills_small_files else {}
    for one in state.slices if fills_small_files else ():
        if _is_filled(one) and (one.partition, one.file_id) not in clustered:
            filled.setdefault(one.partition, []).append(one)
    found = _SmallFiles(state, a_row, filled)
    return Sizing(_rows_a_group(state, a_row), found.of if fills_small_files else _none)


def average_row_bytes(state: WriterState) -> int:
    """Bytes of a stored row, as the newest commit that is large enough to tell had them; else the configured guess.

    Clauses: OW-012.
    """
    enough = state.options.decimal("hoodie.record.size.estimation.threshold") * state.options.number(_SMALL)
    for commit in reversed(state.snapshot.commits):
        size, rows = _written(commit)
        if rows and size > enough:
            return -(-size // rows)
    return state.options.number("hoodie.copyonwrite.record.size.estimate")


def _written(commit: Commit) -> tuple[int, int]:
    stats = [stat for stat in commit.metadata.write_stats if (stat.path or "").endswith(".parquet")]
    return sum(stat.total_write_bytes or 0 for stat in stats), sum(stat.num_writes or 0 for stat in stats)


def _rows_a_group(state: WriterState, a_row: int) -> int:
    if state.options.flag("hoodie.copyonwrite.insert.auto.split"):
        return max(state.options.number(_MOST) // a_row, 1)
    return max(state.options.number("hoodie.copyonwrite.insert.split.size"), 1)


def _none(partition: str) -> Sequence[SmallFile]:
    del partition
    return ()


@dataclass(frozen=True, slots=True)
class _SmallFiles:
    """The groups of a partition whose base file is below the limit; merge-on-read, only groups without logs."""

    state: WriterState
    a_row: int
    filled: Mapping[str, Sequence[FileSlice]]

    def of(self, partition: str) -> Sequence[SmallFile]:
        """The small files, smallest first."""
        limit = self.state.options.number(_SMALL)
        slices = self.filled.get(partition, ())
        if limit <= 0 or not slices:
            return ()
        sizes = {file.path: file.size for file in self.state.storage.list_files(partition, recursive=False)}
        small = [(size, one) for one in slices if 0 < (size := sizes.get(one.base_file or "", 0)) < limit]
        small.sort(key=lambda pair: (pair[0], pair[1].file_id))
        most = self.state.options.number(_MOST)
        found = [SmallFile(one, max((most - size) // self.a_row, 0)) for size, one in small]
        return found[: self._candidates()]

    def _candidates(self) -> int | None:
        if self.state.configuration.table_type == "COPY_ON_WRITE":
            return None
        return self.state.options.number("hoodie.merge.small.file.group.candidates.limit")


def _is_filled(one: FileSlice) -> bool:
    return one.base_file is not None and not one.log_files and one.base_file.endswith(".parquet")


_PLACES = (PARTITION_PATH, RECORD_KEY)


def in_sort_mode(rows: Flow, options: Options, parts: int | None) -> Flow:
    """Rows in the parts and the order that `hoodie.bulkinsert.sort.mode` requests; NONE leaves them as they come."""
    mode = options.text("hoodie.bulkinsert.sort.mode")
    own = options.names("hoodie.bulkinsert.user.defined.partitioner.sort.columns")
    columns = (PARTITION_PATH, *own) if own else _PLACES
    if mode == "GLOBAL_SORT":
        return rows.ordered(columns)
    if mode.startswith("PARTITION_PATH_REPARTITION"):
        rows = rows.shuffled([PARTITION_PATH], parts)
    if mode in ("PARTITION_SORT", "PARTITION_PATH_REPARTITION_AND_SORT"):
        return rows.map(_Sorting(columns), rows.schema)
    return rows


@dataclass(frozen=True, slots=True)
class _Sorting:
    """The rows of a part, sorted."""

    columns: tuple[str, ...]

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        return rows.sort_by([(name, "ascending") for name in self.columns])
