"""The record of what the peers answered, and that it is about the corpus as it stands."""

from dataclasses import replace
from pathlib import Path

import pytest
from hudi_conformance.interop.peers import running
from hudi_conformance.interop.peers.page import peers_page
from hudi_conformance.interop.peers.recorded import (
    RecordError,
    contradictions,
    load_record,
    longest_unqueried,
    pattern_of,
    record_file,
    relabelled,
    stale_tables,
    subject,
)
from hudi_conformance.interop.peers.running import PEERS, run_peer
from hudi_conformance.interop.writers_and_readers.matrix import CHECKED, WROTE
from hudi_conformance.interop.writers_and_readers.record import load_matrix
from hudi_conformance.runner.adapters_config import find_adapter
from hudi_conformance.runner.cases import load_cases, normal_id
from hudi_conformance.runner.expected_failures import load_expected_failures
from hudi_conformance.runner.recorded_results import load_recorded, save_recorded
from hudi_conformance.runner.resources import suite_root
from rich.console import Console
from tiny_corpus import Params, TinyCorpus

ROOT = suite_root()
CASES = load_cases(ROOT)
EACH = pytest.mark.parametrize("peer", PEERS)


@EACH
def test_the_record_is_about_the_corpus_as_it_stands(peer: str):
    assert stale_tables(load_record(ROOT, peer), CASES) == (), "run `make peers`"


@EACH
def test_every_recorded_verdict_is_right_or_an_expected_failure(peer: str):
    assert contradictions(load_record(suite_root(), peer)) == ()


@EACH
def test_the_expected_failures_are_those_that_were_seen_to_fail(peer: str):
    root = suite_root()
    ids = {(subject(case), case.name): case.id for case in CASES}
    seen = {
        ids[table, case]
        for table, recorded in load_record(root, peer).tables.items()
        for case, verdict in recorded.verdicts.items()
        if verdict == "expected_fail"
    }
    if written := load_matrix(root).get(peer):
        own = {case: {by_column.get(WROTE), by_column.get(CHECKED)} for case, by_column in written.cases.items()}
        seen |= {normal_id(case) for case, verdicts in own.items() if "expected_fail" in verdicts}
    assert set(load_expected_failures(find_adapter(peer, root).expected_failures)) == seen


def test_the_page_about_the_peers_names_every_peer():
    text = peers_page(suite_root())
    assert [peer for peer in PEERS if peer not in text] == []


def test_every_peer_passes_most_of_what_it_supports_of_what_apache_hudi_wrote():
    for peer in PEERS:
        tables = load_record(suite_root(), peer).tables
        verdicts = [one for name, table in tables.items() if "apache" in name for one in table.verdicts.values()]
        assert verdicts.count("pass") > verdicts.count("expected_fail") + verdicts.count("open")


def _peer_run(tiny: TinyCorpus, params: Params) -> running.PeerRun:
    tiny.case("c", params)
    return run_peer(tiny.root, "fake", Console(quiet=True))


def test_a_first_run_covers_all_tables_and_keeps_the_answers(tiny: TinyCorpus, passing: Params):
    run = _peer_run(tiny, passing)
    record = load_record(tiny.root, "fake")
    assert (run.code, run.tables) == (0, tuple(record.tables))
    assert [set(table.verdicts.values()) for table in record.tables.values()] == [{"pass"}]
    assert stale_tables(record, load_cases(tiny.root)) == ()


def test_a_table_of_a_draft_is_left_out_where_all_tables_are_named(tiny: TinyCorpus, passing: Params):
    tiny.case("draft", passing, table_id="v10/tiny")
    tiny.case("c", passing)
    named = sorted({subject(case) for case in load_cases(tiny.root)})
    assert len(named) == 2
    run = run_peer(tiny.root, "fake", Console(quiet=True), named)
    assert (run.code, run.tables, tuple(load_record(tiny.root, "fake").tables)) == (0, ("v9/tiny",), ("v9/tiny",))


def test_a_wrong_answer_is_kept_as_a_contradiction(tiny: TinyCorpus, other: Params):
    assert _peer_run(tiny, other).code == 1
    assert len(contradictions(load_record(tiny.root, "fake"))) == 1


def test_a_changed_answer_of_the_corpus_makes_the_record_stale(tiny: TinyCorpus, passing: Params):
    _peer_run(tiny, passing)
    (case,) = load_cases(tiny.root)
    tiny.answers(case.table.folder, rows={"value": 1})
    assert stale_tables(load_record(tiny.root, "fake"), load_cases(tiny.root)) == (case.table.id,)


