"""Runs over time: the last one is reported, and what moved between the last two is reported."""

import json
from pathlib import Path

import pytest
from hudi_conformance.report.evidence import Evidence, GoldenTable, Implementation, Outcome, Question
from hudi_conformance.report.html import write_report
from hudi_conformance.report.page import page_of
from hudi_conformance.report.runs import History, history_of, result_files, runs_of
from hudi_conformance.report.runs_drawing import runs_svg
from hudi_conformance.runner.results import ResultsError

CASES = ("a", "b", "c", "d")


@pytest.fixture(autouse=True)
def _own_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "corpus" / "golden_tables").mkdir(parents=True)
    monkeypatch.setenv("HUDI_CONFORMANCE_CORPUS", str(tmp_path / "corpus"))


def written(file: Path, day: int, verdicts: str, adapter: str = "engine") -> Path:
    """A run with a case for each letter: p pass, f fail, u unsupported, a blank for a case that was not asked."""
    words = {"p": "pass", "f": "fail", "u": "unsupported"}
    lines = [{"kind": "header", "suite": "0.1.0", "started": f"2025-01-{day:02}T00:00:00Z", "adapters": [adapter]}]
    for case, letter in zip(CASES, verdicts, strict=True):
        if letter in words:
            lines.append({"kind": "case", "id": case, "table": "t", "adapter": adapter, "verdict": words[letter]})
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def history(*files: Path) -> History:
    """The history of runs, on a page that holds every case."""
    questions = tuple(Question(case, "t", case, ()) for case in CASES)
    outcomes = tuple(Outcome("engine", case, "pass") for case in CASES)
    evidence = Evidence((Implementation("engine"),), questions, (GoldenTable("t", "t"),), outcomes)
    return history_of(runs_of(files), page_of(evidence))


def test_what_fails_now_and_did_not_is_newly_failing(tmp_path: Path):
    recorded_history = history(written(tmp_path / "1.jsonl", 1, "pfup"), written(tmp_path / "2.jsonl", 2, "fpfu"))

    assert [one.change.case for one in recorded_history.failing] == ["a", "c"]
    assert [one.change.case for one in recorded_history.passing] == ["b"]
    (moved,) = (one.change for one in recorded_history.otherwise)
    assert (moved.case, moved.before, moved.after) == ("d", "pass", "unsupported")


def test_runs_are_in_the_order_of_their_time_whatever_their_names(tmp_path: Path):
    recorded_history = history(written(tmp_path / "1.jsonl", 3, "pppp"), written(tmp_path / "2.jsonl", 2, "ffff"))

    assert [run.started[:10] for run in recorded_history.runs] == ["2025-01-02", "2025-01-03"]
    assert len(recorded_history.passing) == len(CASES)


def test_a_new_case_that_fails_is_newly_failing_and_one_that_passes_moved_nothing_back(tmp_path: Path):
    recorded_history = history(written(tmp_path / "1.jsonl", 1, "pp  "), written(tmp_path / "2.jsonl", 2, "ppfp"))

    assert [one.change.case for one in recorded_history.failing] == ["c"]
    assert [one.change.case for one in recorded_history.otherwise] == ["d"]
    assert not recorded_history.passing


def test_an_implementation_that_is_new_moved_nothing(tmp_path: Path):
    recorded_history = history(
        written(tmp_path / "1.jsonl", 1, "pppp", "other"), written(tmp_path / "2.jsonl", 2, "ffff")
    )

    assert (recorded_history.failing, recorded_history.passing, recorded_history.otherwise) == ((), (), ())
    assert recorded_history.names == ("engine", "other")


def test_a_folder_of_runs_becomes_the_report_of_the_last_with_a_page_of_all(tmp_path: Path):
    written(tmp_path / "runs" / "monday" / "results.jsonl", 1, "pppp")
    written(tmp_path / "runs" / "tuesday.jsonl", 2, "fppp")
    index = write_report(tmp_path / "runs", tmp_path / "report")
    runs = (tmp_path / "report" / "runs.html").read_text(encoding="utf-8")

    assert "<b>1</b> newly failing" in index.read_text(encoding="utf-8")
    assert "monday" in runs
    assert "tuesday" in runs
    assert "2 runs, from 2025-01-01T00:00:00Z (4 of 4 pass)" in runs


def test_a_folder_without_a_run_is_refused(tmp_path: Path):
    with pytest.raises(ResultsError):
        result_files(tmp_path)


def test_one_failure_of_a_thousand_is_seen_in_the_picture(tmp_path: Path):
    run = history(written(tmp_path / "1.jsonl", 1, "fppp")).of("engine")

    assert 'class="v-fail"' in runs_svg("engine", run)
    assert "No run." in runs_svg("engine", ())
