"""How one instant looks: a bar, an open-ended bar, or a diamond where no completion time is recorded."""

from hudi_conformance.drawing.moments import INFLIGHT, Drawn, clock_time, elapsed, elapsed_text, readable
from hudi_conformance.drawing.svg import element, number, words
from hudi_conformance.drawing.timeline_style import hue_class

BAR_HEIGHT = 13.0
NARROWEST_BAR = 4.0


def drawn_instant(instant: Drawn, start: float, end: float, middle: float) -> str:
    """The shape of an instant between two x, around a middle y, with a tooltip."""
    widest = max(end, start + NARROWEST_BAR)
    if instant.is_complete and instant.completed is None:
        shape = _diamond(start, middle)
    elif instant.is_complete:
        shape = _finished_bar(instant, start, widest, middle)
    else:
        shape = _pending_bar(instant, start, widest, middle)
    return element(
        "g",
        element("title", words(tooltip(instant))),
        shape,
        class_=f"instant {hue_class(instant.action)}",
        data_requested=instant.requested,
    )


def tooltip(instant: Drawn) -> str:
    """What a pointer over a bar shows: action, state, both instants as written and as times, the time it took."""
    lines = [f"{instant.action} · {instant.state}", f"requested {_instant_text(instant.requested)}"]
    if instant.completed is not None:
        span = elapsed(instant.requested, instant.completed)
        took = "" if span is None else f", took {elapsed_text(span)}"
        lines.append(f"completed {_instant_text(instant.completed)}{took}")
    elif instant.is_complete:
        lines.append("completion time not recorded")
    else:
        lines.append("not completed")
    if _is_backwards(instant):
        lines.append("completes before it was requested")
    return "\n".join(lines)


def _instant_text(moment: str) -> str:
    return moment if clock_time(moment) is None else f"{moment} ({readable(moment)})"


def _is_backwards(instant: Drawn) -> bool:
    span = None if instant.completed is None else elapsed(instant.requested, instant.completed)
    return span is not None and span.total_seconds() < 0


def _diamond(x: float, middle: float) -> str:
    size = BAR_HEIGHT / 2
    corners = ((x, middle - size), (x + size, middle), (x, middle + size), (x - size, middle))
    return element("polygon", points=" ".join(f"{number(left)},{number(top)}" for left, top in corners), class_="fill")


def _finished_bar(instant: Drawn, start: float, end: float, middle: float) -> str:
    odd = " edge odd" if _is_backwards(instant) else ""
    return element(
        "rect", x=start, y=middle - BAR_HEIGHT / 2, width=end - start, height=BAR_HEIGHT, rx=2, class_=f"fill{odd}"
    )


def _pending_bar(instant: Drawn, start: float, end: float, middle: float) -> str:
    """Open at its right; hatched once work has begun, only outlined while it is a plan."""
    top, bottom = middle - BAR_HEIGHT / 2, middle + BAR_HEIGHT / 2
    outline = f"M{number(end)} {number(top)}H{number(start)}V{number(bottom)}H{number(end)}"
    tip = end + 12
    arrow = (
        f"M{number(end + 5)} {number(middle - 4)}L{number(tip)} {number(middle)}L{number(end + 5)} {number(middle + 4)}"
    )
    return "".join(
        (
            element("rect", x=start, y=top, width=end - start, height=BAR_HEIGHT, class_="faint"),
            element("path", d=_hatching(start, end, top, bottom), class_="hatch") if instant.state == INFLIGHT else "",
            element("path", d=outline, class_="edge broken"),
            element("path", d=arrow, class_="edge"),
        )
    )


def _hatching(start: float, end: float, top: float, bottom: float) -> str:
    height = bottom - top
    strokes = []
    foot = start
    while foot < end:
        reach = min(height, end - foot)
        strokes.append(f"M{number(foot)} {number(bottom)}L{number(foot + reach)} {number(bottom - reach)}")
        foot += 7
    return "".join(strokes)
