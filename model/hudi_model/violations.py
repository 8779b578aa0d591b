"""What is wrong with a table, rule by rule."""

from dataclasses import dataclass
from enum import StrEnum


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
