"""File names for the parts of a model state."""

from collections.abc import Mapping
from typing import Literal

from hudi_format.names import BaseFileName, LogFileName, NativeKind, NativeLogName, TimelineFileName, TimelineState
from hudi_format.names import timeline_file_name as format_timeline_name
from hudi_model.actions import Action, State
from hudi_model.time import InstantTime

_STATES: Mapping[State, TimelineState] = {
    State.REQUESTED: "REQUESTED",
    State.INFLIGHT: "INFLIGHT",
    State.COMPLETED: "COMPLETED",
}


def base_file_name(file_id: str, write_token: str, instant: InstantTime, extension: str = "parquet") -> str:
    """The name of a base file."""
    return str(BaseFileName(file_id, write_token, instant, extension))


def log_file_name(file_id: str, instant: InstantTime, version: int, write_token: str, *, cdc: bool = False) -> str:
    """The name of a log file."""
    return str(LogFileName(file_id, instant, version, write_token, cdc))


def native_log_name(file_id: str, instant: InstantTime, version: int, write_token: str, kind: NativeKind) -> str:
    """The name of a native log in Parquet."""
    return str(NativeLogName(file_id, write_token, instant, version, kind, "parquet"))


def timeline_file_name(
    requested: InstantTime, action: Action, state: State, completed: InstantTime | None, layout: Literal[1, 2]
) -> str:
    """The name of a timeline file under layout 1 (table version 6) or 2 (8 and 9)."""
    return format_timeline_name(TimelineFileName(requested, action.value, _STATES[state], completed), layout)


def data_path(partition: str, name: str) -> str:
    """Where a file of a partition lies, relative to the table."""
    return f"{partition}/{name}" if partition else name
