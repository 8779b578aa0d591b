"""What tasks read of data files for indexes: statistics of columns and bloom filters, as entries of an index."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from hudi_format.base.files import BLOOM_FILTER_KEY, BLOOM_TYPE_KEY, base_file_footer, open_base_parquet
from hudi_format.log.blocks import BlockType, RawBlock, read_blocks
from hudi_format.log.content import decode_arrow
from hudi_format.metadata.records import BloomFilterEntry, ColumnStats
from hudi_format.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_format.storage import Storage

from hudi_spark.effects.helper import joined
from hudi_spark.files.statistics import (
    IndexedColumn,
    base_file_statistics,
    no_rows_statistics,
    rows_statistics,
    type_at,
)
from hudi_spark.state.vanishing import read_log

FileKey = tuple[str, str]
"""Partition path and file name."""

_ROWS: Final = (BlockType.AVRO_DATA, BlockType.PARQUET_DATA, BlockType.HFILE_DATA)
_PARQUET: Final = ".parquet"
_PLAIN_FILTER: Final = "SIMPLE"


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Reads what indexes hold of data files; can be pickled."""

    storage: Storage
    columns: tuple[IndexedColumn, ...] = ()
    version: str = "V1"

    def statistics(self, file: FileKey) -> tuple[ColumnStats, ...]:
        """Statistics of the columns of a base file or a log; none where the file's form has none, or holds no data.

        Raises:
            FormatError: BASE_FILE_CORRUPT, LOG_CONTENT_CORRUPT.

        Clauses: MT-011, MT-013.

        """
        partition, name = file
        parsed = parse_data_file_name(name)
        if isinstance(parsed, LogFileName):
            return () if parsed.cdc else self._of_log(joined(partition, name), name)
        return self._of_base(joined(partition, name), name) if name.endswith(_PARQUET) else ()

    def bloom_filter(self, file: FileKey) -> BloomFilterEntry | None:
        """The bloom filter of a base file, None where it has none.

        Raises:
            FormatError: BASE_FILE_MISSING, BASE_FILE_CORRUPT.

        Clauses: IX-011.

        """
        partition, name = file
        parsed = parse_data_file_name(name)
        if not isinstance(parsed, BaseFileName):
            return None
        keys = base_file_footer(self.storage, joined(partition, name)).keys
        text = keys.get(BLOOM_FILTER_KEY)
        kind = keys.get(BLOOM_TYPE_KEY) or _PLAIN_FILTER
        return None if text is None else BloomFilterEntry(kind, parsed.instant, text.encode())

    def _of_base(self, path: str, name: str) -> tuple[ColumnStats, ...]:
        opened = open_base_parquet(self.storage, path)
        columns = columns_as_stored(self.columns, opened.schema)
        return base_file_statistics(name, opened.metadata, columns, self.version, opened.column)

    def _of_log(self, path: str, name: str) -> tuple[ColumnStats, ...]:
        """Clauses: MT-011, LF-007, LF-026, LF-027."""
        blocks = [one for one in read_blocks(read_log(self.storage, path), path) if isinstance(one, RawBlock)]
        tables = [decode_arrow(one, path) for one in blocks if one.type in _ROWS]
        if tables:
            rows = pa.concat_tables(tables, promote_options="permissive")
            return rows_statistics(name, rows, columns_as_stored(self.columns, rows.schema), self.version)
        deletes = any(one.type is BlockType.DELETE for one in blocks)
        return no_rows_statistics(name, self.columns, self.version) if deletes else ()


def columns_as_stored(columns: Iterable[IndexedColumn], schema: pa.Schema) -> tuple[IndexedColumn, ...]:
    """The same columns in the types that a file holds them in, which may be those of an older schema.

    Clauses: MT-023, DM-004.
    """
    return tuple(IndexedColumn(one.name, type_at(schema, one.name) or one.type) for one in columns)


def in_chunks(files: Iterable[FileKey], size: int) -> list[tuple[FileKey, ...]]:
    """Files in tasks of some each."""
    ordered: Sequence[FileKey] = sorted(files)
    return [tuple(ordered[at : at + size]) for at in range(0, len(ordered), size)]
