"""A table's timeline as a picture.

    commit       00:00:01  ▐██████▌
    deltacommit  00:00:02      ▐██████████▌
    compaction   00:00:04              ▨▨▨▨▨▨▨▨▨ ▷      planned, not done: open at its end
                           |     |     |     |
                         :01   :02   :04   :05

A bar runs from the request of an action to its completion.
Where events lie too unevenly for a scale in proportion to time, they stand in even steps and long gaps are named.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hudi_conformance.drawing.axis import drawn_axis
from hudi_conformance.drawing.bars import NARROWEST_BAR, drawn_instant
from hudi_conformance.drawing.lanes import extent, folded, packed
from hudi_conformance.drawing.legend import drawn_legend
from hudi_conformance.drawing.moments import Drawn, axis_text, clock_time, day_of, drawn_instants, readable, shortened
from hudi_conformance.drawing.scale import Scale, scale_of
from hudi_conformance.drawing.svg import element, number, words
from hudi_conformance.drawing.timeline_style import standalone_style

WIDTH = 960.0
MARGIN = 16.0
LABELS_WIDTH = 236.0
OPEN_END = 22.0
LANE_HEIGHT = 22.0
AXIS_HEIGHT = 38.0
BAND_ROOM = 26.0
TOP = 30.0
OVERHANG = 10.0


@dataclass(frozen=True, slots=True)
class Band:
    """One row of the picture: its instants, the lane of each, its own scale and where it begins."""

    instants: tuple[Drawn, ...]
    lanes: tuple[int, ...]
    scale: Scale
    top: float
    labelled: bool

    @property
    def bottom(self) -> float:
        """Where the lanes end and the axis begins."""
        return self.top + LANE_HEIGHT * (max(self.lanes, default=-1) + 1)


def timeline_svg(timeline: Sequence[Mapping[str, Any]], title: str = "Timeline", *, embedded: bool = False) -> str:
    """Draw a `list_timeline` answer, of any length and holding anything, as one SVG element.

    `embedded` leaves the style to the page around it (`timeline_style.embedded_style`).

    Clauses: TL-002, TL-011.
    """
    instants = drawn_instants(timeline)
    bands = _bands(instants)
    lowest = bands[-1].bottom + AXIS_HEIGHT if instants else TOP
    legend, height = drawn_legend(instants, lowest + 8, MARGIN, WIDTH - MARGIN)
    return element(
        "svg",
        element("title", words(title)),
        element("desc", words(description(instants))),
        "" if embedded else element("style", standalone_style()),
        *[part for band in bands for part in _drawn_band(band)],
        legend,
        xmlns="http://www.w3.org/2000/svg",
        class_="tl",
        role="img",
        viewBox=f"0 0 {number(WIDTH)} {number(height)}",
        width=WIDTH,
        height=height,
    )


def description(instants: Sequence[Drawn]) -> str:
    """The picture in words, for those who do not see it."""
    if not instants:
        return "The timeline holds no instants."
    counts = Counter(f"{instant.action or 'nameless'} {instant.state.lower()}" for instant in instants)
    listed = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))
    first, last = instants[0].requested, instants[-1].requested
    return f"{len(instants)} instants, requested from {readable(first)} to {readable(last)}: {listed}."


def _bands(instants: Sequence[Drawn]) -> tuple[Band, ...]:
    rows = folded(instants)
    bands: list[Band] = []
    top = TOP
    for row in rows:
        band = _band(row, top, labelled=len(rows) == 1)
        bands.append(band)
        top = band.bottom + AXIS_HEIGHT + BAND_ROOM
    return tuple(bands)


def _band(instants: tuple[Drawn, ...], top: float, *, labelled: bool) -> Band:
    left = LABELS_WIDTH if labelled else MARGIN
    moments = [moment for instant in instants for moment in instant.moments]
    scale = scale_of(moments, left + OVERHANG, WIDTH - MARGIN - OPEN_END - OVERHANG)
    lanes = tuple(range(len(instants))) if labelled else packed(instants, scale, WIDTH - MARGIN, NARROWEST_BAR)
    return Band(instants, lanes, scale, top, labelled)


def _drawn_band(band: Band) -> list[str]:
    if not band.instants:
        return [element("text", "no instants", x=MARGIN, y=20, class_="quiet")]
    places = list(zip(band.instants, band.lanes, strict=True))
    axis_left = band.scale.left - OVERHANG
    drawn = [
        *drawn_axis(band.scale, axis_left, WIDTH - MARGIN, band.top, band.bottom + 4),
        *[_instant(band, instant, lane) for instant, lane in places],
    ]
    if band.labelled:
        drawn += [_label(band, instant, lane) for instant, lane in places]
    return drawn


def _middle(band: Band, lane: int) -> float:
    return band.top + LANE_HEIGHT * (lane + 0.5)


def _label(band: Band, instant: Drawn, lane: int) -> str:
    middle = _middle(band, lane) + 4
    fine = any(time is not None and time.microsecond for time in map(clock_time, band.scale.moments))
    days = {day_of(moment) for moment in band.scale.moments} - {""}
    clock = axis_text(instant.requested, "".join(days) if len(days) == 1 else "", fine=fine)
    return element("text", words(shortened(instant.action, 15)), x=MARGIN, y=middle) + element(
        "text", words(clock), x=LABELS_WIDTH - 12, y=middle, class_="quiet small", text_anchor="end"
    )


def _instant(band: Band, instant: Drawn, lane: int) -> str:
    start, end = extent(instant, band.scale, WIDTH - MARGIN - OPEN_END)
    return drawn_instant(instant, start, end, _middle(band, lane))
