"""Apache Hudi's write client (`SparkRDDWriteClient`), opened on a table with what a data source would tell it."""

import json
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from hudi_adapter.protocol import Unsupported
from hudi_format.table.properties import parse_properties

from hudi_conformance.adapters.apache_hudi_writing import PROPERTIES, write_options
from hudi_conformance.apache import hudi_views

# Only what is requested happens.
_ALONE = {
    "hoodie.clustering.inline": "false",
    "hoodie.datasource.compaction.async.enable": "false",
    "hoodie.datasource.clustering.async.enable": "false",
    "hoodie.datasource.write.row.writer.enable": "false",
}
# What the properties say that a writer must not take back as its own choice.
_NOT_PASSED = ("hoodie.table.checksum", "hoodie.table.metadata.partitions", "hoodie.table.initial.version")


class WriteClient:
    """A client on one table, and the settings it was opened with."""

    def __init__(self, session: Any, release: str, table: Path, configs: Mapping[str, str]) -> None:
        self.session, self.release, self.table = session, release, table
        self.settings = settings(table, release, configs)
        self.options = with_defaults(session, self.settings)
        self.schema = table_schema(session, release, table)
        self.java = opened(session, table, self.schema, self.settings["hoodie.table.name"], self.options)

    @property
    def jvm(self) -> Any:
        """The door to Java's classes."""
        return self.session._jvm  # noqa: SLF001  py4j's door has no public name

    @property
    def is_old(self) -> bool:
        """Whether the release is before 1.0, which has other signatures."""
        return self.release.startswith("0.")

    @property
    def commits_separately(self) -> bool:
        """Whether the release carries a compaction out in one call and commits it in another."""
        return self.release.startswith(("0.", "1.0"))

    def none(self) -> Any:
        """An empty `Option`."""
        return self.jvm.org.apache.hudi.common.util.Option.empty()

    def close(self) -> None:
        """Give back its threads; the heartbeat of a write that it still has stops."""
        self.java.close()


def client_of(session: Any, release: str, table: Path, configs: Mapping[str, str]) -> closing[WriteClient]:
    """A client for one operation."""
    return closing(WriteClient(session, release, table, configs))


def settings(table: Path, release: str, configs: Mapping[str, str]) -> dict[str, str]:
    """The table's properties, what a data source receives, and what was requested, the later before the earlier."""
    properties = parse_properties((table / PROPERTIES).read_bytes(), PROPERTIES)
    kept = {key: value for key, value in properties.items() if key not in _NOT_PASSED}
    return {**kept, **write_options(table, release), **_ALONE, **configs}


def table_schema(session: Any, release: str, table: Path) -> str:
    """The table's own columns as an Avro schema; empty where nothing shows them yet."""
    jvm = session._jvm  # noqa: SLF001
    resolver = jvm.org.apache.hudi.common.table.TableSchemaResolver(hudi_views.meta_client(session, table))
    newer = release.startswith("1.2")
    found = resolver.getTableSchemaIfPresent(False) if newer else resolver.getTableAvroSchemaIfPresent(False)
    return str(found.get().toString()) if found.isPresent() else ""


def with_defaults(session: Any, given: Mapping[str, str]) -> Any:
    """Settings with the defaults of the data source, as a Scala map."""
    utils = session._jvm.org.apache.hudi.HoodieWriterUtils  # noqa: SLF001
    return utils.parametersWithWriteDefaults(scala_map(session, given))


def opened(session: Any, table: Path, schema: str, name: str, options: Any) -> Any:
    """The client in Java."""
    jvm, context = session._jvm, session._jsc  # noqa: SLF001
    java = jvm.scala.collection.JavaConversions.mapAsJavaMap(options)
    return jvm.org.apache.hudi.DataSourceUtils.createHoodieClient(context, schema, str(table), name, java)


def java_map(session: Any, values: Mapping[str, Any]) -> Any:
    """A Java map of a Python one."""
    found = session._jvm.java.util.HashMap()  # noqa: SLF001
    for key, value in values.items():
        found.put(key, value)
    return found


def java_list(session: Any, values: Iterable[Any]) -> Any:
    """A Java list of a Python one."""
    found = session._jvm.java.util.ArrayList()  # noqa: SLF001
    for value in values:
        found.add(value)
    return found


def scala_map(session: Any, values: Mapping[str, Any]) -> Any:
    """An immutable Scala map of a Python one."""
    return session._jvm.PythonUtils.toScalaMap(java_map(session, values))  # noqa: SLF001


def records_of(client: WriteClient, frame: Any, operation: Any, instant: str) -> Any:
    """The rows of a frame as the client takes them; all of the table's columns, those that are missing empty.

    Raises:
        Unsupported: a column that the table does not have.

    """
    frame = _with_columns(client, frame)
    name = client.settings["hoodie.table.name"]
    record, namespace = f"{name}_record", f"hoodie.{name}"
    schema = _parsed(client, client.schema) if client.schema else _converted(client, frame, record, namespace)
    parts = [frame._jdf, client.java.getConfig(), client.options, record, namespace]  # noqa: SLF001
    parts += [schema, schema, operation, instant, False, False, False]
    if client.release.startswith(("1.1", "1.2")):
        parts.append(hudi_views.meta_client(client.session, client.table).getTableConfig())
    utils = client.jvm.org.apache.hudi.HoodieCreateRecordUtils
    return utils.createHoodieRecordRdd(utils.createHoodieRecordRddArgs(*parts))


def _with_columns(client: WriteClient, frame: Any) -> Any:
    from pyspark.sql.functions import lit  # noqa: PLC0415  only with a session

    if not client.schema:
        return frame
    own = _spark_type(client)
    if added := [name for name in frame.columns if name not in own.fieldNames()]:
        raise Unsupported(f"phased-write-adds-column-{added[0]}")
    columns = (frame[one.name] if one.name in frame.columns else lit(None) for one in own)
    return frame.select(*(column.cast(one.dataType).alias(one.name) for column, one in zip(columns, own, strict=True)))


def _spark_type(client: WriteClient) -> Any:
    from pyspark.sql.types import StructType  # noqa: PLC0415

    schema, jvm = _parsed(client, client.schema), client.jvm.org.apache.hudi
    if client.release.startswith("1.2"):
        converted = jvm.HoodieSchemaConversionUtils.convertHoodieSchemaToStructType(schema)
    else:
        converted = jvm.AvroConversionUtils.convertAvroSchemaToStructType(schema)
    return StructType.fromJson(json.loads(converted.json()))


def _parsed(client: WriteClient, text: str) -> Any:
    if client.release.startswith("1.2"):
        return client.jvm.org.apache.hudi.common.schema.HoodieSchema.parse(text)
    return client.jvm.org.apache.avro.Schema.Parser().parse(text)


def _converted(client: WriteClient, frame: Any, record: str, namespace: str) -> Any:
    spark_type = frame._jdf.schema()  # noqa: SLF001
    jvm = client.jvm.org.apache.hudi
    if client.release.startswith("1.2"):
        return jvm.HoodieSchemaConversionUtils.convertStructTypeToHoodieSchema(spark_type, record, namespace)
    return jvm.AvroConversionUtils.convertStructTypeToAvroSchema(spark_type, record, namespace)
