import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest
from hudi_model.files import Delete, Record
from hudi_model.merge_rules import (
    MergeMode,
    MergeRule,
    Version,
    is_greater,
    ordering_of,
    version_of_delete,
    version_of_record,
    version_of_row,
)
from hudi_model.merging import fold, merge, merge_slice
from hudi_model.tables import RELEASED, TEXT, Readings
from hypothesis import given
from hypothesis import strategies as st

EVENT = MergeRule(MergeMode.EVENT_TIME_ORDERING, ("ts",))
COMMIT = MergeRule(MergeMode.COMMIT_TIME_ORDERING, ("ts",))
KEYS = st.sampled_from(["a", "b", "鍵"])


def row(key: str, ts: object, value: object = None, **more: object) -> Record:
    return Record({"_hoodie_record_key": key, "ts": ts, "value": value, **more})  # type: ignore[dict-item]


def version(key: str, ts: object, value: object = None, rule: MergeRule = EVENT) -> Version:
    return version_of_record(row(key, ts, value), key, rule)


def delete(key: str, ordering: object = 0, rule: MergeRule = EVENT) -> Version:
    return version_of_delete(Delete(key, None, ordering), rule)  # type: ignore[arg-type]


ROWS = st.builds(version, KEYS, st.integers(1, 5), st.integers(0, 999))
TYPED_DELETES = st.builds(delete, KEYS, st.integers(1, 5))
PLAIN_DELETES = st.builds(delete, KEYS)
CHANGES = st.lists(ROWS | TYPED_DELETES, max_size=12)
ANY_CHANGES = st.lists(ROWS | TYPED_DELETES | PLAIN_DELETES, max_size=12)
BASES = st.dictionaries(KEYS, st.integers(1, 5)).map(
    lambda found: tuple(version_of_row(row(key, ts, f"base {key}"), key, EVENT) for key, ts in found.items())
)


def values(records: Sequence[Record]) -> list[object]:
    return sorted(str(record.values["value"]) for record in records)


@given(CHANGES, st.randoms())
def test_event_time_does_not_depend_on_the_order_of_writing_where_no_two_tie(
    changes: list[Version], random: object
) -> None:
    distinct = list({(one.key, one.ordering): one for one in changes}.values())
    shuffled = list(distinct)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fold(EVENT, distinct) == fold(EVENT, shuffled)


@given(ANY_CHANGES)
def test_commit_time_keeps_the_last_version_of_each_key(changes: list[Version]) -> None:
    assert fold(COMMIT, changes) == {one.key: one for one in changes}


@given(st.lists(ROWS, min_size=1, max_size=8))
def test_a_tie_goes_to_the_version_that_stands_last(changes: list[Version]) -> None:
    for key, winner in fold(EVENT, changes).items():
        best = max((one.ordering for one in changes if one.key == key), key=lambda found: found or ())
        assert winner is next(one for one in reversed(changes) if (one.key, one.ordering) == (key, best))


@given(ANY_CHANGES, PLAIN_DELETES)
def test_a_delete_without_ordering_value_removes_all_before_it(changes: list[Version], last: Version) -> None:
    assert fold(EVENT, [*changes, last])[last.key].is_delete


@given(ANY_CHANGES, ROWS)
def test_any_version_after_a_delete_without_ordering_value_wins(changes: list[Version], late: Version) -> None:
    assert fold(EVENT, [*changes, delete(late.key), late])[late.key] is late


@pytest.mark.parametrize(("ordering", "stays"), [(4, True), (5, False), (6, False)])
def test_a_delete_with_an_ordering_value_competes_with_what_is_there(ordering: int, stays: bool) -> None:
    assert fold(EVENT, [version("a", 5), delete("a", ordering)])["a"].is_delete is not stays


@pytest.mark.parametrize(("late", "back"), [(4, False), (5, True), (6, True)])
def test_a_late_row_does_not_undo_a_delete_with_a_greater_ordering_value(late: int, back: bool) -> None:
    assert fold(EVENT, [delete("a", 5), version("a", late)])["a"].is_delete is not back


def test_the_plain_zero_is_no_ordering_value_and_a_typed_zero_is_one() -> None:
    assert version_of_delete(Delete("a", None, 0), EVENT).ordering is None
    assert version_of_delete(Delete("a", None, 0, zero_is_value=True), EVENT).ordering == (0,)
    assert version_of_delete(Delete("a", None, None), EVENT).ordering is None
    assert version_of_delete(Delete("a", None, 0.0), EVENT).ordering == (0.0,)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1))
def test_several_ordering_fields_compare_in_turn(pairs: list[tuple[int, int]]) -> None:
    rule = MergeRule(MergeMode.EVENT_TIME_ORDERING, ("one", "two"))
    changes = [version_of_record(Record({"one": one, "two": two}), "a", rule) for one, two in pairs]
    assert fold(rule, changes)["a"].ordering == max(pairs)


def test_texts_order_as_texts() -> None:
    assert is_greater(("9",), ("10",))


