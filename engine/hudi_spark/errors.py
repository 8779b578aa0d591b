"""The errors and warnings of this package.

Exception
├── HudiError             the table or the request breaks a rule; `reason` says which
│   ├── StorageFailedError   the operating system or an object store refused or failed; an OSError, too
│   └── OutcomeUnknownError  whether an action stands is not known; `requested` is its instant
└── UnsupportedFeature    both are legal, the engine does not have the feature yet
UserWarning
├── DamagedLogWarning     the format shows readers to skip these bytes, and to say so
└── RangeWarning          a range holds nothing as it was given, or was answered from the newest snapshot
"""

import difflib
import errno
import inspect
import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from hudi_format.compat import StrEnum
from hudi_format.errors import FormatError, StorageError, UnsupportedFormat

# An error crosses from a Spark task to the driver as text; what stands between these is JSON.
_OPEN, _CLOSE = "[[hudi-error ", " hudi-error]]"


def suggested(name: str, known: Iterable[str], otherwise: str) -> str:
    """A hint for a name that is unknown: the nearest known one, if any is near, before what else there is to say."""
    meant = nearest(name, known)
    return f"did you mean {meant}? {otherwise}" if meant else otherwise


def nearest(name: str, known: Iterable[str], alike: float = 0.6) -> str | None:
    """The known name that an unknown one was most probably meant to be, in small or capital letters.

    `alike` is the least ratio of likeness, from 0 to 1.
    """
    by_small_letters = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(name.casefold(), by_small_letters, 1, alike)
    return by_small_letters[near[0]] if near else None


class Reason(StrEnum):
    """Why a table or a request is refused; `specs/reasons.toml` says when each applies."""

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


def printable(text: str) -> str:
    """A text that can be printed and logged, whatever bytes that are no text the names of files in it have."""
    return text.encode(errors="backslashreplace").decode()


class HudiError(Exception):
    """A refused table or request: reason, clause, file, offset, what was found and what to do.

    `file` is a path in the table; `table` is where the table lies, once the error has left a public function.
    """

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
        self.table = ""

    @property
    def place(self) -> str:
        """The whole path of the file, or that of the table where no file is named."""
        if not self.table or self.file.startswith("/") or "://" in self.file:
            return self.file
        return f"{self.table.rstrip('/')}/{self.file}".rstrip("/")

    def __str__(self) -> str:
        place = f" in {self.place}" if self.place else ""
        byte = "" if self.offset is None else f" at byte {self.offset}"
        hint = f"; {self.hint}" if self.hint else ""
        return printable(f"{self.reason}{place}{byte}: {self.message} ({self.clause}){hint}")


class StorageFailedError(HudiError, OSError):
    """The operating system or an object store refused or failed: `errno` where it gave one, `file` the whole path.

    Clauses: SA-005.
    """


class OutcomeUnknownError(HudiError):
    """An action that may stand: what completes it was sent, and whether that took place cannot be known here and now.

    `action`, `requested`: the action to request, by `has_completed` of the table or its services. Until then it must
    not be done again, unless it has a `write_id`, with which it is safe to do it again.

    Clauses: OW-010.
    """

    def __init__(self, action: str, requested: str, file: str, cause: str) -> None:
        message = f"the {action} {requested} may stand: its completed file was sent, and no answer came: {cause}"
        hint = f"ask has_completed({requested!r}) before doing it again; with a write_id doing it again is safe"
        super().__init__(Reason.OUTCOME_UNKNOWN, "OW-010", message, file, hint=hint)
        self.args = (action, requested, file, cause)
        self.action = action
        self.requested = requested


class UnsupportedFeature(Exception):  # noqa: N818 - says what the engine lacks, not that the table is wrong
    """A legal table or request that needs a feature which is not built; `feature` is its name."""

    def __init__(self, feature: str, detail: str = "") -> None:
        super().__init__(feature, detail)
        self.feature = feature
        self.detail = detail

    def __str__(self) -> str:
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.feature} is not supported yet{detail}"


