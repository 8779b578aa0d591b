"""A timeline for the terminal: one line an instant, its bar between the same moments as in the picture."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from hudi_conformance.report.lanes import extent
from hudi_conformance.report.moments import (
    INFLIGHT,
    Drawn,
    clock_time,
    drawn_instants,
    elapsed,
    elapsed_text,
    readable,
)
from hudi_conformance.report.scale import Scale, scale_of
from hudi_conformance.report.svg import legal

_COLOURS = {
    "commit": "blue",
    "deltacommit": "cyan",
    "replacecommit": "magenta",
    "clustering": "magenta",
    "compaction": "yellow",
    "logcompaction": "yellow",
    "clean": "bright_black",
    "rollback": "red",
    "restore": "red",
    "savepoint": "green",
    "indexing": "green",
}
_OPEN_TIP = "▷"


def timeline_table(timeline: Sequence[Mapping[str, Any]], cells: int = 40) -> Table:
    """A `list_timeline` answer as a table whose last column is `cells` wide and drawn."""
    instants = drawn_instants(timeline)
    scale = scale_of([moment for instant in instants for moment in instant.moments], 0, max(1, cells - 2), closest=1)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("requested", "action", "state", "took", _drawing_title(scale)):
        table.add_column(name, no_wrap=True, justify="right" if name == "took" else "left")
    for instant in instants:
        table.add_row(
            plain(instant.requested),
            plain(instant.action, _COLOURS.get(instant.action, "")),
            plain(instant.state),
            plain(took(instant)),
            bar(instant, scale, cells),
        )
    return table


def took(instant: Drawn) -> str:
    """How long an action ran, as far as the timeline tells."""
    span = None if instant.completed is None else elapsed(instant.requested, instant.completed)
    return "" if span is None else elapsed_text(span)


def bar(instant: Drawn, scale: Scale, cells: int) -> Text:
    """One instant between its moments: solid when complete, open at the end when not, a diamond without an end."""
    first, last = (round(place) for place in extent(instant, scale, cells - 2))
    style = _COLOURS.get(instant.action, "")
    length = max(1, last - first + 1)
    if not instant.is_complete:
        return Text(" " * first + ("▒" if instant.state == INFLIGHT else "┄") * length + _OPEN_TIP, style)
    return Text(" " * first + ("◆" if instant.completed is None else "█" * length), style)


def plain(text: str, style: str = "") -> Text:
    """Text from a table's files: no markup, no control characters that a terminal would obey."""
    return Text("".join(character if character.isprintable() else "\ufffd" for character in legal(text)), style)


def _drawing_title(scale: Scale) -> str:
    if not scale.moments:
        return ""
    known = [moment for moment in scale.moments if clock_time(moment) is not None]
    spacing = "to scale" if scale.proportional else "even steps"
    return f"{readable(known[0])} … {readable(known[-1])}, {spacing}" if known else spacing
