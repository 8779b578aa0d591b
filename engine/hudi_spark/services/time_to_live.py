"""Time to live: partitions that are older than they may be are deleted.

KEEP_BY_TIME             since the youngest slice of a partition began: logs make no slice younger
KEEP_BY_CREATION_TIME    since the partition was made

Clauses: CN-013, OW-018.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Final

from hudi_format.storage import Storage
from hudi_format.table.partition_metafile import metafile_form, parse_partition_metafile

from hudi_spark.concurrency import joined
from hudi_spark.errors import UnsupportedFeature
from hudi_spark.options import Options
from hudi_spark.table_state import Snapshot, groups_in_pending_plans
from hudi_spark.write import OPERATIONS, Outcome, TableWork, Write

_CLASS: Final = "hoodie.partition.ttl.strategy.class"
_TYPE: Final = "hoodie.partition.ttl.management.strategy.type"
DAYS_KEY: Final = "hoodie.partition.ttl.strategy.days.retain"
_SELECTED: Final = "hoodie.partition.ttl.strategy.partition.selected"
_MOST: Final = "hoodie.partition.ttl.strategy.max.delete.partitions"
# Instants of a bootstrap are no times.
_FIRST_DAY: Final = "1970"
_SECONDS: Final = "%Y%m%d%H%M%S"
_TYPES: Final = {"KeepByTimeStrategy": "KEEP_BY_TIME", "KeepByCreationTimeStrategy": "KEEP_BY_CREATION_TIME"}


def expired_partitions(storage: Storage, snapshot: Snapshot, options: Options, now: str) -> tuple[str, ...]:
    """The partitions to delete at an instant, oldest first; none where no number of days is given.

    A partition that a pending plan of a service is at work in stays until the plan has been carried out.

    Raises:
        UnsupportedFeature: a strategy of one's own.

    Clauses: CL-002, OW-018.

    """
    days = options.number(DAYS_KEY)
    if days <= 0 or not snapshot.configuration.partition_by:
        return ()
    limit = _earlier(now, days)
    busy = {partition for partition, _ in groups_in_pending_plans(storage, snapshot.timeline)}
    there = {one.partition for one in snapshot.slices} - busy
    selected = options.names(_SELECTED)
    candidates = sorted(there.intersection(selected) if selected else there)
    times = _made(storage, candidates) if _type(options) == _TYPES["KeepByCreationTimeStrategy"] else _written(snapshot)
    found = [(times[one], one) for one in candidates if _FIRST_DAY < times.get(one, "") < limit]
    return tuple(partition for _, partition in sorted(found)[: max(options.number(_MOST), 0)])


def _earlier(now: str, days: int) -> str:
    """The instant some days before another."""
    moment = datetime.strptime(now[:14], _SECONDS).replace(tzinfo=timezone.utc) - timedelta(days=days)
    return f"{moment.strftime(_SECONDS)}{now[14:]}"


def _type(options: Options) -> str:
    """The strategy; one that is named by its class goes first."""
    name = options.text(_CLASS).rpartition(".")[2]
    if name and name not in _TYPES:
        raise UnsupportedFeature(f"time-to-live-{name}", f"{_CLASS} may be one of {', '.join(_TYPES)}")
    return _TYPES[name] if name else options.text(_TYPE)


def _written(snapshot: Snapshot) -> Mapping[str, str]:
    """When the youngest slice of each partition began.

    Clauses: CN-013.
    """
    found: dict[str, str] = {}
    for one in snapshot.slices:
        found[one.partition] = max(one.base_instant, found.get(one.partition, ""))
    return found


def _made(storage: Storage, partitions: Iterable[str]) -> Mapping[str, str]:
    """When each partition was made; one whose file does not tell is never too old.

    Clauses: SL-002.
    """
    found = {}
    for partition in partitions:
        for file in storage.list_files(partition, recursive=False):
            form = metafile_form(file.path.rpartition("/")[2])
            if form is not None:
                path = joined(partition, file.path.rpartition("/")[2])
                found[partition] = parse_partition_metafile(storage.read(path), form, path).commit_time
    return found


_INLINE: Final = "hoodie.partition.ttl.inline"


def drop_old_partitions(work: TableWork) -> Outcome | None:
    """Delete the partitions that are older than the options let them become; None where there are none.

    Raises:
        HudiError: WRITE_CONFLICT where somebody wrote to one of them meanwhile.
        UnsupportedFeature: a strategy of one's own.

    Clauses: OW-018.

    """
    snapshot = work.snapshot()
    partitions = expired_partitions(work.storage, snapshot, work.options, work.clock.instant())
    if not partitions:
        return None
    write = Write(work, snapshot, OPERATIONS["delete_partition"])
    write.prepare(None)
    write.begin()
    write.stage(None, partitions)
    return write.commit()


def drop_old_partitions_inline(work: TableWork) -> None:
    """The same after a commit, where the options request it."""
    if work.options.flag(_INLINE):
        drop_old_partitions(work)
