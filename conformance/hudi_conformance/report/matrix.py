"""The matrix of a report: areas and their clauses down, implementations across."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hudi_conformance.report.areas import area_name, area_of, in_order
from hudi_conformance.report.evidence import Evidence
from hudi_conformance.report.tallies import Tally, tally
from hudi_conformance.runner.clauses import Clause

Verdicts = Mapping[str, Sequence[tuple[str, str]]]
_VERSION = "table-version-"


@dataclass(frozen=True, slots=True)
class Row:
    """One line: an area, a clause inside it, or a feature; `cells` follow the implementations."""

    key: str
    title: str
    cells: tuple[Tally, ...]
    cases: int
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
    verdicts = _verdicts(evidence)
    areas = in_order([*by_area, *(clause.partition("-")[0] for clause in by_clause)])
    return tuple(
        Area(
            row=_row(evidence, verdicts, area, area_name(area), by_area[area]),
            clauses=tuple(
                _clause_row(evidence, verdicts, clause, by_clause[clause], known.get(clause))
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


def feature_rows(evidence: Evidence) -> tuple[Row, ...]:
    """A line for each table version and each feature of tables: every case under all that its table has."""
    by_version, by_feature = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for question in evidence.questions:
        if question.version:
            by_version[question.version].add(question.id)
        for feature in question.features:
            if not feature.startswith(_VERSION):
                by_feature[feature].add(question.id)
    verdicts = _verdicts(evidence)
    return (
        *(
            _row(evidence, verdicts, f"{_VERSION}{one}", f"Table version {one}", by_version[one])
            for one in sorted(by_version)
        ),
        *(_row(evidence, verdicts, one, one, by_feature[one]) for one in sorted(by_feature)),
    )


def _verdicts(evidence: Evidence) -> dict[str, list[tuple[str, str]]]:
    """Implementation and verdict of each result, by case."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for outcome in evidence.outcomes:
        found[outcome.case].append((outcome.implementation, outcome.verdict))
    return found


def _clause_row(evidence: Evidence, verdicts: Verdicts, clause: str, cases: Iterable[str], text: Clause | None) -> Row:
    row = _row(evidence, verdicts, clause, text.title if text else "", cases)
    return replace(row, level=text.standing) if text else row


def _row(evidence: Evidence, verdicts: Verdicts, key: str, title: str, cases: Iterable[str]) -> Row:
    listed = list(cases)
    mine: dict[str, list[str]] = defaultdict(list)
    for implementation, verdict in (one for case in listed for one in verdicts.get(case, ())):
        mine[implementation].append(verdict)
    return Row(key, title, tuple(tally(mine[one.name]) for one in evidence.implementations), len(listed))
