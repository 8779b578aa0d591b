"""The array of tables that are written to be read by others: which features, which go together, what a row writes."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from hypothesis import strategies as st

from hudi_conformance.corpus.table_shapes import SMALL_FILE_LIMIT, TableShape, WriteCase
from hudi_conformance.interop.fuzzing.pairs import Row, completed, covering_rows
from hudi_conformance.interop.fuzzing.seeds import Choices, case_of_seed
from hudi_conformance.interop.fuzzing.strategies import Limits, Writes, index_configs

OPERATIONS = (
    "upsert",
    "insert",
    "bulk_insert",
    "delete",
    "insert_overwrite",
    "insert_overwrite_table",
    "delete_partition",
    "partial_update",
)
FACTORS = {
    "version": ("6", "8", "9"),
    "type": ("COPY_ON_WRITE", "MERGE_ON_READ"),
    "operation": OPERATIONS,
    "next operation": OPERATIONS,
    "index": ("SIMPLE", "GLOBAL_SIMPLE", "BLOOM", "GLOBAL_BLOOM", "BUCKET", "CONSISTENT_HASHING", "RECORD_INDEX"),
    "metadata table": ("true", "false"),
    "keys": ("simple", "complex", "not partitioned", "complex, two partition columns"),
    "partition style": ("plain", "hive", "encoded"),
    "log format": ("avro", "parquet"),
    "merge mode": ("unset", "COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"),
    "meta fields": ("true", "false"),
}
SAME = {"next operation": "operation"}
_KEYS = {
    "simple": (("id",), ("city",)),
    "complex": (("id", "kind"), ("city",)),
    "not partitioned": (("id",), ()),
    "complex, two partition columns": (("id", "kind"), ("city", "kind")),
}
_WITHOUT_KEYS_STORED = {"SIMPLE", "GLOBAL_SIMPLE", "BUCKET"}


@dataclass(frozen=True, slots=True)
class ArrayRow:
    """One row: its number in the array, its features, its writes."""

    name: str
    features: Row
    case: WriteCase


def possible(row: Row) -> bool:
    """Whether a table can have these features; what is not chosen yet may be anything."""
    operations = {row.get("operation"), row.get("next operation")}
    index, keys = row.get("index"), row.get("keys")
    return not any(
        (
            "partial_update" in operations and row.get("version") == "6",
            row.get("version") == "6" and row.get("merge mode") == "unset",
            "partial_update" in operations and row.get("meta fields") == "false",
            "delete_partition" in operations and keys == "not partitioned",
            keys == "not partitioned" and row.get("partition style", "plain") != "plain",
            index == "CONSISTENT_HASHING" and row.get("type") == "COPY_ON_WRITE",
            # The new file groups would bear the ids of those that they replace.
            index == "CONSISTENT_HASHING" and not operations.isdisjoint({"insert_overwrite", "insert_overwrite_table"}),
            index == "RECORD_INDEX" and row.get("metadata table") == "false",
            row.get("type") == "COPY_ON_WRITE" and row.get("log format") == "parquet",
            row.get("meta fields") == "false" and index is not None and index not in _WITHOUT_KEYS_STORED,
        )
    )


def array_rows() -> list[ArrayRow]:
    """The rows that cover all pairs."""
    rows = covering_rows(FACTORS, possible, SAME)
    return [array_row(f"row-{number:02}", row) for number, row in enumerate(rows, start=1)]


def every_row() -> Iterator[ArrayRow]:
    """Every operation on every type, version and index that go together; the other features drawn for each."""
    names = ("operation", "type", "version", "index")
    for number, values in enumerate(itertools.product(*(FACTORS[name] for name in names)), start=1):
        row = completed(dict(zip(names, values, strict=True)), FACTORS, possible, Random(number))  # noqa: S311
        if row is not None:
            yield array_row(f"product-{number:03}", row)


def array_row(name: str, features: Row) -> ArrayRow:
    """A table of these features: rows, both operations, and a last upsert with late rows among others."""
    operations = ("insert", features["operation"], features["next operation"], "upsert")
    return ArrayRow(name, features, case_of(shape_of(features), operations, name))


def case_of(shape: TableShape, operations: Sequence[str], seed: str) -> WriteCase:
    """Writes with these operations, their rows drawn from a seed."""
    return case_of_seed(_writes(shape, operations), seed)


@st.composite
def _writes(draw: st.DrawFn, shape: TableShape, operations: Sequence[str]) -> WriteCase:
    drawn = Writes(Choices(draw), shape, Limits(refusals=False), may_double=False)
    first = drawn.written(operations[0], least=5)
    return WriteCase(shape, (first, *(drawn.of_operation(one) for one in operations[1:])))


def shape_of(features: Row) -> TableShape:
    """What the table of a row is made with."""
    record_key, partition_by = _KEYS[features["keys"]]
    mode = features["merge mode"]
    shape = TableShape(
        int(features["version"]),
        features["type"],
        record_key=record_key,
        partition_by=partition_by,
        ordering=("ts",),
        merge_mode=None if mode == "unset" else mode,
    )
    return replace(shape, properties=_properties(features), configs=_configs(features))


def _properties(features: Row) -> dict[str, str]:
    styles = {
        "hive": {"hoodie.datasource.write.hive_style_partitioning": "true"},
        "encoded": {"hoodie.datasource.write.partitionpath.urlencode": "true"},
    }
    stored = {"hoodie.populate.meta.fields": "false"} if features["meta fields"] == "false" else {}
    return {**styles.get(features["partition style"], {}), **stored}


def _configs(features: Row) -> dict[str, str]:
    chosen = {
        SMALL_FILE_LIMIT: "0",
        "hoodie.metadata.enable": features["metadata table"],
        **index_configs(features["index"], "2"),
    }
    if features["log format"] == "parquet":
        chosen["hoodie.logfile.data.block.format"] = "parquet"
    return chosen
