"""The tables that writing cases make, and the settings that go with every step on them."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from hudi_conformance.corpus.table_shapes import SMALL_FILE_LIMIT, TableShape

COW: Final = "COPY_ON_WRITE"
MOR: Final = "MERGE_ON_READ"
VERSIONS: Final = (6, 8, 9)
AND_DRAFT: Final = (*VERSIONS, 10)
"""With the version that no release writes: only who speaks drafts is asked."""
ALONE: Final = {
    SMALL_FILE_LIMIT: "0",
    "hoodie.metadata.enable": "false",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.compact.inline": "false",
    "hoodie.clustering.inline": "false",
    "hoodie.index.type": "SIMPLE",
}
"""What would run with a write by itself does not: a service is a step of its own."""
PARQUET_LOGS: Final = {**ALONE, "hoodie.logfile.data.block.format": "parquet"}
SEVERAL_WRITERS: Final = {
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    "hoodie.clean.failed.writes.policy": "LAZY",
}
"""Several writers, who check each other."""
OPTIMISTIC: Final = {**ALONE, **SEVERAL_WRITERS}
NON_BLOCKING: Final = {
    **OPTIMISTIC,
    "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "2",
}
"""Several writers who only log, each key to its bucket."""
SHARED_LOCK: Final = {
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
    "hoodie.time.generator.max_expected_clock_skew_ms": "1",
}
"""A lock that processes share, for cases with more than one; they run on one machine, so on one clock."""
_SHORT: Final = {COW: "cow", MOR: "mor"}


def shapes(
    versions: Iterable[int] = VERSIONS,
    types: Iterable[str] = (COW, MOR),
    configs: Mapping[str, str] = ALONE,
    **traits: Any,
) -> tuple[TableShape, ...]:
    """A shape for each version and type: rides by city, merged by event time by default."""
    usual = {"partition_by": ("city",), "ordering": ("ts",), "merge_mode": "EVENT_TIME_ORDERING", **traits}
    return tuple(TableShape(version, kind, configs=configs, **usual) for version in versions for kind in types)


def requiring(
    versions: Iterable[int] = (6, 9), types: Iterable[str] = (COW, MOR), *, ordering: bool = True, **traits: Any
) -> tuple[TableShape, ...]:
    """Tables whose key and partition fields may not be null, nor, by default, their ordering field."""
    required = ("id", "city", "ts") if ordering else ("id", "city")
    return shapes(versions, types, required=required, label="required", **traits)


def short_name(shape: TableShape) -> str:
    """Label, type and version, as names of cases end."""
    return "_".join(filter(None, (shape.label, _SHORT[shape.table_type], f"v{shape.version}")))
