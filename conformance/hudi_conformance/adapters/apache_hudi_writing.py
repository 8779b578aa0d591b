"""The protocol's writing ops, done by Apache Hudi: tables made by its builder, writes through its Spark data source."""

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from hudi_adapter.filters import parse_filter
from hudi_adapter.protocol import Answer, Rejected, Request, Unsupported, ValueAnswer
from hudi_adapter.reasons import Reason
from hudi_adapter.rows import arrow_of_rows, read_rows
from hudi_format.table.properties import parse_properties

from hudi_conformance.apache import hudi_views
from hudi_conformance.apache.spark_filters import spark_condition

PROPERTIES = ".hoodie/hoodie.properties"
_PLAIN = {
    "hoodie.embed.timeline.server": "false",
    "hoodie.write.markers.type": "DIRECT",
    "hoodie.metadata.enable": "false",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    # The data source compacts after every fifth write by default.
    "hoodie.compact.inline": "false",
    "hoodie.insert.shuffle.parallelism": "1",
    "hoodie.upsert.shuffle.parallelism": "1",
    "hoodie.bulkinsert.shuffle.parallelism": "1",
    "hoodie.delete.shuffle.parallelism": "1",
    "hoodie.bloom.index.parallelism": "1",
    "hoodie.write.auto.upgrade": "false",
    # Releases have encoded a single key field in two ways; 1.1.1 asks which one it was, by default.
    "hoodie.write.complex.keygen.validation.enable": "false",
    # Writers of one process share the lock that the process has; only those take it that may not be alone.
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
}
_GENERATORS = {
    "SIMPLE": "SimpleKeyGenerator",
    "COMPLEX": "ComplexKeyGenerator",
    "NON_PARTITION": "NonpartitionedKeyGenerator",
    "TIMESTAMP": "TimestampBasedKeyGenerator",
    "CUSTOM": "CustomKeyGenerator",
}
_TIMED = "hoodie.keygen.timebased."
OPERATIONS = {
    "insert",
    "upsert",
    "bulk_insert",
    "delete",
    "insert_overwrite",
    "insert_overwrite_table",
    "delete_partition",
    "partial_update",
}
# What the data source receives from a table's properties, wherever it has them.
_PASSED_OPTIONS = {
    "hoodie.table.name": "hoodie.table.name",
    "hoodie.datasource.write.table.type": "hoodie.table.type",
    "hoodie.datasource.write.recordkey.field": "hoodie.table.recordkey.fields",
    "hoodie.datasource.write.hive_style_partitioning": "hoodie.datasource.write.hive_style_partitioning",
    "hoodie.datasource.write.partitionpath.urlencode": "hoodie.datasource.write.partitionpath.urlencode",
    "hoodie.populate.meta.fields": "hoodie.populate.meta.fields",
    "hoodie.table.cdc.enabled": "hoodie.table.cdc.enabled",
    "hoodie.table.cdc.supplemental.logging.mode": "hoodie.table.cdc.supplemental.logging.mode",
}
# Before merge modes a payload class said the same, and a writer has a default of its own instead of the table's.
_PASSED_BEFORE_MODES = {"hoodie.datasource.write.payload.class": "hoodie.compaction.payload.class"}
_PAYLOADS = {
    "EVENT_TIME_ORDERING": "DefaultHoodieRecordPayload",
    "COMMIT_TIME_ORDERING": "OverwriteWithLatestAvroPayload",
}
_numbers = itertools.count(1)


def create_table(session: Any, release: str, request: Request) -> Answer:
    """A new table, made by the builder of the release with the properties that a first write would give it."""
    params = request.params
    keys, partitions = list(params["record_key"]), list(params.get("partition_by") or ())
    clients = session._jvm.org.apache.hudi.common.table.HoodieTableMetaClient  # noqa: SLF001
    builder = clients.withPropertyBuilder() if release.startswith("0.") else clients.newTableBuilder()
    schema = params["schema"] if isinstance(params["schema"], str) else json.dumps(params["schema"])
    properties = params.get("properties") or {}
    builder = (
        builder.fromProperties(_java_properties(session, properties))
        .setTableName(params["name"])
        .setTableType(str(params["table_type"]))
        .setRecordKeyFields(",".join(keys))
        .setTableCreateSchema(schema)
        .setKeyGeneratorClassProp(_generator(keys, partitions, properties))
    )
    builder = builder.setPartitionFields(",".join(partitions)) if partitions else builder
    builder = _by_release(session, release, builder, params)
    configuration = session._jvm.org.apache.hudi.storage.hadoop.HadoopStorageConfiguration(  # noqa: SLF001
        session._jsc.hadoopConfiguration()  # noqa: SLF001
    )
    builder.initTable(configuration, str(request.table))
    return ValueAnswer({})


