"""What is asked after a step, and the answers in words that do not depend on who gave out which times and names.

An instant becomes the name of the actor whose action it is; those of the first writes stay as they are, for every side
begins with the same bytes. Of completion times only their order is left, of file groups only their places.
"""

from collections.abc import Callable, Mapping
from typing import Any

from hudi_adapter.rows import Rows

Names = Mapping[str, str]
"""Names of actors by the requested times of their actions."""

READS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("read_snapshot", {"meta_columns": True}),
    ("read_optimized", {}),
    ("read_incremental", {"begin": "earliest"}),
    ("list_timeline", {}),
    ("list_file_slices", {}),
)
_COMMIT_TIME = "_hoodie_commit_time"
_OWN = ("_hoodie_commit_seqno", "_hoodie_file_name", "_hoodie_operation")
_UNDONE = "rollback"


def told(op: str, answer: Any, names: Names) -> Any:
    """An answer in words that every side shares."""
    return _TELLING[op](answer, names)


def _rows(answer: Rows, names: Names) -> list[tuple[tuple[str, Any], ...]]:
    columns = [name for name, _ in answer.schema]
    found = []
    for row in answer.rows:
        values = {name: value for name, value in zip(columns, row, strict=True) if name not in _OWN}
        if _COMMIT_TIME in values:
            values[_COMMIT_TIME] = names.get(str(values[_COMMIT_TIME]), values[_COMMIT_TIME])
        found.append(tuple(sorted(values.items())))
    return sorted(found, key=str)


def _timeline(answer: list[Mapping[str, Any]], names: Names) -> list[tuple[Any, ...]]:
    """Each action with its state and the place of its completion among all; what only undid another is left out."""
    kept = [one for one in answer if one["action"] != _UNDONE]
    order = sorted(str(one["completed"]) for one in kept if one["completed"])
    return [
        (
            names.get(one["requested"], one["requested"]),
            one["action"],
            one["state"],
            order.index(one["completed"]) if one["completed"] else None,
        )
        for one in kept
    ]


def _slices(answer: list[Mapping[str, Any]], names: Names) -> list[tuple[Any, ...]]:
    """Each slice: its partition, whose instant it begins with, whether it has a base file, how many logs."""
    return sorted(
        (
            one["partition"],
            names.get(one["base_instant"], one["base_instant"]),
            one["base_file"] is not None,
            len(one["log_files"]),
        )
        for one in answer
    )


_TELLING: Mapping[str, Callable[[Any, Names], Any]] = {
    "read_snapshot": _rows,
    "read_optimized": _rows,
    "read_incremental": _rows,
    "list_timeline": _timeline,
    "list_file_slices": _slices,
}
