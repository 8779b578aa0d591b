"""Cleaning, time to live and indexing: what goes, what stays, what is built."""

from dataclasses import replace

import pytest
from hudi_model.actions import Action, CleanMetadata, CleanPlan, IndexPlan, State
from hudi_model.effects import perform
from hudi_model.files import CdcBlock
from hudi_model.queries import read_as_of
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import Operation, Request
from hudi_model.services import cleaning, clustering, compaction, indexing, savepoints, time_to_live
from hudi_model.tables import Table
from hudi_model.time import tick
from hudi_model.writers import begin, write
from service_tables import (
    EAGER,
    VERSIONS,
    content,
    names,
    new_table,
    record,
    rows,
    scheduled,
    serviced,
    upsert,
    written,
)

DAY = 24 * 3600 * 1000
HOUR = 3600 * 1000


def rewritten(times: int) -> Table:
    """One file group with as many base files; commits at 10, 20 and so on."""
    table = new_table("COPY_ON_WRITE")
    for number in range(1, times + 1):
        table = upsert(table, 10 * number, ("a", "d1", number, "x"))
    return table


def instants(table: Table) -> list[str]:
    return sorted(one.instant for one in table.base_files)


def with_settings(**more: str) -> dict[str, str]:
    return {**EAGER, **{f"hoodie.clean.{name.replace('_', '.')}": value for name, value in more.items()}}


def test_nothing_is_cleaned_by_default_before_the_eleventh_commit() -> None:
    """Ten commits are retained; then the slices from the second commit on stay, and the one before it."""
    assert cleaning.schedule(rewritten(10), tick(200), {}) == ()
    assert cleaning.schedule(rewritten(11), tick(200), {}) == ()
    table = serviced(rewritten(12), cleaning, 200, {})
    assert instants(table) == [tick(10 * number) for number in range(2, 13)]
    done = content(table, 200, "COMPLETED")
    assert isinstance(done, CleanMetadata)
    assert done.earliest_to_retain == tick(30)
    assert len(done.deleted_files) == 1


def test_what_a_query_as_of_the_earliest_retained_instant_reads_stays() -> None:
    """That is the slice before it, where the instant itself wrote elsewhere."""
    table = upsert(rewritten(3), 40, ("b", "d2", 1, "x"))
    table = upsert(table, 50, ("a", "d1", 9, "new"))
    table = serviced(table, cleaning, 60, with_settings(commits_retained="2"))
    assert content(table, 60, "COMPLETED").earliest_to_retain == tick(40)
    assert instants(table) == [tick(30), tick(40), tick(50)]
    assert len(read_as_of(table, tick(40)).rows) == 2
    with pytest.raises(Rejection) as refused:
        read_as_of(table, tick(30))
    assert refused.value.reason is Reason.RANGE_NOT_RETAINED


def test_a_pending_write_holds_the_retained_instant_back() -> None:
    """It may still read what it found when it began."""
    table = rewritten(3)
    table = perform(table, begin(table, Request(Operation.UPSERT, (record(("z", "d2", 1, "x")),)), tick(35))[1])
    for number in (4, 5, 6):
        table = upsert(table, 10 * number, ("a", "d1", number, "x"))
    table = serviced(table, cleaning, 100, with_settings(commits_retained="1"))
    assert content(table, 100, "COMPLETED").earliest_to_retain == tick(30)
    assert instants(table)[0] == tick(20)


def test_cleaning_by_hours() -> None:
    """The first write that is young enough is the earliest retained; with none nothing goes."""
    settings = with_settings(policy="KEEP_LATEST_BY_HOURS", hours_retained="1")
    table = serviced(rewritten(5), cleaning, HOUR + 35, settings)
    assert content(table, HOUR + 35, "COMPLETED").earliest_to_retain == tick(40)
    assert instants(table) == [tick(30), tick(40), tick(50)]
    assert cleaning.schedule(rewritten(5), tick(HOUR + 51), settings) == ()


def test_cleaning_by_file_versions() -> None:
    """Each group keeps its newest slices, and no earliest instant is recorded."""
    settings = with_settings(policy=VERSIONS, fileversions_retained="2")
    table = serviced(upsert(rewritten(4), 50, ("b", "d2", 1, "x")), cleaning, 60, settings)
    assert content(table, 60, "COMPLETED").earliest_to_retain is None
    assert instants(table) == [tick(30), tick(40), tick(50)]


def test_a_policy_that_does_not_exist_is_refused() -> None:
    """Nothing is guessed about what may go."""
    with pytest.raises(Rejection) as refused:
        cleaning.schedule(rewritten(2), tick(60), with_settings(policy="KEEP_EVERYTHING"))
    assert refused.value.reason is Reason.CONFIG_INVALID


