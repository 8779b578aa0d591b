"""Pairs of versions and what the model makes of them: what every template tests its mergers with.

`python -m hudi_conformance.adapter_templates.merger_cases` writes them again.
"""

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from hudi_model.files import Record
from hudi_model.merge_rules import MergeMode, MergeRule, Version
from hudi_model.merging import COUNTER, DELETE_AT_ZERO, GREATER_OF_TWO, SET_UNION, RecordMerger

FILE = Path(__file__).parent / "shared" / "merger-cases.json"
_COLUMNS = "hoodie.record.merge.property.hudi.conformance.columns"


def merger_cases() -> list[dict[str, Any]]:
    """Every pair of some versions, under every merger."""
    return [
        *_pairs(COUNTER, ("n",), ("ts",), tuple(_numbers())),
        *_pairs(DELETE_AT_ZERO, ("n",), ("ts",), tuple(_numbers())),
        *_pairs(SET_UNION, ("names",), (), tuple(_sets())),
        *_pairs(GREATER_OF_TWO, ("n", "name"), ("n", "name"), tuple(_ranked())),
    ]


def text() -> str:
    """The file: one case a line."""
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in merger_cases())
    return f"[\n{lines}\n]\n"


def _pairs(
    merger: RecordMerger, columns: tuple[str, ...], ordering: tuple[str, ...], versions: tuple[Version, ...]
) -> Iterator[dict[str, Any]]:
    properties = {_COLUMNS: ",".join(columns)}
    rule = MergeRule(MergeMode.CUSTOM, ordering, strategy=merger.strategy, properties=properties)
    for older, newer in product(versions, repeat=2):
        yield {
            "strategy": merger.strategy,
            "columns": columns,
            "ordering": ordering,
            "older": _version_json(older),
            "newer": _version_json(newer),
            "merged": _version_json(merger.merge(rule, older, newer)),
        }


def _numbers() -> Iterator[Version]:
    yield _row({"n": 2, "ts": 1, "name": "old"}, (1,))
    yield _row({"n": -2, "ts": 3, "name": "Zürich"}, (3,))
    yield _row({"n": None, "ts": None}, None)
    yield Version("k", Record({"n": 5, "ts": 4}), (4,), deleted=True)
    yield Version("k", None, (2,))
    yield Version("k", None, None)


def _sets() -> Iterator[Version]:
    yield _row({"names": ["b", "a"], "n": 1}, None)
    yield _row({"names": ["c", "a", "Ä"]}, None)
    yield _row({"names": None, "n": 2}, None)
    yield Version("k", None, None)


def _ranked() -> Iterator[Version]:
    yield _row({"n": 1, "name": "z"}, (1, "z"))
    yield _row({"n": 10, "name": "a"}, (10, "a"))
    yield _row({"n": 10, "name": "a", "more": True}, (10, "a"))
    yield _row({"n": 10, "name": None}, None)
    yield Version("k", None, (10, "b"))
    yield Version("k", None, None)


def _row(values: dict[str, Any], ordering: tuple[Any, ...] | None) -> Version:
    return Version("k", Record(values), ordering)


def _version_json(version: Version) -> dict[str, Any]:
    values = None if version.record is None else dict(version.record.values)
    return {"values": values, "ordering": version.ordering, "is_delete": version.is_delete}


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
