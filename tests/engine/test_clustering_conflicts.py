"""Clusterings beside writers: who gives way, and what is left of who did."""

import os
from pathlib import Path

import pyarrow as pa
import pytest
from clustering_tables import (
    cluster,
    clusterable,
    data_files,
    execute,
    findings,
    pending,
    plan,
    schedule,
    services,
    stored,
    timeline,
)
from hudi_format.errors import FormatError
from hudi_format.storage import LocalStorage
from hudi_spark import HudiError
from hudi_spark.errors import Reason, UnsupportedFeature
from hudi_spark.testing import Effects, NoHook, WriteRequest, stop_heartbeat
from written_tables import OnceBefore, Written, rows

ALLOWED = "org.apache.hudi.client.clustering.update.strategy.SparkAllowUpdateStrategy"
STRATEGY = "hoodie.clustering.updates.strategy"
GIVES_UP = "hoodie.clustering.rollback.pending.replacecommit.on.conflict"


@pytest.mark.parametrize(("version", "kind"), [(6, "COPY_ON_WRITE"), (9, "MERGE_ON_READ")])
@pytest.mark.parametrize("operation", ["upsert", "insert_overwrite", "delete_partition"])
def test_a_pending_clustering_refuses_who_changes_its_groups(tmp_path: Path, version: int, kind: str, operation: str):
    """Updates, deletes and overwrites are refused and leave nothing; the clustering completes."""
    table = clusterable(tmp_path / "t", kind, version)
    requested = schedule(table)
    before, files = stored(table), data_files(table)
    given = {"partitions": ("north",)} if operation == "delete_partition" else {"given": rows([3, 4], ts=9)}
    with pytest.raises(HudiError, match="OW-011") as refused:
        table.write(operation, **given)
    assert refused.value.reason is Reason.WRITE_CONFLICT
    assert (stored(table), data_files(table)) == (before, files)
    assert [one.requested for one in pending(table)] == [requested]
    table.write("insert", rows([100]))
    assert execute(table, requested).operation == "CLUSTER"
    assert table.ids() == sorted([*(row["_hoodie_record_key"] for row in before), "k100"])


def test_a_strategy_that_is_not_built_is_refused_before_anything_is_written(tmp_path: Path):
    """To write to old and new groups alike is one: taken for another, it would lose rows."""
    table = clusterable(tmp_path / "t", "MERGE_ON_READ")
    schedule(table)
    before, files = stored(table), data_files(table)
    package, _, _ = ALLOWED.rpartition(".")
    configs = {STRATEGY: f"{package}.SparkConsistentBucketDuplicateUpdateStrategy"}
    with pytest.raises(UnsupportedFeature, match="clustering-updates-strategy"):
        table.write("upsert", rows([3], ts=9), configs=configs)
    assert (stored(table), data_files(table)) == (before, files)


def test_small_files_of_a_pending_clustering_are_not_filled_up(tmp_path: Path):
    """New keys open a file of their own, so that inserts go on."""
    table = clusterable(tmp_path / "t")
    requested = schedule(table)
    table.write("insert", rows([101, 103]), configs={"hoodie.parquet.small.file.limit": "100000000"})
    execute(table, requested)
    assert {"k101", "k103"} <= set(table.ids())


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_write_that_is_allowed_ends_the_clustering(tmp_path: Path, kind: str):
    """The update stands; the clustering of the old rows does not complete, and leaves the timeline."""
    table = clusterable(tmp_path / "t", kind)
    requested = schedule(table)
    table.write("upsert", rows([3], ts=9, price=9.0), configs={STRATEGY: ALLOWED})
    with pytest.raises(HudiError, match="CL-005") as refused:
        execute(table, requested)
    assert refused.value.reason is Reason.WRITE_CONFLICT
    assert pending(table) == []
    assert ("k3", 9.0) in table.found()
    assert cluster(table) is not None
    assert ("k3", 9.0) in table.found()


def test_a_write_may_take_the_clustering_off_the_timeline(tmp_path: Path):
    """With the option that says so, the plan is gone before the write."""
    table = clusterable(tmp_path / "t")
    schedule(table)
    table.write("upsert", rows([3], ts=9, price=9.0), configs={STRATEGY: ALLOWED, GIVES_UP: "true"})
    assert pending(table) == []
    assert ("k3", 9.0) in table.found()


def test_a_clustering_stays_where_no_group_of_it_is_written_to(tmp_path: Path):
    """With the same option: new keys open files of their own, and the plan waits."""
    table = clusterable(tmp_path / "t")
    requested = schedule(table)
    table.write("insert", rows([100]), configs={STRATEGY: ALLOWED, GIVES_UP: "true"})
    assert [one.requested for one in pending(table)] == [requested]


