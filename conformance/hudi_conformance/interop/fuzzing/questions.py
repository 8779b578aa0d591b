"""What both sides are asked after a write; instants are named by the step that made them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hudi_conformance.corpus.table_shapes import TableShape, WriteCase

_EARLIEST = "earliest"


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
        told = [f"{name} ${step}" for name, step in self.times]
        return " ".join([self.op, *told, *(f"{name}={value}" for name, value in self.fixed)])


def questions_after(
    case: WriteCase, done: Sequence[Mapping[str, Any]], *, last: bool, between: bool
) -> Iterator[Question]:
    """The snapshot and what is in base files after every step; times and ranges after the last one too."""
    shape, written = case.shape, [number for number, one in enumerate(done, start=1) if one.get("requested")]
    yield Question("read_snapshot", fixed=(("meta_columns", True),))
    if shape.table_type == "MERGE_ON_READ" and shape.configs.get("hoodie.index.type") != "BUCKET":
        # Buckets may begin with a log or with a base file.
        yield Question("read_optimized")
    fed = shape.properties.get("hoodie.table.cdc.enabled") == "true"
    if written and fed:
        yield Question("read_changes", times=(("begin", _before(written, written[-1])),))
    if not last:
        return
    yield Question("table_info")
    if not written or not between:
        return
    yield from (Question("read_as_of", times=(("instant", number),)) for number in written)
    if shape.properties.get("hoodie.populate.meta.fields") != "false" and not _has_partial_logs(case):
        yield from _ranges(written, "read_incremental")
    if fed:
        yield from _ranges(written, "read_changes")


def _has_partial_logs(case: WriteCase) -> bool:
    """What a range answers that holds a part of a row and not the row, nothing settles: 1.1.1 ends in an error."""
    partial = any(step.operation == "partial_update" for step in case.steps)
    return partial and case.shape.table_type == "MERGE_ON_READ"


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
