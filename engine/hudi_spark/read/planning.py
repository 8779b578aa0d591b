"""A query becomes tasks, one for each file slice."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import pyarrow as pa
from hudi_format.schemas import META_FIELDS, OPERATION_FIELD
from hudi_format.storage import LocalStorage, Storage

from hudi_spark.errors import HudiError, Reason, suggested
from hudi_spark.filters import And, Comparison, Filter, filter_of
from hudi_spark.merge import RECORD_KEY, KeyRule, MergeRule, column_defaults, column_of, key_rule, merge_rule
from hudi_spark.options import BY_POSITIONS, check_configs, names_given, skips_merge
from hudi_spark.pruning import Pruned, PruningQuery, partitions_left, prune
from hudi_spark.read.tasks import ReadContext, SliceTask
from hudi_spark.readings import RELEASED, Readings
from hudi_spark.schema import META_SCHEMA, Origins, origins_of, snapshot_schema, with_operation
from hudi_spark.table_state import (
    FileSlice,
    Snapshot,
    StatedFile,
    TableConfiguration,
    flag,
    lister,
    load_snapshot,
    stated_files,
)

OWN_PREFIX: Final = "_hoodie_"
# Of a query that merges no logs.
UNMERGED: Final = MergeRule("COMMIT_TIME_ORDERING", ())


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked of a table.

    `filter` is in the form of the adapter protocol: `["price", ">", 10]`, `["and", f, g]` ...
    `zone`: the time zone in which functions of the filter are evaluated.

    Clauses: RD-001, RD-009, RD-010, RD-012, MF-002.
    """

    as_of: str | None = None
    columns: Sequence[str] | None = None
    filter: Any = None
    meta_columns: bool = False
    read_optimized: bool = False
    readings: Readings = RELEASED
    configs: Mapping[str, str] = field(default_factory=dict)
    zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Plan:
    """The tasks of a query, the snapshot that they read, and what of it they need not read.

    `about_rows`: how many rows at most the answer may be expected to have, where the plan shows it.
    """

    tasks: tuple[SliceTask, ...]
    context: ReadContext
    snapshot: Snapshot
    pruned: Pruned = field(default_factory=lambda: Pruned(()))
    about_rows: int | None = None

    @property
    def schema(self) -> pa.Schema:
        """Schema of the answer."""
        return self.context.output_schema


def plan_query(storage: Storage, query: Query) -> Plan:
    """The tasks whose rows together answer a query.

    Raises:
        HudiError: a refused table; CONFIG_INVALID for unknown columns, filters or options.
        FormatError: what a file of the timeline breaks.
        UnsupportedFeature: what this reader cannot read yet.

    Clauses: RD-001, RD-012, RD-019, MF-002.

    """
    check_configs(query.configs)
    unmerged = skips_merge(query.configs) and not query.read_optimized
    files = lister(query.configs)
    choose = None if query.filter is None else partial(_partitions, storage, query)
    snapshot = load_snapshot(
        storage, query.readings, query.as_of, files, read_optimized=query.read_optimized, choose=choose
    )
    origins = origins_of(storage, snapshot)
    context = read_context(storage, query, snapshot, unmerged=unmerged)
    # Indexes of records hold what merging gives in released implementations.
    latest = query.as_of is None and not (query.read_optimized or unmerged) and query.readings == RELEASED
    pruned = pruned_slices(storage, query, snapshot, origins, context, latest=latest)
    stated = stated_locally(storage, snapshot, pruned.slices)
    tasks = counted((slice_task(one, context, origins) for one in pruned.slices), stated)
    return Plan(tasks, context, snapshot, pruned, _keys_sought(context.row_filter, snapshot.configuration))


def _partitions(storage: Storage, query: Query, snapshot: Snapshot, partitions: frozenset[str]) -> frozenset[str]:
    """The partitions in which a query has to look.

    Clauses: IX-051, IX-056.
    """
    unmerged = skips_merge(query.configs) and not query.read_optimized
    context = read_context(storage, query, snapshot, unmerged=unmerged)
    origins = origins_of(storage, snapshot)
    return partitions_left(storage, snapshot, origins, _pruning_query(query, context, latest=False), partitions)


def _keys_sought(condition: Filter | None, configuration: TableConfiguration) -> int | None:
    """How many record keys a filter names, each of which is one row as a rule; None where it leaves them open."""
    if isinstance(condition, And):
        found = (_keys_sought(one, configuration) for one in condition.parts)
        return min((one for one in found if one is not None), default=None)
    if not isinstance(condition, Comparison) or condition.column.function != "identity":
        return None
    if (condition.column.name,) not in ((RECORD_KEY,), configuration.record_key):
        return None
    return {"=": 1, "in": len(condition.value) if condition.operator == "in" else 0}.get(condition.operator)


