"""What the log files of a write look like, and what is known of the file groups that they belong to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hudi_format.log.blocks import BlockType
from hudi_format.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_format.schemas import with_meta_fields

from hudi_spark.merging.rules import MergeRule
from hudi_spark.options.resolving import Options
from hudi_spark.state.configuration import TableConfiguration, flag
from hudi_spark.state.slicing import FileSlice

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


def log_form(
    configuration: TableConfiguration,
    avro: Mapping[str, Any],
    options: Options,
    rule: MergeRule,
    *,
    drops: tuple[str, ...] = (),
    missing: frozenset[str] = frozenset(),
) -> LogForm:
    """The form that a table and a write's options ask for; `avro` is the table's schema without meta fields.

    `drops`: columns that only the folders' names hold. `missing`: columns that partial updates leave out.

    Clauses: LF-007, LF-022, LF-023, LF-025, DM-022.
    """
    left_out = {*drops, *missing}
    kept = {**avro, "fields": [one for one in avro["fields"] if one["name"] not in left_out]}
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
    )


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

    Clauses: SL-003, SL-005, RD-004.
    """

    partition: str
    file_id: str
    base_instant: str | None = None
    base_file: str | None = None
    log_files: tuple[str, ...] = ()

    @classmethod
    def of(cls, one: FileSlice) -> "LogGroup":
        """The group of a slice."""
        logs = tuple(_name(path) for path in one.log_files)
        base = None if one.base_file is None else _name(one.base_file)
        return cls(one.partition, one.file_id, one.base_instant, base, logs)

    @property
    def file_instant(self) -> str | None:
        """The instant of the base file; while a compaction is pending, that of the slice is another."""
        name = None if self.base_file is None else parse_data_file_name(self.base_file)
        return name.instant if isinstance(name, BaseFileName) else None

    def logs_of_slice(self, form: LogForm) -> tuple[LogFileName, ...]:
        """The logs of the newest slice, newest first; in version 6 they bear its instant.

        Clauses: RD-006.
        """
        names = [parse_data_file_name(log) for log in self.log_files]
        logs = [one for one in names if isinstance(one, LogFileName) and not one.cdc]
        if not form.has_completion_times:
            logs = [one for one in logs if one.instant == self.base_instant]
        return tuple(sorted(logs, key=lambda one: (one.instant, one.version, one.write_token or ""), reverse=True))

    def first_name(self, form: LogForm, instant: str, write_token: str) -> LogFileName:
        """The name of the first log file of a write.

        From table version 8 on it bears the write's instant; before, that of the slice, and the next version there.

        Clauses: SL-005, SL-025, RD-006.
        """
        if form.has_completion_times:
            return LogFileName(self.file_id, instant, 1, write_token)
        newest = max((one.version for one in self.logs_of_slice(form)), default=0)
        return LogFileName(self.file_id, self.base_instant or instant, newest + 1, write_token)


def _name(path: str) -> str:
    return path.rpartition("/")[2]
