"""What later releases of Python have and 3.10 lacks: one place for format, engine and suite."""

import datetime as dt
import re
import sys
from enum import Enum

if sys.version_info >= (3, 11):
    from builtins import BaseExceptionGroup, ExceptionGroup
    from typing import Self

    import tomllib
else:
    import tomli as tomllib
    from exceptiongroup import BaseExceptionGroup, ExceptionGroup
    from typing_extensions import Self

__all__ = ["BaseExceptionGroup", "ExceptionGroup", "Self", "StrEnum", "add_note", "datetime_of", "tomllib"]

_ISO = re.compile(r"(.{10}[T ]\d\d:\d\d:\d\d)(?:[.,](\d{1,6})\d*)?(?:(Z)|([+-]\d\d):?(\d\d)?)?")


class StrEnum(str, Enum):
    """Members are text and print as it, in every release; `enum.StrEnum` does since 3.11."""

    __str__ = str.__str__


def add_note(error: BaseException, note: str) -> None:
    """Attach a text to an error, which traceback prints since 3.11; before, it lies in `__notes__`."""
    if sys.version_info >= (3, 11):
        error.add_note(note)
    else:
        error.__dict__.setdefault("__notes__", []).append(note)


def datetime_of(text: str) -> dt.datetime:
    """The moment of an ISO text; Python 3.10 by itself takes no `Z`, and a fraction of 3 or 6 digits alone.

    Raises:
        ValueError: it is none.

    """
    found = None if sys.version_info >= (3, 11) else _ISO.fullmatch(text)
    if found is None:
        return dt.datetime.fromisoformat(text)
    seconds, fraction, utc, hours, minutes = found.groups()
    zone = "+00:00" if utc else f"{hours}:{minutes or '00'}" if hours else ""
    return dt.datetime.fromisoformat(f"{seconds}{f'.{fraction:0<6}' if fraction else ''}{zone}")
