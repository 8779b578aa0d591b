"""The timeline and its history as another table version lays them out.

layout 1    .hoodie/T.<action>                      commits as JSON
layout 2    .hoodie/timeline/T_C.<action>           commits as Avro, a request of a clustering is `clustering`

Clauses: VR-006, TM-001, VR-010, HS-007, HS-010.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from typing import Any, Final

from hudi_format.names import (
    SCHEMA_COMMIT,
    TimelineFileName,
    parse_schema_commit_name,
    parse_timeline_file_name,
    timeline_file_name,
)
from hudi_format.storage import Storage
from hudi_format.storage.interface import FileStatus
from hudi_format.timeline import plans
from hudi_format.timeline.archived_log import ArchivedState, archived_log_name, is_archived_log, write_archived_log
from hudi_format.timeline.commit_metadata import (
    CommitMetadata,
    content_kind,
    parse_commit_metadata,
    serialise_avro,
    serialise_json,
)
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
from hudi_format.timeline.plans import parse_requested_replace

from hudi_spark.concurrency import Effects, instant_text, next_instant, timeline_path
from hudi_spark.schema import SCHEMA_FOLDER
from hudi_spark.table_state import (
    DATA_ACTIONS,
    Instant,
    TableConfiguration,
    archived_instants,
    beside,
    history_folder,
    is_compaction_plan,
    list_file_groups,
    timeline_zone,
)


@dataclass(frozen=True, slots=True)
class CompletedFile:
    """The completed file of an action: its time, its name beside a write of that time, when it was written."""

    requested: str
    kind: str
    modified_ms: int

    @property
    def key(self) -> tuple[str, str]:
        """A savepoint has the time of the action that it keeps, a clean of an old release that of a write."""
        return self.requested, self.kind


def completion_times(
    storage: Storage, configuration: TableConfiguration, completed: Iterable[CompletedFile]
) -> Mapping[tuple[str, str], str]:
    """A completion time for each action, after its requested time, no two alike.

    Files that were copied tell a later time than their action had. Where logs are named after an action, its time stays
    before the next base file of their file group: later, they would join that one's slice.

    Clauses: VR-006, RD-005, TM-001.
    """
    limits = _limits(storage)
    found: dict[tuple[str, str], str] = {}
    taken: set[str] = set()
    for one in sorted(completed, key=lambda one: (one.modified_ms, one.requested, one.kind)):
        time = _within(instant_of(one.modified_ms, configuration), one.requested, limits.get(one.requested))
        while time in taken:
            time = next_instant(time)
        taken.add(time)
        found[one.key] = time
    return found


def instant_of(modified_ms: int, configuration: TableConfiguration) -> str:
    """A time of storage as an instant in the table's time zone, that of this computer unless the table says UTC.

    Clauses: TM-001.
    """
    moment = datetime.fromtimestamp(modified_ms // 1000, timezone.utc) + timedelta(milliseconds=modified_ms % 1000)
    return instant_text(moment.astimezone(timeline_zone(configuration)))


def modified_ms_of(instant: str, configuration: TableConfiguration) -> int:
    """The time of storage, in epoch milliseconds, that an instant of 17 digits amounts to.

    Clauses: TM-001.
    """
    seconds = datetime.strptime(instant[:14], "%Y%m%d%H%M%S")  # noqa: DTZ007 - the zone comes next
    moment = seconds.replace(tzinfo=timeline_zone(configuration))
    return int(moment.timestamp()) * 1000 + int(instant[14:17])


def _within(time: str, requested: str, limit: str | None) -> str:
    if limit is not None and time >= limit:
        time = instant_before(limit)
    return time if time > requested else next_instant(requested)


def instant_before(instant: str) -> str:
    """The instant one millisecond earlier."""
    digits = (instant + "000")[:17]
    seconds = datetime.strptime(digits[:14], "%Y%m%d%H%M%S").replace(tzinfo=timezone.utc)
    return instant_text(seconds + timedelta(milliseconds=int(digits[14:17]) - 1))


def _limits(storage: Storage) -> dict[str, str]:
    """For each instant that logs are named after, the first base file of one of their groups that came later."""
    limits: dict[str, str] = {}
    for group in list_file_groups(storage).values():
        bases = sorted(base.name.instant for base in group.base_files)
        for named in {log.name.instant for log in group.log_files}:
            later = next((instant for instant in bases if instant > named), None)
            if later is not None:
                limits[named] = min(limits.get(named, later), later)
    return limits


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
    folder = history_folder(new)
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


def _put_rows(effects: Effects, folder: str, rows: tuple[HistoryRow, ...]) -> ManifestEntry:
    data = write_history_file(rows)
    name = str(HistoryFileName(rows[0].instant_time, rows[-1].instant_time, 0))
    effects.put_history_file(f"{folder}/{name}", 0, data)
    return ManifestEntry(name, len(data))


def _is_of_history(name: str) -> bool:
    return manifest_number(name) is not None or parse_history_name(name) is not None


def _row(instant: Instant) -> HistoryRow:
    """An archived action; its file may have been written in the millisecond of its request, or by a clock behind.

    Clauses: TL-011, VR-006.
    """
    archived = instant.archived
    content, plan = (None, None) if archived is None else (archived.content, archived.plan)
    time = None if archived is None or archived.time is None else _within(archived.time, instant.requested, None)
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


_CLUSTERING: Final = "clustering"


@dataclass(frozen=True, slots=True)
class MovedFile:
    """One file of the timeline in its other form.

    `old`: where it is now. `completed`: when its action completed, also where the name does not say it.
    """

    old: str
    old_name: TimelineFileName
    name: TimelineFileName
    content: bytes = field(repr=False)
    completed: str | None = None


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """One file of the schemas' history under its other name."""

    old: str
    new: str
    content: bytes = field(repr=False)


