"""What tests of tagging share: the state of a write, and a table's own rows as incoming ones."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from hudi_format.avro.schemas import parse_avro_schema
from hudi_format.schemas import without_meta_fields
from hudi_format.storage import open_storage
from hudi_spark.keys import tagged
from hudi_spark.keys.stored_keys import reading, slice_tasks
from hudi_spark.merge import key_rule
from hudi_spark.read import run_task
from hudi_spark.schema import WriterState, schema_of_avro, stated_schema
from hudi_spark.testing import RELEASED, Executor, InProcess, load_snapshot, resolve

INSTANT = "20990101000000000"
KEY, PATH = "_hoodie_record_key", "_hoodie_partition_path"
GROUP = "group of the row"
OWN_KEYS = (pa.field(KEY, pa.string()), pa.field(PATH, pa.string()))


def state_of(table: Path, index: str = "SIMPLE", **options: str) -> WriterState:
    """The state of a write to a table; options use `__` for a dot."""
    storage = open_storage(table)
    snapshot = load_snapshot(storage, RELEASED)
    text, place = stated_schema(snapshot.commits, snapshot.configuration) or ("", "")
    schema = schema_of_avro(without_meta_fields(parse_avro_schema(text, place)))
    given = {name.replace("__", "."): value for name, value in options.items()}
    return WriterState(storage, snapshot, resolve({"hoodie.index.type": index, **given}), schema)


def own_rows(state: WriterState) -> pa.Table:
    """The rows of a snapshot with their keys and paths, and the file group that holds each."""
    rule = key_rule(state.configuration)
    context, origins = reading(state, ())
    tasks = slice_tasks(state, replace(context, output=tuple(context.schema.names)), origins)
    schema = pa.schema([*state.schema.arrow, *OWN_KEYS, pa.field(GROUP, pa.string())])
    parts = [schema.empty_table()]
    for task in tasks.values():
        rows = run_task(task).rows
        told = [rule.keys(rows).cast(pa.string()), *(_all(rows, text) for text in (task.partition, task.file_id))]
        parts.append(pa.Table.from_arrays([*rows.select(state.schema.arrow.names).columns, *told], schema=schema))
    return pa.concat_tables(parts)


def incoming(state: WriterState, rows: Sequence[tuple[str, str, Mapping[str, Any]]]) -> pa.Table:
    """Rows given as key, partition path and columns."""
    schema = pa.schema([pa.field(one.name, one.type) for one in state.schema.arrow])
    data = pa.Table.from_pylist([dict(columns) for _, _, columns in rows], schema)
    keys = [pa.array([row[place] for row in rows], pa.string()) for place in (0, 1)]
    return pa.Table.from_arrays([*data.columns, *keys], schema=pa.schema([*schema, *OWN_KEYS]))


def tags(rows: pa.Table, state: WriterState, executor: Executor | None = None, **more: Any) -> pa.Table:
    """The rows tagged."""
    runs = executor or InProcess()
    return tagged(runs.rows(rows), state, runs, INSTANT, **more).gathered()


def _all(rows: pa.Table, text: str) -> pa.Array:
    return pa.repeat(pa.scalar(text), rows.num_rows)
