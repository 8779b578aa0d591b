"""File names: how writers spell what readers find.

Clauses: SL-004, SL-005, TL-007, TL-008, TL-009.
"""

import re
import uuid

from hudi_model.actions import Action, State
from hudi_model.time import InstantTime

FILE_IDS = uuid.UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")
"""Where file ids come from: released writers draw them at random, the model derives them so that it is pure."""

FIRST_ATTEMPT = "0-1-0"
"""A write token: task partition, stage, attempt."""

DATA_FILE = re.compile(
    r"[^._/][^_/]*_\d+-\d+-\d+_\d+\.(parquet|orc|hfile|lance)|\.[^._/]+_\d+\.log\.\d+(_\d+-\d+-\d+)?(\.cdc)?", re.ASCII
)
"""What base and log files are called."""


def new_file_id(*parts: object) -> str:
    """A file id that nothing else has which is named by other parts: a UUID and the number of the file in its task."""
    return f"{uuid.uuid5(FILE_IDS, '/'.join(map(str, parts)))}-0"


def base_file_name(file_id: str, write_token: str, instant: InstantTime, extension: str = "parquet") -> str:
    """The name of a base file.

    Clauses: SL-004.
    """
    return f"{file_id}_{write_token}_{instant}.{extension}"


def log_file_name(file_id: str, instant: InstantTime, version: int, write_token: str, *, cdc: bool = False) -> str:
    """The name of a log file.

    Clauses: SL-005.
    """
    return f".{file_id}_{instant}.log.{version}_{write_token}{'.cdc' if cdc else ''}"


def timeline_file_name(
    requested: InstantTime, action: Action, state: State, completed: InstantTime | None, layout: int
) -> str:
    """The name of a timeline file. [Modified in v8] Completed ones hold the completion time (layout 2).

    Clauses: TL-007, TL-008, TL-009.
    """
    if state is State.COMPLETED:
        return f"{requested}_{completed}.{action}" if layout == 2 else f"{requested}.{action}"
    if state is State.INFLIGHT and action is Action.COMMIT:
        return f"{requested}.inflight"
    return f"{requested}.{action}.{state.name.lower()}"
