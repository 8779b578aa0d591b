"""From errors of the format to the values that stand for undecodable content in the model."""

from collections.abc import Callable
from typing import TypeVar

from hudi_format.errors import FormatError, UnsupportedFormat
from hudi_model.files import Damaged, UnsupportedContent
from hudi_model.rejection import Reason

_T = TypeVar("_T")


def damaged(error: FormatError) -> Damaged:
    """The same finding as a value, for the model to raise when the content must be read."""
    return Damaged(Reason(str(error.reason)), error.clause, error.file, error.message, error.offset)


def decoded(decode: Callable[[], _T]) -> _T | Damaged | UnsupportedContent:
    """What `decode` gives, or the value that stands for content that does not decode."""
    try:
        return decode()
    except FormatError as error:
        return damaged(error)
    except UnsupportedFormat as lack:
        return UnsupportedContent(lack.feature, lack.file)


def decoded_or_damaged(decode: Callable[[], _T], clause: str, reason: Reason) -> _T | Damaged:
    """The same where the model has no place for content of an unread kind: that counts as damaged."""
    found = decoded(decode)
    if isinstance(found, UnsupportedContent):
        return Damaged(reason, clause, found.where, f"content of a kind that is not read: {found.feature}", None)
    return found
