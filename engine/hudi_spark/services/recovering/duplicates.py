"""Record keys that two file groups of a partition hold: one of them has been replaced, as nothing else tells.

Clauses: RD-003, CL-001.
"""

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.flows.flow import Executor, TaskIdentity
from hudi_spark.indexing.group_rows import GroupReading, GroupTask, whole_groups
from hudi_spark.merging.keys import RECORD_KEY
from hudi_spark.writer_state import WriterState

_KEYS: Final = pa.schema([("partition", pa.string()), ("key", pa.string()), ("file_id", pa.string())])
_PAIRS: Final = pa.schema([("partition", pa.string()), ("first", pa.string()), ("second", pa.string())])


def doubled_groups(state: WriterState, executor: Executor) -> Sequence[tuple[str, str, str]]:
    """Pairs of file groups that hold the same key, each once: partition and both file ids."""
    tasks = GroupReading(state, (RECORD_KEY,)).tasks(whole_groups(state))
    if not tasks:
        return ()
    flow = executor.tasks(tasks, _keys, _KEYS).shuffled(["partition", "key"]).map(_pairs, _PAIRS)
    rows = flow.gathered().group_by(_PAIRS.names).aggregate([])
    columns = (rows.column(name).to_pylist() for name in _PAIRS.names)
    return tuple(sorted(zip(*columns, strict=True)))


def _keys(task: GroupTask, _: TaskIdentity) -> pa.Table:
    keys = pc.unique(task.rows_after().column(RECORD_KEY).combine_chunks())
    change = task.change
    return pa.table(
        [pa.repeat(change.partition, len(keys)), keys.cast(pa.string()), pa.repeat(change.file_id, len(keys))],
        schema=_KEYS,
    )


def _pairs(keys: pa.Table, _: TaskIdentity) -> pa.Table:
    """The least and the greatest file id of each key that has two."""
    found = keys.group_by(["partition", "key"]).aggregate([("file_id", "min"), ("file_id", "max")])
    two = found.filter(pc.not_equal(found.column("file_id_min"), found.column("file_id_max")))
    pairs = two.select(["partition", "file_id_min", "file_id_max"]).rename_columns(_PAIRS.names)
    return pairs.group_by(_PAIRS.names).aggregate([]).select(_PAIRS.names).cast(_PAIRS)
