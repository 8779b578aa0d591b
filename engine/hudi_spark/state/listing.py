"""Which files a table has, by the names in its storage or by whoever else knows them."""

from collections.abc import Callable
from dataclasses import dataclass

from hudi_format.names import is_partition_metafile
from hudi_format.storage import Storage

from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.timeline import Timeline

STORAGE = "storage"


@dataclass(frozen=True, slots=True)
class FileListing:
    """The files of a table, as partition path and name; `source` says in words where they were listed.

    Clauses: SL-002, MT-010.
    """

    files: tuple[tuple[str, str], ...]
    source: str = STORAGE

    @property
    def is_stored(self) -> bool:
        """Whether these are the names of files in storage."""
        return self.source.startswith(STORAGE)


ListFiles = Callable[[Storage, TableConfiguration, Timeline], FileListing]


def list_stored(storage: Storage, configuration: TableConfiguration, timeline: Timeline) -> FileListing:
    """The files in storage."""
    del configuration, timeline
    return stored_files(storage)


def stored_files(storage: Storage, source: str = STORAGE) -> FileListing:
    """The files in the folders that are partitions: those with a metafile.

    Clauses: SL-002, SL-020.
    """
    found = [status.path.rpartition("/") for status in storage.list_files(skip=(".hoodie",))]
    partitions = {partition for partition, _, name in found if is_partition_metafile(name)}
    return FileListing(tuple((partition, name) for partition, _, name in found if partition in partitions), source)
