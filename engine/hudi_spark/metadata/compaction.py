"""Compaction and log compaction of the metadata table.

A key that one layer alone has keeps the bytes of its record; only what several layers say of one key is decoded.

version 6       after the last deltacommit, and not while an action before that one is pending on the data table
version 8 on    now, or before the first action that has come to the metadata table and not to the data table
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
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
from hudi_format.metadata.columns import columns_base_file, columns_block, columns_delete_block
from hudi_format.metadata.files import decode_metadata_block
from hudi_format.metadata.partitions import Partition, is_secondary_index
from hudi_format.metadata.record_schemas import SchemaRelease
from hudi_format.metadata.records import MetadataRecord
from hudi_format.names import BaseFileName, LogFileName, TimelineFileName, TimelineState, parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.texts import Places
from hudi_format.timeline.commit_metadata import (
    NO_PREVIOUS_COMMIT,
    CommitMetadata,
    RuntimeStats,
    WriteStat,
    serialise_avro,
    serialise_json,
)
from hudi_format.timeline.plans import (
    CompactionOperation,
    CompactionPlan,
    CompactionStrategy,
    serialise_compaction_plan,
)

from hudi_spark.concurrency import Clock, Effects, instant_text, joined, milliseconds_of
from hudi_spark.errors import HudiError, Reason, in_files_of
from hudi_spark.files import WRITTEN_SCHEMA, WrittenFile, from_rows, to_rows
from hudi_spark.metadata.file_groups import GroupFiles, Place, group_places, metadata_groups
from hudi_spark.metadata.layout import INSTANT_DIGITS, MetadataLayout, newest_time
from hudi_spark.options import Options
from hudi_spark.read import Executor, TaskIdentity
from hudi_spark.schema import one_chunk
from hudi_spark.table_state import (
    FileSlice,
    Instant,
    LocatedBlock,
    TableConfiguration,
    Timeline,
    Visibility,
    combined,
    compaction_plan,
    completion_times,
    counted_beside,
    is_live,
    load_timeline,
    refuse_foreign_slices,
    scan_logs,
    slices_of_indexes,
)


@dataclass(frozen=True, slots=True)
class DataTable:
    """What the services ask of the data table: its active timeline as it is now, and the indexes that it lists."""

    storage: Storage
    configuration: TableConfiguration
    timeline: Timeline
    indexes: tuple[str, ...]

    def pending(self) -> tuple[Instant, ...]:
        """The actions that have not completed, by requested time."""
        return tuple(one for one in self.timeline.instants if not one.is_completed)


@dataclass(frozen=True, slots=True)
class OwnTable:
    """The metadata table; `inside`, `configuration` and `timeline` are its own, `options` those of the writer.

    Clauses: MT-001, MT-015.
    """

    inside: Effects
    configuration: TableConfiguration
    timeline: Timeline
    layout: MetadataLayout
    data: DataTable
    options: Options
    executor: Executor
    clock: Clock

    def again(self) -> "OwnTable":
        """The same with the timeline as it is in storage now."""
        return replace(self, timeline=load_timeline(self.inside.storage, self.configuration))

    def now(self, after: str = "") -> str:
        """An instant after all that the timeline has, and after `after`.

        Clauses: TM-003, TM-005.
        """
        return self.clock.instant(max(newest_time(self.timeline), after))

    def begin(self, instant: str, action: str, plan: bytes, inflight: bytes = b"") -> None:
        """A service is requested with its plan, and inflight.

        Clauses: TL-002, TL-003.
        """
        self.put(instant, action, "REQUESTED", plan)
        self.put(instant, action, "INFLIGHT", inflight)

    def complete(self, instant: str, action: str, content: bytes) -> None:
        """A service counts from here on.

        Clauses: TL-003, TL-006.
        """
        self.put(instant, action, "COMPLETED", content)

    def put(self, instant: str, action: str, state: TimelineState, content: bytes) -> None:
        """A file of the timeline appears."""
        timed = state == "COMPLETED" and self.layout.has_completion_times
        completed = self.now(instant[:INSTANT_DIGITS]) if timed else None
        self.inside.create_instant(self.configuration, TimelineFileName(instant, action, state, completed), content)

    def slices(self) -> tuple[tuple[FileSlice, ...], Visibility]:
        """The current slices of the indexes that are listed, and which instants count beside the data table.

        Clauses: MT-006, MT-007.
        """
        found = slices_of_indexes(self.inside.storage, (self.configuration, self.timeline), self.data.indexes)
        data = self.data
        return found.slices, counted_beside(found.visibility, data.timeline, data.storage, data.configuration)

    def since(self, instant: str) -> int:
        """How many deltacommits completed after an instant; before version 8, were requested after it."""
        return sum(one.at("completed") > instant for one in self.timeline.completed("deltacommit"))

    def last(self, *actions: str) -> str:
        """The requested time of the last completed service that was requested as one of these; empty without one."""
        return max((one.requested for one in self.timeline.instants if requested_as(one, actions)), default="")


def requested_as(instant: Instant, actions: tuple[str, ...]) -> bool:
    """Whether a completed instant was requested as one of some actions; a commit can only be a compaction.

    Clauses: TL-006.
    """
    if instant.is_completed and instant.action == "commit":
        return "compaction" in actions
    names = (path.rpartition("/")[2] for path in instant.files.values())
    return instant.is_completed and any(f".{action}." in f"{name}." for name in names for action in actions)


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


_BY_LOGS: Final = "org.apache.hudi.table.action.compact.LogCompactionExecutionHelper"
_BYTES_A_MEGABYTE: Final = 1024 * 1024


def plan_of(own: OwnTable, slices: Iterable[FileSlice], *, of_logs: bool) -> CompactionPlan:
    """The plan of a compaction, or of one of logs, of these slices.

    Clauses: CP-001, TL-033.
    """
    strategy = CompactionStrategy(_BY_LOGS, {}, 1) if of_logs else None
    operations = tuple(_operation(own, one) for one in slices)
    newer = own.layout.has_completion_times
    return CompactionPlan(
        operations,
        extra_metadata={} if newer else None,
        strategy=strategy,
        preserve_hoodie_metadata=of_logs,
        missing_schedule_partitions=() if newer else None,
    )


def plan_bytes(plan: CompactionPlan) -> bytes:
    """The content of the requested file."""
    return serialise_compaction_plan(plan)


def planned_slices(own: OwnTable, pending: Instant) -> tuple[FileSlice, ...]:
    """The slices that a pending plan names.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when the plan does not parse; PATH_ESCAPES_TABLE.

    Clauses: SL-007.

    """
    plan = compaction_plan(own.inside.storage, pending)
    refuse_foreign_slices(plan, pending.files["REQUESTED"])
    return slices_of_plan(plan)


def slices_of_plan(plan: CompactionPlan) -> tuple[FileSlice, ...]:
    """The slices of a plan."""
    return tuple(
        FileSlice(
            one.partition_path or "",
            one.file_id or "",
            one.base_instant_time or "",
            joined(one.partition_path or "", one.data_file_path) if one.data_file_path else None,
            tuple(joined(one.partition_path or "", name) for name in one.delta_file_paths),
        )
        for one in plan.operations
    )


def commit_content(own: OwnTable, operation: str, stats: Iterable[WriteStat]) -> bytes:
    """What the completed file of a compaction holds.

    Clauses: TL-019, TL-020.
    """
    extra = {"schema": own.layout.record_schema}
    metadata = CommitMetadata(operation, compacted=True, write_stats=tuple(stats), extra=extra)
    return serialise_avro(metadata) if own.layout.has_completion_times else serialise_json(metadata)


def stat_of(one: FileSlice, merged: Merged, name: str, size: int, log_bytes: int) -> WriteStat:
    """What a compaction says of a file that it wrote; `log_bytes`: those of the logs that it read.

    Clauses: TL-019, TL-020.
    """
    gone = merged.entries["value"].null_count
    return WriteStat(
        file_id=one.file_id,
        path=joined(one.partition, name),
        prev_commit=one.base_instant or NO_PREVIOUS_COMMIT,
        num_writes=merged.entries.num_rows - gone,
        num_deletes=gone,
        num_update_writes=0,
        num_inserts=0,
        num_updates=0,
        total_write_bytes=size,
        total_write_errors=0,
        partition_path=one.partition,
        total_log_records=merged.read,
        total_updated_records_compacted=merged.read,
        total_log_blocks=merged.blocks,
        total_corrupt_log_block=0,
        total_rollback_blocks=0,
        file_size_in_bytes=size,
        prev_base_file=None if one.base_file is None else one.base_file.rpartition("/")[2],
        runtime_stats=RuntimeStats(0, 0, 0),
        total_log_files_compacted=len(one.log_files),
        total_log_read_time_ms=0,
        total_log_size_compacted=log_bytes,
    )


def _operation(own: OwnTable, one: FileSlice) -> CompactionOperation:
    storage = own.inside.storage
    size = sum(storage.size(path) for path in one.log_files)
    base = 0 if one.base_file is None else storage.size(one.base_file)
    measured = {
        "TOTAL_LOG_FILES": float(len(one.log_files)),
        "TOTAL_LOG_FILES_SIZE": float(size),
        "TOTAL_IO_READ_MB": float((size + base) // _BYTES_A_MEGABYTE),
        "TOTAL_IO_WRITE_MB": float(base // _BYTES_A_MEGABYTE),
        "TOTAL_IO_MB": float((size + 2 * base) // _BYTES_A_MEGABYTE),
    }
    return CompactionOperation(
        base_instant_time=one.base_instant,
        delta_file_paths=tuple(path.rpartition("/")[2] for path in one.log_files),
        data_file_path=None if one.base_file is None else one.base_file.rpartition("/")[2],
        file_id=one.file_id,
        partition_path=one.partition,
        metrics=measured,
    )


def log_name(path: str) -> LogFileName:
    """The parts of a log's name."""
    name = parse_data_file_name(path.rpartition("/")[2])
    if not isinstance(name, LogFileName):
        raise TypeError(f"{path} is no log file")
    return name


