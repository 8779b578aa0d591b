"""Compaction, log compaction and clustering: what they plan, what they write, what they leave alone."""

from dataclasses import replace

import pytest
from hudi_model.actions import Action, CommitMetadata, CompactionPlan, ReplacePlan, State
from hudi_model.effects import perform
from hudi_model.files import DataBlock, DeleteBlock
from hudi_model.queries import Selection, read_optimized, read_snapshot
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import Operation, Request
from hudi_model.services import clustering, compaction, log_compaction
from hudi_model.services.plans import EXPECTATIONS, may_run_beside, view_before
from hudi_model.tables import RELEASED, Table
from hudi_model.time import tick
from hudi_model.writers import begin, commit, stage, write
from service_tables import EAGER, content, names, new_table, record, rows, scheduled, serviced, upsert, written

STRATEGIES = "org.apache.hudi.client.clustering.update.strategy"
ALLOW, REJECT = f"{STRATEGIES}.SparkAllowUpdateStrategy", f"{STRATEGIES}.SparkRejectUpdateStrategy"
NON_BLOCKING = {
    "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "1",
}


def two_commits(version: int = 9) -> Table:
    """One file group with a base file and one log."""
    table = upsert(new_table(version=version), 10, ("a", "d1", 1, "one"), ("b", "d1", 1, "one"))
    return upsert(table, 20, ("a", "d1", 2, "two"))


def test_a_compaction_waits_for_the_fifth_deltacommit() -> None:
    """The default of the release; base files that deltacommits wrote count as well."""
    table = new_table()
    for number in range(1, 5):
        table = upsert(table, 10 * number, ("a", "d1", number, "x"))
    assert compaction.schedule(table, tick(100), {}) == ()
    assert compaction.schedule(upsert(table, 50, ("a", "d1", 9, "x")), tick(100), {})


def test_a_table_without_logs_is_not_compacted() -> None:
    """A copy-on-write table never has any; a slice without a log is left out of the plan."""
    with pytest.raises(Rejection) as refused:
        compaction.schedule(new_table("COPY_ON_WRITE"), tick(10), EAGER)
    assert refused.value.reason is Reason.CONFIG_INVALID
    assert compaction.schedule(upsert(new_table(), 10, ("a", "d1", 1, "x")), tick(20), EAGER) == ()


@pytest.mark.parametrize("version", [6, 8, 9])
def test_a_compaction_completes_as_a_commit(version: int) -> None:
    """The base file bears the requested instant, its stat names the slice, the schema is the table's."""
    table = serviced(two_commits(version), compaction, 30)
    done = content(table, 30, "COMPLETED")
    file = next(one for one in table.base_files if one.instant == tick(30))
    assert isinstance(done, CommitMetadata)
    assert (done.operation, done.compacted) == ("COMPACT", True)
    assert [(one.path, one.previous_instant, one.writes) for one in done.write_stats] == [
        (f"d1/{file.name}", tick(10), 2)
    ]
    assert [one.action for one in table.timeline if one.requested == tick(30)] == [
        Action.COMPACTION,
        Action.COMPACTION,
        Action.COMMIT,
    ]
    assert not table.markers


def test_compacted_rows_keep_their_commit_time_and_get_a_new_file_name() -> None:
    """Incremental queries go by the commit time."""
    table = serviced(two_commits(), compaction, 30)
    found = {row["id"]: row for row in read_snapshot(table, selection=Selection(meta_columns=True)).rows}
    assert (found["a"]["_hoodie_commit_time"], found["b"]["_hoodie_commit_time"]) == (tick(20), tick(10))
    assert {row["_hoodie_file_name"] for row in found.values()} == {table.base_files[-1].name}
    assert read_optimized(table).rows == read_snapshot(table).rows


def test_a_slice_in_which_no_row_is_left_gets_an_empty_base_file() -> None:
    """Without it the deleted rows would come back from the base file before."""
    table = written(two_commits(), Operation.DELETE, 25, ("a", "d1", 3, None), ("b", "d1", 3, None))
    table = serviced(table, compaction, 30)
    assert table.base_files[-1].records == ()
    assert rows(table) == []


