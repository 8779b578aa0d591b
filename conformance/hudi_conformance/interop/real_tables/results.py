"""The last comparison, kept: what each adapter made of each table, without times and places."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hudi_conformance.interop.real_tables.catalogue import recipes
from hudi_conformance.interop.real_tables.comparing import BAD, Compared, Verdict
from hudi_conformance.runner.recorded_results import load_recorded, save_recorded

_SOURCE = "real-tables"


def load_results(root: Path) -> dict[str, dict[str, Any]]:
    """By table id, then by adapter: the questions asked by op, and the names of those whose answers were not equal."""
    return dict(load_recorded(root, _SOURCE) or {})


def save_results(root: Path, compared: Iterable[Compared]) -> Path:
    """Put these results in place of what was said of the same tables and adapters; forget tables without recipe."""
    found: dict[tuple[str, str], list[Compared]] = defaultdict(list)
    for one in compared:
        found[one.recipe.id, one.adapter].append(one)
    kept = load_results(root)
    for (table, adapter), mine in found.items():
        kept.setdefault(table, {})[adapter] = _result_json(mine)
    present = {made.id for made in recipes()}
    return save_recorded(root, _SOURCE, {table: kept[table] for table in sorted(kept.keys() & present)})


def _result_json(mine: list[Compared]) -> Mapping[str, Any]:
    questions: dict[str, list[str]] = defaultdict(list)
    missing: dict[str, list[str]] = defaultdict(list)
    for one in mine:
        questions[one.question["op"]].append(one.question["name"])
        if one.verdict is Verdict.UNSUPPORTED:
            missing[one.details[0]].append(one.question["name"])
    named = {
        "known": [one.question["name"] for one in mine if one.verdict is Verdict.KNOWN],
        "different": [one.question["name"] for one in mine if one.verdict in BAD],
        "unsupported": missing,
    }
    return {"queries": questions, **{name: value for name, value in named.items() if value}}
