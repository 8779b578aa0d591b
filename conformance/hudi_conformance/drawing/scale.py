"""Where a moment stands on the horizontal axis of a drawn timeline."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from hudi_conformance.drawing.moments import clock_time, elapsed, elapsed_text, order_of

# Below this many pixels two events could no longer be distinguished, and even spacing shows more.
CLOSEST_PIXELS = 14.0
# A gap this many times the median one is written on the axis when the spacing is even.
REMARKABLE_GAP = 20.0


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch of time that even spacing hides: its middle on the axis and how long it lasted."""

    middle: float
    text: str


@dataclass(frozen=True, slots=True)
class Scale:
    """Positions of every moment between `left` and `right`; `proportional` when distance means duration."""

    left: float
    right: float
    moments: tuple[str, ...]
    positions: dict[str, float]
    proportional: bool

    def at(self, moment: str) -> float:
        """The x of a moment that the scale was made for."""
        return self.positions[order_of(moment)]

    def gaps(self) -> tuple[Gap, ...]:
        """The stretches much longer than most, where the axis does not show them by distance."""
        if self.proportional:
            return ()
        pairs = list(pairwise(self.moments))
        spans = [(pair, span) for pair in pairs if (span := elapsed(*pair)) is not None]
        if not spans:
            return ()
        usual = sorted(span for _, span in spans)[(len(spans) - 1) // 2]
        return tuple(
            Gap((self.at(first) + self.at(second)) / 2, elapsed_text(span))
            for (first, second), span in spans
            if span > usual * REMARKABLE_GAP
        )


def scale_of(moments: Iterable[str], left: float, right: float, closest: float = CLOSEST_PIXELS) -> Scale:
    """A scale in proportion to time while events stay `closest` apart, else one with even steps."""
    ordered = tuple(sorted(set(moments), key=order_of))
    distinct = tuple(dict.fromkeys(order_of(moment) for moment in ordered))
    linear = _proportional_positions(distinct, left, right, closest)
    if linear is not None:
        return Scale(left, right, ordered, linear, proportional=True)
    return Scale(left, right, ordered, _even_positions(distinct, left, right), proportional=False)


def _proportional_positions(
    moments: tuple[str, ...], left: float, right: float, closest: float
) -> dict[str, float] | None:
    times = [time for time in map(clock_time, moments) if time is not None]
    if len(times) < len(moments) or len(times) < 2 or times[0] == times[-1]:
        return None
    whole = (times[-1] - times[0]).total_seconds()
    places = [left + (right - left) * (time - times[0]).total_seconds() / whole for time in times]
    close = any(later - earlier < closest for earlier, later in pairwise(places))
    return None if close else dict(zip(moments, places, strict=True))


def _even_positions(moments: tuple[str, ...], left: float, right: float) -> dict[str, float]:
    step = (right - left) / max(1, len(moments) - 1)
    return {moment: left + step * place for place, moment in enumerate(moments)}
