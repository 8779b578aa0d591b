"""What a writer requests, a write between its phases, and the settings of writers and table services.

Settings are keys under `hoodie.`, with the released defaults. Four differ: by default a released writer is alone, rolls
back what fails, fills small files, keeps a metadata table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hudi_model.actions import Action, CommitMetadata
from hudi_model.files import Record, Schema
from hudi_model.rejection import Reason, Rejection, StrEnum
from hudi_model.time import InstantTime

DEFAULTS = {
    "hoodie.schema.on.read.enable": "false",
    "hoodie.keep.max.commits": "30",
    "hoodie.keep.min.commits": "20",
    "hoodie.archive.beyond.savepoint": "false",
    "hoodie.timeline.compaction.batch.size": "10",
    "hoodie.compact.inline.max.delta.commits": "5",
    "hoodie.compact.inline.max.delta.seconds": "3600",
    "hoodie.compact.inline.trigger.strategy": "NUM_COMMITS",
    "hoodie.compaction.strategy": "LogFileSizeBasedCompactionStrategy",
    "hoodie.compaction.logfile.num.threshold": "0",
    "hoodie.compaction.daybased.target.partitions": "10",
    "hoodie.compaction.partition.path.regex": "",
    "hoodie.log.compaction.blocks.threshold": "5",
    "hoodie.clustering.inline": "false",
    "hoodie.clustering.inline.max.commits": "4",
    "hoodie.clustering.async.enabled": "false",
    "hoodie.clustering.schedule.inline": "false",
    "hoodie.clustering.async.max.commits": "4",
    "hoodie.clustering.plan.strategy.small.file.limit": "314572800",
    "hoodie.clustering.plan.strategy.target.file.max.bytes": "1073741824",
    "hoodie.clustering.plan.strategy.max.num.groups": "30",
    "hoodie.clustering.plan.strategy.single.group.clustering.enabled": "true",
    "hoodie.clustering.plan.strategy.sort.columns": "",
    "hoodie.clustering.plan.strategy.partition.selected": "",
    "hoodie.clustering.plan.strategy.partition.regex.pattern": "",
    "hoodie.clustering.plan.strategy.cluster.begin.partition": "",
    "hoodie.clustering.plan.strategy.cluster.end.partition": "",
    "hoodie.clustering.plan.strategy.daybased.lookback.partitions": "2",
    "hoodie.clustering.plan.strategy.daybased.skipfromlatest.partitions": "0",
    "hoodie.clustering.plan.partition.filter.mode": "NONE",
    "hoodie.clean.policy": "KEEP_LATEST_COMMITS",
    "hoodie.clean.commits.retained": "10",
    "hoodie.clean.hours.retained": "24",
    "hoodie.clean.fileversions.retained": "3",
    "hoodie.clean.trigger.max.commits": "1",
    "hoodie.partition.ttl.strategy.days.retain": "-1",
    "hoodie.partition.ttl.strategy.max.delete.partitions": "1000",
    "hoodie.metadata.enable": "",
    "hoodie.metadata.index.bloom.filter.enable": "false",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.metadata.index.partition.stats.enable": "false",
    "hoodie.metadata.record.index.enable": "false",
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.client.heartbeat.interval_in_ms": "60000",
    "hoodie.client.heartbeat.tolerable.misses": "2",
    "hoodie.rollback.using.markers": "true",
    "hoodie.combine.before.insert": "false",
    "hoodie.merge.allow.duplicate.on.inserts": "true",
    "hoodie.combine.before.upsert": "true",
    "hoodie.combine.before.delete": "true",
    "hoodie.index.type": "SIMPLE",
    "hoodie.index.bucket.engine": "SIMPLE",
    "hoodie.bucket.index.num.buckets": "4",
    "hoodie.bucket.index.partition.expressions": "",
    "hoodie.bucket.index.partition.rule.type": "regex",
    "hoodie.bucket.index.hash.field": "",
    "hoodie.simple.index.update.partition.path": "true",
    "hoodie.bloom.index.update.partition.path": "true",
    "hoodie.record.index.update.partition.path": "false",
    "hoodie.parquet.small.file.limit": "0",
    "hoodie.write.concurrency.record.key.check": "false",
    "hoodie.clustering.updates.strategy": "SparkRejectUpdateStrategy",
}
"""What a setting means where it is absent."""


def setting(settings: Mapping[str, str], name: str) -> str:
    """A setting, or its default.

    Clauses: OW-030.
    """
    return settings.get(name, DEFAULTS[name])


def number(settings: Mapping[str, str], name: str) -> int:
    """A setting that is a whole number.

    Raises: CONFIG_INVALID.

    Clauses: OW-030.
    """
    text = setting(settings, name)
    if not text.removeprefix("-").isdecimal():
        raise Rejection(Reason.CONFIG_INVALID, "OW-030", name, f"{text!r} is no number")
    return int(text)


def switch(settings: Mapping[str, str], name: str) -> bool:
    """A setting that is on or off.

    Clauses: OW-030.
    """
    return setting(settings, name).lower() == "true"


class Operation(StrEnum):
    """What a write does with its rows.

    Clauses: OW-014.
    """

    INSERT = "insert"
    UPSERT = "upsert"
    BULK_INSERT = "bulk_insert"
    DELETE = "delete"
    INSERT_OVERWRITE = "insert_overwrite"
    INSERT_OVERWRITE_TABLE = "insert_overwrite_table"
    DELETE_PARTITION = "delete_partition"
    PARTIAL_UPDATE = "partial_update"


REPLACES = frozenset({Operation.INSERT_OVERWRITE, Operation.INSERT_OVERWRITE_TABLE, Operation.DELETE_PARTITION})
ADDS = REPLACES | {Operation.INSERT, Operation.BULK_INSERT}
"""The operations whose rows are added as they come, whatever has their keys."""


@dataclass(frozen=True, slots=True)
class Request:
    """An operation on rows with the user's columns only; those of a delete hold no more than key and partition."""

    operation: Operation
    rows: tuple[Record, ...] = ()
    partitions: tuple[str, ...] = ()
    schema: Schema | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Write:
    """A transaction between its phases. `seen` are the actions that had completed when it began."""

    requested: InstantTime
    action: Action
    request: Request
    metadata: CommitMetadata | None = None
    seen: frozenset[InstantTime] = frozenset()
