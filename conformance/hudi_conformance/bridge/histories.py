"""The timeline's history: from its files to values of the model, and back."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import PurePosixPath

from hudi_format.errors import FormatError
from hudi_format.names import TimelineFileName
from hudi_format.storage import Storage
from hudi_format.timeline import archived_log, plans
from hudi_format.timeline import history as files
from hudi_format.timeline.commit_metadata import CommitMetadata, parse_commit_metadata
from hudi_format.timeline.headerless import with_header
from hudi_model.actions import Action, Content, OtherContent, State, TimelineEntry
from hudi_model.actions import CommitMetadata as Commit
from hudi_model.configuration import timeline_layout
from hudi_model.effects import timeline_folder
from hudi_model.files import Damaged
from hudi_model.rejection import Reason
from hudi_model.tables import ArchivedInstant, History, HistoryFile, Manifest
from hudi_model.time import InstantTime
from hudi_model.timeline import identity

from hudi_conformance.bridge.damage import damaged, decoded_or_damaged
from hudi_conformance.bridge.timeline_bytes import content_bytes
from hudi_conformance.bridge.timeline_contents import clean_content, commit_content, load_content, rollback_content

_ACTIONS = frozenset(action.value for action in Action)
# Requested actions whose plan the history keeps, by the name under which they complete.
_PLANNED = {"commit": "compaction", "replacecommit": "clustering", "deltacommit": "logcompaction"}


def archive_folder(properties: Mapping[str, str]) -> str:
    """Where old actions go, relative to the table."""
    if timeline_layout(properties) == 1:
        return f".hoodie/{properties.get('hoodie.archivelog.folder') or 'archived'}"
    return f"{timeline_folder(properties)}/{properties.get('hoodie.timeline.history.path') or 'history'}"


def load_history(storage: Storage, properties: Mapping[str, str]) -> History:
    """What the archive folder holds; empty where there is none. What does not parse is `Damaged`."""
    try:
        paths = [status.path for status in storage.list_files(archive_folder(properties), recursive=False)]
    except FormatError:
        return History()
    if timeline_layout(properties) == 1:
        return _log(storage, [path for path in paths if archived_log.is_archived_log(PurePosixPath(path).name)])
    return _tree(storage, paths)


def _tree(storage: Storage, paths: Sequence[str]) -> History:
    loaded = [_loaded(storage, path) for path in paths]
    return History(
        files=tuple(one for one in loaded if isinstance(one, HistoryFile)),
        manifests=tuple(one for one in loaded if isinstance(one, Manifest)),
        current=next((one for one in loaded if isinstance(one, int)), None),
        unreadable=tuple(one for one in loaded if isinstance(one, Damaged)),
    )


def _loaded(storage: Storage, path: str) -> HistoryFile | Manifest | int | Damaged | None:
    """One file of the history; None for a name that means nothing here."""
    name = PurePosixPath(path).name
    parsed, number = files.parse_history_name(name), files.manifest_number(name)
    try:
        if parsed is not None:
            rows = files.read_history_file(storage.read(path), path)
            return HistoryFile(name, parsed.level, tuple(_archived_instant(row, path) for row in rows))
        if number is not None:
            listed = files.parse_manifest(storage.read(path), path)
            return Manifest(number, tuple(entry.file_name for entry in listed))
        return files.parse_version(storage.read(path), path) if name == files.VERSION_FILE else None
    except FormatError as error:
        return damaged(error)


def _archived_instant(row: files.HistoryRow, path: str) -> ArchivedInstant:
    requested, completed = row.instant_time, row.completion_time
    if row.action not in _ACTIONS:
        unknown = Damaged(Reason.TIMELINE_FILE_CORRUPT, "TL-030", path, f"unknown action {row.action!r}")
        return ArchivedInstant(InstantTime(requested), None, Action.COMMIT, unknown)
    done = TimelineFileName(requested, row.action, "COMPLETED", completed)
    requested_state = TimelineFileName(requested, _PLANNED.get(row.action, row.action), "REQUESTED", None)
    content = with_header(row.metadata or b"", row.action, path)
    return ArchivedInstant(
        InstantTime(requested),
        InstantTime(completed) if completed else None,
        Action(row.action),
        load_content(content, path, done),
        _plan(row.plan or b"", path, requested_state),
    )


def _plan(data: bytes, path: str, name: TimelineFileName) -> Content:
    found = load_content(data, path, name)
    # An overwriting write keeps its inflight commit here, which no rule looks into.
    return OtherContent() if isinstance(found, Damaged) else found


def _log(storage: Storage, paths: Sequence[str]) -> History:
    states: list[archived_log.ArchivedState] = []
    unreadable: list[Damaged] = []
    for path in sorted(paths):
        try:
            states += archived_log.read_archived_log(storage.read(path), path)
        except FormatError as error:
            unreadable.append(damaged(error))
    groups = [tuple(group) for _, group in groupby(sorted(states, key=_identity), _identity)]
    instants = tuple(_collapsed(group) for group in groups if any(one.state == "COMPLETED" for one in group))
    return History(archived_log=instants, unreadable=tuple(unreadable))


def _identity(state: archived_log.ArchivedState) -> tuple[InstantTime, str]:
    return identity(InstantTime(state.instant), _action(state))


def _action(state: archived_log.ArchivedState) -> Action:
    return Action(state.action) if state.action in _ACTIONS else Action.COMMIT


def _collapsed(group: tuple[archived_log.ArchivedState, ...]) -> ArchivedInstant:
    done = next(one for one in group if one.state == "COMPLETED")
    return ArchivedInstant(InstantTime(done.instant), None, _action(done), _content(done.content))


def _content(found: archived_log.Content | None) -> Content:
    match found:
        case CommitMetadata():
            return decoded_or_damaged(
                lambda: commit_content(found, "archived log"), "TL-032", Reason.TIMELINE_FILE_CORRUPT
            )
        case plans.CleanMetadata():
            return clean_content(found)
        case plans.RollbackMetadata():
            return rollback_content(found)
    return OtherContent()


def history_files(history: History, table_name: str) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of a history's files, as they lie in the archive folder.

    Raises:
        ValueError: the history holds content that has no bytes.

    """
    if history.archived_log:
        yield archived_log.archived_log_name(1), archived_log_bytes(history.archived_log, table_name)
    sizes: dict[str, int] = {}
    for file in history.files:
        data = history_file_bytes(file, table_name)
        sizes[file.name] = len(data)
        yield file.name, data
    for manifest in history.manifests:
        yield f"manifest_{manifest.version}", manifest_bytes(manifest, sizes)
    if history.current is not None:
        yield files.VERSION_FILE, str(history.current).encode()


