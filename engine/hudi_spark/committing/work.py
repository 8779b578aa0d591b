"""Who acts on a table, and with what: everything that writes and services are given."""

import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from hudi_format.names import TimelineFileName
from hudi_format.storage import Storage

from hudi_spark.clock import AHEAD_KEY, Clock
from hudi_spark.committing.opening import snapshot_to_write
from hudi_spark.effects.helper import Effects
from hudi_spark.flows.flow import Executor
from hudi_spark.locks.holding import Holding, holding_of, table_lock
from hudi_spark.options.resolving import Options
from hudi_spark.readings import RELEASED, Readings
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.snapshots import Snapshot, load_table
from hudi_spark.state.timeline import Timeline

_INSTANT_DIGITS = 17


def new_file_id() -> str:
    """The id of a new file group.

    Clauses: SL-023.
    """
    return f"{uuid.uuid4()}-0"


@dataclass(frozen=True, slots=True)
class TableWork:
    """Work on one table: its storage through `effects`, who runs tasks, the options, and where instants come from.

    Clauses: OW-030.
    """

    effects: Effects
    executor: Executor
    options: Options
    clock: Clock
    readings: Readings = RELEASED
    file_ids: Callable[[], str] = new_file_id

    @property
    def storage(self) -> Storage:
        """Where the table lies."""
        return self.effects.storage

    def snapshot(self) -> Snapshot:
        """The newest completed state, read anew.

        Raises:
            HudiError: the reasons of a refused table; TABLE_VERSION_UNSUPPORTED.

        Clauses: OW-002.

        """
        return snapshot_to_write(self.storage, self.readings, self.options)

    def timeline(self) -> Timeline:
        """The timeline, read anew; no content of it.

        Raises:
            HudiError: the reasons of a refused table.

        Clauses: TL-004.

        """
        return load_table(self.storage)[1]

    def lock(self, holder: str) -> AbstractContextManager[Holding]:
        """Holds the table's lock.

        Raises:
            HudiError: LOCK_UNAVAILABLE.

        Clauses: LK-001, LK-003, LK-004.

        """
        return table_lock(self.effects, self.options, holder)

    def time(self, timeline: Timeline, after: str = "") -> str:
        """An instant after all that the timeline has, and after `after`; asked for under the lock.

        Raises:
            HudiError: CONFIG_INVALID when this computer's clock is far behind what others, or it, have shown, or the
                timeline is further ahead of it than the options allow.

        Clauses: TM-003, TM-004, TM-005, TM-007, TM-008.

        """
        known = (time for one in timeline.instants for time in (one.requested, one.completed or ""))
        newest = max((*(one[:_INSTANT_DIGITS] for one in known), after))
        holding = holding_of(self.storage.base)
        if holding is not None and holding.is_shared and not self.options.given(AHEAD_KEY):
            self.clock.wait_past(newest)
        else:
            self.clock.refuse_far_ahead(newest, self.options.number(AHEAD_KEY) / 1000)
        time = self.clock.instant(newest)
        if holding is not None:
            holding.showed_time()
        with self.effects.tell("generate_time", time=time):
            return time

    def request(
        self,
        configuration: TableConfiguration,
        timeline: Timeline,
        action: str,
        plan: bytes,
        announced: Callable[[str], None] | None = None,
    ) -> str:
        """An action is requested with its plan; the time that it is known by. Services do so under the lock.

        `announced` is called with the time before its file is there.

        Clauses: TL-002, TL-003, TM-007, LK-004.
        """
        requested = self.time(timeline)
        if announced is not None:
            announced(requested)
        self.effects.create_instant(configuration, TimelineFileName(requested, action, "REQUESTED"), plan)
        return requested
