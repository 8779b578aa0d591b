"""Names: what is written is read back, foreign names are left alone, half instants are refused."""

import pytest
from format_strategies import FILE_IDS, INSTANTS, TOKENS
from hudi_format.errors import FormatError, Reason
from hudi_format.names import (
    ACTIONS,
    BaseFileName,
    LogFileName,
    MarkerName,
    NativeLogName,
    TimelineFileName,
    TimelineLayout,
    TimelineState,
    is_checksum_side_file,
    is_partition_metafile,
    parse_data_file_name,
    parse_marker_name,
    parse_native_log_name,
    parse_schema_commit_name,
    parse_timeline_file_name,
    timeline_file_name,
)
from hypothesis import given
from hypothesis import strategies as st

T, C = "20250101000000000", "20250101000000001"


@given(st.builds(BaseFileName, FILE_IDS, TOKENS, INSTANTS, st.sampled_from(("parquet", "orc", "hfile"))))
def test_base_file_names_round_trip(name: BaseFileName):
    assert parse_data_file_name(str(name)) == name


@given(st.builds(LogFileName, FILE_IDS, INSTANTS, st.integers(1, 10**6), st.one_of(st.none(), TOKENS), st.booleans()))
def test_log_file_names_round_trip(name: LogFileName):
    assert parse_data_file_name(str(name)) == name


@given(
    st.builds(
        NativeLogName,
        FILE_IDS,
        TOKENS,
        INSTANTS,
        st.integers(1, 10**6),
        st.sampled_from(("log", "deletes", "cdc")),
        st.sampled_from(("parquet", "lance", "hfile")),
    )
)
def test_native_log_names_round_trip_and_are_names_of_nothing_else(name: NativeLogName):
    assert parse_native_log_name(str(name)) == name
    assert parse_data_file_name(str(name)) is None


@given(
    INSTANTS,
    st.sampled_from(ACTIONS),
    st.sampled_from(("REQUESTED", "INFLIGHT", "COMPLETED")),
    st.sampled_from((1, 2)),
)
def test_timeline_file_names_round_trip(requested: str, action: str, state: TimelineState, layout: TimelineLayout):
    completed = C if layout == 2 and state == "COMPLETED" else None
    value = TimelineFileName(requested, action, state, completed)
    assert parse_timeline_file_name(timeline_file_name(value, layout), layout) == value


@pytest.mark.parametrize(
    "name",
    [
        "a_0-1-2_20250101000000000.csv",
        "a_0-1_20250101000000000.parquet",
        "a.parquet",
        ".a_20250101000000000.log",
        ".a_b_20250101000000000.log.1_0-0-0",
        ".a_20250101000000000.log.1_0-0-0.cdc.crc",
        ".a_20250101000000000.log.9999999999_0-0-0",
        "20250101000000000.commit",
        ".hoodie_partition_metadata",
        "a_0-1-2_٢٠٢٥.parquet",
        "\udcff\udcfe_0-1-2_20250101000000000.parquet",
        ".\udcff_20250101000000000.log.1_0-0-0",
        "",
    ],
)
def test_a_name_that_is_no_data_file_belongs_to_no_group(name: str):
    assert parse_data_file_name(name) is None


@pytest.mark.parametrize("layout", [1, 2])
def test_an_inflight_commit_has_the_bare_name(layout: TimelineLayout):
    value = TimelineFileName(T, "commit", "INFLIGHT")
    assert timeline_file_name(value, layout) == f"{T}.inflight"
    assert parse_timeline_file_name(f"{T}.inflight", layout) == value


