"""The array of written tables: every two features stand in one row, and what the engine writes is read by others."""

import itertools
import time
from pathlib import Path

import pytest
from hudi_conformance.corpus.table_shapes import WriteCase
from hudi_conformance.interop.fuzzing.array import FACTORS, SAME, array_rows, possible
from hudi_conformance.interop.fuzzing.known_readers import known_readers, unexplained
from hudi_conformance.interop.fuzzing.pairs import covering_rows, pairs_of
from hudi_conformance.interop.fuzzing.reading_back import RowResult, differs, played_by, run_row
from hudi_conformance.interop.fuzzing.recorded import add_results, load_results
from hudi_conformance.interop.peers.running import missing_bundle, peers_required
from hudi_conformance.pages.written import written_lines
from hudi_conformance.runner.resources import suite_root

ROOT = suite_root()
ROWS = array_rows()
APACHE = "apache-hudi-1.1.1"
ENGINE = "engine-in-process"


def test_every_possible_pair_stands_in_a_row():
    """What no row holds cannot stand in any: checked against all rows of the whole product, drawn at random."""
    held = {pair for row in ROWS for pair in pairs_of(row.features, SAME)}
    strides = [17, 101, 1009]
    product = list(itertools.islice(itertools.product(*FACTORS.values()), 0, None, strides[0]))
    rows = [dict(zip(FACTORS, values, strict=True)) for values in product]
    missing = {pair for row in rows if possible(row) for pair in pairs_of(row, SAME) - held}
    # A row has two operations; that two certain ones stand side by side is not asked.
    assert {pair for pair in missing if len({factor for factor, _ in pair}) > 1} == set()


def test_rows_are_few_and_always_the_same():
    assert 30 <= len(ROWS) <= 50
    assert [row.case for row in ROWS] == [row.case for row in array_rows()]
    assert all(possible(row.features) for row in ROWS)
    assert all(WriteCase.from_json(row.case.to_json()) == row.case for row in ROWS)


def test_a_cover_of_two_factors_is_their_product():
    assert len(covering_rows({"a": ("1", "2"), "b": ("x", "y", "z")}, lambda _: True)) == 6


def test_results_of_several_runs_stand_together(tmp_path: Path):
    """What another reader said of a row stays; a row whose features changed begins anew."""
    (tmp_path / "conformance").mkdir()
    result = RowResult("row-01", dict(ROWS[0].features), "same", {"a": "same"}, {})
    add_results(tmp_path, [result])
    add_results(tmp_path, [RowResult("row-01", dict(ROWS[0].features), "same", {"b": "unsupported: x"}, {})])
    assert load_results(tmp_path)["row-01"].read == {"a": "same", "b": "unsupported: x"}
    assert any("1 unsupported" in line for line in written_lines(tmp_path))
    add_results(tmp_path, [RowResult("row-01", {**ROWS[0].features, "version": "9"}, "same", {"b": "same"}, {})])
    assert load_results(tmp_path)["row-01"].read == {"b": "same"}


def test_what_was_recorded_is_the_array_of_today_and_explained():
    """Every row was recorded, and every word that is not `same` has its reason."""
    recorded = load_results(ROOT)
    assert {name: dict(one.features) for name, one in recorded.items()} == {
        row.name: dict(row.features) for row in ROWS
    }
    assert [line for one in recorded.values() for line in unexplained(one)] == []


def test_every_known_difference_was_observed():
    """What no table shows any more is no known difference."""
    words = [
        (result, who, word)
        for result in load_results(ROOT).values()
        for who, word in {**result.read, **result.continued}.items()
        if word != "same"
    ]
    unused = [known.why for known in known_readers() if not any(known.explains(*one) for one in words)]
    assert unused == []


def test_what_is_not_reported_is_no_difference():
    row = dict(ROWS[0].features)
    assert differs(RowResult("row", row, "same", {"a": "missing row"}, {}))
    assert not differs(RowResult("row", row, "same", {"a": "unsupported: log-hfile"}, {}))


@pytest.mark.peers
@pytest.mark.timeout(400)
@pytest.mark.xdist_group("apache-hudi")
def test_the_engine_writes_what_others_read(tmp_path: Path):
    """The rows of the array, as many as three minutes allow, read by the engine, the model, Apache Hudi and hudi-rs."""
    why = missing_bundle(ROOT, APACHE)
    if why and not peers_required():
        pytest.skip(f"{APACHE} is not asked: {why}")
    until, lines = time.monotonic() + 180, []
    with played_by("model", ENGINE, (ENGINE, "model", "hudi-rs", APACHE), (), ROOT) as participants:
        for row in ROWS:
            if time.monotonic() > until:
                break
            lines += unexplained(run_row(row, participants, tmp_path / row.name))
    assert lines == []
