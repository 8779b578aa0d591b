"""Native logs, a draft of table version 10: a whole Parquet file whose footer holds what a block's header held.

.log.parquet       rows in the table's columns, meta fields first
.deletes.parquet   the record key, then the ordering fields; a null stands for no ordering value
.cdc.parquet       the fields of a logged change

The footer has an entry for each part of the header, `hudi.log.format.` and its name, and one for the format's version.
"""

import io
from collections.abc import Mapping, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_format.base.files import AVRO_SCHEMA_KEY
from hudi_format.base.parquet_bytes import open_parquet, read_parquet
from hudi_format.errors import FormatError, Reason, UnsupportedFormat, refusing
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock
from hudi_format.log.changes import COLUMNS, OPERATIONS
from hudi_format.names import NativeKind, NativeLogName

FOOTER_PREFIX: Final = "hudi.log.format."
NATIVE_VERSION: Final = 2
RECORD_KEY: Final = "_hoodie_record_key"
_VERSION: Final = "VERSION"
_TYPES: Final[Mapping[NativeKind, BlockType]] = {
    "log": BlockType.PARQUET_DATA,
    "deletes": BlockType.DELETE,
    "cdc": BlockType.CDC_DATA,
}


def write_native_log(rows: pa.Table, header: Mapping[HeaderKey, str]) -> bytes:
    """A whole native log, uncompressed.

    Clauses: NL-002, NL-003.
    """
    entries = {_VERSION: str(NATIVE_VERSION), **{key.name: text for key, text in header.items()}}
    keys = {f"{FOOTER_PREFIX}{name}": text for name, text in sorted(entries.items())}
    bare, stream = rows.replace_schema_metadata(None), io.BytesIO()
    with pq.ParquetWriter(stream, bare.schema, compression="NONE", store_schema=False) as writer:
        writer.write_table(bare)
        writer.add_key_value_metadata({AVRO_SCHEMA_KEY: header[HeaderKey.SCHEMA], **keys})
    return stream.getvalue()


def read_native_log(data: bytes, name: NativeLogName, file: str) -> RawBlock:
    """A native log as the one block that it stands for, its content the whole file; its instant is that of the name.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT where it is torn, lacks its schema or has a format of a later version;
            LIMIT_EXCEEDED.
        UnsupportedFormat: log-native-<format> for any but Parquet.

    Clauses: NL-002, NL-003, NL-007, NL-008.

    """
    if name.format != "parquet":
        raise UnsupportedFormat(f"log-native-{name.format}", file)
    header = _header(data, file)
    if HeaderKey.SCHEMA not in header:
        raise FormatError(Reason.LOG_CONTENT_CORRUPT, "NL-003", file, None, "the footer has no schema of the log")
    header = {HeaderKey.INSTANT_TIME: name.instant, **header}
    return RawBlock(_TYPES[name.kind], NATIVE_VERSION, 0, len(data), header, data, 0)


def _header(data: bytes, file: str) -> dict[HeaderKey, str]:
    """The entries of the footer that are known; others are of later minor versions and say nothing here."""
    pairs = open_parquet(data, file, None, Reason.LOG_CONTENT_CORRUPT, "NL-007").metadata.metadata or {}
    with refusing(Reason.LOG_CONTENT_CORRUPT, "NL-003", file, None, "the footer's entries are no text"):
        stated = {key.decode(): value.decode() for key, value in pairs.items()}
    entries = {key.removeprefix(FOOTER_PREFIX): text for key, text in stated.items() if key.startswith(FOOTER_PREFIX)}
    _refuse_later(entries.get(_VERSION, str(NATIVE_VERSION)).strip(), file)
    return {HeaderKey[name]: text for name, text in entries.items() if name in HeaderKey.__members__}


def _refuse_later(version: str, file: str) -> None:
    """Clauses: NL-008."""
    if not (version.isascii() and version.isdigit()) or int(version) > NATIVE_VERSION:
        message = f"version {version!r} of the log format is not known"
        raise FormatError(Reason.LOG_CONTENT_CORRUPT, "NL-008", file, None, message)


def native_rows(block: RawBlock, file: str) -> pa.Table:
    """What a native log holds, as it lies there.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT, LIMIT_EXCEEDED.

    Clauses: NL-002, NL-007.

    """
    return read_parquet(block.content, file, None, Reason.LOG_CONTENT_CORRUPT, "NL-007")


def native_deletes(block: RawBlock, ordering: Sequence[str], file: str) -> pa.Table:
    """The tombstones of a native log: the key, then the table's ordering fields.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT where a column is absent or a key is null; LIMIT_EXCEEDED.

    Clauses: NL-004.

    """
    rows = native_rows(block, file)
    absent = sorted({RECORD_KEY, *ordering} - set(rows.column_names))
    if absent or rows.column(RECORD_KEY).null_count:
        what = f"there is no column {absent[0]}" if absent else "a delete names no key"
        raise FormatError(Reason.LOG_CONTENT_CORRUPT, "NL-004", file, None, what)
    return rows.select([RECORD_KEY, *ordering])


def native_changes(block: RawBlock, file: str) -> pa.Table:
    """The changes in a native log of the change feed.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT where the columns are those of no mode, or a change lacks its operation;
            LIMIT_EXCEEDED.

    Clauses: NL-011.

    """
    rows = native_rows(block, file)
    if tuple(rows.column_names) not in COLUMNS.values() or set(rows.column("op").to_pylist()) - set(OPERATIONS):
        raise FormatError(Reason.LOG_CONTENT_CORRUPT, "NL-011", file, None, "these are no changes of a table")
    return rows
