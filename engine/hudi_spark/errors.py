"""The errors and warnings of this package.

Exception
├── HudiError             the table or the request breaks a rule; `reason` says which
└── UnsupportedFeature    both are legal, this reader does not have the feature yet
UserWarning
└── DamagedLogWarning     the format tells readers to skip these bytes, and to say so
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from hudi_adapter.reasons import Reason
from hudi_format.errors import FormatError, UnsupportedFormat

# An error crosses from a Spark task to the driver as text; what stands between these is JSON.
_OPEN, _CLOSE = "[[hudi-error ", " hudi-error]]"


class HudiError(Exception):
    """A refused table or request: reason, clause, file, offset, what was found and what to do."""

    def __init__(  # noqa: PLR0917 - the arguments of a pickled exception are positional
        self, reason: Reason | str, clause: str, message: str, file: str = "", offset: int | None = None, hint: str = ""
    ) -> None:
        super().__init__(reason, clause, message, file, offset, hint)
        self.reason = Reason(reason)
        self.clause = clause
        self.message = message
        self.file = file
        self.offset = offset
        self.hint = hint

    def __str__(self) -> str:
        place = f" in {self.file}" if self.file else ""
        byte = "" if self.offset is None else f" at byte {self.offset}"
        hint = f"; {self.hint}" if self.hint else ""
        return f"{self.reason}{place}{byte}: {self.message} ({self.clause}){hint}"


class UnsupportedFeature(Exception):  # noqa: N818 - says what this reader lacks, not that the table is wrong
    """A legal table or request that needs a feature which is not built; `feature` is its name."""

    def __init__(self, feature: str, detail: str = "") -> None:
        super().__init__(feature, detail)
        self.feature = feature
        self.detail = detail

    def __str__(self) -> str:
        detail = f": {self.detail}" if self.detail else ""
        return f"this reader does not have {self.feature} yet{detail}"


class DamagedLogWarning(UserWarning):
    """A torn or garbage block of a log file was skipped.

    Clauses: LF-010, RD-013.
    """


@dataclass(frozen=True, slots=True, order=True)
class SkippedBytes:
    """One stretch of a log file that is no block.

    Clauses: LF-010, RD-013.
    """

    file: str
    offset: int
    clause: str
    message: str

    def __str__(self) -> str:
        return f"{self.file} at byte {self.offset}: {self.message} ({self.clause})"


@contextmanager
def typed_errors() -> Iterator[None]:
    """Raise what the format package raises as this package's errors."""
    try:
        yield
    except FormatError as error:
        raise HudiError(str(error.reason), error.clause, error.message, error.file, error.offset, error.hint) from error
    except UnsupportedFormat as error:
        raise UnsupportedFeature(error.feature, error.file) from error


def to_text(error: HudiError | UnsupportedFeature) -> str:
    """The error as text that `from_text` finds again inside a longer one."""
    if isinstance(error, UnsupportedFeature):
        values = {"feature": error.feature, "detail": error.detail}
    else:
        values = {name: getattr(error, name) for name in ("reason", "clause", "message", "file", "offset", "hint")}
    return f"{error} {_OPEN}{json.dumps(values)}{_CLOSE}"


def from_text(text: str) -> HudiError | UnsupportedFeature | None:
    """The first error that a Spark task put into a driver's stack trace, or None."""
    _, opened, rest = text.partition(_OPEN)
    form, closed, _ = rest.partition(_CLOSE)
    if not (opened and closed):
        return None
    values = json.loads(form)
    if "feature" in values:
        return UnsupportedFeature(values["feature"], values["detail"])
    return HudiError(**values)
