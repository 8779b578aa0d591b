"""A new table: its properties as the release that introduced its version writes them."""

import zlib
from collections.abc import Mapping

from hudi_model.merge_modes import MODE_OF_PAYLOAD, MODE_OF_STRATEGY, MergeMode
from hudi_model.records import Schema
from hudi_model.rejection import Reason, Rejection
from hudi_model.tables import Table, open_table

COMMON = {
    "hoodie.table.version": "9",
    "hoodie.table.type": "COPY_ON_WRITE",
    "hoodie.table.partition.fields": "",
    "hoodie.table.base.file.format": "PARQUET",
    "hoodie.populate.meta.fields": "true",
    "hoodie.table.cdc.enabled": "false",
    "hoodie.table.timeline.timezone": "UTC",
    "hoodie.partition.metafile.use.base.format": "false",
    "hoodie.datasource.write.drop.partition.columns": "false",
    "hoodie.datasource.write.hive_style_partitioning": "false",
    "hoodie.datasource.write.partitionpath.urlencode": "false",
}
OF_LAYOUT_2 = {
    "hoodie.archivelog.folder": "history",
    "hoodie.timeline.path": "timeline",
    "hoodie.timeline.history.path": "history",
    "hoodie.table.multiple.base.file.formats.enable": "false",
}
PACKAGE = "org.apache.hudi.common.model."


def create_table(properties: Mapping[str, str], schema: Schema) -> Table:
    """An empty table: the properties given, and what its version adds to them.

    Raises: CONFIG_INVALID for a name, type, version, mode or column that cannot be.

    Clauses: PR-001, PR-009, PR-010.
    """
    stated = {**COMMON, **properties}
    refuse_unsound(stated, schema)
    table = Table(released_properties(stated), None, (), (), (), create_schema=schema)
    open_table(table)
    return table


def refuse_unsound(stated: Mapping[str, str], schema: Schema) -> None:
    """Nothing, unless no table can be as stated.

    Raises: CONFIG_INVALID.

    Clauses: PR-010.
    """
    columns = {field.name for field in schema.fields}
    named = ",".join(stated.get(f"hoodie.table.{kind}.fields", "") for kind in ("recordkey", "partition", "ordering"))
    fields = [part.strip().partition(":")[0] for part in named.split(",") if part.strip()]
    faults = {
        "hoodie.table.name": not stated.get("hoodie.table.name"),
        "hoodie.table.type": stated["hoodie.table.type"] not in ("COPY_ON_WRITE", "MERGE_ON_READ"),
        "hoodie.table.version": stated["hoodie.table.version"] not in ("6", "8", "9"),
        "hoodie.record.merge.mode": stated.get("hoodie.record.merge.mode", "CUSTOM") not in MergeMode.__members__,
        "a key, partition or ordering field": not columns.issuperset(fields),
        "a column twice": len(columns) < len(schema.fields),
    }
    for name, is_wrong in faults.items():
        if is_wrong:
            raise Rejection(Reason.CONFIG_INVALID, "PR-010", name, f"no table can have {stated.get(name, name)!r}")


def released_properties(stated: Mapping[str, str]) -> dict[str, str]:
    """The properties of a new table; what was stated stays. [Modified in v8] [Modified in v9]

    Clauses: PR-009.
    """
    version, ordering = stated["hoodie.table.version"], stated.get("hoodie.table.ordering.fields", "")
    rest = {key: value for key, value in stated.items() if key != "hoodie.table.ordering.fields"}
    mode = rest.get("hoodie.record.merge.mode") or ("EVENT_TIME_ORDERING" if ordering else "COMMIT_TIME_ORDERING")
    guarded = f"{stated.get('hoodie.database.name', '')}.{stated['hoodie.table.name']}"
    added = {"hoodie.table.checksum": str(zlib.crc32(guarded.encode()))}
    if ordering:
        added["hoodie.table.ordering.fields" if version == "9" else "hoodie.table.precombine.field"] = ordering
    if version == "6":
        rest.pop("hoodie.record.merge.mode", None)
        return dict(sorted({**added, **version_6_properties(stated, mode), **rest}.items()))
    added |= {**OF_LAYOUT_2, "hoodie.timeline.layout.version": "2", "hoodie.table.initial.version": version}
    added |= {"hoodie.record.merge.mode": mode, "hoodie.table.keygenerator.type": generator_type(stated)}
    added |= merger_properties(mode) if version == "8" else {"hoodie.table.format": "native"}
    return dict(sorted({**added, **rest}.items()))


def version_6_properties(stated: Mapping[str, str], mode: str) -> dict[str, str]:
    """What only version 6 has: the payload class decides, and only where logs are merged.

    Clauses: PR-009, MG-009.
    """
    kind = {"NON_PARTITION": "Nonpartitioned", "TIMESTAMP": "TimestampBased"}.get(generator_type(stated))
    name = kind or generator_type(stated).capitalize()
    properties = {
        "hoodie.timeline.layout.version": "1",
        "hoodie.archivelog.folder": "archived",
        "hoodie.database.name": "",
        "hoodie.table.keygenerator.class": f"org.apache.hudi.keygen.{name}KeyGenerator",
    }
    if stated["hoodie.table.type"] == "COPY_ON_WRITE" or mode == "CUSTOM":
        return properties
    payload = merger_properties(mode)["hoodie.compaction.payload.class"]
    strategy = merger_properties("EVENT_TIME_ORDERING")["hoodie.record.merge.strategy.id"]
    return {
        **properties,
        "hoodie.compaction.payload.class": payload,
        "hoodie.compaction.record.merger.strategy": strategy,
    }


def merger_properties(mode: str) -> dict[str, str]:
    """The payload class and the strategy id that amount to a mode; none for a custom one.

    Clauses: PR-009, MG-009.
    """
    payloads = {mode.value: name for name, mode in reversed(MODE_OF_PAYLOAD.items())}
    strategies = {mode.value: name for name, mode in MODE_OF_STRATEGY.items()}
    if mode not in payloads:
        return {}
    return {
        "hoodie.compaction.payload.class": PACKAGE + payloads[mode],
        "hoodie.record.merge.strategy.id": strategies[mode],
    }


def generator_type(stated: Mapping[str, str]) -> str:
    """The key generator that the key and partition fields ask for.

    Clauses: DM-010.
    """
    partitions = [part for part in stated["hoodie.table.partition.fields"].split(",") if part]
    if not partitions:
        return "NON_PARTITION"
    if any(":" in part for part in partitions):
        return "CUSTOM"
    keys = stated.get("hoodie.table.recordkey.fields", "").split(",")
    return "SIMPLE" if len(partitions) == len(keys) == 1 else "COMPLEX"