_DELTACOMMITS: Final = "hoodie.metadata.compact.max.delta.commits"
_MOST_WAITING: Final = "hoodie.metadata.max.deltacommits.when_pending"
_COMPACTION_SUFFIX: Final = "001"


def compact_when_due(own: OwnTable) -> bool:
    """Compact where enough deltacommits have come since the last time, and nothing pending forbids it; whether it did.

    Raises:
        HudiError: LIMIT_EXCEEDED before version 8, when an action has been pending for too many deltacommits.
        FormatError: a file of the metadata table that is broken.

    Clauses: MT-015, CP-001.

    """
    last = own.last("compaction")
    if own.since(last) < own.options.number(_DELTACOMMITS):
        return False
    instant = _instant(own, last)
    slices = () if instant is None else _slices(own, instant)
    if instant is None or not slices:
        return False
    own.begin(instant, "compaction", plan_bytes(plan_of(own, slices, of_logs=False)))
    _carry_out(own.again(), instant, slices)
    return True


def finish_compaction(own: OwnTable, pending: Instant) -> None:
    """A compaction that is pending, since whoever began it died, is carried out by its plan.

    Clauses: CP-002, MT-015.
    """
    if pending.state == "REQUESTED":
        own.put(pending.requested, "compaction", "INFLIGHT", b"")
    _carry_out(own, pending.requested, planned_slices(own, pending))


