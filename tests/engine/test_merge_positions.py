"""Merging by the positions in log blocks: the answers of merging by keys, and only where every block has them."""

from pathlib import Path
from typing import Any

import pytest
from engine_tables import TableBuilder, avro, row, tick
from hudi_format.log.blocks import HeaderKey, read_blocks
from hudi_format.log.content import data_block
from hudi_format.log.deletes import DeleteRecord
from hudi_format.log.headers import record_positions_text
from hudi_format.schemas import arrow_schema
from hudi_spark import read_arrow
from hudi_spark.merge.keys import KeyRule
from hudi_spark.merge.log_records import decode_log_records
from hudi_spark.merge.rules import MergeRule
from hudi_spark.table_state.slicing import LocatedBlock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

BY_POSITIONS = {"hoodie.merge.use.record.positions": "true"}
BY_KEYS = {"hoodie.merge.use.record.positions": "false"}
KEYS = "abcdef"


def stated(*positions: int, base: int = 1) -> dict[HeaderKey, str]:
    """Header entries that name rows of the base file of an instant."""
    return {
        HeaderKey.RECORD_POSITIONS: record_positions_text(positions),
        HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS: tick(base),
    }


def table(path: Path, *blocks: bytes) -> TableBuilder:
    builder = TableBuilder(path)
    builder.commit(1, [builder.base_file(1, [row(key, 10, f"base {key}") for key in KEYS])])
    for number, block in enumerate(blocks, 1):
        builder.commit(10 * number, [builder.log_file(10 * number, [block])])
    return builder


def answers(path: Path, configs: dict[str, str], **params: Any) -> list[dict[str, Any]]:
    rows = read_arrow(path, configs=configs, **params).to_pylist()
    return sorted(rows, key=repr)


CHANGES = st.dictionaries(st.integers(0, 5), st.tuples(st.integers(8, 12), st.booleans()), min_size=1)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(writes=st.lists(CHANGES, min_size=1, max_size=3), columns=st.sampled_from([["note"], ["id", "ts"], ["price"]]))
def test_positions_and_keys_answer_the_same(tmp_path_factory: Any, writes: list[Any], columns: list[str]):
    """Also where the key column is neither asked for nor read."""
    path = tmp_path_factory.mktemp("table")
    builder = table(path)
    for number, changes in enumerate(writes, 1):
        at = 10 * number
        kept = {place: ts for place, (ts, gone) in changes.items() if not gone}
        gone = {place: ts for place, (ts, gone) in changes.items() if gone}
        rows = [row(KEYS[place], kept[place], f"log {number}") for place in sorted(kept)]
        deletes = [DeleteRecord(KEYS[place], "north", gone[place], "Long") for place in sorted(gone)]
        blocks = [builder.data(at, rows, stated(*kept))] if kept else []
        blocks += [builder.deletes(at, *deletes, header=stated(*gone))] if gone else []
        builder.commit(at, [builder.log_file(at, blocks)])
    assert answers(path, BY_POSITIONS, columns=columns) == answers(path, BY_KEYS, columns=columns)
    params = {"columns": columns, "filter": ["ts", ">", 9]}
    assert answers(path, BY_POSITIONS, **params) == answers(path, BY_KEYS, **params)


def test_wrong_positions_matter_only_where_positions_are_used(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    table(tmp_path, builder.data(10, [row("b", 20, "log")], stated(4)))
    notes = {one["id"]: one["note"] for one in answers(tmp_path, BY_KEYS)}
    assert notes == {**{key: f"base {key}" for key in KEYS}, "b": "log"}
    by_positions = [one["note"] for one in answers(tmp_path, BY_POSITIONS)]
    assert "base b" in by_positions
    assert "base e" not in by_positions


@pytest.mark.parametrize("header", [{}, stated(4, base=7), stated(99)], ids=["none", "of another base", "beyond it"])
def test_where_a_block_has_no_positions_in_the_base_file_keys_decide(tmp_path: Path, header: dict[HeaderKey, str]):
    """One such block is enough: a slice is merged either way, not both."""
    builder = TableBuilder(tmp_path)
    blocks = builder.data(10, [row("a", 20, "log")], stated(0)), builder.data(20, [row("b", 20, "log")], header)
    table(tmp_path, *blocks)
    assert answers(tmp_path, BY_POSITIONS) == answers(tmp_path, BY_KEYS)


@pytest.mark.parametrize(("base", "positions"), [(1, [4]), (7, None), (None, None)])
def test_positions_are_those_of_the_requested_base_file(base: int | None, positions: list[int] | None):
    """Those in another file, or where none are asked for, say nothing."""
    columns = (("_hoodie_record_key", ["null", "string"]),)
    data = data_block(tick(10), [{"_hoodie_record_key": "a"}], avro(columns), stated(4, base=1))
    blocks = [LocatedBlock("log", tick(10), block) for block in read_blocks(data, "log")]
    positions_in = None if base is None else tick(base)
    rule = MergeRule("COMMIT_TIME_ORDERING", ())
    found = decode_log_records(blocks, arrow_schema(avro(columns)), KeyRule(), rule, positions_in=positions_in)
    assert (found.positions and found.positions.to_pylist()) == positions


def test_blocks_of_different_sizes_are_merged_by_their_positions(tmp_path: Path):
    """The wrong position shows that it was taken: each block is held to its own number of records."""
    builder = TableBuilder(tmp_path)
    blocks = (
        builder.data(10, [row(key, 20, "log") for key in "ac"], stated(0, 2)),
        builder.data(20, [row("b", 20, "log")], stated(4)),
    )
    table(tmp_path, *blocks)
    notes = [one["note"] for one in answers(tmp_path, BY_POSITIONS)]
    assert sorted(notes) == ["base b", "base d", "base f", "log", "log", "log"]
