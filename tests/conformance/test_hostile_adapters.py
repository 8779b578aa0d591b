"""Adapters that misbehave: each bad answer is one bad verdict, the run goes on, ends, and leaves nothing behind."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hostile_adapter import DO, GOOD, WRITES
from hudi_conformance.runner.resources import WRITING_CASES
from hudi_conformance.runner.session import Broken, Hung, Reply, Session
from tiny_corpus import TinyCorpus, entry_of

Run = Callable[..., subprocess.CompletedProcess[str]]
SCRIPT = Path(__file__).with_name("hostile_adapter.py")
BOUND_S = 540
LIMIT_S = "8"
ROWS = ("rows-", "parquet-", "arrow-")
VERDICTS = {
    **{do: "fail" if do.startswith(ROWS) else "error" for do in DO},
    **dict.fromkeys(("good", "child-and-answer"), "pass"),
    **dict.fromkeys(("sleep", "dribble", "flood-stderr"), "timeout"),
    **dict.fromkeys(("fifo", "folder", "endless-device", "link-out", "link-to-itself", "linked-folder"), "fail"),
    **dict.fromkeys(("sparse", "no-file", "name-with-nul", "long-name", "rejected-controls"), "fail"),
    "unsupported-controls": "unsupported",
}
IN_PYTEST = {"pass": "passed", "unsupported": "skipped"}
CONTROLS = "\x00\x07\x08\x1b\x7f\x9b\u202e\ud800"


@pytest.fixture
def pids(tmp_path: Path) -> Path:
    """Where the adapter's processes leave their ids."""
    folder = tmp_path / "pids"
    folder.mkdir()
    return folder


@pytest.fixture
def run(tiny: TinyCorpus, tmp_path: Path, pids: Path) -> Run:
    """Run a module of Python with the hostile adapter, for no longer than the bound."""
    assert tiny.root.is_dir()

    def ran(*arguments: str, way: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *arguments, "--adapter", f"{sys.executable} {SCRIPT} {pids} {way}"],
            cwd=tmp_path,
            env={**os.environ, "PYTEST_ADDOPTS": "", "COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=False,
            timeout=BOUND_S,
        )

    return ran


def _cases(tiny: TinyCorpus) -> None:
    """A bad answer, then a good one, for each way to misbehave."""
    tiny.answers(tiny.table(), one=entry_of(GOOD))
    for do in DO:
        tiny.case(do, {"do": do}, 'expect = "one"')
        tiny.case(f"after-{do}", {"do": "good"}, 'expect = "one"')


def _expected(case: str) -> str:
    return "pass" if case.startswith("after-") else VERDICTS[case]


def _survivors(pids: Path) -> list[int]:
    """The adapter's processes that still live, after they had a moment to end; they are ended here."""
    deadline, alive = time.monotonic() + 10, [int(one.name) for one in pids.iterdir()]
    while alive and time.monotonic() < deadline:
        alive = [one for one in alive if _alive(one)]
        time.sleep(0.1)
    for one in alive:
        os.kill(one, 9)
    return alive


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _assert_plain(text: str) -> None:
    assert not set(text) & set(CONTROLS)


