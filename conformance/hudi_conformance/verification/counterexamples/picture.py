"""A behaviour as a picture: the bars of its timeline as the report draws them, and below a lane for each process.

commit 0001 → 0002  ▌
commit 0005 → 0008       ▐████████████████▌
one                 ─●━━━●━━━●───────●━━━●──     thick: it holds the lock
two                 ─────────────●──────────✗    crashes
                     1   2   3   4   5   6
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hudi_conformance.drawing.axis import CHARACTER
from hudi_conformance.drawing.bars import drawn_instant
from hudi_conformance.drawing.legend import ROW_HEIGHT, drawn_legend
from hudi_conformance.drawing.moments import shortened
from hudi_conformance.drawing.svg import element, number, words
from hudi_conformance.drawing.timeline_drawing import LABELS_WIDTH, LANE_HEIGHT, MARGIN, OPEN_END, TOP, WIDTH
from hudi_conformance.drawing.timeline_style import hue_class, standalone_style
from hudi_conformance.verification.counterexamples.bars import Bar, bars_of
from hudi_conformance.verification.counterexamples.behaviour import Behaviour, Step

NARROWEST_STEP, WIDEST_STEP = 22.0, 64.0
LONGEST_WORDS = 36
TILT = 60.0
INSTANT = "create_instant "
LANE_STYLE = """
.tl .holds{stroke:var(--tl-ink);stroke-opacity:.2;stroke-width:11;stroke-linecap:round}
.tl .life{stroke:var(--tl-quiet);stroke-width:1}
.tl .act{fill:var(--tl-ink)}
.tl .reach{stroke:var(--hue,var(--tl-quiet));stroke-width:1.2;stroke-opacity:.7}
.tl .act.coloured{fill:var(--hue)}
.tl .crash{stroke:var(--tl-odd);stroke-width:2.2;fill:none}
.tl .notch{stroke:var(--tl-odd);stroke-width:2.4}
.tl .wrong{stroke:var(--tl-odd);stroke-width:1.4;stroke-dasharray:4 3}
.tl .bad{fill:var(--tl-odd);font-weight:600}
"""


@dataclass(frozen=True, slots=True)
class Frame:
    """Where everything stands."""

    behaviour: Behaviour
    bars: tuple[Bar, ...]
    step_width: float

    @property
    def right(self) -> float:
        """Where lanes and bars end."""
        return self.at(len(self.behaviour.steps)) + OPEN_END

    @property
    def width(self) -> float:
        """The whole picture; the words of the last steps lean out beyond the lanes."""
        return max(WIDTH, self.right + LONGEST_WORDS * CHARACTER / 2 + MARGIN)

    @property
    def lanes_top(self) -> float:
        """Where the lanes of the processes begin."""
        return TOP + LANE_HEIGHT * len(self.bars) + LANE_HEIGHT / 2

    @property
    def axis(self) -> float:
        """Where the lanes end and the steps are numbered."""
        return self.lanes_top + LANE_HEIGHT * max(1, len(self.behaviour.processes)) + 4

    def at(self, step: int) -> float:
        """The x of a step; 0 is the beginning."""
        return LABELS_WIDTH + 8 + self.step_width * step

    def bar(self, place: int) -> float:
        """The middle of a bar."""
        return TOP + LANE_HEIGHT * (place + 0.5)

    def lane(self, process: str) -> float:
        """The middle of a process's lane; a step of nobody stands on the axis."""
        names = self.behaviour.processes
        return self.lanes_top + LANE_HEIGHT * (names.index(process) + 0.5) if process in names else self.axis


def behaviour_svg(behaviour: Behaviour, *, embedded: bool = False) -> str:
    """Draw a behaviour as one SVG element; `embedded` leaves the style to the page around it."""
    room = WIDTH - LABELS_WIDTH - MARGIN - OPEN_END - 8 - LONGEST_WORDS * CHARACTER / 2
    steps = len(behaviour.steps)
    width = min(WIDEST_STEP, max(NARROWEST_STEP, room / max(1, steps)))
    frame = Frame(behaviour, bars_of(behaviour), width)
    words_end = (
        frame.axis
        + 24
        + 0.87 * CHARACTER * min(LONGEST_WORDS, max(map(len, map(describe_step, behaviour.steps)), default=0))
    )
    legend, height = drawn_legend([bar.instant for bar in frame.bars], words_end + 14, MARGIN, frame.width - MARGIN)
    notes = _notes(frame, height)
    height += ROW_HEIGHT if notes else 0
    return element(
        "svg",
        element("title", words(behaviour.title)),
        element("desc", words(behaviour.wrong)),
        "" if embedded else element("style", standalone_style() + LANE_STYLE),
        element(
            "text",
            words(f"{behaviour.place}: one step of the axis is one step of the behaviour"),
            x=MARGIN,
            y=14,
            class_="quiet small",
        ),
        *_grid(frame),
        *_lanes(frame),
        *_reaches(frame),
        *[part for place, bar in enumerate(frame.bars) for part in _bar(frame, bar, place)],
        *[part for place, step in enumerate(behaviour.steps, start=1) for part in _step(frame, step, place)],
        *_end(frame),
        legend,
        notes,
        xmlns="http://www.w3.org/2000/svg",
        class_="tl",
        role="img",
        viewBox=f"0 0 {number(frame.width)} {number(height)}",
        width=frame.width,
        height=height,
    )


