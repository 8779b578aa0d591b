"""Apache Hudi carries out what this engine planned, and the other way round; both read the same then."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hudi_adapter.rows import arrow_of_rows, read_rows
from hudi_conformance.peers.asking import missing_bundle, peers_required
from hudi_conformance.resources import suite_root
from hudi_conformance.session import Reply, Session
from hudi_spark import read_arrow, services_arrow
from written_tables import SCHEMA, Written, rows

CONFIGS = {"hoodie.metadata.enable": "false", "hoodie.parquet.small.file.limit": "0"}
DUE = {
    "hoodie.metadata.enable": "false",
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.log.compaction.blocks.threshold": "2",
}


@pytest.fixture(scope="module")
def apache_hudi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    why = missing_bundle(suite_root(), "apache-hudi-1.1.1")
    if why and not peers_required():
        pytest.skip(f"Apache Hudi is not asked: {why}")
    assert not why, why
    command = (sys.executable, "-m", "hudi_conformance.adapters.apache_hudi", "--version", "1.1.1")
    with Session(command, tmp_path_factory.mktemp("apache-hudi") / "log") as session:
        yield session


def asked(session: Session, op: str, table: Path, params: dict[str, Any]) -> Any:
    out = table.parent / f"out-{len(list(table.parent.iterdir()))}"
    out.mkdir()
    heard = session.ask(op, table, params, out, 180.0)
    assert isinstance(heard, Reply), heard
    assert "result" in heard.message, heard.message
    answer = heard.message["result"]
    return arrow_of_rows(read_rows(out / answer["rows_file"])) if "rows_file" in answer else answer["value"]


def both(session: Session, table: Path) -> list[list[str]]:
    """What this engine and Apache Hudi read."""
    return [answers(read_arrow(table)), answers(asked(session, "read_snapshot", table, {}))]


def answers(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.select(SCHEMA.names).to_pylist()))


@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
@pytest.mark.parametrize(
    ("version", "service"), [(6, "compaction"), (8, "compaction"), (9, "compaction"), (9, "logcompaction")]
)
def test_plans_cross_over(apache_hudi: Session, tmp_path: Path, version: int, service: str):
    """First ours by theirs, with a write between; after another write theirs by ours."""
    table = Written(tmp_path / "table", "MERGE_ON_READ", version, configs=CONFIGS)
    table.write("insert", rows(range(6)))
    table.write("upsert", rows((0, 1, 7), ts=2, price=2.0))
    table.write("delete", rows((2, 3), ts=3))
    ours = services_arrow(table.path, configs=DUE)
    plan = ours.schedule(service)
    table.write("upsert", rows((0, 9), ts=4, price=4.0))
    before = answers(read_arrow(table.path))
    asked(apache_hudi, "execute", table.path, {"requested": plan, "configs": DUE})
    assert both(apache_hudi, table.path) == [before, before]

    table.write("upsert", rows((0, 1, 4), ts=5, price=5.0))
    table.write("delete", rows((5, 9), ts=6))
    plan = asked(apache_hudi, "schedule", table.path, {"service": service, "configs": DUE})["requested"]
    before = answers(read_arrow(table.path))
    ours.execute(plan)
    assert both(apache_hudi, table.path) == [before, before]
