"""What the storage of a metadata table says of it."""

from functools import cached_property

from hudi_format.storage import Storage

from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.listing import FileListing, stored_files
from hudi_spark.state.snapshots import load_table
from hudi_spark.state.timeline import Timeline


class OwnState:
    """A metadata table's own configuration, timeline and files, each read when it is first asked for, and not again.

    Who changes the metadata table takes a new one after.

    Clauses: MT-001.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    @cached_property
    def table(self) -> tuple[TableConfiguration, Timeline]:
        """Configuration and active timeline.

        Raises:
            HudiError: the reasons of a refused table.
            FormatError: what a file of the table breaks.

        """
        return load_table(self.storage)

    @cached_property
    def listing(self) -> FileListing:
        """The files of all indexes; who reads without the lock asks for the timeline first."""
        return stored_files(self.storage)
