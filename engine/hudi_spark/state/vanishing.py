"""Readers take no lock: a file of the timeline that they have listed may be gone when they come to it."""

from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from hudi_adapter.reasons import Reason
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")
_TIMES: Final = 5


class PlanGoneError(HudiError):
    """A plan that was pending when the timeline was listed, and has been taken off it since."""


def read_anew(read: Callable[_Arguments, _Answer]) -> Callable[_Arguments, _Answer]:
    """A reading that begins again where a listed file has vanished: archival moved it, or a rollback took it away.

    Raises:
        HudiError: TIMELINE_FILE_CORRUPT for a file that is listed each time and can never be read.

    Clauses: TL-004.

    """

    @wraps(read)
    def run(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Answer:
        gone: FileNotFoundError | PlanGoneError | None = None
        for _ in range(_TIMES):
            try:
                return read(*args, **kwargs)
            except (FileNotFoundError, PlanGoneError) as error:
                gone = error
        if isinstance(gone, HudiError):
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
        message = "the log file is not in storage: a clean or a rollback may have removed it while it was read"
        raise HudiError(Reason.LOG_FILE_MISSING, "RD-018", message, file, hint="do it again") from error