def _by_release(session: Any, release: str, builder: Any, params: Mapping[str, Any]) -> Any:
    """Version, ordering fields and merge mode, which releases know by different names."""
    ordering, mode, version = params.get("ordering"), params.get("merge_mode"), int(params["table_version"])
    if ordering:
        set_ordering = builder.setPreCombineField if _is_before_1_1(release) else builder.setOrderingFields
        builder = set_ordering(",".join(ordering))
    if not release.startswith("0."):
        modes = session._jvm.org.apache.hudi.common.config.RecordMergeMode  # noqa: SLF001
        builder = builder.setTableVersion(version)
        return builder.setRecordMergeMode(modes.valueOf(str(mode))) if mode else builder
    if mode and mode not in _PAYLOADS:
        raise Unsupported("merge-custom")
    return builder.setPayloadClassName(f"org.apache.hudi.common.model.{_PAYLOADS[mode]}") if mode else builder


def _is_before_1_1(release: str) -> bool:
    return release.startswith(("0.", "1.0."))


def write(session: Any, release: str, request: Request) -> Answer:
    """One write through the data source; the answer is the newest completed action."""
    params = request.params
    operation = str(params.get("operation"))
    if operation not in OPERATIONS:
        raise Rejected(Reason.CONFIG_INVALID, f"{operation!r} is no operation")
    options = {**write_options(request.table, release), **configs_of(params)}
    if operation == "partial_update":
        _merge(session, request, options)
        return _newest(session, request.table, operation)
    options["hoodie.datasource.write.operation"] = operation
    if operation == "delete_partition":
        options["hoodie.datasource.write.partitions.to.delete"] = ",".join(map(str, params["partitions"]))
    frame = rows_of(session, request)
    frame.write.format("hudi").options(**options).mode("append").save(str(request.table))
    return _newest(session, request.table, operation)


def write_options(table: Path, release: str) -> dict[str, str]:
    """What the data source must receive about a table that is there, since it does not take all of it from there."""
    properties = parse_properties((table / PROPERTIES).read_bytes(), PROPERTIES)
    keys = properties.get("hoodie.table.recordkey.fields", "").split(",")
    typed, custom = properties.get("hoodie.table.partition.fields", ""), _GENERATORS["CUSTOM"]
    partitions = [one.partition(":")[0] for one in typed.split(",") if one]
    generator = _generator(keys, partitions, properties)
    key_names = {**_PASSED_OPTIONS, **_PASSED_BEFORE_MODES} if release.startswith("0.") else _PASSED_OPTIONS
    passed = {key: properties[name] for key, name in key_names.items() if properties.get(name)}
    timed = {name: value for name, value in properties.items() if name.startswith(_TIMED)}
    ordering = properties.get("hoodie.table.ordering.fields") or properties.get("hoodie.table.precombine.field")
    return {
        **_PLAIN,
        **evolution(table),
        **passed,
        **timed,
        **({"hoodie.datasource.write.precombine.field": ordering} if ordering else {}),
        # For a custom generator each field says what makes a folder of it.
        "hoodie.datasource.write.partitionpath.field": typed if generator.endswith(custom) else ",".join(partitions),
        "hoodie.datasource.write.keygenerator.class": generator,
        "hoodie.write.table.version": properties["hoodie.table.version"],
    }


def evolution(table: Path) -> dict[str, str]:
    """What readers and writers must be given where columns have ids: without it they go by names."""
    history = (table / ".hoodie" / ".schema").glob("*.schemacommit")
    return {"hoodie.schema.on.read.enable": "true"} if any(history) else {}