class DamagedLogWarning(UserWarning):
    """A torn or garbage block of a log file was skipped, or a base file has fewer rows than its commit counts.

    Clauses: LF-010, OW-017, RD-013.
    """


class RangeWarning(UserWarning):
    """A range ends before it begins, and holds no row.

    Or it is no longer whole and was answered from the newest snapshot, as its reader requested.

    Clauses: IN-002, IN-007.
    """


def warn_of_range(message: str) -> None:
    """A `RangeWarning` at the line outside of this package that requested the range."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith(f"{__package__}."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, RangeWarning, stacklevel=level)


@dataclass(frozen=True, slots=True, order=True)
class SkippedBytes:
    """One stretch of a log file that is no block; or what a file lacks, at its beginning.

    Clauses: LF-010, OW-017, RD-013.
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


@contextmanager
def in_files_of(table: object) -> Iterator[None]:
    """What is refused inside is in files of `table`, where that is not the table that a public function was given.

    Such is the metadata table inside of another.
    """
    try:
        with typed_errors():
            yield
    except HudiError as error:
        error.table = error.table or _whole(table)
        raise


@contextmanager
def boundary(table: object = "") -> Iterator[None]:
    """The border of a public function: what storage, Arrow and the format package raise inside leaves as a `HudiError`.

    `table` is where the table lies, which the error names. Inside, errors of the storage stay what they are: readers
    begin anew where a file has vanished, and writers look whether an effect took place.
    """
    try:
        with in_files_of(table):
            yield
    except HudiError:  # also one that is an error of the storage, which is not converted again
        raise
    except OSError as error:
        raise _storage_failure(error, _whole(table)) from error
    except pa.ArrowException as error:
        message = f"Arrow cannot bring a column to the type that it needs: {_one_line(error)}"
        hint = "compare the types of the rows with the table's schema"
        refused = HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-003", message, hint=hint)
        refused.table = _whole(table)
        raise refused from error


def _whole(table: object) -> str:
    """The place of a table: a URI as it is, a path from the root on."""
    text = str(table)
    return text if not text or ":" in text else os.path.abspath(text)  # noqa: PTH100 - links stay as they are given


_HINTS: Final[Mapping[int, str]] = {
    errno.EACCES: "give the user of this process the right to it",
    errno.EPERM: "give the user of this process the right to it",
    errno.EROFS: "mount the file system for writing",
    errno.ENOSPC: "make room on the file system; the timeline says whether a write was completed",
    errno.EDQUOT: "make room in the quota; the timeline says whether a write was completed",
    errno.EFBIG: "raise the limit of a file's size (ulimit -f)",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ENFILE: "raise the system's limit of open files",
    errno.ENOENT: "another process removed it meanwhile, or the path is wrong: look at the path, and ask again",
    errno.ENOTDIR: "a part of the path is a file: look at the path",
    errno.EINVAL: "look at what lies at the path: a table has files and folders",
    errno.EIO: "look at the disk and the system's log",
}


def _storage_failure(error: OSError, table: str) -> StorageFailedError:
    """What an operating system or an object store raised, with the whole path and what to do next."""
    file, hint = str(error.filename or ""), _HINTS.get(error.errno or 0, "look at the storage, and ask again")
    message = error.strerror or _one_line(error)
    if isinstance(error, StorageError):
        file, hint, message = error.place, error.hint, f"cannot {error.operation}: {error.detail}"
    failure = StorageFailedError(Reason.STORAGE_FAILED, "SA-005", message, file, hint=hint)
    failure.errno, failure.table = error.errno, table
    return failure


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def to_text(error: HudiError | UnsupportedFeature) -> str:
    """The error as text that `from_text` finds again inside a longer one."""
    if isinstance(error, UnsupportedFeature):
        values = {"feature": error.feature, "detail": error.detail}
    else:
        values = {name: getattr(error, name) for name in ("reason", "clause", "message", "file", "offset", "hint")}
        values["table"] = error.table
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
    table = values.pop("table")
    kind = StorageFailedError if values["reason"] == Reason.STORAGE_FAILED else HudiError
    error = kind(**values)
    error.table = table
    return error
