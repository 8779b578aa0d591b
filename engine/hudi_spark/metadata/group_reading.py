"""One file group of the metadata table: its base file and log blocks, looked into by keys, by prefixes, or whole."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hudi_format.errors import UnsupportedFormat
from hudi_format.hfile.reader import HFile, open_hfile, open_stored_hfile
from hudi_format.log.blocks import BlockType, HeaderKey
from hudi_format.log.content import decode_deletes
from hudi_format.log.hfiles import log_origin
from hudi_format.metadata.codec import decode_metadata_record, reading_metadata_schema
from hudi_format.metadata.files import decode_metadata_block
from hudi_format.metadata.records import MetadataRecord
from hudi_format.storage import Storage

from hudi_spark.merging.log_scan import LocatedBlock, scan_logs
from hudi_spark.metadata.combining import combined, is_live
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.timeline import Visibility

_SCHEMA = "schema"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which keys are asked for: these, those that begin with one of the prefixes, or all when both are None."""

    keys: frozenset[str] | None = None
    prefixes: tuple[str, ...] | None = None

    def holds(self, key: str) -> bool:
        """Whether a key is asked for."""
        if self.keys is not None:
            return key in self.keys
        return self.prefixes is None or key.startswith(self.prefixes)


EVERYTHING = Wanted()


@dataclass(frozen=True)
class GroupReader:
    """Reads one file slice; what was opened stays open, so that several questions read the files once.

    Clauses: MT-001, MT-008.
    """

    storage: Storage
    slice: FileSlice
    visibility: Visibility

    def records(self, wanted: Wanted = EVERYTHING) -> dict[str, MetadataRecord]:
        """The records asked for that are there, by key.

        Raises:
            FormatError: BASE_FILE_MISSING, BASE_FILE_CORRUPT, LOG_CONTENT_CORRUPT, LIMIT_EXCEEDED.
            UnsupportedFormat: a base file or block of a kind that no metadata table has.

        Clauses: MT-008, MT-018.

        """
        found: dict[str, MetadataRecord] = {}
        for layer in self._layers:
            if isinstance(layer, _Deleted):
                for key in layer.keys:
                    found.pop(key, None)
            else:
                for record in layer.records(wanted):
                    found[record.key] = combined(found.get(record.key), record)
        return {key: record for key, record in found.items() if is_live(record)}

    @cached_property
    def _layers(self) -> "tuple[_Layer, ...]":
        """Base file and log blocks, oldest first."""
        base = () if self.slice.base_file is None else (_base_layer(self.storage, self.slice.base_file),)
        scan = scan_logs(self.storage, self.slice.log_files, self.visibility)
        return (*base, *(_layer(one) for one in scan.blocks))


@dataclass(frozen=True, slots=True)
class _Keyed:
    """An HFile, in which only what is asked for is decoded."""

    hfile: HFile
    schema: Any

    def records(self, wanted: Wanted) -> Iterator[MetadataRecord]:
        for key, value in _entries(self.hfile, wanted):
            yield decode_metadata_record(key, value, self.schema, self.hfile.origin)


@dataclass(frozen=True, slots=True)
class _Listed:
    """The records of an Avro block."""

    decoded: tuple[MetadataRecord, ...]

    def records(self, wanted: Wanted) -> Iterator[MetadataRecord]:
        return (record for record in self.decoded if wanted.holds(record.key))


@dataclass(frozen=True, slots=True)
class _Deleted:
    """The keys of a delete block."""

    keys: tuple[str, ...]


_Layer = _Keyed | _Listed | _Deleted


def _base_layer(storage: Storage, path: str) -> _Layer:
    if not path.endswith(".hfile"):
        raise UnsupportedFormat("metadata-base-file", path)
    hfile = open_stored_hfile(storage, path)
    return _Keyed(hfile, reading_metadata_schema(hfile.info.get(_SCHEMA, b"").decode(errors="replace"), hfile.origin))


def _layer(one: LocatedBlock) -> _Layer:
    """What one log block adds or removes.

    Clauses: LF-008, LF-026, MT-018.
    """
    block = one.block
    if block.type is BlockType.DELETE:
        return _Deleted(tuple(delete.key for delete in decode_deletes(block, one.file) if delete.key is not None))
    if block.type is BlockType.AVRO_DATA:
        return _Listed(decode_metadata_block(block, one.file))
    if block.type is not BlockType.HFILE_DATA:
        raise UnsupportedFormat(f"metadata-block-{block.type.name.lower()}", one.file)
    origin = log_origin(block, one.file)
    schema = reading_metadata_schema(block.header.get(HeaderKey.SCHEMA, ""), origin)
    return _Keyed(open_hfile(block.content, origin), schema)


def _entries(hfile: HFile, wanted: Wanted) -> Iterable[tuple[bytes, bytes]]:
    if wanted.keys is not None:
        return hfile.get(key.encode() for key in wanted.keys).items()
    if wanted.prefixes is None:
        return hfile.entries()
    return (entry for prefix in wanted.prefixes for entry in hfile.starting_with(prefix.encode()))
