"""Log files: what a write does to the records of one file group, appended beside its base file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from hudi_format.names import LogFileName
from hudi_format.schemas import arrow_schema
from hudi_format.timeline.commit_metadata import RuntimeStats, WriteStat

from hudi_spark.effects.helper import joined
from hudi_spark.files.log_blocks import LogRows, MadeBlock, made_blocks
from hudi_spark.files.log_form import LogForm, LogGroup, log_form, opened_slices
from hudi_spark.files.places import Place
from hudi_spark.flows.flow import TaskIdentity


@dataclass(frozen=True, slots=True)
class MadeLog:
    """A log file that is made and not yet stored.

    `rows`: the records of its data blocks, of which statistics tell.
    """

    name: LogFileName
    data: bytes
    stat: WriteStat
    rows: pa.Table


@dataclass(frozen=True, slots=True)
class WrittenLog:
    """A log file in storage: its stat for the commit, and the records of its data blocks.

    `created_partition`: the folder was no partition before.
    """

    stat: WriteStat
    rows: pa.Table
    created_partition: bool


def write_log(
    place: Place, incoming: LogRows, group: LogGroup, form: LogForm, identity: TaskIdentity
) -> tuple[WrittenLog, ...]:
    """The rows as a log file of their group, or as several where they are many; none where there are no rows.

    All bytes are made before the first file is put; each file's marker stands before it.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a value that a log cannot hold; WRITE_CONFLICT when a file is there already.
        UnsupportedFeature: ordering-type.

    Clauses: SL-005, LF-001, MK-001, MK-002, OW-016.

    """
    io_type = "CREATE" if form.has_completion_times else "APPEND"
    written = []
    for made in made_logs(incoming, group, form, place.requested, _first_name(place, group, form, identity)):
        created = place.announce(group.partition, str(made.name), io_type)
        place.effects.put_log_file(place.requested, group.partition, str(made.name), made.data)
        written.append(WrittenLog(made.stat, made.rows, created))
    return tuple(written)


def _first_name(place: Place, group: LogGroup, form: LogForm, identity: TaskIdentity) -> LogFileName:
    """A name that is free: before version 8 a write that nobody has taken back yet may have put the next version.

    A listing by the metadata table has no files of such a write.

    Clauses: SL-005, MT-003.
    """
    name = group.first_name(form, place.requested, identity.write_token)
    while not form.has_completion_times and place.effects.storage.exists(joined(group.partition, str(name))):
        name = replace(name, version=name.version + 1)
    return name


def made_logs(
    incoming: LogRows, group: LogGroup, form: LogForm, instant: str, name: LogFileName
) -> tuple[MadeLog, ...]:
    """The same, not stored: a pure function; `name` is that of the first.

    Clauses: SL-005, SL-025, LF-001, TL-019, TL-020.
    """
    logs: list[MadeLog] = []
    for blocks in _files(made_blocks(incoming, group, form, instant), form.file_bytes):
        data = b"".join(part for block in blocks for part in block.parts)
        earlier = group.logs_of_slice(form) if form.tells_slice else ()
        listed = tuple(str(one) for one in (*earlier, *(log.name for log in logs), name))
        stat = _stat(name, len(data), blocks, listed, group, form, instant)
        logs.append(MadeLog(name, data, stat, _rows(blocks, form)))
        name = replace(name, version=name.version + 1)
    return tuple(logs)


def _files(blocks: Sequence[MadeBlock], most_bytes: int) -> list[list[MadeBlock]]:
    """The blocks of each file; deletes stand in the file of the rows before them.

    Clauses: SL-025.
    """
    files: list[list[MadeBlock]] = []
    size = 0
    for block in blocks:
        if not files or (size > most_bytes and block.rows is not None):
            files.append([])
            size = 0
        files[-1].append(block)
        size += block.size
    return files


def _rows(blocks: Sequence[MadeBlock], form: LogForm) -> pa.Table:
    parts = [block.rows for block in blocks if block.rows is not None]
    return pa.concat_tables(parts) if parts else arrow_schema(form.avro).empty_table()


def _stat(  # noqa: PLR0917 - a stat tells of all of them
    name: LogFileName,
    size: int,
    blocks: Sequence[MadeBlock],
    listed: tuple[str, ...],
    group: LogGroup,
    form: LogForm,
    instant: str,
) -> WriteStat:
    """Where a stat does not tell the slice, it says the same of the write itself.

    Clauses: TL-019, TL-020, SL-008.
    """
    rows = sum(block.rows.num_rows for block in blocks if block.rows is not None)
    updates = sum(block.updates for block in blocks)
    stat = WriteStat(
        file_id=group.file_id,
        path=joined(group.partition, str(name)),
        prev_commit=(group.slice_instant(form) or instant) if form.tells_slice else instant,
        num_writes=rows,
        num_deletes=sum(block.deletes for block in blocks),
        num_update_writes=updates,
        total_write_bytes=size,
        total_write_errors=0,
        partition_path=group.partition,
        total_log_records=0,
        total_updated_records_compacted=0,
        num_inserts=rows - updates,
        total_log_blocks=0,
        total_corrupt_log_block=0,
        total_rollback_blocks=0,
        file_size_in_bytes=size,
        log_version=name.version,
        log_offset=0,
        base_file=(group.file_of_slice(form) or "") if form.tells_slice else "",
        log_files=listed,
        runtime_stats=RuntimeStats(0, 0, 0),
        total_log_files_compacted=0,
        total_log_size_compacted=0,
    )
    if not form.has_completion_times:
        return stat
    return replace(stat, total_log_read_time_ms=0, num_updates=0)


__all__ = [
    "LogForm",
    "LogGroup",
    "LogRows",
    "MadeLog",
    "WrittenLog",
    "log_form",
    "made_logs",
    "opened_slices",
    "write_log",
]
