"""Which blocks of a slice's logs count, and where a block stands that replaces others."""

from collections.abc import Sequence
from pathlib import Path

from engine_tables import TableBuilder, row, tick
from hudi_format.log.blocks import HeaderKey
from hudi_format.log.content import rollback_block
from hudi_format.storage import LocalStorage
from hudi_spark.table_state import Visibility, scan_logs


def block(builder: TableBuilder, at: int, replaces: Sequence[int] = ()) -> bytes:
    """A block of an instant; where it is of a log compaction, of those it replaces, newest first."""
    times = {HeaderKey.COMPACTED_BLOCK_TIMES: ",".join(map(tick, replaces))} if replaces else {}
    return builder.data(at, [row("a", at)], times)


def scanned(path: Path, *blocks: bytes, unseen: Sequence[int] = ()) -> list[int]:
    """The instants of the blocks that count, in merge order; each block in a log of its own."""
    storage = LocalStorage(path)
    names = [f"log{number:02d}" for number in range(len(blocks))]
    for name, data in zip(names, blocks, strict=True):
        (path / name).write_bytes(data)
    every = frozenset(tick(number) for number in range(100)) - frozenset(map(tick, unseen))
    seen = Visibility(every, frozenset(tick(number) for number in range(100)), tick(0))
    return [int(one.instant) - int(tick(0)) for one in scan_logs(storage, names, seen).blocks]


def test_a_log_compacted_block_stands_where_the_newest_stood_that_it_replaces(tmp_path: Path):
    """What was written after that stays after it."""
    one = TableBuilder(tmp_path)
    plain = [block(one, at) for at in (1, 2, 3)]
    assert scanned(tmp_path, *plain) == [1, 2, 3]
    assert scanned(tmp_path, *plain, block(one, 4, (2, 1))) == [4, 3]
    assert scanned(tmp_path, *plain, block(one, 4, (1,))) == [4, 2, 3]
    assert scanned(tmp_path, *plain, block(one, 4, (3, 2))) == [1, 4]


def test_the_outermost_of_nested_log_compactions_counts(tmp_path: Path):
    one = TableBuilder(tmp_path)
    plain = [block(one, 1), block(one, 2), block(one, 3, (2, 1)), block(one, 4), block(one, 5)]
    assert scanned(tmp_path, *plain, block(one, 6, (3,))) == [6, 4, 5]
    assert scanned(tmp_path, *plain, block(one, 6, (4, 3))) == [6, 5]
    assert scanned(tmp_path, *plain, block(one, 6, (4, 3)), block(one, 7), block(one, 8, (6, 5))) == [8, 7]


def test_what_came_between_a_log_compaction_and_its_sources_stays_behind_who_compacts_it_again(tmp_path: Path):
    """Its rows are newer than those that were compacted, however often."""
    one = TableBuilder(tmp_path)
    blocks = [block(one, 1), block(one, 2), block(one, 3), block(one, 4, (2, 1)), block(one, 5)]
    assert scanned(tmp_path, *blocks, block(one, 6, (4,))) == [6, 3, 5]


def test_a_block_may_name_itself_among_those_that_it_replaces(tmp_path: Path):
    """Then it stands for the others all the same."""
    one = TableBuilder(tmp_path)
    assert scanned(tmp_path, block(one, 1), block(one, 2), block(one, 4, (4, 1))) == [4, 2]
    assert scanned(tmp_path, block(one, 1), block(one, 2, (1,)), block(one, 4, (4,))) == [2, 4]


def test_log_compactions_that_replace_each_other_end(tmp_path: Path):
    one = TableBuilder(tmp_path)
    assert len(scanned(tmp_path, block(one, 1), block(one, 3, (4,)), block(one, 4, (3,)))) >= 1


def test_a_log_compacted_block_whose_sources_are_gone_stands_at_its_own_place(tmp_path: Path):
    one = TableBuilder(tmp_path)
    blocks = block(one, 1), block(one, 2), block(one, 5, (4, 3)), block(one, 6)
    assert scanned(tmp_path, *blocks) == [1, 2, 5, 6]


def test_all_blocks_of_a_log_compaction_go_together(tmp_path: Path):
    """In their order, with blanks in the list that they name."""
    one = TableBuilder(tmp_path)
    spaced = {HeaderKey.COMPACTED_BLOCK_TIMES: f" {tick(1)} ,, "}
    parts = [one.data(4, [row(key, 4)], spaced) for key in "xy"]
    assert scanned(tmp_path, block(one, 1), block(one, 2), *parts) == [4, 4, 2]


def test_a_rollback_takes_what_precedes_it(tmp_path: Path):
    """The instant may be used again; blocks of others stay, and so does what the query does not see."""
    one = TableBuilder(tmp_path)
    undo = rollback_block(tick(9), tick(2))
    assert scanned(tmp_path, block(one, 1), block(one, 2), undo, block(one, 3)) == [1, 3]
    assert scanned(tmp_path, block(one, 2), undo, block(one, 2)) == [2]
    assert scanned(tmp_path, block(one, 1), block(one, 2), unseen=(1,)) == [2]
