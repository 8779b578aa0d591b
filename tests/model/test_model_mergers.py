"""Record mergers: which is chosen, and what the reference mergers make of two versions."""

from dataclasses import replace

import pytest
from hudi_model.files import Delete, Record
from hudi_model.merge_rules import MergeMode, MergeRule, Version, version_of_delete, version_of_record
from hudi_model.merging import (
    COUNTER,
    DELETE_AT_ZERO,
    GREATER_OF_TWO,
    REFERENCE_MERGERS,
    SET_UNION,
    RecordMerger,
    fold,
    merge,
    select_merger,
)
from hudi_model.rejection import Reason, Rejection
from hypothesis import given
from hypothesis import strategies as st

COLUMNS = "hoodie.record.merge.property.hudi.conformance.columns"


def rule_of(merger: RecordMerger, columns: str = "n") -> MergeRule:
    return MergeRule(MergeMode.CUSTOM, ("ts",), strategy=merger.strategy, properties={COLUMNS: columns})


def row(rule: MergeRule, ts: int, **values: object) -> Version:
    return version_of_record(Record({"ts": ts, **values}), "k", rule)  # type: ignore[dict-item]


def gone(rule: MergeRule, ordering: int = 0) -> Version:
    return version_of_delete(Delete("k", None, ordering), rule)


def test_the_first_fitting_implementation_of_the_list_is_taken() -> None:
    """The order of the list decides among those with the id and the engine's records."""
    spark = replace(COUNTER, record_type="SPARK")
    other = replace(COUNTER, merge=SET_UNION.merge)
    assert select_merger(COUNTER.strategy, "JAVA", (SET_UNION, spark, COUNTER, other)) is COUNTER
    assert select_merger(COUNTER.strategy, "SPARK", (COUNTER, spark)) is spark
    assert select_merger(COUNTER.strategy, "HIVE", (other, COUNTER)) is other


@pytest.mark.parametrize("engine", ["SPARK", "FLINK", "a new engine"])
def test_where_no_implementation_fits_the_table_is_refused(engine: str) -> None:
    """Rows are not merged by guess."""
    with pytest.raises(Rejection) as caught:
        select_merger(COUNTER.strategy, engine, REFERENCE_MERGERS)
    assert caught.value.reason is Reason.MERGER_UNKNOWN


def test_an_id_that_nobody_has_is_refused() -> None:
    """A merger is known by its id alone."""
    rule = MergeRule(MergeMode.CUSTOM, ("ts",), strategy="00000000-0000-0000-0000-00000000000f")
    with pytest.raises(Rejection, match="MERGER_UNKNOWN"):
        merge(rule, row(rule, 1), row(rule, 2))


@given(st.lists(st.none() | st.integers(-5, 5), min_size=1, max_size=6))
def test_a_counter_sums_whatever_is_there(numbers: list[int | None]) -> None:
    """A null adds nothing; only where all are null is the sum null."""
    rule = rule_of(COUNTER)
    versions = [row(rule, place, n=number) for place, number in enumerate(numbers)]
    found = fold(rule, versions)["k"].record
    stated = [number for number in numbers if number is not None]
    assert found is not None
    assert found.values["n"] == (sum(stated) if stated else None)


def test_a_deleted_counter_goes_on_from_its_sum() -> None:
    """The data of a deleted row stay for the merges that follow."""
    rule = rule_of(COUNTER)
    deleted = merge(rule, row(rule, 1, n=5), gone(rule))
    assert deleted.is_delete
    assert deleted.record is not None
    alive = merge(rule, deleted, row(rule, 2, n=1))
    assert not alive.is_delete
    assert alive.record == Record({"ts": 2, "n": 6})


def test_the_greater_of_two_columns_stands_whole() -> None:
    """The second column decides among equals of the first, a tie is the newer's, and a bare tombstone loses."""
    rule = rule_of(GREATER_OF_TWO, "a,b")
    low, high = row(rule, 1, a=1, b=1), row(rule, 1, a=1, b=2)
    assert merge(rule, high, low) is high
    assert merge(rule, low, high) is high
    tie = row(rule, 9, a=1, b=2)
    assert merge(rule, high, tie) is tie
    assert merge(rule, high, gone(rule)) is high
    assert merge(rule, gone(rule), low) is low


def test_a_union_holds_each_member_once_and_sorted() -> None:
    """Code points order the members."""
    rule = rule_of(SET_UNION)
    found = merge(rule, row(rule, 1, n=["é", "b"]), row(rule, 2, n=["B", "b"])).record
    assert found is not None
    assert found.values["n"] == ["B", "b", "é"]


def test_a_row_at_zero_is_deleted_and_comes_back() -> None:
    """The sum alone decides; tombstones take nothing."""
    rule = rule_of(DELETE_AT_ZERO)
    zero = merge(rule, row(rule, 1, n=2), row(rule, 2, n=-2))
    assert zero.is_delete
    assert not merge(rule, zero, row(rule, 3, n=1)).is_delete
    assert not merge(rule, row(rule, 1, n=2), gone(rule)).is_delete


def test_a_merger_merges_partial_updates_column_by_column() -> None:
    """What neither says is not there, and two partial records make a partial one."""
    rule = rule_of(COUNTER)
    first = version_of_record(Record({"ts": 1, "n": 1}), "k", rule, partial=True)
    second = version_of_record(Record({"ts": 2, "x": 7}), "k", rule, partial=True)
    found = merge(rule, first, second)
    assert found.partial
    assert found.record == Record({"ts": 2, "n": 1, "x": 7})
