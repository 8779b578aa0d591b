import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from hudi_model.actions import CleanMetadata, RollbackMetadata
from hudi_model.columns import promote
from hudi_model.files import (
    META_FIELDS,
    BaseFile,
    CorruptBlock,
    DataBlock,
    Delete,
    Field,
    LogFile,
    Record,
    Schema,
    UnsupportedContent,
)
from hudi_model.merge_rules import MergeMode, MergeRule, version_of_delete, version_of_row
from hudi_model.merging import merge
from hudi_model.queries import (
    Selection,
    list_file_slices,
    list_timeline,
    read_as_of,
    read_optimized,
    read_snapshot,
    table_info,
)
from hudi_model.reading import with_logical_ordering
from hudi_model.rejection import Reason, Rejection, Unsupported
from hudi_model.tables import RELEASED, TEXT, Table
from hudi_model.time import InstantTime
from hypothesis import given
from hypothesis import strategies as st
from model_states import (
    PARTITION,
    SCHEMA,
    at,
    base,
    commit,
    damaged,
    data,
    deletes,
    entry,
    log,
    properties,
    rows,
    table,
    with_records,
)

KEYS = st.sampled_from(["a", "b", "c", "д"])
ROWS = st.lists(st.tuples(KEYS, st.integers(1, 6), st.sampled_from(["x", "y", "z"])), max_size=4)
DELETES = st.lists(st.tuples(KEYS, st.sampled_from([0, 1, 3, 5])), max_size=2)
BATCHES = st.lists(st.tuples(ROWS, DELETES), min_size=1, max_size=5)
WINNER_KILLERS = st.sampled_from(
    [["value", "=", "x"], ["ts", "<", 4], ["not", ["ts", ">=", 3]], ["or", ["value", "=", "y"], ["id", "=", "д"]]]
)


def written(batches: list[Any], mode: str = "EVENT_TIME_ORDERING", version: int = 9) -> Table:
    """A base file, then one log for each batch of rows and deletes."""
    first = base(1, ("a", 3, "x"), ("b", 3, "y"))
    files: list[BaseFile | LogFile] = [first]
    timeline = [commit(1, first, version=version)]
    for place, (changed, gone) in enumerate(batches):
        number = place + 2
        named = 1 if version == 6 else number
        file = log(named, data(number, *changed), deletes(number, *gone), version=place + 1)
        files.append(file)
        timeline.append(commit(number, file, version=version))
    return table(timeline, files, {**properties(version), "hoodie.record.merge.mode": mode})


def refusal(state: Table, **selection: Any) -> Reason:
    with pytest.raises(Rejection) as caught:
        read_snapshot(state, selection=Selection(**selection))
    return caught.value.reason


def test_a_snapshot_merges_base_and_logs_and_leaves_meta_fields_out() -> None:
    state = written([([("a", 5, "new"), ("c", 1, "in")], [("b", 0)])])
    answer = read_snapshot(state)
    assert rows(answer) == [("a", 5, "new"), ("c", 1, "in")]
    assert [field.name for field in answer.schema.fields] == ["id", "ts", "value"]


def test_the_winner_keeps_its_own_meta_fields() -> None:
    answer = read_snapshot(written([([("a", 5, "new")], [])]), selection=Selection(meta_columns=True))
    assert [field.name for field in answer.schema.fields] == [*META_FIELDS, "id", "ts", "value"]
    assert {(row["id"], row["_hoodie_commit_time"]) for row in answer.rows} == {("a", at(2)), ("b", at(1))}


@given(BATCHES, WINNER_KILLERS, st.sampled_from(["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"]))
def test_a_filter_or_projection_never_changes_which_version_wins(batches: list[Any], form: Any, mode: str) -> None:
    state = written(batches, mode)
    everything = rows(read_snapshot(state))
    filtered = rows(read_snapshot(state, selection=Selection(filter=form)))
    assert set(filtered) <= set(everything)
    rest = rows(read_snapshot(state, selection=Selection(filter=["not", form])))
    assert sorted([*filtered, *rest]) == everything
    ids = sorted(row["id"] for row in read_snapshot(state, selection=Selection(columns=["id"], filter=form)).rows)  # type: ignore[type-var]
    assert ids == [row[0] for row in filtered]


