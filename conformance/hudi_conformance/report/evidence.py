"""Everything a report is made from, as plain values: who ran, what was asked, what came back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hudi_conformance.report.file_layout import DrawnGroup
from hudi_conformance.runner.case_values import StoredAnswer
from hudi_conformance.runner.cells import Comparison
from hudi_conformance.runner.clauses import Clause


@dataclass(frozen=True, slots=True)
class Implementation:
    """One adapter that took part in the run."""

    name: str
    product: str = ""
    version: str = ""
    language: str = ""
    expected_failures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CaseStep:
    """One step of a case: who does or asks what, and what must come of it.

    `expected` are the kept answers, by the reading they belong to; `read` the paths of what the answer is made of.
    """

    op: str
    params: str = ""
    who: str = ""
    must: str = ""
    expected: tuple[tuple[str, StoredAnswer], ...] = ()
    read: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Question:
    """One case, as its author wrote it; `kills` are mutants with the rule that each breaks.

    `begins_with` is the golden table that a case which writes goes on with.
    """

    id: str
    table: str
    title: str
    clauses: tuple[str, ...]
    given: str = ""
    when: str = ""
    then: str = ""
    version: str = ""
    features: tuple[str, ...] = ()
    kills: tuple[tuple[str, str], ...] = ()
    steps: tuple[CaseStep, ...] = ()
    begins_with: str = ""


@dataclass(frozen=True, slots=True)
class GoldenTable:
    """One table of the corpus; `timeline` is None where the model refuses the table, and `refusal` says why."""

    id: str
    title: str
    version: str = ""
    type: str = ""
    written_by: str = ""
    how: str = ""
    features: tuple[str, ...] = ()
    timeline: tuple[Mapping[str, Any], ...] | None = None
    refusal: str = ""
    groups: tuple[DrawnGroup, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one implementation made of one case; `followed` is (clause, reading) where a clause has two."""

    implementation: str
    case: str
    verdict: str
    seconds: float = 0.0
    message: str = ""
    differences: tuple[str, ...] = ()
    followed: tuple[str, str] | None = None
    repro: str = ""
    traceback: str = ""
    step: int = 0
    comparison: Comparison | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A whole run beside the corpus it asked about; `facts` are the versions and times of header and footer.

    `traces` are the ids of trace cases with their clauses: what processes did, which no adapter is asked about.
    """

    implementations: tuple[Implementation, ...]
    questions: tuple[Question, ...]
    tables: tuple[GoldenTable, ...]
    outcomes: tuple[Outcome, ...]
    clauses: tuple[Clause, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    started: str = ""
    traces: tuple[tuple[str, tuple[str, ...]], ...] = ()
