"""What is asked after a step, and of each answer what every implementation has in common with the model.

An instant becomes the name of the actor whose action it is; those of the first writes stay as they are, for every side
begins with the same bytes. Of completion times only their order is left, of file groups only their places.
"""

from collections.abc import Callable, Mapping
from typing import Any

from hudi_adapter.rows import Rows

from hudi_conformance.runner.normalized_answers import InstantNames

READS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("read_snapshot", {"meta_columns": True}),
    ("read_optimized", {}),
    ("read_incremental", {"begin": "earliest"}),
    ("list_timeline", {}),
    ("list_file_slices", {}),
)
_OPERATION = "_hoodie_operation"
_UNDONE = "rollback"


def comparable(op: str, answer: Any, names: InstantNames) -> Any:
    """What is compared of an answer."""
    return _COMPARED[op](answer, names)


def _rows(answer: Rows, names: InstantNames) -> list[tuple[tuple[str, Any], ...]]:
    rows = names.normalized_rows(answer)
    columns = [name for name, _ in rows.schema]
    found = (zip(columns, row, strict=True) for row in rows.rows)
    return sorted((tuple(sorted(pair for pair in row if pair[0] != _OPERATION)) for row in found), key=str)


def _timeline(answer: list[Mapping[str, Any]], names: InstantNames) -> list[tuple[Any, ...]]:
    """Each action with its state and the place of its completion among all; what only undid another is left out."""
    kept = [one for one in answer if one["action"] != _UNDONE]
    order = sorted(str(one["completed"]) for one in kept if one["completed"])
    return [
        (
            names.name_of(one["requested"]),
            one["action"],
            one["state"],
            order.index(one["completed"]) if one["completed"] else None,
        )
        for one in kept
    ]


def _slices(answer: list[Mapping[str, Any]], names: InstantNames) -> list[tuple[Any, ...]]:
    """Each slice: its partition, whose instant it begins with, whether it has a base file, how many logs."""
    return sorted(
        (
            one["partition"],
            names.name_of(one["base_instant"]),
            one["base_file"] is not None,
            len(one["log_files"]),
        )
        for one in answer
    )


_COMPARED: Mapping[str, Callable[[Any, InstantNames], Any]] = {
    "read_snapshot": _rows,
    "read_optimized": _rows,
    "read_incremental": _rows,
    "list_timeline": _timeline,
    "list_file_slices": _slices,
}
