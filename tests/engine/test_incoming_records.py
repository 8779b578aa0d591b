"""Rows that are about to be written compete as versions: what deletes in them, and by which ordering value."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hudi_spark.merge.kernel import combined, incoming_records
from hudi_spark.merge.rules import Completion, MergeRule, payload_rule

EVENT = MergeRule("EVENT_TIME_ORDERING", ("ts",), "op", "D")
MODELS = "org.apache.hudi.common.model."
SCHEMA = pa.schema(
    [("_hoodie_record_key", pa.string()), ("ts", pa.int64()), ("op", pa.string()), ("_hoodie_is_deleted", pa.bool_())]
)


def rows(*values: tuple[Any, ...]) -> pa.Table:
    """Key, ordering value, operation, flag."""
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, value, strict=True)) for value in values], SCHEMA)


GIVEN = rows(("kept", 5, "U", None), ("marked", 5, "D", None), ("flagged", 5, "U", True), ("late", None, "U", False))


@pytest.mark.parametrize(
    ("rule", "natural"),
    [
        (EVENT, ["late"]),
        (replace(EVENT, plain_deletes=True), ["late"]),
        (replace(EVENT, plain_deletes=True, plain_marks=True), ["marked", "flagged", "late"]),
    ],
)
def test_which_versions_compete_by_their_position_alone(rule: MergeRule, natural: list[str]):
    """Those without ordering value, and the deletes of payloads that look at none."""
    versions = incoming_records(GIVEN, rule).versions
    assert versions.filter(versions.column("natural")).column("key").to_pylist() == natural
    assert versions.filter(versions.column("deleted")).column("key").to_pylist() == ["marked", "flagged"]


def test_rows_that_are_given_to_delete_do_so_whatever_they_carry():
    deletes = pa.chunked_array([[True, False, False, False]])
    versions = incoming_records(GIVEN, EVENT, deletes=deletes).versions
    assert versions.filter(versions.column("natural")).column("key").to_pylist() == ["kept", "late"]
    assert versions.filter(versions.column("deleted")).column("key").to_pylist() == ["kept", "marked", "flagged"]


@pytest.mark.parametrize(
    ("payload", "plain_marks", "of_any_case"),
    [
        ("OverwriteNonDefaultsWithLatestAvroPayload", True, False),
        ("PartialUpdateAvroPayload", True, False),
        ("AWSDmsAvroPayload", True, True),
        ("PostgresDebeziumAvroPayload", False, True),
        ("MySqlDebeziumAvroPayload", False, True),
    ],
)
def test_payloads_delete_whatever_ordering_value_a_marked_record_has(
    payload: str, plain_marks: object, of_any_case: object
):
    """Records that mark themselves deleted compete where the payload comes from Debezium."""
    rule = payload_rule(MODELS + payload, EVENT)
    assert rule is not None
    assert (rule.plain_deletes, rule.plain_marks) == (True, plain_marks)
    assert rule.marker_of_any_case == of_any_case


def test_one_row_a_key_is_written_and_deletes_stay():
    """The greater ordering value, the later of equals; nothing is merged where no key stands twice."""
    assert combined(GIVEN, EVENT) is GIVEN
    twice = rows(("a", 5, "first", None), ("a", 4, "late", None), ("b", 5, "x", None), ("b", 5, "D", None))
    found = combined(twice, EVENT)
    assert sorted(zip(*found.select(["_hoodie_record_key", "op"]).to_pydict().values(), strict=True)) == [
        ("a", "first"),
        ("b", "D"),
    ]


def test_the_meta_fields_are_those_of_the_winner():
    """Unless the payload says otherwise: what it is completed with leaves no trace in them."""
    schema = pa.schema([("_hoodie_commit_time", pa.string()), *SCHEMA])
    late = [{"_hoodie_record_key": "a", "ts": ts, "op": op, "_hoodie_commit_time": time} for ts, op, time in LATE]
    for completion, time in ((Completion("nulls"), "1"), (Completion("nulls", newest_meta=True), "2")):
        (one,) = combined(pa.Table.from_pylist(late, schema), replace(EVENT, completion=completion)).to_pylist()
        assert (one["_hoodie_commit_time"], one["op"]) == (time, "late")


LATE = ((5, None, "1"), (4, "late", "2"))
