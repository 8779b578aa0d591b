"""What a table service is: it makes a plan under the table's lock, and somebody carries the plan out, then or later."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Instant


@dataclass(frozen=True, slots=True)
class ServicePlan:
    """What a service is going to do: the action of its requested file, and what this file holds.

    Clauses: TL-033, CP-001.
    """

    action: str
    content: bytes = field(repr=False)


class Service(Protocol):
    """One kind of table service."""

    def plan(self, work: TableWork, snapshot: Snapshot, asked: Mapping[str, Any]) -> ServicePlan | None:
        """What is to be done now, by the options' triggers and strategies; None where there is nothing.

        Called under the lock. `asked`: what the caller names besides the options.
        """

    def owns(self, work: TableWork, pending: Instant) -> bool:
        """Whether a pending action is a plan of this service."""

    def execute(self, work: TableWork, pending: Instant) -> Outcome:
        """Carry out a plan that is requested, or inflight and left by whoever died over it; takes the lock to finish.

        Raises:
            HudiError: WRITE_CONFLICT where what completed meanwhile does not leave the plan standing.

        """
