"""Tagging against what a dictionary of the table's keys says, for tables and rows of any kind."""

from collections.abc import Mapping
from typing import Any

import pytest
from engine_tables import TableBuilder, row
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tagging_tables import KEY, PATH, incoming, state_of, tags
from test_tagging_global import moving, with_record_index

# Characters whose order differs between UTF-8 and Java, the separator of hashed keys, quotes of paths.
TEXTS = st.text(st.sampled_from("aby,:é中\U0001f600￮\x1f"), min_size=1, max_size=3)
PATHS = st.sampled_from(["north", "south", "west"])
# Keys by their place: a partition path and one of two groups in it.
TABLES = st.dictionaries(TEXTS, st.tuples(PATHS, st.integers(0, 1)), max_size=14)
ROWS = st.dictionaries(TEXTS, PATHS, max_size=10)


def group(path: str, number: int) -> str:
    return f"{['north', 'south', 'west'].index(path)}{number}000000-0000-4000-8000-000000000000-0"


def made(folder: Any, table: Mapping[str, tuple[str, int]]) -> TableBuilder:
    builder = TableBuilder(folder, table_type="COPY_ON_WRITE")
    by_group: dict[tuple[str, int], list[Any]] = {}
    for key, place in table.items():
        by_group.setdefault(place, []).append(row(key, 10, region=place[0]))
    stats = [builder.base_file(1, rows, group=group(*place), partition=place[0]) for place, rows in by_group.items()]
    builder.commit(1, stats, action="commit")
    return builder


def expected(key: str, path: str, table: Mapping[str, tuple[str, int]], *, anywhere: bool) -> tuple[str, str | None]:
    """Partition path and file group of a row that does not move."""
    place = table.get(key)
    if place is None or (place[0] != path and not anywhere):
        return path, None
    return place[0], group(*place)


@pytest.mark.parametrize(
    ("index", "options"),
    [
        ("SIMPLE", {}),
        ("BLOOM", {}),
        ("BLOOM", {"hoodie__bloom__index__prune__by__ranges": "false"}),
        ("GLOBAL_SIMPLE", moving("GLOBAL_SIMPLE", moves=False)),
        ("GLOBAL_BLOOM", moving("GLOBAL_BLOOM", moves=False)),
        ("RECORD_INDEX", {}),
    ],
)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(table=TABLES, rows=ROWS)
def test_each_row_goes_where_its_key_is(
    index: str,
    options: dict[str, str],
    table: Mapping[str, tuple[str, int]],
    rows: Mapping[str, str],
    tmp_path_factory: Any,
):
    folder = tmp_path_factory.mktemp("table")
    builder = made(folder, table)
    if index == "RECORD_INDEX":
        with_record_index(builder, {key: (place[0], group(*place)) for key, place in table.items()})
    state = state_of(folder, index, **options)
    rows_in = incoming(state, [(key, path, row(key, 11, region=path)) for key, path in rows.items()])
    found = tags(rows_in, state).sort_by(KEY).select([KEY, PATH, "_tag_file_id"]).to_pylist()
    anywhere = index not in ("SIMPLE", "BLOOM")
    wanted = {key: expected(key, path, table, anywhere=anywhere) for key, path in rows.items()}
    assert {one[KEY]: (one[PATH], one["_tag_file_id"]) for one in found} == wanted
    assert len(found) == len(rows)


@pytest.mark.parametrize("index", ["GLOBAL_SIMPLE", "GLOBAL_BLOOM", "RECORD_INDEX"])
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(table=TABLES, rows=st.dictionaries(TEXTS, st.tuples(PATHS, st.integers(9, 11)), max_size=10))
def test_a_key_is_in_one_partition_afterwards(
    index: str,
    table: Mapping[str, tuple[str, int]],
    rows: Mapping[str, tuple[str, int]],
    tmp_path_factory: Any,
):
    """Each key has one line that is no removal, or none where it loses; removals name the group that holds the key."""
    folder = tmp_path_factory.mktemp("table")
    builder = made(folder, table)
    if index == "RECORD_INDEX":
        with_record_index(builder, {key: (place[0], group(*place)) for key, place in table.items()})
    state = state_of(folder, index, **moving(index, moves=True))
    rows_in = incoming(state, [(key, path, row(key, ts, region=path)) for key, (path, ts) in rows.items()])
    lines = tags(rows_in, state).select([KEY, PATH, "_tag_file_id", "_tag_moved"]).to_pylist()
    for key, (path, ts) in rows.items():
        place = table.get(key)
        own = [tuple(line.values())[1:] for line in lines if line[KEY] == key]
        if place is None:
            assert own == [(path, None, False)]
        elif place[0] == path:
            assert own == [(path, group(*place), False)]
        elif ts < 10:
            assert own == []
        else:
            assert sorted(own, key=str) == sorted([(place[0], group(*place), True), (path, None, False)], key=str)
