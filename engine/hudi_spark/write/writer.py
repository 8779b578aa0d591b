"""`TableWriter`: writes to one table with one executor, retried where another write was first.

Clauses: OW-005, OW-009.
"""

import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Protocol, TypeVar

from hudi_format.storage import Storage

from hudi_spark.concurrency import Clock, Effects, Hook, SystemClock, hooks_of_environment, with_failures
from hudi_spark.errors import HudiError, Reason, boundary
from hudi_spark.options import Options, resolve
from hudi_spark.read import Executor, Flow, Query
from hudi_spark.readings import RELEASED, Readings
from hudi_spark.table_state import cleaned_files_refused, load_configuration, read_anew, timeline_zone
from hudi_spark.write.action import Outcome, TableWork, new_file_id
from hudi_spark.write.planning import (
    Batch,
    Operation,
    WriteRequest,
    WrittenBeforeError,
    operation_of,
    partitions_of_options,
    refuse_contradictions,
    refuse_unseen,
    repeated,
    with_extra,
    write_of,
)
from hudi_spark.write.running import Write

_QUIET_SECONDS: Final = 2.0

Step = Callable[[str], None]


@contextmanager
def shown(operation: str) -> Iterator[Step]:
    """Shows the steps of a write on a terminal; elsewhere nothing is printed."""
    if not sys.stderr.isatty():
        yield _silent
        return
    # Not imported where nothing is shown: it costs a fiftieth of a second.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        line = progress.add_task(operation, total=None, visible=False)
        show = threading.Timer(_QUIET_SECONDS, progress.update, (line,), {"visible": True})
        show.start()
        try:
            yield lambda step: progress.update(line, description=f"{operation}: {step}")
        finally:
            show.cancel()


def _silent(step: str) -> None:
    del step


Answer = TypeVar("Answer")

AGAIN: Final = (Reason.WRITE_CONFLICT, Reason.LOCK_LOST)
_SHORTEST: Final = 0.5
# Writers that conflicted do not come back in step; nothing depends on the numbers.
_RANDOM: Final = random.Random()  # noqa: S311


def retry_on_conflict(
    write: Callable[[], Answer],
    attempts: int = 4,
    pause: float = 0.2,
    longest_pause: float = 10.0,
    sleep: Callable[[float], None] = time.sleep,
) -> Answer:
    """What `write` answers, called up to `attempts` times while it is refused for a conflict or a lost lock.

    A write that was refused left nothing; called again, it builds on what the other one committed. Between two calls
    it waits, `pause` seconds at first and twice as long each time, up to `longest_pause`, less a random part of up to
    half.

    Raises:
        HudiError: the last refusal, when no attempt is left; at once for any other reason.
        ValueError: fewer than one attempt.

    Clauses: OW-005, OW-009.

    """
    if attempts < 1:
        raise ValueError("at least one attempt is needed")
    for attempt in range(attempts - 1):
        try:
            return write()
        except HudiError as error:
            if error.reason not in AGAIN:
                raise
        sleep(min(longest_pause, pause * 2**attempt) * _RANDOM.uniform(_SHORTEST, 1))
    return write()


class Lifecycle(Protocol):
    """Table services that a writer runs with its writes."""

    def before(self, work: TableWork) -> None:
        """A write is about to begin: what failed ones left goes, where this writer is responsible."""

    def after(self, work: TableWork, outcome: Outcome) -> None:
        """A write has completed: the services that the options request."""


@dataclass(frozen=True, slots=True)
class Alone:
    """No service runs with the writes."""

    def before(self, work: TableWork) -> None:
        """Nothing."""

    def after(self, work: TableWork, outcome: Outcome) -> None:
        """Nothing."""


_STREAM: Final = "hoodie.datasource.write.streaming.checkpoint.identifier"
_ONE_STREAM: Final = "default_single_writer"
_RETRIES: Final = "hoodie.write.num.retries.on.conflict.failures"


