"""Real processes write, keep and read one table at once, some are killed, and nothing they read is ever wrong."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hudi_adapter.rows import Rows
from hudi_conformance.interop.stress.locks import PROVIDERS
from hudi_conformance.interop.stress.page import page
from hudi_conformance.interop.stress.records import Record, Written
from hudi_conformance.interop.stress.rereading import readers_named, reread
from hudi_conformance.interop.stress.running import Played, run_stress
from hudi_conformance.interop.stress.settings import MERGE_ON_READ, OPTIMISTIC, Setting, every_setting, soaked_settings
from hudi_conformance.interop.stress.verdicts import check_run, complete_trace
from hudi_format.storage import LocalStorage
from hudi_spark.testing import InProcess, TableActions, TableWriter

pytestmark = pytest.mark.crashes

SECONDS = 10.0
ENGINE = (sys.executable, "-m", "hudi_spark_adapter", "--in-process")
ON_SPARK = ENGINE[:-1]
SETTINGS = every_setting()
# One of each: type, way to share, version, lock.
SAMPLED = (
    "v6-mor-optimistic-file",
    "v8-cow-optimistic-storage",
    "v9-mor-optimistic-storage",
    "v9-mor-non-blocking-file",
    "v9-mor-non-blocking-zookeeper",
    pytest.param("v9-mor-non-blocking-dynamodb", marks=pytest.mark.peers),
)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", SAMPLED)
def test_every_read_is_what_the_committed_writes_make(name: str, tmp_path: Path, request: pytest.FixtureRequest):
    """Two writers, a keeper of services, a reader; processes are killed before effects drawn at random. Every answer
    is the model's after the writes that had completed; the table, its metadata table and the trace are sound."""
    if SETTINGS[name].lock == "dynamodb":
        request.getfixturevalue("dynamodb_local")
    played = run_stress(SETTINGS[name], ENGINE, tmp_path, SECONDS, 7, kills=True)

    assert played.verdict.wrong == (), played.describe()
    assert played.verdict.committed > 1
    assert played.verdict.reads > 1
    writer = TableWriter(LocalStorage(played.table), InProcess())
    assert TableActions(writer).validate_metadata() == ()


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_every_read_is_right_where_work_runs_on_spark(tmp_path: Path):
    """A writer and a keeper that have a Spark session each; a task's process may be the one that dies."""
    setting = replace(SETTINGS["v8-cow-optimistic-file-spark"], writers=1)
    played = run_stress(setting, ON_SPARK, tmp_path, SECONDS, 7, ENGINE, kills=True)

    assert played.verdict.wrong == (), played.describe()
    assert played.verdict.committed > 1
    assert played.verdict.reads > 1


@pytest.mark.peers
@pytest.mark.spark
@pytest.mark.timeout(600)
def test_apache_hudi_reads_what_a_history_leaves(tmp_path: Path):
    """The table at the end answers the same to Apache Hudi, with its metadata table and without."""
    played = run_stress(SETTINGS["v9-mor-optimistic-file"], ENGINE, tmp_path / "history", SECONDS, 11, kills=True)
    assert played.verdict.wrong == (), played.describe()
    with readers_named(["engine-in-process", "apache-hudi-1.1.1"], tmp_path) as readers:
        done = reread(played, readers)
    assert done.verdict.wrong == (), done.describe()
    assert done.rereads == 4


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Played, Path]:
    """A short history in which nobody dies, and its folder."""
    folder = tmp_path_factory.mktemp("calm")
    setting = Setting(9, MERGE_ON_READ, OPTIMISTIC, "file", writers=1, services=("compaction",))
    return run_stress(setting, ENGINE, folder, 2.0, 1, kills=False), folder


def spoiled_read(record: Record) -> None:
    """The last snapshot lacks a row."""
    number, read = max((number, one) for number, one in enumerate(record.reads) if one.op == "read_snapshot")
    record.reads[number] = replace(read, rows=Rows(read.rows.schema, read.rows.rows[1:]))


def lost_write(record: Record) -> None:
    """A write was reported as committed that is not on the timeline."""
    last_write = record.written[-1]
    record.written.append(Written("ghost", "20200101000000000", last_write.made, "committed"))


def refused_write(record: Record) -> None:
    """A write that is on the timeline was given to be refused."""
    record.written[-1] = replace(record.written[-1], outcome="refused WRITE_CONFLICT")


@pytest.mark.parametrize("spoil", [spoiled_read, lost_write, refused_write])
def test_a_history_that_is_wrong_is_found_out(spoil: Callable[[Record], None], calm: tuple[Played, Path]):
    """A read without a row, a commit that is not there, a refusal that is: each is reported."""
    played, folder = calm
    assert played.verdict.wrong == (), played.describe()
    record = Record(list(played.record.written), list(played.record.reads))
    spoil(record)
    assert len(check_run(played.setting, record, played.table, folder / "trace.ndjson").wrong) == 1


def test_a_last_table_that_reads_differently_is_detected(calm: tuple[Played, Path], tmp_path: Path):
    """A reader that answers other rows than the replay is reported, with the metadata table and without."""
    played, _ = calm
    fewer = Rows(played.verdict.rows.schema, played.verdict.rows.rows[1:])
    with readers_named(["engine-in-process"], tmp_path) as readers:
        done = reread(replace(played, verdict=replace(played.verdict, rows=fewer)), readers)
    assert len(done.verdict.wrong) == 2


def test_a_trace_out_of_order_is_found_out(calm: tuple[Played, Path], tmp_path: Path):
    """A completion before its request is reported by its line."""
    played, folder = calm
    lines = (folder / "trace.ndjson").read_text(encoding="utf-8").splitlines()
    done = next(number for number, line in enumerate(lines) if json.loads(line).get("state") == "COMPLETED")
    trace = tmp_path / "trace.ndjson"
    trace.write_text("\n".join([lines[done], *lines[:done], *lines[done + 1 :]]) + "\n", encoding="utf-8")
    wrong = check_run(played.setting, played.record, played.table, trace).wrong
    assert [one.split(":")[0] for one in wrong] == ["trace"]


def test_a_failed_process_releases_its_lock():
    """The lease of a killed process ends: its lock is free when another takes it."""
    took = [{"process": name, "effect": "take_lock", "holder": name} for name in ("a.1", "b.1")]
    text = complete_trace("".join(json.dumps(one) + "\n" for one in took), ["a.1"])
    assert [json.loads(line)["effect"] for line in text.splitlines()] == ["take_lock", "release_lock", "take_lock"]


def test_the_page_counts_what_was_played(calm: tuple[Played, Path]):
    """Writes, reads and faults of every history stand on it."""
    played, _ = calm
    text = page([played], 2, ())
    assert f"{played.verdict.committed} writes committed" in text
    assert "0 stress runs with a violation.** 1 were not played." in text


def test_a_soak_has_the_whole_matrix_every_lock_and_spark():
    """Each version with each type and way to share; each lock provider; both executors."""
    soaked = soaked_settings()
    assert {one.kind for one in soaked} == {one.kind for one in SETTINGS.values()}
    assert {one.lock for one in soaked} == set(PROVIDERS)
    assert {one.executor for one in soaked} == {"in-process", "spark"}
