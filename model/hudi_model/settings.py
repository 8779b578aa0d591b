"""The settings of writers and table services: keys under `hoodie.`, with the released defaults.

Four differ: unless told a released writer is alone, rolls back what fails, fills small files, keeps a metadata table.
"""

from collections.abc import Mapping

from hudi_model.rejection import Reason, Rejection

DEFAULTS = {
    "hoodie.schema.on.read.enable": "false",
    "hoodie.keep.max.commits": "30",
    "hoodie.keep.min.commits": "20",
    "hoodie.archive.beyond.savepoint": "false",
    "hoodie.timeline.compaction.batch.size": "10",
    "hoodie.compact.inline.max.delta.commits": "5",
    "hoodie.log.compaction.blocks.threshold": "5",
    "hoodie.clustering.inline": "false",
    "hoodie.clustering.inline.max.commits": "4",
    "hoodie.clustering.async.enabled": "false",
    "hoodie.clustering.schedule.inline": "false",
    "hoodie.clustering.async.max.commits": "4",
    "hoodie.clustering.plan.strategy.small.file.limit": "314572800",
    "hoodie.clustering.plan.strategy.target.file.max.bytes": "1073741824",
    "hoodie.clustering.plan.strategy.max.num.groups": "30",
    "hoodie.clustering.plan.strategy.sort.columns": "",
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
    "hoodie.bucket.index.num.buckets": "4",
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
