"""File groups of the metadata table: entries become their logs, and deltacommits name these."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.hashing import file_group_indexes
from hudi_format.metadata.codec import encode_metadata_record
from hudi_format.metadata.columns import columns_base_file, columns_block, columns_delete_block
from hudi_format.metadata.files import metadata_delete_block
from hudi_format.metadata.partitions import data_partition_of_id, file_group_of_id, file_group_of_key
from hudi_format.metadata.records import MetadataRecord
from hudi_format.names import BaseFileName, LogFileName, TimelineFileName, parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.timeline.commit_metadata import (
    NO_PREVIOUS_COMMIT,
    CommitMetadata,
    RuntimeStats,
    WriteStat,
    serialise_avro,
    serialise_json,
)

from hudi_spark.concurrency import Effects, joined
from hudi_spark.errors import HudiError, Reason
from hudi_spark.files import WrittenFile, to_rows
from hudi_spark.metadata.index import ENTRIES, IndexChanges
from hudi_spark.metadata.layout import MetadataLayout
from hudi_spark.read import TaskIdentity
from hudi_spark.schema import one_chunk, parts_by
from hudi_spark.table_state import (
    METADATA_FOLDER,
    BaseFile,
    FileGroup,
    GroupId,
    LogFile,
    TableConfiguration,
    Timeline,
    list_file_groups,
    pending_compactions,
    visibility,
)

Series = tuple[str, ...]
"""The file ids of an index' groups, by their number."""


def series_of(file_ids: Iterable[str]) -> dict[str | None, Series]:
    """The groups of the record index by number, for each partition that they are for; None: for the whole table.

    Clauses: MT-017, IX-022.
    """
    found: dict[str | None, list[str]] = {}
    for file_id in sorted(file_ids, key=file_group_of_id):
        found.setdefault(data_partition_of_id(file_id), []).append(file_id)
    return {name: tuple(ids) for name, ids in found.items()}


def groups_in_order(file_ids: Iterable[str]) -> Series:
    """The groups of any other index by number.

    Clauses: MT-017.
    """
    return tuple(sorted(file_ids, key=lambda file_id: file_group_of_id(file_id)[0]))


def entries_table(
    series: Series, added: pa.Array, value: bytes, gone: pa.Array, *, hashed: tuple[pa.Array, pa.Array] | None = None
) -> pa.Table:
    """Rows of `ENTRIES`: the keys added with the value, the keys that are gone without one.

    `hashed`: what of the keys decides on their groups, where it is not all of them.

    Clauses: MT-017.
    """
    keys = pa.concat_arrays([one_chunk(added), one_chunk(gone)])
    deciding = keys if hashed is None else pa.concat_arrays(list(hashed))
    numbers = pa.array(file_group_indexes(deciding, len(series)))
    values = pa.concat_arrays([pa.repeat(pa.scalar(value, pa.binary()), len(added)), pa.nulls(len(gone), pa.binary())])
    return pa.table([pa.array(series, pa.string()).take(numbers), keys, values], schema=ENTRIES)


def settled(entries: pa.Table) -> pa.Table:
    """Entries of one group in the order of the bytes of their keys, each key once: one that is there, if there is any.

    Clauses: IX-021, IX-031.
    """
    keys = one_chunk(entries.column("key"))
    order = pc.array_sort_indices(keys)
    ordered = keys.take(order)
    if not pc.any(pc.equal(ordered[1:], ordered[:-1])).as_py():
        return entries.take(order)
    by_value = [("key", "ascending"), ("value", "ascending")]
    entries = entries.take(pc.sort_indices(entries, by_value))
    ordered = one_chunk(entries.column("key"))
    first = np.append(True, pc.not_equal(ordered[1:], ordered[:-1]).to_numpy(zero_copy_only=False))
    return entries.filter(pa.array(first))


