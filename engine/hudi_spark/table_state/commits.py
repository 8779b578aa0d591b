"""What completed actions say: the commits that a query sees, and what cleans, rollbacks and restores took away."""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Final, TypeVar

from hudi_format.errors import FormatError, UnsupportedFormat
from hudi_format.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.timeline.commit_metadata import CommitMetadata, WriteStat, parse_commit_metadata
from hudi_format.timeline.headerless import with_header
from hudi_format.timeline.plans import (
    CleanMetadata,
    RestoreMetadata,
    RollbackMetadata,
    parse_clean_metadata,
    parse_cleaner_plan,
    parse_restore_metadata,
    parse_rollback_metadata,
)

from hudi_spark.errors import HudiError, Reason
from hudi_spark.table_state.timeline import Axis, Instant, Timeline, visible_commits

GroupId = tuple[str, str]
"""Partition path and file id."""

# So many bytes of files of commits are kept decoded, in which they take about five times as much.
_MOST_BYTES: Final = 1 << 25

SERVICES: Final = ("COMPACT", "LOG_COMPACT", "CLUSTER")
"""Operations that bring no rows."""


@dataclass(frozen=True)
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
        return self._base_files

    @cached_property
    def _base_files(self) -> dict[GroupId, str]:
        return {group: path for group, path, name in self.data_files() if isinstance(name, BaseFileName)}

    def built_on(self) -> frozenset[str]:
        """The instants of base files of which this commit wrote newer ones; `null` where it wrote first ones.

        Clauses: OW-002, OW-017.
        """
        named = self._located
        return frozenset(stat.prev_commit or "" for _, stat, _, name in named if isinstance(name, BaseFileName))

    def log_files(self) -> tuple[tuple[GroupId, str, LogFileName], ...]:
        """File group, path and name of each log file of data that this commit wrote.

        Clauses: RD-018, LF-018, SL-008.
        """
        return self._log_files

    @cached_property
    def _log_files(self) -> tuple[tuple[GroupId, str, LogFileName], ...]:
        named = self.data_files()
        return tuple(
            (group, path, name) for group, path, name in named if isinstance(name, LogFileName) and not name.cdc
        )

    def stats(self) -> Iterator[tuple[GroupId, WriteStat]]:
        """File group and stat of each data file that this commit wrote.

        Clauses: SL-008, TL-019, TL-020.
        """
        return ((group, stat) for group, stat, _, _ in self._located)

    def data_files(self) -> Iterator[tuple[GroupId, str, BaseFileName | LogFileName]]:
        """File group, path and name of each data file that this commit wrote.

        Clauses: SL-008.
        """
        return ((group, path, name) for group, _, path, name in self._located)

    @cached_property
    def _located(self) -> tuple[tuple[GroupId, WriteStat, str, BaseFileName | LogFileName], ...]:
        placed = ((stat, *_place_of(stat.path or "")) for stat in self.metadata.write_stats)
        return tuple(
            ((partition, name.file_id), stat, path, name) for stat, partition, path, name in placed if name is not None
        )

    @property
    def is_service(self) -> bool:
        """Whether the commit only rewrote rows: a compaction, a log compaction, a clustering.

        Clauses: IN-005, CD-007.
        """
        return self.metadata.operation_type in SERVICES or self.instant.was_compaction

    def groups(self) -> frozenset[GroupId]:
        """File groups that this commit wrote to.

        Clauses: SL-008.
        """
        return frozenset(group for group, _, _ in self.data_files())

    def replaced_groups(self) -> frozenset[GroupId]:
        """File groups that this commit takes out of the table.

        Clauses: RD-003.
        """
        replaced = self.metadata.replaced_file_ids.items()
        return frozenset((partition, file_id) for partition, file_ids in replaced for file_id in file_ids)


_NOT_NORMAL: Final = re.compile(r"(?:^|/)\.?(?:/|$)")
"""A part of a path that is empty or a single dot."""


def _place_of(text: str) -> tuple[str, str, BaseFileName | LogFileName | None]:
    """Partition and path of a file that a commit names, and its name; None for one that is no data file's."""
    path = str(PurePosixPath(text)) if _NOT_NORMAL.search(text) else text
    partition, _, name = path.rpartition("/")
    return partition, path, parse_data_file_name(name)


def load_commits(storage: Storage, timeline: Timeline, as_of: str | None, axis: Axis) -> tuple[Commit, ...]:
    """The commits that a query sees, in completion order.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when one does not parse or is empty; PATH_ESCAPES_TABLE.

    Clauses: TL-013, TL-015, SL-007.

    """
    known = (one for one in visible_commits(timeline, as_of, axis) if one.archived is None or one.archived.content)
    return tuple(commit_of(storage, instant) for instant in known)


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