@pytest.mark.slow
@pytest.mark.timeout(BOUND_S + 60)
def test_a_run_survives_every_bad_answer(tiny: TinyCorpus, run: Run, tmp_path: Path, pids: Path):
    """Results, report and JUnit file are there, each verdict is as expected, and no process is left."""
    _cases(tiny)

    done = run(
        *("hudi_conformance.cli", "run", "--limit", LIMIT_S, "--jobs", "2"),
        *("--report", str(tmp_path / "report"), "--junit", str(tmp_path / "junit.xml")),
    )

    assert done.returncode == 1, done.stderr[-2000:]
    text = (tmp_path / "report" / "results.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.split("\n") if line]
    verdicts = {line["case"]: line["verdict"] for line in lines if line["kind"] == "case"}
    assert verdicts == {case: _expected(case) for case in verdicts}
    assert len(verdicts) == 2 * len(DO)
    assert lines[-1]["exit"] == 1
    assert len(ET.parse(tmp_path / "junit.xml").findall(".//testcase")) == 2 * len(DO)  # noqa: S314 - ours
    for shown in (done.stdout, text, *_pages(tmp_path / "report")):
        _assert_plain(shown)
    assert len(text) < 1_000_000
    assert sum(log.stat().st_size for log in (tmp_path / "report" / "logs").iterdir()) < 40 << 20
    assert "Traceback" not in done.stderr
    assert not _survivors(pids)


def _pages(report: Path) -> list[str]:
    return [page.read_text(encoding="utf-8") for page in report.rglob("*.html")]


@pytest.mark.slow
@pytest.mark.timeout(BOUND_S + 60)
@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["one", "two-workers"])
def test_pytest_survives_every_bad_answer(tiny: TinyCorpus, run: Run, tmp_path: Path, pids: Path, workers: list[str]):
    """The same by the other door."""
    _cases(tiny)

    done = run(
        *("pytest", "-p", "no:cacheprovider", "--conformance", "--conformance-limit", LIMIT_S, "-q", "-rs"),
        *(f"--junitxml={tmp_path / 'junit.xml'}", *workers),
    )

    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout[-2000:] + done.stderr[-2000:]
    found = {}
    for case in ET.parse(tmp_path / "junit.xml").iter("testcase"):  # noqa: S314 - ours
        found[case.get("name")] = {"failure": "failed", "skipped": "skipped"}.get(case[-1].tag, "passed")
    assert found == {case: IN_PYTEST.get(_expected(str(case)), "failed") for case in found}
    assert len(found) == 2 * len(DO)
    _assert_plain(done.stdout)
    assert "INTERNALERROR" not in done.stdout
    assert not _survivors(pids)


@pytest.mark.parametrize("door", [["hudi_conformance.cli", "run"], ["hudi_conformance.cli", "smoke"]])
def test_an_unknown_op_is_bad_usage(tiny: TinyCorpus, run: Run, door: list[str]):
    """A misspelt op would be a green run of `unsupported`: the nearest known one is named."""
    tiny.case("one", {"do": "good"})

    done = run(*door, way="mistyped")

    assert done.returncode == (2 if door[-1] == "run" else 1)
    assert "'read_snapshoot'" in done.stdout + done.stderr
    assert "did you mean 'read_snapshot'" in done.stdout + done.stderr


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["one", "two-workers"])
def test_an_unknown_op_is_bad_usage_in_pytest(tiny: TinyCorpus, run: Run, pids: Path, workers: list[str]):
    """It is found before the first case is asked, also with workers."""
    tiny.case("one", {"do": "good"})

    done = run("pytest", "-p", "no:cacheprovider", "--conformance", *workers, way="mistyped")

    assert done.returncode == pytest.ExitCode.USAGE_ERROR, done.stdout
    assert "did you mean 'read_snapshot'" in done.stderr
    assert len(list(pids.iterdir())) == 1


@pytest.mark.slow
def test_a_run_that_judges_nothing_is_not_green(tiny: TinyCorpus, run: Run):
    """Who supports nothing of what is asked has passed nothing."""
    tiny.case("one", {"do": "unsupported-controls"})

    by_run = run("hudi_conformance.cli", "run", way="no-ops")
    by_pytest = run("pytest", "-p", "no:cacheprovider", "--conformance")
    shared = run("pytest", "-p", "no:cacheprovider", "--conformance", "-n", "2")

    assert by_run.returncode == 2
    assert "supports nothing that was asked" in by_run.stdout
    assert "its ops are none; asked: read_snapshot" in by_run.stdout
    for done in (by_pytest, shared):
        assert done.returncode == pytest.ExitCode.USAGE_ERROR, done.stdout
        assert "supports none of the 1 cases" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("way", ["answers-stop", "stays"])
def test_smoke_reports_what_follows_stop(run: Run, pids: Path, way: str):
    """`stop` is not answered, and the process leaves."""
    done = run("hudi_conformance.cli", "smoke", way=way)

    assert done.returncode == 1
    assert ("answered stop" if way == "answers-stop" else "still running after stop") in done.stdout
    assert not _survivors(pids)


