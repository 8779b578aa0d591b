"""What tests of tagging share: the state of a write, and a table's own rows as incoming ones."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from hudi_format.storage import open_storage
from hudi_spark import read_arrow
from hudi_spark.keys import FILE_ID, tagged
from hudi_spark.testing import RELEASED, Executor, InProcess, load_snapshot, resolve, state_of_table

INSTANT = "20990101000000000"
KEY, PATH = "_hoodie_record_key", "_hoodie_partition_path"
GROUP = "group of the row"
OWN_KEYS = (pa.field(KEY, pa.string()), pa.field(PATH, pa.string()))


def state_of(table: Path, index: str = "SIMPLE", **options: str) -> Any:
    """The state of a write to a table; options use `__` for a dot."""
    storage = open_storage(table)
    given = {name.replace("__", "."): value for name, value in options.items()}
    return state_of_table(storage, load_snapshot(storage, RELEASED), resolve({"hoodie.index.type": index, **given}))


def own_rows(state: Any) -> pa.Table:
    """The rows of a snapshot with their keys and paths, and the file group that holds each."""
    rows = read_arrow(state.storage.base, meta_columns=True)
    groups = [name.partition("_")[0] for name in rows.column("_hoodie_file_name").to_pylist()]
    schema = pa.schema([*state.schema.arrow, *OWN_KEYS, pa.field(GROUP, pa.string())])
    columns = rows.select([*state.schema.arrow.names, KEY, PATH]).columns
    return pa.Table.from_arrays([*columns, pa.array(groups, pa.string())], schema=schema)


def incoming(state: Any, rows: Sequence[tuple[str, str, Mapping[str, Any]]]) -> pa.Table:
    """Rows given as key, partition path and columns."""
    schema = pa.schema([pa.field(one.name, one.type) for one in state.schema.arrow])
    data = pa.Table.from_pylist([dict(columns) for _, _, columns in rows], schema)
    keys = [pa.array([row[place] for row in rows], pa.string()) for place in (0, 1)]
    return pa.Table.from_arrays([*data.columns, *keys], schema=pa.schema([*schema, *OWN_KEYS]))


def tags(rows: pa.Table, state: Any, executor: Executor | None = None, **more: Any) -> pa.Table:
    """The rows tagged; they are counted alike before and after they have their tags."""
    runs = executor or InProcess()
    found = tagged(runs.rows(rows), state, runs, INSTANT, **more)
    named, order = found.named(), [(name, "ascending") for name in (PATH, FILE_ID)]
    assert found.counted(found.rows).sort_by(order).equals(named.counted([PATH, FILE_ID]).sort_by(order))
    return named.gathered()
