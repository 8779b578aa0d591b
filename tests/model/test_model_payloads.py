"""Payload classes and partial updates: as the released classes merge, and as the text has its examples."""

import pytest
from hudi_model.configuration import configure
from hudi_model.creation import PACKAGE, refuse_contradiction, version_9_properties
from hudi_model.files import Delete, Record, Value
from hudi_model.merge_modes import merge_rule
from hudi_model.merge_rules import (
    PAYLOADS,
    MergeMode,
    MergeRule,
    PartialUpdate,
    Version,
    version_of_delete,
    version_of_record,
)
from hudi_model.merging import fold, merge
from hudi_model.rejection import Reason, Rejection
from hudi_model.tables import RELEASED, TEXT
from hudi_model.tagging import precombine
from model_states import properties

ZEROS = "00000000-0000-0000-0000-000000000000"
EVENT_ID = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
SENTINEL = "__debezium_unavailable_value"


def rule_of(name: str, version: int) -> MergeRule:
    stated = {**properties(version), "hoodie.table.precombine.field": "ts"}
    stated = {key: value for key, value in stated.items() if key != "hoodie.record.merge.mode"}
    if version > 8:
        return merge_rule(configure({**stated, **version_9_properties(name, "ts")}))
    return merge_rule(configure({**stated, "hoodie.compaction.payload.class": PACKAGE + name}))


def row(rule: MergeRule, **values: Value) -> Version:
    return version_of_record(Record(values), "k", rule)


def columns(version: Version) -> dict[str, Value] | None:
    return None if version.is_delete or version.record is None else dict(version.record.values)


@pytest.mark.parametrize("version", [6, 8, 9])
def test_the_example_of_the_text_for_partial_updates(version: int) -> None:
    """What is stored has the greater ordering value; what arrives fills the price."""
    rule = rule_of("PartialUpdateAvroPayload", version)
    stored = row(rule, id="1", ts=2, name="name_1", price=None)
    incoming = row(rule, id="1", ts=1, name=None, price="price_1")
    assert columns(merge(rule, stored, incoming)) == {"id": "1", "ts": 2, "name": "name_1", "price": "price_1"}


@pytest.mark.parametrize(
    ("payload", "name"), [("OverwriteWithLatestAvroPayload", "name_1"), ("DefaultHoodieRecordPayload", "name_2")]
)
def test_the_example_of_the_text_for_late_data(payload: str, name: str) -> None:
    """One class lets the late record win, the other does not."""
    rule = rule_of(payload, 6)
    found = merge(rule, row(rule, id="1", ts=2, name="name_2"), row(rule, id="1", ts=1, name="name_1"))
    assert found.record is not None
    assert found.record.values["name"] == name


def test_places_of_a_binary_log_compare_as_numbers() -> None:
    """As texts 001.5 would come after 001.10; a text of another form has no place."""
    rule = rule_of("MySqlDebeziumAvroPayload", 8)
    early, late = row(rule, _event_seq="001.5"), row(rule, _event_seq="001.10")
    assert merge(rule, late, early) is late
    assert row(rule, _event_seq="here").ordering is None


def test_unavailable_values_are_those_of_the_version_before() -> None:
    """Text and bytes alike; in version 9 late data fill them too."""
    for version in (8, 9):
        rule = rule_of("PostgresDebeziumAvroPayload", version)
        stored = row(rule, _event_lsn=1, big="REAL", raw=b"raw")
        found = merge(rule, stored, row(rule, _event_lsn=2, big=SENTINEL, raw=SENTINEL.encode()))
        assert columns(found) == {"_event_lsn": 2, "big": "REAL", "raw": b"raw"}
    old, new = rule_of("PostgresDebeziumAvroPayload", 8), rule_of("PostgresDebeziumAvroPayload", 9)
    for rule, expected in ((old, SENTINEL), (new, "late")):
        found = merge(rule, row(rule, _event_lsn=2, big=SENTINEL), row(rule, _event_lsn=1, big="late"))
        assert columns(found) == {"_event_lsn": 2, "big": expected}


def test_markers_of_change_capture_delete() -> None:
    """The payload classes do not mind the case, version 9 compares exactly; a full load has no marker."""
    old, new = rule_of("AWSDmsAvroPayload", 8), rule_of("AWSDmsAvroPayload", 9)
    assert [row(old, ts=1, Op=word).is_delete for word in ("D", "d", "U", None)] == [True, True, False, False]
    assert [row(new, ts=1, Op=word).is_delete for word in ("D", "d", "U", None)] == [True, False, False, False]
    assert not row(new, ts=1).is_delete


def test_a_tombstone_has_no_ordering_value_for_a_payload_class() -> None:
    """Version 9 takes the same tombstone by its ordering value."""
    old, new = rule_of("PartialUpdateAvroPayload", 8), rule_of("PartialUpdateAvroPayload", 9)
    assert merge(old, row(old, ts=2), version_of_delete(Delete("k", None, 1), old)).is_delete
    assert not merge(new, row(new, ts=2), version_of_delete(Delete("k", None, 1), new)).is_delete


def test_a_key_inserted_and_deleted_in_one_write_is_deleted() -> None:
    """Combining the rows of a write knows the marker (HUDI-802)."""
    for version in (6, 8, 9):
        rule = rule_of("AWSDmsAvroPayload", version)
        batch = [row(rule, id="4", ts=1, Op="I"), row(rule, id="4", ts=2, Op="D")]
        assert [one.is_delete for one in precombine(rule, batch)] == [True]


