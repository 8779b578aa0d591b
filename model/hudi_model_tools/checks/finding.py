"""Findings: one broken rule each, and what storage shows of a table that only a check looks at."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from hudi_model.actions import IndexDefinition
from hudi_model.files import Damaged
from hudi_model.rejection import Rejection


class Severity(StrEnum):
    """An error breaks a rule; a warning is tolerated by the format but worth a look."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: which, how grave, where, and what was found."""

    clause: str
    severity: Severity
    where: str
    message: str


@dataclass(frozen=True, slots=True)
class Footer:
    """What the end of a base file says of it. `excluded_keys` are keys in it that its own filter denies."""

    rows: int
    columns: tuple[str, ...]
    least_key: str | None = None
    greatest_key: str | None = None
    excluded_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What storage shows of a table beside its state. Places are relative to the table."""

    unplaced: frozenset[str] = frozenset()
    """Files that are named like one with rows or changes, in folders that are no partition."""
    footers: Mapping[str, Footer] = field(default_factory=dict)
    depths: Mapping[str, int] = field(default_factory=dict)
    """How deep below the table each partition says that it lies."""
    damages: tuple[Damaged, ...] = ()
    """Files beside the timeline and the data that do not parse, and what blocks say of themselves that is not so."""
    definitions: tuple[IndexDefinition, ...] | None = None
    """The indexes that the file of definitions has; None where there is no such file."""
    index_versions: Mapping[str, str] = field(default_factory=dict)
    """The version that each definition of an index has."""
    deep: bool = False
    """Whether rows were read, and not only what files say of themselves."""


def error(clause: str, where: str, message: str) -> Violation:
    """A rule that is broken."""
    return Violation(clause, Severity.ERROR, where, message)


def warning(clause: str, where: str, message: str) -> Violation:
    """What readers bear and somebody should look at."""
    return Violation(clause, Severity.WARNING, where, message)


def told(fault: Rejection | Damaged, severity: Severity = Severity.ERROR) -> Violation:
    """A refusal, or what would be refused, as an entry of the list."""
    return Violation(fault.clause, severity, fault.where, fault.detail)


def refusals(*checks: Callable[[], object]) -> tuple[Violation, ...]:
    """What those checks that refuse have to say."""
    found = []
    for check in checks:
        try:
            check()
        except Rejection as rejection:
            found.append(told(rejection))
    return tuple(found)
