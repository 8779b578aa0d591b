"""Real processes write, keep and read one table at once, some are killed, and nothing they read is ever wrong."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hudi_adapter.rows import Rows, read_rows, rows_of_arrow
from hudi_conformance.comparison import compare_rows
from hudi_conformance.histories.judging import judge, whole_trace
from hudi_conformance.histories.page import page
from hudi_conformance.histories.playing import Played, play
from hudi_conformance.histories.records import Record, Written
from hudi_conformance.histories.settings import LOCKS, Setting, settings_for
from hudi_conformance.session import Reply, Session
from hudi_format.storage import LocalStorage
from hudi_spark import read_arrow
from hudi_spark.flows.in_process import InProcess
from hudi_spark.writing.actions import TableActions
from hudi_spark.writing.writer import TableWriter

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))
from lock_servers import aws, zookeeper

LOCK = "hoodie.write.lock."
SOAK = os.environ.get("HUDI_CONFORMANCE_SOAK", "") not in {"", "0"}
SECONDS = 120.0 if SOAK else 10.0
ENGINE = (sys.executable, "-m", "hudi_spark.adapter", "--in-process")
SETTINGS = {one.name: one for lock, configs in LOCKS.items() for one in settings_for(lock, configs)}
# One of each: type, way to share, version, lock.
SAMPLED = (
    "v6-mor-optimistic-file",
    "v8-cow-optimistic-storage",
    "v9-mor-optimistic-storage",
    "v9-mor-non-blocking-file",
)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", SETTINGS if SOAK else SAMPLED)
def test_every_read_is_what_the_committed_writes_make(name: str, tmp_path: Path):
    """Two writers, a keeper of services, a reader; processes are killed before effects drawn at random. Every answer
    is the model's after the writes that had completed; the table, its metadata table and the trace are sound."""
    played = play(SETTINGS[name], ENGINE, tmp_path, SECONDS, 7, kills=True)

    assert played.judgement.wrong == (), played.told()
    assert played.judgement.committed > 1
    assert played.judgement.reads > 1
    writer = TableWriter(LocalStorage(played.table), InProcess())
    assert TableActions(writer).validate_metadata() == ()


def locked_by_zookeeper(folder: Path) -> Iterator[dict[str, str]]:
    """The keys of a server that lives as long as the block."""
    with zookeeper(folder) as server:
        yield {
            f"{LOCK}provider": "org.apache.hudi.client.transaction.lock.ZookeeperBasedLockProvider",
            f"{LOCK}zookeeper.url": "127.0.0.1",
            f"{LOCK}zookeeper.port": str(server.port),
            f"{LOCK}zookeeper.base_path": "/hudi",
            f"{LOCK}zookeeper.lock_key": "ledger",
            # A killed process holds the lock until its session ends.
            f"{LOCK}zookeeper.session_timeout_ms": "2000",
            f"{LOCK}zookeeper.connection_timeout_ms": "6000",
        }


def locked_by_dynamodb(folder: Path) -> Iterator[dict[str, str]]:
    """The same, of a table in a server that speaks as DynamoDB does."""
    folder.mkdir()
    with aws(folder) as server:
        yield {
            f"{LOCK}provider": "org.apache.hudi.aws.transaction.lock.DynamoDBBasedLockProvider",
            f"{LOCK}dynamodb.endpoint_url": server.url,
            f"{LOCK}dynamodb.table": "hudi_locks",
            f"{LOCK}dynamodb.partition_key": "ledger",
            f"{LOCK}dynamodb.region": "us-east-1",
        }


SERVED = {"zookeeper": locked_by_zookeeper, "dynamodb": locked_by_dynamodb}


