"""The axis under a drawn timeline: grid, times, and the long waits that even steps leave out."""

from collections.abc import Iterable

from hudi_conformance.drawing.moments import axis_text, clock_time, day_of
from hudi_conformance.drawing.scale import Scale
from hudi_conformance.drawing.svg import element, words

CHARACTER = 6.3
ROOM_BETWEEN_LABELS = 8.0


def drawn_axis(scale: Scale, left: float, right: float, top: float, bottom: float) -> list[str]:
    """Title above, one grid line an event, the line itself, then labels and gaps below it."""
    return [
        element("text", words(_title(scale)), x=left, y=top - 12, class_="quiet small"),
        *[element("line", x1=x, y1=top - 4, x2=x, y2=bottom, class_="grid") for x in scale.positions.values()],
        element("line", x1=left, y1=bottom, x2=right, y2=bottom, class_="axis"),
        *_times(scale, right, bottom + 15),
        *_in_a_row(((gap.middle, f"+{gap.text}") for gap in scale.gaps()), right, bottom + 28),
    ]


def _title(scale: Scale) -> str:
    first = next((moment for moment in scale.moments if clock_time(moment) is not None), None)
    day = "" if first is None else f"{day_of(first)} · "
    return day + ("distances in proportion to time" if scale.proportional else "events in even steps, not to scale")


def _times(scale: Scale, right: float, y: float) -> list[str]:
    """A time under every event that has room for one, with the date where it differs from the one before."""
    fine = any(time is not None and time.microsecond for time in map(clock_time, scale.moments))
    day = next(filter(None, map(day_of, scale.moments)), "")
    drawn: list[str] = []
    free_from = 0.0
    for moment in scale.moments:
        text = axis_text(moment, day, fine=fine)
        x = _kept_inside(scale.at(moment), text, right)
        if x - _half_width(text) >= free_from:
            drawn.append(_label(text, x, y, "small"))
            free_from, day = x + _half_width(text) + ROOM_BETWEEN_LABELS, day_of(moment) or day
    return drawn


def _in_a_row(labels: Iterable[tuple[float, str]], right: float, y: float) -> list[str]:
    drawn: list[str] = []
    free_from = 0.0
    for place, text in labels:
        x = _kept_inside(place, text, right)
        if x - _half_width(text) >= free_from:
            drawn.append(_label(text, x, y, "quiet small"))
            free_from = x + _half_width(text) + ROOM_BETWEEN_LABELS
    return drawn


def _kept_inside(x: float, text: str, right: float) -> float:
    return max(min(x, right - _half_width(text)), _half_width(text))


def _half_width(text: str) -> float:
    return len(text) * CHARACTER / 2


def _label(text: str, x: float, y: float, style: str) -> str:
    return element("text", words(text), x=x, y=y, class_=style, text_anchor="middle")
