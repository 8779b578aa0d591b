"""The files of a table by its metadata table, or by storage where that may not be used."""

from collections.abc import Mapping
from typing import Final

from hudi_adapter.reasons import Reason
from hudi_format.errors import FormatError, UnsupportedFormat
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError
from hudi_spark.metadata.table import MetadataTable, NoMetadata, open_metadata_table
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.listing import FileListing, ListFiles, list_stored, stored_files
from hudi_spark.state.timeline import Timeline

METADATA_TABLE = "metadata table"
ENABLED_KEY: Final = "hoodie.metadata.enable"
_ENABLED_BY_DEFAULT: Final = "true"


def lister(configs: Mapping[str, str]) -> ListFiles:
    """Who lists files: the metadata table as releases have it by default, storage where the option says so.

    Raises:
        HudiError: CONFIG_INVALID for a value that is neither true nor false.

    Clauses: MT-007, RD-001.

    """
    text = configs.get(ENABLED_KEY, _ENABLED_BY_DEFAULT).strip().lower()
    if text not in {"true", "false"}:
        raise HudiError(Reason.CONFIG_INVALID, "RD-001", f"{ENABLED_KEY} is {text!r}", hint="say true or false")
    return list_by_metadata if text == "true" else list_stored


def list_by_metadata(storage: Storage, configuration: TableConfiguration, timeline: Timeline) -> FileListing:
    """The files that the metadata table lists; those in storage, with the reason, where it may not be used.

    Clauses: MT-007, MT-010, MT-019.
    """
    return listing_of(storage, open_metadata_table(storage, configuration, timeline))


def listing_of(storage: Storage, metadata: MetadataTable | NoMetadata) -> FileListing:
    """The same for a metadata table that is open already.

    Clauses: MT-007, MT-010.
    """
    if isinstance(metadata, NoMetadata):
        return stored_files(storage, f"storage: {metadata.why}")
    try:
        partitions = metadata.all_files()
    except (FormatError, UnsupportedFormat, HudiError, OSError) as error:
        return stored_files(storage, f"storage: the list of files cannot be read: {error}")
    files = ((partition, name) for partition, names in partitions.items() for name in names)
    return FileListing(tuple(sorted(files)), METADATA_TABLE)
