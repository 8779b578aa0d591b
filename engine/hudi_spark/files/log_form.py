"""What the log files of a write look like, and what is known of the file groups that they belong to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hudi_format.log.blocks import BlockType
from hudi_format.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_format.schemas import with_meta_fields
from hudi_format.storage import Storage

from hudi_spark.merging.rules import MergeRule
from hudi_spark.options.resolving import Options
from hudi_spark.state.commits import GroupId
from hudi_spark.state.configuration import TableConfiguration, flag
from hudi_spark.state.pending_plans import pending_compactions
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.timeline import Timeline

_BLOCK_TYPES: Final[Mapping[str, BlockType]] = {
    "avro": BlockType.AVRO_DATA,
    "parquet": BlockType.PARQUET_DATA,
    "hfile": BlockType.HFILE_DATA,
}


@dataclass(frozen=True, slots=True)
class LogForm:
    """How the log files of a write look.

    `avro`: the columns that records have, meta fields first. `ordering`: the ordering fields of the table.
    `rule` says which rows delete. `positions`: blocks name the rows of the base file that they change.
    `partial`: records hold these columns only, and leave the others as they are.
    `tells_slice`: stats name the slice that a log belongs to, which readers of changes go back to.
    `opened`: the slices that pending compactions opened, by partition and file id: their instants.
    Sizes are in bytes: a block keeps within its size, a file is closed once it exceeds its own.

    Clauses: LF-007, LF-022, LF-023, LF-025, LF-026, LF-027.
    """

    avro: Mapping[str, Any] = field(hash=False)
    table_version: int
    has_completion_times: bool
    meta_fields: bool
    ordering: tuple[str, ...]
    rule: MergeRule
    block_type: BlockType = BlockType.AVRO_DATA
    codec: str = "gzip"
    block_bytes: int = 256 * 1024 * 1024
    file_bytes: int = 1024 * 1024 * 1024
    positions: bool = True
    partial: bool = False
    tells_slice: bool = False
    opened: Mapping[GroupId, str] = field(default_factory=dict, hash=False)


def log_form(
    configuration: TableConfiguration,
    avro: Mapping[str, Any],
    options: Options,
    rule: MergeRule,
    *,
    missing: frozenset[str] = frozenset(),
    opened: Mapping[GroupId, str] | None = None,
) -> LogForm:
    """The form that a table and a write's options ask for; `avro` is the table's schema without meta fields.

    Columns that base files leave to the folders' names stay in logs: readers of version 6 look nowhere else.
    `missing`: columns that partial updates leave out.
    `opened`: what `opened_slices` gives; without it a log may belong to a slice that a compaction is about to replace.

    Clauses: LF-007, LF-022, LF-023, LF-025, DM-022.
    """
    kept = {**avro, "fields": [one for one in avro["fields"] if one["name"] not in missing]}
    return LogForm(
        avro=with_meta_fields(kept),
        table_version=configuration.version,
        has_completion_times=configuration.has_completion_times,
        meta_fields=configuration.populates_meta_fields,
        ordering=configuration.ordering,
        rule=rule,
        block_type=_block_type(configuration, options),
        codec=options.text("hoodie.parquet.compression.codec"),
        block_bytes=options.number("hoodie.logfile.data.block.max.size"),
        file_bytes=options.number("hoodie.logfile.max.size"),
        positions=configuration.has_completion_times and options.flag("hoodie.write.record.positions"),
        partial=bool(missing),
        tells_slice=not configuration.has_completion_times
        or flag(configuration.properties, "hoodie.table.cdc.enabled", default=False),
        opened=opened or {},
    )


def opened_slices(storage: Storage, timeline: Timeline) -> dict[GroupId, str]:
    """The newest pending compaction of each file group that has one: what is logged from now on belongs to its slice.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a plan does not parse; PATH_ESCAPES_TABLE.

    Clauses: RD-008, SL-007.

    """
    return {group: max(instants) for group, instants in pending_compactions(storage, timeline).items()}


def _block_type(configuration: TableConfiguration, options: Options) -> BlockType:
    """That which was asked for; else HFile beside base files of that format, and Avro."""
    asked = options.text("hoodie.logfile.data.block.format").lower()
    if not asked:
        base = configuration.properties.get("hoodie.table.base.file.format", "").strip().lower()
        asked = "hfile" if base == "hfile" else "avro"
    return _BLOCK_TYPES[asked]


@dataclass(frozen=True, slots=True)
class LogGroup:
    """The file group that a log file is for, and what its newest slice holds: names of files, without folders.

    `compacted`: the instants whose blocks the new ones stand for, in a log compaction.

    Clauses: SL-003, SL-005, RD-004.
    """

    partition: str
    file_id: str
    base_instant: str | None = None
    base_file: str | None = None
    log_files: tuple[str, ...] = ()
    compacted: tuple[str, ...] = ()

    @classmethod
    def of(cls, one: FileSlice) -> "LogGroup":
        """The group of a slice."""
        logs = tuple(_name(path) for path in one.log_files)
        base = None if one.base_file is None else _name(one.base_file)
        return cls(one.partition, one.file_id, one.base_instant, base, logs)

    @property
    def file_instant(self) -> str | None:
        """The instant of the base file; that of the slice is another where a compaction is pending."""
        name = None if self.base_file is None else parse_data_file_name(self.base_file)
        return name.instant if isinstance(name, BaseFileName) else None

    def slice_instant(self, form: LogForm) -> str | None:
        """The base instant of the slice that logs belong to now.

        Clauses: RD-006, RD-008.
        """
        return form.opened.get((self.partition, self.file_id), self.base_instant)

    def file_of_slice(self, form: LogForm) -> str | None:
        """The name of the slice's base file; a slice that a pending compaction opened has none."""
        return self.base_file if self.file_instant == self.slice_instant(form) else None

    def logs_of_slice(self, form: LogForm) -> tuple[LogFileName, ...]:
        """The logs of the slice, newest first; in version 6 they bear its instant.

        Clauses: RD-006.
        """
        names = [parse_data_file_name(log) for log in self.log_files]
        logs = [one for one in names if isinstance(one, LogFileName) and not one.cdc]
        if not form.has_completion_times:
            logs = [one for one in logs if one.instant == self.slice_instant(form)]
        return tuple(sorted(logs, key=lambda one: (one.instant, one.version, one.write_token or ""), reverse=True))

    def first_name(self, form: LogForm, instant: str, write_token: str) -> LogFileName:
        """The name of the first log file of a write.

        From table version 8 on it bears the write's instant; before, that of the slice, and the next version there.

        Clauses: SL-005, SL-025, RD-006, RD-008.
        """
        if form.has_completion_times:
            return LogFileName(self.file_id, instant, 1, write_token)
        newest = max((one.version for one in self.logs_of_slice(form)), default=0)
        return LogFileName(self.file_id, self.slice_instant(form) or instant, newest + 1, write_token)


def _name(path: str) -> str:
    return path.rpartition("/")[2]
