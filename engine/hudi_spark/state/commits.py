"""What the timeline's files say: the commits that a query sees."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final

from hudi_format.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.timeline.commit_metadata import CommitMetadata, WriteStat, parse_commit_metadata
from hudi_format.timeline.headerless import with_header

from hudi_spark.state.timeline import Axis, Instant, Timeline, visible_commits

GroupId = tuple[str, str]
"""Partition path and file id."""

_MOST_KNOWN_BYTES: Final = 64 * 1024

SERVICES: Final = ("COMPACT", "LOG_COMPACT", "CLUSTER")
"""Operations that bring no rows."""


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
        named = self.data_files()
        return {group: path for group, path, name in named if isinstance(name, BaseFileName)}

    def log_files(self) -> tuple[tuple[GroupId, str, LogFileName], ...]:
        """File group, path and name of each log file of data that this commit wrote.

        Clauses: RD-018, LF-018, SL-008.
        """
        named = self.data_files()
        return tuple(
            (group, path, name) for group, path, name in named if isinstance(name, LogFileName) and not name.cdc
        )

    def stats(self) -> Iterator[tuple[GroupId, WriteStat]]:
        """File group and stat of each data file that this commit wrote.

        Clauses: SL-008, TL-019, TL-020.
        """
        return ((group, stat) for group, stat, _, _ in self._located())

    def data_files(self) -> Iterator[tuple[GroupId, str, BaseFileName | LogFileName]]:
        """File group, path and name of each data file that this commit wrote.

        Clauses: SL-008.
        """
        return ((group, path, name) for group, _, path, name in self._located())

    def _located(self) -> Iterator[tuple[GroupId, WriteStat, str, BaseFileName | LogFileName]]:
        for stat in self.metadata.write_stats:
            path = PurePosixPath(stat.path or "")
            name = parse_data_file_name(path.name)
            if name is not None:
                partition = str(path.parent)
                yield ("" if partition == "." else partition, name.file_id), stat, str(path), name

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
    metadata = _metadata(storage, instant)
    for stat in metadata.write_stats:
        if stat.path is not None:
            refuse_escape(storage, stat.path)
    return Commit(instant, metadata)


def _metadata(storage: Storage, instant: Instant) -> CommitMetadata:
    if instant.archived is not None and isinstance(instant.archived.content, CommitMetadata):
        return instant.archived.content
    data = completed_bytes(storage, instant)
    return (_known if len(data) <= _MOST_KNOWN_BYTES else parse_commit_metadata)(data, instant.file)


@lru_cache(maxsize=512)
def _known(data: bytes, file: str) -> CommitMetadata:
    """The same for the same bytes: a write reads the commits of two timelines several times, mostly those of before."""
    return parse_commit_metadata(data, file)


def refuse_escape(storage: Storage, path: str) -> None:
    """Nothing when a path in the metadata stays below the table's base.

    Raises:
        FormatError: PATH_ESCAPES_TABLE.

    Clauses: SL-007.

    """
    # Looking at the text first spares a system call for every file that the timeline names.
    if path.startswith("/") or ".." in PurePosixPath(path).parts or "\0" in path or ":" in path:
        storage.resolve(path)
