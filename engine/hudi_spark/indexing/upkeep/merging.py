"""The layers of a file group of the metadata table merged into one, in columns.

A key that one layer alone has keeps the bytes of its record; only what several layers say of one key is decoded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.hfile.blocks import Origin
from hudi_format.hfile.reader import HFile, open_hfile, open_stored_hfile
from hudi_format.log.blocks import BlockType, HeaderKey
from hudi_format.log.content import decode_deletes
from hudi_format.log.hfiles import log_origin
from hudi_format.metadata.codec import (
    decode_metadata_record,
    encode_metadata_record,
    metadata_schema_text,
    reading_metadata_schema,
)
from hudi_format.metadata.files import decode_metadata_block
from hudi_format.metadata.partitions import Partition, is_secondary_index
from hudi_format.metadata.record_schemas import SchemaRelease
from hudi_format.metadata.records import MetadataRecord
from hudi_format.storage import Storage
from hudi_format.texts import Places

from hudi_spark.arrays import one_chunk
from hudi_spark.merging.log_scan import LocatedBlock, scan_logs
from hudi_spark.metadata.combining import combined, is_live
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.timeline import Visibility

_LAYER: Final = pa.schema([("key", pa.string()), ("value", pa.binary())])
_SCHEMA: Final = "schema"
_AT_ONCE: Final = 100_000
_ORIGIN: Final = Origin("a merged file group")
_REPLACED: Final = (Partition.RECORD_INDEX, Partition.BLOOM_FILTERS)


@dataclass(frozen=True, slots=True)
class Merged:
    """What a file group holds: `key` and `value`, in the order of the keys; a null value deletes its key.

    `release`: whose bytes the values are. `instants`: those of the log blocks, newest first. `read`, `blocks`: records
    and blocks that the logs had.
    """

    entries: pa.Table
    release: SchemaRelease
    instants: tuple[str, ...]
    read: int
    blocks: int


@dataclass(frozen=True, slots=True)
class GroupMerging:
    """Merges slices of a metadata table; can be pickled. `only_logs`: over a base file that stays as it is.

    Records are written as `least` has them, or as the newest release whose records the slice holds.

    Clauses: MT-008, MT-015, MT-018, LF-019.
    """

    storage: Storage
    visibility: Visibility
    least: SchemaRelease
    only_logs: bool = False

    def merged(self, one: FileSlice) -> Merged:
        """The entries of a slice; those that are gone only where they have to hide what is below.

        Raises:
            FormatError: BASE_FILE_MISSING, BASE_FILE_CORRUPT, LOG_CONTENT_CORRUPT.

        Clauses: MT-008, MT-018.

        """
        blocks = scan_logs(self.storage, one.log_files, self.visibility).blocks
        base = None if one.base_file is None or self.only_logs else open_stored_hfile(self.storage, one.base_file)
        texts = [block.block.header.get(HeaderKey.SCHEMA, "") for block in blocks]
        release = max([self.least, *map(_release_of, [*texts, _schema_of(base)])])
        layers = Layers(release, keeps_marks=self.only_logs)
        bases = [] if base is None else [layers.of_hfile(base, _schema_of(base))]
        logs = [layers.of_block(block) for block in blocks]
        entries = layers.settled([*bases, *logs], one.partition, len(bases))
        instants = tuple(dict.fromkeys(block.instant for block in reversed(blocks)))
        return Merged(entries, release, instants, sum(layer.num_rows for layer in logs), len(blocks))


@dataclass(frozen=True, slots=True)
class Layers:
    """What base files and log blocks say, in the bytes of one release, one upon the other."""

    release: SchemaRelease
    keeps_marks: bool

    def of_block(self, one: LocatedBlock) -> pa.Table:
        """What one log block adds or removes.

        Clauses: LF-008, LF-026, MT-018.
        """
        block = one.block
        if block.type is BlockType.DELETE:
            keys = [delete.key for delete in decode_deletes(block, one.file) if delete.key is not None]
            return pa.table([pa.array(keys, pa.string()), pa.nulls(len(keys), pa.binary())], schema=_LAYER)
        if block.type is BlockType.HFILE_DATA:
            opened = open_hfile(block.content, log_origin(block, one.file))
            return self.of_hfile(opened, block.header.get(HeaderKey.SCHEMA, ""))
        records = sorted(decode_metadata_block(block, one.file), key=lambda record: record.key)
        values = [encode_metadata_record(record, self.release) for record in records]
        return pa.table([[record.key for record in records], values], schema=_LAYER)

    def of_hfile(self, opened: HFile, schema: str) -> pa.Table:
        """The entries of an HFile; where its records have other bytes, each different one is decoded once."""
        found = pa.concat_tables([_LAYER.empty_table(), *_tables(opened)])
        if schema == metadata_schema_text(self.release):
            return found
        readable = reading_metadata_schema(schema, opened.origin)
        distinct = one_chunk(found["value"]).dictionary_encode()
        records = (decode_metadata_record(b"", one, readable, opened.origin) for one in distinct.dictionary.to_pylist())
        values = pa.array([encode_metadata_record(record, self.release) for record in records], pa.binary())
        return found.set_column(1, "value", values.take(distinct.indices))

    def settled(self, layers: Sequence[pa.Table], partition: str, bases: int) -> pa.Table:
        """Each key once: as its only layer has it, or as its layers combine; the first `bases` are base files."""
        whole = pa.concat_tables([_LAYER.empty_table(), *layers])
        numbers = np.repeat(np.arange(len(layers)), [layer.num_rows for layer in layers])
        if not len(numbers):
            return whole
        places = pa.table({"key": whole["key"], "layer": numbers})
        order = pc.sort_indices(places, [("key", "ascending"), ("layer", "ascending")])
        ordered, numbers = whole.take(order).combine_chunks(), numbers[order.to_numpy()]
        keys = one_chunk(ordered["key"])
        starts = np.flatnonzero(np.append(True, pc.not_equal(keys[1:], keys[:-1]).to_numpy(zero_copy_only=False)))
        lasts = np.append(starts[1:], len(keys)) - 1
        values = one_chunk(ordered["value"])
        result = values.take(pa.array(lasts))
        if not _is_replaced(partition):
            result = self._combined_where_several(result, values, starts, lasts)
        kept = pa.table([keys.take(pa.array(lasts)), result], schema=_LAYER)
        return kept if self.keeps_marks else self._without_gone(kept, pa.array(numbers[lasts] >= bases))

    def _combined_where_several(self, result: pa.Array, values: pa.Array, starts: Places, lasts: Places) -> pa.Array:
        """The values of keys that several layers have, combined in the order of the layers."""
        several = lasts > starts
        found = [
            self._combined(values[start : last + 1].to_pylist())
            for start, last in zip(starts[several].tolist(), lasts[several].tolist(), strict=True)
        ]
        return pc.replace_with_mask(result, pa.array(several), pa.array(found, pa.binary()))

    def _combined(self, values: Sequence[bytes | None]) -> bytes | None:
        """Clauses: MT-008, MT-018."""
        since = max((place for place, value in enumerate(values) if value is None), default=-1) + 1
        record: MetadataRecord | None = None
        for value in values[since:]:
            if value is not None:
                record = combined(record, self._decoded(value), marks_stay=self.keeps_marks)
        return None if record is None else encode_metadata_record(record, self.release)

    def _decoded(self, value: bytes) -> MetadataRecord:
        schema = reading_metadata_schema(metadata_schema_text(self.release), _ORIGIN)
        return decode_metadata_record(b"", value, schema, _ORIGIN)

    def _without_gone(self, entries: pa.Table, logged: pa.Array) -> pa.Table:
        """Without what logs say to be gone: nothing lies below that it would have to hide."""
        present = entries["value"].is_valid()
        marks = one_chunk(entries["value"].filter(pc.and_(present, logged))).dictionary_encode().dictionary
        gone = [one for one in marks.to_pylist() if not is_live(self._decoded(one))]
        hidden = pc.is_in(entries["value"], value_set=pa.array(gone, pa.binary()))
        return entries.filter(pc.and_(present, pc.invert(hidden)))


def _release_of(schema: str) -> SchemaRelease:
    """The release whose records a schema has, by the fields that it brought."""
    if '"valueType"' in schema:
        return SchemaRelease.V1_1
    return SchemaRelease.V1_0 if '"isTightBound"' in schema else SchemaRelease.V0_15


def _schema_of(opened: HFile | None) -> str:
    return "" if opened is None else opened.info.get(_SCHEMA, b"").decode(errors="replace")


def _is_replaced(partition: str) -> bool:
    """Whether of two records of one key in an index the later one counts alone.

    Clauses: MT-008.
    """
    return partition in _REPLACED or is_secondary_index(partition)


def _tables(opened: HFile) -> Iterator[pa.Table]:
    entries = opened.entries()
    while part := list(islice(entries, _AT_ONCE)):
        columns = (pa.array([entry[0] for entry in part], pa.binary()), [entry[1] for entry in part])
        yield pa.table([columns[0].cast(pa.string()), columns[1]], schema=_LAYER)
