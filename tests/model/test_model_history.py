from dataclasses import replace

import pytest
from hudi_model.actions import Action, CommitMetadata, CompactionPlan, Content, State
from hudi_model.conflicts import may_complete
from hudi_model.effects import AppendArchivedLog, DeleteHistoryFile, PutHistoryFile, PutManifest, SwapVersion, perform
from hudi_model.files import Damaged
from hudi_model.history import (
    current_files,
    current_manifest,
    full_timeline,
    history_file,
    history_instants,
    with_history,
)
from hudi_model.queries import list_timeline
from hudi_model.rejection import Reason, Rejection
from hudi_model.tables import ArchivedInstant, History, HistoryFile, Manifest
from hudi_model.timeline import timeline_of
from hypothesis import given
from hypothesis import strategies as st
from model_states import at, commit, failed, properties, table


def row(number: int, action: str = "commit", plan: Content = None) -> ArchivedInstant:
    return ArchivedInstant(at(number), at(number + 0.5), Action(action), CommitMetadata(), plan)


def history(*files: HistoryFile, current: int | None = 1) -> History:
    return History(files, (Manifest(1, tuple(one.name for one in files)),), current)


NUMBERS = st.lists(st.integers(0, 99), min_size=1, max_size=12, unique=True)


@given(st.lists(NUMBERS, max_size=5))
def test_the_history_is_the_union_of_the_current_files_by_requested_time(chunks: list[list[int]]) -> None:
    """Whatever files hold them and however often, each action is listed once and in order."""
    files = {one.name: one for one in (history_file(map(row, chunk), 0) for chunk in chunks)}
    found = history_instants(history(*files.values()))
    expected = sorted({one.requested for file in files.values() for one in file.instants})
    assert [one.requested for one in found] == expected


@given(NUMBERS, st.integers(0, 9))
def test_a_file_is_named_by_its_least_and_greatest_requested_time(numbers: list[int], level: int) -> None:
    """A reader may pass over files by their names."""
    file = history_file(map(row, numbers), level)
    assert file.name == f"{at(min(numbers))}_{at(max(numbers))}_{level}.parquet"
    assert [one.requested for one in file.instants] == [at(number) for number in sorted(numbers)]


def test_a_table_that_never_archived_has_an_empty_history() -> None:
    """An absent folder is no error: apache/hudi#11271."""
    assert history_instants(History()) == ()
    assert current_manifest(History()) == Manifest(0, ())


def test_files_that_the_current_manifest_does_not_name_do_not_count() -> None:
    """A crash leaves files behind, and old versions stay for a while."""
    known, stray = history_file([row(1)], 0), history_file([row(2)], 0)
    found = History((known, stray), (Manifest(1, (known.name,)), Manifest(2, (stray.name,))), 1)
    assert current_files(found) == (known,)


def test_without_a_version_file_the_newest_manifest_is_current() -> None:
    """Released writers delete the version file and create it anew."""
    one, two = history_file([row(1)], 0), history_file([row(2)], 0)
    found = History((one, two), (Manifest(9, (one.name,)), Manifest(10, (one.name, two.name))), None)
    assert [each.requested for each in history_instants(found)] == [at(1), at(2)]


@pytest.mark.parametrize(
    ("found", "where"),
    [
        (History((), (), 3), "manifest_3"),
        (History((), (Manifest(1, ("1_2_0.parquet",)),), 1), "1_2_0.parquet"),
    ],
)
def test_a_history_that_lacks_what_it_names_is_refused(found: History, where: str) -> None:
    """Its actions would be lost in silence."""
    with pytest.raises(Rejection) as caught:
        history_instants(found)
    assert (caught.value.reason, caught.value.where) == (Reason.TIMELINE_FILE_CORRUPT, where)


def test_a_damaged_archived_log_is_refused_and_a_damaged_stray_file_is_not() -> None:
    """Before version 8 every file of the folder is part of the log."""
    broken = (Damaged(Reason.TIMELINE_FILE_CORRUPT, "TL-032", "log", "torn", 0),)
    assert history_instants(History(unreadable=broken)) == ()
    with pytest.raises(Rejection):
        history_instants(History(unreadable=broken), 1)


def test_of_two_rows_of_one_action_the_one_with_its_plan_stands() -> None:
    """An interrupted archival of a release writes actions again whose plans are gone."""
    plan = CompactionPlan(())
    for rows in ([row(1), row(1, plan=plan)], [row(1, plan=plan), row(1)]):
        files = [HistoryFile(f"{number}_0_0.parquet", 0, (one,)) for number, one in enumerate(rows)]
        assert [one.plan for one in history_instants(history(*files))] == [plan]


def test_before_version_8_the_log_is_the_history() -> None:
    """Each action counts once, however often it was appended."""
    found = History(archived_log=(row(2), row(1), row(2)))
    assert [one.requested for one in history_instants(found, 1)] == [at(1), at(2)]
    assert history_instants(found, 2) == ()


def test_the_whole_timeline_lists_active_and_archived_actions_once() -> None:
    """An action in both is one completed action, as while archival is under way."""
    here = replace(table([commit(2), commit(3), failed(4)]), history=history(history_file([row(1), row(2)], 0)))
    found = full_timeline(here)
    assert [one.requested for one in found] == [at(1), at(2), at(3), at(4)]
    assert [one.state for one in found] == [State.COMPLETED] * 3 + [State.INFLIGHT]
    assert len(list_timeline(here)) == 3
    assert [one["requested"] for one in list_timeline(here, include_history=True)] == [at(1), at(2), at(3), at(4)]


def test_an_archived_action_is_completed_whatever_is_left_on_the_active_timeline() -> None:
    """A release that dies may leave an inflight file of an action that it has archived."""
    found = with_history(full_timeline(table([failed(1)])), [row(1, "deltacommit")])
    assert [one.state for one in found] == [State.COMPLETED]


def test_the_effects_of_a_history() -> None:
    """Each is one file that appears or disappears."""
    file = history_file([row(1)], 0)
    put = (PutHistoryFile(file), PutManifest(Manifest(1, (file.name,))), SwapVersion(1))
    done = perform(table([]), (*put, *put))
    assert done.history == History((file,), (Manifest(1, (file.name,)),), 1)
    gone = perform(done, (DeleteHistoryFile("manifest_1"), DeleteHistoryFile(file.name), DeleteHistoryFile("nothing")))
    assert gone.history == History(current=1)
    grown = perform(table([], settings=properties(6)), (AppendArchivedLog((row(1),)), AppendArchivedLog((row(2),))))
    assert grown.history.archived_log == (row(1), row(2))


def test_an_action_may_complete_only_while_it_is_inflight() -> None:
    """Another process may have completed it, handed it back or rolled it back."""
    inflight = failed(1)
    assert may_complete(timeline_of(inflight), at(1))
    assert not may_complete(timeline_of(inflight[:1]), at(1))
    assert not may_complete(timeline_of(()), at(1))
    assert not may_complete(timeline_of(commit(1)), at(1))