def moved_timeline(storage: Storage, old: TableConfiguration, new: TableConfiguration) -> tuple[MovedFile, ...]:
    """Every file of the active timeline as the new layout has it; completed files last, in their order.

    Raises:
        FormatError: INSTANT_MALFORMED, TIMELINE_FILE_CORRUPT for files that cannot be put in another form.

    Clauses: VR-006, TL-007, TL-014, TL-019, TL-020.

    """
    named = tuple(timeline_names(storage, old))
    known = _Known(new, _times(storage, old, named), _clusterings(storage, old, named))
    moved = (_moved(known, storage.read(status.path), status.path, name) for status, name in named)
    return tuple(sorted(moved, key=lambda one: (one.name.state == "COMPLETED", one.name.requested)))


def timeline_names(
    storage: Storage, configuration: TableConfiguration
) -> Iterable[tuple[FileStatus, TimelineFileName]]:
    """The files of a layout's timeline folder, with the parts of their names.

    Clauses: TL-007.
    """
    for status in storage.list_files(configuration.timeline_folder, recursive=False):
        name = status.path.rpartition("/")[2]
        parsed = parse_timeline_file_name(name, configuration.timeline_layout, status.path)
        if parsed is not None:
            yield status, parsed


def moved_schemas(
    storage: Storage, old: TableConfiguration, new: TableConfiguration, moved: Iterable[MovedFile]
) -> tuple[SchemaFile, ...]:
    """The files of the schemas' history under the new layout's names; each has its commit's completion time.

    Clauses: DM-020, VR-006.
    """
    times = {one.name.requested: one.completed for one in moved if one.name.action in DATA_ACTIONS and one.completed}
    found = []
    for status in storage.list_files(SCHEMA_FOLDER, recursive=False):
        folder, _, name = status.path.rpartition("/")
        parsed = _schema_name(name, old, status.path)
        if parsed is not None:
            completed = times.get(parsed.requested, parsed.completed or parsed.requested)
            renamed = replace(parsed, completed=completed if parsed.state == "COMPLETED" else None)
            new_name = timeline_file_name(renamed, new.timeline_layout)
            if new_name != name:
                found.append(SchemaFile(status.path, f"{folder}/{new_name}", storage.read(status.path)))
    return tuple(found)


