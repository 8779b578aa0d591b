"""Actions and their states, and what the files of a timeline record of them."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from hudi_model.contents import Content
from hudi_model.time import InstantTime


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
