"""What timeline files hold, as far as the model needs it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from hudi_model.records import Damaged, Schema
from hudi_model.time import InstantTime


@dataclass(frozen=True, slots=True)
class WriteStat:
    """What a commit says of one file it wrote. `path` is relative to the table and includes the partition."""

    partition: str
    file_id: str
    path: str | None
    previous_instant: str | None = None
    writes: int = 0
    inserts: int = 0
    updates: int = 0
    deletes: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class CommitMetadata:
    """Content of a completed commit, deltacommit or replacecommit. `replaced` pairs partition and file id."""

    operation: str | None = None
    compacted: bool = False
    write_stats: tuple[WriteStat, ...] = ()
    replaced: frozenset[tuple[str, str]] = frozenset()
    schema: Schema | None = None
    extra: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class CompactionOperation:
    """One file slice that a compaction is to merge; files are plain names."""

    partition: str
    file_id: str
    base_instant: InstantTime
    base_file: str | None
    log_files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """Content of a requested compaction or log compaction."""

    operations: tuple[CompactionOperation, ...]


@dataclass(frozen=True, slots=True)
class CleanMetadata:
    """Content of a completed clean. `deleted_files` pairs partition and file name."""

    earliest_to_retain: str | None
    deleted_files: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class RollbackMetadata:
    """Content of a completed rollback or restore: the instants it undid, the files it deleted."""

    rolled_back: tuple[InstantTime, ...]
    deleted_files: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class OtherContent:
    """Content that parses and that no rule of the model looks into."""


Content: TypeAlias = CommitMetadata | CompactionPlan | CleanMetadata | RollbackMetadata | OtherContent | Damaged | None
"""None stands for an empty file."""
