"""From what a caller asks to the state, the schema and the context of a write; what can be refused is refused here.

An id is the caller's own. A batch has a stream and a number; a commit says of every stream of the table which batch it
wrote last, as Apache Hudi's streaming sink has it. Either is known for as long as its commit is on the active timeline.

Clauses: OW-001, OW-010, OW-002, OW-030, DM-003.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Protocol

import pyarrow as pa
from hudi_format.base.files import MINIMUM_KEY, base_file_footer
from hudi_format.schemas import META_FIELDS
from hudi_format.storage import Storage

from hudi_spark.concurrency import Effects
from hudi_spark.errors import HudiError, Reason, suggested
from hudi_spark.files import (
    BaseFileForm,
    ChangeForm,
    LogForm,
    Place,
    base_file_form,
    change_form,
    log_form,
    opened_slices,
)
from hudi_spark.keys import RECORD_KEY, KeyGenerator, key_generator, stored_rule
from hudi_spark.merge import KeyRule, MergeRule, column_defaults, column_of, merge_mode, merge_rule
from hudi_spark.metadata import StatisticsPlan, statistics_plan
from hudi_spark.options import Options, contradictions, names_given, refuse_no_text
from hudi_spark.readings import Readings
from hudi_spark.schema import (
    META_SCHEMA,
    FixedFields,
    Origins,
    WriterSchema,
    WriterState,
    nullable,
    origins_of,
    without_columns,
    writer_schema,
)
from hudi_spark.table_state import Commit, Snapshot, TableConfiguration, Timeline, commit_of, flag
from hudi_spark.write.action import Outcome, state_of_table
from hudi_spark.write.schema_metadata import SchemaStatement, schema_extra_metadata, table_avro

OperationName = Literal[
    "insert",
    "upsert",
    "bulk_insert",
    "delete",
    "insert_overwrite",
    "insert_overwrite_table",
    "delete_partition",
    "partial_update",
]
Replaces = Literal["nothing", "partitions", "table"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation.

    `stored`: its name in commit metadata. `tags`: whether incoming keys are looked up in the table.
    `combines`: the option by which versions of one key in the input are combined first, None where they never are.
    `replaces`: which file groups leave the table when it completes.

    Clauses: TL-019, RD-003.
    """

    name: OperationName
    stored: str
    tags: bool = False
    combines: str | None = None
    replaces: Replaces = "nothing"
    bulk: bool = False

    @property
    def deletes(self) -> bool:
        """Whether every incoming key leaves the table."""
        return self.name == "delete"

    @property
    def partial(self) -> bool:
        """Whether the incoming rows hold some of the columns only."""
        return self.name == "partial_update"


_INSERTS: Final = "hoodie.combine.before.insert"
_UPSERTS: Final = "hoodie.combine.before.upsert"
_DELETES: Final = "hoodie.combine.before.delete"

OPERATIONS: Final[Mapping[str, Operation]] = {
    one.name: one
    for one in (
        Operation("insert", "INSERT", combines=_INSERTS),
        Operation("upsert", "UPSERT", tags=True, combines=_UPSERTS),
        Operation("bulk_insert", "BULK_INSERT", combines=_INSERTS, bulk=True),
        Operation("delete", "DELETE", tags=True, combines=_DELETES),
        Operation("insert_overwrite", "INSERT_OVERWRITE", combines=_INSERTS, replaces="partitions"),
        Operation("insert_overwrite_table", "INSERT_OVERWRITE_TABLE", combines=_INSERTS, replaces="table"),
        Operation("delete_partition", "DELETE_PARTITION", replaces="partitions"),
        Operation("partial_update", "UPSERT", tags=True, combines=_UPSERTS),
    )
}


def operation_named(name: str) -> Operation:
    """The operation of a name.

    Raises:
        HudiError: CONFIG_INVALID for another name.

    """
    found = OPERATIONS.get(str(name))
    if found is None:
        hint = suggested(str(name), OPERATIONS, f"use one of {', '.join(OPERATIONS)}")
        raise HudiError(Reason.CONFIG_INVALID, "TL-019", f"{name!r} is no operation", hint=hint)
    return found


