"""The page of clauses: each rule with its cases, and what every implementation made of them."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from hudi_conformance.report.areas import area_name, in_order
from hudi_conformance.report.clause_text import rule_html
from hudi_conformance.report.evidence import Evidence
from hudi_conformance.report.page import CaseLine, Page
from hudi_conformance.report.tallies import Tally, tally
from hudi_conformance.runner.clauses import DRAFT, Clause


@dataclass(frozen=True, slots=True)
class ClauseLine:
    """A clause with its rule rendered, its cases and a tally for each implementation; `traces` are trace cases."""

    clause: Clause
    rule: Markup
    cells: tuple[Tally, ...]
    cases: tuple[CaseLine, ...]
    traces: tuple[str, ...]

    @property
    def covered(self) -> bool:
        """Whether any case cites the clause."""
        return bool(self.cases or self.traces)


@dataclass(frozen=True, slots=True)
class ClauseArea:
    """The clauses of one area."""

    key: str
    title: str
    lines: tuple[ClauseLine, ...]

    @property
    def covered(self) -> int:
        """How many clauses have a case."""
        return sum(line.covered for line in self.lines)


@dataclass(frozen=True, slots=True)
class ClausesPage:
    """All that the template of clauses shows."""

    names: tuple[str, ...]
    areas: tuple[ClauseArea, ...]

    @property
    def lines(self) -> tuple[ClauseLine, ...]:
        """Every clause."""
        return tuple(line for area in self.areas for line in area.lines)

    @property
    def released(self) -> tuple[ClauseLine, ...]:
        """The clauses of versions that releases write: drafts count apart."""
        return tuple(line for line in self.lines if not line.clause.is_draft)

    @property
    def covered(self) -> int:
        """How many of these have a case."""
        return sum(line.covered for line in self.released)

    def at_level(self, level: str) -> tuple[int, int]:
        """Of the clauses of a level, or of the drafts: how many have a case, and how many there are."""
        drafts = [line for line in self.lines if line.clause.is_draft]
        mine = drafts if level == DRAFT else [line for line in self.released if line.clause.level == level]
        return sum(line.covered for line in mine), len(mine)


def clauses_page(evidence: Evidence, page: Page) -> ClausesPage:
    """Every clause of the suite, asked about in this run or not."""
    by_clause: dict[str, list[CaseLine]] = defaultdict(list)
    for section in page.sections:
        for line in section.lines:
            for clause in line.question.clauses:
                by_clause[clause].append(line)
    traces: dict[str, list[str]] = defaultdict(list)
    for name, clauses in evidence.traces:
        for clause in clauses:
            traces[clause].append(name)
    lines: dict[str, list[ClauseLine]] = defaultdict(list)
    for rule in sorted(evidence.clauses, key=lambda one: one.id):
        lines[rule.prefix].append(_line(rule, page.names, by_clause[rule.id], traces[rule.id]))
    areas = (ClauseArea(area, area_name(area), tuple(lines[area])) for area in in_order(lines))
    return ClausesPage(page.names, tuple(areas))


def rules_of(evidence: Evidence) -> Mapping[str, Markup]:
    """The rule of every clause that a question of the run cites, rendered."""
    cited = {clause for question in evidence.questions for clause in question.clauses}
    return {clause.id: rule_html(clause.rule) for clause in evidence.clauses if clause.id in cited}


def _line(clause: Clause, names: tuple[str, ...], cases: list[CaseLine], traces: list[str]) -> ClauseLine:
    cells = (
        tally(line.verdicts[place].verdict for line in cases if line.verdicts[place].verdict)
        for place in range(len(names))
    )
    return ClauseLine(clause, rule_html(clause.rule), tuple(cells), tuple(cases), tuple(traces))
