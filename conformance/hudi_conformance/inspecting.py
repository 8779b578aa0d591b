"""A real table looked at with the model: its violated clauses, its timeline drawn."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hudi_model.rejection import Rejection, Unsupported
from rich.console import Console

from hudi_conformance.bridge import load
from hudi_conformance.bridge.asking import ask
from hudi_conformance.console import console
from hudi_conformance.report.console_timeline import plain, timeline_table


def check(path: Path, *, as_json: bool) -> int:
    """Print every violation of a table; 0 sound, 1 an error among them, 2 the table cannot be judged."""
    out = console()
    found = _asked(path, "check_table", out)
    if found is None:
        return 2
    for violation in found:
        if as_json:
            out.print(json.dumps(violation, ensure_ascii=False), markup=False)
        else:
            out.print(plain(_line(violation)))
    errors = sum(violation["severity"] == "error" for violation in found)
    if not as_json:
        out.print(f"{errors} errors, {len(found) - errors} warnings", markup=False)
    return 1 if errors else 0


def draw(path: Path) -> int:
    """Print a table's timeline with a bar for each action; 2 when the table refuses it."""
    out = console()
    found = _asked(path, "list_timeline", out)
    if found is None:
        return 2
    out.print(timeline_table(found))
    return 0


def _asked(path: Path, op: str, out: Console) -> Any:
    try:
        return ask(load(path), op, {}).content
    except Rejection as refusal:
        out.print(plain(f"{refusal.reason.value} ({refusal.clause}) {refusal.where}: {refusal.detail}"))
    except Unsupported as lack:
        out.print(plain(f"unsupported: {lack.feature}"))
    return None


def _line(violation: Mapping[str, Any]) -> str:
    return f"{violation['severity']:<7} {violation['clause']}  {violation['where']}: {violation['message']}"
