"""The services that a writer runs with its writes, as its options ask for them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork
from hudi_spark.effects.afterwards import afterwards
from hudi_spark.errors import typed_errors
from hudi_spark.services.archiving.inline import archive_inline, refuse_unarchivable
from hudi_spark.services.cleaning.inline import clean_inline
from hudi_spark.services.clustering.inline import cluster_inline, finish_clustering, refuse_contradiction
from hudi_spark.services.compaction.inline import compact_inline
from hudi_spark.services.restoring.before_writes import take_back_leftovers
from hudi_spark.services.time_to_live.dropping import drop_old_partitions_inline

_ENABLED: Final = "hoodie.table.services.enabled"

AFTER: Final[Mapping[str, Callable[[TableWork], None]]] = {
    "clean": clean_inline,
    "archive": archive_inline,
    "compaction": compact_inline,
    "clustering": cluster_inline,
    "drop old partitions": drop_old_partitions_inline,
}
"""What runs after a commit, in this order; each looks at the options itself."""


@dataclass(frozen=True, slots=True)
class InlineServices:
    """Dead writes are rolled back before a write; after it old files go, instants are archived, and services run.

    Clauses: RB-001, CN-001, AR-001, CP-001.
    """

    def before(self, work: TableWork) -> None:
        """Roll back what dead writers left, where the policy of failed writes is eager; finish what they clustered.

        Raises:
            HudiError: LOCK_UNAVAILABLE, LOCK_LOST; what an archival would refuse; options that contradict one
                another.

        """
        refuse_unarchivable(work)
        if work.options.flag(_ENABLED):
            refuse_contradiction(work)
        take_back_leftovers(work)
        if work.options.flag(_ENABLED):
            finish_clustering(work)

    def after(self, work: TableWork, outcome: Outcome) -> None:
        """Clean, archive, then compact and cluster: what the options ask for, and where it is due.

        A service that fails is noted in the outcome, and the others run; the write stands.

        Clauses: OW-010.

        """
        del outcome
        if not work.options.flag(_ENABLED):
            return
        for name, service in AFTER.items():
            with afterwards(name), typed_errors():
                service(work)
