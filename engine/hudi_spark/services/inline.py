"""The services that a writer runs with its writes: before them what died is taken back, after them what is due.

Clauses: CL-008, CP-015, CP-008, LC-008.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from hudi_spark.concurrency import afterwards
from hudi_spark.errors import HudiError, Reason, typed_errors
from hudi_spark.services import running
from hudi_spark.services.archiving import MOST, archive, refuse_bad_limits
from hudi_spark.services.cleaning import clean
from hudi_spark.services.log_compaction import is_due_inline
from hudi_spark.services.restore import SAVEPOINT, finish_restores, remove_half_made
from hudi_spark.services.rollback import look, roll_back_failed_writes
from hudi_spark.services.rollback_planning import RESTORE
from hudi_spark.services.time_to_live import drop_old_partitions_inline
from hudi_spark.table_state import (
    COMPACTION,
    LOG_COMPACTION,
    load_configuration,
    load_table,
    load_timeline,
    pending_clusterings,
)
from hudi_spark.write import Outcome, TableWork


def take_back_leftovers(work: TableWork) -> None:
    """Finish what somebody began to undo; roll failed writes back where the policy is eager.

    Raises:
        HudiError: LOCK_UNAVAILABLE, LOCK_LOST.

    Clauses: RB-001, RB-004, SR-003, SR-006.

    """
    seen = look(work, "EAGER")
    if seen.timeline.pending(RESTORE):
        finish_restores(work)
        seen = look(work, "EAGER")
    if seen.timeline.pending(SAVEPOINT):
        with work.lock(SAVEPOINT):
            remove_half_made(work, *load_table(work.storage))
    roll_back_failed_writes(work, "EAGER", seen)


_AUTOMATIC: Final = "hoodie.archive.automatic"


def archive_inline(work: TableWork) -> None:
    """Archive where there are too many writes, unless the options say that somebody else does.

    Without too many nothing is asked of the history: what an interrupted archival left is in nobody's way till then.

    Raises:
        HudiError: as `archive`.

    Clauses: AR-001, AR-003.

    """
    if not work.options.flag(_AUTOMATIC):
        return
    if len(work.timeline().completed_data()) > work.options.number(MOST):
        archive(work)


def refuse_unarchivable(work: TableWork) -> None:
    """Nothing, unless the archival after a write is going to refuse its options: that is reported before the write.

    Raises:
        HudiError: CONFIG_INVALID.

    Clauses: AR-003.

    """
    if work.options.flag(_AUTOMATIC):
        refuse_bad_limits(work.options)


def clean_inline(work: TableWork) -> None:
    """Clean, unless the options say that somebody else does.

    Raises:
        HudiError: as `clean`.

    Clauses: CN-001, CN-012.

    """
    if work.options.flag("hoodie.clean.automatic"):
        clean(work)


_SERVICE: Final = "clustering"
_CLUSTER: Final = "hoodie.clustering.inline"
_SCHEDULE_CLUSTERING: Final = "hoodie.clustering.schedule.inline"
_BESIDE: Final = "hoodie.clustering.async.enabled"
_COMPACT: Final = "hoodie.compact.inline"
_SCHEDULE_COMPACTION: Final = "hoodie.compact.schedule.inline"


def cluster_inline(work: TableWork) -> None:
    """What the options request: cluster, plans that wait first; or only plan, unless a plan waits.

    Raises:
        HudiError: as the service.

    Clauses: CL-003, CL-008.

    """
    inline, only_schedules = (work.options.flag(key) for key in (_CLUSTER, _SCHEDULE_CLUSTERING))
    if inline:
        running.run(work, _SERVICE)
    elif (only_schedules or work.options.flag(_BESIDE)) and not _one_waits(work):
        running.schedule(work, _SERVICE)


def refuse_contradiction(work: TableWork) -> None:
    """Nothing, unless the options request both: a service, and only to plan it; that is refused before the write.

    Raises:
        HudiError: CONFIG_INVALID.

    Clauses: CP-015.

    """
    for runs, plans in ((_CLUSTER, _SCHEDULE_CLUSTERING), (_COMPACT, _SCHEDULE_COMPACTION)):
        if work.options.flag(runs) and work.options.flag(plans):
            hint = "a writer either carries a service out or only plans it"
            raise HudiError(Reason.CONFIG_INVALID, "CP-015", f"{runs} and {plans} are both true", hint=hint)


def finish_clustering(work: TableWork) -> None:
    """What a writer that clusters left when it died is carried out by the next one that does, before it writes.

    The groups of a plan that waits take no updates: without this the next write to them would be refused.

    Raises:
        HudiError: as the service.

    Clauses: CL-003, CL-008, OW-011.

    """
    if work.options.flag(_CLUSTER) and _one_waits(work):
        running.finish_waiting(work, _SERVICE)


def _one_waits(work: TableWork) -> bool:
    return bool(pending_clusterings(work.storage, work.timeline()))


_COMPACT_LOGS: Final = "hoodie.log.compaction.inline"


def compact_inline(work: TableWork) -> None:
    """What the options request: compact, plans that wait first; or only plan, unless a plan waits; compact logs.

    Nothing for copy-on-write tables, whose writers may have the same options.

    Raises:
        HudiError: as the services.

    Clauses: CP-001, CP-002, CP-008, CP-015, LC-008.

    """
    options = work.options
    if not any(options.flag(key) for key in (_COMPACT, _SCHEDULE_COMPACTION, _COMPACT_LOGS)):
        return
    configuration = load_configuration(work.storage)
    if configuration.table_type != "MERGE_ON_READ":
        return
    if options.flag(_COMPACT):
        running.run(work, COMPACTION)
    elif options.flag(_SCHEDULE_COMPACTION) and not load_timeline(work.storage, configuration).pending(COMPACTION):
        running.schedule(work, COMPACTION)
    if options.flag(_COMPACT_LOGS) and is_due_inline(load_timeline(work.storage, configuration), options):
        running.run(work, LOG_COMPACTION)


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
    """Failed writes are rolled back before a write; after it old files go, instants are archived, and services run.

    Clauses: RB-001, CN-001, AR-001, CP-001.
    """

    def before(self, work: TableWork) -> None:
        """Roll back what failed writers left, where the policy of failed writes is eager; finish what they clustered.

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
        """Clean, archive, then compact and cluster: what the options request, and where it is due.

        A service that fails is noted in the outcome, and the others run; the write stands.

        Clauses: OW-010.

        """
        del outcome
        if not work.options.flag(_ENABLED):
            return
        for name, service in AFTER.items():
            with afterwards(name), typed_errors():
                service(work)