@dataclass(frozen=True, slots=True)
class Place:
    """Where the next log file of a group goes: the instant and version in its name, and what its slice holds.

    Clauses: SL-005, MT-017.
    """

    instant: str
    version: int = 1
    base_file: str = ""
    logs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupFiles:
    """Writes the files of one index for one deltacommit; can be pickled, and is what tasks run.

    `effects` are those of the metadata table, `places` those of the groups that are there.

    Clauses: MT-002, MT-017, MT-018.
    """

    effects: Effects
    layout: MetadataLayout
    partition: str
    instant: str
    places: Mapping[str, Place] = field(default_factory=dict, hash=False)

    def logs(self, entries: pa.Table, identity: TaskIdentity) -> pa.Table:
        """A log file for each file group among `ENTRIES`; in return the written files, see `files.written`."""
        return to_rows(tuple(self._log(file_id, rows, identity.write_token) for file_id, rows in _by_group(entries)))

    def base_files(self, entries: pa.Table, identity: TaskIdentity) -> pa.Table:
        """A base file for each file group among `ENTRIES`, with which the group begins; in return as above."""
        return to_rows(tuple(self._base(file_id, rows, identity.write_token) for file_id, rows in _by_group(entries)))

    def open(self, file_id: str, token: str) -> None:
        """The first log file of a group: a delete block without keys, which says that the group is there.

        Clauses: MT-017, LF-008.
        """
        name = str(LogFileName(file_id, self.instant, 1, token))
        self.effects.put_log_file(self.instant, self.partition, name, metadata_delete_block(self.instant, "", ()))

    def remove_strays(self, written: Iterable[WriteStat]) -> None:
        """Files of tasks that failed, or that ran twice, disappear: only the written ones are of the deltacommit.

        Clauses: MK-004, OW-010.
        """
        kept = {(stat.path or "").rpartition("/")[2] for stat in written}
        for status in self.effects.storage.list_files(self.partition, recursive=False):
            name = status.path.rpartition("/")[2]
            if name not in kept and self._is_ours(parse_data_file_name(name)):
                self.effects.delete_data_file(self.instant, self.partition, name)

    def _is_ours(self, name: BaseFileName | LogFileName | None) -> bool:
        if isinstance(name, BaseFileName):
            return name.instant == self.instant
        place = None if name is None else self.places.get(name.file_id)
        if name is None or place is None:
            return False
        return name.instant == place.instant and name.version >= place.version

    def _log(self, file_id: str, rows: pa.Table, token: str) -> WrittenFile:
        place = self.places[file_id]
        name = str(LogFileName(file_id, place.instant, place.version, token))
        valid = pc.is_valid(rows.column("value"))
        kept, gone = rows.filter(valid), rows.filter(pc.invert(valid))
        blocks = []
        if kept.num_rows:
            blocks.append(columns_block(self.instant, kept["key"], kept["value"], self.layout.release))
        if gone.num_rows:
            blocks.append(columns_delete_block(self.instant, self.partition, gone["key"]))
        data = b"".join(blocks)
        self.effects.put_log_file(self.instant, self.partition, name, data)
        stat = self._stat(file_id, name, rows.num_rows, len(data))
        return WrittenFile(_of_log(stat, place, name, kept.num_rows, gone.num_rows))

    def _base(self, file_id: str, rows: pa.Table, token: str) -> WrittenFile:
        name = str(BaseFileName(file_id, token, self.instant, "hfile"))
        data = columns_base_file(rows["key"], rows["value"], self.layout.release)
        self.effects.put_base_file(self.instant, self.partition, name, data)
        stat = self._stat(file_id, name, rows.num_rows, len(data))
        return WrittenFile(_of_base(stat, rows.num_rows))

    def _stat(self, file_id: str, name: str, writes: int, size: int) -> WriteStat:
        return WriteStat(
            file_id=file_id,
            path=joined(self.partition, name),
            partition_path=self.partition,
            num_writes=writes,
            total_write_bytes=size,
            file_size_in_bytes=size,
            **dict.fromkeys(_ZEROS, 0),  # type: ignore[arg-type]
        )


def entries_of(
    changes: IndexChanges, file_ids: Iterable[str], layout: MetadataLayout, *, by_value: bool = False
) -> pa.Table:
    """Few changes as `ENTRIES`, each with the group of its key.

    Raises:
        HudiError: LOG_FILE_MISSING when the index lacks the group of a key.
        ValueError: a record has no form in the release's schema.

    Clauses: MT-017, MT-018.

    """
    numbered = {file_group_of_id(file_id)[0]: file_id for file_id in file_ids}

    def group(key: str) -> str:
        number = file_group_of_key(key, len(numbered), by_value=by_value) if numbered else 0
        if number not in numbered:
            message = f"of {len(numbered)} file groups of an index none has the number {number}"
            hint = "drop the index, or the metadata table, and make it again"
            raise HudiError(Reason.LOG_FILE_MISSING, "MT-017", message, METADATA_FOLDER, hint=hint)
        return numbered[number]

    records: list[MetadataRecord] = list(changes.records)
    rows = [(group(one.key), one.key, encode_metadata_record(one, layout.release)) for one in records]
    gone = [(group(key), key, None) for key in changes.deleted]
    columns = zip(*rows, *gone, strict=True) if rows or gone else ((), (), ())
    arrays = [pa.array(list(column), field.type) for column, field in zip(columns, ENTRIES, strict=True)]
    return pa.table(arrays, ENTRIES)