@pytest.mark.parametrize(
    ("payload", "version", "expected"),
    [
        ("OverwriteWithLatestAvroPayload", 6, 10),
        ("OverwriteWithLatestAvroPayload", 9, 10),
        ("DefaultHoodieRecordPayload", 8, 20),
        ("AWSDmsAvroPayload", 8, 20),
        ("AWSDmsAvroPayload", 9, 10),
        ("OverwriteNonDefaultsWithLatestAvroPayload", 8, 20),
        ("OverwriteNonDefaultsWithLatestAvroPayload", 9, 10),
        ("PartialUpdateAvroPayload", 8, 20),
        ("PartialUpdateAvroPayload", 9, 20),
    ],
)
def test_which_row_of_a_write_is_kept(payload: str, version: int, expected: int) -> None:
    """As tables of release 1.1.1 show it for a batch of ordering values 20 and 10."""
    rule = rule_of(payload, version)
    (kept,) = precombine(rule, [row(rule, ts=20, x="first"), row(rule, ts=10, x="second")])
    assert kept.record is not None
    assert kept.record.values["ts"] == expected


def test_in_the_text_the_overwriting_payload_combines_by_ordering_value() -> None:
    """The reading of PL-002."""
    rule = rule_of("OverwriteWithLatestAvroPayload", 6)
    batch = [row(rule, ts=20), row(rule, ts=10)]
    assert [columns(one) for one in precombine(rule, batch, TEXT)] == [{"ts": 20}]
    assert [columns(one) for one in precombine(rule, batch, RELEASED)] == [{"ts": 10}]


def test_what_version_9_stores_for_a_payload_class() -> None:
    """As release 1.1.1 creates such tables."""
    found = version_9_properties("MySqlDebeziumAvroPayload", "ts")
    assert found == {
        "hoodie.table.legacy.payload.class": PACKAGE + "debezium.MySqlDebeziumAvroPayload",
        "hoodie.record.merge.mode": "EVENT_TIME_ORDERING",
        "hoodie.table.ordering.fields": "_event_bin_file,_event_pos",
        "hoodie.record.merge.property.hoodie.payload.delete.field": "_change_operation_type",
        "hoodie.record.merge.property.hoodie.payload.delete.marker": "d",
    }
    modes = {name: version_9_properties(name, "ts").get("hoodie.table.partial.update.mode") for name in PAYLOADS}
    assert modes["PartialUpdateAvroPayload"] == modes["OverwriteNonDefaultsWithLatestAvroPayload"] == "IGNORE_DEFAULTS"
    assert modes["PostgresDebeziumAvroPayload"] == PartialUpdate.FILL_UNAVAILABLE
    assert modes["AWSDmsAvroPayload"] is modes["DefaultHoodieRecordPayload"] is None


def test_a_partial_update_says_what_its_columns_hold_and_nothing_else() -> None:
    """Null is said; a delete is no source of values; what no version says stays unsaid."""
    rule = MergeRule(MergeMode.EVENT_TIME_ORDERING, ("ts",))
    whole = row(rule, ts=1, a="a", b="b")
    update = version_of_record(Record({"ts": 2, "a": None}), "k", rule, partial=True)
    assert columns(merge(rule, whole, update)) == {"ts": 2, "a": None, "b": "b"}
    deleted = version_of_delete(Delete("k", None, 1), rule)
    assert fold(rule, [deleted, update])["k"] is update
    late = version_of_record(Record({"ts": 1, "b": "late"}), "k", rule, partial=True)
    found = merge(rule, update, late)
    assert (columns(found), found.partial, found.ordering) == ({"ts": 2, "a": None, "b": "late"}, True, (2,))


def test_a_partial_update_without_ordering_value_takes_that_of_the_row() -> None:
    """So that what follows competes with the row as it then is."""
    rule = MergeRule(MergeMode.EVENT_TIME_ORDERING, ("ts",))
    update = version_of_record(Record({"a": "new"}), "k", rule, partial=True)
    assert merge(rule, row(rule, ts=5, a="a"), update).ordering == (5,)


@pytest.mark.parametrize(
    ("version", "stated"),
    [
        (9, {"hoodie.record.merge.mode": "CUSTOM"}),
        (8, {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING", "hoodie.record.merge.strategy.id": EVENT_ID}),
        (
            8,
            {
                "hoodie.compaction.payload.class": PACKAGE + "OverwriteWithLatestAvroPayload",
                "hoodie.record.merge.strategy.id": EVENT_ID,
            },
        ),
    ],
)
def test_a_new_table_that_contradicts_itself_is_refused(version: int, stated: dict[str, str]) -> None:
    """Mode, payload class and strategy id must amount to one."""
    with pytest.raises(Rejection) as caught:
        refuse_contradiction(configure({**properties(version), "hoodie.record.merge.mode": "", **stated}))
    assert caught.value.reason is Reason.CONFIG_INVALID


def test_a_new_table_of_version_6_may_have_the_event_time_id_beside_any_payload() -> None:
    """0.15.0 wrote it everywhere (HUDI-8942)."""
    stated = {
        "hoodie.compaction.payload.class": PACKAGE + "OverwriteWithLatestAvroPayload",
        "hoodie.record.merge.strategy.id": EVENT_ID,
        "hoodie.record.merge.mode": "",
    }
    refuse_contradiction(configure({**properties(6), **stated}))
    custom = {"hoodie.record.merge.mode": "CUSTOM", "hoodie.record.merge.strategy.id": ZEROS}
    refuse_contradiction(configure({**properties(9), **custom}))
