"""An answer beside the expected one, cell by cell: what a report draws, kept in bounds.

A line stands for a row of both (`equal`, `changed`) or of one side alone (`missing`, `extra`). Of a changed line
`columns` names the cells that differ.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hudi_conformance.runner.plain_text import plain

EQUAL, CHANGED, MISSING, EXTRA = "equal", "changed", "missing", "extra"
MOST_LINES = 200
MOST_TEXT = 64_000
LONGEST_CELL = 400


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a comparison; a side that has no such row is None."""

    sort: str
    expected: tuple[str, ...] | None
    actual: tuple[str, ...] | None
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """What one step expected and what came; `reading` names the expected answer that was nearest, where there are two.

    `refused` and `refusals` are reasons: the one that was given, and those that were expected. `left_out` counts the
    lines that were too many, by their sort.
    """

    op: str
    columns: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()
    reading: str = ""
    refused: str = ""
    refusals: tuple[str, ...] = ()
    left_out: Mapping[str, int] | None = None

    @property
    def unlike(self) -> int:
        """How many lines differ, those that are left out too."""
        gone = sum(count for sort, count in (self.left_out or {}).items() if sort != EQUAL)
        return gone + sum(line.sort != EQUAL for line in self.lines)

    def to_json(self) -> dict[str, Any]:
        """The form that results keep."""
        return {
            "op": self.op,
            "columns": list(self.columns),
            "lines": [_line_form(line) for line in self.lines],
            "reading": self.reading,
            "refused": self.refused,
            "refusals": list(self.refusals),
            "left_out": dict(self.left_out or {}),
        }


def comparison_of(form: Mapping[str, Any]) -> Comparison:
    """A comparison as results keep it.

    Raises:
        KeyError: a part is absent.
        ValueError: a line has not as many cells as there are columns.

    """
    columns, lines = tuple(map(str, form["columns"])), tuple(map(_line, form["lines"]))
    if any(len(side) != len(columns) for line in lines for side in (line.expected, line.actual) if side is not None):
        raise ValueError(f"a line of cells that are not those of {len(columns)} columns")
    return Comparison(
        op=str(form["op"]),
        columns=columns,
        lines=lines,
        reading=str(form["reading"]),
        refused=str(form["refused"]),
        refusals=tuple(map(str, form["refusals"])),
        left_out={str(sort): int(count) for sort, count in form["left_out"].items()},
    )


def bounded(comparison: Comparison) -> Comparison:
    """A comparison small enough to be kept: long cells are cut, equal lines go first, then the last ones."""
    columns = tuple(plain(name, LONGEST_CELL) for name in comparison.columns)
    cut = [_cut(line) for line in comparison.lines]
    kept: set[int] = set()
    room = MOST_TEXT
    for place in sorted(range(len(cut)), key=lambda place: (cut[place].sort == EQUAL, place)):
        room -= _size(cut[place])
        if room < 0 or len(kept) == MOST_LINES:
            break
        kept.add(place)
    gone = Counter(line.sort for place, line in enumerate(cut) if place not in kept)
    lines = tuple(cut[place] for place in sorted(kept))
    return replace(comparison, columns=columns, lines=lines, left_out=dict(gone))


def _cut(line: Line) -> Line:
    columns = tuple(plain(name, LONGEST_CELL) for name in line.columns)
    return replace(line, expected=_short(line.expected), actual=_short(line.actual), columns=columns)


def _short(cells: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if cells is None:
        return None
    return tuple(plain(cell, LONGEST_CELL) for cell in cells)


def _size(line: Line) -> int:
    return sum(len(cell) for side in (line.expected, line.actual) for cell in side or ())


def _line_form(line: Line) -> dict[str, Any]:
    """One side of an equal line stands for both."""
    form: dict[str, Any] = {"sort": line.sort}
    if line.expected is not None:
        form["expected"] = list(line.expected)
    if line.actual is not None and line.sort != EQUAL:
        form["actual"] = list(line.actual)
    if line.columns:
        form["columns"] = list(line.columns)
    return form


def _line(form: Mapping[str, Any]) -> Line:
    expected = _side(form.get("expected"))
    actual = expected if form["sort"] == EQUAL else _side(form.get("actual"))
    return Line(str(form["sort"]), expected, actual, tuple(map(str, form.get("columns", ()))))


def _side(cells: list[Any] | None) -> tuple[str, ...] | None:
    return None if cells is None else tuple(map(str, cells))
