"""What files and commits of a service that rewrites slices look like."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from hudi_format.avro.schemas import schema_text
from hudi_format.schemas import META_FIELDS, OPERATION_FIELD
from hudi_format.table.internal_schema import LATEST_SCHEMA_KEY

from hudi_spark.committing.work import TableWork
from hudi_spark.evolution.statements import table_avro
from hudi_spark.files.places import Place
from hudi_spark.schemas.columns import SCHEMA_KEY, stating_commit
from hudi_spark.state.configuration import TableConfiguration, flag
from hudi_spark.state.snapshots import Snapshot


def place_of(work: TableWork, configuration: TableConfiguration, requested: str) -> Place:
    """Where the tasks of an action put their files.

    Clauses: SL-002, MK-001.
    """
    in_base_format = flag(configuration.properties, "hoodie.partition.metafile.use.base.format", default=False)
    return Place(work.effects, requested, "parquet" if in_base_format else "properties")


def stated_schemas(planned: Snapshot) -> dict[str, str]:
    """What the commit of a service says of the schema: what the table's commits said when it was planned.

    Clauses: CP-006, DM-003.
    """
    stating = stating_commit(planned.commits)
    if stating is not None:
        extra = stating.metadata.extra
        return {key: extra[key] for key in (SCHEMA_KEY, LATEST_SCHEMA_KEY) if extra.get(key)}
    stated = table_avro(planned)
    return {} if stated is None else {SCHEMA_KEY: schema_text(stated)}


def with_operation_field(avro: Mapping[str, Any], schema: pa.Schema) -> Mapping[str, Any]:
    """The Avro schema of files with the sixth meta field, where slices that are read in `schema` have it.

    Clauses: MF-002.
    """
    fields = avro["fields"]
    if OPERATION_FIELD not in schema.names or any(one["name"] == OPERATION_FIELD for one in fields):
        return avro
    own = {"name": OPERATION_FIELD, "type": ["null", "string"], "doc": "", "default": None}
    places = len(META_FIELDS)
    return {**avro, "fields": [*fields[:places], own, *fields[places:]]}
