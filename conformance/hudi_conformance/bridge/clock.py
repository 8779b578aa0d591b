"""The clock of writing ops: one generator of instants, pushed past everything that a table's timeline holds."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hudi_model.effects import generate_shared
from hudi_model.queries import query_instant
from hudi_model.tables import Table
from hudi_model.time import InstantTime, instant_of


@dataclass(frozen=True, slots=True)
class Clock:
    """The moment that a request sets by `now`, else the real one, in UTC."""

    params: Mapping[str, Any]

    def next(self, table: Table) -> InstantTime:
        """An instant later than every request and completion on the timeline."""
        times = [entry.requested for entry in table.timeline]
        times += [entry.completed for entry in table.timeline if entry.completed]
        return generate_shared(max(times, default=None), self._now())

    def after(self, instant: InstantTime) -> InstantTime:
        """An instant later than one that was just given out."""
        return generate_shared(instant, self._now())

    def _now(self) -> InstantTime:
        given = self.params.get("now")
        return query_instant(str(given)) if given is not None else instant_of(dt.datetime.now(dt.timezone.utc))
