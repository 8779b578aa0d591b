from dataclasses import replace

import pytest
from hudi_model.blocks import effective_blocks, place_log_compacted, without_rolled_back
from hudi_model.files import CorruptBlock, DataBlock, FileSlice, RollbackBlock
from hudi_model.queries import warnings_of
from hudi_model.rejection import Reason, Rejection
from hudi_model.time import InstantTime
from hypothesis import given
from hypothesis import strategies as st
from model_states import at, damaged, data, deletes, log

BLOCKS = st.lists(
    st.builds(data, st.integers(1, 4))
    | st.builds(lambda one, target: RollbackBlock(at(one), at(target)), st.integers(5, 9), st.integers(1, 4))
    | st.builds(CorruptBlock, st.integers(0, 9), st.integers(1, 9)),
    max_size=12,
)


def always(_: InstantTime) -> bool:
    return True


def numbers(blocks: object) -> list[InstantTime]:
    return [block.instant for block in blocks]  # type: ignore[attr-defined]


@given(BLOCKS)
def test_a_rollback_drops_what_its_target_wrote_before_it_and_nothing_after(blocks: list[object]) -> None:
    kept = without_rolled_back(blocks)  # type: ignore[arg-type]
    for place, block in enumerate(blocks):
        if isinstance(block, DataBlock):
            later = [one for one in blocks[place:] if isinstance(one, RollbackBlock) and one.target == block.instant]
            assert any(one is block for one in kept) is not bool(later)


def test_a_rollback_reaches_over_other_instants_and_files() -> None:
    logs = (log(1, data(1)), log(2, data(2)), log(3, RollbackBlock(at(3), at(1))))
    assert numbers(effective_blocks(logs, always)) == [at(2)]


def test_a_rollback_works_though_its_own_instant_is_not_visible() -> None:
    logs = (log(1, data(1), data(2)), log(1, RollbackBlock(at(9), at(1)), version=2))
    assert numbers(effective_blocks(logs, lambda instant: instant < at(5))) == [at(2)]


def test_a_torn_block_between_data_and_rollback_does_not_stand_for_the_data() -> None:
    logs = (log(1, data(1), CorruptBlock(5, 5), RollbackBlock(at(3), at(1)), data(2)),)
    assert numbers(effective_blocks(logs, always)) == [at(2)]


def test_blocks_of_instants_that_do_not_count_are_ignored() -> None:
    logs = (log(1, data(1), data(2), deletes(3)),)
    assert numbers(effective_blocks(logs, lambda instant: instant != at(2))) == [at(1), at(3)]


def test_an_empty_log_does_not_end_the_slice() -> None:
    assert numbers(effective_blocks((log(1), log(2, data(2))), always)) == [at(2)]


def test_a_log_compacted_block_stands_in_the_place_of_the_newest_it_replaces() -> None:
    blocks = (data(1), data(2), data(3), data(4, compacted=(2, 1)))
    assert numbers(place_log_compacted(blocks)) == [at(4), at(3)]


def test_nested_log_compactions_resolve_to_the_outermost() -> None:
    blocks = (data(1), data(2), data(3, compacted=(2, 1)), data(4), data(5, compacted=(4, 3)), data(6))
    assert numbers(place_log_compacted(blocks)) == [at(5), at(6)]


def test_what_came_between_a_log_compaction_and_its_sources_stays_behind_who_compacts_it_again() -> None:
    """Its rows are newer than those that were compacted, however often."""
    blocks = (data(1), data(2), data(3), data(4, compacted=(2, 1)), data(5), data(6, compacted=(4,)))
    assert numbers(place_log_compacted(blocks)) == [at(6), at(3), at(5)]


def test_a_log_compacted_block_without_its_sources_keeps_its_own_place() -> None:
    assert numbers(place_log_compacted((data(3), data(4, compacted=(2, 1)), data(5)))) == [at(3), at(4), at(5)]


def test_an_uncommitted_log_compaction_leaves_its_sources_alone() -> None:
    logs = (log(1, data(1)), log(2, data(2)), log(4, data(4, compacted=(2, 1))))
    assert numbers(effective_blocks(logs, lambda instant: instant != at(4))) == [at(1), at(2)]


@given(st.lists(st.builds(data, st.integers(1, 4)), max_size=8))
def test_without_log_compaction_blocks_stay_as_they_stand(blocks: list[DataBlock]) -> None:
    assert place_log_compacted(tuple(blocks)) == tuple(blocks)


@given(BLOCKS)
def test_every_corrupt_block_is_reported(blocks: list[object]) -> None:
    found = replace(log(1), blocks=tuple(blocks))
    warned = warnings_of(FileSlice(found.partition, found.file_id, at(1), None, (found,)))
    assert [one.offset for one in warned] == [block.offset for block in blocks if isinstance(block, CorruptBlock)]


def test_a_log_that_cannot_be_walked_is_refused() -> None:
    broken = replace(log(1), blocks=damaged(Reason.LOG_CONTENT_CORRUPT, "LF-014"))
    with pytest.raises(Rejection) as caught:
        effective_blocks((broken,), always)
    assert caught.value.reason is Reason.LOG_CONTENT_CORRUPT
