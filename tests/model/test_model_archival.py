from collections.abc import Iterable
from dataclasses import replace

import pytest
from hudi_model.actions import Action, RollbackMetadata, State, TimelineEntry
from hudi_model.effects import DeleteInstant, DeleteMarkers, PutManifest, perform
from hudi_model.files import Marker
from hudi_model.history import full_timeline, history_instants
from hudi_model.services.archival import archive, merge_levels, publish, trim
from hudi_model.tables import Table, open_table
from hypothesis import given
from hypothesis import strategies as st
from model_states import at, base, commit, completed_compaction, entry, failed, pending_compaction, properties, table
from test_model_history import row

SETTINGS = {
    "hoodie.keep.max.commits": "4",
    "hoodie.keep.min.commits": "2",
    "hoodie.timeline.compaction.batch.size": "3",
    "hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS",
    "hoodie.compact.inline.max.delta.commits": "1",
}
Entries = tuple[TimelineEntry, ...]


def after(*timeline: Entries, settings: dict[str, str] | None = None, **more: object) -> Table:
    here = replace(table(timeline), **more)  # type: ignore[arg-type]
    return perform(here, archive(here, {**SETTINGS, **(settings or {})}))


def left(found: Table) -> list[str]:
    return [one.requested for one in open_table(found).timeline.instants]


def seconds(*numbers: float) -> list[str]:
    return [at(number) for number in numbers]


def service(number: float, action: str, content: object = None) -> Entries:
    return tuple(
        entry(number, action, state, number + 0.1 if state == "COMPLETED" else None, content)  # type: ignore[arg-type]
        for state in ("REQUESTED", "INFLIGHT", "COMPLETED")
    )


def saved(number: float) -> Entries:
    return entry(number, "savepoint", "INFLIGHT"), entry(number, "savepoint", "COMPLETED", number + 0.7)


def test_nothing_leaves_before_there_are_more_writes_than_may_stay() -> None:
    """Archival is not due after every write."""
    here = table(map(commit, range(4)))
    assert archive(here, SETTINGS) == ()


def test_the_oldest_writes_leave_until_the_least_number_is_left() -> None:
    """Between the two numbers nothing happens, so that archival runs now and then."""
    found = after(*map(commit, range(6)))
    assert left(found) == seconds(4, 5)
    assert [one.requested for one in history_instants(found.history)] == seconds(0, 1, 2, 3)


def test_what_the_cleaner_retains_and_one_more_stays() -> None:
    """Otherwise a clean could not tell what it may remove."""
    by_commits = {"hoodie.clean.policy": "KEEP_LATEST_COMMITS", "hoodie.clean.commits.retained": "4"}
    found = after(*map(commit, range(9)), settings=by_commits)
    assert left(found) == seconds(4, 5, 6, 7, 8)
    assert left(after(*map(commit, range(7)), settings=by_commits)) == seconds(*range(7))


def test_nothing_passes_a_pending_write_and_one_before_it_stays() -> None:
    """The files of the pending write must not become older than the timeline."""
    found = after(*map(commit, range(3)), failed(3), *map(commit, range(4, 9)))
    assert left(found) == seconds(*range(2, 9))
    compacting = after(commit(0), commit(1), pending_compaction(2), *map(commit, range(3, 9)))
    assert left(compacting) == seconds(*range(1, 9))
    assert left(after(failed(0), *map(commit, range(1, 9)))) == seconds(*range(9))


def test_cleans_and_rollbacks_leave_with_the_writes_around_them() -> None:
    """The active timeline stays without holes; indexings and restores stay for good."""
    rollback = service(1.5, "rollback", RollbackMetadata((at(1.2),)))
    services = service(2.5, "clean"), rollback, service(0.5, "indexing"), service(5.5, "clean")
    found = after(*map(commit, range(6)), *services)
    assert left(found) == seconds(0.5, 4, 5, 5.5)


def test_a_rollback_stays_while_files_of_what_it_undid_are_there() -> None:
    """Without it they would count as committed."""
    rollback = service(1.5, "rollback", RollbackMetadata((at(1.2),)))
    found = after(*map(commit, range(6)), rollback, base_files=(base(1.2, ("a", 1, "x")),))
    assert left(found) == seconds(1.5, 4, 5)


def test_a_replacecommit_stays_while_replaced_files_are_there() -> None:
    """Without it they would count again: apache/hudi#6938."""
    old = base(0, ("a", 1, "x"))
    replacing = commit(2, action="replacecommit", replaced=[(old.partition, old.file_id)])
    timeline = (commit(0), commit(1), replacing, *map(commit, range(3, 9)))
    assert left(after(*timeline, base_files=(old,))) == seconds(*range(2, 9))
    assert left(after(*timeline)) == seconds(7, 8)


def test_a_savepoint_stops_archival_unless_it_may_go_beyond() -> None:
    """What a savepoint keeps stays in any case."""
    timeline = (*map(commit, range(9)), saved(2))
    assert left(after(*timeline)) == seconds(2, *range(2, 9))
    beyond = after(*timeline, settings={"hoodie.archive.beyond.savepoint": "true"})
    assert left(beyond) == seconds(2, 2, 8), "the saved write is one of those that stay"


