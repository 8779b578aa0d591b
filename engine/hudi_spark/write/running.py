"""A write run step by step: keyed, combined, tagged, routed, written, committed.

Jobs on Spark: one for a bulk insert; two for every other operation, as the number of rows for each file group has to be
known before rows are sent there; the rows in between are kept by the executors. Indexes may add a job of their own.
Steps that work on few rows and few bytes of files are the driver's, without a job but the one that brings the rows.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.compat import add_note
from hudi_format.errors import FormatError

from hudi_spark.errors import HudiError, Reason
from hudi_spark.files import WRITTEN_SCHEMA, WrittenFile, from_rows
from hudi_spark.keys import (
    PARTITION_PATH,
    RECORD_KEY,
    TAG_FIELDS,
    Tagged,
    is_global,
    looks_twice,
    tagged,
    tagged_schema,
)
from hudi_spark.read import Executor, Flow
from hudi_spark.schema import WriterState
from hudi_spark.table_state import Snapshot, refuse_no_folders
from hudi_spark.write.action import Outcome, TableWork
from hudi_spark.write.conflicts import concurrency_of, without_vanished_logs
from hudi_spark.write.planning import (
    Operation,
    WriteContext,
    WriteRequest,
    context_of_write,
    duplicates_policy,
    key_generator_of,
    state_of_write,
    statement_of,
)
from hudi_spark.write.routing import (
    TARGET,
    TARGET_FIELD,
    Routes,
    bytes_to_write,
    counted_targets,
    groups_of,
    in_sort_mode,
    is_bucketed,
    plan_routes,
    sizing_of,
    state_for_tags,
    state_of_files,
)
from hudi_spark.write.tasks import BulkWriting, Combining, Keying, Known, NewKeys, Routing, WritingTargets
from hudi_spark.write.transaction import Staged, Transaction, groups_in, missing_partitions, replaced_by

_PARALLELISM: Final = "hoodie.{operation}.shuffle.parallelism"
_WITH_PARALLELISM: Final = ("insert", "upsert", "bulkinsert", "delete")
_NO_ROUTES: Final = Routes((), {})
_Made = tuple[tuple[WrittenFile, ...], Mapping[str, tuple[str, ...]]]


_NOTHING: Final = WriteRequest()


class Write:
    """One write in its phases: `begin`, `stage`, `commit`, or `abort` after either of the first two.

    Clauses: OW-001.
    """

    def __init__(
        self, work: TableWork, snapshot: Snapshot, operation: Operation, request: WriteRequest = _NOTHING
    ) -> None:
        self.work = work
        self._deletes = request.deletes
        # Rows that were computed from those of the table, and are put in their places.
        self._stored = request.seen is not None and not request.deletes and operation.name == "upsert"
        self._snapshot = snapshot
        self.operation = operation
        self._transaction = Transaction(work, snapshot, operation, request.once)
        self._state: WriterState | None = None
        self._staged = Staged()

    @property
    def action(self) -> str:
        """The action on the timeline."""
        return self._transaction.action

    def prepare(self, rows: Flow | None) -> None:
        """Whether rows fit the table, before anything is in storage.

        Raises:
            HudiError: SCHEMA_INCOMPATIBLE, CONFIG_INVALID, KEY_MISSING.

        Clauses: DM-003, OW-025, OW-030.

        """
        incoming = None if rows is None else self._brought(rows)
        self._state = state_of_write(self.work.storage, self._snapshot, self.work.options, self.operation, incoming)
        concurrency_of(self._state, self.operation)

    def _brought(self, rows: Flow) -> pa.Schema:
        """The columns that rows bring to the table."""
        return pa.schema([one for one in rows.schema if not self._deletes or one.name != self._deletes])

    def skip_if_empty(self, partitions: Sequence[str]) -> Outcome | None:
        """What comes of a deletion of partitions of which none holds anything: no action; None for any other write.

        Clauses: OW-018.
        """
        missing = missing_partitions(self._snapshot, partitions)
        if len(missing) < len(set(partitions)) or not partitions:
            return None
        return Outcome("", None, "", self.operation.stored, missing_partitions=missing)

    def named(self, partitions: Sequence[str]) -> tuple[str, ...]:
        """Partitions by name, `*` for any text; a pattern that fits none stays as it is.

        Clauses: OW-018.
        """
        held = sorted({one.partition for one in self._snapshot.slices})
        found = ([one for one in held if _fits(one, name)] or [name] for name in partitions)
        return tuple(dict.fromkeys(one for names in found for one in names))

    def begin(self) -> str:
        """The requested time, whose file is there from now on."""
        return self._transaction.begin()

    def stage(self, rows: Flow | None, partitions: Sequence[str] = ()) -> None:
        """Everything that the write makes is in storage, and nothing of it counts. What fails is taken back.

        Raises:
            HudiError: as `prepare`; KEY_MISSING for rows without a key.

        Clauses: OW-001, OW-009, OW-018.

        """
        try:
            if self._state is None:
                self._snapshot = without_vanished_logs(self.work.storage, self._snapshot)
                self.prepare(rows)
            self._staged = self._stage(rows, partitions)
        except BaseException as error:
            try:
                self._transaction.abort()
            except (OSError, FormatError, HudiError) as left:
                add_note(error, f"and what was written could not be removed: {left}")
            raise

    def commit(self) -> Outcome:
        """The write completes.

        Raises:
            HudiError: WRITE_CONFLICT.

        Clauses: OW-010.

        """
        assert self._state is not None
        return self._transaction.commit(self._staged, self._state)

    def abort(self) -> None:
        """Nothing of the write is left.

        Clauses: OW-009.
        """
        self._transaction.abort()

    def silence(self) -> None:
        """Nobody goes on with the write."""
        self._transaction.silence()

    def _stage(self, rows: Flow | None, partitions: Sequence[str]) -> Staged:
        assert self._state is not None
        if rows is None:
            self._transaction.go_inflight(_NO_ROUTES, self._state)
            replaced = replaced_by(self.operation, self._snapshot, partitions)
            self._transaction.check_pending_clusterings(groups_in(replaced))
            return replace(self._staged_files((), replaced), missing=missing_partitions(self._snapshot, partitions))
        arguments = (self.operation, self._transaction.requested, self._brought(rows), self.work.file_ids)
        context = context_of_write(self.work.effects, self._state, *arguments)
        staging = _Staging(
            self._transaction, self._state, context, self.work.executor, self._deletes, stored=self._stored
        )
        return self._staged_files(*staging.staged(rows))

    def _staged_files(self, written: tuple[WrittenFile, ...], replaced: Mapping[str, tuple[str, ...]]) -> Staged:
        assert self._state is not None
        return Staged(
            written, replaced, statement_of(self._state, self._transaction.requested), self.work.options.extra
        )


def _fits(partition: str, pattern: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), partition, re.DOTALL) is not None


class _Staging:
    """The steps from incoming rows to files."""

    def __init__(
        self,
        transaction: Transaction,
        state: WriterState,
        context: WriteContext,
        executor: Executor,
        deletes: str = "",
        *,
        stored: bool = False,
    ) -> None:
        self._transaction = transaction
        self._stored = stored
        self._deletes = deletes
        self._state = state
        self._context = context
        self._operation = context.operation
        self._executor = executor

    def staged(self, rows: Flow) -> _Made:
        """The files of the write, and the file groups that it replaces."""
        if self._operation.bulk and not is_bucketed(self._state):
            return self._bulk(self._keyed(rows))
        keyed = self._keyed(rows.if_few())
        # What the source gives is computed once, and so is what the index says of it.
        with self._once(self._combined(keyed)) as rows_once, (found := self._tagged(rows_once)).rows.kept() as kept:
            counts = found.counted(kept)
            routes = self._routes(counts)
            partitions = counts.column(PARTITION_PATH).to_pylist()
            refuse_no_folders(self._state.storage, set(partitions), "SL-002")
            replaced = replaced_by(self._operation, self._state.snapshot, partitions)
            self._transaction.check_pending_clusterings(routes.known_groups() | groups_in(replaced))
            self._transaction.go_inflight(routes, self._state)
            named = found.of(kept.if_few())
            routed = named.map(Routing(routes), pa.schema([*named.schema, TARGET_FIELD]))
            spread = routed.spread(TARGET, routes.targets, partial(bytes_to_write, storage=self._state.storage))
            writing = WritingTargets(counted_targets(routes.targets, self._state.snapshot), self._context)
            written = spread.map(writing, WRITTEN_SCHEMA).gathered()
        return from_rows(written), replaced

    def _keyed(self, rows: Flow) -> Flow:
        schema = self._context.schema_of_rows(self._state.schema)
        generator = key_generator_of(self._state)
        keying = Keying(schema, generator, self._context.requested, self._operation.tags, self._deletes)
        return rows.map(keying, keying.keyed_schema)

    def _combined(self, keyed: Flow) -> Flow:
        """Clauses: OW-019, MG-017."""
        if self._operation.combines is None or not self._state.options.flag(self._operation.combines):
            return keyed
        across = is_global(self._state)
        columns = [RECORD_KEY] if across else [PARTITION_PATH, RECORD_KEY]
        work = Combining(self._context.rule, self._context.missing, by_partition=not across, stored=self._stored)
        return keyed.shuffled(columns, self._parts()).map(work, keyed.schema)

    def _parts(self) -> int | None:
        """In how many parts rows are sent to be combined; None where the executor sees fit."""
        name = self._operation.name.replace("_", "") if self._operation.bulk else self._operation.stored.lower()
        key = _PARALLELISM.format(operation=name if name in _WITH_PARALLELISM else "insert")
        return self._state.options.number(key) or None

    def _once(self, rows: Flow) -> AbstractContextManager[Flow]:
        """The rows for an index that may look at them twice; one that does not leaves keeping to the tagged rows."""
        twice = looks_twice(self._state) or self._policy != "none"
        return rows.kept() if self._looks_up and twice else nullcontext(rows)

    @property
    def _policy(self) -> str:
        """What is done with keys that the table holds; only inserts have a choice."""
        return duplicates_policy(self._state.options) if self._operation.name == "insert" else "none"

    @property
    def _looks_up(self) -> bool:
        """Whether the index is asked at all.

        Clauses: OW-003, OW-020.
        """
        return self._operation.tags or self._policy != "none" or is_bucketed(self._state)

    def _tagged(self, rows: Flow) -> Tagged:
        """Clauses: OW-003, OW-013, OW-020."""
        schema = tagged_schema(rows.schema)
        if not self._looks_up:
            return Tagged(rows.widened(TAG_FIELDS))
        state = state_for_tags(self._state, self._operation)
        if self._policy != "none":
            rows = self._of_new_keys(rows, state)
            if not is_bucketed(state):
                return Tagged(rows.widened(TAG_FIELDS))
        found = tagged(
            rows,
            state,
            self._executor,
            self._context.requested,
            self._context.place.effects,
            missing=self._context.missing,
            staying=self._operation.deletes,
        )
        return Tagged(found.named().map(Known(), schema)) if self._operation.deletes else found

    def _of_new_keys(self, rows: Flow, state: WriterState) -> Flow:
        """Rows whose keys the table lacks; a bucket is that of a key whether the key is there or not: files are asked.

        Raises:
            HudiError: CONFIG_INVALID where the others are refused.

        Clauses: DM-001, OW-022.

        """
        found = tagged(rows, state_of_files(state), self._executor, self._context.requested, staying=True).rows
        names = tuple(rows.schema.names)
        if self._policy == "drop":
            return found.map(NewKeys(names), rows.schema)
        counts = found.map(NewKeys(names, wanted=False), rows.schema).counted([PARTITION_PATH])
        if known := pc.sum(counts.column("rows")).as_py():
            message = f"{known} of the rows have keys that the table holds"
            hint = "upsert them, or let hoodie.datasource.insert.dup.policy=drop leave them out"
            raise HudiError(Reason.CONFIG_INVALID, "DM-001", message, hint=hint)
        return rows

    def _routes(self, counts: pa.Table) -> Routes:
        fills = self._operation.replaces == "nothing"
        sizing = sizing_of(self._state, fills_small_files=fills)
        return plan_routes(counts, groups_of(self._state, self._context), sizing)

    def _bulk(self, keyed: Flow) -> _Made:
        """One job: what the tasks find in their parts, they write.

        Clauses: OW-012.
        """
        self._transaction.go_inflight(_NO_ROUTES, self._state)
        rows = in_sort_mode(self._combined(keyed), self._state.options, self._parts())
        written = rows.map(BulkWriting(self._context), WRITTEN_SCHEMA).gathered()
        return from_rows(written), {}
