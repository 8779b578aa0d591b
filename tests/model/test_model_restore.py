"""Savepoints, and restores to them."""

from dataclasses import replace

import pytest
from hudi_model.actions import Action, CleanMetadata, CleanPlan, Content, RestorePlan, SavepointMetadata, State
from hudi_model.effects import DeleteInstant, perform
from hudi_model.queries import read_as_of, read_snapshot, with_reading
from hudi_model.rejection import Reason, Rejection
from hudi_model.services.savepoints import delete_savepoint, execute, instants_after, savepoint, schedule
from hudi_model.tables import RELEASED, Reading, Table, open_table
from hypothesis import given
from hypothesis import strategies as st
from model_states import (
    at,
    base,
    commit,
    completed_compaction,
    data,
    entry,
    failed,
    log,
    pending_compaction,
    properties,
    rows,
    table,
)

ONE, TWO, THREE = ("a", 1, "one"), ("a", 2, "two"), ("b", 3, "three")


def saved(version: int = 9) -> Table:
    """A row, an update of it that is saved, and another row after that."""
    first, second, third = base(1, ONE), log(1 if version < 8 else 2, data(2, TWO)), base(3, THREE, file_id="f2")
    writes = [commit(number, one, version=version) for number, one in ((1, first), (2, second), (3, third))]
    found = table(writes, [first, second, third], properties(version))
    return perform(found, savepoint(found, at(2), at(9)))


def reason(action: object, *arguments: object) -> Reason:
    with pytest.raises(Rejection) as refused:
        action(*arguments)  # type: ignore[operator]
    return refused.value.reason


@pytest.mark.parametrize("version", [6, 9])
def test_a_savepoint_names_the_files_that_a_snapshot_as_of_it_reads(version: int) -> None:
    """Not those of later writes."""
    found = saved(version)
    kept = next(one.content for one in found.timeline if one.action is Action.SAVEPOINT and one.content)
    expected = {(one.partition, one.name) for one in (*found.base_files[:1], *found.log_files)}
    assert kept == SavepointMetadata(frozenset(expected))


@pytest.mark.parametrize("version", [6, 9])
def test_a_savepoint_keeps_the_file_of_a_write_that_overlaps_the_saved_one(version: int) -> None:
    """From version 8 on a restore leaves what completed before the saved write, else what was requested before it."""
    first, second, third = base(1, ONE), base(2, TWO), base(3, THREE, file_id="f2")
    writes = [commit(1, first, version=version), commit(2, second, completed=7, version=version)]
    writes.append(commit(3, third, version=version))
    found = table(writes, [first, second, third], properties(version))
    overlapping = perform(found, savepoint(found, at(2), at(9)))
    kept = next(one.content for one in overlapping.timeline if one.action is Action.SAVEPOINT and one.content)
    assert isinstance(kept, SavepointMetadata)
    assert ((third.partition, third.name) in kept.files) is (version == 9)
    cleaned = replace(overlapping, base_files=(first, second))
    if version == 9:
        assert reason(schedule, cleaned, at(10), {}, at(2)) is Reason.BASE_FILE_MISSING
    else:
        assert schedule(cleaned, at(10), {}, at(2))


@pytest.mark.parametrize(
    "clean", [CleanMetadata(at(3), frozenset()), CleanPlan(at(3), frozenset())], ids=["completed", "pending"]
)
def test_what_may_have_been_cleaned_cannot_be_saved(clean: Content) -> None:
    """Nor what a pending clean may take (HUDI-5881); a write from the retained range can."""
    found = saved()
    state = "COMPLETED" if isinstance(clean, CleanMetadata) else "REQUESTED"
    cleaned = Table(
        found.properties, None, (*found.timeline, entry(5, "clean", state, 6, clean)), found.base_files, found.log_files
    )
    assert reason(savepoint, cleaned, at(1), at(10)) is Reason.RANGE_NOT_RETAINED
    assert savepoint(cleaned, at(3), at(10))


def test_only_completed_writes_are_saved_and_each_once() -> None:
    """A savepoint that stopped inflight is completed by the next."""
    found = saved()
    assert reason(savepoint, found, at(7), at(10)) is Reason.INSTANT_NOT_FOUND
    assert reason(savepoint, found, at(2), at(10)) is Reason.CONFIG_INVALID
    stopped = perform(found, savepoint(found, at(3), at(10))[:1])
    assert savepoint(stopped, at(3), at(11))


def test_a_savepoint_is_deleted_from_the_top() -> None:
    """An unknown one is a mistake."""
    found = saved()
    gone = delete_savepoint(found, at(2))
    states = {one.name: one.state for one in found.timeline}
    assert [states[one.name] for one in gone if isinstance(one, DeleteInstant)] == [State.COMPLETED, State.INFLIGHT]
    after = perform(found, gone)
    assert all(one.action is not Action.SAVEPOINT for one in after.timeline)
    assert reason(delete_savepoint, after, at(2)) is Reason.INSTANT_NOT_FOUND
    assert reason(schedule, after, at(12), {}, at(2)) is Reason.INSTANT_NOT_FOUND


@pytest.mark.parametrize("version", [6, 8, 9])
def test_a_restore_gives_the_saved_rows(version: int) -> None:
    """What came later is gone, files and entries."""
    found = saved(version)
    found = perform(found, schedule(found, at(12), {}, at(2)))
    after = perform(found, execute(found, at(12), at(13)))
    assert rows(read_snapshot(after)) == [TWO]
    assert not [one for one in (*after.base_files, *after.timeline) if at(3) in one.name]
    assert execute(after, at(12), at(14)) == ()


