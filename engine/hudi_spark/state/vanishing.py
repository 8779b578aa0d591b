"""Readers and planners take no lock: what they have listed may be gone when they come to it.

Archival moves files of the timeline, rollbacks take writes away, and a clean deletes slices that a compaction has
replaced. Whoever planned before begins again, on the timeline as it is by then.
"""

from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from hudi_adapter.reasons import Reason
from hudi_format.errors import FormatError
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")
_TIMES: Final = 5
_LOST: Final = frozenset({Reason.BASE_FILE_MISSING, Reason.LOG_FILE_MISSING, Reason.RANGE_NOT_RETAINED})


def is_of_lost_file(error: HudiError | FormatError) -> bool:
    """Whether a refusal says that a file is not there any more."""
    return error.reason in _LOST


class PlanGoneError(HudiError):
    """A plan that was pending when the timeline was listed, and has been taken off it since."""


def read_anew(read: Callable[_Arguments, _Answer]) -> Callable[_Arguments, _Answer]:
    """A reading that begins again where a file has vanished that it had listed, or that the timeline had named.

    A file that is missed twice, one time after the other, is lost: that is refused.

    Raises:
        HudiError: TIMELINE_FILE_CORRUPT for a file that is listed each time and can never be read.

    Clauses: TL-004, RD-014.

    """

    @wraps(read)
    def run(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Answer:
        missed: str | None = None
        gone: FileNotFoundError | HudiError | FormatError | None = None
        for _ in range(_TIMES):
            try:
                return read(*args, **kwargs)
            except (FileNotFoundError, PlanGoneError) as error:
                missed, gone = None, error
            except (HudiError, FormatError) as error:
                if not is_of_lost_file(error) or _is_settled(error) or error.file == missed:
                    _settle(error)
                    raise
                missed, gone = error.file, error
        if isinstance(gone, HudiError | FormatError):
            raise gone
        file = "" if gone is None else str(gone.filename or "")
        message = f"{_TIMES} times the file was listed, and gone when it was read"
        raise HudiError(Reason.TIMELINE_FILE_CORRUPT, "TL-004", message, file, hint="do it again") from gone

    return run


def read_plan(storage: Storage, file: str) -> bytes:
    """The content of a plan that the timeline listed.

    Raises:
        PlanGoneError: WRITE_CONFLICT when it was taken off the timeline since.

    Clauses: TL-004, OW-011.

    """
    try:
        return storage.read(file)
    except FileNotFoundError as error:
        message = "the plan was pending, and was taken off the timeline meanwhile"
        raise PlanGoneError(Reason.WRITE_CONFLICT, "OW-011", message, file, hint="do it again") from error


def read_log(storage: Storage, file: str) -> bytes:
    """The content of a log file that was listed, or that the timeline names.

    Raises:
        HudiError: LOG_FILE_MISSING.

    Clauses: RD-018.

    """
    try:
        return storage.read(file)
    except FileNotFoundError as error:
        message, hint = "the log file is not in storage", "restore the file, or restore the table to a savepoint"
        raise HudiError(Reason.LOG_FILE_MISSING, "RD-018", message, file, hint=hint) from error


def _settle(error: Exception) -> None:
    """A reading inside another one has looked again: the outer one need not."""
    error.__dict__["looked_again"] = True


def _is_settled(error: Exception) -> bool:
    return bool(error.__dict__.get("looked_again"))
