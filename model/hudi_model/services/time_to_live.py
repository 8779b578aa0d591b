"""Time to live: partitions into which nothing was written for long enough are deleted, as by delete_partition."""

import datetime as dt

from hudi_model.effects import Effects, perform
from hudi_model.requests import Operation, Request, number
from hudi_model.services import plans
from hudi_model.slicing import snapshot_slices
from hudi_model.tables import RELEASED, Table
from hudi_model.time import InstantTime, instant_of, moment_of
from hudi_model.writers import begin, commit, stage

KEEP = "hoodie.partition.ttl.strategy."


def schedule(table: Table, requested: InstantTime, settings: plans.Settings) -> Effects:
    """A replacecommit for what has expired; none where nothing has.

    Clauses: CN-013, CN-014.
    """
    expired = expired_partitions(table, requested, settings)
    return begin(table, Request(Operation.DELETE_PARTITION, partitions=expired), requested)[1] if expired else ()


def expired_partitions(table: Table, now: InstantTime, settings: plans.Settings) -> tuple[str, ...]:
    """The partitions whose youngest slice is older than the days to keep; none where no days are set.

    Clauses: CN-013.
    """
    days, most = number(settings, f"{KEEP}days.retain"), number(settings, f"{KEEP}max.delete.partitions")
    limit = instant_of(moment_of(now) - dt.timedelta(days=days))
    slices = snapshot_slices(plans.view_before(table, now, RELEASED))
    young = {one.partition for one in slices if one.base_instant >= limit}
    return tuple(sorted({one.partition for one in slices} - young - {""})[:most]) if days > 0 else ()


def execute(table: Table, requested: InstantTime, completed: InstantTime, settings: plans.Settings) -> Effects:
    """The replacecommit of what had expired when it was requested.

    Raises: WRITE_CONFLICT.

    Clauses: CN-014.
    """
    if plans.is_completed(table, requested):
        return ()
    request = Request(Operation.DELETE_PARTITION, partitions=expired_partitions(table, requested, settings))
    ready, effects = stage(table, begin(table, request, requested)[0])
    return (*effects, *commit(perform(table, effects), ready, completed))
