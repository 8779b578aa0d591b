"""What surrounds a write: done before it begins, and after it has completed."""

from dataclasses import dataclass
from typing import Protocol

from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork


class Lifecycle(Protocol):
    """Table services that a writer runs with its writes."""

    def before(self, work: TableWork) -> None:
        """A write is about to begin: what dead ones left goes, where that is this writer's affair."""

    def after(self, work: TableWork, outcome: Outcome) -> None:
        """A write has completed: the services that the options ask for."""


@dataclass(frozen=True, slots=True)
class Alone:
    """No service runs with the writes."""

    def before(self, work: TableWork) -> None:
        """Nothing."""

    def after(self, work: TableWork, outcome: Outcome) -> None:
        """Nothing."""
