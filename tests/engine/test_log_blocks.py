from pathlib import Path
from typing import Any

import pytest
from engine_tables import TableBuilder, row, tick
from hudi_format.errors import FormatError
from hudi_format.log.blocks import BlockType, HeaderKey, encode_block
from hudi_format.log.content import rollback_block
from hudi_format.storage import open_storage
from hudi_spark import HudiError
from hudi_spark.merge import is_partial
from hudi_spark.table_state import Visibility, scan_logs

ALL = Visibility(frozenset(tick(n) for n in range(100)), frozenset(), tick(0))


class Logs:
    """Log files of one slice, given as lists of blocks."""

    def __init__(self, path: Path) -> None:
        self.builder = TableBuilder(path, 6)
        self.storage = open_storage(path)
        self.files = []

    def add(self, *blocks: bytes):
        stat = self.builder.log_file(1, blocks, version=len(self.files) + 1)
        self.files.append(stat.path)
        return self

    def block(self, n: int, header: Any = None):
        return self.builder.data(n, [row(f"k{n}", n)], header)

    def compacted(self, n: int, *sources: int):
        return self.block(n, {HeaderKey.COMPACTED_BLOCK_TIMES: ",".join(tick(source) for source in sources)})

    def scan(self, visibility: Visibility = ALL):
        return scan_logs(self.storage, self.files, visibility)

    def instants(self, visibility: Visibility = ALL):
        return [int(one.instant[-3:]) for one in self.scan(visibility).blocks]


@pytest.fixture
def logs(tmp_path: Path):
    return Logs(tmp_path)


def rollback(n: int, target: int):
    return rollback_block(tick(n), tick(target))


def test_a_rollback_block_drops_every_earlier_block_of_its_target(logs: Any):
    """Not the block before it: other writers' blocks may stand between, in other files."""
    logs.add(logs.block(2)).add(logs.block(3), logs.block(2)).add(rollback(4, 2))
    assert logs.instants() == [3]


def test_a_rollback_block_spares_what_follows_it(logs: Any):
    logs.add(logs.block(2), rollback(4, 2), logs.block(2))
    assert logs.instants() == [2]


def test_a_rollback_counts_whatever_its_own_instant(logs: Any):
    """A query as of an earlier instant must not see the undone block again."""
    logs.add(logs.block(2), rollback(90, 2), logs.block(5))
    assert logs.instants(Visibility(frozenset({tick(2), tick(5)}), frozenset(), tick(0), tick(10))) == [5]


def test_blocks_of_uncommitted_instants_are_ignored(logs: Any):
    logs.add(logs.block(2), logs.block(3))
    assert logs.instants(Visibility(frozenset({tick(3)}), frozenset({tick(2), tick(3)}), tick(2))) == [3]


def test_empty_log_files_do_not_end_the_scan(logs: Any):
    logs.add(logs.block(2)).add().add(logs.block(3))
    assert logs.instants() == [2, 3]


def test_a_torn_block_is_skipped_and_reported(logs: Any):
    logs.add(logs.block(2), logs.block(3)[:-20], logs.block(4))
    scan = logs.scan()
    assert [one.instant for one in scan.blocks] == [tick(2), tick(4)]
    (skipped,) = scan.skipped
    assert (skipped.file, skipped.offset, skipped.clause) == (logs.files[0], len(logs.block(2)), "LF-010")


def test_a_torn_block_does_not_take_the_place_of_what_a_rollback_drops(logs: Any):
    logs.add(logs.block(1), logs.block(2), b"garbage").add(rollback(4, 2))
    assert logs.instants() == [1]


def test_damage_inside_an_intact_frame_is_an_error(logs: Any):
    header = {HeaderKey.INSTANT_TIME: tick(2)}
    logs.add(encode_block(BlockType.AVRO_DATA, header, b"", format_version=7))
    with pytest.raises(FormatError) as caught:
        logs.scan()
    assert caught.value.reason == "LOG_CONTENT_CORRUPT"


def test_a_block_without_instant_is_an_error(logs: Any):
    logs.add(encode_block(BlockType.AVRO_DATA, {}, b""))
    with pytest.raises(HudiError) as caught:
        logs.scan()
    assert (caught.value.reason, caught.value.file, caught.value.offset) == ("LOG_CONTENT_CORRUPT", logs.files[0], 0)


class TestLogCompaction:
    def test_compacted_blocks_stand_where_the_newest_source_stood(self, logs: Any):
        """Here a write that was not compacted came before the log compaction finished."""
        logs.add(logs.block(2), logs.block(3), logs.block(4), logs.compacted(9, 3, 2))
        assert logs.instants() == [9, 4]

    def test_nested_compactions_resolve_to_the_outermost(self, logs: Any):
        logs.add(logs.block(2), logs.block(3), logs.compacted(5, 3, 2), logs.block(6), logs.compacted(9, 6, 5, 3, 2))
        assert logs.instants() == [9]

    def test_compacted_blocks_whose_sources_are_gone_stay_in_place(self, logs: Any):
        logs.add(logs.block(1), logs.compacted(5, 3, 2), logs.block(6))
        assert logs.instants() == [1, 5, 6]

    def test_an_uncommitted_log_compaction_replaces_nothing(self, logs: Any):
        logs.add(logs.block(2), logs.block(3), logs.compacted(9, 3, 2))
        seen = frozenset({tick(2), tick(3)})
        assert logs.instants(Visibility(seen, seen | {tick(9)}, tick(0))) == [2, 3]

    def test_blocks_of_one_instant_keep_their_order(self, logs: Any):
        logs.add(logs.block(2), logs.block(2), logs.compacted(5, 1), logs.block(7), logs.block(7))
        assert logs.instants() == [2, 2, 5, 7, 7]


def test_a_block_says_whether_its_records_are_partial(logs: Any):
    logs.add(logs.block(2, {HeaderKey.IS_PARTIAL: "true"}), logs.block(3))
    assert [is_partial(one) for one in logs.scan().blocks] == [True, False]
