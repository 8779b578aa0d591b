"""Every public function of the engine that takes a table, as a call on a path; what may leave them is one error."""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from hudi_spark import (
    HudiError,
    TableDefinition,
    UnsupportedFeature,
    check_table,
    create_arrow,
    explain,
    read_arrow,
    read_changes,
    read_incremental,
    read_stream,
    services_arrow,
    write_arrow,
)

FEW = {
    "hoodie.clean.commits.retained": "1",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.compact.inline.max.delta.commits": "1",
}
Call = Callable[[Path], Any]


def _stream(path: Path) -> list[Any]:
    return list(read_stream(path, path.with_name("checkpoint")))


def _rows(path: Path) -> pa.Table:
    """Rows that fit the table where it can be read, else some that do not."""
    try:
        return read_arrow(path).slice(0, 3)
    except (HudiError, UnsupportedFeature):
        return pa.table({"id": ["a"]})


def _create(path: Path) -> None:
    schema = pa.schema([("id", pa.string()), ("ts", pa.int64())])
    create_arrow(path / "inner", TableDefinition(name="t", schema=schema, record_key=("id",), ordering=("ts",)))


READS: Mapping[str, Call] = {
    "read_arrow": read_arrow,
    "read_arrow, base files": lambda path: read_arrow(path, read_optimized=True),
    "read_arrow, unmerged": lambda path: read_arrow(path, configs={"hoodie.datasource.merge.type": "skip_merge"}),
    "read_arrow, listing": lambda path: read_arrow(path, configs={"hoodie.metadata.enable": "false"}),
    "read_incremental": lambda path: read_incremental(path, "earliest"),
    "read_changes": lambda path: read_changes(path, "earliest"),
    "read_stream": _stream,
    "explain": explain,
    "check_table": check_table,
    "check_table, deep": lambda path: check_table(path, deep=True),
}
WRITES: Mapping[str, Call] = {
    "create_arrow": _create,
    "delete_partition": lambda path: write_arrow(path, None, "delete_partition", partitions=["oslo"]),
    **{
        f"write_arrow, {name}": lambda path, name=name: write_arrow(path, _rows(path), name)  # type: ignore[misc]
        for name in ("insert", "upsert", "bulk_insert", "delete", "insert_overwrite_table")
    },
}
SERVICES: Mapping[str, Call] = {
    **{
        name: lambda path, name=name: services_arrow(path, configs=FEW).run(name)  # type: ignore[misc]
        for name in ("compaction", "logcompaction", "clustering", "clean", "indexing")
    },
    "schedule": lambda path: services_arrow(path, configs=FEW).schedule("clean"),
    "execute": lambda path: services_arrow(path).execute("20250101000000000"),
    "cluster": lambda path: services_arrow(path).cluster(),
    "drop_old_partitions": lambda path: services_arrow(path).drop_old_partitions(1),
    "clean": lambda path: services_arrow(path, configs=FEW).clean(),
    "archive": lambda path: services_arrow(path, configs=FEW).archive(),
    "upgrade": lambda path: services_arrow(path).upgrade(9),
    "downgrade": lambda path: services_arrow(path).downgrade(6),
    "has_completed": lambda path: services_arrow(path).has_completed("20250101000000000"),
    "rollback": lambda path: services_arrow(path).rollback("20250101000000000"),
    "roll_back_failed_writes": lambda path: services_arrow(path).roll_back_failed_writes(),
    "savepoint": lambda path: services_arrow(path).savepoint(),
    "delete_savepoint": lambda path: services_arrow(path).delete_savepoint("20250101000000000"),
    "restore": lambda path: services_arrow(path).restore("20250101000001000"),
    "recover": lambda path: services_arrow(path).recover(),
}
CALLS: Mapping[str, Call] = {**READS, **WRITES, **SERVICES}


def refusal(name: str, path: Path) -> HudiError | UnsupportedFeature | None:
    """The typed error of a call, None for an answer; whatever else it raises comes out."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            CALLS[name](path)
    except (HudiError, UnsupportedFeature) as error:
        return error
    return None
