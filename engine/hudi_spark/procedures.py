"""What `CALL` runs and what FROM may call, by the names, arguments and columns that they have in Apache Hudi."""

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from hudi_format.errors import FormatError
from hudi_format.metadata.codec import raw_metadata_record
from hudi_format.metadata.records import ColumnStats, MetadataRecord
from hudi_format.metadata.wrapped_values import WRAPPERS, Wrapped
from hudi_format.storage import Storage
from hudi_format.timeline.commit_metadata import WriteStat

from hudi_spark.datasource import BEGIN, CHANGES, END, TYPE, load
from hudi_spark.errors import HudiError, Reason, UnsupportedFeature, boundary, suggested
from hudi_spark.options import refusal
from hudi_spark.services.compaction_planning import ALWAYS
from hudi_spark.services.running import clustering_configs
from hudi_spark.table import HudiTable, NamedTable, session_storage
from hudi_spark.table_state import (
    FileSlice,
    GivenInstants,
    Instant,
    NoMetadata,
    committed_slices,
    compaction_plan,
    full_timeline,
    load_commits,
    load_table,
    open_metadata_table,
)
from hudi_spark.write import Outcome

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_OUTCOME: Final = (
    "operation string, instant string, completed string, rows_new bigint, rows_updated bigint, rows_deleted bigint"
)
_NO_ARGUMENT: Final = object()