def test_a_plan_names_the_logs_of_completed_writes_only() -> None:
    """A write that is inflight when the compaction is planned goes to the slice that the plan opens."""
    table = upsert(new_table(), 10, ("a", "d1", 1, "one"), **NON_BLOCKING)
    started_write, effects = begin(
        table, Request(Operation.UPSERT, (record(("b", "d1", 1, "slow")),), settings=NON_BLOCKING), tick(20)
    )
    table = perform(table, effects)
    staged, effects = stage(table, started_write)
    table = scheduled(perform(table, effects), compaction, 30)
    plan = content(table, 30, "REQUESTED")
    assert isinstance(plan, CompactionPlan)
    assert [one.log_files for one in plan.operations] == [(table.log_files[0].name,)]
    table = perform(table, commit(table, staged, tick(40)))
    table = perform(table, compaction.execute(table, tick(30), tick(50)))
    assert rows(table) == [("a", "d1", 1, "one"), ("b", "d1", 1, "slow")]


def test_a_version_6_compaction_waits_for_an_earlier_write() -> None:
    """Its log bears the instant of the slice that it found, and would be left behind."""
    table = two_commits(6)
    started_write, effects = begin(table, Request(Operation.UPSERT, (record(("a", "d1", 5, "slow")),)), tick(25))
    table = perform(table, effects)
    assert compaction.schedule(table, tick(30), EAGER) == ()
    staged, effects = stage(table, started_write)
    table = perform(table, effects)
    table = perform(table, commit(table, staged, tick(35)))
    assert compaction.schedule(table, tick(40), EAGER)


def test_a_second_plan_leaves_the_group_of_the_first_alone() -> None:
    """So a group has one pending plan at most; the groups of others are free."""
    table = scheduled(two_commits(), compaction, 30)
    for service in (compaction, log_compaction, clustering):
        assert service.schedule(table, tick(40), EAGER) == ()
    table = upsert(table, 50, ("c", "d2", 1, "one"))
    table = scheduled(upsert(table, 60, ("c", "d2", 2, "two")), compaction, 70)
    assert {one.partition for one in content(table, 70, "REQUESTED").operations} == {"d2"}


def test_a_missing_file_of_a_plan_is_refused() -> None:
    """A compaction without it would lose rows."""
    table = scheduled(two_commits(), compaction, 30)
    for broken, reason in (
        (replace(table, base_files=()), Reason.BASE_FILE_MISSING),
        (replace(table, log_files=()), Reason.LOG_FILE_MISSING),
    ):
        with pytest.raises(Rejection) as refused:
            compaction.execute(broken, tick(30), tick(40))
        assert refused.value.reason is reason
    with pytest.raises(Rejection) as refused:
        compaction.execute(table, tick(31), tick(40))
    assert refused.value.reason is Reason.INSTANT_NOT_FOUND


@pytest.mark.parametrize("service", [compaction, log_compaction, clustering])
def test_a_new_attempt_removes_what_the_failed_one_left(service: object) -> None:
    """The files that its markers announce are gone before the same files are written again."""
    module = {one.__name__: one for one in (compaction, log_compaction, clustering)}[service.__name__]  # type: ignore[attr-defined]
    table = upsert(two_commits(), 25, ("b", "d1", 2, "two"))
    table = scheduled(table, module, 30)
    whole = module.execute(table, tick(30), tick(40))
    crashed = perform(table, whole[:3])
    again = perform(crashed, module.execute(crashed, tick(30), tick(40)))
    assert names(again) == names(perform(table, whole))
    assert module.execute(again, tick(30), tick(50)) == ()


@pytest.mark.parametrize(("version", "named"), [(6, 10), (9, 30)])
def test_a_log_compaction_is_named_as_logs_of_its_version(version: int, named: int) -> None:
    """In version 6 after its slice, from version 8 on after its own instant; the blocks always bear its own."""
    table = upsert(two_commits(version), 25, ("b", "d1", 2, "two"))
    table = serviced(table, log_compaction, 30)
    file = table.log_files[-1]
    assert file.instant == tick(named)
    assert isinstance(file.blocks, tuple)
    assert {one.instant for one in file.blocks if isinstance(one, DataBlock)} == {tick(30)}
    assert [one.action for one in table.timeline if one.state is State.COMPLETED][-1] is Action.DELTA_COMMIT
    assert content(table, 30, "COMPLETED").operation == "LOG_COMPACT"