@dataclass(frozen=True, slots=True)
class TableWriter:
    """Writes to the table in a storage.

    `configs`: options of every write. `clock`, `file_ids` and `hook` are who tests put in their place. `lifecycle`:
    what is done before each write and after it.
    `readings`: whether a persisted merge mode may be overridden, where text and releases differ.

    Clauses: OW-001, OW-030.
    """

    storage: Storage
    executor: Executor
    configs: Mapping[str, str] = field(default_factory=dict)
    readings: Readings = RELEASED
    clock: Clock = field(default_factory=SystemClock)
    hook: Hook = field(default_factory=hooks_of_environment)
    file_ids: Callable[[], str] = new_file_id
    lifecycle: Lifecycle = field(default_factory=Alone)

    def write(self, request: WriteRequest) -> Outcome:
        """A whole write; what fails after it has completed is part of the outcome.

        Raises:
            HudiError: the table, the rows or an option is refused; the table answers as before.
                RANGE_NOT_RETAINED where cleans took away what it was to be merged with, each time that it began.
            OutcomeUnknownError: whether the write stands is not known.

        Clauses: OW-001, OW-009, OW-010.

        """
        with boundary(self.storage.base):
            retries = resolve(self.configs, request.configs).number(_RETRIES)
            request = self._readable(request)
        with cleaned_files_refused(self.storage):
            return retry_on_conflict(partial(read_anew(self._write), request), attempts=retries + 1)

    def _readable(self, request: WriteRequest) -> WriteRequest:
        """The request with rows of the executor: what can be read only once is read once however often it is tried."""
        return request if request.rows is None else replace(request, rows=self.executor.rows(request.rows))

    @with_failures
    def _write(self, request: WriteRequest) -> Outcome:
        try:
            return self._written(request)
        except WrittenBeforeError as error:
            return repeated(error.commit)

    def _written(self, request: WriteRequest) -> Outcome:
        with boundary(self.storage.base), shown(request.operation or "write") as progress:
            write = self._prepared(request)
            rows, partitions = self._given(request, write)
            progress("asking the table")
            write.prepare(rows)
            skipped = write.skip_if_empty(partitions)
            if skipped is not None:
                return skipped
            rows = None if rows is None else _at_rest(rows, write.operation)
            with _silenced(write):
                write.begin()
                progress("writing files")
                write.stage(rows, partitions)
                progress("committing")
                outcome = write.commit()
            progress("table services")
            self.lifecycle.after(write.work, outcome)
            return outcome

    def write_once(self, request: WriteRequest, batch: int) -> Outcome | None:
        """A write that is a numbered batch of a stream; None where that batch was committed before.

        Raises:
            HudiError: as `write`.

        Clauses: OW-001.

        """
        with boundary(self.storage.base):
            stream = resolve(self.configs, request.configs).text(_STREAM) or _ONE_STREAM
        outcome = self.write(replace(request, once=Batch(stream, batch)))
        return None if outcome.repeated else outcome

    def begin(self, request: WriteRequest) -> "StartedWrite":
        """A write that is requested; its phases are run one by one.

        Clauses: OW-001.
        """
        with boundary(self.storage.base):
            write = self._prepared(request)
            with _silenced(write):
                return StartedWrite(self, write, write.begin())

    def stage(self, write: Write, request: WriteRequest) -> None:
        """The files of a write that was begun.

        Raises:
            HudiError: the rows are refused; the write is aborted.

        Clauses: OW-001, OW-009.

        """
        with boundary(self.storage.base):
            try:
                rows, partitions = self._given(request, write)
            except HudiError:
                write.abort()
                raise
            with _silenced(write), cleaned_files_refused(self.storage):
                write.stage(rows, partitions)

    def work(self, *further: Mapping[str, str] | None) -> TableWork:
        """What an action on the table is given, with further options, of which the last hold."""
        return self._work(resolve(self.configs, *(one or {} for one in further)))

    @property
    def table_clock(self) -> Clock:
        """The clock with instants of the time zone that the table states.

        Clauses: TM-001.
        """
        return self.clock.in_zone(lambda: timeline_zone(load_configuration(self.storage)))

    def _work(self, options: Options) -> TableWork:
        effects = Effects(self.storage, self.hook)
        return TableWork(effects, self.executor, options, self.table_clock, self.readings, self.file_ids)

    def _prepared(self, request: WriteRequest) -> Write:
        work = self._work(resolve(self.configs, request.configs))
        operation = operation_of(request, work.options)
        if work.options.values:
            # A write that is refused leaves what failed writers left as it is.
            refuse_contradictions(load_configuration(self.storage), work.options, operation, self.readings)
        self.lifecycle.before(work)
        snapshot = work.snapshot()
        refuse_contradictions(snapshot.configuration, work.options, operation, self.readings)
        if request.once is not None and (before := write_of(snapshot.commits, request.once)) is not None:
            raise WrittenBeforeError(before)
        refuse_unseen(snapshot.timeline, request.seen)
        work = replace(work, options=with_extra(work.options, request, snapshot))
        return Write(work, snapshot, operation, request)

    def _given(self, request: WriteRequest, write: Write) -> tuple[Flow | None, tuple[str, ...]]:
        """The rows of a request, None where it names partitions only; and these.

        Clauses: OW-014.
        """
        operation = write.operation
        if operation.name == "delete_partition":
            partitions = tuple(request.partitions) or write.named(partitions_of_options(write.work.options))
            if not partitions:
                raise _lacking("delete_partition needs the partitions to delete", "give their paths")
            return None, partitions
        if request.rows is not None:
            return self.executor.rows(request.rows), ()
        if request.filter is None or not operation.deletes:
            raise _lacking(f"{operation.name} needs rows", "give a DataFrame or an Arrow table")
        query = Query(filter=request.filter, meta_columns=True, readings=self.readings)
        return self.executor.query(self.storage, query), ()


