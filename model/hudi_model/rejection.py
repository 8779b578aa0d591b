"""What the model refuses, and why: one closed list of reasons, one exception that carries them.

Rejection     the table, or the question, breaks a rule
Unsupported   the rule book has a chapter that the model does not hold yet
"""

from dataclasses import dataclass
from enum import Enum


class StrEnum(str, Enum):
    """Members are text and print as it; Python 3.10 has no such enumeration."""

    __str__ = str.__str__


class Reason(StrEnum):
    """The closed vocabulary of reasons, shared with the adapter protocol."""

    NOT_A_TABLE = "NOT_A_TABLE"
    TABLE_VERSION_UNSUPPORTED = "TABLE_VERSION_UNSUPPORTED"
    PROPERTIES_INVALID = "PROPERTIES_INVALID"
    CHECKSUM_MISMATCH = "CHECKSUM_MISMATCH"
    INSTANT_MALFORMED = "INSTANT_MALFORMED"
    TIMELINE_FILE_CORRUPT = "TIMELINE_FILE_CORRUPT"
    LOG_CONTENT_CORRUPT = "LOG_CONTENT_CORRUPT"
    BASE_FILE_MISSING = "BASE_FILE_MISSING"
    LOG_FILE_MISSING = "LOG_FILE_MISSING"
    BASE_FILE_CORRUPT = "BASE_FILE_CORRUPT"
    SCHEMA_INCOMPATIBLE = "SCHEMA_INCOMPATIBLE"
    KEY_MISSING = "KEY_MISSING"
    CONFIG_INVALID = "CONFIG_INVALID"
    WRITE_CONFLICT = "WRITE_CONFLICT"
    LOCK_UNAVAILABLE = "LOCK_UNAVAILABLE"
    LOCK_LOST = "LOCK_LOST"
    OUTCOME_UNKNOWN = "OUTCOME_UNKNOWN"
    RANGE_NOT_RETAINED = "RANGE_NOT_RETAINED"
    INSTANT_NOT_FOUND = "INSTANT_NOT_FOUND"
    MERGER_UNKNOWN = "MERGER_UNKNOWN"
    PATH_ESCAPES_TABLE = "PATH_ESCAPES_TABLE"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    STORAGE_FAILED = "STORAGE_FAILED"


@dataclass(eq=False)
class Rejection(Exception):  # noqa: N818 - the word of the protocol
    """A rule is broken: which one, where, and what was found there."""

    reason: Reason
    clause: str
    where: str
    detail: str

    def __str__(self) -> str:
        return f"{self.reason} at {self.where}: {self.detail} (clause {self.clause})"


@dataclass(eq=False)
class Unsupported(Exception):  # noqa: N818 - likewise
    """A feature of the format that the model does not hold yet."""

    feature: str

    def __str__(self) -> str:
        return f"not in the model yet: {self.feature}"
