"""Clustering: rows go into new file groups, and the table answers as before."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from clustering_tables import cluster, clusterable, execute, findings, pending, plan, schedule, stored, timeline
from hudi_spark import HudiError, UnsupportedFeature, read_arrow
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from written_tables import Written, rows

KINDS = [(version, kind) for version in (6, 8, 9) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")]
INDEXES = {"hoodie.metadata.record.index.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"}


@pytest.mark.slow
@pytest.mark.parametrize(("version", "kind"), KINDS)
def test_a_clustered_table_answers_as_before(tmp_path: Path, version: int, kind: str):
    """The same rows with the same meta fields, of two files in place of four; the next writes find their keys there."""
    table = clusterable(tmp_path / "t", kind, version, **{key.replace(".", "__"): one for key, one in INDEXES.items()})
    before = stored(table)
    requested = schedule(table)
    assert [one.action for one in pending(table)] == ["clustering" if version > 6 else "replacecommit"]
    assert stored(table) == before
    outcome = execute(table, requested)
    assert stored(table) == before
    assert (outcome.action, outcome.operation, len(outcome.written)) == ("replacecommit", "CLUSTER", 2)
    assert findings(table) == ()
    table.write("upsert", rows([2, 3], ts=9, price=9.0))
    assert [row for row in table.found() if row[1] == 9.0] == [("k2", 9.0), ("k3", 9.0)]
    assert findings(table) == ()


@pytest.mark.parametrize("preserves", [True, False])
def test_rows_keep_what_they_say_of_their_write(tmp_path: Path, preserves: bool):
    """Commit time and sequence number stay by default; the file is named as it is called."""
    table = clusterable(tmp_path / "t", hoodie__clustering__preserve__commit__metadata=str(preserves).lower())
    before = {row["_hoodie_record_key"]: row["_hoodie_commit_seqno"] for row in stored(table)}
    outcome = cluster(table)
    assert outcome is not None
    after = read_arrow(table.path, meta_columns=True)
    names = {(one.path or "").rpartition("/")[2] for one in outcome.written}
    assert set(after.column("_hoodie_file_name").to_pylist()) == names
    kept = {row["_hoodie_record_key"]: row["_hoodie_commit_seqno"] for row in after.to_pylist()}
    assert (kept == before) is preserves
    assert len(set(kept.values())) == len(kept)
    if not preserves:
        assert set(after.column("_hoodie_commit_time").to_pylist()) == {outcome.requested}


def test_groups_that_lose_all_rows_are_replaced_too(tmp_path: Path):
    """What was deleted leaves no file behind."""
    table = Written(tmp_path / "t", configs={"hoodie.parquet.small.file.limit": "0"})
    table.write("insert", rows([1, 3]))
    table.write("delete", rows([1, 3], ts=2))
    outcome = cluster(table)
    assert outcome is not None
    assert (outcome.written, sum(map(len, outcome.replaced.values()))) == ((), 1)
    assert table.ids() == []


def test_a_group_in_a_pending_plan_is_planned_once(tmp_path: Path):
    """A second plan holds what came after the first."""
    table = clusterable(tmp_path / "t")
    first = plan(table, schedule(table))
    assert schedule(table) is None
    table.write("insert", rows([100, 101, 103]))
    second = plan(table, schedule(table))
    ids = [{one.file_id for group in each.input_groups for one in group.slices} for each in (first, second)]
    assert ids[0].isdisjoint(ids[1])
    assert len(ids[1]) == 2


def test_a_plan_is_what_released_executors_expect(tmp_path: Path):
    """Paths from the root on, the columns to sort by, one group for each partition."""
    table = clusterable(tmp_path / "t", "MERGE_ON_READ", hoodie__clustering__plan__strategy__sort__columns="price,id")
    made = plan(table, schedule(table))
    assert made.strategy is not None
    assert made.strategy.strategy_params == {"hoodie.clustering.plan.strategy.sort.columns": "price,id"}
    assert [{one.partition_path for one in group.slices} for group in made.input_groups] == [{"north"}, {"süd"}]
    paths = [path for group in made.input_groups for one in group.slices for path in one.delta_file_paths]
    assert paths
    assert all(path.startswith(f"file:{table.path}/") for path in paths)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("configs", "sizes"),
    [
        ({"hoodie.clustering.plan.strategy.small.file.limit": "10"}, []),
        ({"hoodie.clustering.plan.strategy.max.bytes.per.group": "1"}, [1, 1, 1, 1]),
        ({"hoodie.clustering.plan.strategy.max.num.groups": "1"}, [2]),
        (
            {
                "hoodie.clustering.plan.strategy.max.bytes.per.group": "1",
                "hoodie.clustering.plan.strategy.single.group.clustering.enabled": "false",
            },
            [1, 1],
        ),
        (
            {
                "hoodie.clustering.plan.strategy.class": (
                    "org.apache.hudi.client.clustering.plan.strategy.SparkSingleFileSortPlanStrategy"
                )
            },
            [1, 1, 1, 1],
        ),
        ({"hoodie.clustering.plan.strategy.partition.selected": "süd,no such"}, [2]),
        ({"hoodie.clustering.plan.strategy.partition.regex.pattern": "n.*"}, [2]),
        ({"hoodie.clustering.plan.strategy.partition.regex.pattern": "n"}, []),
        (
            {
                "hoodie.clustering.plan.partition.filter.mode": "SELECTED_PARTITIONS",
                "hoodie.clustering.plan.strategy.cluster.begin.partition": "o",
            },
            [2],
        ),
        (
            {
                "hoodie.clustering.plan.strategy.class": "SparkRecentDaysClusteringPlanStrategy",
                "hoodie.clustering.plan.strategy.daybased.lookback.partitions": "1",
            },
            [2],
        ),
        (
            {
                "hoodie.clustering.plan.partition.filter.mode": "RECENT_DAYS",
                "hoodie.clustering.plan.strategy.daybased.skipfromlatest.partitions": "2",
            },
            [],
        ),
        # It is midnight: of two partitions the first has its turn.
        ({"hoodie.clustering.plan.partition.filter.mode": "DAY_ROLLING"}, [2]),
    ],
)
def test_what_a_plan_holds(tmp_path: Path, configs: dict[str, str], sizes: list[int]):
    """How many slices each group has, by sizes, partitions and strategies."""
    table = clusterable(tmp_path / "t")
    requested = schedule(table, **{key.replace(".", "__"): value for key, value in configs.items()})
    found = [] if requested is None else [len(group.slices) for group in plan(table, requested).input_groups]
    assert found == sizes


def test_partitions_left_out_are_looked_at_next_time(tmp_path: Path):
    """After a clustering only what was written since is looked at, and what it had no room for."""
    table = clusterable(tmp_path / "t")
    assert cluster(table, hoodie__clustering__plan__strategy__max__num__groups="1") is not None
    found = plan(table, schedule(table))
    assert {one.partition_path for group in found.input_groups for one in group.slices} == {"süd"}
    execute(table, pending(table)[0].requested)
    assert schedule(table) is None
    assert schedule(table, hoodie__table__services__incremental__enabled="false") is not None


def test_clustering_after_a_write(tmp_path: Path):
    """Every so many commits, as the options say; a plan only, where they ask for no more."""
    configs = {"hoodie.parquet.small.file.limit": "0", "hoodie.clustering.inline.max.commits": "2"}
    table = Written(tmp_path / "t", configs={**configs, "hoodie.clustering.inline": "true"})
    clusterings = []
    for number in range(4):
        table.write_and_serve("insert", rows([number * 2]))
        done = timeline(table).completed("replacecommit")
        clusterings.append(len(done))
    assert clusterings == [0, 1, 1, 2]
    table.write_and_serve(
        "insert",
        rows([10]),
        configs={
            "hoodie.clustering.inline": "false",
            "hoodie.clustering.schedule.inline": "true",
            "hoodie.clustering.async.max.commits": "1",
        },
    )
    assert [one.state for one in pending(table)] == ["REQUESTED"]
    assert table.ids() == ["k0", "k10", "k2", "k4", "k6"]


@pytest.mark.parametrize(
    ("configs", "error"),
    [
        ({"hoodie.clustering.plan.strategy.sort.columns": "nothing"}, HudiError),
        ({"hoodie.clustering.plan.strategy.partition.regex.pattern": "("}, HudiError),
        ({"hoodie.index.type": "BUCKET"}, UnsupportedFeature),
        ({"hoodie.clustering.plan.strategy.class": "my.own.Strategy"}, UnsupportedFeature),
        ({"hoodie.clustering.execution.strategy.class": "my.own.Strategy"}, UnsupportedFeature),
    ],
)
def test_what_cannot_be_clustered_is_refused_before_anything_is_written(
    tmp_path: Path, configs: dict[str, str], error: type[Exception]
):
    """Nothing is on the timeline that nobody could carry out."""
    table = clusterable(tmp_path / "t")
    files = table.files()
    with pytest.raises(error):
        schedule(table, **{key.replace(".", "__"): value for key, value in configs.items()})
    assert table.files() == files


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["LINEAR", "ZORDER", "HILBERT"]),
    st.sampled_from(["DIRECT", "SAMPLE"]),
    st.sampled_from(["price", "price,id", "ts,price,region"]),
    st.sampled_from(["1000", "5000", "1000000"]),
)
def test_rows_in_whatever_order_are_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory, curve: str, method: str, columns: str, target: str
):
    """However rows are sorted and cut into files, a table holds what it held; within a file they are in order."""
    table = clusterable(tmp_path_factory.mktemp("t") / "t", "MERGE_ON_READ")
    before = stored(table)
    outcome = cluster(
        table,
        hoodie__clustering__plan__strategy__sort__columns=columns,
        hoodie__clustering__plan__strategy__target__file__max__bytes=target,
        hoodie__layout__optimize__strategy=curve,
        hoodie__layout__optimize__curve__build__method=method,
    )
    assert outcome is not None
    assert stored(table) == before
    assert findings(table) == ()
    if curve == "LINEAR":
        names = columns.split(",")
        for one in outcome.written:
            found = pq.read_table(table.path / (one.path or ""), columns=names)
            assert found.equals(found.sort_by([(name, "ascending") for name in names]))
