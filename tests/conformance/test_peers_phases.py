"""Apache Hudi's writes in phases and its table services, asked through its adapter; the model reads what they left."""

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hudi_adapter.rows import Rows, read_rows, write_rows
from hudi_conformance.interop.peers.running import missing_bundle, peers_required
from hudi_conformance.runner.adapters_config import find_adapter
from hudi_conformance.runner.resources import suite_root
from hudi_conformance.runner.session import Reply, Session

ROOT = suite_root()
COLUMNS = (("id", "string"), ("day", "string"), ("ts", "int64"), ("note", "string"))
SHARED = {
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.index.type": "SIMPLE",
}
SERVICES = {
    "compaction": {"hoodie.compact.inline.max.delta.commits": "1"},
    "clustering": {
        "hoodie.clustering.async.max.commits": "1",
        "hoodie.clustering.plan.strategy.single.group.clustering.enabled": "true",
    },
    "clean": {"hoodie.clean.commits.retained": "1"},
}
Request = Callable[..., dict[str, Any]]


def _session(name: str, folder: Path) -> Session:
    return Session(find_adapter(name, ROOT).command, folder / "log")


@pytest.fixture(scope="module")
def apache_hudi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    why = missing_bundle(ROOT, "apache-hudi-1.1.1")
    if why and not peers_required():
        pytest.skip(f"apache-hudi-1.1.1 is not asked: {why}")
    assert not why, why
    with _session("apache-hudi-1.1.1", tmp_path_factory.mktemp("apache-hudi")) as session:
        yield session


@pytest.fixture
def send_request(apache_hudi: Session, tmp_path: Path) -> Request:
    numbers = itertools.count()

    def send(op: str, rows: tuple[tuple[Any, ...], ...] = (), **params: Any) -> dict[str, Any]:
        out = tmp_path / f"out-{next(numbers)}"
        out.mkdir()
        if rows:
            params["input"] = str(out / "input.jsonl")
            write_rows(Path(params["input"]), Rows(COLUMNS, rows))
        response = apache_hudi.request(op, tmp_path / "table", {"configs": SHARED, **params}, out, 120.0)
        assert isinstance(response, Reply), response
        return dict(response.message)

    return send


def _created(send_request: Request, tmp_path: Path, table_type: str) -> None:
    (tmp_path / "table").mkdir()
    fields = [{"name": "id", "type": "string"}]
    types = {"string": "string", "int64": "long"}
    fields += [{"name": name, "type": ["null", types[kind]], "default": None} for name, kind in COLUMNS[1:]]  # type: ignore[dict-item]
    schema = json.dumps({"type": "record", "name": "orders", "fields": fields})
    keys = {"record_key": ["id"], "partition_by": ["day"], "ordering": ["ts"]}
    send_request("create_table", name="orders", schema=schema, table_type=table_type, table_version=9, **keys)


def _read(tmp_path: Path) -> list[tuple[Any, ...]]:
    out = tmp_path / "model"
    out.mkdir(exist_ok=True)
    with _session("model", out) as session:
        response = session.request("read_snapshot", tmp_path / "table", {}, out, 60.0)
    assert isinstance(response, Reply), response
    return sorted(read_rows(out / response.message["result"]["rows_file"]).rows)


@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
def test_of_two_staged_writes_of_one_row_the_second_to_commit_is_in_conflict(send_request: Request, tmp_path: Path):
    _created(send_request, tmp_path, "COPY_ON_WRITE")
    send_request("write", (("a", "d1", 1, "first"), ("b", "d2", 1, "first")), operation="insert")
    for name in ("one", "two"):
        send_request("begin_write", txn=name, operation="upsert")
    for name in ("one", "two"):
        assert "result" in send_request("stage_write", (("a", "d1", 2, name),), txn=name, operation="upsert")
    assert send_request("commit_write", txn="one")["result"]["value"]["action"] == "commit"
    assert send_request("commit_write", txn="two")["rejected"]["reason"] == "WRITE_CONFLICT"
    assert _read(tmp_path) == [("a", "d1", 2, "one"), ("b", "d2", 1, "first")]


@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
def test_a_write_that_is_given_up_leaves_no_row(send_request: Request, tmp_path: Path):
    _created(send_request, tmp_path, "MERGE_ON_READ")
    send_request("write", (("a", "d1", 1, "first"),), operation="insert")
    send_request("begin_write", txn="one", operation="delete")
    send_request("stage_write", (("a", "d1", 2, ""),), txn="one", operation="delete")
    send_request("abort_write", txn="one")
    assert _read(tmp_path) == [("a", "d1", 1, "first")]


@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
@pytest.mark.parametrize("service", SERVICES)
def test_services_are_planned_then_carried_out(send_request: Request, tmp_path: Path, service: str):
    _created(send_request, tmp_path, "MERGE_ON_READ" if service == "compaction" else "COPY_ON_WRITE")
    for ts in (1, 2, 3):
        send_request("write", (("a", "d1", ts, "row"),), operation="upsert")
    planned = send_request("schedule", service=service, configs={**SHARED, **SERVICES[service]})["result"]["value"]
    done = send_request("execute", requested=planned["requested"])["result"]["value"]
    assert done["requested"] == planned["requested"]
    assert done["completed"] is not None
    assert _read(tmp_path) == [("a", "d1", 3, "row")]


@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
def test_a_restore_brings_back_what_was_saved(send_request: Request, tmp_path: Path):
    _created(send_request, tmp_path, "COPY_ON_WRITE")
    send_request("write", (("a", "d1", 1, "kept"),), operation="upsert")
    saved = send_request("service", name="savepoint")["result"]["value"]
    send_request("write", (("a", "d1", 2, "undone"),), operation="upsert")
    restored = send_request("service", name="restore", to=saved["requested"])["result"]["value"]
    assert restored["action"] == "restore"
    assert _read(tmp_path) == [("a", "d1", 1, "kept")]
