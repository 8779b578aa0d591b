"""One implementation over its runs: a column a run, its height the number of cases, its parts the verdicts."""

from collections.abc import Sequence

from hudi_conformance.drawing.moments import shortened
from hudi_conformance.drawing.svg import element, number, words
from hudi_conformance.report.runs import Run
from hudi_conformance.report.tallies import Tally

HEIGHT = 132.0
TOP, FLOOR = 18.0, 108.0
LEFT = 46.0
WIDTH = 960.0
WIDEST = 46.0
ROOM = 3.0
CHARACTER = 6.3
# What is worth the eye stands at the foot, where small parts share one line.
_ORDER = ("fail", "error", "expected", "open", "unsupported", "pass")


def runs_svg(implementation: str, runs: Sequence[tuple[Run, Tally]]) -> str:
    """Draw the runs of an implementation, oldest left; the height of a column follows the number of its cases."""
    most = max((tally.total for _, tally in runs), default=0) or 1
    step = min(WIDEST, (WIDTH - LEFT - 16) / max(1, len(runs)))
    columns = [_column(run, tally, LEFT + place * step, step, most) for place, (run, tally) in enumerate(runs)]
    return element(
        "svg",
        element("title", words(f"Runs of {implementation}")),
        element("desc", words(description(runs))),
        element("line", x1=LEFT - 6, y1=FLOOR + 0.5, x2=WIDTH - 10, y2=FLOOR + 0.5, class_="axis"),
        *[
            element("text", words(str(value)), x=LEFT - 10, y=y + 4, class_="quiet small", text_anchor="end")
            for value, y in ((most, TOP), (0, FLOOR))
        ],
        *columns,
        *_dates(runs, step),
        xmlns="http://www.w3.org/2000/svg",
        class_="tl runs",
        role="img",
        viewBox=f"0 0 {number(WIDTH)} {number(HEIGHT)}",
        width=WIDTH,
        height=HEIGHT,
    )


def description(runs: Sequence[tuple[Run, Tally]]) -> str:
    """The picture in words, for those who do not see it."""
    if not runs:
        return "No run."
    (first, before), (last, after) = runs[0], runs[-1]
    return (
        f"{len(runs)} runs, from {first.started} ({before.passed} of {before.total} pass) "
        f"to {last.started} ({after.passed} of {after.total} pass)."
    )


def _column(run: Run, tally: Tally, x: float, step: float, most: int) -> str:
    parts, y = [], FLOOR
    counts = dict(tally.parts)
    for group in _ORDER:
        height = counts.get(group, 0) / most * (FLOOR - TOP)
        if height:
            # One failure of a thousand must be seen.
            shown = max(height, 2.0)
            y -= shown
            parts.append(element("rect", x=x, y=y, width=max(1.0, step - ROOM), height=shown, class_=f"v-{group}"))
    tooltip = f"{run.started} · {run.name} · suite {run.suite}\n{tally.sentence}"
    return element("g", element("title", words(tooltip)), *parts, class_="run")


def _dates(runs: Sequence[tuple[Run, Tally]], step: float) -> list[str]:
    """A date under the columns that have room for one."""
    drawn, free_from = [], 0.0
    for place, (run, _) in enumerate(runs):
        text = shortened(run.started[:10] or run.name, 12)
        x = LEFT + place * step
        if x >= free_from and x + len(text) * CHARACTER < WIDTH:
            drawn.append(element("text", words(text), x=x, y=FLOOR + 16, class_="quiet small"))
            free_from = x + len(text) * CHARACTER + 12
    return drawn
