"""A timeline for the terminal: one line an instant, its bar between the same moments as in the picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from hudi_conformance.drawing.lanes import extent
from hudi_conformance.drawing.moments import (
    INFLIGHT,
    Drawn,
    clock_time,
    drawn_instants,
    elapsed,
    elapsed_text,
    readable,
)
from hudi_conformance.drawing.scale import Scale, scale_of
from hudi_conformance.drawing.svg import legal

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
_HEAD = ("requested", "action", "state", "took")
_NARROWEST, _WIDEST = 12, 100


@dataclass(frozen=True, slots=True)
class DrawnTimeline:
    """A timeline that fits itself to the terminal's width."""

    instants: tuple[Drawn, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table, its last column as wide as there is room for."""
        beside = sum(max((len(text) for text in column), default=0) + 1 for column in zip(*self._texts(), strict=True))
        yield self.table(min(_WIDEST, max(_NARROWEST, options.max_width - beside)))

    def table(self, cells: int) -> Table:
        """The table with a drawing `cells` wide."""
        scale = scale_of([moment for instant in self.instants for moment in instant.moments], 0, cells - 2, closest=1)
        table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1, 0, 0), caption_justify="left")
        texts = self._texts()
        for place, name in enumerate(_HEAD):
            width = max(len(row[place]) for row in texts)
            table.add_column(name, no_wrap=True, min_width=width, justify="right" if name == "took" else "left")
        table.add_column("to scale" if scale.proportional else "even steps", no_wrap=True, min_width=cells)
        for instant, row in zip(self.instants, texts[1:], strict=True):
            requested, action, state, span = map(plain, row)
            action.stylize(_COLOURS.get(instant.action, ""))
            table.add_row(requested, action, state, span, bar(instant, scale, cells))
        table.caption = plain(_span(scale))
        return table

    def _texts(self) -> list[tuple[str, ...]]:
        rows = [(one.requested, one.action, one.state, took(one)) for one in self.instants]
        return [_HEAD, *rows]


def timeline_table(timeline: Sequence[Mapping[str, Any]]) -> DrawnTimeline:
    """A `list_timeline` answer, ready to be printed."""
    return DrawnTimeline(drawn_instants(timeline))


def took(instant: Drawn) -> str:
    """How long an action ran, as far as the timeline shows."""
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


def _span(scale: Scale) -> str:
    known = [moment for moment in scale.moments if clock_time(moment) is not None]
    return f"from {readable(known[0])} to {readable(known[-1])}" if known else ""
