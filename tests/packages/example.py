"""What a user does first with an installed wheel: tables are written and read without Spark, in an empty folder."""

import sys
from importlib import import_module
from pathlib import Path

import pyarrow as pa

PACKAGES = ("hudi_adapter", "hudi_format", "hudi_model", "hudi_model_tools", "hudi_conformance", "hudi_spark")


def main() -> None:
    """Both types of table: created, upserted, deleted from, read in every way, and checked."""
    assert all("site-packages" in str(import_module(name).__file__) for name in PACKAGES), sys.path
    from hudi_spark import (  # noqa: PLC0415 - from the wheel, which the line above made sure of
        TableDefinition,
        check_table,
        create_arrow,
        read_arrow,
        read_batches,
        read_changes,
        write_arrow,
    )

    schema = pa.schema([("id", pa.int64()), ("city", pa.string()), ("fare", pa.float64()), ("ts", pa.int64())])
    for kind in ("COPY_ON_WRITE", "MERGE_ON_READ"):
        path = Path(kind)
        definition = TableDefinition(
            name="t",
            schema=schema,
            record_key=("id",),
            ordering=("ts",),
            partition_by=("city",),
            table_type=kind,
            configs={"hoodie.table.cdc.enabled": "true"},
        )
        create_arrow(path, definition)
        rows = [{"id": n, "city": ("lima", "oslo")[n % 2], "fare": n / 2, "ts": 1} for n in range(100)]
        first = write_arrow(path, pa.Table.from_pylist(rows, schema), "insert")
        write_arrow(path, pa.Table.from_pylist([{**rows[0], "fare": 9.0, "ts": 2}], schema), "upsert")
        write_arrow(path, pa.Table.from_pylist(rows[1:2], schema), "delete")
        assert read_arrow(path, filter="fare > 8 AND city = 'lima'").num_rows == 1 + 41
        assert sum(batch.num_rows for batch in read_batches(path)) == 99
        assert sorted(read_changes(path, first.completed)["op"].to_pylist()) == ["d", "u"]
        assert not [one for one in check_table(path, deep=True) if one.level == "error"]
    print(f"Python {sys.version.split()[0]}, pyarrow {pa.__version__}: tables are written and read")


if __name__ == "__main__":
    main()