@pytest.mark.timeout(3600 if SOAK else 600)
@pytest.mark.parametrize("lock", SERVED)
def test_every_read_is_right_under_a_lock_server(lock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The same history where processes on several computers would have their lock."""
    for name, value in (("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", "secret")):
        monkeypatch.setenv(name, value)
    with contextmanager(SERVED[lock])(tmp_path / "server") as configs:
        settings = settings_for(lock, configs)
        for setting in settings if SOAK else settings[-1:]:
            played = play(setting, ENGINE, tmp_path / setting.name, SECONDS, 7, kills=True)
            assert played.judgement.wrong == (), played.told()
            assert played.judgement.committed > 1


@pytest.mark.peers
@pytest.mark.spark
@pytest.mark.timeout(600)
def test_apache_hudi_reads_what_a_history_leaves(tmp_path: Path):
    """The table at the end answers the same to Apache Hudi, with its metadata table and without."""
    played = play(SETTINGS["v9-mor-optimistic-file"], ENGINE, tmp_path / "history", SECONDS, 11, kills=True)
    assert played.judgement.wrong == (), played.told()
    expected = rows_of_arrow(read_arrow(played.table))
    peer = (sys.executable, "-m", "hudi_conformance.adapters.apache_hudi", "--version", "1.1.1")
    with Session(peer, tmp_path / "peer.log") as session:
        for kept in ("true", "false"):
            out = tmp_path / f"out-{kept}"
            out.mkdir()
            params = {"configs": {"hoodie.metadata.enable": kept}}
            heard = session.ask("read_snapshot", played.table, params, out, 240.0)
            assert isinstance(heard, Reply)
            assert compare_rows(expected, read_rows(out / heard.message["result"]["rows_file"])) == ()


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Played, Path]:
    """A short history in which nobody dies, and its folder."""
    folder = tmp_path_factory.mktemp("calm")
    setting = Setting(9, "MERGE_ON_READ", "SINGLE_WRITER", "none", writers=1, services=("compaction",))
    return play(setting, ENGINE, folder, 2.0, 1, kills=False), folder


def spoiled_read(record: Record) -> None:
    """The last snapshot lacks a row."""
    number, read = max((number, one) for number, one in enumerate(record.reads) if one.op == "read_snapshot")
    record.reads[number] = replace(read, rows=Rows(read.rows.schema, read.rows.rows[1:]))


def lost_write(record: Record) -> None:
    """A write was told to be committed that is not on the timeline."""
    told = record.written[-1]
    record.written.append(Written("ghost", "20200101000000000", told.drawn, "committed"))


def refused_write(record: Record) -> None:
    """A write that is on the timeline was told to be refused."""
    record.written[-1] = replace(record.written[-1], outcome="refused WRITE_CONFLICT")


@pytest.mark.parametrize("spoil", [spoiled_read, lost_write, refused_write])
def test_a_history_that_is_wrong_is_found_out(spoil: Callable[[Record], None], calm: tuple[Played, Path]):
    """A read without a row, a commit that is not there, a refusal that is: each is told."""
    played, folder = calm
    assert played.judgement.wrong == (), played.told()
    record = Record(list(played.record.written), list(played.record.reads))
    spoil(record)
    assert len(judge(played.setting, record, played.table, folder / "trace.ndjson").wrong) == 1


def test_a_trace_out_of_order_is_found_out(calm: tuple[Played, Path], tmp_path: Path):
    """A completion before its request is told by its line."""
    played, folder = calm
    lines = (folder / "trace.ndjson").read_text(encoding="utf-8").splitlines()
    done = next(number for number, line in enumerate(lines) if json.loads(line).get("state") == "COMPLETED")
    trace = tmp_path / "trace.ndjson"
    trace.write_text("\n".join([lines[done], *lines[:done], *lines[done + 1 :]]) + "\n", encoding="utf-8")
    wrong = judge(played.setting, played.record, played.table, trace).wrong
    assert [one.split(":")[0] for one in wrong] == ["trace"]


def test_the_dead_let_go_of_their_lock():
    """The lease of a killed process ends: its lock is free when another takes it."""
    took = [{"process": name, "effect": "take_lock", "holder": name} for name in ("a.1", "b.1")]
    text = whole_trace("".join(json.dumps(one) + "\n" for one in took), ["a.1"])
    assert [json.loads(line)["effect"] for line in text.splitlines()] == ["take_lock", "release_lock", "take_lock"]


def test_the_page_counts_what_was_played(calm: tuple[Played, Path]):
    """Writes, reads and faults of every history stand on it."""
    played, _ = calm
    text = page([played], 2.0)
    assert f"{played.judgement.committed} writes" in text
    assert "0 histories with a fault" in text
