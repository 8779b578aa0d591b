"""A table's files as a picture: partitions, file groups, slices from old to new, logs in merge order.

    day=2025-01-01
      f1   [ base 00:01 | log 00:02 | log 00:03 ]  [ base 00:05 ]
      f2   [ base 00:01 ]                            log 00:04 (not committed)

What the answer to a question is made of is filled, the rest is outlined.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import groupby

from hudi_conformance.drawing.moments import axis_text, clock_time, day_of, readable, shortened
from hudi_conformance.drawing.svg import element, number, words
from hudi_conformance.drawing.timeline_style import standalone_style
from hudi_conformance.report.file_layout import BASE, CHANGES, DrawnFile, DrawnGroup, DrawnSlice
from hudi_conformance.report.slices_style import slices_style

WIDTH = 960.0
MARGIN = 16.0
LABELS_WIDTH = 190.0
HEAD_HEIGHT = 26.0
LINE_HEIGHT = 40.0
BOX_HEIGHT = 24.0
INSET = 5.0
ROOM = 12.0
CHARACTER = 6.3
LEGEND_HEIGHT = 30.0


@dataclass(frozen=True, slots=True)
class _Box:
    """A slice, or the files that none holds, with its width when drawn."""

    files: tuple[DrawnFile, ...]
    loose: bool
    base_instant: str
    widths: tuple[float, ...]

    @property
    def width(self) -> float:
        """The frame around all its files."""
        return sum(self.widths) + INSET * (len(self.widths) + 1)


def slices_svg(
    groups: Sequence[DrawnGroup], read: AbstractSet[str], title: str = "File slices", *, embedded: bool = False
) -> str:
    """Draw the file groups of a table; the files whose paths are in `read` stand out.

    `embedded` leaves the styles to the page around it.

    Clauses: SL-003, RD-007.
    """
    day = _usual_day(groups)
    drawn: list[str] = []
    y = 4.0
    for partition, members in groupby(groups, key=lambda group: group.partition):
        drawn.append(element("text", words(partition or "not partitioned"), x=MARGIN, y=y + 17, class_="part"))
        y += HEAD_HEIGHT
        for group in members:
            parts, y = _drawn_group(group, read, day, y)
            drawn += parts
        y += 4
    drawn.append(_legend(groups, bool(read), y + 6))
    return element(
        "svg",
        element("title", words(title)),
        element("desc", words(description(groups, read))),
        "" if embedded else element("style", f"{standalone_style()}\n{slices_style()}"),
        *drawn,
        xmlns="http://www.w3.org/2000/svg",
        class_="tl fs",
        role="img",
        viewBox=f"0 0 {number(WIDTH)} {number(y + LEGEND_HEIGHT)}",
        width=WIDTH,
        height=y + LEGEND_HEIGHT,
    )


def description(groups: Sequence[DrawnGroup], read: AbstractSet[str]) -> str:
    """The picture in words, for those who do not see it."""
    files = [file for group in groups for file in _files_of(group)]
    partitions = len({group.partition for group in groups})
    slices = sum(len(group.slices) for group in groups)
    count = sum(file.path in read for file in files)
    text = f"{len(groups)} file groups in {partitions} partitions: {slices} slices, {len(files)} files"
    return f"{text}; the answer comes from {count} of them." if read else f"{text}."


def _files_of(group: DrawnGroup) -> Iterable[DrawnFile]:
    return (*(file for one in group.slices for file in one.files), *group.loose)


def _usual_day(groups: Sequence[DrawnGroup]) -> str:
    """The one day on which all files were written; empty where there are several."""
    days = {day_of(file.instant) for group in groups for file in _files_of(group)} - {""}
    return days.pop() if len(days) == 1 else ""


def _drawn_group(group: DrawnGroup, read: AbstractSet[str], day: str, top: float) -> tuple[list[str], float]:
    """A group's label and its boxes, in as many lines as they need; and where the next group begins."""
    label = shortened(group.file_id, 20)
    note = "replaced" if group.replaced else ""
    drawn = [
        element(
            "text",
            element("title", words(group.file_id)),
            words(label),
            x=MARGIN + 12,
            y=top + (15 if note else 21),
            class_="mono",
        ),
        element("text", words(note), x=MARGIN + 12, y=top + 29, class_="quiet small") if note else "",
    ]
    x, y = LABELS_WIDTH, top
    for box in _boxes(group, day):
        if x > LABELS_WIDTH and x + box.width > WIDTH - MARGIN:
            x, y = LABELS_WIDTH, y + LINE_HEIGHT
        drawn.append(_drawn_box(box, read, day, x, y))
        x += box.width + ROOM
    return drawn, y + LINE_HEIGHT


