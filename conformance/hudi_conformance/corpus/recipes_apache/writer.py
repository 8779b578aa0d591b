"""Drives one table through a bundle: writes, table services, failures."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hudi_conformance.apache.hudi_views import requested_time
from hudi_conformance.corpus.recipes_apache.orders import SCHEMA

COMMON = {
    "hoodie.metadata.enable": "false",
    "hoodie.embed.timeline.server": "false",
    "hoodie.write.markers.type": "DIRECT",
    "hoodie.clean.automatic": "false",
    "hoodie.compact.inline": "false",
    "hoodie.datasource.compaction.async.enable": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.insert.shuffle.parallelism": "1",
    "hoodie.upsert.shuffle.parallelism": "1",
    "hoodie.bulkinsert.shuffle.parallelism": "1",
    "hoodie.delete.shuffle.parallelism": "1",
    "hoodie.bloom.index.parallelism": "1",
    "hoodie.index.bloom.num_entries": "50",
    "hoodie.parquet.small.file.limit": "0",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "region",
    "hoodie.datasource.write.hive_style_partitioning": "true",
}
EVENT_TIME = {"hoodie.datasource.write.precombine.field": "ts"}
NOT_PARTITIONED = {
    "hoodie.datasource.write.partitionpath.field": "",
    "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
}
# A validator that cannot be loaded: files, markers and the inflight instant are written, the commit never happens.
_FAILURE = {"hoodie.precommit.validators": "org.apache.hudi.NoSuchValidator"}


class RecipeError(Exception):
    """A step of a recipe did not do what the recipe needs."""


class TableWriter:
    """One table under construction; options given once hold for every later step."""

    def __init__(self, session: Any, path: Path, table_type: str, table_version: int, bundle: str) -> None:
        self.session = session
        self.path = path
        self.version = table_version
        self.bundle = bundle
        self.schema = SCHEMA
        self._options = {
            **COMMON,
            "hoodie.table.name": "orders",
            "hoodie.datasource.write.table.type": table_type,
            **_version_options(table_version, bundle),
        }

    def configure(self, options: dict[str, str]) -> None:
        """Options from here on."""
        self._options.update(options)

    def order_by_event_time(self) -> None:
        """The greater ordering value wins; version 6 has a payload class that says so."""
        self.configure(EVENT_TIME)
        if self.version == 6:
            self.configure(payload("DefaultHoodieRecordPayload"))

    @property
    def options(self) -> dict[str, str]:
        """The options as they now stand."""
        return dict(self._options)

    def write(self, rows: Iterable[Sequence[Any]], operation: str = "upsert", **options: str) -> None:
        """One write; `options` use `__` for a dot."""
        frame = self.session.createDataFrame(list(rows), self.schema)
        self.write_frame(frame, operation, **options)

    def write_frame(self, frame: Any, operation: str = "upsert", **options: str) -> None:
        """One write of a data frame."""
        chosen = {**self._options, "hoodie.datasource.write.operation": operation, **_dotted(options)}
        frame.write.format("hudi").options(**chosen).mode("append").save(str(self.path))

    def upsert(self, rows: Iterable[Sequence[Any]], **options: str) -> None:
        """One upsert."""
        self.write(rows, "upsert", **options)

    def delete(self, rows: Iterable[Sequence[Any]], **options: str) -> None:
        """One delete of the rows' keys."""
        self.write(rows, "delete", **options)

    def fail(self, rows: Iterable[Sequence[Any]], operation: str = "upsert") -> None:
        """One write that dies after its files and before its commit."""
        frame = self.session.createDataFrame(list(rows), self.schema)
        chosen = {**self._options, "hoodie.datasource.write.operation": operation, **_FAILURE}
        writer = frame.write.format("hudi").options(**chosen).mode("append")
        try:
            writer.save(str(self.path))
        except Exception as wanted:
            if "NoSuchValidator" not in str(wanted):
                raise
            return
        raise RecipeError(f"{self.path}: the write that must fail did not")

    def call(self, procedure: str, **arguments: str) -> list[Any]:
        """One stored procedure on this table; the table's options go with it where the procedure takes any."""
        written = {"path": str(self.path), **arguments}
        listed = ", ".join(f"{name} => '{value}'" for name, value in written.items())
        return list(self.session.sql(f"CALL {procedure}({listed})").collect())

    def schedule_compaction(self) -> None:
        """A compaction plan over everything there is to compact."""
        self.call("run_compaction", op="schedule", options=self._service_options(_COMPACTION))

    def compact(self) -> None:
        """Run the pending compactions."""
        self.call("run_compaction", op="run", options=self._service_options(_COMPACTION))

    def cluster(self, op: str = "scheduleAndExecute") -> None:
        """Cluster all file groups of the table."""
        self.call("run_clustering", op=op, options=self._service_options(CLUSTERING))

    def instants(self) -> list[str]:
        """Requested times of the completed instants of the active timeline, in order."""
        jvm = self.session._jvm  # noqa: SLF001  py4j's door has no public name
        configuration = self.session._jsc.hadoopConfiguration()  # noqa: SLF001
        builder = jvm.org.apache.hudi.common.table.HoodieTableMetaClient.builder()
        client = builder.setConf(_storage_configuration(jvm, configuration)).setBasePath(str(self.path)).build()
        timeline = client.getActiveTimeline().filterCompletedInstants().getInstants()
        return [requested_time(timeline.get(index)) for index in range(timeline.size())]

    def _service_options(self, more: dict[str, str]) -> str:
        kept = {
            key: value for key, value in self._options.items() if key in _SERVICE_KEYS or key.startswith(_METADATA_KEYS)
        }
        return ",".join(f"{key}={value}" for key, value in {**kept, **more}.items())


_SERVICE_KEYS = (
    *(key for key in COMMON if not key.startswith("hoodie.datasource")),
    "hoodie.write.table.version",
    "hoodie.write.auto.upgrade",
    "hoodie.metadata.enable",
)
# Comma-separated values cannot be handed to a procedure.
_METADATA_KEYS = (
    "hoodie.metadata.record",
    "hoodie.metadata.index.bloom",
    "hoodie.metadata.index.column.stats.enable",
    "hoodie.metadata.compact",
)
_COMPACTION = {"hoodie.compact.inline.max.delta.commits": "1"}
CLUSTERING = {"hoodie.clustering.inline.max.commits": "1", "hoodie.clustering.async.max.commits": "1"}


def payload(name: str) -> dict[str, str]:
    """The options that choose a payload class by its short name."""
    full = f"org.apache.hudi.common.model.{name}"
    return {"hoodie.datasource.write.payload.class": full, "hoodie.compaction.payload.class": full}


def _version_options(table_version: int, bundle: str) -> dict[str, str]:
    if not bundle.startswith("1.1"):
        return {}
    return {"hoodie.write.table.version": str(table_version), "hoodie.write.auto.upgrade": "false"}


def _dotted(options: dict[str, str]) -> dict[str, str]:
    return {name.replace("__", "."): value for name, value in options.items()}


def _storage_configuration(jvm: Any, configuration: Any) -> Any:
    released = jvm.org.apache.hudi.storage.hadoop.HadoopStorageConfiguration
    return released(configuration) if callable(released) else configuration