def test_log_compacted_blocks_list_their_sources_and_keep_deletes() -> None:
    """Newest first; the base file still holds the row that the tombstone removes."""
    table = written(two_commits(), Operation.DELETE, 25, ("b", "d1", 3, None))
    table = serviced(table, log_compaction, 30)
    blocks = table.log_files[-1].blocks
    assert isinstance(blocks, tuple)
    assert [type(one) for one in blocks] == [DataBlock, DeleteBlock]
    assert {one.compacted_instants for one in blocks if isinstance(one, DataBlock | DeleteBlock)} == {
        (tick(25), tick(20))
    }
    assert rows(table) == [("a", "d1", 2, "two")]
    table = upsert(table, 40, ("a", "d1", 3, "three"))
    nested = serviced(table, log_compaction, 50).log_files[-1].blocks
    assert isinstance(nested, tuple)
    assert isinstance(nested[0], DataBlock)
    assert nested[0].compacted_instants == (tick(40), tick(30))


def test_log_compaction_waits_for_the_fifth_block() -> None:
    """The default of the release."""
    table = upsert(new_table(), 10, ("a", "d1", 0, "x"))
    for number in range(2, 6):
        table = upsert(table, 10 * number, ("a", "d1", number, "x"))
    assert log_compaction.schedule(table, tick(100), {}) == ()
    assert log_compaction.schedule(upsert(table, 60, ("a", "d1", 9, "x")), tick(100), {})


@pytest.mark.parametrize(
    ("version", "action"), [(6, Action.REPLACE_COMMIT), (8, Action.CLUSTERING), (9, Action.CLUSTERING)]
)
def test_clustering_waits_under_the_action_of_its_version(version: int, action: Action) -> None:
    """And completes as a replacecommit that replaces all groups it read."""
    table = written(two_commits(version), Operation.INSERT, 25, ("c", "d1", 1, "one"))
    read = {one.file_id for one in table.base_files}
    table = serviced(table, clustering, 30)
    assert [one.action for one in table.timeline if one.requested == tick(30)] == [
        action,
        action,
        Action.REPLACE_COMMIT,
    ]
    done = content(table, 30, "COMPLETED")
    assert done.replaced == {("d1", one) for one in read}
    assert (done.operation, len(done.write_stats)) == ("CLUSTER", 1)
    assert rows(table) == [("a", "d1", 2, "two"), ("b", "d1", 1, "one"), ("c", "d1", 1, "one")]


def test_clustered_rows_are_sorted_with_nulls_first_and_keep_their_commit_time() -> None:
    """The sort columns stand in the plan."""
    table = upsert(new_table(), 10, ("a", "d1", 3, "z"), ("b", "d1", 2, None), ("c", "d1", 1, "y"))
    sort = {**EAGER, "hoodie.clustering.plan.strategy.sort.columns": "note, ts"}
    table = serviced(table, clustering, 30, sort)
    plan = content(table, 30, "REQUESTED")
    assert isinstance(plan, ReplacePlan)
    assert plan.sort_columns == ("note", "ts")
    records = table.base_files[-1].records
    assert isinstance(records, tuple)
    assert [one.values["id"] for one in records] == ["b", "c", "a"]
    assert {one.values["_hoodie_commit_time"] for one in records} == {tick(10)}


