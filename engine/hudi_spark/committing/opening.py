"""A table opened to be changed: its newest completed state, and what an action knows of it.

Clauses: OW-002, VR-002.
"""

from dataclasses import replace
from typing import Final

import pyarrow as pa
from hudi_adapter.reasons import Reason
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.evolution.schema import avro_of_arrow, schema_of_avro
from hudi_spark.evolution.statements import table_avro
from hudi_spark.metadata.listing import lister
from hudi_spark.options.resolving import Options
from hudi_spark.readings import Readings
from hudi_spark.state.snapshots import Snapshot, load_snapshot
from hudi_spark.writer_state import WriterState

_MERGE_MODE: Final = "hoodie.write.record.merge.mode"
_WRITTEN_VERSIONS: Final = (6, 8, 9)


def snapshot_to_write(storage: Storage, readings: Readings, options: Options) -> Snapshot:
    """The newest completed state of a table that can be written.

    Raises:
        HudiError: TABLE_VERSION_UNSUPPORTED for a version that is only read; the reasons of a refused table.
        UnsupportedFeature: base files of another format than Parquet.

    Clauses: OW-002, VR-002.

    """
    enabled = {"hoodie.metadata.enable": options.text("hoodie.metadata.enable")}
    snapshot = load_snapshot(storage, readings, None, lister(enabled))
    version = snapshot.configuration.version
    if version not in _WRITTEN_VERSIONS:
        hint = "upgrade the table to version 6, 8 or 9 first"
        message = f"tables of version {version} are read, not written"
        raise HudiError(Reason.TABLE_VERSION_UNSUPPORTED, "VR-002", message, hint=hint)
    base_format = snapshot.configuration.properties.get("hoodie.table.base.file.format", "").strip().upper()
    if base_format not in ("", "PARQUET"):
        raise UnsupportedFeature(f"base-{base_format.lower()}-writing", "base files are written as Parquet only")
    return _overridden(snapshot, options, readings)


def _overridden(snapshot: Snapshot, options: Options, readings: Readings) -> Snapshot:
    """The table as a write merges by it that asks for a mode of its own, where that is allowed.

    Clauses: MG-010.
    """
    if readings.override == "released" or not options.given(_MERGE_MODE):
        return snapshot
    configuration = snapshot.configuration
    properties = {**configuration.properties, "hoodie.record.merge.mode": options.text(_MERGE_MODE)}
    return replace(snapshot, configuration=replace(configuration, properties=properties))


def state_of_table(storage: Storage, snapshot: Snapshot, options: Options) -> WriterState:
    """What an action knows of its table that brings no columns: the schema is the table's own.

    Clauses: DM-003.
    """
    stated = table_avro(snapshot) or avro_of_arrow(pa.schema([]), snapshot.configuration.name)
    return WriterState(storage, snapshot, options, schema_of_avro(stated))
