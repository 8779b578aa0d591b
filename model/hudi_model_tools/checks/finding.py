"""Findings: one broken rule each, and what storage shows of a table that only a check looks at."""

from collections.abc import Callable
from dataclasses import dataclass

from hudi_model.files import Damaged
from hudi_model.rejection import Rejection, StrEnum


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


def error(clause: str, where: str, message: str) -> Violation:
    """A rule that is broken."""
    return Violation(clause, Severity.ERROR, where, message)


def warning(clause: str, where: str, message: str) -> Violation:
    """What readers bear and somebody should look at."""
    return Violation(clause, Severity.WARNING, where, message)


def violation_of(fault: Rejection | Damaged, severity: Severity = Severity.ERROR) -> Violation:
    """A refusal, or what would be refused, as an entry of the list."""
    return Violation(fault.clause, severity, fault.where, fault.detail)


def refusals(*checks: Callable[[], object]) -> tuple[Violation, ...]:
    """What those checks that refuse have to say."""
    found = []
    for check in checks:
        try:
            check()
        except Rejection as rejection:
            found.append(violation_of(rejection))
    return tuple(found)