def completed_bytes(storage: Storage, instant: Instant) -> bytes:
    """What the completed file of an action holds, or held before the action was archived.

    Clauses: HS-007.
    """
    if instant.archived is None:
        return storage.read(instant.file)
    return with_header(instant.archived.content or b"", instant.action, instant.file)


def commit_of(storage: Storage, instant: Instant) -> Commit:
    """A completed data action with its metadata.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when it does not parse or is empty; PATH_ESCAPES_TABLE.

    Clauses: TL-015, HS-007, SL-007.

    """
    commit = _content(storage, instant)
    for stat in commit.metadata.write_stats:
        if stat.path is not None:
            refuse_escape(storage, stat.path)
    return commit


def _content(storage: Storage, instant: Instant) -> Commit:
    if instant.archived is None:
        return _KNOWN.commit(storage.read(instant.file), instant)
    if isinstance(instant.archived.content, CommitMetadata):
        return Commit(instant, instant.archived.content)
    return Commit(instant, parse_commit_metadata(completed_bytes(storage, instant), instant.file))


class _Known:
    """The last used commits, the same for the same bytes.

    A write reads the commits of two timelines several times, mostly those of before, and each plan reads all anew.
    """

    def __init__(self) -> None:
        self._commits: OrderedDict[tuple[bytes, Instant], Commit] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def commit(self, data: bytes, instant: Instant) -> Commit:
        """What a file says of an action."""
        key = (data, instant)
        with self._lock:
            if key in self._commits:
                self._commits.move_to_end(key)
                return self._commits[key]
        found = Commit(instant, parse_commit_metadata(data, instant.file))
        with self._lock:
            if self._commits.setdefault(key, found) is found:
                self._bytes += len(data)
            while self._bytes > _MOST_BYTES:
                (old, _), _ = self._commits.popitem(last=False)
                self._bytes -= len(old)
        return found


_KNOWN: Final = _Known()


def refuse_escape(storage: Storage, path: str) -> None:
    """Nothing when a path in the metadata stays below the table's base.

    Raises:
        FormatError: PATH_ESCAPES_TABLE.

    Clauses: SL-007.

    """
    # Looking at the text first spares a system call for every file that the timeline names.
    if path.startswith("/") or ".." in path or "\0" in path or ":" in path:
        storage.resolve(path)


_T = TypeVar("_T")


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
        if instant.archived is not None and not isinstance(instant.archived.content, bytes | None):
            yield instant.file, instant.archived.content
            continue
        data = completed_bytes(storage, instant)
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
            hint = f"request {earliest} or later"
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


def cleaned_paths(storage: Storage, timeline: Timeline) -> frozenset[str]:
    """Every data file that completed cleans say they deleted.

    Clauses: RD-011, CD-006.
    """
    return frozenset(
        _path(partition, name)
        for _, clean in _cleans(storage, timeline)
        for partition, deleted in clean.partition_metadata.items()
        for name in deleted.success_delete_files
    )


def planned_paths(storage: Storage, timeline: Timeline) -> frozenset[str]:
    """Every data file that the plans of pending cleans name; a plan that cannot be read names none.

    Clauses: RD-014, CN-009.
    """
    found: set[str] = set()
    for one in timeline.pending("clean"):
        for state in ("REQUESTED", "INFLIGHT"):
            if (file := one.files.get(state)) is not None:
                with suppress(FormatError, UnsupportedFormat):
                    plan = parse_cleaner_plan(storage.read(file), file)
                    named = plan.file_paths_to_be_deleted_per_partition or {}
                    for partition, infos in named.items():
                        found.update(_path(partition, info.file_path or "") for info in infos)
                    break
    return frozenset(found)


def is_undone(storage: Storage, timeline: Timeline, path: str) -> bool:
    """Whether a completed rollback or restore says that it deleted a data file.

    Clauses: RD-011.
    """
    return any(
        _deletes(partition, deleted.success_delete_files, path)
        for rollback in _rollbacks(storage, timeline)
        for partition, deleted in rollback.partition_metadata.items()
    )


def undone_paths(storage: Storage, timeline: Timeline) -> frozenset[str]:
    """Every data file that completed rollbacks and restores say they deleted.

    Clauses: RD-011.
    """
    return frozenset(
        _path(partition, name)
        for rollback in _rollbacks(storage, timeline)
        for partition, deleted in rollback.partition_metadata.items()
        for name in deleted.success_delete_files
    )


def _path(partition: str, name: str) -> str:
    """The path in the table of a deleted file, given by name or by whole path."""
    own = name.rpartition("/")[2]
    return f"{partition}/{own}" if partition else own


def _deletes(partition: str, names: tuple[str, ...], path: str) -> bool:
    """Whether a list of deleted files, by name or by whole path, holds a path of the table."""
    folder, _, name = path.rpartition("/")
    return partition == folder and any(deleted.rpartition("/")[2] == name for deleted in names)