BATCHES_KEY: Final = "_hudi_streaming_sink_checkpoint"
WRITE_ID_KEY: Final = "_hudi_write_id"


class Once(Protocol):
    """What distinguishes a write from others, so that it is done once."""

    def is_of(self, commit: Commit) -> bool:
        """Whether a commit is of this write, or of one that comes after it.

        Raises:
            HudiError: TIMELINE_FILE_CORRUPT for a commit whose entry does not parse.

        """

    def entry(self, commits: Iterable[Commit]) -> Mapping[str, str]:
        """What the commit of this write says, in the extra metadata, where these commits were before it."""


@dataclass(frozen=True, slots=True)
class WriteId:
    """A caller's own id of a write."""

    text: str

    def is_of(self, commit: Commit) -> bool:
        """Whether a commit has the id."""
        return commit.metadata.extra.get(WRITE_ID_KEY) == self.text

    def entry(self, commits: Iterable[Commit]) -> Mapping[str, str]:
        """The id."""
        del commits
        return {WRITE_ID_KEY: self.text}


@dataclass(frozen=True, slots=True)
class Batch:
    """A numbered batch of a stream."""

    stream: str
    number: int

    def is_of(self, commit: Commit) -> bool:
        """Whether a commit says that the batch, or a later one of its stream, was written."""
        return _batches(commit).get(self.stream, -1) >= self.number

    def entry(self, commits: Iterable[Commit]) -> Mapping[str, str]:
        """The last batch of every stream.

        Of all commits, not of the newest: two streams that write at the same time do not know of one another's batch.
        """
        known: dict[str, int] = {}
        for commit in commits:
            for name, number in _batches(commit).items():
                known[name] = max(number, known.get(name, number))
        known[self.stream] = self.number
        return {BATCHES_KEY: json.dumps({name: str(number) for name, number in sorted(known.items())})}


class WrittenBeforeError(HudiError):
    """Another try of the same write has completed meanwhile: `commit`."""

    def __init__(self, commit: Commit) -> None:
        message = f"the {commit.instant.action} {commit.instant.requested} is of the same write"
        super().__init__(Reason.WRITE_CONFLICT, "OW-010", message, commit.instant.file, hint="it need not be repeated")
        self.args = (commit,)
        self.commit = commit


def write_of(commits: Iterable[Commit], once: Once) -> Commit | None:
    """The newest of some commits that is of a write."""
    return next((one for one in reversed(tuple(commits)) if once.is_of(one)), None)


def refuse_repeated(storage: Storage, began_with: Timeline, timeline: Timeline, once: Once) -> None:
    """Nothing, unless another try of the write has completed since it began.

    Raises:
        WrittenBeforeError: one has.

    Clauses: OW-010.

    """
    known = {one.requested for one in began_with.completed_data()}
    later = [one for one in timeline.completed_data() if one.requested not in known]
    found = write_of((commit_of(storage, one) for one in later), once)
    if found is not None:
        raise WrittenBeforeError(found)


def repeated(commit: Commit) -> Outcome:
    """What a write answers that stood already."""
    one, metadata = commit.instant, commit.metadata
    return Outcome(
        one.requested,
        one.completed,
        one.action,
        metadata.operation_type or "",
        metadata.write_stats,
        metadata.replaced_file_ids,
        repeated=True,
    )


def _batches(commit: Commit) -> Mapping[str, int]:
    """The last batch that each stream had written, by the stream's name."""
    text = commit.metadata.extra.get(BATCHES_KEY)
    if not text:
        return {}
    try:
        return {str(name): int(number) for name, number in json.loads(text).items()}
    except (ValueError, AttributeError, TypeError, ArithmeticError, RecursionError) as error:
        message = f"{BATCHES_KEY} is {text[:100]!r}"
        hint = "the commit was not written by a streaming sink of Hudi: repair or restore it"
        raise HudiError(Reason.TIMELINE_FILE_CORRUPT, "TL-019", message, commit.instant.file, hint=hint) from error