@pytest.mark.parametrize("operation", ["upsert", "delete_partition"])
def test_a_write_that_completes_meanwhile_ends_the_clustering(tmp_path: Path, operation: str):
    """While the clustering writes its files, a write that is allowed completes: it stands, and what it deleted stays
    deleted."""
    table = clusterable(tmp_path / "t")
    request = {"partitions": ("north",)} if operation == "delete_partition" else {"given": rows([3], ts=9, price=9.0)}
    requested = schedule(table)
    files = data_files(table)
    assert requested is not None
    hook = OnceBefore("put_base_file", lambda: table.write(operation, configs={STRATEGY: ALLOWED}, **request))
    with pytest.raises(HudiError) as refused:
        services(table, hook).execute(requested)
    assert refused.value.reason is Reason.WRITE_CONFLICT
    written = table.found()
    assert all(key != "k5" for key, _ in written) if operation == "delete_partition" else ("k3", 9.0) in written
    assert pending(table) == []
    assert len(data_files(table)) - len(files) == (operation == "upsert")
    assert findings(table) == ()
    assert cluster(table) is not None
    assert table.found() == written


def _attempt(table: Written, hook: OnceBefore | None = None) -> None:
    """Another process executes the plan, and takes its present executor for failed."""
    (waiting,) = pending(table)
    stop_heartbeat(Effects(LocalStorage(table.path)), waiting.requested)
    services(table, hook or NoHook()).execute(waiting.requested)


@pytest.fixture
def one_task_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one task does while another attempt is at its place meets no third one in between."""
    monkeypatch.setattr(os, "cpu_count", lambda: 1)


@pytest.mark.usefixtures("one_task_at_a_time")
def test_a_slow_attempt_that_was_taken_over_ends_without_effect(tmp_path: Path):
    """Somebody else begins and completes the same plan while one attempt is at it: its result stands, alone."""
    table = clusterable(tmp_path / "t")
    before = stored(table)
    schedule(table)
    with pytest.raises(HudiError) as refused:
        _attempt(table, OnceBefore("put_base_file", lambda: _attempt(table)))
    assert refused.value.reason is Reason.WRITE_CONFLICT
    assert stored(table) == before
    assert [one.action for one in timeline(table).completed("replacecommit")] == ["replacecommit"]
    table.write("upsert", rows([3], ts=9, price=9.0))
    assert len(table.ids()) == len(before)
    assert findings(table) == ()


@pytest.mark.usefixtures("one_task_at_a_time")
def test_of_attempts_that_take_one_another_over_one_completes_whole(tmp_path: Path):
    """Who completes has all files that it names."""
    table = clusterable(tmp_path / "t")
    before = stored(table)
    schedule(table)

    def begin_anew() -> None:
        with pytest.raises(HudiError):
            _attempt(table, OnceBefore("put_base_file", lambda: _attempt(table)))

    with pytest.raises(HudiError):
        _attempt(table, OnceBefore("put_base_file", begin_anew))
    assert stored(table) == before
    assert findings(table) == ()


def test_a_plan_is_not_carried_out_by_two_at_a_time(tmp_path: Path):
    """Who finds it inflight and its executor alive lets it be."""
    table = clusterable(tmp_path / "t")
    before = stored(table)
    requested = schedule(table)

    def interfere() -> None:
        with pytest.raises(HudiError, match="CP-010"):
            execute(table, requested)

    assert requested is not None
    services(table, OnceBefore("put_base_file", interfere)).execute(requested)
    assert stored(table) == before
    assert pending(table) == []


def test_an_executed_plan_is_not_executed_again(tmp_path: Path):
    """Nor one that never was."""
    table = clusterable(tmp_path / "t")
    requested = schedule(table)
    execute(table, requested)
    for time in (requested, "20250101000000777"):
        with pytest.raises(HudiError, match="INSTANT_NOT_FOUND"):
            execute(table, time)


def test_a_plan_whose_file_is_torn_is_refused(tmp_path: Path):
    """By its file, with nothing done."""
    table = clusterable(tmp_path / "t")
    requested = schedule(table)
    path = table.path / pending(table)[0].file
    path.write_bytes(path.read_bytes()[:40])
    (path.parent / f".{path.name}.crc").unlink(missing_ok=True)
    with pytest.raises(HudiError, match="TIMELINE_FILE_CORRUPT"):
        table.writer().write(WriteRequest("upsert", rows([3], ts=9)))
    assert isinstance(stored(table), list)
    assert requested is not None


def test_a_plan_that_names_vanished_files_is_refused(tmp_path: Path):
    """A file that storage lost is named; the plan waits, since it is not what is wrong."""
    table = clusterable(tmp_path / "t")
    requested = schedule(table)
    lost = (plan(table, requested).input_groups[0].slices[0].data_file_path or "").removeprefix("file:")
    Path(lost).unlink()
    with pytest.raises((HudiError, FormatError)) as refused:
        execute(table, requested)
    assert refused.value.reason == Reason.BASE_FILE_MISSING
    assert [one.state for one in pending(table)] == ["REQUESTED"]


def test_rows_written_by_a_slice_of_logs_alone_are_clustered(tmp_path: Path):
    """A slice without a base file counts as a file of the usual size, and its rows move."""
    table = Written(
        tmp_path / "t",
        "MERGE_ON_READ",
        configs={
            "hoodie.index.type": "BUCKET",
            "hoodie.bucket.index.num.buckets": "2",
            "hoodie.clean.automatic": "false",
        },
    )
    table.write("upsert", rows(range(6)))
    before: pa.Table = stored(table)
    assert cluster(table, hoodie__index__type="SIMPLE") is not None
    assert stored(table) == before
