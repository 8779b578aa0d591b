"""What the timeline's files say: commits that a query sees, pending compactions, cleans."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeVar

from hudi_adapter.reasons import Reason
from hudi_format.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.timeline.commit_metadata import CommitMetadata, parse_commit_metadata
from hudi_format.timeline.plans import (
    CleanMetadata,
    RestoreMetadata,
    RollbackMetadata,
    parse_clean_metadata,
    parse_compaction_plan,
    parse_restore_metadata,
    parse_rollback_metadata,
)

from hudi_spark.errors import HudiError
from hudi_spark.state.timeline import Axis, Instant, Timeline, visible_commits

_T = TypeVar("_T")

GroupId = tuple[str, str]
"""Partition path and file id."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A completed data action with what it says about its files.

    Clauses: TL-015, TL-019, TL-020.
    """

    instant: Instant
    metadata: CommitMetadata

    def base_files(self) -> Mapping[GroupId, str]:
        """Path of the base file that this commit wrote in each file group.

        Clauses: RD-011, SL-008.
        """
        named = self._data_files()
        return {group: path for group, path, name in named if isinstance(name, BaseFileName)}

    def log_files(self) -> tuple[tuple[GroupId, str, LogFileName], ...]:
        """File group, path and name of each log file of data that this commit wrote.

        Clauses: RD-018, LF-018, SL-008.
        """
        named = self._data_files()
        return tuple(
            (group, path, name) for group, path, name in named if isinstance(name, LogFileName) and not name.cdc
        )

    def _data_files(self) -> Iterator[tuple[GroupId, str, BaseFileName | LogFileName]]:
        for stat in self.metadata.write_stats:
            path = PurePosixPath(stat.path or "")
            name = parse_data_file_name(path.name)
            if name is not None:
                partition = str(path.parent)
                yield ("" if partition == "." else partition, name.file_id), str(path), name

    def replaced_groups(self) -> frozenset[GroupId]:
        """File groups that this commit takes out of the table.

        Clauses: RD-003.
        """
        replaced = self.metadata.replaced_file_ids.items()
        return frozenset((partition, file_id) for partition, file_ids in replaced for file_id in file_ids)


def load_commits(storage: Storage, timeline: Timeline, as_of: str | None, axis: Axis) -> tuple[Commit, ...]:
    """The commits that a query sees, in completion order.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when one does not parse or is empty; PATH_ESCAPES_TABLE.

    Clauses: TL-013, TL-015, SL-007.

    """
    return tuple(_commit(storage, instant) for instant in visible_commits(timeline, as_of, axis))


def replaced_groups(commits: tuple[Commit, ...]) -> frozenset[GroupId]:
    """File groups that the commits take out of the table.

    Clauses: RD-003.
    """
    empty: frozenset[GroupId] = frozenset()
    return empty.union(*(commit.replaced_groups() for commit in commits))


def newest_base_files(commits: tuple[Commit, ...]) -> dict[GroupId, str]:
    """Path of the newest base file that the commits name for each file group.

    Clauses: RD-004, RD-011.
    """
    newest: dict[GroupId, str] = {}
    for commit in sorted(commits, key=lambda one: one.instant.requested):
        newest.update(commit.base_files())
    return newest


def pending_compactions(
    storage: Storage, timeline: Timeline, completed_by: str | None = None
) -> dict[GroupId, tuple[str, ...]]:
    """Instants of the pending compactions of each file group, now or as they were pending at a completion time.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a plan does not parse; PATH_ESCAPES_TABLE.

    Clauses: RD-008, RD-010, SL-007.

    """
    pending: dict[GroupId, tuple[str, ...]] = {}
    for instant in timeline.instants:
        if instant.was_compaction and _is_pending(instant, completed_by):
            for group in _compacted_groups(storage, instant):
                pending[group] = (*pending.get(group, ()), instant.requested)
    return pending


def _is_pending(instant: Instant, completed_by: str | None) -> bool:
    """Clauses: RD-010."""
    if completed_by is None:
        return not instant.is_completed
    return instant.requested <= completed_by and not (instant.is_completed and instant.at("completed") <= completed_by)


def undone_instants(storage: Storage, timeline: Timeline) -> frozenset[str]:
    """Instants that completed rollbacks and restores took off the timeline.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when one of them does not parse.

    Clauses: TL-017.

    """
    undone: set[str] = set()
    for rollback in _rollbacks(storage, timeline):
        undone.update(rollback.commits_rollback)
    for restore in _restores(storage, timeline):
        undone.update(restore.instants_to_rollback)
    return frozenset(undone)


def _rollbacks(storage: Storage, timeline: Timeline) -> Iterator[RollbackMetadata]:
    """Completed rollbacks, those within restores among them."""
    yield from (rollback for _, rollback in _results(storage, timeline, "rollback", parse_rollback_metadata))
    for restore in _restores(storage, timeline):
        for rollbacks in restore.hoodie_restore_metadata.values():
            yield from rollbacks


def _restores(storage: Storage, timeline: Timeline) -> Iterator[RestoreMetadata]:
    return (restore for _, restore in _results(storage, timeline, "restore", parse_restore_metadata))


def _cleans(storage: Storage, timeline: Timeline) -> Iterator[tuple[str, CleanMetadata]]:
    return _results(storage, timeline, "clean", parse_clean_metadata)


def _results(
    storage: Storage, timeline: Timeline, action: str, parse: Callable[[bytes, str], _T]
) -> Iterator[tuple[str, _T]]:
    """File and content of the completed actions of a name; only data actions must have content.

    Clauses: TL-014, TL-015.
    """
    for instant in timeline.completed(action):
        data = storage.read(instant.file)
        if data:
            yield instant.file, parse(data, instant.file)


def refuse_cleaned(storage: Storage, timeline: Timeline, as_of: str | None) -> None:
    """Nothing when a completed clean kept what a query, now or as of a time, needs.

    Raises:
        HudiError: RANGE_NOT_RETAINED for a time before the earliest instant that a clean retained.
        FormatError: TIMELINE_FILE_CORRUPT when a clean does not parse.

    Clauses: RD-014.

    """
    for file, clean in _cleans(storage, timeline):
        earliest = clean.earliest_commit_to_retain
        if earliest and as_of is not None and as_of < earliest:
            message = f"as of {as_of} is not retained: a clean kept what is needed from {earliest} on"
            hint = f"ask for {earliest} or later"
            raise HudiError(Reason.RANGE_NOT_RETAINED, "RD-014", message, file, hint=hint)


def is_cleaned(storage: Storage, timeline: Timeline, path: str) -> bool:
    """Whether a completed clean says that it deleted a data file.

    Clauses: RD-011, RD-014.
    """
    return any(
        _deletes(partition, deleted.success_delete_files, path)
        for _, clean in _cleans(storage, timeline)
        for partition, deleted in clean.partition_metadata.items()
    )


def is_undone(storage: Storage, timeline: Timeline, path: str) -> bool:
    """Whether a completed rollback or restore says that it deleted a data file.

    Clauses: RD-011.
    """
    return any(
        _deletes(partition, deleted.success_delete_files, path)
        for rollback in _rollbacks(storage, timeline)
        for partition, deleted in rollback.partition_metadata.items()
    )


def _commit(storage: Storage, instant: Instant) -> Commit:
    metadata = parse_commit_metadata(storage.read(instant.file), instant.file)
    for stat in metadata.write_stats:
        if stat.path is not None:
            refuse_escape(storage, stat.path)
    return Commit(instant, metadata)


def _compacted_groups(storage: Storage, instant: Instant) -> tuple[GroupId, ...]:
    """Clauses: RD-008."""
    file = instant.files.get("REQUESTED", instant.file)
    operations = parse_compaction_plan(storage.read(file), file).operations
    for operation in operations:
        for name in (operation.partition_path, operation.data_file_path, *operation.delta_file_paths):
            refuse_escape(storage, name or "")
    return tuple((operation.partition_path or "", operation.file_id or "") for operation in operations)


def refuse_escape(storage: Storage, path: str) -> None:
    """Nothing when a path in the metadata stays below the table's base.

    Raises:
        FormatError: PATH_ESCAPES_TABLE.

    Clauses: SL-007.

    """
    # Looking at the text first spares a system call for every file that the timeline names.
    if path.startswith("/") or ".." in PurePosixPath(path).parts or "\0" in path or ":" in path:
        storage.resolve(path)


def _deletes(partition: str, names: tuple[str, ...], path: str) -> bool:
    """Whether a list of deleted files, by name or by whole path, holds a path of the table."""
    folder, _, name = path.rpartition("/")
    return partition == folder and any(deleted.rpartition("/")[2] == name for deleted in names)
