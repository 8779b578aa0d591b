"""What a task tells of a file that it wrote."""

import pickle
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from hudi_format.metadata.records import ColumnStats
from hudi_format.timeline.commit_metadata import WriteStat

WRITTEN_SCHEMA: Final = pa.schema([pa.field("written", pa.binary())])


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A data file: its stat for the commit, and the statistics of its columns.

    `created_partition`: the folder was no partition before. What is large, bloom filters and record keys, stays in the
    file: who indexes it reads it there.

    Clauses: TL-019, MT-011.
    """

    stat: WriteStat
    column_stats: tuple[ColumnStats, ...] = ()
    created_partition: bool = False


def to_rows(written: tuple[WrittenFile, ...]) -> pa.Table:
    """Files as rows that cross from a task to the driver."""
    return pa.table({"written": [pickle.dumps(one) for one in written]}, schema=WRITTEN_SCHEMA)


def from_rows(rows: pa.Table) -> tuple[WrittenFile, ...]:
    """The files that tasks told of, by path."""
    # Only what this package's own tasks pickled a moment ago.
    found = [pickle.loads(one) for one in rows.column("written").to_pylist()]  # noqa: S301
    return tuple(sorted(found, key=lambda one: one.stat.path or ""))