@pytest.mark.parametrize("version", [6, 9])
def test_writes_stay_that_the_metadata_table_has_not_compacted(version: int) -> None:
    """Whether its log blocks count is reported by the data table's timeline."""
    settings = properties(version)
    fresh = table([commit(0.2, version=version)], settings=settings)
    compacted = table([commit(3.6, base(3.6), action="commit", version=version)], settings=settings)
    for metadata, first in ((fresh, 0), (compacted, 4)):
        here = replace(table([commit(one, version=version) for one in range(9)], settings=settings), metadata=metadata)
        assert left(perform(here, archive(here, SETTINGS))) == seconds(*range(first, 9))


def test_a_metadata_table_archives_nothing_that_its_data_table_has() -> None:
    """A rollback of the data table looks into it."""
    here, data_table = table(map(commit, range(9))), table([commit(3), commit(4)])
    assert left(perform(here, archive(here, SETTINGS, data_table))) == seconds(*range(3, 9))


def test_a_compaction_is_archived_as_commit_with_its_plan() -> None:
    """The history holds one row an action."""
    compaction = completed_compaction(1, base(1), 1.5)
    found = history_instants(after(commit(0), compaction, *map(commit, range(2, 7))).history)[1]
    assert (found.action, found.completed) == (Action.COMMIT, at(1.5))
    assert found.plan == compaction[0].content
    assert found.metadata == compaction[-1].content


def test_markers_go_first_and_completed_files_last_in_order() -> None:
    """An action never seems to be pending again, and the timeline has no hole."""
    here = replace(table(map(commit, range(6))), markers=frozenset({Marker(at(0), "", "a", "CREATE")}))
    effects = archive(here, SETTINGS)
    assert effects[0] == DeleteMarkers(at(0))
    assert perform(here, effects).markers == frozenset()
    names = [one.name for one in effects if isinstance(one, DeleteInstant)]
    states = [next(one.state for one in here.timeline if one.name == name) for name in names]
    assert states == sorted(states, key=lambda state: state is State.COMPLETED)
    assert names[-4:] == sorted(names[-4:])


def test_an_interrupted_archival_is_finished_even_when_none_is_due() -> None:
    """What the history holds has only its files left to lose."""
    here = table(map(commit, range(6)))
    effects = archive(here, SETTINGS)
    cut = next(number for number, one in enumerate(effects) if isinstance(one, DeleteInstant))
    crashed = perform(here, effects[: cut + 3])
    again = archive(crashed, {**SETTINGS, "hoodie.keep.max.commits": "90"})
    assert all(isinstance(one, DeleteInstant | DeleteMarkers) for one in again)
    assert perform(crashed, again).timeline == perform(here, effects).timeline


def test_before_version_8_archival_appends_to_the_log() -> None:
    """There is no manifest and nothing to merge."""
    here = table((commit(number, version=6) for number in range(6)), settings=properties(6))
    found = perform(here, archive(here, SETTINGS))
    assert [one.requested for one in found.history.archived_log] == seconds(0, 1, 2, 3)
    assert found.history.files == ()
    assert [one.requested for one in full_timeline(found)] == seconds(*range(6))


def runs(numbers: Iterable[int], batch: int) -> Table:
    here = table([])
    for number in numbers:
        here = perform(here, publish(here, [row(number)], 0))
        here = perform(here, merge_levels(here, {"hoodie.timeline.compaction.batch.size": str(batch)}))
    return here


@given(st.integers(1, 30), st.integers(2, 5))
def test_no_level_ever_holds_a_full_batch(number: int, batch: int) -> None:
    """Full levels are merged at once, and the next one is looked at in turn."""
    here = runs(range(number), batch)
    levels = [one.level for one in here.history.files if one.name in here.history.manifests[-1].files]
    assert all(levels.count(level) < batch for level in levels)
    assert len(history_instants(here.history)) == number


@pytest.mark.parametrize("size", ["0", "1"])
def test_a_batch_of_one_is_taken_for_two(size: str) -> None:
    """Merging one file by itself would never end."""
    here = table([])
    here = perform(here, publish(here, [row(1)], 0))
    assert merge_levels(here, {"hoodie.timeline.compaction.batch.size": size}) == ()


def test_three_manifests_stay_with_the_files_they_name() -> None:
    """A reader that began with one of them can finish."""
    here = runs(range(8), 9)
    assert [one.version for one in here.history.manifests] == [6, 7, 8]
    assert len(here.history.files) == 8
    only = perform(here, trim(here, 1))
    assert [one.version for one in only.history.manifests] == [8]


def test_a_manifest_that_never_became_current_is_replaced() -> None:
    """The next number is always the current one and one more."""
    here = perform(table([]), publish(table([]), [row(1)], 0))
    crashed = perform(here, publish(here, [row(2)], 0)[:2])
    (manifest,) = (one.manifest for one in publish(crashed, [row(3)], 0) if isinstance(one, PutManifest))
    assert manifest.version == 2
    assert [one.requested for one in history_instants(crashed.history)] == seconds(1)