def outcome_frame(spark: "SparkSession", operation: str, outcome: Outcome | None = None) -> "DataFrame":
    """What a statement did, as one row: the operation, its times, what became of rows; nulls where nothing was done."""
    if outcome is None or not outcome.requested:
        return spark.createDataFrame([(operation or "NONE", None, None, 0, 0, 0)], _OUTCOME)
    counts = [
        sum(getattr(one, name) or 0 for one in outcome.written)
        for name in ("num_inserts", "num_update_writes", "num_deletes")
    ]
    name = operation or outcome.operation or outcome.action
    return spark.createDataFrame([(name, outcome.requested, outcome.completed, *counts)], _OUTCOME)


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of a procedure on a table."""

    spark: "SparkSession"
    named: NamedTable
    arguments: Mapping[str, Any]

    @property
    def table(self) -> HudiTable:
        """The table."""
        return HudiTable(self.spark, self.named.path, configs=self.named.configs)

    def text(self, name: str, otherwise: str = "") -> str:
        """An argument as text."""
        return str(self.arguments.get(name, otherwise))

    def limit(self, otherwise: int) -> int:
        """How many rows are requested at most."""
        text = self.text("limit", str(otherwise))
        if not text.isdecimal():
            raise refusal(f"limit is {text!r}", "give a whole number, 0 or more")
        return int(text)

    def names(self, name: str) -> list[str]:
        """The parts of an argument that is a list with commas."""
        return [one.strip() for one in self.text(name).split(",") if one.strip()]

    def configs(self, **keys: str) -> dict[str, str]:
        """Options by the arguments that stand for them, and those of `options`, `key=value` with commas."""
        found = {key: self.text(name) for name, key in keys.items() if name in self.arguments}
        for pair in self.names("options"):
            key, separator, value = pair.partition("=")
            if not separator:
                raise refusal(f"options has {pair!r}", "write key=value, with commas between")
            found[key.strip()] = value.strip()
        return found

    def outcome(self, operation: str, outcome: Outcome | None) -> "DataFrame":
        """The row of a service."""
        return outcome_frame(self.spark, operation if outcome is None else "", outcome)


def _show_commits(call: _Call) -> "DataFrame":
    storage = session_storage(call.spark, call.named.path, None)
    rows = []
    with boundary(storage.base):
        _, timeline = load_table(storage)
        for one in reversed(load_commits(storage, timeline, None, "requested")):
            stats = one.metadata.write_stats
            size, updated, *further = _written_totals(stats)
            times = one.instant.requested, one.instant.completed
            rows.append((*times, one.instant.action, size, len(stats) - updated, updated, *further))
    columns = (
        "commit_time string, state_transition_time string, action string, total_bytes_written bigint, "
        "total_files_added bigint, total_files_updated bigint, total_partitions_written bigint, "
        "total_records_written bigint, total_update_records_written bigint, total_errors bigint"
    )
    return call.spark.createDataFrame(rows[: call.limit(10)], columns)


def _written_totals(stats: Sequence[WriteStat]) -> tuple[int, ...]:
    """What a commit wrote: bytes, updated files, partitions, records, updated records, errors."""
    return (
        sum(stat.total_write_bytes or 0 for stat in stats),
        sum(stat.prev_commit not in {None, "", "null"} for stat in stats),
        len({stat.partition_path for stat in stats}),
        sum(stat.num_writes or 0 for stat in stats),
        sum(stat.num_update_writes or 0 for stat in stats),
        sum(stat.total_write_errors or 0 for stat in stats),
    )


def _show_timeline(call: _Call) -> "DataFrame":
    whole = call.text("showArchived", "false").lower() == "true"
    active = {one.requested for one in call.table.timeline()}
    rows = [
        (one.requested, one.action, one.state, one.completed, "ACTIVE" if one.requested in active else "ARCHIVED")
        for one in reversed(call.table.timeline(include_history=whole))
    ]
    columns = "instant_time string, action string, state string, completed_time string, timeline_type string"
    return call.spark.createDataFrame(rows[: call.limit(20)], columns)


def _show_savepoints(call: _Call) -> "DataFrame":
    rows = [(one.requested,) for one in reversed(call.table.timeline()) if one.action == "savepoint"]
    return call.spark.createDataFrame(rows, "savepoint_time string")


def _show_properties(call: _Call) -> "DataFrame":
    storage = session_storage(call.spark, call.named.path, None)
    with boundary(storage.base):
        known, _ = load_table(storage)
    return call.spark.createDataFrame(sorted(known.properties.items())[: call.limit(100)], "key string, value string")


def _show_compaction(call: _Call) -> "DataFrame":
    """Pending ones, newest first; what has completed is a commit of the timeline. A corrupt plan has no size."""
    storage = session_storage(call.spark, call.named.path, None)
    with boundary(storage.base):
        _, timeline = load_table(storage)
        waiting = [*timeline.pending("compaction"), *timeline.pending("logcompaction")]
        found = sorted(waiting, key=lambda one: one.requested, reverse=True)[: call.limit(20)]
        rows = [(one.requested, _operation_size(storage, one), one.state, one.action) for one in found]
    return call.spark.createDataFrame(rows, "timestamp string, operation_size int, state string, action string")


def _operation_size(storage: Storage, waiting: Instant) -> int | None:
    try:
        return len(compaction_plan(storage, waiting).operations)
    except FormatError:
        return None


def _create_savepoint(call: _Call) -> "DataFrame":
    return call.outcome(
        "SAVEPOINT", call.table.savepoint(call.arguments.get("commit_time") or None, call.text("comments"))
    )


def _delete_savepoint(call: _Call) -> "DataFrame":
    return call.outcome("DELETE_SAVEPOINT", call.table.delete_savepoint(call.text("instant_time")))


def _rollback_to_savepoint(call: _Call) -> "DataFrame":
    wanted = _instant(call)
    if wanted not in {one.requested for one in call.table.timeline() if one.action == "savepoint"}:
        message, hint = f"there is no savepoint {wanted}", "CALL show_savepoints lists them"
        raise HudiError(Reason.INSTANT_NOT_FOUND, "SR-004", message, hint=hint)
    return call.outcome("RESTORE", call.table.restore(wanted))


def _rollback_to_instant(call: _Call) -> "DataFrame":
    """Take back the newest write: one that is pending is rolled back, one that has completed is left by a restore."""
    wanted, storage = _instant(call), session_storage(call.spark, call.named.path, None)
    with boundary(storage.base):
        _, timeline = load_table(storage)
    if any(one.requested == wanted and one.state != "COMPLETED" for one in timeline.instants):
        return call.outcome("ROLLBACK", call.table.rollback(wanted))
    writes = [one.requested for one in timeline.completed_data()]
    if wanted not in writes:
        message, hint = f"there is no write {wanted} on the active timeline", "CALL show_commits lists them"
        raise HudiError(Reason.INSTANT_NOT_FOUND, "RB-003", message, hint=hint)
    if wanted != writes[-1] or len(writes) == 1:
        message = f"{wanted} is not the newest of several writes"
        hint = f"roll back {writes[-1]} first, or CALL rollback_to_savepoint"
        raise HudiError(Reason.CONFIG_INVALID, "RB-003", message, hint=hint)
    return call.outcome("RESTORE", call.table.restore(writes[-2]))


def _instant(call: _Call) -> str:
    opened = partial(session_storage, call.spark, call.named.path, None)
    return GivenInstants(opened, call.named.path)(call.text("instant_time"))


def _planned(call: _Call, service: str, configs: Mapping[str, str]) -> "DataFrame":
    """A service by `op`: its plan alone, the plans that wait, or both."""
    op = (call.text("op") or "scheduleAndExecute").lower()
    if op not in ("schedule", "run", "execute", "scheduleandexecute"):
        raise refusal(f"op is {op!r}", "say schedule, execute or scheduleAndExecute")
    if op == "schedule":
        found = call.table.schedule(service, configs)
        return outcome_frame(call.spark, f"SCHEDULE_{service.upper()}", Outcome(found, None, "", "") if found else None)
    waiting = [one.requested for one in call.table.timeline() if one.action == service and one.state != "COMPLETED"]
    if chosen := [*call.names("timestamp"), *call.names("instants")]:
        waiting = chosen
    done = [call.table.execute(one, configs) for one in waiting[: call.limit(len(waiting))]]
    # A plan that waits, but that the limit leaves out, is no reason for another.
    if (
        op == "scheduleandexecute"
        and not waiting
        and call.limit(1) > 0
        and (planned := call.table.schedule(service, configs))
    ):
        done = [call.table.execute(planned, configs)]
    return call.outcome(service.upper(), done[-1] if done else None)


def _run_compaction(call: _Call) -> "DataFrame":
    """However few deltacommits there were."""
    return _planned(call, "compaction", {**ALWAYS, **call.configs()})


def _run_clustering(call: _Call) -> "DataFrame":
    layout, partitions = call.text("order_strategy").lower(), call.names("selected_partitions")
    configs = call.configs(partition_regex_pattern="hoodie.clustering.plan.strategy.partition.regex.pattern")
    return _planned(call, "clustering", {**clustering_configs(call.names("order"), layout, partitions), **configs})


def _run_clean(call: _Call) -> "DataFrame":
    configs = call.configs(
        clean_policy="hoodie.clean.policy",
        retain_commits="hoodie.clean.commits.retained",
        hours_retained="hoodie.clean.hours.retained",
        file_versions_retained="hoodie.clean.fileversions.retained",
        trigger_strategy="hoodie.clean.trigger.strategy",
        trigger_max_commits="hoodie.clean.max.commits",
    )
    return call.outcome("CLEAN", call.table.clean(configs))


def _archive_commits(call: _Call) -> "DataFrame":
    configs = call.configs(
        min_commits="hoodie.keep.min.commits",
        max_commits="hoodie.keep.max.commits",
        retain_commits="hoodie.clean.commits.retained",
        enable_metadata="hoodie.metadata.enable",
    )
    rows = [(one,) for one in call.table.archive(configs)]
    return call.spark.createDataFrame(rows, "instant_time string")


def _upgrade_table(call: _Call) -> "DataFrame":
    done = call.table.upgrade(int(_VERSIONS.get(call.text("to_version", "9").upper(), call.text("to_version", "9"))))
    return call.spark.createDataFrame([(done,)], "result boolean")


def _downgrade_table(call: _Call) -> "DataFrame":
    done = call.table.downgrade(int(_VERSIONS.get(call.text("to_version").upper(), call.text("to_version"))))
    return call.spark.createDataFrame([(done,)], "result boolean")


_VERSIONS: Final = {"SIX": "6", "EIGHT": "8", "NINE": "9"}


@dataclass(frozen=True, slots=True)
class _Procedure:
    """A procedure: its arguments in the order that Apache Hudi has them in; those with `!` are required.

    `fixed`: arguments that are taken with one value alone, which is Apache Hudi's default.
    """

    run: Callable[[_Call], "DataFrame"]
    arguments: str
    fixed: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> dict[str, str]:
        """The arguments by position; by their names in small letters, as SQL has them."""
        own = self.arguments.replace("!", "").split()
        return {one.lower(): one for one in dict.fromkeys((*own, "path"))}

    @property
    def required(self) -> list[str]:
        return [one.removesuffix("!") for one in self.arguments.split() if one.endswith("!")]


PROCEDURES: Final[Mapping[str, _Procedure]] = {
    "show_commits": _Procedure(_show_commits, "table limit"),
    "show_timeline": _Procedure(
        _show_timeline,
        "table path limit showArchived filter startTime endTime",
        {"filter": "", "startTime": "", "endTime": ""},
    ),
    "show_savepoints": _Procedure(_show_savepoints, "table path"),
    "show_table_properties": _Procedure(_show_properties, "table path limit filter", {"filter": ""}),
    "show_compaction": _Procedure(_show_compaction, "table path limit"),
    "create_savepoint": _Procedure(_create_savepoint, "table commit_time user comments path"),
    "delete_savepoint": _Procedure(_delete_savepoint, "table instant_time! path"),
    "rollback_to_savepoint": _Procedure(_rollback_to_savepoint, "table instant_time! path"),
    "rollback_to_instant": _Procedure(_rollback_to_instant, "table instant_time!"),
    "run_compaction": _Procedure(_run_compaction, "op table path timestamp options instants limit"),
    "run_clustering": _Procedure(
        _run_clustering,
        "table path predicate order show_involved_partition op order_strategy options instants selected_partitions "
        "partition_regex_pattern limit timestamp",
        {"predicate": "", "show_involved_partition": "false"},
    ),
    "run_clean": _Procedure(
        _run_clean,
        "table schedule_in_line clean_policy retain_commits hours_retained file_versions_retained trigger_strategy "
        "trigger_max_commits options",
        {"schedule_in_line": "true"},
    ),
    "archive_commits": _Procedure(
        _archive_commits, "table path min_commits max_commits retain_commits enable_metadata options"
    ),
    "upgrade_table": _Procedure(_upgrade_table, "table to_version"),
    "downgrade_table": _Procedure(_downgrade_table, "table to_version!"),
}


def call_procedure(spark: "SparkSession", text: str, named: Callable[[str], NamedTable]) -> "DataFrame":
    """What `CALL procedure(table => 'name or path', ...)` answers: rows, or what a service did.

    Raises:
        UnsupportedFeature: another procedure.
        HudiError: CONFIG_INVALID for other arguments; else as the service.

    Clauses: CP-001, SR-001, SR-004, RB-003.

    """
    from sqlglot import exp, parse_one  # noqa: PLC0415
    from sqlglot.errors import SqlglotError  # noqa: PLC0415

    body = text.strip().rstrip(";").split(None, 1)[-1]
    try:
        call = parse_one(f"SELECT {body.removeprefix('system.')}", read="spark").expressions[0]
    except (SqlglotError, IndexError) as error:
        raise refusal(f"CALL {body[:60]!r} does not parse", "write CALL show_commits(table => 'lake/fares')") from error
    name = call.name.lower()
    procedure = PROCEDURES.get(name)
    if not isinstance(call, exp.Anonymous) or procedure is None:
        hint = suggested(name, PROCEDURES, f"there are {', '.join(sorted(PROCEDURES))}")
        raise UnsupportedFeature("sql-procedure", f"CALL {name}: {_PROCEDURES_INSTEAD.get(name, hint)}")
    arguments = _arguments(name, procedure, call.expressions)
    for one, value in procedure.fixed.items():
        if str(arguments.pop(one, value)).lower() != value:
            raise UnsupportedFeature("sql-procedure", f"CALL {name} with {one}: leave it out")
    place = arguments.pop("table", None) or arguments.pop("path", None)
    if not place:
        raise refusal(f"{name} needs a table", f"write CALL {name}(table => 'lake/fares')")
    lacking = [one for one in procedure.required if one not in arguments]
    if lacking:
        raise refusal(f"{name} needs {lacking[0]}", f"write {lacking[0]} => ...")
    return procedure.run(_Call(spark, named(str(place)), arguments))


def _arguments(name: str, procedure: _Procedure, given: Sequence[Any]) -> dict[str, Any]:
    from sqlglot import exp  # noqa: PLC0415

    found: dict[str, Any] = {}
    names = procedure.names
    takes = f"it takes {', '.join(names.values())}"
    for number, one in enumerate(given):
        if isinstance(one, exp.Kwarg):
            key, value = one.this.name, _value(one.expression)
        elif number < len(names):
            key, value = list(names)[number], _value(one)
        else:
            raise refusal(f"{name} has {len(given)} arguments", takes)
        if key.lower() not in names:
            raise refusal(f"{key} is no argument of {name}", suggested(key, names.values(), takes))
        key = names[key.lower()]
        if key in found:
            raise refusal(f"{key} is given twice to {name}", takes)
        if value is not _NO_ARGUMENT:
            found[key] = value
    return found


_SLICES: Final = "SELECT * FROM hudi_filesystem_view('lake/fares') has every file slice with its sizes"
_ACTIONS: Final = "SELECT * FROM hudi_query_timeline('lake/fares') has every action with what it wrote"
_RECORDS: Final = "SELECT * FROM hudi_metadata('lake/fares') has every record of the metadata table"
_LOADS: Final = "CREATE TABLE ... USING hudi AS SELECT * FROM parquet.`place` writes such rows to a table"
_CHECKS: Final = "hudi-conformance check-table names what is damaged and what to do"
_PROCEDURES_INSTEAD: Final[Mapping[str, str]] = {
    **dict.fromkeys(("show_fsview_all", "show_fsview_latest", "show_logfile_metadata", "stats_file_sizes"), _SLICES),
    **dict.fromkeys(
        (
            *("show_commits_metadata", "show_commit_files", "show_commit_partitions", "show_commit_write_stats"),
            *("show_commit_extra_metadata", "show_archived_commits", "show_archived_commits_metadata", "stats_wa"),
            *("show_rollbacks", "show_rollback_detail", "show_cleans", "show_clean_plans", "show_clustering"),
        ),
        _ACTIONS,
    ),
    **dict.fromkeys(
        (
            *("show_metadata_table_stats", "show_metadata_table_partitions", "show_metadata_table_files"),
            *("show_metadata_table_column_stats", "show_column_stats_overlap"),
        ),
        _RECORDS,
    ),
    **dict.fromkeys(("run_bootstrap", "hdfs_parquet_import"), _LOADS),
    **dict.fromkeys(
        ("show_invalid_parquet", "repair_deduplicate", "repair_corrupted_clean_files", "validate_metadata_table_files"),
        _CHECKS,
    ),
    **dict.fromkeys(("hive_sync", "validate_hoodie_sync"), "this engine has no catalog; a table is named by its path"),
    "copy_to_table": "CREATE TABLE ... USING hudi AS SELECT * FROM the table",
    "copy_to_temp_view": "call HudiTable.register_view, or createOrReplaceTempView on what SELECT answers",
    "run_ttl": "ALTER TABLE ... DROP PARTITION, or DELETE FROM, takes old rows away",
    "create_metadata_table": "the next write with hoodie.metadata.enable makes one",
    "help": "the guide for data engineers lists the procedures and their arguments",
}


def _value(node: Any) -> Any:
    from sqlglot import exp  # noqa: PLC0415

    if isinstance(node, exp.Null):
        return _NO_ARGUMENT
    if isinstance(node, exp.Literal | exp.Boolean | exp.Neg):
        return node.to_py()
    raise refusal(f"{node.sql('spark')} is no literal", "procedures take literals")


@dataclass(frozen=True, slots=True)
class _Function:
    """A table-valued function: its usage, how few and how many arguments it takes, and the rows that it answers."""

    usage: str
    fewest: int
    most: int
    rows: Callable[[_Call, Sequence[str]], "DataFrame"]


def _table_changes(call: _Call, given: Sequence[str]) -> "DataFrame":
    form, begin, *end = given
    if form not in {"latest_state", "cdc"}:
        raise refusal(f"hudi_table_changes has no format {form!r}", "say latest_state or cdc")
    options = {TYPE: "incremental", CHANGES: form, BEGIN: begin, **({END: end[0]} if end else {})}
    return load(call.spark, call.named.path, {**call.named.configs, **options})


def _query(call: _Call, given: Sequence[str]) -> "DataFrame":
    if given[0] not in {"snapshot", "read_optimized"}:
        raise refusal(f"hudi_query has no mode {given[0]!r}", "say snapshot or read_optimized, or hudi_table_changes")
    return load(call.spark, call.named.path, {**call.named.configs, TYPE: given[0]})


def _query_timeline(call: _Call, given: Sequence[str]) -> "DataFrame":
    """Every action by requested time; -1 for what has no statistics of a write."""
    storage = session_storage(call.spark, call.named.path, None)
    with boundary(storage.base):
        configuration, active = load_table(storage)
        whole = full_timeline(storage, configuration, active) if [one.lower() for one in given] == ["true"] else active
        written = {one.instant: one.metadata.write_stats for one in load_commits(storage, whole, None, "requested")}
    rows = []
    for one in whole.instants:
        counts = _written_totals(written[one]) if one in written else (-1,) * 6
        file = one.files[one.state].rpartition("/")[2]
        rows.append((one.requested, one.action, one.state, one.completed, file, *counts))
    columns = (
        "Timestamp string, Action string, State string, Completion_Time string, File_Name string, "
        "Total_Bytes_Written bigint, Total_Files_Updated bigint, Total_Partitions_Written bigint, "
        "Total_Records_Written bigint, Total_Updated_Records_Written bigint, Total_Write_Errors bigint"
    )
    return call.spark.createDataFrame(rows, columns)


def _filesystem_view(call: _Call, given: Sequence[str]) -> "DataFrame":
    """Every file slice that storage has, with the sizes of its files in bytes; -1 for a base file that is not there."""
    pattern = given[0].strip("/").split("/") if given and given[0].strip("/") else None
    if pattern and set("{}\\") & set(given[0]):
        raise refusal(f"the sub path {given[0]!r} has braces or a backslash", "it may have *, ? and [...]")
    storage = session_storage(call.spark, call.named.path, None)
    with boundary(storage.base):
        slices = [one for one in committed_slices(storage) if pattern is None or _is_matched(one.partition, pattern)]
        sizes = {file.path: file.size for file in storage.list_files(skip=(".hoodie",))} if slices else {}
        rows = [_file_slice_row(storage.base, one, sizes) for one in slices]
    columns = (
        "File_ID string, Partition_Path string, Base_Instant_Time string, Base_File_Path string, "
        "Base_File_Size bigint, Log_File_Count bigint, Log_File_Size bigint, "
        "Log_File_Scheduled bigint, Log_File_Unscheduled bigint"
    )
    return call.spark.createDataFrame(rows, columns)


def _is_matched(partition: str, pattern: Sequence[str]) -> bool:
    parts = partition.split("/")
    return len(parts) == len(pattern) and all(map(fnmatch.fnmatchcase, parts, pattern))


def _file_slice_row(folder: str, one: FileSlice, sizes: Mapping[str, int]) -> tuple[Any, ...]:
    # Releases call those logs scheduled that are named after the slice.
    named = f"_{one.base_instant}.log."
    logs = [(named in path, sizes.get(path, 0)) for path in one.log_files]
    size, scheduled = sum(size for _, size in logs), sum(size for is_named, size in logs if is_named)
    base = f"{folder}/{one.base_file}" if one.base_file else ""
    place = (one.file_id, one.partition, one.base_instant, base, sizes.get(one.base_file or "", -1))
    return (*place, len(logs), size, scheduled, size - scheduled)


# One member for each record of the union of bounds, as Spark has such unions: what Apache Hudi answers.
_VALUES: Final = dict(
    zip(
        WRAPPERS[:-1],
        (
            *("boolean", "int", "bigint", "float", "double", "binary", "string"),
            *("int", "decimal(30,15)", "bigint", "bigint", "int"),
        ),
        strict=True,
    )
)
_MEMBERS: Final = ", ".join(f"member{place}: struct<value: {kind}>" for place, kind in enumerate(_VALUES.values()))
_BOUND: Final = f"struct<{_MEMBERS}, member{len(_VALUES)}: struct<wrappedValues: array<struct<{_MEMBERS}>>>>"
_METADATA: Final = (
    "key string, type int, filesystemMetadata map<string, struct<size: bigint, isDeleted: boolean>>, "
    "BloomFilterMetadata struct<type: string, timestamp: string, bloomFilter: binary, isDeleted: boolean>, "
    "ColumnStatsMetadata struct<fileName: string, columnName: string, "
    f"minValue: {_BOUND}, maxValue: {_BOUND}, "
    "valueCount: bigint, nullCount: bigint, totalSize: bigint, totalUncompressedSize: bigint, isDeleted: boolean, "
    "isTightBound: boolean, valueType: struct<typeOrdinal: int, additionalInfo: string>>, "
    "recordIndexMetadata struct<partitionName: string, fileIdHighBits: bigint, fileIdLowBits: bigint, fileIndex: int, "
    "fileId: string, instantTime: bigint, fileIdEncoding: int, position: bigint>, "
    "SecondaryIndexMetadata struct<isDeleted: boolean>"
)


def _metadata(call: _Call, _: Sequence[str]) -> "DataFrame":
    """The records of all indexes of the metadata table, merged; of a bound the member of its type."""
    storage = session_storage(call.spark, call.named.path, None)
    with boundary(storage.base):
        found = open_metadata_table(storage, *load_table(storage))
        if isinstance(found, NoMetadata):
            hint = "the next write with hoodie.metadata.enable makes one"
            raise HudiError(Reason.CONFIG_INVALID, "MT-007", f"no metadata table to read: {found.why}", hint=hint)
        readers = [one for index in found.partitions() for one in found.indexes[index].groups]
        rows = [_metadata_row(record) for one in readers for record in one.records().values()]
    return call.spark.createDataFrame(rows, _METADATA)


def _metadata_row(record: MetadataRecord) -> dict[str, Any]:
    row = raw_metadata_record(record)
    if isinstance(record.content, ColumnStats):
        stats = record.content
        bounds = {"minValue": _member(stats.minimum), "maxValue": _member(stats.maximum)}
        row["ColumnStatsMetadata"] = {**row["ColumnStatsMetadata"], **bounds}
    return row


def _member(wrapped: Wrapped | None) -> dict[str, Any] | None:
    """A bound as the one member of the union that it is."""
    if wrapped is None:
        return None
    values = {"value": wrapped.value}
    if wrapped.wrapper not in _VALUES:
        values = {"wrappedValues": [_member(one) for one in wrapped.value]}
    return {f"member{WRAPPERS.index(wrapped.wrapper)}": values}


FUNCTIONS: Final[Mapping[str, _Function]] = {
    "hudi_table_changes": _Function("(table or path, 'latest_state' or 'cdc', begin[, end])", 3, 4, _table_changes),
    "hudi_query": _Function("(table or path, 'snapshot' or 'read_optimized')", 2, 2, _query),
    "hudi_query_timeline": _Function("(table or path[, 'true' for archived actions too])", 1, 2, _query_timeline),
    "hudi_filesystem_view": _Function("(table or path[, partitions, as 'city=*'])", 1, 2, _filesystem_view),
    "hudi_metadata": _Function("(table or path)", 1, 1, _metadata),
}
"""Those of Hudi's that read a table; `hudi_sql` has them in FROM."""


def called_function(spark: "SparkSession", node: Any, named: Callable[[str], NamedTable]) -> "DataFrame | None":
    """The rows of a function of Hudi's in FROM; None for any other.

    `begin` and `end` are as in `HudiTable.incremental`; `earliest` leaves the begin open.

    Raises:
        UnsupportedFeature: a function of Hudi's that is not there.
        HudiError: CONFIG_INVALID for other arguments; else as the query.

    Clauses: IN-001, IN-002, CD-001, RD-004, RD-009, TL-004, MT-018.

    """
    name = node.name.lower()
    function = FUNCTIONS.get(name)
    if function is None:
        if name.startswith("hudi_"):
            hint = suggested(name, FUNCTIONS, f"there are {', '.join(sorted(FUNCTIONS))}")
            raise UnsupportedFeature("sql-function", f"{name}: {hint}")
        return None
    values = [_value(one) for one in node.expressions]
    if not function.fewest <= len(values) <= function.most or _NO_ARGUMENT in values:
        raise refusal(f"{name} has {len(values)} arguments, or one is NULL", f"write {name}{function.usage}")
    table, *further = map(str, values)
    return function.rows(_Call(spark, named(table), {}), further)