def _instant(own: OwnTable, last: str) -> str | None:
    """The time of a compaction now, None where there can be none.

    Clauses: MT-015.
    """
    return _newer_instant(own, last) if own.layout.has_completion_times else _older_instant(own, last)


def _newer_instant(own: OwnTable, last: str) -> str | None:
    """What a failed writer recorded in the metadata table and did not complete stays in logs: it will be undone."""
    here = {one.requested for one in own.timeline.instants if one.is_completed}
    undone = [one.requested for one in own.data.pending() if one.requested in here]
    if not undone:
        return own.now()
    before = _previous(min(undone))
    known = {one.requested for one in own.timeline.instants}
    return before if before > last and before not in known else None


def _previous(instant: str) -> str:
    """The instant one millisecond earlier."""
    return instant_text(datetime.fromtimestamp(0, timezone.utc) + timedelta(milliseconds=milliseconds_of(instant) - 1))


def _older_instant(own: OwnTable, last: str) -> str | None:
    newest = max((one.requested for one in own.timeline.completed("deltacommit")), default="")
    waiting = [one.requested for one in own.data.pending() if one.requested <= newest]
    if waiting:
        most = own.options.number(_MOST_WAITING)
        if own.since(last) > most:
            message = f"over {most} deltacommits of the metadata table wait for {min(waiting)}, which is pending"
            hint = f"complete or roll back {min(waiting)}, or raise {_MOST_WAITING}"
            raise HudiError(Reason.LIMIT_EXCEEDED, "MT-015", message, hint=hint)
        return None
    instant = f"{newest}{_COMPACTION_SUFFIX}"
    return None if any(one.requested == instant for one in own.timeline.instants) else instant


