"""The metadata table as its own services find it, under the lock of the data table."""

from dataclasses import dataclass, replace

from hudi_format.names import TimelineFileName, TimelineState
from hudi_format.storage import Storage

from hudi_spark.clock import Clock
from hudi_spark.effects.helper import Effects
from hudi_spark.flows.flow import Executor
from hudi_spark.indexing.instants import INSTANT_DIGITS, newest_time
from hudi_spark.indexing.layout import MetadataLayout
from hudi_spark.metadata.index_slices import slices_of_indexes
from hudi_spark.metadata.validity import counted_beside
from hudi_spark.options.resolving import Options
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.timeline import Instant, Timeline, Visibility, load_timeline


@dataclass(frozen=True, slots=True)
class DataTable:
    """What the services ask of the data table: its active timeline as it is now, and the indexes that it lists."""

    storage: Storage
    configuration: TableConfiguration
    timeline: Timeline
    indexes: tuple[str, ...]

    def pending(self) -> tuple[Instant, ...]:
        """The actions that have not completed, by requested time."""
        return tuple(one for one in self.timeline.instants if not one.is_completed)


@dataclass(frozen=True, slots=True)
class OwnTable:
    """The metadata table; `inside`, `configuration` and `timeline` are its own, `options` those of the writer.

    Clauses: MT-001, MT-015.
    """

    inside: Effects
    configuration: TableConfiguration
    timeline: Timeline
    layout: MetadataLayout
    data: DataTable
    options: Options
    executor: Executor
    clock: Clock

    def again(self) -> "OwnTable":
        """The same with the timeline as it is in storage now."""
        return replace(self, timeline=load_timeline(self.inside.storage, self.configuration))

    def now(self, after: str = "") -> str:
        """An instant after all that the timeline has, and after `after`.

        Clauses: TM-003, TM-005.
        """
        return self.clock.instant(max(newest_time(self.timeline), after))

    def begin(self, instant: str, action: str, plan: bytes, inflight: bytes = b"") -> None:
        """A service is requested with its plan, and inflight.

        Clauses: TL-002, TL-003.
        """
        self.put(instant, action, "REQUESTED", plan)
        self.put(instant, action, "INFLIGHT", inflight)

    def complete(self, instant: str, action: str, content: bytes) -> None:
        """A service counts from here on.

        Clauses: TL-003, TL-006.
        """
        self.put(instant, action, "COMPLETED", content)

    def put(self, instant: str, action: str, state: TimelineState, content: bytes) -> None:
        """A file of the timeline appears."""
        timed = state == "COMPLETED" and self.layout.has_completion_times
        completed = self.now(instant[:INSTANT_DIGITS]) if timed else None
        self.inside.create_instant(self.configuration, TimelineFileName(instant, action, state, completed), content)

    def slices(self) -> tuple[tuple[FileSlice, ...], Visibility]:
        """The current slices of the indexes that are listed, and which instants count beside the data table.

        Clauses: MT-006, MT-007.
        """
        found = slices_of_indexes(self.inside.storage, (self.configuration, self.timeline), self.data.indexes)
        data = self.data
        return found.slices, counted_beside(found.visibility, data.timeline, data.storage, data.configuration)

    def since(self, instant: str) -> int:
        """How many deltacommits completed after an instant; before version 8, were requested after it."""
        return sum(one.at("completed") > instant for one in self.timeline.completed("deltacommit"))

    def last(self, *actions: str) -> str:
        """The requested time of the last completed service that was requested as one of these; empty without one."""
        return max((one.requested for one in self.timeline.instants if requested_as(one, actions)), default="")


def requested_as(instant: Instant, actions: tuple[str, ...]) -> bool:
    """Whether a completed instant was requested as one of some actions; a commit can only be a compaction.

    Clauses: TL-006.
    """
    if instant.is_completed and instant.action == "commit":
        return "compaction" in actions
    names = (path.rpartition("/")[2] for path in instant.files.values())
    return instant.is_completed and any(f".{action}." in f"{name}." for name in names for action in actions)