def test_a_clean_is_planned_once_and_only_after_new_commits() -> None:
    """Not while another is pending, and not before something has changed since."""
    settings = with_settings(commits_retained="1")
    table = scheduled(rewritten(4), cleaning, 60, settings)
    assert cleaning.schedule(table, tick(70), settings) == ()
    table = perform(table, cleaning.execute(table, tick(60), tick(65)))
    assert cleaning.schedule(table, tick(70), settings) == ()
    assert cleaning.execute(table, tick(60), tick(75)) == ()
    assert cleaning.schedule(upsert(table, 80, ("a", "d1", 9, "x")), tick(90), settings)


@pytest.mark.parametrize("version", [6, 8])
def test_the_inflight_clean_repeats_its_plan_in_version_6_only(version: int) -> None:
    """Later releases leave it empty."""
    table = new_table("COPY_ON_WRITE", version)
    for number in range(1, 5):
        table = upsert(table, 10 * number, ("a", "d1", number, "x"))
    table = serviced(table, cleaning, 60, with_settings(commits_retained="1"))
    assert isinstance(content(table, 60, "INFLIGHT"), CleanPlan) is (version == 6)


def test_replaced_groups_go_after_the_retained_instant_has_passed_them() -> None:
    """As of an instant before the replacecommit they are still read; until then they stay whole."""
    table = written(rewritten(2), Operation.INSERT_OVERWRITE, 30, ("b", "d1", 1, "y"))
    table = upsert(table, 40, ("b", "d1", 2, "y"))
    assert cleaning.schedule(table, tick(60), with_settings(commits_retained="2")) == ()
    late = serviced(table, cleaning, 60, with_settings(commits_retained="1"))
    assert instants(late) == [tick(30), tick(40)]
    assert instants(serviced(table, cleaning, 60, with_settings(policy=VERSIONS))) == [tick(40)]


def test_a_savepoint_keeps_its_files_until_it_is_deleted() -> None:
    """The next clean takes them, whichever partitions were written since."""
    settings = with_settings(commits_retained="1")
    table = rewritten(4)
    table = perform(table, savepoints.savepoint(table, tick(10), tick(45)))
    table = serviced(table, cleaning, 60, settings)
    assert instants(table) == [tick(10), tick(30), tick(40)]
    table = perform(table, savepoints.delete_savepoint(table, tick(10)))
    table = serviced(upsert(table, 70, ("b", "d2", 1, "x")), cleaning, 80, settings)
    assert instants(table) == [tick(40), tick(70)]


def test_what_a_pending_compaction_reads_stays_under_every_policy() -> None:
    """Also where a newer slice without base file has been opened by it."""
    table = upsert(upsert(new_table(), 10, ("a", "d1", 1, "x")), 20, ("a", "d1", 2, "x"))
    table = upsert(scheduled(table, compaction, 30), 40, ("a", "d1", 3, "x"))
    assert cleaning.schedule(table, tick(60), with_settings(policy=VERSIONS)) == ()
    table = perform(table, compaction.execute(table, tick(30), tick(50)))
    table = serviced(table, cleaning, 60, with_settings(policy=VERSIONS))
    assert instants(table) == [tick(30)]
    assert len(table.log_files) == 1
    assert rows(table) == [("a", "d1", 3, "x")]


def test_the_change_feed_of_a_slice_goes_with_it() -> None:
    """Its file bears the instant of the base file it was written beside."""
    table = rewritten(3)
    feed = upsert(upsert(new_table(), 10, ("a", "d1", 1, "x")), 20, ("a", "d1", 2, "x")).log_files[0]
    old = next(one for one in table.base_files if one.instant == tick(20))
    cdc = replace(feed, file_id=old.file_id, cdc=True, name=feed.name + ".cdc", blocks=(CdcBlock(tick(20), ()),))
    table = serviced(replace(table, log_files=(cdc,)), cleaning, 60, with_settings(policy=VERSIONS))
    assert table.log_files == ()


def test_a_base_file_that_lost_to_another_attempt_goes_at_once() -> None:
    """Its commit names the one whose attempt succeeded."""
    table = rewritten(3)
    newest = next(one for one in table.base_files if one.instant == tick(30))
    lost = replace(newest, name=newest.name.replace("0-1-0", "0-1-7"))
    table = replace(table, base_files=(*table.base_files, lost))
    table = serviced(table, cleaning, 60, with_settings(policy=VERSIONS))
    assert names(table) == {newest.name}


def test_the_files_of_a_write_that_did_not_complete_are_not_cleaned() -> None:
    """Whether it has failed is for a rollback to tell."""
    table = rewritten(3)
    newest = next(one for one in table.base_files if one.instant == tick(30))
    left = replace(newest, instant=tick(35), name="left")
    kept = replace(table, base_files=(*table.base_files, left), timeline=started_write(table, 35))
    assert "left" in names(serviced(kept, cleaning, 60, with_settings(policy=VERSIONS)))


def started_write(table: Table, now: int) -> tuple[object, ...]:
    """The timeline with a write that began and did not complete."""
    request = Request(Operation.UPSERT, (record(("z", "d2", 1, "x")),))
    return perform(table, begin(table, request, tick(now))[1]).timeline