def test_what_an_adapter_says_of_itself_is_kept_short(tiny: TinyCorpus, run: Run, tmp_path: Path):
    """Its name may be megabytes of control characters."""
    tiny.answers(tiny.table(), one=entry_of(GOOD))
    tiny.case("one", {"do": "good"}, 'expect = "one"')

    done = run("hudi_conformance.cli", "run", "--report", str(tmp_path / "report"), way="odd-name")

    text = (tmp_path / "report" / "results.jsonl").read_text(encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert len(text) < 10_000
    for shown in (text, *_pages(tmp_path / "report")):
        _assert_plain(shown)


def _session(tmp_path: Path, pids: Path, way: str = "") -> Session:
    return Session([sys.executable, str(SCRIPT), str(pids), way], tmp_path / "log", 30.0)


def test_a_start_of_many_violations_is_reported_at_once(tmp_path: Path, pids: Path):
    """Two hundred thousand features that are no texts."""
    started = time.monotonic()
    response = _session(tmp_path, pids, "many-features").start()

    assert isinstance(response, Broken)
    assert "features" in response.why
    assert time.monotonic() - started < 30


def test_an_answer_before_its_question_counts_for_no_case(tmp_path: Path, pids: Path):
    """What was written while nobody asked is no answer: the process starts anew, and the next question is answered."""
    with _session(tmp_path, pids) as session:
        first = session.request("read_snapshot", tmp_path, {"do": "late"}, tmp_path, 20.0)
        time.sleep(1.0)
        second = session.request("read_snapshot", tmp_path, {"do": "good"}, tmp_path, 20.0)
        third = session.request("read_snapshot", tmp_path, {"do": "good"}, tmp_path, 20.0)

    assert isinstance(first, Reply)
    assert isinstance(second, Broken)
    assert "without being asked" in second.why
    assert isinstance(third, Reply)
    assert not _survivors(pids)


def test_a_process_that_does_not_read_is_not_waited_for(tmp_path: Path, pids: Path):
    """A question that is longer than a pipe."""
    with _session(tmp_path, pids) as session:
        session.start()
        session.request("read_snapshot", tmp_path, {"do": "deaf"}, tmp_path, 20.0)
        started = time.monotonic()
        response = session.request("read_snapshot", tmp_path, {"do": "good", "more": "x" * (1 << 20)}, tmp_path, 2.0)

    assert response == Hung(2.0)
    assert time.monotonic() - started < 30


WRITING_CASES_FILE = """\
title = "A write and a question that names its time"
table_version = 9
clauses = ["RD-001"]
kills = ["some-mutant"]
"""
SCRIPT_OF_STEPS = """\
{do} = [
  {{op = "create_table", params = {{do = "empty"}}}},
  {{op = "write", params = {{do = "{do}"}}, done = {{action = "commit"}}}},
  {{op = "read_snapshot", params = {{do = "good", instant = "$2.requested"}}, expect = "one"}},
]
"""


def test_a_writing_case_survives_every_bad_value(tiny: TinyCorpus, run: Run, tmp_path: Path, pids: Path):
    """What a write answers is used by later steps: no value of it ends the run."""
    folder = tiny.root / WRITING_CASES / "hostile"
    folder.mkdir(parents=True)
    steps = "".join(SCRIPT_OF_STEPS.format(do=do) for do in WRITES)
    cases = "".join(f'[[case]]\nid = "{do}"\nscript = "{do}"\n' for do in WRITES)
    (folder / "writes.toml").write_text(f"{WRITING_CASES_FILE}[scripts]\n{steps}{cases}", encoding="utf-8")
    tiny.answers(folder, one=entry_of(GOOD))
    (folder / "expected.json").rename(folder / "writes.json")

    done = run("hudi_conformance.cli", "run", "--limit", LIMIT_S, "--report", str(tmp_path / "report"))

    text = (tmp_path / "report" / "results.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.split("\n") if line]
    verdicts = {line["case"]: line["verdict"] for line in lines if line["kind"] == "case"}
    assert done.returncode == 1, done.stderr
    assert verdicts == {do: "pass" if do == "sound" else "fail" for do in WRITES}
    _assert_plain(done.stdout + text)
    assert not _survivors(pids)