_OPERATION: Final = "hoodie.datasource.write.operation"
_PARTITIONS: Final = "hoodie.datasource.write.partitions.to.delete"
_POLICY: Final = "hoodie.datasource.insert.dup.policy"
_DROPS: Final = "hoodie.datasource.write.insert.drop.duplicates"


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """What to write: rows (an Arrow table, or a DataFrame on Spark), a filter that chooses stored rows, or partitions.

    `operation`: empty for the one that the options name, an upsert where they name none.
    `extra`: entries of the commit's extra metadata, a source's checkpoint for instance. `once`: what it is known by
    when it is tried again. `deletes`: a column of the rows, none of the table's, that is true where a row removes its
    key, whatever ordering value it has. `seen`: the completed writes of the table that the rows were computed from; one
    that came since is a conflict.

    Clauses: OW-014, OW-018.
    """

    operation: str = ""
    rows: Any | None = None
    filter: Any | None = None
    partitions: Sequence[str] = ()
    configs: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)
    once: Once | None = None
    deletes: str = ""
    seen: frozenset[str] | None = None


def refuse_unseen(timeline: Timeline, seen: frozenset[str] | None) -> None:
    """Nothing, unless a write has completed that the rows do not know.

    Raises:
        HudiError: WRITE_CONFLICT.

    Clauses: OW-005.

    """
    later = [one for one in timeline.completed_data() if seen is not None and one.requested not in seen]
    if later:
        message = f"the {later[-1].action} {later[-1].requested} has completed since the rows were read"
        hint = "run the statement again"
        raise HudiError(Reason.WRITE_CONFLICT, "OW-005", message, later[-1].file, hint=hint)


def operation_of(request: WriteRequest, options: Options) -> Operation:
    """The operation of a request.

    Raises:
        HudiError: CONFIG_INVALID for an unknown operation, where argument and option differ, or for partitions that
            are no list of texts.

    Clauses: OW-014, OW-018, OW-030.

    """
    names_given(request.partitions, "partitions", "OW-018")
    found = operation_named(options.text(_OPERATION) if request.operation in ("", None) else request.operation)
    configured = options.text(_OPERATION)
    if request.operation and options.given(_OPERATION) and configured != found.name:
        message = f"{_OPERATION} is {configured!r}, the operation is {found.name!r}"
        raise HudiError(Reason.CONFIG_INVALID, "OW-030", message, hint="leave the option out")
    return found


def partitions_of_options(options: Options) -> tuple[str, ...]:
    """The partitions to delete, or patterns of them.

    Clauses: OW-018.
    """
    return options.names(_PARTITIONS)


def duplicates_policy(options: Options) -> str:
    """What an insert does with keys that the table holds: `none`, `drop` or `fail`.

    Clauses: DM-001.
    """
    return "drop" if options.flag(_DROPS) else options.text(_POLICY)


def with_extra(options: Options, request: WriteRequest, snapshot: Snapshot) -> Options:
    """The options, with what the request adds to the commit's metadata."""
    once = {} if request.once is None else request.once.entry(snapshot.commits)
    return replace(options, extra={**options.extra, **request.extra, **once})


def write_id_of(text: str) -> WriteId | None:
    """What a write is known by when it is tried again, by its caller's id; None for none.

    Raises:
        HudiError: CONFIG_INVALID for an id that is no text, or one that no file can hold.

    """
    if text is not None:
        refuse_no_text(text, "the id of a write", "OW-010")
    return WriteId(text) if text else None


@dataclass(frozen=True, slots=True)
class WriteContext:
    """One write, as its tasks see it.

    `schema`: the columns of the table, meta fields first. `form`, `logs` and
    `changes`: how its files look. `rule` merges versions
    of records; `stored_keys` finds the keys of stored rows. `origins`: how stored files are read. `new_file_id`: the id
    of a file group that is opened. `statistics`: of which columns tasks tell them. `missing`: columns that partial
    updates leave out.

    Clauses: MG-001, TT-001, TT-002.
    """

    place: Place
    configuration: TableConfiguration
    operation: Operation
    options: Options
    requested: str
    schema: pa.Schema
    form: BaseFileForm
    logs: LogForm
    changes: ChangeForm | None
    rule: MergeRule
    stored_keys: KeyRule
    origins: Origins
    new_file_id: Callable[[], str]
    statistics: StatisticsPlan
    missing: frozenset[str] = frozenset()

    def schema_of_rows(self, schema: WriterSchema) -> WriterSchema:
        """The columns in which rows are taken: those of deletes and partial updates may leave out what is required."""
        if not (self.operation.deletes or self.operation.partial):
            return schema
        return WriterSchema(schema.avro, pa.schema([pa.field(one.name, one.type) for one in schema.arrow]))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the table's own columns."""
        return tuple(name for name in self.schema.names if name not in META_FIELDS)