def describe_step(step: Step) -> str:
    """A step in few words: of several effects the first on the timeline, else the first, and how many more."""
    first = next((one for one in step.what if one.startswith(INSTANT)), step.what[0] if step.what else "")
    more = f" +{len(step.what) - 1}" if len(step.what) > 1 else ""
    ending = more + " ✗" * step.crashes
    return shortened(first.removeprefix(INSTANT), LONGEST_WORDS - len(ending)) + ending


def _grid(frame: Frame) -> Iterator[str]:
    for place in range(len(frame.behaviour.steps) + 1):
        yield element("line", x1=frame.at(place), y1=TOP - 4, x2=frame.at(place), y2=frame.axis, class_="grid")


def _bar(frame: Frame, bar: Bar, place: int) -> Iterator[str]:
    middle = frame.bar(place)
    ends = frame.at(len(frame.behaviour.steps)) if _is_open(bar) else frame.at(bar.last)
    yield drawn_instant(bar.instant, frame.at(bar.first), ends, middle)
    yield element("text", words(bar.label), x=MARGIN, y=middle + 4)
    if bar.timed:
        yield _notch(frame.at(bar.timed), middle)
    if bar.gone:
        yield _cross(ends, middle)


def _notch(x: float, middle: float) -> str:
    """Where the completion time of a bar was generated, if not by the step that completes it."""
    tip = element("title", "its completion time was generated here")
    return element("g", tip, element("path", d=f"M{number(x)} {number(middle - 9)}v18", class_="notch"))


def _is_open(bar: Bar) -> bool:
    return not bar.gone and not bar.instant.is_complete


def _lanes(frame: Frame) -> Iterator[str]:
    for name in frame.behaviour.processes:
        middle = frame.lane(name)
        yield element("text", words(shortened(name, 30)), x=MARGIN, y=middle + 4)
        yield element("line", x1=frame.at(0), y1=middle, x2=frame.right, y2=middle, class_="life")
        for first, last in held_by(frame.behaviour, name):
            yield element("line", x1=frame.at(first), y1=middle, x2=frame.at(last), y2=middle, class_="holds")


def held_by(behaviour: Behaviour, name: str) -> Iterator[tuple[int, int]]:
    """From which step to which step a process holds the lock."""
    holders = [behaviour.start.holder, *(step.after.holder for step in behaviour.steps)]
    taken: int | None = None
    for place, holder in enumerate(holders):
        if holder == name and taken is None:
            taken = place
        elif holder != name and taken is not None:
            yield taken, place
            taken = None
    if taken is not None:
        yield taken, len(holders) - 1


def _reaches(frame: Frame) -> Iterator[str]:
    """A line from each act to what it does to the timeline."""
    for place, bar in enumerate(frame.bars):
        for step in sorted({bar.first, bar.last} - {0}):
            if not (step == bar.last and _is_open(bar) and step != bar.first):
                lane = frame.lane(frame.behaviour.steps[step - 1].who)
                line = element(
                    "line", x1=frame.at(step), y1=frame.bar(place), x2=frame.at(step), y2=lane, class_="reach"
                )
                yield element("g", line, class_=hue_class(bar.instant.action))


def _step(frame: Frame, step: Step, place: int) -> Iterator[str]:
    x, middle = frame.at(place), frame.lane(step.who)
    tip = element(
        "title",
        words("\n".join((f"{place} {step.who}", *step.what, *(f"{name} {text}" for name, text in step.changed)))),
    )
    mark = element("circle", cx=x, cy=middle, r=4.2, class_="act")
    yield element("g", tip, mark, _cross(x, middle) if step.crashes else "", class_="instant", data_step=place)
    yield element("text", str(place), x=x, y=frame.axis + 13, class_="quiet small", text_anchor="middle")
    lean = f"rotate({number(TILT)} {number(x - 3)} {number(frame.axis + 24)})"
    yield element("text", words(describe_step(step)), x=x - 3, y=frame.axis + 24, class_="small", transform=lean)


def _cross(x: float, middle: float) -> str:
    corners = f"M{number(x - 5)} {number(middle - 5)}l10 10M{number(x - 5)} {number(middle + 5)}l10 -10"
    return element("path", d=corners, class_="crash")


def _end(frame: Frame) -> Sequence[str]:
    """Where it is wrong."""
    x = frame.right - OPEN_END / 2
    return (
        element("line", x1=x, y1=TOP - 8, x2=x, y2=frame.axis, class_="wrong"),
        element("line", x1=frame.at(0), y1=frame.axis, x2=frame.right, y2=frame.axis, class_="axis"),
        element("text", "✗ here it is wrong", x=x + 6, y=TOP - 2, class_="bad small"),
    )


def _notes(frame: Frame, y: float) -> str:
    """What else the marks mean, as far as they occur."""
    steps = frame.behaviour.steps
    has_crash = any(step.crashes for step in steps) or any(bar.gone for bar in frame.bars)
    notes = ["thick: holds the lock"] if any(step.after.holder for step in steps) else []
    notes += ["✗ crashes, or is taken away"] if has_crash else []
    notes += ["red stroke: its completion time is generated"] if any(bar.timed for bar in frame.bars) else []
    return element("text", words(" · ".join(notes)), x=MARGIN, y=y + 9, class_="quiet small") if notes else ""
