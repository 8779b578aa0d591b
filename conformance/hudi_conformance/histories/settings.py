"""Which table a history is about, how its writers share it, and which services run beside them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from hudi_conformance.write_checks.cases import avro_schema

COLUMNS = (("id", "string"), ("day", "string"), ("ts", "int64"), ("note", "string"), ("amount", "float64"))
OPTIMISTIC, NON_BLOCKING = "OPTIMISTIC_CONCURRENCY_CONTROL", "NON_BLOCKING_CONCURRENCY_CONTROL"
MERGE_ON_READ = "MERGE_ON_READ"
_HEART = {
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.client.heartbeat.interval_in_ms": "500",
    "hoodie.client.heartbeat.tolerable.misses": "2",
}
# Small numbers, so that a short history sees every service at work.
_TRIGGERS = {
    "hoodie.compact.inline.max.delta.commits": "2",
    "hoodie.clustering.inline.max.commits": "3",
    "hoodie.clean.commits.retained": "12",
    "hoodie.keep.min.commits": "16",
    "hoodie.keep.max.commits": "20",
    "hoodie.timeline.compaction.batch.size": "3",
    "hoodie.parquet.small.file.limit": "0",
}
LOCK_PROVIDER = "hoodie.write.lock.provider"
LOCKS: Mapping[str, Mapping[str, str]] = {
    "file": {LOCK_PROVIDER: "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"},
    "storage": {LOCK_PROVIDER: "org.apache.hudi.client.transaction.lock.StorageBasedLockProvider"},
}
"""The lock providers that need no server; those that do get its address by further settings."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One kind of history.

    `lock`: a name for the lock provider, whose keys are in `configs`. `services`: what the keeper runs, in turn.
    """

    version: int
    table_type: str
    concurrency: str
    lock: str
    writers: int = 2
    services: tuple[str, ...] = ("clean", "archive")
    configs: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What it is called."""
        kind = "mor" if self.merge_on_read else "cow"
        how = "non-blocking" if self.non_blocking else "optimistic"
        return f"v{self.version}-{kind}-{how}-{self.lock}"

    @property
    def merge_on_read(self) -> bool:
        """Whether the table has logs."""
        return self.table_type == MERGE_ON_READ

    @property
    def non_blocking(self) -> bool:
        """Whether writers never refuse each other."""
        return self.concurrency == NON_BLOCKING

    @property
    def has_completion_times(self) -> bool:
        """Whether ranges are bounded by completion times, not by requested ones."""
        return self.version >= 8

    def create_params(self) -> dict[str, Any]:
        """The parameters of `create_table`."""
        merging = {"merge_mode": "EVENT_TIME_ORDERING"} if self.version >= 8 else {}
        payload = {"hoodie.compaction.payload.class": "org.apache.hudi.common.model.DefaultHoodieRecordPayload"}
        return {
            "name": "ledger",
            "schema": json.dumps(avro_schema(COLUMNS)),
            "table_type": self.table_type,
            "table_version": self.version,
            "record_key": ["id"],
            "partition_by": ["day"],
            "ordering": ["ts"],
            "properties": {} if merging else payload,
            **merging,
        }

    def write_configs(self) -> dict[str, str]:
        """The keys of every write and every service."""
        bucket = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
        kept = {"hoodie.metadata.enable": "true", "hoodie.write.concurrency.mode": self.concurrency}
        return {**_HEART, **_TRIGGERS, **kept, **(bucket if self.non_blocking else {}), **self.configs}


def settings_for(lock: str, lock_configs: Mapping[str, str]) -> tuple[Setting, ...]:
    """The matrix of one lock provider: versions, table types, ways to share."""
    found = []
    for version, table_type in product((6, 8, 9), ("COPY_ON_WRITE", MERGE_ON_READ)):
        logged = ("compaction",) if table_type == MERGE_ON_READ else ()
        services = (*logged, "clean", "clustering", "archive")
        found.append(Setting(version, table_type, OPTIMISTIC, lock, services=services, configs=lock_configs))
        if logged and version >= 8:
            told = ("compaction", "clean", "archive")
            found.append(Setting(version, table_type, NON_BLOCKING, lock, services=told, configs=lock_configs))
    return tuple(found)
