"""File groups of the metadata table: where the next log of each goes, and how entries become its files."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_adapter.reasons import Reason
from hudi_format.metadata.codec import encode_metadata_record
from hudi_format.metadata.columns import columns_base_file, columns_block, columns_delete_block
from hudi_format.metadata.files import metadata_delete_block
from hudi_format.metadata.partitions import file_group_of_id, file_group_of_key
from hudi_format.metadata.records import MetadataRecord
from hudi_format.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_format.timeline.commit_metadata import NO_PREVIOUS_COMMIT, RuntimeStats, WriteStat

from hudi_spark.arrays import parts_by
from hudi_spark.effects.helper import Effects, joined
from hudi_spark.errors import HudiError
from hudi_spark.files.written import WrittenFile, to_rows
from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.indexing.entries import settled
from hudi_spark.indexing.index import ENTRIES, IndexChanges
from hudi_spark.indexing.layout import MetadataLayout
from hudi_spark.metadata.subfolder import METADATA_FOLDER


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
