"""Actions and their states, and what the files of a timeline hold of them, as far as the model needs it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias

from hudi_model.files import Damaged, Schema, SchemaVersion
from hudi_model.rejection import StrEnum
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
    change_logs: tuple[str, ...] = ()
    """Paths of the change feed's files that the write left beside this one."""
    slice_files: tuple[str, ...] = ()
    """Names of the base file and the logs that this log was appended to, where the write shows them."""


@dataclass(frozen=True, slots=True)
class CommitMetadata:
    """Content of a completed commit, deltacommit or replacecommit. `replaced` pairs partition and file id."""

    operation: str | None = None
    compacted: bool = False
    write_stats: tuple[WriteStat, ...] = ()
    replaced: frozenset[tuple[str, str]] = frozenset()
    schema: Schema | None = None
    extra: Mapping[str, str] | None = None
    identified: SchemaVersion | None = field(default=None, compare=False)
    """The columns with their ids, where the writer keeps them."""


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
class ClusteringGroup:
    """File slices that clustering reads together and writes anew as `outputs` file groups."""

    slices: tuple[CompactionOperation, ...]
    outputs: int = 1


@dataclass(frozen=True, slots=True)
class ReplacePlan:
    """Content of a requested replacecommit or clustering; no groups where a write replaces what it finds."""

    operation: str
    groups: tuple[ClusteringGroup, ...] = ()
    sort_columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CleanPlan:
    """Content of a requested clean. `files` pairs partition and file name."""

    earliest_to_retain: str | None
    files: frozenset[tuple[str, str]]
    policy: str = "KEEP_LATEST_COMMITS"
    partitions: frozenset[str] = frozenset()
    """Partitions that hold nothing any more and go whole."""


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """Content of a requested rollback: the instant to undo, the files to delete, the slices to append a command to."""

    target: InstantTime
    target_action: str
    files: frozenset[tuple[str, str]] = frozenset()
    commands: frozenset[tuple[str, str, InstantTime]] = frozenset()
    """Partition, file id and base instant of the version 6 slices whose logs get a rollback block."""


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """Content of a requested restore: the savepoint to go back to, and what is undone, newest first."""

    savepoint: InstantTime
    instants: tuple[InstantTime, ...]


@dataclass(frozen=True, slots=True)
class SavepointMetadata:
    """Content of a completed savepoint: the files it keeps, as partition and name."""

    files: frozenset[tuple[str, str]]
    comment: str = ""


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """Content of a requested or completed indexing: metadata partitions, and the last instant each holds."""

    partitions: tuple[str, ...]
    upto: InstantTime
    definitions: tuple["IndexDefinition", ...] = ()
    """Of those that their name does not say all about."""


@dataclass(frozen=True, slots=True)
class IndexDefinition:
    """An index: its metadata partition, its kind, the function of which columns; the fixed ones need no more."""

    name: str
    kind: str
    function: str = "identity"
    sources: tuple[str, ...] = ()
    is_partitioned: bool = False
    arguments: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class OtherContent:
    """Content that parses and that no rule of the model looks into."""


Plan: TypeAlias = CompactionPlan | ReplacePlan | CleanPlan | RollbackPlan | RestorePlan | IndexPlan
"""What a requested action is to do."""

Content: TypeAlias = (
    CommitMetadata | CleanMetadata | RollbackMetadata | SavepointMetadata | Plan | OtherContent | Damaged | None
)
"""None stands for an empty file."""


class Action(StrEnum):
    """The eleven kinds of action, as file names spell them.

    Clauses: TL-001.
    """

    COMMIT = "commit"
    DELTA_COMMIT = "deltacommit"
    REPLACE_COMMIT = "replacecommit"
    CLEAN = "clean"
    COMPACTION = "compaction"
    LOG_COMPACTION = "logcompaction"
    CLUSTERING = "clustering"
    INDEXING = "indexing"
    ROLLBACK = "rollback"
    SAVEPOINT = "savepoint"
    RESTORE = "restore"


class State(IntEnum):
    """How far an action has come.

    Clauses: TL-002.
    """

    REQUESTED = 0
    INFLIGHT = 1
    COMPLETED = 2


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One file of the timeline folder. `completed` is set where the file's name holds it (version 8 on)."""

    requested: InstantTime
    action: Action
    state: State
    completed: InstantTime | None
    content: Content
    name: str


@dataclass(frozen=True, slots=True)
class Instant:
    """One action as it stands: the highest state that its entries record."""

    requested: InstantTime
    action: Action
    state: State
    completed: InstantTime | None
    content: Content
