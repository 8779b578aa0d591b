"""Partition paths of incoming rows.

Clauses: DM-031, DM-032, DM-033, SL-007.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_adapter.reasons import Reason
from hudi_format.names import is_partition_metafile

from hudi_spark.arrays import one_chunk
from hudi_spark.errors import HudiError
from hudi_spark.keying.timestamps import StampRule
from hudi_spark.merging.fields import column_of, field_values
from hudi_spark.schemas.key_text import key_text
from hudi_spark.schemas.partition_values import DEFAULT_PARTITION
from hudi_spark.state.configuration import PartitionStyle

# What Hive escapes in the name of a folder.
_ESCAPED: Final = {ord(one): f"%{ord(one):02X}" for one in [*map(chr, range(32)), "\x7f", *"\"#%'*/:=?[\\]^{"]}
_METADATA_FOLDER: Final = ".hoodie"
# Of one folder, in every file system that tables lie on.
_LONGEST_NAME: Final = 255
# Of a whole partition path: half of what Linux takes, so that base path, file name and marker name fit beside it.
_LONGEST_PATH: Final = 2048


@dataclass(frozen=True, slots=True)
class PartitionField:
    """One field of the path; `stamp` where it is written by a pattern of dates."""

    name: str
    stamp: StampRule | None = None


@dataclass(frozen=True, slots=True)
class PathRule:
    """How a row's partition path is made of its columns; empty without fields.

    `moments`: timestamps are written as such and not as their number.

    Clauses: DM-031, DM-032, DM-033.
    """

    fields: tuple[PartitionField, ...]
    style: PartitionStyle
    moments: bool = False

    def paths(self, rows: pa.Table) -> pa.ChunkedArray:
        """The path of each row.

        Raises:
            HudiError: KEY_MISSING when rows lack a partition field; PATH_ESCAPES_TABLE for a value that leads out of
                the table; CONFIG_INVALID for one that no file system of Apache Hudi can hold; SCHEMA_INCOMPATIBLE for
                one that is no moment.

        Clauses: DM-031, DM-032, DM-033, SL-007.

        """
        if not self.fields:
            return pa.chunked_array([pa.repeat("", len(rows))])
        self._refuse_absent(rows.schema)
        folders = [self._folders(field, rows) for field in self.fields]
        paths = folders[0] if len(folders) == 1 else pc.binary_join_element_wise(*folders, "/")
        for path in pc.unique(paths).to_pylist():
            refuse_unsafe(path)
        return pa.chunked_array([paths])

    def _refuse_absent(self, schema: pa.Schema) -> None:
        absent = [field.name for field in self.fields if column_of(field.name, schema) is None]
        if absent:
            message = f"the rows have no column {', '.join(absent)}, which the partition path is made of"
            raise HudiError(Reason.KEY_MISSING, "DM-031", message, hint="add the partition columns to the rows")

    def _folders(self, field: PartitionField, rows: pa.Table) -> pa.Array:
        """The part of the path that a field makes; each different text is made once."""
        column = field_values(rows, field.name)
        if field.stamp is not None:
            return _each(field.stamp.texts(column, field.name), lambda text: self._folder(field.name, text or ""))
        texts = one_chunk(key_text(column, moments=self.moments)).fill_null("")
        return _each(texts, lambda text: self._folder(field.name, text or DEFAULT_PARTITION))

    def _folder(self, name: str, text: str) -> str:
        folder = encoded(text) if self.style.encoded else text
        if self.style.slashed and len(self.fields) == 1 and not folder.startswith("-"):
            folder = folder.replace("-", "/")
        return f"{name}={folder}" if self.style.hive else folder


def encoded(text: str) -> str:
    """A value as the name of one folder.

    Clauses: DM-032.
    """
    return text.translate(_ESCAPED)


def refuse_unsafe(path: str) -> None:
    """Nothing for a partition path that stays below the table, beside its own folder `.hoodie`.

    Raises:
        HudiError: PATH_ESCAPES_TABLE, CONFIG_INVALID.

    Clauses: DM-031, SL-007.

    """
    folders = path.split("/")
    hint = "correct the rows, or create the table with hoodie.datasource.write.partitionpath.urlencode"
    if {"", ".", ".."} & set(folders) or folders[0] == _METADATA_FOLDER or "\0" in path:
        message = f"the partition path {path!r} does not lead to a folder of the table's own"
        raise HudiError(Reason.PATH_ESCAPES_TABLE, "SL-007", message, path, hint=hint)
    if any(map(is_partition_metafile, folders)):
        message = f"the partition path {path!r} has a folder with the name of a file that marks partitions"
        raise HudiError(Reason.CONFIG_INVALID, "DM-031", message, path, hint="correct the rows")
    if any(len(folder.encode()) > _LONGEST_NAME for folder in folders):
        message = f"the partition path {path[:40]!r}... has a folder of more than {_LONGEST_NAME} bytes"
        raise HudiError(Reason.CONFIG_INVALID, "DM-031", message, path, hint="choose another partition column")
    if len(path.encode()) > _LONGEST_PATH:
        message = f"the partition path {path[:40]!r}... has more than {_LONGEST_PATH} bytes"
        raise HudiError(Reason.CONFIG_INVALID, "DM-031", message, path, hint="choose another partition column")
    if ":" in folders[0]:
        message = f"the partition path {path!r} has a colon in its first folder, which Apache Hudi cannot open"
        raise HudiError(Reason.CONFIG_INVALID, "DM-031", message, path, hint=hint)


def _each(texts: pa.Array, folder: Callable[[str], str]) -> pa.Array:
    different = texts.dictionary_encode()
    folders = [folder(text) for text in different.dictionary.to_pylist()]
    return pa.array(folders, pa.string()).take(different.indices)