@given(BATCHES, st.sampled_from([6, 8, 9]))
def test_as_of_the_newest_instant_is_the_snapshot(batches: list[Any], version: int) -> None:
    state = written(batches, version=version)
    last = at(len(batches) + 1.9)
    for readings in (RELEASED, TEXT):
        assert rows(read_as_of(state, last, readings)) == rows(read_snapshot(state, readings))


@given(BATCHES)
def test_as_of_an_instant_is_the_snapshot_of_the_table_as_it_was_then(batches: list[Any]) -> None:
    for count in range(len(batches)):
        then = written(batches[:count]) if count else None
        expected = rows(read_snapshot(then)) if then else [("a", 3, "x"), ("b", 3, "y")]
        assert rows(read_as_of(written(batches), at(count + 1))) == expected


@given(BATCHES)
def test_the_version_of_the_table_does_not_change_its_rows(batches: list[Any]) -> None:
    six, nine = (rows(read_snapshot(written(batches, version=version))) for version in (6, 9))
    assert six == nine


@given(BATCHES)
def test_read_optimized_answers_the_base_file_alone(batches: list[Any]) -> None:
    assert rows(read_optimized(written(batches))) == [("a", 3, "x"), ("b", 3, "y")]


@given(BATCHES, WINNER_KILLERS, st.sampled_from([6, 8, 9]))
def test_an_unmerged_read_answers_every_row_that_was_written(batches: list[Any], form: Any, version: int) -> None:
    state = written(batches, version=version)
    expected = sorted([("a", 3, "x"), ("b", 3, "y"), *(row for changed, _ in batches for row in changed)])
    assert rows(read_snapshot(state, selection=Selection(unmerged=True))) == expected
    parts = [read_snapshot(state, selection=Selection(None, one, unmerged=True)) for one in (form, ["not", form])]
    assert sorted([*rows(parts[0]), *rows(parts[1])]) == expected
    assert rows(read_as_of(state, at(1), selection=Selection(unmerged=True))) == [("a", 3, "x"), ("b", 3, "y")]


def test_a_log_only_slice_is_read_and_has_no_row_read_optimized() -> None:
    only = log(1, data(1, ("a", 1, "x"), ("b", 1, "y")), deletes(1, ("b", 0)))
    state = table([commit(1, only)], [only])
    assert rows(read_snapshot(state)) == [("a", 1, "x")]
    assert rows(read_optimized(state)) == []


@pytest.mark.parametrize(
    ("kind", "value", "number"),
    [
        ("timestamp-micros", dt.datetime(1970, 1, 1, 0, 0, 9, tzinfo=dt.timezone.utc), 9_000_000),
        ("timestamp-millis", dt.datetime(1970, 1, 1, 0, 0, 9, tzinfo=dt.timezone.utc), 9_000),
        ("local-timestamp-micros", dt.datetime(1970, 1, 1, 0, 0, 9), 9_000_000),  # noqa: DTZ001 - it has no zone
        ("date", dt.date(1970, 1, 10), 9),
        ("int64", 9, 9),
    ],
)
def test_a_delete_may_hold_an_instant_or_a_date_as_its_plain_number(kind: str, value: Any, number: int) -> None:
    rule = MergeRule(MergeMode.EVENT_TIME_ORDERING, ("ts",))
    schema = Schema((Field("ts", kind),))
    row = version_of_row(Record({"ts": value}), "a", rule)

    def stays(ordering: int) -> bool:
        delete = with_logical_ordering(Delete("a", None, ordering, zero_is_value=True), schema, rule)
        return not merge(rule, row, version_of_delete(delete, rule)).is_delete

    assert [stays(number - 1), stays(number), stays(number + 1)] == [True, False, False]


