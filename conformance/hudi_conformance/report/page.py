"""The parts of the index, each ready for its template."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from hudi_conformance.report.areas import area_of
from hudi_conformance.report.evidence import Evidence, GoldenTable, Implementation, Outcome, Question
from hudi_conformance.report.links import case_anchor, case_file, table_file
from hudi_conformance.report.matrix import Area, Row, feature_rows, matrix, totals
from hudi_conformance.report.tallies import ALARMING, Tally, group_of, tally

SLOWEST = 15
MOST_FINDINGS = 200


@dataclass(frozen=True, slots=True)
class Card:
    """An implementation with its whole result."""

    implementation: Implementation
    tally: Tally


@dataclass(frozen=True, slots=True)
class Verdict:
    """One implementation's verdict on a case; both are empty where it was not asked."""

    implementation: str
    verdict: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class CaseLine:
    """A case in the list, with a verdict for each implementation; `link` leads to what there is to see of it."""

    question: Question
    short_id: str
    area: str
    link: str
    anchor: str
    verdicts: tuple[Verdict, ...]

    @property
    def groups(self) -> str:
        """What the filter looks at: the group of each verdict, in the order of the implementations."""
        return " ".join(verdict.group or "none" for verdict in self.verdicts)


@dataclass(frozen=True, slots=True)
class TableSection:
    """A golden table with its cases."""

    table: GoldenTable
    link: str
    lines: tuple[CaseLine, ...]
    tally: Tally


@dataclass(frozen=True, slots=True)
class Finding:
    """A result that somebody has to look at, or one that is known to differ."""

    outcome: Outcome
    question: Question
    group: str
    expected: str
    link: str


@dataclass(frozen=True, slots=True)
class Findings:
    """The first of them, and how many there are."""

    shown: tuple[Finding, ...]
    count: int


@dataclass(frozen=True, slots=True)
class ReadingLine:
    """A clause with two readings: how many cases each implementation answered by which."""

    clause: str
    title: str
    followed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """All that the template of the index shows."""

    cards: tuple[Card, ...]
    areas: tuple[Area, ...]
    features: tuple[Row, ...]
    readings: tuple[ReadingLine, ...]
    failures: Findings
    known: Findings
    sections: tuple[TableSection, ...]
    slowest: tuple[tuple[Outcome, str], ...]
    facts: tuple[tuple[str, str], ...]
    cases: int
    results: int

    @property
    def names(self) -> tuple[str, ...]:
        """The implementations, in the order of the matrix."""
        return tuple(card.implementation.name for card in self.cards)

    @property
    def versions(self) -> tuple[str, ...]:
        """The table versions that are asked about."""
        return tuple(sorted({line.question.version for section in self.sections for line in section.lines} - {""}))


def page_of(evidence: Evidence, pages: Collection[str] | None = None) -> Page:
    """Everything a reader of the index sees; `pages` are the cases with a page, those with findings by default."""
    paged = cases_with_findings(evidence) if pages is None else pages
    links = {question.id: _link(question, paged) for question in evidence.questions}
    return Page(
        cards=tuple(map(Card, evidence.implementations, totals(evidence))),
        areas=matrix(evidence),
        features=feature_rows(evidence),
        readings=readings_followed(evidence),
        failures=_findings(evidence, ALARMING, links),
        known=_findings(evidence, {"expected"}, links),
        sections=_sections(evidence, links),
        slowest=tuple((outcome, links[outcome.case]) for outcome in sorted(evidence.outcomes, key=_slowness)[:SLOWEST]),
        facts=evidence.facts,
        cases=len(evidence.questions),
        results=len(evidence.outcomes),
    )


def cases_with_findings(evidence: Evidence) -> frozenset[str]:
    """The cases that somebody failed or is known to differ in."""
    return frozenset(one.case for one in evidence.outcomes if group_of(one.verdict) in ALARMING | {"expected"})


def verdicts_of(evidence: Evidence) -> Mapping[str, tuple[Outcome, ...]]:
    """The outcomes of each case, in the order of the implementations."""
    order = {one.name: place for place, one in enumerate(evidence.implementations)}
    found: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in sorted(evidence.outcomes, key=lambda one: order.get(one.implementation, 0)):
        found[outcome.case].append(outcome)
    return {case: tuple(outcomes) for case, outcomes in found.items()}


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


def _reading_text(readings: Mapping[str, int]) -> str:
    return ", ".join(f"{reading} ({count})" for reading, count in sorted(readings.items()))


def _slowness(outcome: Outcome) -> float:
    return -outcome.seconds


def _link(question: Question, paged: Collection[str]) -> str:
    """The page of a case where it has one, else its place on that of its table."""
    if question.id in paged:
        return case_file(question.id)
    return f"{table_file(question.table)}#{case_anchor(question.id)}"


def _findings(evidence: Evidence, groups: Collection[str], links: Mapping[str, str]) -> Findings:
    questions = {question.id: question for question in evidence.questions}
    expected = {one.name: one.expected_failures for one in evidence.implementations}
    found = [outcome for outcome in evidence.outcomes if group_of(outcome.verdict) in groups]
    shown = (
        Finding(
            outcome=outcome,
            question=questions[outcome.case],
            group=group_of(outcome.verdict),
            expected=expected.get(outcome.implementation, {}).get(outcome.case, ""),
            link=links[outcome.case],
        )
        for outcome in found[:MOST_FINDINGS]
    )
    return Findings(tuple(shown), len(found))


def _sections(evidence: Evidence, links: Mapping[str, str]) -> tuple[TableSection, ...]:
    verdicts = verdicts_of(evidence)
    lines: dict[str, list[CaseLine]] = defaultdict(list)
    for question in evidence.questions:
        outcomes = {outcome.implementation: outcome for outcome in verdicts.get(question.id, ())}
        shown = (_verdict(one.name, outcomes.get(one.name)) for one in evidence.implementations)
        lines[question.table].append(_case_line(question, links[question.id], tuple(shown)))
    return tuple(_section(table, lines[table.id]) for table in evidence.tables if lines[table.id])


def _section(table: GoldenTable, lines: Iterable[CaseLine]) -> TableSection:
    lines = tuple(lines)
    given = (verdict.verdict for line in lines for verdict in line.verdicts if verdict.verdict)
    return TableSection(table=table, link=table_file(table.id), lines=lines, tally=tally(given))


def _verdict(implementation: str, outcome: Outcome | None) -> Verdict:
    return Verdict(implementation, outcome.verdict, group_of(outcome.verdict)) if outcome else Verdict(implementation)


def _case_line(question: Question, link: str, verdicts: tuple[Verdict, ...]) -> CaseLine:
    return CaseLine(
        question=question,
        short_id=question.id.removeprefix(f"conformance::{question.table}::"),
        area=area_of(question.clauses),
        link=link,
        anchor=case_anchor(question.id),
        verdicts=verdicts,
    )
