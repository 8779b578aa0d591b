"""What `hudi-conformance timeline PATH` and `hudi-conformance check-table PATH` print."""

from collections.abc import Sequence
from pathlib import Path

from hudi_model.rejection import Rejection, Unsupported
from hudi_model.violations import Severity, Violation, violations
from rich.console import Console
from rich.table import Table

from hudi_conformance.bridge import load
from hudi_conformance.bridge.asking import ask
from hudi_conformance.report.console_timeline import plain, timeline_table
from hudi_conformance.report.svg import legal
from hudi_conformance.report.timeline_drawing import timeline_svg

SOUND = 0
VIOLATED = 1
REFUSED = 2
_NARROWEST_DRAWING = 16
_COLUMNS_BESIDE_THE_DRAWING = 62


def print_timeline(path: Path, console: Console, svg: Path | None = None) -> int:
    """Draw the timeline of the table at `path`, also into the file `svg`; the exit code is 2 when it is refused."""
    try:
        timeline = ask(load(path), "list_timeline", {}).content
    except (Rejection, Unsupported) as refusal:
        return _refused(refusal, console)
    cells = max(_NARROWEST_DRAWING, console.width - _COLUMNS_BESIDE_THE_DRAWING)
    console.print(timeline_table(timeline, cells))
    if svg is not None:
        svg.write_text(legal(timeline_svg(timeline, f"Timeline of {path.name}")), encoding="utf-8")
    return SOUND


def print_check(path: Path, console: Console) -> int:
    """Every violated clause of the table at `path`; exit code 0 when sound, 1 with errors, 2 when it is no table."""
    try:
        found = violations(load(path))
    except (Rejection, Unsupported) as refusal:
        return _refused(refusal, console)
    if found:
        console.print(violations_table(found))
    errors = sum(violation.severity is Severity.ERROR for violation in found)
    console.print(plain(f"{errors} errors, {len(found) - errors} warnings"))
    return VIOLATED if errors else SOUND


def violations_table(found: Sequence[Violation]) -> Table:
    """Errors first, then by clause and place."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("severity", "clause", "where", "what"):
        table.add_column(name, overflow="fold", no_wrap=name in ("severity", "clause"))
    for one in sorted(found, key=lambda one: (one.severity is not Severity.ERROR, one.clause, one.where)):
        style = "red" if one.severity is Severity.ERROR else "yellow"
        table.add_row(plain(one.severity.value, style), plain(one.clause), plain(one.where), plain(one.message))
    return table


def _refused(refusal: Rejection | Unsupported, console: Console) -> int:
    console.print(plain(str(refusal), "red"))
    return REFUSED