@pytest.mark.parametrize(
    "name",
    [
        "hoodie.properties",
        "hoodie.properties.backup",
        ".20250101000000000.commit.crc",
        "_version_",
        "manifest_1",
        "00000000000000001_00000000000000002_0.parquet",
        "README",
        ".hudi-put-1",
    ],
)
@pytest.mark.parametrize("layout", [1, 2])
def test_foreign_files_in_the_timeline_folder_are_left_alone(name: str, layout: TimelineLayout):
    assert parse_timeline_file_name(name, layout) is None


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        (f"{T}.explode", 1),
        (f"{T}.commit.later", 1),
        (f"{T}.explode.requested", 2),
        ("2025-01-01.commit", 1),
        ("tomorrow.deltacommit.requested", 2),
        (f"{T}_later.commit", 2),
        (f"{T}_.commit", 2),
        (f"{T}_{C}.commit", 1),
        (f"{T}.commit", 2),
        (f"{T}_{C}.commit.requested", 2),
        (f"{T}_{C}.inflight", 2),
        ("٢٠٢٥.commit", 1),
    ],
)
def test_a_name_that_looks_like_an_instant_and_is_none_is_refused(name: str, layout: TimelineLayout):
    with pytest.raises(FormatError) as caught:
        parse_timeline_file_name(name, layout, f".hoodie/{name}")
    assert (caught.value.reason, caught.value.file) == (Reason.INSTANT_MALFORMED, f".hoodie/{name}")


def test_short_and_long_instants_are_instants():
    for time in ("20250101000000", "00000000000000001", "20250101000000000001"):
        assert parse_timeline_file_name(f"{time}.commit", 1) == TimelineFileName(time, "commit", "COMPLETED")


def test_a_completed_name_of_layout_2_needs_its_completion_time():
    with pytest.raises(ValueError, match="completion time"):
        timeline_file_name(TimelineFileName(T, "commit", "COMPLETED"), 2)


@given(st.text(), st.sampled_from((1, 2)))
def test_any_text_is_a_name_or_foreign_or_refused(name: str, layout: TimelineLayout):
    parse_data_file_name(name)
    parse_marker_name(name)
    try:
        parsed = parse_timeline_file_name(name, layout)
    except FormatError:
        return
    assert parsed is None or timeline_file_name(parsed, layout) == name


def test_markers_metafiles_and_side_files_are_distinguished():
    marker = MarkerName(".a_1.log.1_0-0-0", "APPEND")
    assert parse_marker_name(str(marker)) == marker
    assert parse_marker_name("a.marker.DELETE") is None
    assert is_partition_metafile(".hoodie_partition_metadata.parquet")
    assert is_partition_metafile(".hoodie_partition_metadata")
    assert not is_partition_metafile(".hoodie_partition_metadata.csv")
    assert is_checksum_side_file(".a.parquet.crc")
    assert not is_checksum_side_file("a.crc")


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("20250101000000000.schemacommit.requested", 2),
        ("20250101000000000.schemacommit.inflight", 1),
        ("20250101000000000_20250101000000900.schemacommit", 2),
        ("20250101000000000.schemacommit", 1),
    ],
)
def test_schema_commits_are_named_like_a_timelines_files(name: str, layout: TimelineLayout):
    parsed = parse_schema_commit_name(name, layout)
    assert parsed is not None
    assert timeline_file_name(parsed, layout) == name


def test_the_folder_of_schemas_may_hold_foreign_files():
    assert parse_schema_commit_name("20250101000000000.commit", 1) is None
    with pytest.raises(FormatError):
        parse_schema_commit_name("2025x.schemacommit", 1)


@pytest.mark.parametrize("layout", [1, 2])
@pytest.mark.parametrize("kind", ["inflight", "deltacommit.inflight", "deltacommit.requested", "deltacommit", "clean"])
def test_a_file_that_a_release_is_still_writing_is_none_of_the_timeline(kind: str, layout: TimelineLayout):
    """Apache Hudi writes a timeline file on a local disk under a name of its own, and renames it: readers pass it."""
    name = f"20261122010203004.{kind}.0f0c2d0e-1b7a-4d5c-9c8e-2f6d1a3b4c5d"
    assert parse_timeline_file_name(name, layout) is None