def test_a_torn_block_warns_with_file_and_offset_and_the_rest_is_read() -> None:
    torn = log(2, data(2, ("a", 9, "x")), CorruptBlock(120, 30), data(2, ("b", 9, "y")))
    answer = read_snapshot(table([commit(1), commit(2)], [base(1), torn]))
    assert rows(answer) == [("a", 9, "x"), ("b", 9, "y")]
    assert [(one.clause, one.file, one.offset) for one in answer.warnings] == [
        ("LF-010", f"{PARTITION}/{torn.name}", 120)
    ]


def test_damaged_content_of_a_block_that_counts_is_refused() -> None:
    bad = DataBlock(at(2), damaged(Reason.LOG_CONTENT_CORRUPT, "LF-013"))
    assert refusal(table([commit(1), commit(2)], [base(1), log(2, bad)])) is Reason.LOG_CONTENT_CORRUPT
    rolled_back = replace(bad, instant=at(3))
    assert rows(read_snapshot(table([commit(1), commit(2)], [base(1, ("a", 1, "x")), log(2, rolled_back)])))


def test_a_base_file_that_does_not_parse_is_refused() -> None:
    broken = with_records(base(1), damaged(Reason.BASE_FILE_CORRUPT, "BF-004"))
    assert refusal(table([commit(1)], [broken])) is Reason.BASE_FILE_CORRUPT


@pytest.mark.parametrize("feature", ["base-orc", "log-hfile"])
def test_content_of_an_unread_kind_is_unsupported(feature: str) -> None:
    unread = UnsupportedContent(feature, "a file")
    files = (
        [with_records(base(1), unread)] if feature == "base-orc" else [base(1), log(2, DataBlock(at(2), unread))]  # type: ignore[list-item]
    )
    with pytest.raises(Unsupported, match=feature):
        read_snapshot(table([commit(1), commit(2)], files))


def test_a_partial_update_of_a_new_key_has_null_where_nothing_is_reported() -> None:
    partial = replace(
        data(2, ("a", 1, "x")), partial=True, schema=Schema((Field("id", "string"), Field("ts", "int64")))
    )
    found = read_snapshot(table([commit(1), commit(2)], [base(1), log(2, partial)]))
    assert found.rows == ({"id": "a", "ts": 1, "value": None},)


def test_a_base_file_that_the_timeline_names_and_storage_lacks_is_refused() -> None:
    first, second = base(1, ("a", 1, "x")), base(2, ("a", 2, "y"))
    assert refusal(table([commit(1, first), commit(2, second)], [first])) is Reason.BASE_FILE_MISSING
    assert refusal(table([commit(1, first)], [])) is Reason.BASE_FILE_MISSING


@pytest.mark.parametrize("version", [6, 9])
def test_a_log_that_the_timeline_names_and_storage_lacks_is_refused(version: int) -> None:
    first = base(1, ("a", 1, "x"))
    second = log(1 if version == 6 else 2, data(2, ("a", 2, "y")))
    timeline = [commit(1, first, version=version), commit(2, second, version=version)]
    assert refusal(table(timeline, [first], properties(version))) is Reason.LOG_FILE_MISSING
    assert read_optimized(table(timeline, [first], properties(version))).rows


@pytest.mark.parametrize("version", [6, 9])
def test_a_log_of_an_older_slice_may_be_gone(version: int) -> None:
    first, third = base(1, ("a", 1, "x")), base(3, ("a", 2, "y"))
    second = log(1 if version == 6 else 2, data(2, ("a", 2, "y")))
    files = ((1, first), (2, second), (3, third))
    timeline = [commit(number, file, version=version) for number, file in files]
    assert len(read_snapshot(table(timeline, [first, third], properties(version))).rows) == 1


def test_a_base_file_of_a_replaced_group_may_be_gone() -> None:
    old, new = base(1), base(2, ("a", 1, "x"), file_id="f2")
    replacing = commit(2, new, action="replacecommit", replaced=[(PARTITION, "f1")])
    assert rows(read_snapshot(table([commit(1, old), replacing], [new]))) == [("a", 1, "x")]