def archived_log_bytes(rows: Sequence[ArchivedInstant], table_name: str) -> bytes:
    """A block of the archived log of version 6.

    Raises:
        ValueError: an action has content that has no bytes.

    """
    return archived_log.write_archived_log(
        [
            archived_log.ArchivedState(
                one.requested, one.action.value, "COMPLETED", None, _archived_content(one, table_name)
            )
            for one in rows
        ]
    )


def _archived_content(one: ArchivedInstant, table_name: str) -> archived_log.Content | None:
    row = _row(one, table_name)
    if row.metadata is None or isinstance(one.metadata, OtherContent):
        return None
    if isinstance(one.metadata, Commit):
        return parse_commit_metadata(row.metadata, "archived log")
    parse = _PARSERS.get(one.action.value)
    return parse(row.metadata, "archived log") if parse else None


_PARSERS: Mapping[str, Callable[[bytes, str], archived_log.Content]] = {
    "clean": plans.parse_clean_metadata,
    "rollback": plans.parse_rollback_metadata,
    "savepoint": plans.parse_savepoint_metadata,
    "indexing": plans.parse_index_commit,
}


def manifest_bytes(manifest: Manifest, sizes: Mapping[str, int]) -> bytes:
    """A manifest, with the lengths of its files."""
    return files.serialise_manifest([files.ManifestEntry(name, sizes.get(name, 0)) for name in manifest.files])


def history_file_bytes(file: HistoryFile, table_name: str) -> bytes:
    """A file of the history.

    Raises:
        ValueError: the file holds content that has no bytes.

    """
    return files.write_history_file([_row(one, table_name) for one in file.instants])


def _row(one: ArchivedInstant, table_name: str) -> files.HistoryRow:
    done = TimelineEntry(one.requested, one.action, State.COMPLETED, one.completed, one.metadata, "history")
    planned = Action(_PLANNED.get(one.action, one.action))
    requested_state = TimelineEntry(one.requested, planned, State.REQUESTED, None, one.plan, "history")
    plan = (
        None
        if one.plan is None or isinstance(one.plan, OtherContent)
        else content_bytes(requested_state, 2, table_name, {})
    )
    metadata = None if isinstance(one.metadata, OtherContent) else content_bytes(done, 2, table_name, {})
    return files.HistoryRow(one.requested, one.completed, one.action.value, metadata, plan)