def pruned_slices(
    storage: Storage, query: Query, snapshot: Snapshot, origins: Origins, context: ReadContext, *, latest: bool
) -> Pruned:
    """The slices that may hold a row for which the context's filter is true; `latest`: the newest state is requested.

    Clauses: IX-051.
    """
    if context.row_filter is None:
        return Pruned(snapshot.slices)
    return prune(storage, snapshot, origins, _pruning_query(query, context, latest=latest))


def _pruning_query(query: Query, context: ReadContext, *, latest: bool) -> PruningQuery:
    merges_own = context.rule.merger is not None or context.rule.completion is not None
    condition = context.row_filter or And(())
    return PruningQuery(condition, context.schema, query.configs, latest, merges_own, query.zone, context.unmerged)


def slice_task(one: FileSlice, context: ReadContext, origins: Origins) -> SliceTask:
    """The task that reads a slice of a snapshot whose `origins_of` these are."""
    columns, external = origins.columns(one.partition, context.schema), origins.external(one)
    return SliceTask(context, one.partition, one.file_id, one.base_file, one.log_files, columns, external)


def stated_locally(storage: Storage, snapshot: Snapshot, slices: Iterable[FileSlice]) -> Mapping[str, StatedFile]:
    """What a query compares base files with: where storage is a local disk, whose sizes cost next to nothing.

    Clauses: OW-017, SA-001.
    """
    return stated_files(snapshot, slices) if isinstance(storage, LocalStorage) else {}


def counted(tasks: Iterable[SliceTask], stated: Mapping[str, StatedFile]) -> tuple[SliceTask, ...]:
    """Tasks that compare base files with what commits count of them.

    Clauses: OW-017, SA-001.
    """
    return tuple(
        one if one.external is not None else replace(one, stated=stated.get(one.base_file or "")) for one in tasks
    )


def read_context(storage: Storage, query: Query, snapshot: Snapshot, *, unmerged: bool = False) -> ReadContext:
    """What the tasks of a query over a snapshot share; `unmerged`: every version of a row is wanted.

    Raises:
        HudiError: CONFIG_INVALID for unknown columns or filters.
        UnsupportedFeature: what this reader cannot read yet.

    Clauses: RD-012, RD-019, MF-002.

    """
    if query.columns is not None:
        query = replace(query, columns=names_given(query.columns, "columns", "RD-012"))
    columns = snapshot_schema(storage, snapshot)
    if query.meta_columns or OPERATION_FIELD in (query.columns or ()):
        columns = with_operation(storage, snapshot, columns)
    schema = pa.schema([*META_SCHEMA, *columns])
    merges = not unmerged and any(one.log_files for one in snapshot.slices)
    return ReadContext(
        storage=storage,
        schema=schema,
        output=_output(query, columns, schema),
        row_filter=None if query.filter is None else filter_of(query.filter, schema),
        rule=_rule(query, snapshot, schema) if merges else UNMERGED,
        keys=key_rule(snapshot.configuration) if merges else KeyRule(),
        visibility=snapshot.visibility,
        by_positions=flag(query.configs, BY_POSITIONS, default=False),
        unmerged=unmerged,
    )


def _output(query: Query, columns: pa.Schema, schema: pa.Schema) -> tuple[str, ...]:
    """Clauses: MF-002."""
    selected = _usual_columns(query, columns) if query.columns is None else list(query.columns)
    meta = [name for name in META_FIELDS if query.meta_columns and name not in selected]
    for name in selected:
        if column_of(name, schema) is None:
            hint = suggested(name, columns.names, f"the table has {', '.join(columns.names)}")
            raise HudiError(Reason.CONFIG_INVALID, "RD-012", f"the table has no column {name!r}", hint=hint)
        if selected.count(name) > 1:
            raise HudiError(Reason.CONFIG_INVALID, "RD-012", f"column {name!r} is requested twice")
    return (*meta, *selected)


def _usual_columns(query: Query, columns: pa.Schema) -> list[str]:
    """The columns of an answer that names none: whatever is Hudi's own by name stays out unless requested.

    Clauses: MF-002.
    """
    return [name for name in columns.names if query.meta_columns or not name.startswith(OWN_PREFIX)]


def _rule(query: Query, snapshot: Snapshot, columns: pa.Schema) -> MergeRule:
    """The merge rule over the ordering fields that the table has; records without them all compare alike."""
    defaults = column_defaults(snapshot.commits, snapshot.configuration)
    rule = merge_rule(snapshot.configuration, query.configs, query.readings.deletes, defaults)
    return replace(rule, ordering=tuple(name for name in rule.ordering if column_of(name, columns) is not None))
