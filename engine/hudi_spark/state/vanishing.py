"""Readers take no lock: a file of the timeline that they have listed may be gone when they come to it."""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Final, ParamSpec, TypeVar

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")
_TIMES: Final = 5


def read_anew(read: Callable[_Arguments, _Answer]) -> Callable[_Arguments, _Answer]:
    """A reading that begins again where a listed file has vanished: archival moved it, or a rollback took it away.

    Clauses: TL-004.
    """

    @wraps(read)
    def run(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Answer:
        for _ in range(_TIMES):
            with suppress(FileNotFoundError):
                return read(*args, **kwargs)
        return read(*args, **kwargs)

    return run
