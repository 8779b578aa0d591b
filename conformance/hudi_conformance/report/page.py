"""The parts of the HTML page, each ready for its template."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from hudi_conformance.clauses import Clause
from hudi_conformance.report.areas import area_of
from hudi_conformance.report.evidence import Evidence, GoldenTable, Implementation, Outcome, Question
from hudi_conformance.report.matrix import Area, matrix, totals
from hudi_conformance.report.tallies import ALARMING, Tally, group_of, tally
from hudi_conformance.report.timeline_drawing import timeline_svg

SLOWEST = 15


@dataclass(frozen=True, slots=True)
class Card:
    """An implementation with its whole result."""

    implementation: Implementation
    tally: Tally


@dataclass(frozen=True, slots=True)
class Verdict:
    """One implementation's verdict beside a case; `anchor` leads to what went wrong."""

    implementation: str
    verdict: str
    group: str
    anchor: str


@dataclass(frozen=True, slots=True)
class CaseLine:
    """A case below its table."""

    question: Question
    short_id: str
    area: str
    verdicts: tuple[Verdict, ...]

    @property
    def keys(self) -> str:
        """What the filter looks at: a line `implementation:group` for every verdict."""
        return "\n".join(f"{verdict.implementation}:{verdict.group}" for verdict in self.verdicts)


@dataclass(frozen=True, slots=True)
class TableSection:
    """A golden table with its picture and its cases."""

    table: GoldenTable
    drawing: Markup
    lines: tuple[CaseLine, ...]
    tally: Tally


@dataclass(frozen=True, slots=True)
class Finding:
    """A result that somebody has to look at, or one that is known to differ, with what is needed to judge it."""

    anchor: str
    outcome: Outcome
    question: Question
    clauses: tuple[Clause, ...]
    group: str
    expected: str


@dataclass(frozen=True, slots=True)
class ReadingLine:
    """A clause with two readings: how many cases each implementation answered by which."""

    clause: str
    title: str
    followed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """All that the template shows."""

    cards: tuple[Card, ...]
    areas: tuple[Area, ...]
    readings: tuple[ReadingLine, ...]
    failures: tuple[Finding, ...]
    known: tuple[Finding, ...]
    sections: tuple[TableSection, ...]
    slowest: tuple[Outcome, ...]
    facts: tuple[tuple[str, str], ...]
    cases: int
    results: int

    @property
    def names(self) -> tuple[str, ...]:
        """The implementations, in the order of the matrix."""
        return tuple(card.implementation.name for card in self.cards)


def page_of(evidence: Evidence) -> Page:
    """Everything a reader of the report sees, from the results and the corpus."""
    findings = _findings(evidence)
    return Page(
        cards=tuple(map(Card, evidence.implementations, totals(evidence))),
        areas=matrix(evidence),
        readings=readings_followed(evidence),
        failures=tuple(finding for finding in findings if finding.group in ALARMING),
        known=tuple(finding for finding in findings if finding.group == "expected"),
        sections=_sections(evidence, {(finding.outcome.implementation, finding.outcome.case) for finding in findings}),
        slowest=tuple(sorted(evidence.outcomes, key=lambda outcome: -outcome.seconds)[:SLOWEST]),
        facts=evidence.facts,
        cases=len(evidence.questions),
        results=len(evidence.outcomes),
    )


def anchor_of(implementation: str, case: str) -> str:
    """The fragment under which a finding stands; any name becomes one without blanks or quotes."""
    text = f"{implementation}--{case}"
    return "f-" + "".join(character if character.isalnum() or character in "-_." else "-" for character in text)


def readings_followed(evidence: Evidence) -> tuple[ReadingLine, ...]:
    """Per clause with two readings, what each implementation's passes followed; a failed answer follows none."""
    counted: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(int)))
    for outcome in evidence.outcomes:
        if outcome.followed and outcome.verdict == "pass":
            clause, reading = outcome.followed
            counted[clause][outcome.implementation][reading] += 1
    titles = {clause.id: clause.title for clause in evidence.clauses}
    return tuple(
        ReadingLine(
            clause,
            titles.get(clause, ""),
            tuple(_reading_text(counted[clause].get(one.name, {})) for one in evidence.implementations),
        )
        for clause in sorted(counted)
    )


def _reading_text(readings: dict[str, int]) -> str:
    return ", ".join(f"{reading} ({count})" for reading, count in sorted(readings.items()))


def _findings(evidence: Evidence) -> list[Finding]:
    questions = {question.id: question for question in evidence.questions}
    clauses = {clause.id: clause for clause in evidence.clauses}
    expected = {one.name: one.expected_failures for one in evidence.implementations}
    return [
        Finding(
            anchor=anchor_of(outcome.implementation, outcome.case),
            outcome=outcome,
            question=questions[outcome.case],
            clauses=tuple(clauses[clause] for clause in questions[outcome.case].clauses if clause in clauses),
            group=group_of(outcome.verdict),
            expected=expected.get(outcome.implementation, {}).get(outcome.case, ""),
        )
        for outcome in evidence.outcomes
        if group_of(outcome.verdict) in ALARMING | {"expected"}
    ]


def _sections(evidence: Evidence, findings: set[tuple[str, str]]) -> tuple[TableSection, ...]:
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in evidence.outcomes:
        outcomes[outcome.case].append(outcome)
    lines: dict[str, list[CaseLine]] = defaultdict(list)
    for question in evidence.questions:
        lines[question.table].append(_case_line(question, outcomes[question.id], findings))
    return tuple(_section(table, lines[table.id]) for table in evidence.tables if lines[table.id])


def _section(table: GoldenTable, lines: Iterable[CaseLine]) -> TableSection:
    lines = tuple(lines)
    drawing = (
        "" if table.timeline is None else timeline_svg(table.timeline, f"Timeline of {table.title}", embedded=True)
    )
    return TableSection(
        table=table,
        # The drawing escapes whatever the table's files hold.
        drawing=Markup(drawing),  # noqa: S704
        lines=lines,
        tally=tally(verdict.verdict for line in lines for verdict in line.verdicts),
    )


def _case_line(question: Question, outcomes: Iterable[Outcome], findings: set[tuple[str, str]]) -> CaseLine:
    return CaseLine(
        question=question,
        short_id=question.id.removeprefix(f"conformance::{question.table}::"),
        area=area_of(question.clauses),
        verdicts=tuple(
            Verdict(
                implementation=outcome.implementation,
                verdict=outcome.verdict,
                group=group_of(outcome.verdict),
                anchor=anchor_of(outcome.implementation, outcome.case)
                if (outcome.implementation, outcome.case) in findings
                else "",
            )
            for outcome in outcomes
        ),
    )
