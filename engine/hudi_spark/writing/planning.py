"""From a request to the state, the schema and the context of a write; whatever can be refused is refused here.

Clauses: OW-002, OW-030, DM-003.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pyarrow as pa
from hudi_adapter.reasons import Reason
from hudi_format.base.files import MINIMUM_KEY, base_file_footer
from hudi_format.storage import Storage

from hudi_spark.committing.opening import state_of_table
from hudi_spark.effects.helper import Effects
from hudi_spark.errors import HudiError
from hudi_spark.evolution.schema import FixedFields, WriterSchema, without_columns, writer_schema
from hudi_spark.evolution.statements import SchemaStatement, schema_extra_metadata, table_avro
from hudi_spark.files.base import base_file_form
from hudi_spark.files.changes import change_form
from hudi_spark.files.log_form import log_form, opened_slices
from hudi_spark.files.places import Place
from hudi_spark.indexing.column_statistics import StatisticsPlan, statistics_plan
from hudi_spark.keying.generator import KeyGenerator, key_generator
from hudi_spark.merging.defaults import column_defaults
from hudi_spark.merging.fields import column_of
from hudi_spark.merging.modes import merge_mode, merge_rule
from hudi_spark.merging.rules import MergeRule
from hudi_spark.options.kept import contradictions
from hudi_spark.options.resolving import Options
from hudi_spark.readings import Readings
from hudi_spark.schemas.columns import META_SCHEMA, nullable
from hudi_spark.schemas.origins import origins_of
from hudi_spark.state.configuration import TableConfiguration, flag
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.tagging.columns import RECORD_KEY
from hudi_spark.tagging.stored_keys import stored_rule
from hudi_spark.writer_state import WriterState
from hudi_spark.writing.context import WriteContext
from hudi_spark.writing.operations import Operation


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
    for key, asked, known in contradictions(options, configuration.properties):
        raise _contradiction(key, asked, known)
    if options.given(_MERGE_MODE) and readings.override == "released":
        mode = merge_mode(configuration)
        if options.text(_MERGE_MODE) != mode:
            raise _contradiction(_MERGE_MODE, options.text(_MERGE_MODE), mode)
    if operation.partial and not configuration.has_completion_times:
        message = "tables of version 6 take no partial updates"
        raise HudiError(Reason.CONFIG_INVALID, "OW-025", message, hint="upgrade the table, or upsert whole rows")


def _contradiction(key: str, asked: str, known: str) -> HudiError:
    message = f"{key} is {asked!r} and the table has {known or None!r}"
    return HudiError(Reason.CONFIG_INVALID, "OW-030", message, hint="leave the option out: the table's own holds")


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
    asked = rule.ordering if rule.compares_event_time and not operation.deletes else ()
    for name in asked:
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


def context_of_write(  # noqa: PLR0917 - a write is told by all of them
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
        form=base_file_form(state.schema.avro, state.options, drops=dropped),
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
