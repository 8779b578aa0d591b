"""Which table a stress run is about, how its writers share it, and which services run beside them."""

import json
from dataclasses import dataclass
from itertools import product
from typing import Any

from hudi_conformance.corpus.table_shapes import avro_of
from hudi_conformance.interop.stress.locks import PROVIDERS

COLUMNS = (("id", "string"), ("day", "string"), ("ts", "int64"), ("note", "string"), ("amount", "float64"))
OPTIMISTIC, NON_BLOCKING = "OPTIMISTIC_CONCURRENCY_CONTROL", "NON_BLOCKING_CONCURRENCY_CONTROL"
MERGE_ON_READ = "MERGE_ON_READ"
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
IN_PROCESS, SPARK = "in-process", "spark"
SAMPLED = ("v8-cow-optimistic", "v9-mor-non-blocking")
"""Kinds that stand for all: a table without logs whose writers refuse each other, one with logs whose do not."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One kind of stress run.

    `lock`: who locks the table, a name of `locks.PROVIDERS`. `services`: what the keeper runs, in turn. `executor`:
    what runs the work of every process.
    """

    version: int
    table_type: str
    concurrency: str
    lock: str
    writers: int = 2
    services: tuple[str, ...] = ("clean", "archive")
    executor: str = IN_PROCESS

    @property
    def name(self) -> str:
        """What it is called."""
        return "-".join((self.kind, self.lock, *((SPARK,) if self.on_spark else ())))

    @property
    def kind(self) -> str:
        """What table it is and how it is shared."""
        kind = "mor" if self.merge_on_read else "cow"
        how = "non-blocking" if self.non_blocking else "optimistic"
        return f"v{self.version}-{kind}-{how}"

    @property
    def on_spark(self) -> bool:
        """Whether every process has a Spark session, in which it is slower by far."""
        return self.executor == SPARK

    @property
    def heartbeat_s(self) -> float:
        """For how long a heartbeat may stop, in seconds, before its write counts as failed."""
        return 3.0 if self.on_spark else 1.0

    @property
    def lives(self) -> tuple[int, int]:
        """How many effects a process that is to be killed has, at least and at most."""
        return (15, 60) if self.on_spark else (5, 120)

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
            "schema": json.dumps(avro_of(COLUMNS)),
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
        heartbeat = {
            "hoodie.clean.failed.writes.policy": "LAZY",
            "hoodie.client.heartbeat.interval_in_ms": f"{self.heartbeat_s * 500:.0f}",
            "hoodie.client.heartbeat.tolerable.misses": "2",
        }
        return {**heartbeat, **_TRIGGERS, **kept, **(bucket if self.non_blocking else {})}


def settings_for(lock: str, executor: str = IN_PROCESS) -> tuple[Setting, ...]:
    """The matrix of one lock provider: versions, table types, ways to share."""
    found = []
    for version, table_type in product((6, 8, 9), ("COPY_ON_WRITE", MERGE_ON_READ)):
        logged = ("compaction",) if table_type == MERGE_ON_READ else ()
        services = (*logged, "clean", "clustering", "archive")
        found.append(Setting(version, table_type, OPTIMISTIC, lock, services=services, executor=executor))
        if logged and version >= 8:
            planned = ("compaction", "clean", "archive")
            found.append(Setting(version, table_type, NON_BLOCKING, lock, services=planned, executor=executor))
    return tuple(found)


def every_setting() -> dict[str, Setting]:
    """All of them by name: the matrix of every lock provider, and the one on Spark."""
    matrices = (*(settings_for(lock) for lock in PROVIDERS), settings_for(PROVIDERS[0], SPARK))
    return {one.name: one for matrix in matrices for one in matrix}


def soaked_settings() -> tuple[Setting, ...]:
    """The whole matrix under one lock provider, and a part of it under every other one and on Spark."""
    first, *others = PROVIDERS
    further = (*(one for lock in others for one in settings_for(lock)), *settings_for(first, SPARK))
    return (*settings_for(first), *(one for one in further if one.kind in SAMPLED))
