"""The services that a writer runs with its writes, as its options ask for them."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from hudi_format.errors import FormatError

from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork
from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.services.archiving.inline import archive_inline, refuse_unarchivable
from hudi_spark.services.cleaning.inline import clean_inline
from hudi_spark.services.clustering.inline import cluster_inline, finish_clustering
from hudi_spark.services.compaction.inline import compact_inline
from hudi_spark.services.restoring.before_writes import take_back_leftovers
from hudi_spark.services.time_to_live.dropping import drop_old_partitions_inline

_ENABLED: Final = "hoodie.table.services.enabled"
_FAIL: Final = "hoodie.fail.writes.on.inline.table.service.exception"

AFTER: Final[tuple[Callable[[TableWork], None], ...]] = (
    clean_inline,
    archive_inline,
    compact_inline,
    cluster_inline,
    drop_old_partitions_inline,
)
"""What runs after a commit, in this order; each looks at the options itself."""


class ServiceWarning(UserWarning):
    """A service after a commit failed; the commit stands, and the options say that the writer is not to fail."""


@dataclass(frozen=True, slots=True)
class InlineServices:
    """Dead writes are rolled back before a write; after it old files go, instants are archived, and services run.

    Clauses: RB-001, CN-001, AR-001, CP-001.
    """

    def before(self, work: TableWork) -> None:
        """Roll back what dead writers left, where the policy of failed writes is eager; finish what they clustered.

        Raises:
            HudiError: LOCK_UNAVAILABLE, LOCK_LOST; what an archival would refuse.

        """
        refuse_unarchivable(work)
        take_back_leftovers(work)
        if work.options.flag(_ENABLED):
            finish_clustering(work)

    def after(self, work: TableWork, outcome: Outcome) -> None:
        """Clean, archive, then compact and cluster: what the options ask for, and where it is due.

        Raises:
            HudiError: as the services, unless the options say that they fail no write.

        """
        if not work.options.flag(_ENABLED):
            return
        for service in AFTER:
            try:
                service(work)
            except (HudiError, FormatError, UnsupportedFeature, OSError) as error:
                if work.options.flag(_FAIL):
                    raise
                message = f"after {outcome.operation} {outcome.requested}, which stands: {error}"
                warnings.warn(message, ServiceWarning, stacklevel=2)
