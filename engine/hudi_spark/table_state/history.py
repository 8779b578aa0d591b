"""The timeline's history: actions that completed and have left the active timeline.

from version 8 on   timeline/history/_version_ -> manifest_<n> -> <min>_<max>_<level>.parquet, a row an action
before              archived/.commits_.archive.<n>, log files whose records are the states of actions
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from hudi_format.storage import Storage
from hudi_format.timeline.archived_log import ArchivedState, is_archived_log, read_archived_log
from hudi_format.timeline.history import (
    VERSION_FILE,
    HistoryRow,
    ManifestEntry,
    latest_completion,
    manifest_number,
    parse_history_name,
    parse_manifest,
    parse_version,
    read_history_file,
)

from hudi_spark.errors import HudiError, Reason
from hudi_spark.table_state.commits import undone_instants
from hudi_spark.table_state.configuration import TableConfiguration
from hudi_spark.table_state.slicing import completion_times
from hudi_spark.table_state.timeline import DATA_ACTIONS, NO_TIME, ArchivedContent, Instant, Timeline, beside

_COMPLETED_NAMES: Final = {"compaction": "commit", "logcompaction": "deltacommit", "clustering": "replacecommit"}
_LOG_NUMBER: Final = re.compile(r"\.archive\.(\d+)_")


@dataclass(frozen=True, slots=True)
class HistoryVersion:
    """The files of the history as its current manifest lists them; number 0 where nothing was ever archived.

    Clauses: HS-002.
    """

    number: int = 0
    entries: tuple[ManifestEntry, ...] = ()


def full_timeline(storage: Storage, configuration: TableConfiguration, active: Timeline) -> Timeline:
    """Active timeline and history as one: an action that stands in both is one completed action.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT for a file of the history that does not parse; PATH_ESCAPES_TABLE.
        HudiError: TIMELINE_FILE_CORRUPT for a manifest or a file that is named and not there.

    Clauses: HS-001, HS-008, AR-002.

    """
    archived = {identity_of(one): one for one in archived_instants(storage, configuration)}
    for one in active.instants:
        # Archival deletes an action's completed file last: until then its own files tell the same.
        if one.is_completed or identity_of(one) not in archived:
            archived[identity_of(one)] = one
    return Timeline(tuple(archived[key] for key in sorted(archived)), active.first_write())


def archived_instants(storage: Storage, configuration: TableConfiguration) -> tuple[Instant, ...]:
    """The actions of the history, by requested time; none where nothing was ever archived.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT for a file of the history that does not parse; PATH_ESCAPES_TABLE.
        HudiError: TIMELINE_FILE_CORRUPT for a manifest or a file that is named and not there.

    Clauses: HS-001, HS-007, HS-010.

    """
    return archived_since(storage, configuration, "")


def archived_since(storage: Storage, configuration: TableConfiguration, first: str) -> tuple[Instant, ...]:
    """The same, of which those are whole that were requested at a time or later: older files are passed over.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT for a file of the history that does not parse; PATH_ESCAPES_TABLE.
        HudiError: TIMELINE_FILE_CORRUPT for a manifest or a file that is named and not there.

    Clauses: HS-001, HS-005, HS-007, HS-010.

    """
    in_log = configuration.timeline_layout == 1
    found = _of_log(storage, configuration) if in_log else _of_tree(storage, configuration, first)
    actions: dict[tuple[str, str], Instant] = {}
    for one in found:
        known = actions.get(identity_of(one))
        if known is None or (known.archived is not None and known.archived.plan is None):
            actions[identity_of(one)] = one
    return tuple(actions[key] for key in sorted(actions))


def has_completed_after(storage: Storage, configuration: TableConfiguration, time: str) -> bool:
    """Whether an action of the history completed after a time; of its files the times alone are read.

    Before table version 8 an action stands where it was requested, and what is archived was requested first.

    Raises:
        FormatError, HudiError: as `archived_instants`.

    Clauses: HS-001, HS-004, IN-003.

    """
    if configuration.timeline_layout == 1:
        return False
    folder = history_folder(configuration)
    paths = [f"{folder}/{entry.file_name}" for entry in current_version(storage, folder).entries]
    return any(_latest_completion(storage, path) > time for path in paths)


def completions_of(
    storage: Storage, configuration: TableConfiguration, timeline: Timeline, instants: Iterable[str]
) -> dict[str, str]:
    """Completion times of the active timeline's writes, and of some archived ones; none for beginnings of indexes.

    Raises:
        FormatError, HudiError: as `archived_instants`.

    Clauses: RD-005, HS-001, HS-005.

    """
    known = completion_times(timeline)
    missing = [one for one in instants if one not in known and not one.startswith(NO_TIME)]
    if not missing:
        return known
    archived = Timeline(archived_since(storage, configuration, min(missing)))
    return {**completion_times(archived), **known}


def undone_writes(storage: Storage, configuration: TableConfiguration, timeline: Timeline) -> frozenset[str]:
    """Instants that completed rollbacks and restores took off the timeline, but for those tried again since.

    A service's plan stays when an attempt at it is rolled back. Where the next attempt completed and is archived, the
    history alone says so; it is read only where a rollback is newer than the active timeline's first write, and what
    it undid is older.

    Raises:
        FormatError, HudiError: as `archived_instants`.

    Clauses: TL-017, TL-018, HS-001.

    """
    undone = undone_instants(storage, timeline)
    first = timeline.start or timeline.first_write() or ""
    older = {one for one in undone if one < first} - {one.requested for one in timeline.instants}
    if not older:
        return undone
    return undone - (older & retried(storage, timeline, archived_since(storage, configuration, min(older))))


def retried(storage: Storage, timeline: Timeline, archived: Iterable[Instant]) -> frozenset[str]:
    """Archived writes that count whatever a rollback of a timeline says: it undid an earlier attempt.

    A rollback undoes what has not completed, so that a write with a completed entry was tried again; a restore undoes
    what has completed.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a restore does not parse.

    Clauses: TL-017.

    """
    completed = frozenset(one.requested for one in archived if one.is_completed and one.action in DATA_ACTIONS)
    return completed - undone_instants(storage, Timeline(timeline.completed("restore")))


def identity_of(instant: Instant) -> tuple[str, str]:
    """What names an action: its time, and its kind where a write may have that time too.

    Clauses: TL-005, HS-008.
    """
    return instant.requested, beside(instant.action)


def history_folder(configuration: TableConfiguration) -> str:
    """Where the history of a table of version 8 or later lies.

    Clauses: PR-007.
    """
    name = configuration.properties.get("hoodie.timeline.history.path", "").strip().strip("/") or "history"
    return f"{configuration.timeline_folder}/{name}"


def archived_log_folder(configuration: TableConfiguration) -> str:
    """Where the archived log of a table before version 8 lies.

    Clauses: HS-010.
    """
    return f".hoodie/{configuration.properties.get('hoodie.archivelog.folder', '').strip().strip('/') or 'archived'}"


def _of_tree(storage: Storage, configuration: TableConfiguration, first: str) -> Iterator[Instant]:
    """Clauses: HS-002, HS-004, HS-005, HS-007."""
    folder = history_folder(configuration)
    for entry in current_version(storage, folder).entries:
        bounds = parse_history_name(entry.file_name)
        # An upgrade names a file after its first and its last row, which may stand in no order: then it has no bounds.
        if bounds is None or bounds.maximum >= first or bounds.minimum > bounds.maximum:
            path = f"{folder}/{entry.file_name}"
            for row in read_history_file(_named(storage, path), path):
                yield _of_row(row, path)


def current_version(storage: Storage, folder: str) -> HistoryVersion:
    """The version of the history that readers see.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT, PATH_ESCAPES_TABLE for a version file or manifest that does not parse.
        HudiError: TIMELINE_FILE_CORRUPT for a manifest that is named and not there.

    Clauses: HS-001, HS-002, HS-003, HS-004.

    """
    names = [status.path.rpartition("/")[2] for status in storage.list_files(folder, recursive=False)]
    numbers = {number for number in map(manifest_number, names) if number is not None}
    if VERSION_FILE in names:
        number = parse_version(storage.read(f"{folder}/{VERSION_FILE}"), f"{folder}/{VERSION_FILE}")
    elif numbers:
        number = max(numbers)
    else:
        return HistoryVersion()
    manifest = f"{folder}/manifest_{number}"
    return HistoryVersion(number, parse_manifest(_named(storage, manifest), manifest))


def _latest_completion(storage: Storage, path: str) -> str:
    with _there(path):
        return latest_completion(storage, path) or ""


def _named(storage: Storage, path: str) -> bytes:
    """Clauses: HS-004."""
    with _there(path):
        return storage.read(path)


@contextmanager
def _there(path: str) -> Iterator[None]:
    """Clauses: HS-004."""
    try:
        yield
    except FileNotFoundError as error:
        hint = "restore the file: without it the actions in it would be lost in silence"
        message = "the history names the file and storage lacks it"
        raise HudiError(Reason.TIMELINE_FILE_CORRUPT, "HS-004", message, path, hint=hint) from error


def _of_row(row: HistoryRow, path: str) -> Instant:
    content = ArchivedContent(row.metadata, row.plan)
    return _completed(row.instant_time, row.action, row.completion_time, path, content)


def _of_log(storage: Storage, configuration: TableConfiguration) -> Iterator[Instant]:
    """Clauses: HS-010, TL-032."""
    folder = archived_log_folder(configuration)
    paths = [status.path for status in storage.list_files(folder, recursive=False)]
    logs = sorted((path for path in paths if is_archived_log(path.rpartition("/")[2])), key=_number)
    states = [(state, path) for path in logs for state in read_archived_log(storage.read(path), path)]
    plans = {_state_identity(state): state.content for state, _ in states if state.state == "REQUESTED"}
    for state, path in states:
        if state.state == "COMPLETED":
            content = ArchivedContent(state.content, plans.get(_state_identity(state)), state.state_time)
            yield _completed(state.instant, state.action, None, path, content)


def _number(path: str) -> int:
    found = _LOG_NUMBER.search(path)
    return int(found[1]) if found else 0


def _state_identity(state: ArchivedState) -> tuple[str, str]:
    return state.instant, beside(state.action)


def _completed(instant: str, action: str, completed: str | None, path: str, content: ArchivedContent) -> Instant:
    """Clauses: TL-006, HS-007."""
    name = _COMPLETED_NAMES.get(action, action)
    return Instant(instant, name, "COMPLETED", completed, {"COMPLETED": path}, content)