def _slices(own: OwnTable, instant: str) -> tuple[FileSlice, ...]:
    """The slices that have logs, and of these, from version 8 on, those that completed before the compaction.

    Clauses: CP-001, RD-005.
    """
    slices, _ = own.slices()
    if own.layout.has_completion_times:
        times = completion_times(own.timeline)
        slices = tuple(_until(one, instant, times) for one in slices)
    return tuple(one for one in slices if one.log_files and one.base_instant < instant)


def _until(one: FileSlice, instant: str, completions: Mapping[str, str]) -> FileSlice:
    logs = (path for path in one.log_files if _completion(path, completions) < instant)
    return FileSlice(one.partition, one.file_id, one.base_instant, one.base_file, tuple(logs))


def _completion(path: str, completions: Mapping[str, str]) -> str:
    requested = log_name(path).instant
    return completions.get(requested, requested)


def _carry_out(own: OwnTable, instant: str, slices: tuple[FileSlice, ...]) -> None:
    """Base files by tasks; what others wrote for the same instant goes.

    Clauses: CP-002, MK-004.
    """
    _, visibility = own.slices()
    merging = GroupMerging(own.inside.storage, visibility, own.layout.release)
    work = _Compacting(own.inside, merging, instant)
    with in_files_of(own.inside.storage.base):
        written = own.executor.tasks(list(slices), work, WRITTEN_SCHEMA).gathered()
    stats = tuple(one.stat for one in from_rows(written))
    for partition in sorted({one.partition for one in slices}):
        GroupFiles(own.inside, own.layout, partition, instant).remove_strays(stats)
    own.complete(instant, "commit", commit_content(own, "COMPACT", stats))


@dataclass(frozen=True, slots=True)
class _Compacting:
    """Writes the base file of a slice; what tasks run. A group that holds nothing, and has no base file, gets none."""

    inside: Effects
    merging: GroupMerging
    instant: str

    def __call__(self, one: FileSlice, identity: TaskIdentity) -> pa.Table:
        merged = self.merging.merged(one)
        if not merged.entries.num_rows and one.base_file is None:
            return to_rows(())
        name = str(BaseFileName(one.file_id, identity.write_token, self.instant, "hfile"))
        data = columns_base_file(merged.entries["key"], merged.entries["value"], merged.release)
        self.inside.put_base_file(self.instant, one.partition, name, data)
        read = sum(self.inside.storage.size(path) for path in one.log_files)
        stat = stat_of(one, merged, name, len(data), read)
        return to_rows((WrittenFile(stat),))


_ENABLE: Final = "hoodie.metadata.log.compaction.enable"
_THRESHOLD: Final = "hoodie.metadata.log.compaction.blocks.threshold"
_LOG_COMPACTION_SUFFIX: Final = "005"


