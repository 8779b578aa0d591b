"""A small sample put to the peers themselves: what they say now is what the record says."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hudi_conformance.interop.peers.recorded import load_record
from hudi_conformance.interop.peers.running import missing_bundle, peers_required
from hudi_conformance.runner.adapters_config import find_adapter
from hudi_conformance.runner.cases import Selection, load_cases
from hudi_conformance.runner.reading_clauses import ClauseBook
from hudi_conformance.runner.resources import suite_root
from hudi_conformance.runner.running import AdapterRun, RunOptions
from hudi_conformance.runner.suite import lists_of

ROOT = suite_root()
SAMPLE = ("v6/apache_mor_pending_compaction", "v8/apache_mor_event_time", "v9/apache_mor_torn_log")
READ_BY_DAFT = ("v6/apache_cow_upserts", "v6/apache_cow_insert_overwrite", "v6/cow_all_types")


def _run(peer: str, folder: Path) -> Iterator[AdapterRun]:
    why = missing_bundle(ROOT, peer)
    if why and not peers_required():
        pytest.skip(f"{peer} is not asked: {why}")
    assert not why, why
    adapter = find_adapter(peer, ROOT)
    options = RunOptions(folder, step_limit_s=120.0)
    with AdapterRun(
        adapter, options, ClauseBook(ROOT).reading_clause, lists_of(adapter, load_cases(ROOT)).expected
    ) as run:
        yield run


@pytest.fixture(scope="module")
def apache_hudi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdapterRun]:
    yield from _run("apache-hudi-1.1.1", tmp_path_factory.mktemp("apache-hudi"))


@pytest.fixture(scope="module")
def hudi_rs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdapterRun]:
    yield from _run("hudi-rs", tmp_path_factory.mktemp("hudi-rs"))


@pytest.fixture(scope="module")
def daft(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdapterRun]:
    yield from _run("daft", tmp_path_factory.mktemp("daft"))


def _live_and_recorded(run: AdapterRun, peer: str, table: str) -> tuple[dict[str, str], dict[str, str]]:
    cases = load_cases(ROOT, Selection(cases=(f"conformance::{table}::*",)))
    live = {outcome.case.name: outcome.verdict.value for outcome in run.outcomes(cases)}
    return live, dict(load_record(ROOT, peer).tables[table].verdicts)


@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
@pytest.mark.parametrize("table", SAMPLE)
def test_apache_hudi_answers_as_recorded(apache_hudi: AdapterRun, table: str):
    live, recorded = _live_and_recorded(apache_hudi, "apache-hudi-1.1.1", table)
    assert live == recorded


@pytest.mark.peers
@pytest.mark.parametrize("table", SAMPLE)
def test_hudi_rs_answers_as_recorded(hudi_rs: AdapterRun, table: str):
    live, recorded = _live_and_recorded(hudi_rs, "hudi-rs", table)
    assert live == recorded


@pytest.mark.peers
@pytest.mark.parametrize("table", READ_BY_DAFT)
def test_daft_answers_as_recorded(daft: AdapterRun, table: str):
    live, recorded = _live_and_recorded(daft, "daft", table)
    assert live == recorded
