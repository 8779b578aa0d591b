"""Markers and heartbeats: names of real tables, lists of a timeline server, nothing that leaves its folder."""

import pytest
from format_strategies import damaged
from hudi_format.errors import FormatError, Reason
from hudi_format.names import MarkerName
from hudi_format.table.markers import (
    MARKER_TYPES,
    Marker,
    batch_number,
    heartbeat_instant,
    parse_marker_path,
    parse_marker_type,
    parse_markers,
    serialise_markers,
)
from hypothesis import given
from hypothesis import strategies as st

REAL = (
    "region=north/.3e9ddfb2-7315-4d25-955c-f5dd4c9f79f7-0_20261121115958161.log.1_0-351-373.marker.CREATE",
    "region=süd/.c00a2f01-f7dd-4837-aaaf-4bfd992438fd-0_20261121115926530.log.2_1-634-621.marker.APPEND",
    "4aefd6a0-db47-4e24-a720-d295dfac7707-0_2-351-375_20261121115958161.parquet.marker.MERGE",
)
NAMES = st.builds(MarkerName, st.from_regex("[.a-z0-9_-]{1,9}", fullmatch=True), st.sampled_from(["CREATE", "MERGE"]))
MARKERS = st.builds(Marker, st.from_regex("(a|b=c|2024/01)?", fullmatch=True), NAMES)


@pytest.mark.parametrize("path", REAL)
def test_markers_of_real_tables_round_trip(path: str):
    assert str(parse_marker_path(path, "f")) == path


@given(st.lists(MARKERS, max_size=4))
def test_a_list_of_markers_round_trips(markers: list[Marker]):
    assert list(parse_markers(serialise_markers(markers), "f")) == markers


@pytest.mark.parametrize("kind", MARKER_TYPES)
def test_both_ways_of_keeping_markers_are_known(kind: str):
    assert parse_marker_type(kind.encode(), "f") == kind


def test_files_of_markers_are_numbered():
    assert [batch_number(name) for name in ("MARKERS0", "MARKERS12", "MARKERS.type", "MARKERSx")] == [0, 12, None, None]


def test_a_heartbeat_is_an_instant():
    assert [heartbeat_instant(name) for name in ("20250101000000000", ".20250101000000000.crc")] == [
        "20250101000000000",
        None,
    ]


@pytest.mark.parametrize("path", ["../x.parquet.marker.CREATE", "/x.parquet.marker.CREATE", "a/../../x.marker.MERGE"])
def test_a_marker_outside_its_folder_is_refused(path: str):
    with pytest.raises(FormatError) as caught:
        parse_markers(path.encode(), "f")
    assert caught.value.reason == Reason.PATH_ESCAPES_TABLE


@pytest.mark.parametrize("data", [b"", b"DIRECTLY", b"\xff"])
def test_an_unknown_kind_is_refused(data: bytes):
    with pytest.raises(FormatError):
        parse_marker_type(data, "f")


@given(damaged("\n".join(REAL).encode()))
def test_damaged_lists_give_markers_or_one_error(data: bytes):
    try:
        found = parse_markers(data, "f")
    except FormatError:
        return
    assert all(isinstance(marker, Marker) for marker in found)
