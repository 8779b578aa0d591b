"""What a task says of a file that it wrote, and where it puts it."""

import pickle
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from hudi_format.metadata.records import ColumnStats
from hudi_format.names import BaseFileName
from hudi_format.table.partition_metafile import (
    MetafileForm,
    PartitionMetafile,
    metafile_name,
    serialise_partition_metafile,
)
from hudi_format.timeline.commit_metadata import WriteStat

from hudi_spark.concurrency import Effects

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
    """The files that tasks reported, by path."""
    # Only what this package's own tasks pickled a moment ago.
    found = [pickle.loads(one) for one in rows.column("written").to_pylist()]  # noqa: S301
    return tuple(sorted(found, key=lambda one: one.stat.path or ""))


@dataclass(frozen=True, slots=True)
class Place:
    """Puts the data files of one write.

    Clauses: SL-002, MK-001, TL-026.
    """

    effects: Effects
    requested: str
    metafile: MetafileForm = "properties"

    def put_base_file(self, partition: str, name: BaseFileName, data: bytes, io_type: str) -> bool:
        """A base file with all that goes before it; whether its folder was no partition before.

        Clauses: SL-002, SL-004, MK-001, MK-002.
        """
        created = self.announce(partition, str(name), io_type)
        self.effects.put_base_file(self.requested, partition, str(name), data)
        return created

    def announce(self, partition: str, file: str, io_type: str) -> bool:
        """Folder and marker of a data file that is about to be put; whether its folder was no partition before.

        Clauses: SL-002, MK-001, MK-002.
        """
        depth = len(partition.split("/")) if partition else 0
        content = serialise_partition_metafile(PartitionMetafile(self.requested, depth), self.metafile)
        name = metafile_name(self.metafile)
        created = self.effects.put_partition_metafile(self.requested, partition, name, content)
        self.effects.put_marker(self.requested, partition, file, io_type)
        return created