@given(st.integers(0, 20), st.sampled_from([6, 9]))
def test_a_restore_that_stopped_goes_on(cut: int, version: int) -> None:
    """After any of its effects."""
    found = saved(version)
    found = perform(found, schedule(found, at(12), {}, at(2)))
    stopped = perform(found, execute(found, at(12), at(13))[:cut])
    after = perform(stopped, execute(stopped, at(12), at(13)))
    assert rows(read_snapshot(after)) == [TWO]
    assert [one.state for one in open_table(after).timeline.instants if one.action is Action.RESTORE] == [
        State.COMPLETED
    ]


def test_a_write_that_completed_after_the_saved_one_is_undone_though_requested_before() -> None:
    """From version 8 on; before, the request decides."""
    slow, quick = base(1, ONE), base(2, THREE, file_id="f2")
    for version, undone in ((9, (at(1),)), (6, ())):
        writes = [commit(1, slow, completed=5, version=version), commit(2, quick, completed=3, version=version)]
        found = table(writes, [slow, quick], properties(version, "COPY_ON_WRITE"))
        assert instants_after(open_table(found), at(2)) == undone


def test_a_compaction_goes_by_its_request() -> None:
    """One that was requested before the saved write stays, whenever it completes, or none of it is left."""
    first, merged, update = base(1, ONE), base(2, ONE), log(3, data(3, TWO))
    before = [commit(1, first), completed_compaction(2, merged, 6), commit(3, update)]
    found = table(before, [first, merged, update], properties())
    assert instants_after(open_table(found), at(3)) == ()
    assert instants_after(open_table(found), at(1)) == (at(2), at(3)), "the youngest completion first"
    pending = table([commit(1, first), commit(3, update), pending_compaction(4)], [first, update], properties())
    assert instants_after(open_table(pending), at(3)) == (at(4),)


def test_logs_on_the_slice_of_an_undone_compaction_go_with_it() -> None:
    """Apache Hudi's issues 872 and 8774: in version 6 such logs bear the instant of a compaction that is no more."""
    first, waiting = base(1, ONE), log(3, data(4, TWO))
    writes = [commit(1, first, version=6), pending_compaction(3), commit(4, waiting, version=6), failed(5)]
    found = table(writes, [first, waiting], properties(6))
    found = perform(found, savepoint(found, at(1), at(9)))
    found = perform(found, schedule(found, at(12), {}, at(1)))
    plan = next(one.content for one in found.timeline if isinstance(one.content, RestorePlan))
    assert set(plan.instants[:2]) == {at(5), at(3)}, "pending actions are undone first"
    after = perform(found, execute(found, at(12), at(13)))
    assert (rows(read_snapshot(after)), after.log_files) == ([ONE], ())


def test_there_is_no_way_back_to_what_a_clean_took() -> None:
    """A release saves what a clean that counts versions has been at: the savepoint names what was left."""
    found, lost = saved(), saved().base_files[0]
    clean = CleanMetadata(None, frozenset({(lost.partition, lost.name)}))
    timeline = (*found.timeline, entry(8, Action.CLEAN, completed=8.5, content=clean))
    without = replace(found, base_files=found.base_files[1:])
    assert reason(schedule, replace(without, timeline=timeline), at(20), {}, at(2)) is Reason.RANGE_NOT_RETAINED
    assert reason(schedule, without, at(20), {}, at(2)) is Reason.BASE_FILE_MISSING


def test_a_later_savepoint_stands_in_the_way() -> None:
    """It is to be deleted first."""
    found = saved()
    found = perform(found, savepoint(found, at(3), at(10)))
    assert reason(schedule, found, at(12), {}, at(2)) is Reason.CONFIG_INVALID
    assert schedule(found, at(12), {}, at(3))


def test_time_travel_to_a_saved_instant_after_a_clean_has_two_readings() -> None:
    """The text answers it, the release refuses it as any other before the retained range."""
    found = saved()
    clean = entry(5, "clean", "COMPLETED", 6, CleanMetadata(at(3), frozenset()))
    found = Table(found.properties, None, (*found.timeline, clean), found.base_files, found.log_files)
    text = with_reading(RELEASED, "SR-008", Reading.TEXT)
    assert rows(read_as_of(found, at(2), text)) == [TWO]
    assert reason(read_as_of, found, at(2)) is Reason.RANGE_NOT_RETAINED
    assert reason(read_as_of, found, at(1), text) is Reason.RANGE_NOT_RETAINED


def test_a_restore_lets_go_of_the_metadata_table_before_it_undoes_anything() -> None:
    """No reader is sent to a table that knows files which are gone."""
    found = saved()
    named = {**properties(), "hoodie.table.metadata.partitions": "files"}
    found = replace(found, properties=named, metadata=Table(properties(), None, (), (), ()))
    found = perform(found, schedule(found, at(12), {}, at(2)))
    effects = execute(found, at(12), at(13))
    first = perform(found, effects[:3])
    assert (first.metadata, len(first.base_files)) == (None, len(found.base_files))
    assert isinstance(first.properties, dict)
    assert "hoodie.table.metadata.partitions" not in first.properties
    assert rows(read_snapshot(perform(found, effects))) == [TWO]
