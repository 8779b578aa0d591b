"""The matrix of a report: areas and their clauses down, implementations across."""

from collections import defaultdict
from dataclasses import dataclass, replace

from hudi_conformance.clauses import Clause
from hudi_conformance.report.areas import area_name, area_of, in_order
from hudi_conformance.report.evidence import Evidence
from hudi_conformance.report.tallies import Tally, tally


@dataclass(frozen=True, slots=True)
class Row:
    """One line: an area, or a clause inside it; `cells` follow the implementations."""

    key: str
    title: str
    cells: tuple[Tally, ...]
    cases: int
    rule: str = ""
    level: str = ""


@dataclass(frozen=True, slots=True)
class Area:
    """An area's line and the lines of its clauses."""

    row: Row
    clauses: tuple[Row, ...]


def matrix(evidence: Evidence) -> tuple[Area, ...]:
    """Every case once among the areas (by the first clause it names), and under each clause that it names."""
    by_area: dict[str, set[str]] = defaultdict(set)
    by_clause: dict[str, set[str]] = defaultdict(set)
    for question in evidence.questions:
        by_area[area_of(question.clauses)].add(question.id)
        for clause in question.clauses:
            by_clause[clause].add(question.id)
    known = {clause.id: clause for clause in evidence.clauses}
    areas = in_order([*by_area, *(clause.partition("-")[0] for clause in by_clause)])
    return tuple(
        Area(
            row=_row(evidence, area, area_name(area), by_area[area]),
            clauses=tuple(
                _clause_row(evidence, clause, by_clause[clause], known.get(clause))
                for clause in sorted(by_clause)
                if clause.partition("-")[0] == area
            ),
        )
        for area in areas
    )


def totals(evidence: Evidence) -> tuple[Tally, ...]:
    """One tally an implementation, over all its results."""
    return tuple(
        tally(outcome.verdict for outcome in evidence.outcomes if outcome.implementation == implementation.name)
        for implementation in evidence.implementations
    )


def _clause_row(evidence: Evidence, clause: str, cases: set[str], text: Clause | None) -> Row:
    row = _row(evidence, clause, text.title if text else "", cases)
    return replace(row, rule=text.rule, level=text.level) if text else row


def _row(evidence: Evidence, key: str, title: str, cases: set[str]) -> Row:
    verdicts: dict[str, list[str]] = defaultdict(list)
    for outcome in evidence.outcomes:
        if outcome.case in cases:
            verdicts[outcome.implementation].append(outcome.verdict)
    cells = tuple(tally(verdicts[implementation.name]) for implementation in evidence.implementations)
    return Row(key, title, cells, len(cases))
