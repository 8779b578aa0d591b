"""What both sides are asked after a write; instants are named by the step that made them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hudi_adapter.values import encode_value

from hudi_conformance.corpus.table_shapes import MARK, SMALL_FILE_LIMIT, TableShape, WriteCase
from hudi_conformance.interop.fuzzing.service_steps import ARCHIVES, CLUSTERS, METADATA, OLDEST, runs_inline

_EARLIEST = "earliest"
_FOLLOWED = {"hoodie.metadata.index.secondary.enable": "true"}
"""Readers follow the other indexes without being requested to."""
_NESTED = ("list", "map", "struct")
_WITHOUT_ORDER = ("boolean", "binary")
_NOT_A_NUMBER = "nan"


@dataclass(frozen=True, slots=True)
class Question:
    """An op, fixed parameters, and parameters that are the times of steps (from 1; 0 is the earliest)."""

    op: str
    fixed: tuple[tuple[str, Any], ...] = ()
    times: tuple[tuple[str, int], ...] = ()

    def params(self, done: Sequence[Mapping[str, Any]], shape: TableShape) -> dict[str, Any]:
        """The parameters for one side, whose writes answered `done`."""
        ranged = self.op in {"read_incremental", "read_changes"}
        form = "completed" if ranged and shape.has_completion_times else "requested"
        return {**dict(self.fixed), **{name: _time(done, step, form) for name, step in self.times}}

    def __str__(self) -> str:
        times = [f"{name} ${step}" for name, step in self.times]
        return " ".join([self.op, *times, *(f"{name}={value}" for name, value in self.fixed)])


def questions_after(
    case: WriteCase, done: Sequence[Mapping[str, Any]], *, last: bool, between: bool
) -> Iterator[Question]:
    """The snapshot, a key and what is in base files after every step; the rest after the last one."""
    shape, changed = case.shape, case.changed_version(len(done))
    # As of a moment before its version changed a table may answer otherwise (VR-005).
    written = [number for number, one in enumerate(done, start=1) if one.get("requested") and number > changed]
    yield Question("read_snapshot", fixed=(("meta_columns", True),))
    yield from _key_filter(case, len(done))
    if shape.table_type == "MERGE_ON_READ" and _files_are_settled(shape):
        yield Question("read_optimized")
    fed = shape.properties.get("hoodie.table.cdc.enabled") == "true" and not _clusters_doubled(case)
    if written and fed:
        yield Question("read_changes", times=(("begin", _before(written, written[-1])),))
    if not last:
        return
    yield Question("table_info")
    if shape.table_type == "MERGE_ON_READ" and _files_are_settled(shape) and not _has_logs_of_their_own(case):
        yield Question("read_unmerged")
    yield from _column_filters(case)
    yield from _state(case)
    if not written or not between:
        return
    yield from (Question("read_as_of", times=(("instant", number),)) for number in written)
    if shape.properties.get("hoodie.populate.meta.fields") != "false" and not (
        _has_partial_logs(case) or _clusters_doubled(case)
    ):
        yield from _ranges(written, "read_incremental")
    if fed:
        yield from _ranges(written, "read_changes")


def _filtered(form: Sequence[Any]) -> Question:
    """A filter that may follow every index of the metadata table."""
    return Question("read_snapshot", fixed=(("filter", form), ("configs", _FOLLOWED)))


def _key_filter(case: WriteCase, steps: int) -> Iterator[Question]:
    """A key that the last of these steps brought, or the last one before it that brought rows."""
    name = case.shape.record_key[0]
    values = list(_values(case, name, steps))
    if values:
        yield _filtered([name, "=", values[-1]])


def _column_filters(case: WriteCase) -> Iterator[Question]:
    """Each column: a value that was written, what is not below it, what is null; none that folders may contradict."""
    for name, kind in case.shape.columns:
        if name in case.shape.partition_by and case.shape.keeps_places:
            continue  # readers may go by folders (IX-056)
        written = list(_values(case, name, len(case.steps)))
        values = [one for one in written if one != _NOT_A_NUMBER] if kind.startswith("float") else written
        operators = ("=",) if kind.startswith(_WITHOUT_ORDER) else ("=", ">=", "<")
        if len(values) < len(written):
            # Query engines do not agree on whether not-a-number is greater than other numbers.
            operators = ("=", "<", "<")
        if values and not kind.startswith(_NESTED):
            chosen = zip(operators, (values[-1], values[0], values[len(values) // 2]), strict=False)
            yield from (_filtered([name, *one]) for one in chosen)
        yield _filtered([name, "is_null"])


def _values(case: WriteCase, name: str, steps: int) -> Iterator[Any]:
    """The values of a column that these steps brought, as filters spell them."""
    kind = dict(case.shape.columns)[name]
    for step in case.steps[:steps]:
        names = [one for one, _ in step.columns]
        if (name, kind) in step.columns:
            given = (row[names.index(name)] for row in step.rows or ())
            yield from (encode_value(one, kind) for one in given if one is not None)


def _state(case: WriteCase) -> Iterator[Question]:
    """The timeline and the file slices, where nothing of them is implementation-defined."""
    shape = case.shape
    archives = runs_inline(shape, ARCHIVES) or any(step.operation == "archive" for step in case.steps)
    if not archives or shape.configs.get(METADATA) != "true":
        # How far archival goes depends on a metadata table, which not all sides keep.
        yield Question("list_timeline")
    if _files_are_settled(shape) and not (_leaves_unlisted_logs(case) or _marks_rows(case)):
        yield Question("list_file_slices")


def _leaves_unlisted_logs(case: WriteCase) -> bool:
    """Whether a log of version 6 may be there that no list has: who reads the list may give its version once more."""
    listed = case.shape.version == OLDEST and case.shape.configs.get(METADATA) == "true"
    return listed and any(step.phases for step in case.steps)


def _marks_rows(case: WriteCase) -> bool:
    """Whether rows are marked as deleted: whether one without a key to delete opens a file group is open."""
    return any(
        row[place] is True
        for step in case.steps
        for place, column in enumerate(step.columns)
        if column == MARK
        for row in step.rows or ()
    )


def _files_are_settled(shape: TableShape) -> bool:
    """Whether nothing of which file a row comes to is open.

    Buckets may begin with a log or with a base file, and which bucket of consistent hashing has a key is open, too.
    Where small files are filled, sizes of files decide.
    """
    in_buckets = shape.table_type == "MERGE_ON_READ" and shape.configs.get("hoodie.index.type") == "BUCKET"
    return shape.configs.get(SMALL_FILE_LIMIT) == "0" and not in_buckets


def _has_partial_logs(case: WriteCase) -> bool:
    """What a range answers that holds a part of a row and not the row, nothing settles: 1.1.1 ends in an error."""
    partial = any(step.operation == "partial_update" for step in case.steps)
    return partial and case.shape.table_type == "MERGE_ON_READ"


def _has_logs_of_their_own(case: WriteCase) -> bool:
    """What 1.1.1 does not read unmerged: partial updates end in an error, and log compactions add to their sources."""
    return _has_partial_logs(case) or any("logcompaction" in step.operation for step in case.steps)


def _clusters_doubled(case: WriteCase) -> bool:
    """Whether two rows of one key may have come into one file group: a range or feed has one row a key (IN-001)."""
    if not runs_inline(case.shape, CLUSTERS) and not any("clustering" in step.operation for step in case.steps):
        return False
    known: set[tuple[Any, ...]] = set()
    for step in case.steps:
        names = [name for name, _ in step.columns]
        places = [names.index(name) for name in case.shape.record_key if name in names]
        keys = [tuple(row[place] for place in places) for row in step.rows or ()]
        if step.operation.startswith(("insert", "bulk_insert")) and (len(set(keys)) < len(keys) or known & {*keys}):
            return True
        known |= {*keys}
    return False


def _ranges(written: Sequence[int], op: str) -> Iterator[Question]:
    """All, each step alone, and from each step on."""
    yield Question(op, times=(("begin", 0),))
    for number in written:
        yield Question(op, times=(("begin", _before(written, number)), ("end", number)))
    yield from (Question(op, times=(("begin", number),)) for number in written[:-1])


def _before(written: Sequence[int], number: int) -> int:
    return max((one for one in written if one < number), default=0)


def _time(done: Sequence[Mapping[str, Any]], step: int, form: str) -> str:
    if not step:
        return _EARLIEST
    return str(done[step - 1].get(form) or done[step - 1].get("requested") or "")
