"""The legend of a drawn timeline: a swatch for each action that occurs, and what the shapes mean."""

from collections import Counter
from collections.abc import Sequence

from hudi_conformance.drawing.axis import CHARACTER
from hudi_conformance.drawing.moments import INFLIGHT, Drawn
from hudi_conformance.drawing.svg import element, words
from hudi_conformance.drawing.timeline_style import ACTIONS

ROW_HEIGHT = 18.0
SWATCH = 10.0
ROOM_BETWEEN = 14.0


def drawn_legend(instants: Sequence[Drawn], top: float, left: float, right: float) -> tuple[str, float]:
    """The legend below `top`, in as many rows as it needs, and where it ends."""
    x, y = left, top
    drawn = []
    for text, style in _entries(instants):
        width = (SWATCH + 5 if style else 0) + len(text) * CHARACTER
        if x > left and x + width > right:
            x, y = left, y + ROW_HEIGHT
        drawn.append(_entry(text, style, x, y))
        x += width + ROOM_BETWEEN
    return element("g", *drawn, class_="legend"), y + ROW_HEIGHT


def _entries(instants: Sequence[Drawn]) -> list[tuple[str, str]]:
    """Text and style of each entry; what has no style has no swatch."""
    counts = Counter(instant.action if instant.action in ACTIONS else "other" for instant in instants)
    present = [action for action in (*ACTIONS, "other") if counts[action]]
    return [(f"{action} {counts[action]}", f"fill a-{action}") for action in present] + [
        (note, "") for note in _notes(instants)
    ]


def _entry(text: str, style: str, x: float, y: float) -> str:
    swatch = element("rect", x=x, y=y, width=SWATCH, height=SWATCH, rx=2, class_=style) if style else ""
    place = x + SWATCH + 5 if style else x
    return swatch + element("text", words(text), x=place, y=y + SWATCH - 1, class_="quiet small")


def _notes(instants: Sequence[Drawn]) -> list[str]:
    """What the shapes mean, as far as they occur."""
    states = {instant.state for instant in instants if not instant.is_complete}
    notes = ["open end: not completed"] if states else []
    if INFLIGHT in states:
        notes.append("hatched: inflight")
    if any(instant.is_complete and instant.completed is None for instant in instants):
        notes.append("diamond: completion time not recorded")
    return notes