@dataclass(frozen=True, slots=True)
class StartedWrite:
    """A requested write, to be staged, then committed or aborted."""

    writer: TableWriter
    write: Write
    requested: str

    @property
    def action(self) -> str:
        """The action on the timeline."""
        return self.write.action

    def stage(self, request: WriteRequest) -> None:
        """Write its files.

        Raises:
            HudiError: the rows are refused; the write is aborted.

        """
        self.writer.stage(self.write, request)

    @with_failures
    def commit(self) -> Outcome:
        """Complete it.

        Raises:
            HudiError: WRITE_CONFLICT; the write is aborted.

        """
        with boundary(self.writer.storage.base):
            with _silenced(self.write):
                outcome = self.write.commit()
            self.writer.lifecycle.after(self.write.work, outcome)
            return outcome

    def abort(self) -> None:
        """Take it back."""
        with boundary(self.writer.storage.base), _silenced(self.write):
            self.write.abort()


def _at_rest(rows: Flow, operation: Operation) -> Flow:
    """The rows of a source that can be read only once, read before anything is in storage.

    A stream that was read before has no rows left, and nothing else distinguishes it from one that never had any.
    """
    rows = rows.at_rest()
    if rows.is_spent and operation.replaces == "table":
        message = f"the stream has no rows, and {operation.name} would leave the table empty"
        hint = "give a stream that was not read before, or an empty table where the table is to be emptied"
        raise HudiError(Reason.CONFIG_INVALID, "OW-018", message, hint=hint)
    return rows


@contextmanager
def _silenced(write: Write) -> Iterator[None]:
    """A write that ends here in an error has no heartbeat left, whatever it could not take back."""
    try:
        yield
    except BaseException:
        write.silence()
        raise


def _lacking(message: str, hint: str) -> HudiError:
    return HudiError(Reason.CONFIG_INVALID, "OW-014", message, hint=hint)
