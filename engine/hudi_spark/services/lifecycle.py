"""The services that a writer runs with its writes, as its options ask for them."""

from dataclasses import dataclass

from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork


@dataclass(frozen=True, slots=True)
class InlineServices:
    """Dead writes are rolled back before a write; after it old files go, instants are archived, and services run.

    Clauses: RB-001, CN-001, AR-001, CP-001.
    """

    def before(self, work: TableWork) -> None:
        """Roll back what dead writers left, where the policy of failed writes is eager."""

    def after(self, work: TableWork, outcome: Outcome) -> None:
        """Clean, archive, then compact and cluster: what the options ask for, and where it is due."""
