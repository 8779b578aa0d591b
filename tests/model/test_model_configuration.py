import pytest
from hudi_model.configuration import configure, is_read, overlay, property_names, valid_properties
from hudi_model.effects import timeline_folder
from hudi_model.files import Damaged
from hudi_model.rejection import Reason, Rejection
from hudi_model.tables import Table, open_table
from hypothesis import given
from hypothesis import strategies as st
from model_states import properties, table

BROKEN = Damaged(Reason.PROPERTIES_INVALID, "PR-001", "hoodie.properties", "garbage")


def reason(main: object, backup: object = None) -> Reason:
    with pytest.raises(Rejection) as caught:
        valid_properties(main, backup)  # type: ignore[arg-type]
    return caught.value.reason


def test_no_properties_at_all_is_no_table() -> None:
    assert reason(None) is Reason.NOT_A_TABLE


@pytest.mark.parametrize("name", ["hoodie.table.name", "hoodie.table.type", "hoodie.table.version"])
def test_each_required_key_is_required(name: str) -> None:
    assert reason({key: value for key, value in properties().items() if key != name}) is Reason.PROPERTIES_INVALID


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hoodie.table.type", "MERGE_ON_WRITE"),
        ("hoodie.table.version", "nine"),
        ("hoodie.table.version", "9" * 5000),
    ],
)
def test_values_that_mean_nothing_are_refused(name: str, value: str) -> None:
    assert reason({**properties(), name: value}) is Reason.PROPERTIES_INVALID


def test_the_checksum_guards_database_and_name_and_may_be_absent() -> None:
    assert reason({**properties(), "hoodie.database.name": "other"}) is Reason.CHECKSUM_MISMATCH
    without = {key: value for key, value in properties().items() if key != "hoodie.table.checksum"}
    assert valid_properties(without, None) is without


@pytest.mark.parametrize("main", [None, BROKEN, {}, {**properties(), "hoodie.table.checksum": "1"}])
def test_a_sound_backup_stands_in_for_a_missing_or_broken_file(main: object) -> None:
    backup = properties()
    assert valid_properties(main, backup) is backup  # type: ignore[arg-type]


def test_a_sound_file_is_used_whatever_the_backup_holds() -> None:
    main = properties()
    assert valid_properties(main, BROKEN) is main


def test_a_broken_file_is_refused_for_what_is_wrong_with_it() -> None:
    assert reason({**properties(), "hoodie.table.checksum": "1"}, BROKEN) is Reason.CHECKSUM_MISMATCH
    assert reason(None, BROKEN) is Reason.PROPERTIES_INVALID


@given(st.integers(0, 30))
def test_every_version_has_one_verdict_and_five_and_a_draft_are_read(version: int) -> None:
    assert is_read(version) == (version in (4, 5, 6, 8, 9, 10))
    if not is_read(version):
        with pytest.raises(Rejection) as caught:
            overlay(version)
        assert caught.value.reason is Reason.TABLE_VERSION_UNSUPPORTED


@given(st.integers(0, 30), st.integers(0, 30))
def test_a_reader_never_reads_what_is_newer_than_itself(version: int, reader: int) -> None:
    if version > reader:
        assert not is_read(version, reader)


@pytest.mark.parametrize("version", [6, 8, 9])
def test_both_names_of_the_ordering_field_are_read_in_every_version_and_the_new_one_holds(version: int) -> None:
    old = properties(version, hoodie_table_ordering_fields="", hoodie_table_precombine_field="a")
    assert configure(old).ordering == ("a",)
    both = properties(version, hoodie_table_ordering_fields="b,c", hoodie_table_precombine_field="a")
    assert configure(both).ordering == ("b", "c")


def test_a_key_generators_mark_is_no_part_of_a_columns_name() -> None:
    assert property_names({"x": "part:SIMPLE,evt:TIMESTAMP"}, "x") == ("part", "evt")


def test_the_timelines_folder_follows_the_layout_and_not_the_path_of_a_version_6_table() -> None:
    assert timeline_folder(properties(6, hoodie_timeline_path="timeline")) == ".hoodie"
    assert timeline_folder(properties(9)) == ".hoodie/timeline"
    assert timeline_folder({**properties(9), "hoodie.timeline.path": "log"}) == ".hoodie/log"
    assert timeline_folder({**properties(8), "hoodie.timeline.layout.version": "1"}) == ".hoodie"


def test_a_timeline_layout_that_nobody_knows_is_refused() -> None:
    state = table([])
    odd = {**properties(9), "hoodie.timeline.layout.version": "3"}

    with pytest.raises(Rejection) as caught:
        open_table(Table(odd, None, (), state.base_files, (), ()))

    assert caught.value.reason is Reason.PROPERTIES_INVALID


def test_a_malformed_timeline_name_closes_the_table() -> None:
    bad = Damaged(Reason.INSTANT_MALFORMED, "TL-016", "2025.commit.finished", "unknown state")
    state = table([])
    closed = Table(state.properties, None, (), (), (), (bad,))
    with pytest.raises(Rejection) as caught:
        open_table(closed)
    assert caught.value.reason is Reason.INSTANT_MALFORMED
