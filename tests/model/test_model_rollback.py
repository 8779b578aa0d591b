"""Rollback: which writes have failed, what is removed for them, and how an attempt goes on that stopped."""

from dataclasses import replace

import pytest
from hudi_model.actions import Action, RollbackMetadata, RollbackPlan, State
from hudi_model.blocks import effective_blocks
from hudi_model.effects import CreateInstant, DeleteDataFile, DeleteInstant, perform
from hudi_model.files import Marker, RollbackBlock
from hudi_model.queries import read_snapshot
from hudi_model.rejection import Reason, Rejection
from hudi_model.services.rollback import (
    execute,
    failed_writes,
    has_plan,
    is_expired,
    pending_rollback,
    plan_for,
    roll_back,
    schedule,
)
from hudi_model.tables import Table
from hypothesis import given
from hypothesis import strategies as st
from model_states import at, base, commit, data, entry, failed, log, pending_compaction, properties, rows, table

EAGER = {"hoodie.clean.failed.writes.policy": "EAGER"}
ONE, TWO = ("a", 1, "one"), ("a", 2, "two")


def died(version: int = 9) -> Table:
    """A row, and an update of it in a log whose write died."""
    block = data(2, TWO)
    left = log(1, block, version=1) if version < 8 else log(2, block)
    first = base(1, ONE)
    settings = properties(version)
    return table([commit(1, first, version=version), failed(2)], [first, left], settings)


def test_a_single_writer_takes_every_pending_write_for_failed_and_the_newest_first() -> None:
    """Services are not among them."""
    found = table([commit(1), failed(2), pending_compaction(3), failed(4, "replacecommit")], settings=properties())
    assert failed_writes(found, at(9), EAGER) == (at(4), at(2))
    assert failed_writes(found, at(9), {"hoodie.clean.failed.writes.policy": "NEVER"}) == ()


@given(st.integers(1, 100_000), st.integers(0, 5), st.integers(0, 1_000_000))
def test_a_write_is_failed_when_it_missed_more_heartbeats_than_tolerated(
    interval: int, misses: int, passed: int
) -> None:
    """The last beat counts; without any a write has failed."""
    settings = {
        "hoodie.client.heartbeat.interval_in_ms": str(interval),
        "hoodie.client.heartbeat.tolerable.misses": str(misses),
    }
    found = Table(properties(), None, (), (), (), heartbeats=frozenset({(at(1), at(2))}))
    assert is_expired(found, at(1), at(2 + passed / 1000), settings) == (passed > interval * misses)
    assert is_expired(found, at(3), at(3), settings)


@pytest.mark.parametrize("version", [6, 8, 9])
def test_the_rows_are_those_from_before_the_write(version: int) -> None:
    """Version 6 adds a command to the slice, later versions delete the log."""
    left = died(version)
    after = perform(left, roll_back(left, at(2), at(3), at(4), {}))
    assert rows(read_snapshot(after)) == [ONE]
    commands = [one for log in after.log_files for one in log.blocks if isinstance(one, RollbackBlock)]
    assert commands == ([RollbackBlock(at(3), at(2))] if version == 6 else [])
    assert len(after.log_files) == (2 if version == 6 else 0)


@pytest.mark.parametrize("version", [6, 9])
def test_carried_out_twice_a_rollback_adds_no_second_command(version: int) -> None:
    """A retry finds what the first attempt has done, and once completed there is nothing left to do."""
    left = died(version)
    left = perform(left, schedule(left, at(3), {}, at(2)))
    effects = execute(left, at(3), at(4))
    once = perform(left, effects[:3])
    twice = perform(once, execute(once, at(3), at(4)))
    assert len(twice.log_files) == (2 if version == 6 else 0)
    assert execute(twice, at(3), at(5)) == ()


def test_a_retry_takes_up_the_pending_rollback_also_when_the_write_is_gone() -> None:
    """Apache Hudi's issue HUDI-6304: a rollback that died after the write's entries had gone could not be ended."""
    left = died()
    effects = roll_back(left, at(2), at(3), at(4), {})
    last = max(number for number, one in enumerate(effects) if isinstance(one, DeleteInstant))
    stopped = perform(left, effects[: last + 1])
    assert pending_rollback(stopped, at(2)) == at(3)
    assert schedule(stopped, at(5), {}, at(2)) == ()
    after = perform(stopped, roll_back(stopped, at(2), at(5), at(6), {}))
    found = {one.requested: one.state for one in after.timeline if one.action is Action.ROLLBACK}
    assert found == {at(3): State.COMPLETED}