@pytest.mark.parametrize("action", ["clean", "rollback", "restore"])
def test_a_base_file_that_a_service_says_it_deleted_may_be_gone(action: str) -> None:
    gone = base(1)
    removed = frozenset({(PARTITION, gone.name)})
    content = CleanMetadata(None, removed) if action == "clean" else RollbackMetadata((), removed)
    state = table([commit(1, gone), (entry(3, action, "COMPLETED", 4, content),)], [])
    assert rows(read_snapshot(state)) == []


def test_as_of_before_what_a_clean_retained_is_refused() -> None:
    first, second = base(1, ("a", 1, "x")), base(3, ("a", 2, "y"))
    clean = entry(4, "clean", "COMPLETED", 5, CleanMetadata(at(3), frozenset({(PARTITION, first.name)})))
    state = table([commit(1, first), commit(3, second), (clean,)], [second])
    assert rows(read_as_of(state, at(3))) == [("a", 2, "y")]
    with pytest.raises(Rejection) as caught:
        read_as_of(state, at(2))
    assert caught.value.reason is Reason.RANGE_NOT_RETAINED


def test_as_of_a_time_whose_base_file_was_cleaned_is_refused_without_a_retained_instant_too() -> None:
    first, second = base(1), base(3)
    clean = entry(4, "clean", "COMPLETED", 5, CleanMetadata(None, frozenset({(PARTITION, first.name)})))
    state = table([commit(1, first), commit(3, second), (clean,)], [second])
    with pytest.raises(Rejection) as caught:
        read_as_of(state, at(2))
    assert caught.value.reason is Reason.RANGE_NOT_RETAINED


@pytest.mark.parametrize(
    "path", ["../elsewhere/f1_0-0-0_1.parquet", "/f1_0-0-0_1.parquet", "a/../../f_0-0-0_1.parquet"]
)
def test_a_path_that_leaves_the_table_is_refused(path: str) -> None:
    stray = commit(1, base(1))
    metadata = stray[2].content
    stats = (replace(metadata.write_stats[0], path=path),)  # type: ignore[union-attr]
    entries = (*stray[:2], replace(stray[2], content=replace(metadata, write_stats=stats)))  # type: ignore[type-var]
    assert refusal(table([entries], [base(1)])) is Reason.PATH_ESCAPES_TABLE


def test_a_column_that_a_file_lacks_reads_as_null_and_a_dropped_one_is_gone() -> None:
    grown = Schema((Field("id", "string"), Field("ts", "float64"), Field("colour", "string")))
    old, new = base(1, ("a", 1, "x")), base(2, ("b", 2, "y"), file_id="f2")
    answer = read_snapshot(table([commit(1, old), commit(2, new, schema=grown)], [old, new]))
    assert sorted(map(str, answer.rows)) == [
        "{'id': 'a', 'ts': 1.0, 'colour': None}",
        "{'id': 'b', 'ts': 2.0, 'colour': None}",
    ]


def test_a_value_that_the_tables_type_cannot_hold_is_refused() -> None:
    narrow = Schema((Field("id", "int64"),))
    assert refusal(table([commit(1, base(1), schema=narrow)], [base(1, ("a", 1, "x"))])) is Reason.SCHEMA_INCOMPATIBLE


def test_an_integer_reads_as_its_digits_once_the_column_is_text() -> None:
    text, number = Field("ts", "string"), Field("ts", "int32")
    assert (promote(-7, number, text, "a file"), promote(None, number, text, "a file")) == ("-7", None)


def test_the_schema_is_that_of_the_newest_commit_that_has_one_and_of_no_later_service() -> None:
    grown = Schema((*SCHEMA.fields, Field("more", "date")))
    timeline = [
        commit(1),
        commit(2, schema=grown),
        commit(3, schema=None),
        commit(4, schema=SCHEMA, action="commit", operation="COMPACT"),
    ]
    assert [one["name"] for one in table_info(table(timeline))["schema"]] == ["id", "ts", "value", "more"]
    assert read_as_of(table(timeline), at(1)).schema == SCHEMA


