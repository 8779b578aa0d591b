"""The usual questions about a table, and the times that a question's parameters name."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hudi_conformance.corpus.recipes_apache.catalogue import Question, Recipe

_WRITES = {"commit", "deltacommit", "replacecommit"}
_TIME = re.compile(r"\$(-?\d+)\.(requested|completed)")
_FEW = 2


def all_questions(made: Recipe, table: Path, timeline: Sequence[Mapping[str, Any]]) -> list[Question]:
    """The usual questions and the recipe's own, with times in place of their names.

    `timeline` is what list_timeline answered; without completed writes there is no question about a time.
    """
    writes = sorted((one for one in timeline if _is_write(one)), key=_completed)
    usual = [one for one in _usual(made, table, len(writes)) if one.name not in made.without]
    return [Question(one.name, one.op, _with_times(one.params, writes)) for one in (*usual, *made.questions)]


def _usual(made: Recipe, table: Path, writes: int) -> Iterator[Question]:
    yield Question("snapshot", "read_snapshot")
    yield Question("snapshot_meta", "read_snapshot", {"meta_columns": True})
    yield Question("timeline", "list_timeline")
    yield Question("history", "list_timeline", {"include_history": True})
    yield Question("slices", "list_file_slices")
    yield Question("info", "table_info")
    if made.type == "MERGE_ON_READ":
        yield Question("optimized", "read_optimized")
    if not writes:
        return
    middle = writes // 2
    for name, number in {"first": 0, "middle": middle}.items():
        if writes > _FEW or name == "first":
            yield Question(f"as_of_{name}", "read_as_of", {"instant": f"${number}.requested"})
    # Apache Hudi's view keeps later logs in an earlier slice; its reader drops them block by block.
    if writes > _FEW and made.type == "COPY_ON_WRITE":
        yield Question("slices_middle", "list_file_slices", {"as_of": f"${middle}.requested"})
    for op, name in (("read_incremental", "incremental"), ("read_changes", "changes")):
        if op == "read_incremental" or _logs_changes(table):
            yield Question(f"{name}_all", op, {"begin": "earliest"})
            yield Question(f"{name}_later", op, {"begin": f"${middle - 1 if middle else 0}.completed"})
            if writes > _FEW:
                yield Question(f"{name}_between", op, {"begin": "$0.completed", "end": f"${middle}.completed"})


def _logs_changes(table: Path) -> bool:
    properties = (table / ".hoodie" / "hoodie.properties").read_text(encoding="utf-8")
    return "hoodie.table.cdc.enabled=true" in properties


def _is_write(instant: Mapping[str, Any]) -> bool:
    return instant["state"] == "COMPLETED" and instant["action"] in _WRITES


def _completed(instant: Mapping[str, Any]) -> str:
    """Before version 8 actions have no completion time: their instant stands for it."""
    return str(instant["completed"] or instant["requested"])


def _with_times(value: Any, writes: Sequence[Mapping[str, Any]]) -> Any:
    if isinstance(value, Mapping):
        return {name: _with_times(inner, writes) for name, inner in value.items()}
    named = _TIME.fullmatch(value) if isinstance(value, str) else None
    if named is None:
        return value
    write = writes[int(named[1])]
    return _completed(write) if named[2] == "completed" else str(write["requested"])
