"""Incremental queries: ranges, what belongs to them, and what competes in them."""

import pytest
from hudi_model.creation import create_table
from hudi_model.effects import perform
from hudi_model.files import Field, Record, Schema
from hudi_model.incremental import TimeRange, is_within_range, open_range, read_incremental
from hudi_model.queries import Selection, read_snapshot
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import Operation, Request
from hudi_model.services.savepoints import savepoint
from hudi_model.tables import RELEASED, TEXT, Readings, Table
from hudi_model.time import InstantTime, tick
from hudi_model.writers import write
from hypothesis import given
from hypothesis import strategies as st

SCHEMA = Schema((Field("id", "string"), Field("ts", "int64"), Field("note", "string")))
PROPERTIES = {
    "hoodie.table.name": "t",
    "hoodie.table.type": "MERGE_ON_READ",
    "hoodie.table.version": "9",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.partition.fields": "",
    "hoodie.table.ordering.fields": "ts",
    "hoodie.record.merge.mode": "EVENT_TIME_ORDERING",
}
TICKS = st.integers(0, 50).map(tick)


def written(*writes: tuple[Operation, str, int], **properties: str) -> Table:
    """A table of one key, each write one ordering value and its number as note; write n completes at tick 10n + 1."""
    table = create_table({**PROPERTIES, **properties}, SCHEMA)
    for number, (operation, key, ts) in enumerate(writes):
        row = Record({"id": key, "ts": ts, "note": str(number)})
        table = write(table, Request(operation, (row,)), tick(10 * number), tick(10 * number + 1))
    return table


UPSERT, DELETE = Operation.UPSERT, Operation.DELETE


def notes(table: Table, begin: str, end: str | None = None, readings: Readings = TEXT) -> list[str]:
    return sorted(row["note"] for row in read_incremental(table, begin, end, readings).rows)


@given(TICKS, TICKS, TICKS)
def test_a_begin_is_out_and_an_end_is_in(begin: InstantTime, end: InstantTime, time: InstantTime):
    """Chunks that share a bound hold each time once."""
    time_range = TimeRange(begin, end)
    assert is_within_range(time_range, time) == (begin < time <= end)
    first, second = TimeRange(None, begin), TimeRange(begin, None)
    assert is_within_range(first, time) != is_within_range(second, time)


def test_a_range_holds_what_completed_in_it():
    """The axis is completion, not request."""
    table = written((UPSERT, "a", 1), (UPSERT, "b", 1))
    assert notes(table, tick(0), tick(1)) == ["0"]
    assert notes(table, tick(1), tick(10)) == []
    assert notes(table, tick(1), tick(11)) == ["1"]


def test_each_key_stands_once_and_as_of_the_end():
    """Versions within the range are merged; later ones do not matter."""
    table = written((UPSERT, "a", 1), (UPSERT, "a", 2), (UPSERT, "a", 3))
    assert notes(table, tick(1), tick(11)) == ["1"]
    assert notes(table, "0", tick(11)) == ["1"]
    assert notes(table, "earliest") == ["2"]


@pytest.mark.parametrize(("readings", "answer"), [(TEXT, []), (RELEASED, ["1"])])
def test_a_late_row_is_where_the_readings_part(readings: Readings, answer: list[str]):
    """By the text it never was the state; as released it competes with nothing in the range."""
    assert notes(written((UPSERT, "a", 5), (UPSERT, "a", 1)), tick(1), None, readings) == answer


@pytest.mark.parametrize("readings", [TEXT, RELEASED])
def test_deleted_rows_do_not_show(readings: Readings):
    """An incremental query records rows, not of deletes."""
    table = written((UPSERT, "a", 1), (UPSERT, "b", 1), (DELETE, "a", 2))
    assert notes(table, "0", None, readings) == ["1"]
    assert notes(table, tick(11), None, readings) == []


def test_columns_and_filter_are_those_of_a_snapshot():
    """What is chosen of a row is chosen after the range."""
    table = written((UPSERT, "a", 1), (UPSERT, "b", 2))
    selection = Selection(("id",), ["ts", ">", 1])
    assert read_incremental(table, "0", selection=selection).rows == ({"id": "b"},)
    assert read_incremental(table, "0").schema == read_snapshot(table).schema


def test_seconds_name_their_last_millisecond():
    """A bound of 14 digits takes in its whole second."""
    table = written((UPSERT, "a", 1))
    assert notes(table, "20241231235959", "20250101000000") == ["0"]
    assert notes(table, "20250101000000") == []


@pytest.mark.parametrize("bound", ["", "tomorrow", "2025", "20251301000000"])
def test_a_bound_that_is_no_instant_is_refused(bound: str):
    """A range must not be empty by accident."""
    with pytest.raises(Rejection) as caught:
        open_range(written(), "0", bound)
    assert caught.value.reason is Reason.INSTANT_MALFORMED


def test_rows_must_state_their_commit():
    """Without meta fields nothing says when a row was written."""
    with pytest.raises(Rejection) as caught:
        read_incremental(written(**{"hoodie.populate.meta.fields": "false"}), "0")
    assert caught.value.reason is Reason.CONFIG_INVALID


def test_a_savepoint_brings_no_rows():
    """It shares the instant of the write that it keeps, and completes when it likes."""
    table = written((UPSERT, "a", 1))
    saved = perform(table, savepoint(table, tick(0), tick(30)))

    assert notes(saved, tick(1)) == []
    assert notes(saved, "0", tick(1)) == ["0"]
