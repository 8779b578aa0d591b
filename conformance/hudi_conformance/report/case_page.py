"""The page of a case: what is asked of which table, what was answered instead, and how to see it again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from hudi_conformance.drawing.timeline_drawing import timeline_svg
from hudi_conformance.report.evidence import CaseStep, Evidence, GoldenTable, Outcome, Question
from hudi_conformance.report.links import case_anchor, case_file, table_file
from hudi_conformance.report.page import verdicts_of
from hudi_conformance.report.slices_drawing import slices_svg
from hudi_conformance.report.tallies import group_of
from hudi_conformance.runner.case_values import StoredAnswer
from hudi_conformance.runner.cell_comparison import compare_cells
from hudi_conformance.runner.cells import Comparison
from hudi_conformance.runner.clauses import Clause
from hudi_conformance.runner.resources import CorpusError

NARROW = 60
"""So many letters of one side stand beside those of the other."""
LEADING = {"list_file_slices": 2}
"""How many columns at the front name what a line is about."""


@dataclass(frozen=True, slots=True)
class StepView:
    """A step with its expected answers, by reading."""

    number: int
    case_step: CaseStep
    expected: tuple[tuple[str, Comparison], ...]


@dataclass(frozen=True, slots=True)
class AnswerView:
    """What one implementation made of the case."""

    outcome: Outcome
    group: str
    evidence: str

    @property
    def differing_columns(self) -> tuple[str, ...]:
        """The columns to see at once: all of a narrow answer; of a wide one the first, and those that differ."""
        cells = self.outcome.comparison
        if cells is None:
            return ()
        differing = {name for line in cells.lines for name in line.columns}
        if _width(cells) <= NARROW or not differing:
            return cells.columns
        leading = LEADING.get(cells.op, 1)
        return tuple(name for place, name in enumerate(cells.columns) if place < leading or name in differing)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture with what it shows."""

    caption: str
    picture: Markup


@dataclass(frozen=True, slots=True)
class CasePage:
    """All that the template of a case shows; `earlier` and `later` are the pages beside it."""

    question: Question
    table: GoldenTable | None
    table_link: str
    anchor: str
    clauses: tuple[Clause, ...]
    steps: tuple[StepView, ...]
    drawings: tuple[Drawing, ...]
    answers: tuple[AnswerView, ...]
    earlier: str
    later: str

    @property
    def wrong(self) -> tuple[AnswerView, ...]:
        """The answers that there is something to tell about."""
        return tuple(answer for answer in self.answers if answer.group != "pass")


class CasePages:
    """Makes the pages of one report's cases, in the order of the cases."""

    def __init__(self, evidence: Evidence, cases: Sequence[str]) -> None:
        self._cases = cases
        self._questions = {question.id: question for question in evidence.questions}
        self._tables = {table.id: table for table in evidence.tables}
        self._clauses = {clause.id: clause for clause in evidence.clauses}
        self._verdicts = verdicts_of(evidence)
        self._known = {one.name: one.expected_failures for one in evidence.implementations}

    def page(self, place: int) -> CasePage:
        """The page of the case at a place in the order."""
        question = self._questions[self._cases[place]]
        table = self._tables.get(question.begins_with or question.table)
        return CasePage(
            question=question,
            table=table,
            table_link=table_file(question.table),
            anchor=case_anchor(question.id),
            clauses=tuple(self._clauses[one] for one in question.clauses if one in self._clauses),
            steps=tuple(_step(number, step) for number, step in enumerate(question.steps, start=1)),
            drawings=table_drawings(table, question.steps) if table else (),
            answers=tuple(map(self._answer, self._verdicts.get(question.id, ()))),
            earlier=case_file(self._cases[place - 1]) if place else "",
            later=case_file(self._cases[place + 1]) if place + 1 < len(self._cases) else "",
        )

    def _answer(self, outcome: Outcome) -> AnswerView:
        evidence = self._known.get(outcome.implementation, {}).get(outcome.case, "")
        return AnswerView(outcome, group_of(outcome.verdict), evidence)


def table_drawings(table: GoldenTable, steps: Sequence[CaseStep] = ()) -> tuple[Drawing, ...]:
    """A table's timeline, and its file slices once for each set of files that an answer is made of."""
    drawings = []
    # The drawings escape whatever the table's files hold.
    if table.timeline is not None:
        picture = timeline_svg(table.timeline, f"Timeline of {table.title}", embedded=True)
        drawings.append(Drawing("Timeline", Markup(picture)))  # noqa: S704
    for read, caption in _file_sets(steps).items():
        if table.groups:
            picture = slices_svg(table.groups, read, f"File slices of {table.title}", embedded=True)
            drawings.append(Drawing(caption, Markup(picture)))  # noqa: S704
    return tuple(drawings)


def _file_sets(steps: Sequence[CaseStep]) -> Mapping[frozenset[str], str]:
    reading = [(number, step) for number, step in enumerate(steps, start=1) if step.read]
    found: dict[frozenset[str], str] = {}
    for number, step in reading:
        which = f", step {number}" if len(steps) > 1 else ""
        found.setdefault(step.read, f"File slices: what {step.op} is answered from{which}")
    return found or {frozenset(): "File slices"}


def _width(cells: Comparison) -> int:
    """How many letters a side needs, a column's long values left aside."""
    sides = [side for line in cells.lines for side in (line.expected, line.actual) if side is not None]
    columns = zip(cells.columns, *sides, strict=True)
    return sum(2 + min(40, max(len(part) for text in column for part in text.split("\n"))) for column in columns)


def _step(number: int, step: CaseStep) -> StepView:
    found = ((reading, expected_cells(step.op, kept)) for reading, kept in step.expected)
    return StepView(number, step, tuple((reading, cells) for reading, cells in found if cells is not None))


def expected_cells(op: str, kept: StoredAnswer) -> Comparison | None:
    """An expected answer as lines of cells; None where it cannot be read any more."""
    try:
        answer = kept.content
    except CorpusError:
        return None
    return compare_cells(op, answer, answer)