def test_a_new_question_alone_is_put_where_nothing_else_changed(tiny: TinyCorpus, passing: Params):
    _peer_run(tiny, passing)
    content = load_recorded(tiny.root, "peers/fake")
    (table,) = content["tables"].values()
    table["queried_on"], table["cases"]["c"] = "2001-01-01", ["pass", "as before"]
    save_recorded(tiny.root, "peers/fake", content)
    tiny.case("new", passing)

    run_peer(tiny.root, "fake", Console(quiet=True), sample=0)

    ((name, one),) = load_record(tiny.root, "fake").tables.items()
    assert (one.queried_on, one.verdicts, one.answers["c"]) == ("2001-01-01", {"c": "pass", "new": "pass"}, "as before")
    run_peer(tiny.root, "fake", Console(quiet=True), (name,))
    assert load_record(tiny.root, "fake").tables[name].answers["c"] != "as before"


def test_a_table_that_left_the_corpus_makes_the_record_stale(tiny: TinyCorpus, passing: Params):
    _peer_run(tiny, passing)
    assert stale_tables(load_record(tiny.root, "fake"), ()) == tuple(load_record(tiny.root, "fake").tables)


def test_a_changed_list_is_detected_without_a_run(tiny: TinyCorpus, passing: Params, other: Params):
    ids = [tiny.case("good", passing), tiny.case("bad", other)]
    run_peer(tiny.root, "fake", Console(quiet=True))
    record = load_record(tiny.root, "fake")

    both, none = relabelled(record, ids), relabelled(relabelled(record, ids), ())

    assert [one.verdicts for one in both.tables.values()] == [{"good": "unexpected_pass", "bad": "expected_fail"}]
    assert [one.verdicts for one in none.tables.values()] == [{"good": "pass", "bad": "fail"}]


def test_a_record_is_compared_with_the_list_without_a_run(tiny: TinyCorpus, other: Params):
    _peer_run(tiny, other)
    entry = '[[case]]\nid = "v9/tiny::*"\nclause = "RD-001"\nwhy = "so"\nevidence = "bytes"\n'
    (tiny.root / "fake.expected.toml").write_text(entry, encoding="utf-8")
    adapter = tiny.root / "adapters" / "fake.toml"
    adapter.write_text(
        adapter.read_text(encoding="utf-8") + '\nexpected_failures = "fake.expected.toml"\n', encoding="utf-8"
    )

    running.relist(tiny.root, "fake")

    assert contradictions(load_record(tiny.root, "fake")) == ()


def test_what_was_answered_wrongly_is_due_again(tiny: TinyCorpus, other: Params):
    _peer_run(tiny, other)
    record = load_record(tiny.root, "fake")
    assert running.due_tables(record, load_cases(tiny.root), sample=0) == tuple(record.tables)


def test_a_writing_case_is_due_only_where_it_was_run_before(tiny: TinyCorpus, passing: Params):
    _peer_run(tiny, passing)
    record = load_record(tiny.root, "fake")
    (case,) = load_cases(tiny.root)
    writing = replace(case, table=replace(case.table, id="writing/single"), name="upsert")
    (kept,) = record.tables.values()
    assert writing.writes
    assert stale_tables(record, (case, writing)) == ()
    with_it = replace(record, tables={**record.tables, subject(writing): replace(kept, table_bytes="other")})
    assert stale_tables(with_it, (case, writing)) == ("writing/single/upsert",)
    assert pattern_of("writing/single/upsert", (case, writing)) == writing.id
    assert pattern_of(case.table.id, (case, writing)) == f"conformance::{case.table.id}::*"


def test_the_sample_holds_what_was_run_longest_ago(tiny: TinyCorpus, passing: Params):
    _peer_run(tiny, passing)
    content = load_recorded(tiny.root, "peers/fake")
    (table,) = content["tables"].values()
    content["tables"]["v9/elder"] = {**table, "queried_on": "2001-01-01"}
    save_recorded(tiny.root, "peers/fake", content)
    assert longest_unqueried(load_record(tiny.root, "fake"), 1) == ("v9/elder",)


def test_a_broken_record_is_distinguished_from_an_absent_one(tmp_path: Path):
    assert load_record(tmp_path, "peer").tables == {}
    save_recorded(tmp_path, "peers/peer", {})
    with pytest.raises(RecordError, match="tables"):
        load_record(tmp_path, "peer")


@pytest.mark.parametrize(("required", "code"), [("", 0), ("1", 1)])
def test_a_bundle_that_cannot_be_had_is_reported_and_in_ci_a_failure(
    tiny: TinyCorpus, passing: Params, monkeypatch: pytest.MonkeyPatch, required: str, code: int
):
    monkeypatch.setenv(running.REQUIRE_VARIABLE, required)
    monkeypatch.setattr(running, "missing_bundle", lambda _root, _adapter: "no way to fetch it")
    run = _peer_run(tiny, passing)
    assert (run.code, run.missing) == (code, "no way to fetch it")
    assert not record_file(tiny.root, "fake").exists()
