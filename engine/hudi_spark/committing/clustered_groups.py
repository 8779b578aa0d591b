"""Writes to file groups that a pending clustering is going to replace.

Clauses: OW-011, CL-005.
"""

from typing import Final

from hudi_adapter.reasons import Reason
from hudi_format.storage import Storage

from hudi_spark.committing.attempts import give_up
from hudi_spark.committing.work import TableWork
from hudi_spark.errors import HudiError
from hudi_spark.options.resolving import Options
from hudi_spark.state.commits import GroupId
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.pending_plans import pending_clusterings
from hudi_spark.state.timeline import Timeline, load_timeline

_STRATEGY: Final = "hoodie.clustering.updates.strategy"
_REJECTS: Final = "SparkRejectUpdateStrategy"
_GIVES_UP: Final = "hoodie.clustering.rollback.pending.replacecommit.on.conflict"


def refuse_clustered(storage: Storage, options: Options, timeline: Timeline, groups: frozenset[GroupId]) -> None:
    """Nothing where no pending clustering has planned one of the groups, or the options let a write go on.

    Where they do, the clustering does not complete.

    Raises:
        HudiError: WRITE_CONFLICT naming the clustering and a group.

    Clauses: OW-011.

    """
    if options.text(_STRATEGY).rpartition(".")[2] != _REJECTS:
        return
    for group, instant in sorted(pending_clusterings(storage, timeline).items()):
        if group in groups:
            where = "/".join(part for part in group if part)
            message = f"the clustering {instant.requested}, which has not completed, is to replace file group {where}"
            hint = f"write again once it has; or let {_STRATEGY} allow it, and the clustering will not complete"
            raise HudiError(Reason.WRITE_CONFLICT, "OW-011", message, instant.file, hint=hint)


def meet_clusterings(work: TableWork, configuration: TableConfiguration, groups: frozenset[GroupId]) -> None:
    """What a write does about pending clusterings of its groups before it writes: refused, or they are given up.

    Raises:
        HudiError: WRITE_CONFLICT.

    Clauses: OW-011.

    """
    timeline = load_timeline(work.storage, configuration)
    refuse_clustered(work.storage, work.options, timeline, groups)
    if work.options.flag(_GIVES_UP):
        met = {one.requested for group, one in pending_clusterings(work.storage, timeline).items() if group in groups}
        for requested in sorted(met):
            give_up(work, configuration, requested)