def test_before_every_commit_a_table_has_no_rows_and_the_columns_of_today() -> None:
    for readings in (RELEASED, TEXT):
        answer = read_as_of(written([]), at(0), readings)
        assert (answer.schema, answer.rows) == (SCHEMA, ())


def test_a_table_without_commits_has_the_schema_of_its_creation() -> None:
    assert table_info(table([]))["schema"] == []
    created = replace(table([]), create_schema=Schema((Field("_hoodie_file_name", "string"), *SCHEMA.fields)))
    assert read_snapshot(created).schema == SCHEMA


@pytest.mark.parametrize("selection", [{"columns": ["nope"]}, {"columns": ["id", "id"]}, {"filter": ["nope", "=", 1]}])
def test_a_question_for_a_column_that_does_not_exist_is_refused(selection: Any) -> None:
    assert refusal(table([commit(1)], [base(1)]), **selection) is Reason.CONFIG_INVALID


def test_a_record_without_key_cannot_be_merged() -> None:
    keyless = replace(
        data(2), records=tuple(replace(one, values={"id": "a"}) for one in base(1, ("a", 1, "x")).records)
    )  # type: ignore[union-attr]
    assert refusal(table([commit(1), commit(2)], [base(1), log(2, keyless)])) is Reason.KEY_MISSING


def test_keys_are_rebuilt_where_a_table_stores_none_and_a_tombstone_may_name_the_field() -> None:
    settings = {**properties(), "hoodie.populate.meta.fields": "false"}
    tombstone = replace(deletes(2), deletes=(Delete("id:a", None, 0), Delete("b", None, 0)))
    changed = log(2, data(2, ("c", 9, "new")), tombstone)
    state = table([commit(1), commit(2)], [base(1, ("a", 1, "x"), ("b", 1, "y"), ("c", 1, "z")), changed], settings)
    assert rows(read_snapshot(state)) == [("c", 9, "new")]


def test_an_instant_in_seconds_is_accepted_and_one_that_is_none_refused() -> None:
    state = table([commit(1.2)], [base(1.2, ("a", 1, "x"))])
    assert rows(read_as_of(state, InstantTime("20250101000001"))) == [("a", 1, "x")]
    with pytest.raises(Rejection) as caught:
        read_as_of(state, InstantTime("yesterday"))
    assert caught.value.reason is Reason.INSTANT_MALFORMED


def test_the_timeline_lists_each_action_once_in_its_state() -> None:
    state = table([commit(2, completed=4), (entry(3, "clean", "REQUESTED"),), commit(1)], [])
    assert list_timeline(state) == [
        {"requested": at(1), "completed": at(1.5), "action": "deltacommit", "state": "COMPLETED"},
        {"requested": at(2), "completed": at(4), "action": "deltacommit", "state": "COMPLETED"},
        {"requested": at(3), "completed": None, "action": "clean", "state": "REQUESTED"},
    ]


def test_slices_are_listed_by_name_in_merge_order() -> None:
    files = [base(1), log(2, version=2), log(2, version=1)]
    assert list_file_slices(table([commit(1), commit(2)], files)) == [
        {
            "partition": PARTITION,
            "file_id": "f1",
            "base_instant": at(1),
            "base_file": files[0].name,
            "log_files": [files[2].name, files[1].name],
        }
    ]


def test_table_info_says_what_a_table_is() -> None:
    assert table_info(table([commit(1)])) == {
        "name": "t",
        "table_version": 9,
        "table_type": "MERGE_ON_READ",
        "merge_mode": "EVENT_TIME_ORDERING",
        "record_key": ["id"],
        "partition_by": [],
        "ordering": ["ts"],
        "schema": [{"name": field.name, "type": field.type} for field in SCHEMA.fields],
    }
