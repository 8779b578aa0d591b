"""The errors of this package.

Exception
├── FormatError         the bytes break a rule of the format
├── UnsupportedFormat   the bytes are legal, this package cannot decode them yet
├── StorageError        an object store did not answer or refused; an OSError
└── InvalidOption       an option that an object store does not have; a ValueError
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager

from fastavro.schema import SchemaParseException, UnknownType

from hudi_format.compat import StrEnum


class Reason(StrEnum):
    """Why bytes were refused: the part of `specs/reasons.toml` that one file or one name can show."""

    NOT_A_TABLE = "NOT_A_TABLE"
    PROPERTIES_INVALID = "PROPERTIES_INVALID"
    CHECKSUM_MISMATCH = "CHECKSUM_MISMATCH"
    INSTANT_MALFORMED = "INSTANT_MALFORMED"
    TIMELINE_FILE_CORRUPT = "TIMELINE_FILE_CORRUPT"
    LOG_CONTENT_CORRUPT = "LOG_CONTENT_CORRUPT"
    BASE_FILE_MISSING = "BASE_FILE_MISSING"
    BASE_FILE_CORRUPT = "BASE_FILE_CORRUPT"
    SCHEMA_INCOMPATIBLE = "SCHEMA_INCOMPATIBLE"
    PATH_ESCAPES_TABLE = "PATH_ESCAPES_TABLE"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"


class FormatError(Exception):
    """Bytes or a name that break a rule of the format.

    Names the reason, the clause, the file, the offset where one is known, what was found and what to do.
    """

    def __init__(  # noqa: PLR0917 - the order is the order of the sentence it prints
        self,
        reason: str,
        clause: str,
        file: str,
        offset: int | None,
        message: str,
        hint: str = "restore the file from a copy, or check which writer left it",
    ) -> None:
        super().__init__(reason, clause, file, offset, message, hint)
        self.reason = reason
        self.clause = clause
        self.file = file
        self.offset = offset
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        place = self.file if self.offset is None else f"{self.file} at byte {self.offset}"
        return f"{self.reason} in {place}: {self.message} ({self.clause}); {self.hint}"


class UnsupportedFormat(Exception):  # noqa: N818 - an answer about this package, not an error in the table
    """Legal content that this package does not decode; `feature` is the name that adapters answer."""

    def __init__(self, feature: str, file: str) -> None:
        super().__init__(feature, file)
        self.feature = feature
        self.file = file

    def __str__(self) -> str:
        return f"{self.file} needs the feature {self.feature}, which is not built"


class StorageError(OSError):
    """An object store that did not answer or refused: the operation, the place, what it said, never a credential."""

    def __init__(
        self, operation: str, place: str, detail: str, hint: str = "check endpoint, region and credentials"
    ) -> None:
        super().__init__(operation, place, detail, hint)
        self.operation = operation
        self.place = place
        self.detail = detail
        self.hint = hint

    def __str__(self) -> str:
        return f"cannot {self.operation} {self.place}: {self.detail}; {self.hint}"


class InvalidOption(ValueError):  # noqa: N818 - reads as the sentence that it is
    """An option of a storage that it does not have, or a value that is none."""


def base_file_missing(path: str) -> FormatError:
    """The error for a base file that storage lacks, or lost while it was read.

    Clauses: RD-011.
    """
    hint = "the timeline names the file: restore it, or roll the instant back"
    return FormatError(Reason.BASE_FILE_MISSING, "RD-011", path, None, "the base file is not in storage", hint)


# What the libraries below raise on bad bytes. Their lists are not documented, so the families are named.
DECODING_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BufferError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RecursionError,
    StopIteration,
    TypeError,
    ValueError,
    NotImplementedError,
    struct.error,
    SchemaParseException,
    UnknownType,
)


@contextmanager
def refusing(reason: str, clause: str, file: str, offset: int | None, what: str) -> Iterator[None]:
    """Turn whatever a decoding library raises inside the block into one `FormatError`.

    What the operating system or a store answers, which has a number, says nothing of the bytes: it stays as it is.
    So does a file that is not there any more: it is no damaged one.

    Raises:
        FormatError: with the given reason, when the block fails.
        OSError: a read failed.

    """
    try:
        yield
    except DECODING_ERRORS as error:
        if isinstance(error, (StorageError, FileNotFoundError)) or getattr(error, "errno", None) is not None:
            raise
        detail = " ".join(str(error).split())[:200]
        raise FormatError(reason, clause, file, offset, f"{what}: {type(error).__name__} {detail}".rstrip()) from error
