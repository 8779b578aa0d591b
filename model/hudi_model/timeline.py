"""The timeline: actions, their states, and the instants that a folder of timeline files records."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from hudi_model.contents import (
    CleanMetadata,
    CommitMetadata,
    CompactionOperation,
    CompactionPlan,
    Content,
    OtherContent,
    RollbackMetadata,
    WriteStat,
)
from hudi_model.time import InstantTime

__all__ = [
    "Action",
    "CleanMetadata",
    "CommitMetadata",
    "CompactionOperation",
    "CompactionPlan",
    "Content",
    "Instant",
    "OtherContent",
    "RollbackMetadata",
    "State",
    "TimelineEntry",
    "WriteStat",
]


class Action(StrEnum):
    """The eleven kinds of action, as file names spell them."""

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
    """How far an action has come."""

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
