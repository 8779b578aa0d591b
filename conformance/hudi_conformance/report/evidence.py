"""Everything a report is made from, as plain values: who ran, what was asked, what came back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hudi_conformance.clauses import Clause


@dataclass(frozen=True, slots=True)
class Implementation:
    """One adapter that took part in the run."""

    name: str
    product: str = ""
    version: str = ""
    language: str = ""
    expected_failures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """One case of a golden table, as its author wrote it; `expects` says what the answer is judged by."""

    id: str
    table: str
    title: str
    clauses: tuple[str, ...]
    given: str = ""
    when: str = ""
    then: str = ""
    expects: str = ""


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


@dataclass(frozen=True, slots=True)
class Evidence:
    """A whole run beside the corpus it asked about; `facts` are the versions and times of header and footer."""

    implementations: tuple[Implementation, ...]
    questions: tuple[Question, ...]
    tables: tuple[GoldenTable, ...]
    outcomes: tuple[Outcome, ...]
    clauses: tuple[Clause, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