def _by_group(entries: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """The entries of each group by file id, each key once, in the order of the keys.

    Clauses: IX-021, IX-031.
    """
    return ((file_id, settled(part)) for file_id, part in parts_by(entries, "file_id"))


def _of_log(stat: WriteStat, place: Place, name: str, updates: int, deletes: int) -> WriteStat:
    """A log's stat as releases fill it.

    Clauses: TL-019, TL-020.
    """
    return replace(
        stat,
        prev_commit=place.instant,
        num_update_writes=updates,
        num_deletes=deletes,
        log_version=place.version,
        log_offset=0,
        base_file=place.base_file,
        log_files=(*place.logs, name),
        runtime_stats=RuntimeStats(0, 0, 0),
    )


def _of_base(stat: WriteStat, inserts: int) -> WriteStat:
    return replace(stat, prev_commit=NO_PREVIOUS_COMMIT, num_inserts=inserts, runtime_stats=RuntimeStats(0, 0, 0))


_ZEROS: Final = (
    "num_deletes",
    "num_update_writes",
    "total_write_errors",
    "total_log_records",
    "total_updated_records_compacted",
    "num_inserts",
    "total_log_blocks",
    "total_corrupt_log_block",
    "total_rollback_blocks",
    "total_log_files_compacted",
    "total_log_read_time_ms",
    "total_log_size_compacted",
    "num_updates",
)


Groups = Mapping[GroupId, FileGroup]
"""The files of each group, by partition and file id."""


def metadata_groups(inside: Storage) -> Groups:
    """The file groups of a metadata table, as its storage has them.

    Clauses: MT-017.
    """
    return list_file_groups(inside)


def file_ids_of(groups: Groups, partition: str) -> tuple[str, ...]:
    """The file ids of one index, in order.

    Clauses: MT-017.
    """
    return tuple(sorted(file_id for within, file_id in groups if within == partition))


def group_places(
    inside: Storage, timeline: Timeline, layout: MetadataLayout, groups: Groups, instant: str
) -> dict[str, dict[str, Place]]:
    """Where a deltacommit's log of each group goes, by index and file id.

    From version 8 on a log is named after its deltacommit. Before, after the slice that it joins: the newest that
    has a base file or a pending compaction, else the group's first.

    Clauses: SL-005, MT-017, RD-005.
    """
    found: dict[str, dict[str, Place]] = {}
    pending = {} if layout.has_completion_times else pending_compactions(inside, timeline)
    seen = visibility(timeline, None, "requested")
    for id_, group in groups.items():
        partition, file_id = id_
        bases = [one for one in group.base_files if seen.sees(one.name.instant)]
        if layout.has_completion_times:
            place = Place(instant, _next_version(group.log_files, instant))
        else:
            place = _in_slice(bases, group.log_files, pending.get(id_, ()))
        found.setdefault(partition, {})[file_id] = place
    return found


def _in_slice(bases: list[BaseFile], logs: list[LogFile], pending: Iterable[str]) -> Place:
    opened = [one.name.instant for one in bases] + list(pending)
    instant = max(opened or [one.name.instant for one in logs])
    within = sorted((one for one in logs if one.name.instant == instant), key=lambda one: one.name.version)
    base = next((str(one.name) for one in bases if one.name.instant == instant), "")
    return Place(instant, _next_version(logs, instant), base, tuple(str(one.name) for one in within))


def _next_version(logs: Iterable[LogFile], instant: str) -> int:
    return max((one.name.version for one in logs if one.name.instant == instant), default=0) + 1


_ACTION = "deltacommit"
UPDATE = "UPSERT_PREPPED"


@dataclass(frozen=True, slots=True)
class Deltacommit:
    """One deltacommit of the metadata table; `effects` and `configuration` are that table's own.

    Clauses: MT-003, TL-002, TL-003.
    """

    effects: Effects
    configuration: TableConfiguration
    layout: MetadataLayout
    instant: str
    operation: str = UPDATE

    def begin(self, places: Mapping[str, Mapping[str, Place]] | None = None) -> None:
        """Requested, then inflight: with the groups that are to be changed, or empty where an index begins.

        Clauses: TL-002, TL-014.
        """
        self._put(TimelineFileName(self.instant, _ACTION, "REQUESTED"), b"")
        content = b"" if places is None else self._bytes(CommitMetadata(self.operation, write_stats=_expected(places)))
        self._put(TimelineFileName(self.instant, _ACTION, "INFLIGHT"), content)

    def complete(self, stats: Iterable[WriteStat], completed: str) -> None:
        """Completed, with the files that were written.

        Clauses: TL-003, TL-019, TL-020.
        """
        extra = {"schema": self.layout.record_schema}
        content = self._bytes(CommitMetadata(self.operation, write_stats=tuple(stats), extra=extra))
        time = completed if self.layout.has_completion_times else None
        self._put(TimelineFileName(self.instant, _ACTION, "COMPLETED", time), content)

    def _put(self, name: TimelineFileName, content: bytes) -> None:
        self.effects.create_instant(self.configuration, name, content)

    def _bytes(self, metadata: CommitMetadata) -> bytes:
        return serialise_avro(metadata) if self.layout.has_completion_times else serialise_json(metadata)


def _expected(places: Mapping[str, Mapping[str, Place]]) -> tuple[WriteStat, ...]:
    """What a rollback of the deltacommit looks for: the groups, with the slices that they are in."""
    none = WriteStat(file_id="", prev_commit=NO_PREVIOUS_COMMIT, num_inserts=0, num_update_writes=0)
    return tuple(
        replace(none, partition_path=partition, file_id=file_id, prev_commit=place.instant, num_update_writes=1)
        for partition, groups in places.items()
        for file_id, place in groups.items()
    )