def test_an_emptied_partition_goes_whole() -> None:
    """Unless a write has come in between."""
    settings = with_settings(policy=VERSIONS)
    table = upsert(upsert(new_table("COPY_ON_WRITE"), 10, ("a", "d1", 1, "x")), 20, ("b", "d2", 1, "x"))
    table = write(table, Request(Operation.DELETE_PARTITION, partitions=("d1",)), tick(30), tick(35))
    table = scheduled(table, cleaning, 40, settings)
    assert content(table, 40, "REQUESTED").partitions == {"d1"}
    assert perform(table, cleaning.execute(table, tick(40), tick(50))).partitions == {"d2"}
    table = upsert(table, 45, ("c", "d1", 1, "new"))
    table = perform(table, cleaning.execute(table, tick(40), tick(60)))
    assert table.partitions == {"d1", "d2"}
    assert rows(table) == [("b", "d2", 1, "x"), ("c", "d1", 1, "new")]


def test_a_clean_that_is_tried_again_names_all_its_files() -> None:
    """Also those that the first try removed."""
    table = scheduled(rewritten(4), cleaning, 60, with_settings(commits_retained="1"))
    crashed = perform(table, cleaning.execute(table, tick(60), tick(70))[:2])
    table = perform(crashed, cleaning.execute(crashed, tick(60), tick(70)))
    assert len(content(table, 60, "COMPLETED").deleted_files) == 2


def test_partitions_expire_by_their_youngest_slice() -> None:
    """None does unless days are set, and never in one stroke more than the limit."""
    table = upsert(upsert(new_table("COPY_ON_WRITE"), 10, ("a", "d1", 1, "x")), 20, ("b", "d2", 1, "x"))
    settings = {"hoodie.partition.ttl.strategy.days.retain": "1"}
    assert time_to_live.schedule(table, tick(2 * DAY), {}) == ()
    assert time_to_live.expired_partitions(table, tick(DAY + 15), settings) == ("d1",)
    assert time_to_live.expired_partitions(table, tick(DAY + 25), settings) == ("d1", "d2")
    few = {**settings, "hoodie.partition.ttl.strategy.max.delete.partitions": "1"}
    assert time_to_live.expired_partitions(table, tick(DAY + 25), few) == ("d1",)
    table = perform(table, time_to_live.schedule(table, tick(DAY + 15), settings))
    table = perform(table, time_to_live.execute(table, tick(DAY + 15), tick(DAY + 18), settings))
    assert rows(table) == [("b", "d2", 1, "x")]
    done = content(table, DAY + 15, "COMPLETED")
    assert (done.operation, len(done.replaced)) == ("DELETE_PARTITION", 1)
    assert time_to_live.execute(table, tick(DAY + 15), tick(DAY + 19), settings) == ()


INFLIGHT = "hoodie.table.metadata.partitions.inflight"
WANTED = {"hoodie.metadata.index.column.stats.enable": "true"}


def test_an_index_is_planned_up_to_the_last_write_without_a_gap() -> None:
    """A write that is pending may still come before what completed after it."""
    table = rewritten(2)
    assert indexing.schedule(new_table(), tick(30), WANTED) == ()
    assert indexing.schedule(table, tick(30), {}) == ()
    table = replace(table, timeline=started_write(table, 25))
    table = scheduled(upsert(table, 30, ("a", "d1", 9, "x")), indexing, 40, WANTED)
    plan = content(table, 40, "REQUESTED")
    assert isinstance(plan, IndexPlan)
    assert plan.upto == tick(20)
    assert "column_stats" in plan.partitions


def test_an_index_is_marked_while_it_is_built_and_used_afterwards() -> None:
    """Writers go by the first property, readers by the second; the entry states how far it reaches."""
    table = scheduled(rewritten(2), indexing, 30, WANTED)
    table = upsert(table, 40, ("a", "d1", 9, "x"))
    effects = indexing.execute(table, tick(30), tick(50), lambda given, _plan: replace(given, metadata=None))
    building, whole = perform(table, effects[:2]), perform(table, effects)
    assert "column_stats" in dict(building.properties)[INFLIGHT]  # type: ignore[arg-type]
    assert dict(whole.properties)[INFLIGHT] == ""  # type: ignore[arg-type]
    assert "column_stats" in dict(whole.properties)["hoodie.table.metadata.partitions"]  # type: ignore[arg-type]
    assert content(whole, 30, "COMPLETED").upto == tick(40)
    assert indexing.schedule(whole, tick(60), WANTED) == ()
    assert indexing.schedule(building, tick(60), WANTED) == ()
    assert indexing.execute(whole, tick(30), tick(70)) == ()


def test_clustering_is_undone_by_no_clean() -> None:
    """The groups it replaced go, its own stay, and the rows are the same."""
    table = serviced(rewritten(2), clustering, 30)
    table = upsert(table, 40, ("b", "d2", 1, "x"))
    before = rows(table)
    table = serviced(table, cleaning, 60, with_settings(commits_retained="1"))
    assert instants(table) == [tick(30), tick(40)]
    assert rows(table) == before
    assert [one.state for one in table.timeline if one.action is Action.CLEAN] == list(State)
