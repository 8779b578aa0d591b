"""The timeline's history as writers change it: completed actions leave the active timeline, and are kept.

from version 8 on   a row: what the completed file holds, and the plan that the action was requested with
before              a record of each state, its content in the form of the log

a file that nobody names -> a manifest that is not current -> the version file swapped: readers see it from here on

Clauses: AR-001, AR-002, AR-010, AR-011.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Final

from hudi_format.names import TimelineState
from hudi_format.storage import Storage
from hudi_format.timeline.archived_log import ArchivedState, archived_log_name, is_archived_log, write_archived_log
from hudi_format.timeline.commit_metadata import parse_commit_metadata
from hudi_format.timeline.history import (
    VERSION_FILE,
    HistoryFileName,
    HistoryRow,
    ManifestEntry,
    manifest_number,
    parse_history_name,
    parse_manifest,
    read_history_file,
    serialise_manifest,
    write_history_file,
)
from hudi_format.timeline.plans import (
    parse_clean_metadata,
    parse_cleaner_plan,
    parse_compaction_plan,
    parse_index_commit,
    parse_requested_replace,
    parse_rollback_metadata,
    parse_savepoint_metadata,
)

from hudi_spark.concurrency import Effects, delete_entry
from hudi_spark.errors import HudiError, Reason
from hudi_spark.table_state import (
    HistoryVersion,
    Instant,
    TableConfiguration,
    Timeline,
    archived_log_folder,
    archived_since,
    current_version,
    history_folder,
    identity_of,
)

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
    moment = datetime.fromtimestamp(milliseconds / 1000, timezone.utc)
    return f"{moment:%Y%m%d%H%M%S}{milliseconds % 1000:03d}"


_NUMBER: Final = re.compile(r"\.archive\.(\d+)")


def append_states(
    effects: Effects, configuration: TableConfiguration, states: Sequence[ArchivedState], batch: int
) -> None:
    """The log has more records, in blocks of `batch`; they appear at once, in a file of their own.

    Clauses: HS-010, TL-032.
    """
    folder = archived_log_folder(configuration)
    names = [status.path.rpartition("/")[2] for status in effects.storage.list_files(folder, recursive=False)]
    found = (_NUMBER.search(name) for name in names if is_archived_log(name))
    number = max((int(one[1]) for one in found if one), default=0) + 1
    size = max(batch, 1)
    starts = range(0, len(states), size)
    blocks = [write_archived_log(states[start : start + size], java_strings=True) for start in starts]
    actions = len({(state.instant, state.action == "savepoint") for state in states})
    effects.append_archived_log(f"{folder}/{archived_log_name(number)}", b"".join(blocks), actions)


_KEPT_FOR_READERS: Final = 3
_HIGHEST_LEVEL: Final = 9


def add_actions(effects: Effects, configuration: TableConfiguration, rows: Sequence[HistoryRow]) -> None:
    """The history has more actions, in one new file of the lowest level; `rows` by requested time.

    Raises:
        HudiError: TIMELINE_FILE_CORRUPT when the current manifest names a file of these times already.

    Clauses: AR-010, HS-003, HS-005, HS-006.

    """
    folder = history_folder(configuration)
    version = current_version(effects.storage, folder)
    name = str(HistoryFileName(rows[0].instant_time, rows[-1].instant_time, 0))
    if any(entry.file_name == name for entry in version.entries):
        message = "the history has a file of these times already, and not all of these actions are in it"
        hint = "look at the file: whoever wrote it left actions out"
        raise HudiError(Reason.TIMELINE_FILE_CORRUPT, "HS-005", message, f"{folder}/{name}", hint=hint)
    _put_version(effects, folder, version, HistoryFileName(rows[0].instant_time, rows[-1].instant_time, 0), rows)


def merge_levels(effects: Effects, configuration: TableConfiguration, batch: int) -> int:
    """Each level that has `batch` files gives its oldest ones to the next; answers how many levels did.

    Clauses: HS-006, HS-009.
    """
    folder = history_folder(configuration)
    level = 0
    while level < _HIGHEST_LEVEL and _merge(effects, folder, level, batch):
        level += 1
    return level


def remove_obsolete(effects: Effects, configuration: TableConfiguration, merged: int) -> None:
    """Old manifests go, then the files that no kept one names; `merged`: levels that this run has merged.

    Clauses: HS-011.
    """
    folder = history_folder(configuration)
    names = [status.path.rpartition("/")[2] for status in effects.storage.list_files(folder, recursive=False)]
    numbers = sorted(number for number in map(manifest_number, names) if number is not None)
    kept = numbers[-(_KEPT_FOR_READERS + merged) :]
    if len(kept) == len(numbers):
        return
    paths = [f"{folder}/manifest_{number}" for number in kept]
    named = {entry.file_name for path in paths for entry in parse_manifest(effects.storage.read(path), path)}
    for number in numbers[: len(numbers) - len(kept)]:
        effects.delete_history_file(f"{folder}/manifest_{number}")
    for name in names:
        if parse_history_name(name) is not None and name not in named:
            effects.delete_history_file(f"{folder}/{name}")


def _merge(effects: Effects, folder: str, level: int, batch: int) -> bool:
    """Clauses: HS-006, HS-009."""
    version = current_version(effects.storage, folder)
    merged = _of_level(version.entries, level)[:batch]
    if len(merged) < max(batch, 2):
        return False
    paths = [f"{folder}/{one}" for one in merged]
    rows = [row for path in paths for row in read_history_file(effects.storage.read(path), path)]
    rows.sort(key=lambda row: row.instant_time)
    bounds = min(one.minimum for one in merged), max(one.maximum for one in merged)
    left_out = frozenset(map(str, merged))
    _put_version(effects, folder, version, HistoryFileName(*bounds, level + 1), rows, left_out)
    return True


def _of_level(entries: Iterable[ManifestEntry], level: int) -> list[HistoryFileName]:
    """The files of a level, the oldest first."""
    named = (parse_history_name(entry.file_name) for entry in entries)
    found = [one for one in named if one is not None and one.level == level]
    return sorted(found, key=lambda one: (one.minimum, one.maximum))


def _put_version(  # noqa: PLR0917 - a version is reported by all of them
    effects: Effects,
    folder: str,
    before: HistoryVersion,
    name: HistoryFileName,
    rows: Sequence[HistoryRow],
    left_out: frozenset[str] = frozenset(),
) -> None:
    """The next version: it names one file more, and not those that this file holds.

    What a failed archival left under a name is replaced: no manifest named it.

    Clauses: AR-010, HS-003.
    """
    data = write_history_file(rows)
    effects.put_history_file(f"{folder}/{name}", name.level, data)
    kept = [entry for entry in before.entries if entry.file_name not in left_out]
    number = before.number + 1
    manifest = serialise_manifest([*kept, ManifestEntry(str(name), len(data))])
    effects.put_manifest(f"{folder}/manifest_{number}", number, manifest)
    effects.swap_version(f"{folder}/{VERSION_FILE}", number)


@dataclass(frozen=True, slots=True)
class HistorySizes:
    """How many files of a level become one, and how many records a block of the log before version 8 has."""

    files_to_merge: int = 10
    records_a_block: int = 10


def finish_interrupted(effects: Effects, configuration: TableConfiguration, timeline: Timeline) -> tuple[Instant, ...]:
    """What an interrupted archival left of actions that the history holds is removed; answers these actions.

    Clauses: AR-002, HS-008.
    """
    first = min((one.requested for one in timeline.instants), default=None)
    if first is None:
        return ()
    known = {identity_of(one) for one in archived_since(effects.storage, configuration, first)}
    left = tuple(one for one in timeline.instants if identity_of(one) in known)
    remove_files(effects, configuration, left)
    return left


def archive_actions(
    effects: Effects, configuration: TableConfiguration, actions: Sequence[Instant], sizes: HistorySizes
) -> None:
    """Completed actions of the active timeline move to the history; `actions` by requested time, at least one.

    Raises:
        HudiError: TIMELINE_FILE_CORRUPT for a history that lacks what it names.
        FormatError: TIMELINE_FILE_CORRUPT for a file of an action that does not parse.

    Clauses: AR-001, AR-010, AR-011, HS-007, HS-009, HS-010, HS-011.

    """
    if configuration.timeline_layout == 1:
        modified = _modified(effects, configuration)
        states = [state for one in actions for state in archived_states(effects.storage, one, modified)]
        append_states(effects, configuration, states, sizes.records_a_block)
        remove_files(effects, configuration, actions)
        return
    add_actions(effects, configuration, [history_row(effects.storage, one) for one in actions])
    remove_files(effects, configuration, actions)
    merged = merge_levels(effects, configuration, sizes.files_to_merge)
    remove_obsolete(effects, configuration, merged)


def remove_files(effects: Effects, configuration: TableConfiguration, actions: Iterable[Instant]) -> None:
    """The files of archived actions go: those of pending states, then those of completed ones, the oldest first.

    Clauses: AR-011.
    """
    ordered = sorted(actions, key=lambda one: one.requested)
    paths = [path for one in ordered for state, path in one.files.items() if state != "COMPLETED"]
    for path in (*paths, *(one.files["COMPLETED"] for one in ordered if "COMPLETED" in one.files)):
        delete_entry(effects, configuration, path)


def _modified(effects: Effects, configuration: TableConfiguration) -> dict[str, int]:
    found = effects.storage.list_files(configuration.timeline_folder, recursive=False)
    return {status.path: status.modified_ms for status in found}
