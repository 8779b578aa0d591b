"""Slices of a table that was bootstrapped in place: their data stands in files outside of the table."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from hudi_adapter.reasons import Reason
from hudi_format.storage import Storage, open_storage
from hudi_format.table.bootstrap_index import (
    FILE_INDEX_FOLDER,
    METADATA_ONLY_INSTANT,
    BootstrappedFile,
    parse_bootstrap_index,
)
from hudi_format.table.table_properties import PROPERTIES_FILE

from hudi_spark.errors import HudiError
from hudi_spark.schemas.base_rows import External
from hudi_spark.schemas.partition_values import DEFAULT_PARTITION
from hudi_spark.state.commits import GroupId
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.slicing import FileSlice

_LOCAL = "file:"


@dataclass(frozen=True, slots=True)
class Bootstrapped:
    """The data files of a table's bootstrapped slices.

    Clauses: BF-012.
    """

    storage: Storage
    files: Mapping[GroupId, BootstrappedFile]

    def external(self, one: FileSlice) -> External | None:
        """The data file of a slice; None where its base file has the data itself.

        Raises:
            HudiError: BASE_FILE_MISSING when the index lacks the slice; PATH_ESCAPES_TABLE for a file elsewhere than
                below the bootstrap base path.

        Clauses: BF-012, SL-007.

        """
        if one.base_file is None or one.base_instant != METADATA_ONLY_INSTANT:
            return None
        entry = self.files.get((one.partition, one.file_id))
        if entry is None:
            message = "the bootstrap index names no data file for it"
            hint = "restore the folder .hoodie/.aux/.bootstrap"
            raise HudiError(Reason.BASE_FILE_MISSING, "BF-012", message, one.base_file, hint=hint)
        return External(self.storage, self._path(entry), _folder_values(entry.source_partition))

    def _path(self, entry: BootstrappedFile) -> str:
        base, uri = _plain(self.storage.base).rstrip("/"), _plain(entry.uri)
        if not uri.startswith(f"{base}/"):
            message = f"the bootstrap index names {entry.uri!r}, which is not below {base!r}"
            hint = "let hoodie.bootstrap.base.path name the folder that the files are in"
            raise HudiError(Reason.PATH_ESCAPES_TABLE, "SL-007", message, FILE_INDEX_FOLDER, hint=hint)
        return uri.removeprefix(f"{base}/")


def bootstrapped(storage: Storage, configuration: TableConfiguration) -> Bootstrapped | None:
    """The data files of a table that was bootstrapped; None for any other table.

    Raises:
        HudiError: PROPERTIES_INVALID when the properties name no place for them.
        FormatError: BASE_FILE_CORRUPT when the index does not parse.

    Clauses: BF-012.

    """
    if configuration.bootstrap_base is None:
        return None
    paths = [status.path for status in storage.list_files(FILE_INDEX_FOLDER) if status.path.endswith(".hfile")]
    entries = [entry for path in paths for entry in parse_bootstrap_index(storage.read(path), path)]
    files = {(entry.partition, entry.file_id): entry for entry in entries}
    try:
        source = open_storage(_plain(configuration.bootstrap_base))
    except ValueError as error:
        hint = "let it name the folder or the URI that the table was bootstrapped from"
        message = f"hoodie.bootstrap.base.path is {configuration.bootstrap_base!r}: {error}"
        raise HudiError(Reason.PROPERTIES_INVALID, "BF-012", message, PROPERTIES_FILE, hint=hint) from error
    return Bootstrapped(source, files)


def _plain(place: str) -> str:
    """A local place without its scheme, which writers spell in several ways."""
    return f"/{place.removeprefix(_LOCAL).lstrip('/')}" if place.startswith(_LOCAL) else place


def _folder_values(partition: str) -> dict[str, str | None]:
    """The columns that the folders of the data's own partition name; Spark wrote and escaped them."""
    named = (folder.partition("=") for folder in partition.split("/") if "=" in folder)
    return {name: None if text == DEFAULT_PARTITION else unquote(text) for name, _, text in named}
