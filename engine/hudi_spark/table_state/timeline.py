"""The active timeline: which actions there are, in which state, and which of them a query sees."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from hudi_format.names import TimelineFileName, TimelineState, parse_timeline_file_name, refuse_no_file
from hudi_format.storage import Storage
from hudi_format.timeline.plans import CompactionPlan

from hudi_spark.errors import HudiError, Reason
from hudi_spark.table_state.configuration import TableConfiguration

Axis = Literal["requested", "completed"]

DATA_ACTIONS: Final = ("commit", "deltacommit", "replacecommit")
WRITE_ACTIONS: Final = (*DATA_ACTIONS, "compaction", "logcompaction", "clustering")

NO_TIME: Final = "00000000000000"
"""What instants begin with by which indexes of a metadata table begin."""
_STATES: Final[Mapping[TimelineState, int]] = {"REQUESTED": 0, "INFLIGHT": 1, "COMPLETED": 2}
# A container begins with its schema, which begins with its name.
_SCHEMA_HEAD: Final = 200


@dataclass(frozen=True, slots=True)
class ArchivedContent:
    """What the history keeps of an action: the bytes of its files, or what the log before version 8 made of them.

    `content` is what the completed file held, `plan` what the action was requested with; None where it is lost.
    `time`: before version 8, when the completed file was written.

    Clauses: HS-007, HS-010.
    """

    content: Any = None
    plan: Any = None
    time: str | None = None


@dataclass(frozen=True, slots=True)
class Instant:
    """One action of the timeline in its highest state.

    `action` is the word in the file name of that state: a completed compaction is a commit.
    `files` maps each state to its file; `completed` is None before table version 8 and while pending.
    `archived` is what the history holds, for an action that has left the active timeline; its one file is then the
    file of the history.

    Clauses: TL-004, TL-005, TL-006, HS-007.
    """

    requested: str
    action: str
    state: TimelineState
    completed: str | None
    files: Mapping[TimelineState, str] = field(hash=False, repr=False)
    archived: ArchivedContent | None = field(default=None, compare=False, repr=False)

    @property
    def is_completed(self) -> bool:
        """Whether the action has finished."""
        return self.state == "COMPLETED"

    @property
    def was_compaction(self) -> bool:
        """Whether the action was requested as a compaction, whatever it completed as.

        Clauses: TL-006.
        """
        if self.archived is not None:
            return is_compaction_plan(self.archived.plan)
        return any(".compaction." in path.rpartition("/")[2] for path in self.files.values())

    @property
    def is_savepoint(self) -> bool:
        """Whether the action keeps another one, whose time it has."""
        return self.action == "savepoint"

    @property
    def file(self) -> str:
        """Path of the file of the highest state."""
        return self.files[self.state]

    def at(self, axis: Axis) -> str:
        """Position on a time axis; without completion time the requested one stands for it."""
        return self.completed or self.requested if axis == "completed" else self.requested

    def __str__(self) -> str:
        completed = f" .. {self.completed}" if self.completed else ""
        return f"{self.requested}{completed} {self.action} {self.state}"


@dataclass(frozen=True, slots=True)
class Timeline:
    """All actions, ordered by requested time.

    `start`: the oldest write of the active timeline, where actions of the history stand before it.

    Clauses: TL-004, TL-013, TL-018.
    """

    instants: tuple[Instant, ...]
    start: str | None = None

    @property
    def one_of_each_time(self) -> tuple[Instant, ...]:
        """Of the actions of one time the write, and not the savepoint or the clean beside it; savepoints never.

        Clauses: TL-005, TL-010.
        """
        writes = {one.requested for one in self.instants if not beside(one.action)}
        others = (one for one in self.instants if not one.is_savepoint)
        return tuple(one for one in others if not beside(one.action) or one.requested not in writes)

    def completed_data(self) -> tuple[Instant, ...]:
        """Completed commits, deltacommits and replacecommits, in completion order where there are such times.

        Clauses: TL-013.
        """
        done = (instant for instant in self.instants if instant.is_completed and instant.action in DATA_ACTIONS)
        return tuple(sorted(done, key=lambda instant: (instant.at("completed"), instant.requested)))

    def pending(self, action: str) -> tuple[Instant, ...]:
        """Actions of this name that are requested or inflight."""
        return tuple(one for one in self.instants if one.action == action and not one.is_completed)

    def completed(self, action: str) -> tuple[Instant, ...]:
        """Completed actions of this name."""
        return tuple(one for one in self.instants if one.action == action and one.is_completed)

    def first_write(self) -> str | None:
        """Requested time of the oldest write; one that a savepoint keeps may stand alone before a gap.

        Where all are kept, the last of them is taken. The beginning of an index of a metadata table has no real time:
        only where there is nothing else is it the oldest.

        Clauses: TL-018, AR-006, MT-021.
        """
        kept = {one.requested for one in self.instants if one.is_savepoint}
        every = [one.requested for one in self.instants if one.action in WRITE_ACTIONS]
        writes = [one for one in every if not one.startswith(NO_TIME)] or every
        return min((one for one in writes if one not in kept), default=max(writes, default=None))

    def __str__(self) -> str:
        return "\n".join(str(instant) for instant in self.instants)


def is_compaction_plan(plan: Any) -> bool:
    """Whether the plan of an archived action, in either form, is that of a compaction.

    Clauses: TL-006, HS-007.
    """
    if isinstance(plan, bytes):
        return b"HoodieCompactionPlan" in plan[:_SCHEMA_HEAD]
    return isinstance(plan, CompactionPlan)


def load_timeline(storage: Storage, configuration: TableConfiguration) -> Timeline:
    """The active timeline of a table.

    Raises:
        FormatError: INSTANT_MALFORMED for a name that looks like an instant and is none, or an instant that is no file.
        HudiError: INSTANT_MALFORMED for two completed files of one action.

    Clauses: TL-004, TL-005, TL-006, TL-007, TL-008, TL-010, TL-016, PR-007.

    """
    gathered: dict[tuple[str, str], list[tuple[TimelineFileName, str]]] = {}
    for path in storage.list_no_files(configuration.timeline_folder):
        refuse_no_file(path, configuration.timeline_layout)
    for status in storage.list_files(configuration.timeline_folder, recursive=False):
        name = status.path.rpartition("/")[2]
        parsed = parse_timeline_file_name(name, configuration.timeline_layout, status.path)
        if parsed is not None:
            gathered.setdefault((parsed.requested, beside(parsed.action)), []).append((parsed, status.path))
    return Timeline(tuple(instant_of(gathered[key]) for key in sorted(gathered)))


def beside(action: str) -> str:
    """What an action is known by beside a write of its time: its name, if a savepoint or a clean; nothing otherwise.

    A savepoint has the time of the write that it keeps, a clean of an old release that of the write before it.

    Clauses: TL-005, TL-010.
    """
    return action if action in ("clean", "savepoint") else ""


def instant_of(found: list[tuple[TimelineFileName, str]]) -> Instant:
    """The action that files of one instant record, each as the parts of its name and its path.

    Raises:
        HudiError: INSTANT_MALFORMED for two completed files.

    Clauses: TL-004, TL-006, TL-012.

    """
    completed = [path for name, path in found if name.state == "COMPLETED"]
    if len(completed) > 1:
        message = f"the action completed twice: also {completed[0]}"
        hint = "find out which writer reused the instant; keep one of the files"
        raise HudiError(Reason.INSTANT_MALFORMED, "TL-012", message, completed[1], hint=hint)
    highest, _ = max(found, key=lambda pair: _STATES[pair[0].state])
    files = {name.state: path for name, path in found}
    return Instant(highest.requested, highest.action, highest.state, highest.completed, files)


@dataclass(frozen=True, slots=True)
class Visibility:
    """Which instants' files and blocks a query reads.

    `visible`: requested times of the completed data actions that count.
    `listed`: requested times of everything on the timeline; `first`: the oldest write of the active one.
    `undone`: what rollbacks and restores took off the timeline.
    `limit`: the as-of time, None for the latest state; `since`: what was written up to this time does not count.

    Clauses: RD-001, RD-002, RD-010, TL-017, TL-018, LF-016.
    """

    visible: frozenset[str]
    listed: frozenset[str]
    first: str | None
    undone: frozenset[str] = frozenset()
    limit: str | None = None
    since: str | None = None

    def sees(self, instant: str) -> bool:
        """Whether what `instant` wrote is read.

        Clauses: RD-002, TL-017, TL-018.
        """
        if instant in self.visible:
            return True
        if instant in self.listed or instant in self.undone or self.first is None:
            return False
        return instant < self.first and self.reaches(instant) and (self.since is None or instant > self.since)

    def reaches(self, time: str) -> bool:
        """Whether a time is not after the as-of time."""
        return self.limit is None or time <= self.limit


def visibility(timeline: Timeline, as_of: str | None, axis: Axis, undone: frozenset[str] = frozenset()) -> Visibility:
    """What a query as of a time sees of a timeline.

    A write that a savepoint keeps may stand alone before a gap, and is not taken for the first.

    Clauses: RD-001, RD-010, TL-010, TL-017, TL-018.
    """
    seen = visible_commits(timeline, as_of, axis)
    listed = (instant.requested for instant in timeline.instants if not beside(instant.action))
    return Visibility(_times(seen), frozenset(listed), timeline.start or timeline.first_write(), undone, as_of)


def visible_commits(timeline: Timeline, as_of: str | None, axis: Axis) -> tuple[Instant, ...]:
    """Completed data actions up to a time, in completion order.

    Clauses: RD-001, RD-010, TL-013.
    """
    return tuple(one for one in timeline.completed_data() if as_of is None or one.at(axis) <= as_of)


def _times(instants: Iterable[Instant]) -> frozenset[str]:
    return frozenset(instant.requested for instant in instants)