def state_of_write(
    storage: Storage, snapshot: Snapshot, options: Options, operation: Operation, incoming: pa.Schema | None
) -> WriterState:
    """What the write of rows with an Arrow schema (None: of no rows) knows of its table.

    Raises:
        HudiError: KEY_MISSING, SCHEMA_INCOMPATIBLE for rows that do not fit; CONFIG_INVALID for a missing ordering
            field.

    Clauses: DM-003, OW-025, OW-030.

    """
    if incoming is None:
        return state_of_table(storage, snapshot, options)
    _refuse_doubles(incoming)
    generator = key_generator(snapshot.configuration, options)
    _refuse_missing_keys(generator, incoming)
    _refuse_generated_keys(generator, operation, incoming)
    _refuse_missing_ordering(rule_of_write(snapshot, options), operation, incoming)
    stated = table_avro(snapshot)
    if operation.deletes and stated is not None:
        return state_of_table(storage, snapshot, options)
    fixed = FixedFields(generator.columns, snapshot.configuration.ordering)
    schema = writer_schema(stated, incoming, snapshot.configuration.name, options, fixed, partial=operation.partial)
    return WriterState(storage, snapshot, options, schema)


_MERGE_MODE: Final = "hoodie.write.record.merge.mode"


def refuse_contradictions(
    configuration: TableConfiguration, options: Options, operation: Operation, readings: Readings
) -> None:
    """Nothing when what the options say of the table is what the table says.

    Raises:
        HudiError: CONFIG_INVALID.

    Clauses: OW-030, MG-010, OW-025.

    """
    for key, configured, known in contradictions(options, configuration.properties):
        raise _contradiction(key, configured, known)
    if options.given(_MERGE_MODE) and readings.override == "released":
        mode = merge_mode(configuration)
        if options.text(_MERGE_MODE) != mode:
            raise _contradiction(_MERGE_MODE, options.text(_MERGE_MODE), mode)
    if operation.partial and not configuration.has_completion_times:
        message = "tables of version 6 take no partial updates"
        raise HudiError(Reason.CONFIG_INVALID, "OW-025", message, hint="upgrade the table, or upsert whole rows")


def _contradiction(key: str, configured: str, known: str) -> HudiError:
    message = f"{key} is {configured!r} and the table has {known or None!r}"
    return HudiError(Reason.CONFIG_INVALID, "OW-030", message, hint="leave the option out: the table's own holds")


def _refuse_doubles(incoming: pa.Schema) -> None:
    """Nothing where a name is that of one column: a key, or what a delete takes, would be that of either.

    Clauses: DM-003.
    """
    twice = [name for name, times in Counter(incoming.names).items() if times > 1]
    if twice:
        message = f"column {twice[0]!r} stands there twice"
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-003", message, hint="rename one of them")


def _refuse_missing_keys(generator: KeyGenerator, incoming: pa.Schema) -> None:
    """Clauses: DM-002, DM-031."""
    missing = [name for name in generator.columns if column_of(name, incoming) is None]
    if missing:
        message = f"the rows have no column {', '.join(repr(name) for name in missing)}"
        hint = "keys and partition paths are made of them: add them to the rows"
        raise HudiError(Reason.KEY_MISSING, "DM-002", message, hint=hint)


def _refuse_generated_keys(generator: KeyGenerator, operation: Operation, incoming: pa.Schema) -> None:
    """Clauses: DM-002, OW-003."""
    if generator.rule is None and operation.tags and RECORD_KEY not in incoming.names:
        message = f"{operation.name} looks keys up, and the table generates a new key for every row"
        hint = f"insert the rows; or give stored rows with their {RECORD_KEY}, or a filter to delete by"
        raise HudiError(Reason.CONFIG_INVALID, "OW-003", message, hint=hint)