def doubled_schemas(storage: Storage, configuration: TableConfiguration) -> tuple[str, ...]:
    """Completed files of the schemas' history that stand under the other layout's name, and under this one's as well.

    Clauses: DM-020, VR-006.
    """
    paths = [status.path for status in storage.list_files(SCHEMA_FOLDER, recursive=False)]
    done = [path for path in paths if path.endswith(f".{SCHEMA_COMMIT}")]
    own = {path for path in done if ("_" in path.rpartition("/")[2]) == (configuration.timeline_layout == 2)}
    kept = {_instant(path) for path in own}
    return tuple(path for path in done if path not in own and _instant(path) in kept)


def _instant(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].partition("_")[0]


def _schema_name(name: str, old: TableConfiguration, path: str) -> TimelineFileName | None:
    """The parts of a name; None for a file of the other layout, which an earlier attempt left."""
    stem = name.partition(".")[0]
    if name.endswith(f".{SCHEMA_COMMIT}") and ("_" in stem) != (old.timeline_layout == 2):
        return None
    return parse_schema_commit_name(name, old.timeline_layout, path)


def new_path(new: TableConfiguration, moved: MovedFile) -> str:
    """Where a file comes to lie."""
    return timeline_path(new, moved.name)


@dataclass(frozen=True, slots=True)
class _Known:
    """The new layout; when each completed action completed; which actions were requested as clusterings."""

    new: TableConfiguration
    times: Mapping[tuple[str, str], str]
    clusterings: frozenset[str]


def _moved(known: _Known, data: bytes, path: str, name: TimelineFileName) -> MovedFile:
    action, new = name.action, known.new
    if name.state != "COMPLETED" and name.requested in known.clusterings:
        action = _CLUSTERING if new.has_completion_times else _REPLACE
    completed = known.times.get((name.requested, beside(name.action))) if name.state == "COMPLETED" else None
    named = replace(name, action=action, completed=completed if new.timeline_layout == 2 else None)
    return MovedFile(path, name, named, _content(data, name, new, path), completed)


def _content(data: bytes, name: TimelineFileName, new: TableConfiguration, path: str) -> bytes:
    """The content in the form of the new layout: what commits hold changes, plans and results do not.

    Clauses: TL-014, TL-019, TL-020.
    """
    wanted = "avro" if new.timeline_layout == 2 else "json"
    # Releases that changed a version also put metadata into the requested files of commits.
    holds_commit = name.action in DATA_ACTIONS and (name.action, name.state) != (_REPLACE, "REQUESTED")
    if not holds_commit or not data or content_kind(data, path) == wanted:
        return data
    metadata = parse_commit_metadata(data, path)
    if wanted == "json":
        return serialise_json(metadata)
    return serialise_avro(metadata, replace=name.action == _REPLACE and name.state == "COMPLETED")


def _times(
    storage: Storage, old: TableConfiguration, named: Iterable[tuple[FileStatus, TimelineFileName]]
) -> Mapping[tuple[str, str], str]:
    """When each completed action completed: by its file's name or, before version 8, by when it was written."""
    done = [(status, name) for status, name in named if name.state == "COMPLETED"]
    if old.timeline_layout == 2:
        return {(name.requested, beside(name.action)): name.completed or "" for _, name in done}
    files = (CompletedFile(name.requested, beside(name.action), status.modified_ms) for status, name in done)
    return completion_times(storage, old, files)


def _clusterings(
    storage: Storage, old: TableConfiguration, named: Iterable[tuple[FileStatus, TimelineFileName]]
) -> frozenset[str]:
    """The actions that were requested as clusterings; before version 8 only their plans tell.

    Clauses: TL-006, VR-006.
    """
    requests = [(status.path, name) for status, name in named if name.state == "REQUESTED"]
    if old.timeline_layout == 2:
        return frozenset(name.requested for _, name in requests if name.action == _CLUSTERING)
    plans = ((name.requested, path, storage.read(path)) for path, name in requests if name.action == _REPLACE)
    return frozenset(
        requested for requested, path, data in plans if data and parse_requested_replace(data, path).clustering_plan
    )