def _boxes(group: DrawnGroup, day: str) -> Iterable[_Box]:
    for one in group.slices:
        yield from _boxes_of(one.files, day, one)
    yield from _boxes_of(group.loose, day, None)


def _boxes_of(files: tuple[DrawnFile, ...], day: str, found: DrawnSlice | None) -> Iterable[_Box]:
    """One box, or several where the files do not fit on one line."""
    line: list[tuple[DrawnFile, float]] = []
    for file in files:
        width = len(_text(file, day)) * CHARACTER + 14
        if line and sum(taken + INSET for _, taken in line) + width + 2 * INSET > WIDTH - MARGIN - LABELS_WIDTH:
            yield _box(line, found)
            line = []
        line.append((file, width))
    if line:
        yield _box(line, found)


def _box(line: Sequence[tuple[DrawnFile, float]], found: DrawnSlice | None) -> _Box:
    files, widths = zip(*line, strict=True)
    return _Box(files, found is None, found.base_instant if found else "", widths)


def _text(file: DrawnFile, day: str) -> str:
    fine = (time := clock_time(file.instant)) is not None and bool(time.microsecond)
    return f"{file.kind} {axis_text(file.instant, day, fine=fine)}"


def _drawn_box(box: _Box, read: AbstractSet[str], day: str, x: float, y: float) -> str:
    """A frame with its files side by side."""
    style = "loose" if box.loose else "slice"
    frame = element("rect", x=x, y=y + 2, width=box.width, height=BOX_HEIGHT + 2 * INSET, rx=6, class_=style)
    place, files = x + INSET, []
    for file, width in zip(box.files, box.widths, strict=True):
        shape = _file_shape(file, width, _text(file, day), place, y + 2 + INSET)
        is_read = file.path in read
        marks = f"file {file.kind}" + (" read" if is_read else "") + (" stray" if box.loose else "")
        title = element("title", words(_tooltip(file, read=is_read)))
        files.append(element("g", title, shape, class_=marks, data_path=file.path))
        place += width + INSET
    title = "files that no slice holds" if box.loose else f"slice {box.base_instant} ({readable(box.base_instant)})"
    return element("g", element("title", words(title)), frame, *files)


def _file_shape(file: DrawnFile, width: float, text: str, x: float, y: float) -> str:
    """A base file has corners, a log is round."""
    return element("rect", x=x, y=y, width=width, height=BOX_HEIGHT, rx=2 if file.kind == BASE else 11) + element(
        "text", words(text), x=x + width / 2, y=y + 16, text_anchor="middle", class_="small"
    )


def _tooltip(file: DrawnFile, *, read: bool) -> str:
    kinds = {BASE: "base file", CHANGES: "file of the change feed"}
    lines = [file.name, f"{kinds.get(file.kind, 'log file')} of {file.instant} ({readable(file.instant)})"]
    return "\n".join([*lines, "the answer is made of it"] if read else lines)


def _legend(groups: Sequence[DrawnGroup], has_question: bool, y: float) -> str:
    kinds = {file.kind for group in groups for file in _files_of(group)}
    entries = [
        (f"file {kind}", f"{kind} file" if kind != CHANGES else "change feed") for kind in (BASE, "log", CHANGES)
    ]
    shown = [(style, text) for style, text in entries if style.removeprefix("file ") in kinds]
    if has_question:
        shown.append(("file read base", "filled: the answer is made of it"))
    if any(group.loose for group in groups):
        shown.append(("file stray", "dashed: in no slice (not committed, left by an attempt, or of the change feed)"))
    parts, x = [], MARGIN
    for style, text in shown:
        parts.append(element("g", element("rect", x=x, y=y, width=14, height=10, rx=2), class_=style))
        parts.append(element("text", words(text), x=x + 19, y=y + 9, class_="quiet small"))
        x += 19 + len(text) * CHARACTER + 16
    return element("g", *parts, class_="legend")
