"""Archived actions in the form of the other layout: the archived log of version 6, and the history from 8 on.

Clauses: VR-010, HS-007, HS-010.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from hudi_format.storage import Storage
from hudi_format.timeline import plans
from hudi_format.timeline.archived_log import ArchivedState, archived_log_name, is_archived_log, write_archived_log
from hudi_format.timeline.commit_metadata import CommitMetadata, content_kind, parse_commit_metadata, serialise_avro
from hudi_format.timeline.headerless import with_header
from hudi_format.timeline.history import (
    VERSION_FILE,
    HistoryFileName,
    HistoryRow,
    ManifestEntry,
    manifest_number,
    parse_history_name,
    serialise_manifest,
    write_history_file,
)

from hudi_spark.effects.helper import Effects
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.history import archived_instants
from hudi_spark.state.timeline import Instant, is_compaction_plan

_LOG_FOLDER: Final = ".hoodie/archived"
# How many actions go into one block of the archived log, as releases batch them.
_BATCH: Final = 10
_CLEAN: Final = "clean"
_REPLACE: Final = "replacecommit"
_DUMMY: Final = CommitMetadata("UNKNOWN", extra={"ROLLING_STAT": ""})
_SERIALISERS: Final[Mapping[type, Callable[[Any], bytes]]] = {
    plans.CleanMetadata: plans.serialise_clean_metadata,
    plans.CleanerPlan: plans.serialise_cleaner_plan,
    plans.CompactionPlan: plans.serialise_compaction_plan,
    plans.IndexCommit: plans.serialise_index_commit,
    plans.RequestedReplace: plans.serialise_requested_replace,
    plans.RollbackMetadata: plans.serialise_rollback_metadata,
    plans.SavepointMetadata: plans.serialise_savepoint_metadata,
}
_PARSERS: Final[Mapping[str, Callable[[bytes, str], Any]]] = {
    "commit": parse_commit_metadata,
    "deltacommit": parse_commit_metadata,
    _REPLACE: parse_commit_metadata,
    _CLEAN: plans.parse_clean_metadata,
    "rollback": plans.parse_rollback_metadata,
    "savepoint": plans.parse_savepoint_metadata,
    "indexing": plans.parse_index_commit,
}


def history_rows(storage: Storage, old: TableConfiguration) -> tuple[HistoryRow, ...]:
    """The actions of an archived log as rows of the history.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT.

    Clauses: VR-010, HS-007.

    """
    return tuple(_row(one) for one in archived_instants(storage, old))


def put_history(effects: Effects, new: TableConfiguration, rows: tuple[HistoryRow, ...]) -> None:
    """The history of version 8 holds these rows and no others; what an older one left in its folder goes.

    Clauses: VR-010, HS-002, HS-003, AR-010.
    """
    folder = _history_folder(new)
    before = [status.path for status in effects.storage.list_files(folder, recursive=False)]
    if not rows and not before:
        return
    numbers = (manifest_number(path.rpartition("/")[2]) for path in before)
    number = max((one for one in numbers if one is not None), default=0) + 1
    entries = [_put_rows(effects, folder, rows)] if rows else []
    effects.put_manifest(f"{folder}/manifest_{number}", number, serialise_manifest(entries))
    effects.swap_version(f"{folder}/{VERSION_FILE}", number)
    kept = {f"{folder}/{name}" for name in (f"manifest_{number}", VERSION_FILE, *(one.file_name for one in entries))}
    for path in before:
        if path not in kept and _is_of_history(path.rpartition("/")[2]):
            effects.delete_history_file(path)


def archived_states(storage: Storage, old: TableConfiguration) -> tuple[tuple[ArchivedState, ...], ...]:
    """The actions of a history as the archived log has them: the states of each.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT.
        HudiError: TIMELINE_FILE_CORRUPT for a file that is named and not there.

    Clauses: VR-010, HS-010, TL-032.

    """
    return tuple(_states(one) for one in archived_instants(storage, old))


def put_archived_log(effects: Effects, actions: tuple[tuple[ArchivedState, ...], ...]) -> None:
    """The archived log of version 6 holds these actions and no others; an older log, all of which they hold, goes.

    Clauses: VR-010, HS-010.
    """
    before = [status.path for status in effects.storage.list_files(_LOG_FOLDER, recursive=False)]
    first = f"{_LOG_FOLDER}/{archived_log_name(1)}"
    for path in before:
        if is_archived_log(path.rpartition("/")[2]) and (path != first or not actions):
            effects.delete_history_file(path)
    if actions:
        batches = (actions[start : start + _BATCH] for start in range(0, len(actions), _BATCH))
        together = ([state for states in batch for state in states] for batch in batches)
        blocks = (write_archived_log(states, java_strings=True) for states in together)
        effects.append_archived_log(first, b"".join(blocks), len(actions))


def _history_folder(configuration: TableConfiguration) -> str:
    name = configuration.properties.get("hoodie.timeline.history.path", "").strip().strip("/") or "history"
    return f"{configuration.timeline_folder}/{name}"


def _put_rows(effects: Effects, folder: str, rows: tuple[HistoryRow, ...]) -> ManifestEntry:
    data = write_history_file(rows)
    name = str(HistoryFileName(rows[0].instant_time, rows[-1].instant_time, 0))
    effects.put_history_file(f"{folder}/{name}", 0, data)
    return ManifestEntry(name, len(data))


def _is_of_history(name: str) -> bool:
    return manifest_number(name) is not None or parse_history_name(name) is not None


def _row(instant: Instant) -> HistoryRow:
    archived = instant.archived
    content, plan = (None, None) if archived is None else (archived.content, archived.plan)
    time = None if archived is None else archived.time
    return HistoryRow(instant.requested, time, instant.action, _bytes(content, instant.action), _bytes(plan, ""))


def _bytes(content: Any, action: str) -> bytes | None:
    """A decoded content as the file of the action held it."""
    if isinstance(content, CommitMetadata):
        return serialise_avro(content, replace=action == _REPLACE) if action else None
    serialise = _SERIALISERS.get(type(content))
    return None if serialise is None else serialise(content)


def _states(instant: Instant) -> tuple[ArchivedState, ...]:
    archived = instant.archived
    content, plan = (None, None) if archived is None else (archived.content, archived.plan)
    file = instant.file
    action = "compaction" if is_compaction_plan(plan) else instant.action
    done = _parsed(content, instant.action, file)
    requested = _plan(plan, action, file)
    inflight = requested if action == _CLEAN else _DUMMY if isinstance(done, CommitMetadata) else None
    return (
        ArchivedState(instant.requested, action, "REQUESTED", instant.requested, requested),
        ArchivedState(instant.requested, action, "INFLIGHT", instant.requested, inflight),
        ArchivedState(instant.requested, instant.action, "COMPLETED", instant.completed, done),
    )


def _parsed(content: bytes | None, action: str, file: str) -> Any:
    parse = _PARSERS.get(action)
    if not content or parse is None:
        return None
    return parse(with_header(content, action, file), file)


def _plan(plan: bytes | None, action: str, file: str) -> Any:
    """What the requested record holds: the plan, and for a write the empty metadata that releases put there."""
    if action == "compaction" and plan:
        return plans.parse_compaction_plan(plan, file)
    if action == _CLEAN:
        return plans.parse_cleaner_plan(plan, file) if plan else None
    if action == _REPLACE:
        return _requested_replace(plan, file)
    return _DUMMY if action in _PARSERS and action in ("commit", "deltacommit") else None


def _requested_replace(plan: bytes | None, file: str) -> plans.RequestedReplace | None:
    """The plan of a clustering; of other writes the history keeps what they had inflight."""
    if not plan or content_kind(plan, file) != "avro" or b"HoodieRequestedReplaceMetadata" not in plan[:200]:
        return None
    return plans.parse_requested_replace(plan, file)