def _refuse_missing_ordering(rule: MergeRule, operation: Operation, incoming: pa.Schema) -> None:
    """Clauses: OW-013, OW-030, MG-003."""
    ordering = rule.ordering if rule.compares_event_time and not operation.deletes else ()
    for name in ordering:
        if column_of(name, incoming) is None:
            hint = "add the column: which row of a key wins is decided by it"
            message = f"the ordering field {name!r} is no column of the rows"
            raise HudiError(Reason.CONFIG_INVALID, "OW-030", message, hint=hint)


def rule_of_write(snapshot: Snapshot, options: Options) -> MergeRule:
    """How versions of records merge in a write.

    Clauses: MG-001, MG-012.
    """
    defaults = column_defaults(snapshot.commits, snapshot.configuration)
    return merge_rule(snapshot.configuration, options.values, "released", defaults)


def context_of_write(  # noqa: PLR0917 - a write is reported by all of them
    effects: Effects,
    state: WriterState,
    operation: Operation,
    requested: str,
    incoming: pa.Schema,
    file_ids: Callable[[], str],
) -> WriteContext:
    """What the tasks of a write share.

    Clauses: BF-001, MG-001, SL-020.
    """
    configuration = state.configuration
    dropped = configuration.partition_by if configuration.partitions.columns_dropped else ()
    in_base_format = flag(configuration.properties, "hoodie.partition.metafile.use.base.format", default=False)
    rule = _over_columns(rule_of_write(state.snapshot, state.options), state.schema)
    missing = _missing(operation, state.schema, incoming)
    opened = opened_slices(state.storage, state.snapshot.timeline)
    columns = [pa.field(one.name, nullable(one.type)) for one in state.schema.arrow]
    return WriteContext(
        place=Place(effects, requested, "parquet" if in_base_format else "properties"),
        configuration=configuration,
        operation=operation,
        options=state.options,
        requested=requested,
        schema=pa.schema([*META_SCHEMA, *columns]),
        form=base_file_form(
            state.schema.avro, state.options, drops=dropped, meta_fields=configuration.populates_meta_fields
        ),
        logs=log_form(configuration, state.schema.avro, state.options, rule, missing=missing, opened=opened),
        changes=change_form(configuration, state.schema.avro, state.options),
        rule=rule,
        stored_keys=stored_rule(state),
        origins=origins_of(state.storage, state.snapshot),
        new_file_id=file_ids,
        statistics=statistics_plan(state) or StatisticsPlan((), "V1"),
        missing=missing,
    )


def _over_columns(rule: MergeRule, schema: WriterSchema) -> MergeRule:
    return replace(rule, ordering=tuple(name for name in rule.ordering if column_of(name, schema.arrow) is not None))


def _missing(operation: Operation, schema: WriterSchema, incoming: pa.Schema) -> frozenset[str]:
    """The columns that partial updates leave out.

    Clauses: OW-025, MG-021.
    """
    if not operation.partial:
        return frozenset()
    return frozenset(name for name in schema.arrow.names if name not in incoming.names)


def key_generator_of(state: WriterState) -> KeyGenerator:
    """The key generator of the table, which may have to look at a key that is there.

    Raises:
        HudiError: CONFIG_INVALID.

    Clauses: DM-030.

    """
    return key_generator(state.configuration, state.options, _existing_key(state))


def _existing_key(state: WriterState) -> str | None:
    """Releases differ on how a complex generator writes a single field; the table's keys tell.

    Clauses: DM-002.
    """
    if len(state.configuration.record_key) != 1 or not state.configuration.populates_meta_fields:
        return None
    files = (one.base_file for one in state.slices if one.base_file is not None)
    return next((key for file in files if (key := _least_key(state, file))), None)


def _least_key(state: WriterState, file: str) -> str | None:
    return base_file_footer(state.storage, file).keys.get(MINIMUM_KEY)


def statement_of(state: WriterState, requested: str) -> SchemaStatement:
    """What the commit says of the schema; columns that only folders' names hold are left out.

    Clauses: DM-003, DM-020, DM-022.
    """
    dropped = state.configuration.partition_by if state.configuration.partitions.columns_dropped else ()
    return schema_extra_metadata(state, without_columns(state.schema, dropped), requested)