def _generator(keys: list[str], partitions: list[str], properties: Mapping[str, str]) -> str:
    """The class that the properties name, by itself or by its type; else the one that fits the fields."""
    usual = "SimpleKeyGenerator" if len(keys) == len(partitions) == 1 else "ComplexKeyGenerator"
    kind = _GENERATORS.get(properties.get("hoodie.table.keygenerator.type", ""))
    kind = kind or (usual if partitions else "NonpartitionedKeyGenerator")
    return properties.get("hoodie.table.keygenerator.class", f"org.apache.hudi.keygen.{kind}")


def configs_of(params: Mapping[str, Any]) -> dict[str, str]:
    """The keys of a request, their values as texts."""
    given = {**(params.get("options") or {}), **(params.get("configs") or {})}
    return {str(key): str(value).lower() if isinstance(value, bool) else str(value) for key, value in given.items()}


def rows_of(session: Any, request: Request) -> Any:
    """The rows of a request as a frame: those of its file, or those of the table that its filter picks."""
    params = request.params
    if params.get("input"):
        file = request.out_dir / "input.parquet"
        pq.write_table(arrow_of_rows(read_rows(Path(str(params["input"])))), file)
        return session.read.parquet(str(file))
    frame = session.read.format("hudi").load(str(request.table)).drop(*hudi_views.META_FIELDS)
    if params.get("filter") is None:
        return frame.limit(0)
    chosen = frame.where(spark_condition(frame, parse_filter(params["filter"])))
    # The rows are taken from the table that is about to change.
    return session.createDataFrame(chosen.collect(), frame.schema)


def _merge(session: Any, request: Request, options: Mapping[str, str]) -> None:
    """A partial update is a MERGE INTO that assigns some columns."""
    properties = parse_properties((request.table / PROPERTIES).read_bytes(), PROPERTIES)
    if int(properties["hoodie.table.version"]) < 8:
        raise Rejected(Reason.CONFIG_INVALID, "tables before version 8 take no partial updates")
    rows = rows_of(session, request)
    table, view = f"merged{next(_numbers)}", f"given{next(_numbers)}"
    rows.createOrReplaceTempView(view)
    fixed = [name for key in ("recordkey", "partition") for name in _fields(properties, key)]
    if missing := [name for name in fixed if name not in rows.columns]:
        raise Unsupported(f"partial-update-without-{missing[0]}")
    matched = " and ".join(f"t.`{name}` = s.`{name}`" for name in fixed)
    changed = ", ".join(f"`{name}` = s.`{name}`" for name in rows.columns if name not in fixed)
    session.sql(f"create table {table} using hudi location '{request.table}'")
    for key, value in options.items():
        session.conf.set(key, value)
    try:
        session.sql(f"merge into {table} t using {view} s on {matched} when matched then update set {changed}")
    finally:
        for key in options:
            session.conf.unset(key)
        session.sql(f"drop table {table}")


def _fields(properties: Mapping[str, str], name: str) -> list[str]:
    return [one for one in properties.get(f"hoodie.table.{name}.fields", "").split(",") if one]


def _newest(session: Any, table: Path, operation: str) -> Answer:
    """The newest completed write, as the protocol shows it: a release rolls back what died after it took its time.

    A commit of a merge-on-read table is a compaction, which came after the write that requested it; so did what
    replaces files after a write that replaces none.
    """
    timeline = hudi_views.timeline(session, table)
    merges = "deltacommit" in {one["action"] for one in timeline}
    replaces = operation.startswith(("insert_overwrite", "delete_partition"))
    writes = {"deltacommit" if merges else "commit", *(["replacecommit"] if replaces else [])}
    completed = [one for one in timeline if one["state"] == "COMPLETED" and one["action"] in writes]
    if not completed:
        return ValueAnswer({"requested": None, "completed": None, "action": None})
    newest = max(completed, key=lambda one: one["requested"])
    return ValueAnswer({name: newest[name] for name in ("requested", "completed", "action")})


def _java_properties(session: Any, values: Mapping[str, Any]) -> Any:
    properties = session._jvm.java.util.Properties()  # noqa: SLF001
    for key, value in values.items():
        properties.setProperty(str(key), str(value))
    return properties
