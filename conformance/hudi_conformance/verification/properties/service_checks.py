"""What the checks of table services share: stories with work for them, deaths between effects, rows compared."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, TypeAlias

from hudi_model.effects import Effects, perform
from hudi_model.queries import Selection, read_snapshot
from hudi_model.rejection import Rejection
from hudi_model.requests import Operation
from hudi_model.tables import RELEASED, Readings, Table
from hudi_model.time import tick
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import (
    KEYS,
    Row,
    Shape,
    Step,
    Story,
    played,
    shapes,
    steps,
    taken,
)
from hudi_conformance.verification.properties.registry import Counterexample

EAGER = {
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.log.compaction.blocks.threshold": "2",
    "hoodie.clustering.inline.max.commits": "1",
    "hoodie.clustering.plan.strategy.sort.columns": "note,ts",
    "hoodie.clean.commits.retained": "2",
    "hoodie.clean.hours.retained": "1",
    "hoodie.clean.fileversions.retained": "1",
}
"""Settings under which a service runs as soon as there is anything to do."""
HOUR = 3600 * 1000
BEFORE, SOON, LAST = HOUR + 30, HOUR + 55, HOUR + 100
"""Ticks: between story and plan, between plan and execution, after both."""
PLAN, DONE, AGAIN = tick(HOUR + 50), tick(HOUR + 70), tick(HOUR + 80)
MERGE_ON_READ = shapes(types=("MERGE_ON_READ",))
COPY_ON_WRITE = shapes(types=("COPY_ON_WRITE",))
WRITES = (*(Operation.UPSERT,) * 4, Operation.DELETE)
POLICIES = ("KEEP_LATEST_COMMITS", "KEEP_LATEST_BY_HOURS", "KEEP_LATEST_FILE_VERSIONS")
Rows: TypeAlias = list[tuple[tuple[str, Any], ...]]


def busy(of: st.SearchStrategy[Shape], *services: str, replacing: bool = False) -> st.SearchStrategy[Story]:
    """Stories in which enough happens for services to have work."""
    operations = WRITES + ((Operation.INSERT_OVERWRITE, Operation.DELETE_PARTITION) if replacing else ())
    chosen = st.lists(steps(operations, services), min_size=4, max_size=12).map(tuple)
    return st.builds(Story, of, chosen)


def busy_of_both_types(*services: str) -> st.SearchStrategy[Story]:
    """Stories of both table types; only a merge-on-read table has logs to compact."""
    copied = busy(COPY_ON_WRITE, *sorted({*services} & {"clustering"}), replacing=True)
    return st.one_of(busy(MERGE_ON_READ, *services, replacing=True), copied)


def rows_and_origins(table: Table, readings: Readings = RELEASED) -> Rows:
    """What a snapshot holds, with the write that each row comes from; where it lies is left out."""
    return as_rows(read_snapshot(table, readings, selection=Selection(meta_columns=True)).rows)


def as_rows(found: Any) -> Rows:
    """Rows that compare, without the names of their files."""
    kept = (sorted((name, value) for name, value in row.items() if name != "_hoodie_file_name") for row in found)
    return sorted((tuple(row) for row in kept), key=repr)


def module_of(service: str) -> Any:
    """The model's module of a service."""
    return import_module(f"hudi_model.services.{service}")


def ready(story: Story, service: str, settings: Mapping[str, str] = EAGER) -> tuple[Table, Effects]:
    """The table after a story, and what planning the service on it does."""
    table = played(story, settings)
    return table, module_of(service).schedule(table, PLAN, settings)


def short(rows: Rows) -> list[tuple[Any, ...]]:
    """Rows as a counterexample shows them."""
    return [tuple(dict(row).get(name) for name in ("day", "id", "ts", "note", "_hoodie_commit_time")) for row in rows]


def prefixes(table: Table, effects: Effects) -> Iterator[Table]:
    """The table before, between and after effects: where a process may have died."""
    for length in range(len(effects) + 1):
        yield perform(table, effects[:length])


def refuse_change(table: Table, expected: Rows, story: Story, what: str, readings: Readings = RELEASED) -> None:
    """Nothing, unless a table holds other rows than it did, or cannot be read any more."""
    try:
        found = rows_and_origins(table, readings)
    except Rejection as rejection:
        raise Counterexample(f"{what}: {rejection}", table, story.lines()) from rejection
    if found != expected:
        raise Counterexample(f"{what}: {short(expected)} became {short(found)}", table, story.lines())


def keeps_the_table(story: Story, service: str, settings: Mapping[str, str] = EAGER) -> None:
    """A service is planned, dies after each of its effects in turn, and is tried again; the rows stay the same."""
    table, planned = ready(story, service, settings)
    expected = rows_and_origins(table)
    for waiting in prefixes(table, planned):
        refuse_change(waiting, expected, story, f"{service} planned")
    if not planned:
        return
    waiting = perform(table, planned)
    for left in prefixes(waiting, module_of(service).execute(waiting, PLAN, DONE)):
        refuse_change(left, expected, story, f"{service} under way")
        again = perform(left, module_of(service).execute(left, PLAN, AGAIN))
        refuse_change(again, expected, story, f"{service} tried again")


def all_keys(day: str) -> tuple[Row, ...]:
    """A row for every key that stories know."""
    return tuple({"id": key, "day": day, "ts": 4, "note": "later"} for key in KEYS)


def try_write(table: Table, rows: tuple[Row, ...], first: int, settings: Mapping[str, str] | None = None) -> Table:
    """The table after one upsert; as it was where the write is refused."""
    step = Step(Operation.UPSERT, rows, settings=settings or {})
    try:
        return taken(table, step, first)
    except Rejection:
        return table


LATE = st.builds(
    lambda key, stamp: {"id": key, "day": "d1", "ts": stamp, "note": "last"}, st.just("a"), st.integers(0, 4)
)
