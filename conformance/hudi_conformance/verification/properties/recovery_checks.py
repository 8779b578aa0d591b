"""What the checks of rollback, restore, upgrade and recovery share: stories, attempts that die, answers compared."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from hudi_model.effects import Effects, perform
from hudi_model.queries import read_as_of, read_snapshot
from hudi_model.rejection import Rejection
from hudi_model.requests import Operation
from hudi_model.tables import Table, open_table
from hudi_model.time import InstantTime, tick
from hudi_model.writers import begin, stage
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import Step, Story, new_table, request_of, rows, taken
from hudi_conformance.verification.properties.registry import Counterexample

LATER = 10_000
"""The tick at which what a check does after its story begins."""
ARCHIVES = {"hoodie.keep.min.commits": "1", "hoodie.keep.max.commits": "2"}
EVERY = {"hoodie.compact.inline.max.delta.commits": "1", "hoodie.clean.trigger.max.commits": "1"}
Rows = tuple[str, ...]
_T = TypeVar("_T")


def bag(answer: Any) -> Rows:
    """Rows without their order."""
    return tuple(sorted(repr(sorted(row.items())) for row in answer.rows))


def not_refused(run: Callable[[], _T], table: Table, lines: Iterable[str]) -> _T:
    """What the call gives.

    Raises:
        Counterexample: the model refuses it.

    """
    try:
        return run()
    except Rejection as refused:
        raise Counterexample(f"refused: {refused}", table, tuple(lines)) from None


def answered(query: Callable[[], Any], table: Table, lines: Iterable[str]) -> Rows:
    """The rows of an answer.

    Raises:
        Counterexample: the table gives none.

    """
    return bag(not_refused(query, table, lines))


def snapshot(table: Table, lines: Iterable[str]) -> Rows:
    """What a snapshot holds."""
    return answered(lambda: read_snapshot(table), table, lines)


def as_of(table: Table, instant: InstantTime, lines: Iterable[str]) -> Rows:
    """What time travel finds."""
    return answered(lambda: read_as_of(table, instant), table, lines)


def done(make: Callable[[], Effects], table: Table, lines: Iterable[str]) -> Effects:
    """The effects of an operation.

    Raises:
        Counterexample: the operation is refused.

    """
    try:
        return make()
    except Rejection as refused:
        raise Counterexample(f"refused: {refused}", table, tuple(lines)) from None


def same(found: Any, expected: Any, message: str, table: Table, lines: Iterable[str]) -> None:
    """Nothing, unless two things differ.

    Raises:
        Counterexample: they do.

    """
    if found != expected:
        raise Counterexample(f"{message}: {found} where {expected} was", table, tuple(lines))


def went_on(table: Table, steps: Iterable[Step], first: int, settings: Mapping[str, str]) -> Table:
    """The table after more steps; services that only merge-on-read tables know do nothing elsewhere."""
    on_read = open_table(table).configuration.merge_on_read
    for number, step in enumerate(steps):
        if step.operation is not None or on_read or step.service not in ("compaction", "log_compaction"):
            table = taken(table, step, first + 10 * number + 1, settings)
    return table


def table_of(story: Story, settings: Mapping[str, str] = EVERY) -> Table:
    """The table after a story."""
    return went_on(new_table(story.shape), story.steps, 0, settings)


def attempt(table: Table, step: Step, first: int, effects: int) -> Table:
    """The table that a write leaves which dies after some of its effects; the requested file is always there."""
    started_write, opening = begin(table, request_of(step), tick(first))
    table = perform(table, opening)
    _, staging = stage(table, started_write)
    return perform(table, staging[:effects])


CRASHES = st.tuples(st.builds(Step, st.sampled_from([Operation.UPSERT, Operation.INSERT]), rows()), st.integers(0, 12))


def crashing_step(story: Story, crash: tuple[Step, int]) -> Step:
    """The write that dies: an upsert touches what the story has written first."""
    known = {row["id"] for row in crash[0].rows}
    first = tuple(row for row in story.steps[0].rows if row["id"] not in known)
    return replace(crash[0], rows=(*crash[0].rows, *first)) if crash[0].operation is Operation.UPSERT else crash[0]


def again(story: Story, ts: int = 4) -> Step:
    """An upsert of the row that the story has written first."""
    return Step(Operation.UPSERT, tuple({**row, "ts": ts} for row in story.steps[0].rows[:1]))


def lines_of(story: Story, *more: str) -> tuple[str, ...]:
    """A story and what a check added to it."""
    return (*story.lines(), *more)


SERVICES = ("compaction", "log_compaction", "clustering", "cleaning")
ALL = (Operation.UPSERT, Operation.UPSERT, Operation.DELETE, Operation.INSERT_OVERWRITE, Operation.DELETE_PARTITION)