@pytest.mark.parametrize(
    ("greater", "less"),
    [
        (0.0, -0.0),
        (float("nan"), float("inf")),
        (1.5, 1),
        (2, Decimal("1.50")),
        (dt.date(2025, 1, 2), dt.date(2025, 1, 1)),
        (b"b", b"a"),
        (True, False),
    ],
)
def test_values_order_as_the_format_orders_them(greater: object, less: object) -> None:
    assert is_greater((greater,), (less,))  # type: ignore[arg-type]
    assert not is_greater((less,), (greater,))  # type: ignore[arg-type]


def test_values_of_two_kinds_do_not_compare_and_the_newer_wins() -> None:
    assert fold(EVENT, [version("a", "9", "old"), version("a", 1, "new")])["a"].record == row("a", 1, "new")
    assert not is_greater((dt.datetime(2025, 1, 1, tzinfo=dt.timezone.utc),), (dt.date(2024, 1, 1),))


def test_a_null_ordering_value_wins_over_what_precedes_it_and_loses_to_what_follows() -> None:
    assert fold(EVENT, [version("a", 9), version("a", None, "null")])["a"].record == row("a", None, "null")
    assert fold(EVENT, [version("a", None), version("a", 1, "low")])["a"].record == row("a", 1, "low")
    two = replace(EVENT, ordering=("one", "two"))
    assert ordering_of({"one": None, "two": None}, two) is None
    assert ordering_of({"one": 1, "two": None}, two) == (1, None)


@pytest.mark.parametrize(
    ("older", "newer", "stays"),
    [
        ((2, 5), (1, None), True),
        ((2, None), (1, 5), True),
        ((1, 5), (2, None), False),
        ((1, 5), (1, None), False),
        ((1, None), (1, 5), False),
        ((None, 9), (None, 8), True),
        ((None, 9), (1, 5), False),
    ],
)
def test_the_values_before_a_null_decide_and_the_newer_wins_where_they_do_not(
    older: tuple[int | None, int | None], newer: tuple[int | None, int | None], stays: bool
) -> None:
    assert is_greater(older, newer) is stays


@pytest.mark.parametrize(
    ("more", "deleted"),
    [
        ({"_hoodie_is_deleted": True}, True),
        ({"_hoodie_is_deleted": None}, False),
        ({"_hoodie_is_deleted": "true"}, False),
        ({"_hoodie_operation": "D"}, True),
        ({"_hoodie_operation": "U"}, False),
        ({"Op": "D"}, True),
        ({"Op": "d"}, False),
        ({"Op": None}, False),
    ],
)
def test_a_data_record_is_a_delete_where_it_is_marked_as_one(more: dict[str, object], deleted: bool) -> None:
    rule = replace(EVENT, delete_field="Op", delete_marker="D")
    assert version_of_record(row("a", 1, **more), "a", rule).is_delete is deleted
    assert not version_of_row(row("a", 1, **more), "a", rule).is_delete


@given(BASES, CHANGES)
def test_the_readings_agree_where_every_delete_has_an_ordering_value(
    base: tuple[Version, ...], changes: list[Version]
) -> None:
    assert values(merge_slice(EVENT, base, changes, RELEASED)) == values(merge_slice(EVENT, base, changes, TEXT))


@given(BASES, ANY_CHANGES)
def test_by_commit_time_the_readings_agree_always(base: tuple[Version, ...], changes: list[Version]) -> None:
    assert values(merge_slice(COMMIT, base, changes, RELEASED)) == values(merge_slice(COMMIT, base, changes, TEXT))


def test_as_released_a_deleted_base_row_comes_back_over_a_low_reinsert_and_in_the_text_it_does_not() -> None:
    base = [version_of_row(row("a", 10, "base"), "a", EVENT)]
    changes = [delete("a"), version("a", 5, "again")]
    assert values(merge_slice(EVENT, base, changes, RELEASED)) == ["base"]
    assert values(merge_slice(EVENT, base, changes, TEXT)) == ["again"]


@pytest.mark.parametrize("readings", [RELEASED, TEXT])
def test_rows_of_one_key_in_a_base_file_meet_the_changes_each_on_its_own(readings: Readings) -> None:
    base = [version_of_row(row("a", ts, value), "a", EVENT) for ts, value in ((3, "low"), (5, "high"))]
    assert values(merge_slice(EVENT, base, [version("a", 4, "log")], readings)) == ["high", "log"]
    assert values(merge_slice(EVENT, base, [version("a", 9, "log")], readings)) == ["log", "log"]
    assert values(merge_slice(EVENT, base, [delete("a", 4)], readings)) == ["high"]
    assert values(merge_slice(EVENT, base, [delete("a")], readings)) == []


@given(BASES, ANY_CHANGES)
def test_a_slice_answers_each_key_at_most_once_and_no_key_from_nowhere(
    base: tuple[Version, ...], changes: list[Version]
) -> None:
    keys = [record.values["_hoodie_record_key"] for record in merge_slice(EVENT, base, changes, TEXT)]
    assert len(keys) == len(set(keys))
    known = {str(one.record.values["_hoodie_record_key"]) for one in (*base, *changes) if one.record}
    assert set(map(str, keys)) <= known


@given(ROWS, ROWS)
def test_the_winner_is_one_of_the_two_with_its_meta_fields(older: Version, newer: Version) -> None:
    assert merge(EVENT, older, newer) in (older, newer)
