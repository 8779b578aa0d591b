"""The metadata table of a table, from its bytes: the files of its indexes, with records named as the model has it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from hudi_format.errors import FormatError, UnsupportedFormat
from hudi_format.hfile.blocks import Origin
from hudi_format.hfile.reader import open_hfile
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, read_blocks
from hudi_format.log.blocks import CorruptBlock as RawCorruptBlock
from hudi_format.log.content import decode_command, decode_deletes
from hudi_format.metadata.codec import decode_metadata_record, reading_metadata_schema
from hudi_format.metadata.files import decode_metadata_block
from hudi_format.metadata.partitions import Partition, data_partition_of_id
from hudi_format.metadata.records import ColumnStats, FileList, MetadataRecord
from hudi_format.names import BaseFileName, LogFileName
from hudi_format.storage import Storage
from hudi_model.files import (
    BaseFile,
    Block,
    CorruptBlock,
    DataBlock,
    Delete,
    DeleteBlock,
    LogFile,
    Record,
    RollbackBlock,
)
from hudi_model.indexes import joined
from hudi_model.rejection import Reason
from hudi_model.time import InstantTime

from hudi_conformance.bridge.damage import decoded, decoded_or_damaged
from hudi_conformance.bridge.metadata_entries import IndexForm
from hudi_conformance.bridge.remembering import Remembered

METADATA_TABLE = ".hoodie/metadata"
_Content: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class MetadataFiles:
    """Reads the data files of a metadata table; an index without a form has no records."""

    forms: Mapping[str, IndexForm]

    def base_file(self, storage: Storage, path: str, partition: str, name: BaseFileName) -> BaseFile:
        """A base file with the entries of its index."""
        records = decoded(lambda: tuple(self._records(partition, _BASE_RECORDS(storage, path))))
        instant, size = InstantTime(name.instant), storage.size(path)
        return BaseFile(partition, name.file_id, name.write_token, instant, name.extension, str(name), records, size)

    def log_file(self, storage: Storage, path: str, partition: str, name: LogFileName) -> LogFile:
        """A log file whose blocks put entries or take them away."""
        blocks = decoded_or_damaged(
            lambda: tuple(
                block
                for raw, content in _LOG_BLOCKS(storage, path)
                for block in self._blocks(raw, content, partition, str(name.file_id))
            ),
            "LF-014",
            Reason.LOG_CONTENT_CORRUPT,
        )
        token, instant = name.write_token or "", InstantTime(name.instant)
        return LogFile(
            partition, name.file_id, instant, name.version, token, name.cdc, str(name), blocks, size=storage.size(path)
        )

    def _blocks(
        self, raw: RawBlock | RawCorruptBlock, content: _Content, partition: str, file_id: str
    ) -> Iterator[Block]:
        if isinstance(raw, RawCorruptBlock):
            yield CorruptBlock(raw.offset, raw.length)
            return
        instant = InstantTime(raw.header.get(HeaderKey.INSTANT_TIME, ""))
        listed = raw.header.get(HeaderKey.COMPACTED_BLOCK_TIMES, "")
        compacted = tuple(InstantTime(part.strip()) for part in listed.split(",") if part.strip())
        if raw.type is BlockType.COMMAND:
            yield from (RollbackBlock(instant, InstantTime(one.target)) for one in content)
        elif raw.type is BlockType.DELETE:
            keys = (self._key(partition, file_id, one.key) for one in content)
            yield DeleteBlock(instant, tuple(Delete(key, partition, None) for key in keys if key), compacted)
        else:
            entries = list(self._entries(partition, content))
            kept = tuple(record_of(key, content) for key, content in entries if content is not None)
            gone = tuple(Delete(key, partition, None) for key, content in entries if content is None)
            yield DataBlock(instant, kept, compacted_instants=compacted)
            if gone:
                yield DeleteBlock(instant, gone, compacted)

    def _records(self, partition: str, records: Iterable[MetadataRecord]) -> Iterator[Record]:
        for key, content in self._entries(partition, records):
            if content is not None:
                yield record_of(key, content)

    def _entries(self, partition: str, records: Any) -> Iterator[tuple[str, Any]]:
        form = self.forms.get(partition)
        if form:
            yield from (entry for one in records if (entry := form.entry(one)))

    def _key(self, partition: str, file_id: str, text: str | None) -> str | None:
        form = self.forms.get(partition)
        if form is None or text is None:
            return None
        if form.is_partitioned:
            return joined(data_partition_of_id(file_id) or "", text)
        return form.names.key(partition, text)


def record_of(key: str, content: Any) -> Record:
    """An entry as a record of the model's metadata table."""
    return Record({"key": key, "content": content})


def stored_records(storage: Storage, partition: str) -> Iterator[MetadataRecord]:
    """Every record that the files of an index hold, whatever became of it; what does not decode is passed over."""
    for status in storage.list_files(partition, recursive=False):
        try:
            if status.path.endswith(".hfile"):
                yield from _BASE_RECORDS(storage, status.path)
            elif ".log." in status.path:
                blocks = _LOG_BLOCKS(storage, status.path)
                yield from (one for raw, content in blocks if _has_records(raw) for one in content)
        except (FormatError, UnsupportedFormat):
            continue


def listed_files(storage: Storage) -> Iterator[tuple[str, str]]:
    """Every partition and file name that the list of files has ever named, also those that are gone from storage."""
    for record in stored_records(storage, Partition.FILES):
        if isinstance(record.content, FileList):
            yield from ((record.key, one) for one in record.content.entries)


def indexed_columns(storage: Storage) -> tuple[str, ...]:
    """The columns that any file has statistics of."""
    contents = (record.content for record in stored_records(storage, Partition.COLUMN_STATS))
    return tuple(sorted({one.column_name for one in contents if isinstance(one, ColumnStats) and one.column_name}))


def _base_records(storage: Storage, path: str) -> tuple[MetadataRecord, ...]:
    origin = Origin(path)
    opened = open_hfile(storage.read(path), origin)
    schema = reading_metadata_schema(opened.info.get("schema", b"").decode(), origin)
    return tuple(decode_metadata_record(key, value, schema, origin) for key, value in opened.entries())


def _log_blocks(storage: Storage, path: str) -> tuple[tuple[RawBlock | RawCorruptBlock, _Content], ...]:
    return tuple((raw, _content(raw, path)) for raw in read_blocks(storage.read(path), path))


def _content(raw: RawBlock | RawCorruptBlock, path: str) -> _Content:
    """The records, the deletes or the command of a block."""
    if isinstance(raw, RawCorruptBlock):
        return ()
    if raw.type is BlockType.COMMAND:
        return (decode_command(raw, path),)
    return tuple(decode_deletes(raw, path) if raw.type is BlockType.DELETE else decode_metadata_block(raw, path))


def _has_records(raw: RawBlock | RawCorruptBlock) -> bool:
    return isinstance(raw, RawBlock) and raw.type in (BlockType.HFILE_DATA, BlockType.AVRO_DATA)


_BASE_RECORDS: Final = Remembered(_base_records)
_LOG_BLOCKS: Final = Remembered(_log_blocks)