def compact_logs_when_due(own: OwnTable) -> bool:
    """Compact logs where options request it, enough deltacommits have come, and groups have many logs; whether it did.

    Clauses: MT-015, CP-001, LF-019.
    """
    least = own.options.number(_THRESHOLD)
    since = min(own.since(own.last("compaction")), own.since(own.last("logcompaction")))
    if not own.options.flag(_ENABLE) or since < least:
        return False
    found, visibility = own.slices()
    waiting = min((one.requested for one in own.data.pending()), default="") if own.layout.has_completion_times else ""
    slices = tuple(one for one in found if len(one.log_files) >= least and not _is_waited_for(one, waiting))
    newest = max((one.requested for one in own.timeline.completed("deltacommit")), default="")
    instant = own.now() if own.layout.has_completion_times else f"{newest}{_LOG_COMPACTION_SUFFIX}"
    if not slices or any(one.requested == instant for one in own.timeline.instants):
        return False
    own.begin(instant, "logcompaction", plan_bytes(plan_of(own, slices, of_logs=True)))
    storage = own.inside.storage
    places = group_places(storage, own.timeline, own.layout, metadata_groups(storage), instant)
    merging = GroupMerging(storage, visibility, own.layout.release, only_logs=True)
    work = _LogCompacting(
        own.inside, merging, instant, {key: place for each in places.values() for key, place in each.items()}
    )
    with in_files_of(own.inside.storage.base):
        written = own.executor.tasks(list(slices), work, WRITTEN_SCHEMA).gathered()
    stats = tuple(one.stat for one in from_rows(written))
    for partition in sorted({one.partition for one in slices}):
        GroupFiles(own.inside, own.layout, partition, instant, places[partition]).remove_strays(stats)
    own.again().complete(instant, "deltacommit", commit_content(own, "LOG_COMPACT", stats))
    return True


def _is_waited_for(one: FileSlice, waiting: str) -> bool:
    """Whether the oldest action of the data table that is pending may still put a log before the newest of a slice.

    What is merged takes the place of the newest log: older records would come after that action's, and hide them. In
    version 6 blocks are in the order in which they were appended.

    Clauses: LC-003, MT-015.
    """
    return bool(waiting) and waiting <= max(log_name(path).instant for path in one.log_files)


@dataclass(frozen=True, slots=True)
class _LogCompacting:
    """Writes the one log of a slice; what tasks run. Nothing for a group whose logs say nothing.

    `places`: by file id where the next log of each group goes.
    """

    inside: Effects
    merging: GroupMerging
    instant: str
    places: Mapping[str, Place]

    def __call__(self, one: FileSlice, identity: TaskIdentity) -> pa.Table:
        merged = self.merging.merged(one)
        if not merged.entries.num_rows:
            return to_rows(())
        place = self.places[one.file_id]
        name = str(LogFileName(one.file_id, place.instant, place.version, identity.write_token))
        data = b"".join(self._blocks(one.partition, merged))
        self.inside.put_log_file(self.instant, one.partition, name, data)
        read = sum(self.inside.storage.size(path) for path in one.log_files)
        stat = stat_of(one, merged, name, len(data), read)
        return to_rows((WrittenFile(_of_log(stat, place, name)),))

    def _blocks(self, partition: str, merged: Merged) -> list[bytes]:
        """Clauses: LF-019."""
        header = {HeaderKey.COMPACTED_BLOCK_TIMES: ",".join(merged.instants)}
        valid = merged.entries["value"].is_valid()
        kept, gone = merged.entries.filter(valid), merged.entries.filter(pc.invert(valid))
        blocks = []
        if kept.num_rows:
            blocks.append(columns_block(self.instant, kept["key"], kept["value"], merged.release, header))
        if gone.num_rows:
            stated = {**header, HeaderKey.SCHEMA: metadata_schema_text(merged.release)}
            blocks.append(columns_delete_block(self.instant, partition, gone["key"], stated))
        return blocks


def _of_log(stat: WriteStat, place: Place, name: str) -> WriteStat:
    """Clauses: TL-019, TL-020."""
    files = (*place.logs, name)
    return replace(
        stat, prev_base_file=None, log_version=place.version, log_offset=0, base_file=place.base_file, log_files=files
    )
