"""What the history keeps of an action, taken from the action's files.

from version 8 on   a row: what the completed file holds, and the plan that the action was requested with
before              a record of each state, its content in the form of the log
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from hudi_format.names import TimelineState
from hudi_format.storage import Storage
from hudi_format.timeline.archived_log import ArchivedState
from hudi_format.timeline.commit_metadata import parse_commit_metadata
from hudi_format.timeline.history import HistoryRow
from hudi_format.timeline.plans import (
    parse_clean_metadata,
    parse_cleaner_plan,
    parse_compaction_plan,
    parse_index_commit,
    parse_requested_replace,
    parse_rollback_metadata,
    parse_savepoint_metadata,
)

from hudi_spark.state.timeline import Instant

_PLANNED: Final = ("clean", "compaction", "logcompaction", "clustering", "replacecommit")
_STATES: Final[tuple[TimelineState, ...]] = ("REQUESTED", "INFLIGHT", "COMPLETED")
_Parse = Callable[[bytes, str], Any]
_ALWAYS: Final[Mapping[str, _Parse]] = {"commit": parse_commit_metadata, "deltacommit": parse_commit_metadata}
_OF_STATE: Final[Mapping[tuple[str, str], _Parse]] = {
    ("clean", "REQUESTED"): parse_cleaner_plan,
    ("clean", "INFLIGHT"): parse_cleaner_plan,
    ("clean", "COMPLETED"): parse_clean_metadata,
    ("replacecommit", "REQUESTED"): parse_requested_replace,
    ("replacecommit", "INFLIGHT"): parse_commit_metadata,
    ("replacecommit", "COMPLETED"): parse_commit_metadata,
    ("compaction", "REQUESTED"): parse_compaction_plan,
    ("logcompaction", "REQUESTED"): parse_compaction_plan,
    ("rollback", "COMPLETED"): parse_rollback_metadata,
    ("savepoint", "COMPLETED"): parse_savepoint_metadata,
    ("indexing", "COMPLETED"): parse_index_commit,
}


def history_row(storage: Storage, instant: Instant) -> HistoryRow:
    """The row of a completed action of version 8 or later.

    Clauses: HS-007, TL-030.
    """
    content = storage.read(instant.file) or None
    return HistoryRow(instant.requested, instant.completed, instant.action, content, _plan(storage, instant))


def _plan(storage: Storage, instant: Instant) -> bytes | None:
    """What an action was requested with; an overwrite's is what it said when it began.

    Clauses: HS-007.
    """
    action = _pending_action(instant)
    if action not in _PLANNED:
        return None
    requested = _content(storage, instant, "REQUESTED")
    inflight = _content(storage, instant, "INFLIGHT") if action in ("replacecommit", "clustering") else b""
    return inflight or requested or None


def _pending_action(instant: Instant) -> str:
    """The action in the names of the pending states.

    Clauses: TL-006.
    """
    path = instant.files.get("REQUESTED") or instant.files.get("INFLIGHT") or ""
    parts = path.rpartition("/")[2].split(".")
    return parts[1] if len(parts) == 3 else instant.action


def _content(storage: Storage, instant: Instant, state: TimelineState) -> bytes:
    path = instant.files.get(state)
    return storage.read(path) if path else b""


def archived_states(storage: Storage, instant: Instant, modified: Mapping[str, int]) -> tuple[ArchivedState, ...]:
    """The records of the states of a completed action before version 8; `modified`: by path when a file was written.

    Clauses: HS-010, TL-032.
    """
    states = (state for state in _STATES if state in instant.files)
    return tuple(_state(storage, instant, state, modified) for state in states)


def _state(storage: Storage, instant: Instant, state: TimelineState, modified: Mapping[str, int]) -> ArchivedState:
    path, data = instant.files[state], _content(storage, instant, state)
    action = instant.action if state == "COMPLETED" else _pending_action(instant)
    parse = _ALWAYS.get(action) or _OF_STATE.get((action, state))
    content = parse(data, path) if data and parse is not None else None
    return ArchivedState(instant.requested, action, state, _time(modified.get(path)), content)


def _time(milliseconds: int | None) -> str | None:
    if milliseconds is None:
        return None
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return f"{moment:%Y%m%d%H%M%S}{milliseconds % 1000:03d}"