def test_files_go_before_the_entries_and_the_entries_before_the_completion() -> None:
    """At no moment does a file count because its write is unknown."""
    kinds = [type(one) for one in roll_back(died(), at(2), at(3), at(4), {})]
    completed = max(number for number, kind in enumerate(kinds) if kind is CreateInstant)
    assert kinds.index(DeleteDataFile) < kinds.index(DeleteInstant) < completed


def test_the_completed_rollback_names_the_write_and_the_files() -> None:
    """Who meets a path of the write later knows why it is not there."""
    left = died()
    after = perform(left, roll_back(left, at(2), at(3), at(4), {}))
    done = next(one.content for one in after.timeline if one.action is Action.ROLLBACK and one.state is State.COMPLETED)
    assert done == RollbackMetadata((at(2),), frozenset((one.partition, one.name) for one in left.log_files))


@pytest.mark.parametrize("by_markers", [True, False])
def test_markers_of_files_that_were_never_written_remove_nothing(by_markers: bool) -> None:
    """Nor do they spare a file that was."""
    left = died()
    markers = {Marker(at(2), one.partition, one.name, "CREATE") for one in left.log_files}
    left = Table(
        left.properties,
        None,
        left.timeline,
        left.base_files,
        left.log_files,
        markers=frozenset({*markers, Marker(at(2), "day=9", "never.parquet", "CREATE")}),
    )
    plan = plan_for(left, at(2), by_markers=by_markers)
    assert plan == RollbackPlan(at(2), "deltacommit", frozenset((one.partition, one.name) for one in left.log_files))


def test_an_attempt_at_a_compaction_leaves_its_plan_and_the_logs_that_wait_for_it() -> None:
    """In version 6 logs after the plan bear its instant."""
    first, half, waiting = base(1, ONE), base(2, ONE), log(2, data(3, TWO))
    settings = properties(6)
    found = table(
        [commit(1, first, version=6), pending_compaction(2), commit(3, waiting, version=6)],
        [first, half, waiting],
        settings,
    )
    assert has_plan(found, at(2))
    after = perform(found, roll_back(found, at(2), at(4), at(5), {}))
    assert [one.state for one in after.timeline if one.requested == at(2)] == [State.REQUESTED]
    assert (after.base_files, after.log_files) == ((first,), (waiting,))
    assert rows(read_snapshot(after)) == rows(read_snapshot(found)) == [TWO]


def test_only_what_is_there_and_has_not_completed_is_rolled_back() -> None:
    """Completed writes are undone by a restore; an unknown instant is a mistake."""
    found = died()
    for instant, reason in ((at(1), Reason.CONFIG_INVALID), (at(7), Reason.INSTANT_NOT_FOUND)):
        with pytest.raises(Rejection) as refused:
            schedule(found, at(8), {}, instant)
        assert refused.value.reason is reason
    with pytest.raises(Rejection) as refused:
        execute(found, at(3), at(4))
    assert refused.value.reason is Reason.INSTANT_NOT_FOUND


def test_with_nothing_failed_there_is_nothing_to_plan() -> None:
    """A live write is left alone."""
    found = table([commit(1)], settings=properties())
    assert schedule(found, at(8), EAGER) == ()
    beating = Table(properties(), None, failed(2), (), (), heartbeats=frozenset({(at(2), at(7))}))
    assert schedule(beating, at(8), {}) == ()
    assert entry(8, "rollback", "REQUESTED").name in {one.entry.name for one in schedule(beating, at(8), EAGER)}


@pytest.mark.parametrize("version", [6, 9])
def test_the_metadata_table_drops_a_write_that_crashed_after_its_commit_there(version: int) -> None:
    """Its entries and its log go; what other writes committed there stays, and the rollback commits there itself."""
    left = died(version)
    kept, gone = base(1, ONE), log(1 if version < 8 else 2, data(2, TWO))
    known = table(
        [commit(1, kept, version=version), commit(2, gone, version=version)], [kept, gone], properties(version)
    )
    after = perform(replace(left, metadata=known), roll_back(replace(left, metadata=known), at(2), at(3), at(4), {}))
    assert after.metadata is not None
    assert {one.requested for one in after.metadata.timeline} == {at(1), at(3)}
    assert after.metadata.base_files == (kept,)
    assert effective_blocks(after.metadata.log_files, lambda _: True) == ()
    untouched = table([commit(1, kept, version=version)], [kept], properties(version))
    again = replace(left, metadata=untouched)
    after = perform(again, roll_back(again, at(2), at(3), at(4), {}))
    assert after.metadata is not None
    own = tuple(one for one in after.metadata.timeline if one.requested != at(3))
    assert replace(after.metadata, timeline=own) == untouched
