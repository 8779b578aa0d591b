"""One task tells the changes of one file group, write after write: a pure function to Arrow rows."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.storage import Storage

from hudi_spark.changes.images import DELETE, INSERT, change_rows, changes_schema, derived, found_images
from hudi_spark.changes.logged import LoggedChanges, read_logged
from hudi_spark.errors import HudiError, SkippedBytes, typed_errors
from hudi_spark.execution.tasks import SliceRows, SliceTask, run_task
from hudi_spark.schemas.columns import concatenate


@dataclass(frozen=True, slots=True)
class GroupState:
    """A file group at a moment: the slice to read, None where it held nothing, or why it can no longer be told.

    Clauses: CD-005, CD-006.
    """

    slice: SliceTask | None
    refusal: HudiError | None = None


@dataclass(frozen=True, slots=True)
class ChangeStep:
    """What one write did to a file group.

    `logs` are its change logs, empty where its changes are derived. `replaces`: the write took the group away.

    Clauses: CD-003, CD-005.
    """

    instant: str
    before: GroupState
    after: GroupState
    logs: tuple[str, ...]
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class ChangeTask:
    """Tell the changes of one file group.

    `state_schema`: the columns of its states, with record key and commit time; `columns`: those of an image.
    """

    storage: Storage
    steps: tuple[ChangeStep, ...]
    state_schema: pa.Schema
    columns: pa.Schema
    commit_time: bool

    @property
    def schema(self) -> pa.Schema:
        """Schema of the answer."""
        return changes_schema(self.columns, commit_time=self.commit_time)


def run_change_task(task: ChangeTask) -> SliceRows:
    """The changes of a file group in the order of its writes.

    Raises:
        HudiError: RANGE_NOT_RETAINED for rows that a clean removed, LOG_CONTENT_CORRUPT, or as a slice's task.
        UnsupportedFeature: content that is not built.

    Clauses: CD-002, CD-003, CD-004, CD-005, CD-006.

    """
    with typed_errors():
        return _Telling(task).rows()


class _Telling:
    """Tells the steps of a task; the state after a write is kept, since it is often the one before the next."""

    def __init__(self, task: ChangeTask) -> None:
        self._task = task
        self._skipped: list[SkippedBytes] = []
        self._last: tuple[SliceTask, pa.Table] | None = None

    def rows(self) -> SliceRows:
        """The rows of all steps."""
        told = [self._with_time(step, part) for step in self._task.steps for part in self._step(step)]
        return SliceRows(concatenate(told, self._task.schema), tuple(sorted(set(self._skipped))))

    def _with_time(self, step: ChangeStep, part: pa.Table) -> pa.Table:
        if not self._task.commit_time:
            return part
        times = pa.repeat(pa.scalar(step.instant, pa.string()), part.num_rows)
        return pa.Table.from_arrays([times, *part.columns], schema=self._task.schema)

    def _step(self, step: ChangeStep) -> Iterator[pa.Table]:
        columns = self._task.columns
        if step.replaces:
            yield change_rows(DELETE, self._state(step.before), None, columns)
        elif step.logs:
            yield from self._logged(step)
        else:
            before, after = self._state(step.before), self._state(step.after)
            yield derived(before, after, step.instant, columns)

    def _logged(self, step: ChangeStep) -> Iterator[pa.Table]:
        """Clauses: CD-003, CD-008."""
        changes, skipped = read_logged(self._task.storage, step.logs, self._task.columns)
        self._skipped += skipped
        for one in changes:
            before = one.rows.column("before") if one.has("before") else self._image(one, step.before, INSERT)
            after = one.rows.column("after") if one.has("after") else self._image(one, step.after, DELETE)
            schema = changes_schema(self._task.columns, commit_time=False)
            yield pa.Table.from_arrays([one.rows.column("op"), before, after], schema=schema)

    def _image(self, changes: LoggedChanges, state: GroupState, without: str) -> pa.Array:
        """The image that the log leaves out; changes of one operation have none."""
        wanted = pc.not_equal(changes.rows.column("op"), without)
        return found_images(changes.rows.column("record_key"), wanted, self._state(state), self._task.columns)

    def _state(self, state: GroupState) -> pa.Table:
        """The rows of a state.

        Clauses: CD-006.
        """
        if state.refusal is not None:
            raise state.refusal
        if state.slice is None:
            return self._task.state_schema.empty_table()
        if self._last is None or not _same(self._last[0], state.slice):
            found = run_task(state.slice)
            self._skipped += found.skipped
            self._last = (state.slice, found.rows)
        return self._last[1]


def _same(first: SliceTask, second: SliceTask) -> bool:
    """Whether two descriptions of a slice read the same rows."""
    files = (first.base_file, first.log_files) == (second.base_file, second.log_files)
    return files and (not first.log_files or first.context.visibility == second.context.visibility)