def test_clustering_leaves_large_files_alone_and_fills_files_of_the_target_size() -> None:
    """Sizes are those that commits state."""
    table = upsert(new_table("COPY_ON_WRITE"), 10, ("a", "d1", 1, "x"), ("b", "d1", 1, "x"), ("c", "d1", 1, "x"))

    def sized(size: int) -> Table:
        entry = table.timeline[-1]
        assert isinstance(entry.content, CommitMetadata)
        stats = tuple(replace(one, size=size) for one in entry.content.write_stats)
        return replace(
            table, timeline=(*table.timeline[:-1], replace(entry, content=replace(entry.content, write_stats=stats)))
        )

    assert clustering.schedule(sized(400 * 2**20), tick(30), EAGER) == ()
    small = {**EAGER, "hoodie.clustering.plan.strategy.target.file.max.bytes": "150"}
    after = serviced(sized(300), clustering, 30, small)
    assert [len(one.records) for one in after.base_files if one.instant == tick(30)] == [2, 1]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "planned"),
    [
        ({}, True),
        ({"hoodie.clustering.inline": "true"}, False),
        ({"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "1"}, True),
        ({"hoodie.clustering.async.enabled": "true"}, False),
        ({"hoodie.clustering.schedule.inline": "true", "hoodie.clustering.async.max.commits": "1"}, True),
    ],
)
def test_commits_are_counted_where_clustering_goes_along_with_writes(settings: dict[str, str], planned: bool) -> None:
    """One commit is enough for who requests a plan, and for four only where the options say so."""
    table = upsert(new_table("COPY_ON_WRITE"), 10, ("a", "d1", 1, "x"))
    assert bool(clustering.schedule(table, tick(30), settings)) is planned


def test_a_pending_clustering_is_the_last_one() -> None:
    """Commits count that were requested after it, whenever it completes."""
    table = upsert(new_table("COPY_ON_WRITE"), 10, ("a", "d1", 1, "x"))
    table = perform(table, clustering.schedule(table, tick(30), {}))
    inline = {"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "1"}
    table = upsert(table, 40, ("b", "d2", 1, "x"))
    assert clustering.is_due(view_before(table, tick(50), RELEASED), inline)
    assert not clustering.is_due(view_before(table, tick(35), RELEASED), inline)


def test_clustering_gives_up_where_its_group_was_written() -> None:
    """What completed since the plan would be lost with the replaced group."""
    table = scheduled(two_commits(), clustering, 30)
    table = upsert(table, 40, ("a", "d1", 9, "new"), hoodie_clustering_updates_strategy=ALLOW)
    with pytest.raises(Rejection) as refused:
        clustering.execute(table, tick(30), tick(50))
    assert refused.value.reason is Reason.WRITE_CONFLICT


@pytest.mark.parametrize("strategy", [REJECT, "SparkRejectUpdateStrategy"])
def test_a_strategy_that_rejects_is_known_by_its_class_and_by_its_short_name(strategy: str) -> None:
    """Whoever spells the default out is refused as one who says nothing."""
    table = scheduled(two_commits(), clustering, 30)
    with pytest.raises(Rejection) as refused:
        upsert(table, 40, ("a", "d1", 9, "new"), hoodie_clustering_updates_strategy=strategy)
    assert refused.value.reason is Reason.WRITE_CONFLICT


def test_a_group_that_holds_no_row_is_clustered_away() -> None:
    """It is replaced by nothing."""
    table = written(two_commits(), Operation.DELETE, 25, ("a", "d1", 3, None), ("b", "d1", 3, None))
    table = serviced(table, clustering, 30)
    assert content(table, 30, "COMPLETED").write_stats == ()
    assert rows(table) == []


def test_the_expectations_of_services() -> None:
    """Cleaning and indexing are in nobody's way, the others keep off each other's groups."""
    group = ("d1", "f")
    pending = {(Action.COMPACTION, group)}
    assert [one for one in EXPECTATIONS if not may_run_beside(one, group, pending)] == [
        Action.CLUSTERING,
        Action.COMPACTION,
        Action.LOG_COMPACTION,
    ]
    assert may_run_beside(Action.COMPACTION, ("d1", "g"), pending)
    assert [one for one, rule in EXPECTATIONS.items() if rule.aborts_when_updated] == [Action.CLUSTERING]


def test_clustering_brings_no_deleted_partition_back() -> None:
    """A partition that is deleted while clustering is pending stays deleted: one of the two gives up."""
    table = scheduled(two_commits(), clustering, 30)
    request = Request(Operation.DELETE_PARTITION, partitions=("d1",))
    try:
        table = write(table, request, tick(40), tick(45))
    except Rejection as refused:
        assert refused.reason is Reason.WRITE_CONFLICT  # noqa: PT017 - either of the two may give up
        return
    with pytest.raises(Rejection):
        clustering.execute(table, tick(30), tick(50))
    assert rows(table) == []
