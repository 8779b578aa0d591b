"""The picture of file slices holds every file once, in merge order, and marks those that an answer is made of."""

import re
from html import unescape
from pathlib import Path

import pytest
from hudi_conformance.bridge import load
from hudi_conformance.bridge.operations import evaluate
from hudi_conformance.report.file_layout import (
    BASE,
    CHANGES,
    LOG,
    DrawnFile,
    DrawnGroup,
    DrawnSlice,
    files_read,
    layout_of,
)
from hudi_conformance.report.slices_drawing import WIDTH, description, slices_svg
from hudi_conformance.runner.archive import unpacked
from hudi_conformance.runner.cases import load_tables
from hudi_conformance.runner.resources import suite_root
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

instants = st.sampled_from(["20250101000001000", "20250102000002000", "001", "odd <instant>"])
files = st.builds(DrawnFile, st.uuids().map(str), st.text(max_size=8), st.sampled_from([BASE, LOG, CHANGES]), instants)
slices = st.builds(DrawnSlice, instants, st.lists(files, min_size=1, max_size=4).map(tuple))
patiently = settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
groups = st.lists(
    st.builds(
        DrawnGroup,
        st.sampled_from(["", "day=1", "day=2"]),
        st.text(max_size=40),
        st.lists(slices, max_size=5).map(tuple),
        st.lists(files, max_size=2).map(tuple),
        st.booleans(),
    ),
    max_size=5,
).map(lambda found: tuple(sorted(found, key=lambda one: one.partition)))
TABLES = {table.id: table for table in load_tables(suite_root())}


def paths(picture: str) -> list[str]:
    """The paths of drawn files, in the order of the picture."""
    return [unescape(path) for path in re.findall(r'data-path="([^"]*)"', picture)]


def all_files(drawn: tuple[DrawnGroup, ...]) -> list[str]:
    """The paths of files, group by group and slice by slice."""
    return [
        file.path for group in drawn for file in (*(one for found in group.slices for one in found.files), *group.loose)
    ]


@patiently
@given(groups)
def test_every_file_stands_once_in_merge_order(drawn: tuple[DrawnGroup, ...]):
    assert paths(slices_svg(drawn, frozenset())) == all_files(drawn)


@patiently
@given(groups, st.data())
def test_what_the_answer_is_made_of_is_marked(drawn: tuple[DrawnGroup, ...], data: st.DataObject):
    known = all_files(drawn)
    read = frozenset(data.draw(st.lists(st.sampled_from(known)))) if known else frozenset[str]()
    picture = slices_svg(drawn, read)
    marked = re.findall(r'class="file \w+ read(?: stray)?" data-path="([^"]*)"', picture)

    assert {unescape(path) for path in marked} == read
    assert f"comes from {len(read)} of them" in description(drawn, read) or not read


@patiently
@given(groups, st.integers(20, 80))
def test_every_file_lies_within_the_picture(drawn: tuple[DrawnGroup, ...], count: int):
    many = tuple(DrawnFile(f"{place}", "", LOG, "20250101000001000") for place in range(count))
    picture = slices_svg((*drawn, DrawnGroup("z", "long", (DrawnSlice("1", many),))), frozenset())
    boxes = re.findall(r'<rect x="([0-9.]+)" y="[0-9.]+" width="([0-9.]+)"', picture)

    assert all(float(x) + float(width) <= WIDTH for x, width in boxes)


@pytest.fixture(params=["v9/mor_pending_compaction", "v6/mor_pending_compaction", "v9/apache_cow_failed_write"])
def table(request: pytest.FixtureRequest) -> Path:
    return unpacked(TABLES[request.param].folder)


def test_a_snapshot_is_made_of_the_files_of_the_slices_that_the_model_lists(table: Path):
    state = load(table)
    listed = {
        "/".join(filter(None, (one["partition"], name)))
        for one in evaluate(state, "list_file_slices", {}).content
        for name in (one["base_file"], *one["log_files"])
        if name
    }

    assert files_read(state, "read_snapshot", {}) == listed
    assert listed <= set(all_files(layout_of(state)))


def test_every_data_file_of_a_table_is_drawn(table: Path):
    state = load(table)

    assert len(all_files(layout_of(state))) == len(state.base_files) + len(state.log_files)


def test_a_refused_question_reads_nothing(table: Path):
    assert files_read(load(table), "read_as_of", {"instant": "no time"}) == frozenset()
