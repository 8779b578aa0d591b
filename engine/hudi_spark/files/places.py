"""Where a task puts a data file: partition, metafile, marker, file, in this order."""

from dataclasses import dataclass

from hudi_format.names import BaseFileName
from hudi_format.table.partition_metafile import (
    MetafileForm,
    PartitionMetafile,
    metafile_name,
    serialise_partition_metafile,
)

from hudi_spark.effects.helper import Effects


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
