"""The sort modes of a bulk insert."""

from dataclasses import dataclass

import pyarrow as pa

from hudi_spark.flows.flow import Flow, TaskIdentity
from hudi_spark.options.resolving import Options
from hudi_spark.tagging.columns import PARTITION_PATH, RECORD_KEY

_PLACES = (PARTITION_PATH, RECORD_KEY)


def in_sort_mode(rows: Flow, options: Options, parts: int | None) -> Flow:
    """Rows in the parts and the order that `hoodie.bulkinsert.sort.mode` asks for; NONE leaves them as they come."""
    mode = options.text("hoodie.bulkinsert.sort.mode")
    own = options.names("hoodie.bulkinsert.user.defined.partitioner.sort.columns")
    columns = (PARTITION_PATH, *own) if own else _PLACES
    if mode == "GLOBAL_SORT":
        return rows.ordered(columns)
    if mode.startswith("PARTITION_PATH_REPARTITION"):
        rows = rows.shuffled([PARTITION_PATH], parts)
    if mode in ("PARTITION_SORT", "PARTITION_PATH_REPARTITION_AND_SORT"):
        return rows.map(_Sorting(columns), rows.schema)
    return rows


@dataclass(frozen=True, slots=True)
class _Sorting:
    """The rows of a part, sorted."""

    columns: tuple[str, ...]

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        return rows.sort_by([(name, "ascending") for name in self.columns])
