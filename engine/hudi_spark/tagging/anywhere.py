"""Tagging by a global index: lookup, what is stored, and who moves, in this order."""

from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa

from hudi_spark.flows.flow import Executor, Flow, TaskIdentity
from hudi_spark.keying.generator import key_generator
from hudi_spark.merging.defaults import column_defaults
from hudi_spark.merging.fields import column_of, columns_of
from hudi_spark.merging.modes import merge_rule
from hudi_spark.merging.rules import MergeRule
from hudi_spark.metadata.table import MetadataTable
from hudi_spark.tagging.bloom import found_by_bloom
from hudi_spark.tagging.columns import KEY_FIELD, PARTITION_FIELD, RECORD_KEY, SLICE, Named, SliceNames, tagged_schema
from hudi_spark.tagging.kinds import Index
from hudi_spark.tagging.moving import Moving
from hudi_spark.tagging.record_index import found_in_index
from hudi_spark.tagging.simple import found_anywhere, places_without_paths
from hudi_spark.tagging.stored_keys import reading, slice_tasks, stored_rule
from hudi_spark.tagging.stored_rows import DELETES, Keeping, deleting_rows, kept_schema
from hudi_spark.writer_state import WriterState

_MERGE_ON_READ: Final = "MERGE_ON_READ"
_ASKED: Final = pa.schema([KEY_FIELD, PARTITION_FIELD, pa.field(DELETES, pa.bool_())])
_KEYS: Final = pa.schema([KEY_FIELD])


@dataclass(frozen=True, slots=True)
class Lookup:
    """A global index and what it asks; `missing`: columns that the rows, being partial updates, leave out."""

    index: Index
    metadata: MetadataTable | None
    missing: frozenset[str] = frozenset()

    def found(self, keys: Flow, state: WriterState, executor: Executor) -> Flow:
        """The lines of `keys` that some slice holds, with its number and the row in its base file.

        Clauses: IX-010, IX-020, OW-020, OW-021.
        """
        if self.index.kind == "bloom":
            return found_by_bloom(keys, state, executor, self.metadata, anywhere=True)
        if self.index.kind == "record" and self.metadata is not None:
            return found_in_index(keys, state, self.metadata, within_partitions=False)
        return found_anywhere(keys, state, executor)

    @property
    def reads_files(self) -> bool:
        """Whether keys are those of base files, which logs may have deleted."""
        return self.index.kind != "record" or self.metadata is None


def tagged_anywhere(keyed: Flow, state: WriterState, executor: Executor, lookup: Lookup) -> Flow:
    """Rows and where their keys live in the table; rows may move, stay elsewhere, or lose: see `moving`.

    Clauses: OW-020, OW-021, OW-024.
    """
    may_be_gone = lookup.reads_files and state.configuration.table_type == _MERGE_ON_READ
    if not (lookup.index.moves or may_be_gone):
        return _in_place(keyed, state, executor, lookup)
    rule = rule_of_write(state)
    stored = _deciding(state, rule, lookup)
    found = lookup.found(keyed.map(_Asking(rule), _ASKED), state, executor)
    keys = stored_rule(state)
    slices = slice_tasks(state, *reading(state, (*keys.columns, *stored.names)))
    keeping = Keeping(slices, keys, stored, lookup.index.moves)
    kept = found.shuffled([SLICE]).map(keeping, kept_schema(stored))
    generator = key_generator(state.configuration, state.options)
    moving = Moving(keyed.schema, stored, SliceNames.of(state.slices), rule, generator, lookup.missing)
    return keyed.joined(kept, [RECORD_KEY]).map(moving, moving.schema)


def _in_place(keyed: Flow, state: WriterState, executor: Executor, lookup: Lookup) -> Flow:
    """Every row goes where its key is."""
    naming = Named(SliceNames.of(state.slices), stored_paths=True)
    if lookup.reads_files and lookup.index.kind != "bloom":
        places = places_without_paths(state, executor)
    else:
        places = lookup.found(keyed.map(_KeysAlone(), _KEYS), state, executor)
    return keyed.joined(places, [RECORD_KEY]).map(naming, tagged_schema(keyed.schema))


def rule_of_write(state: WriterState) -> MergeRule:
    """How the stored and the incoming version of a record merge.

    Clauses: MG-001, MG-012.
    """
    configs = {key: value for key, value in state.options.values.items() if key.startswith("hoodie.")}
    defaults = column_defaults(state.snapshot.commits, state.configuration)
    rule = merge_rule(state.configuration, configs, "released", defaults)
    known = tuple(name for name in rule.ordering if column_of(name, state.schema.arrow) is not None)
    return replace(rule, ordering=known)


def _deciding(state: WriterState, rule: MergeRule, lookup: Lookup) -> pa.Schema:
    """The stored columns that decide whether a row moves, or that the moving row takes over."""
    if not lookup.index.moves:
        return pa.schema([])
    context, _ = reading(state, ())
    own = [field for field in context.schema if field.name in state.schema.arrow.names]
    if rule.completes or lookup.missing:
        return pa.schema(own)
    names = columns_of(rule.ordering, context.schema) if rule.compares_event_time else ()
    return pa.schema([field for field in own if field.name in names])


@dataclass(frozen=True, slots=True)
class _Asking:
    """Keys and partition paths, and whether rows delete their key."""

    rule: MergeRule

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        deletes = deleting_rows(rows, self.rule)
        return rows.select(_ASKED.names[:-1]).append_column(DELETES, deletes)


@dataclass(frozen=True, slots=True)
class _KeysAlone:
    """Record keys alone."""

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        return rows.select(_KEYS.names)
