"""The command line, in its exit codes and what it prints."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hudi_conformance.adapters.null import KINDS
from hudi_conformance.runner.archive import golden_table
from hudi_conformance.runner.cases import load_cases
from hudi_conformance.runner.results import ResultsError, read_results
from hudi_conformance.runner.suite import SuiteOptions, run_suite
from tiny_corpus import Params, TinyCorpus

Run = Callable[..., subprocess.CompletedProcess[str]]
TABLE = golden_table("v9/cow_upserts")


@pytest.fixture
def run(tiny: TinyCorpus, tmp_path: Path) -> Run:
    """Run `hudi-conformance` in a process of its own."""

    def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "hudi_conformance.cli", *arguments],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "160"},
            capture_output=True,
            text=True,
            check=False,
        )

    return ran


@pytest.mark.parametrize("folder", ["missing", "/proc"])
def test_what_the_system_refuses_is_one_line(run: Run, tmp_path: Path, folder: str):
    """A picture that cannot be written: the path, and exit code 2."""
    place = str(tmp_path / folder / "timeline.svg")
    ended = run("timeline", str(TABLE), "--svg", place)
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert place in ended.stderr
    assert "Traceback" not in ended.stderr + ended.stdout


def test_the_release_is_reported(run: Run):
    """What a report of a problem begins with."""
    assert run("--version").stdout.startswith("hudi-conformance 0.")


def test_a_clean_run_exits_0_with_results_and_summary(tiny: TinyCorpus, run: Run, passing: Params):
    """Results are JSON Lines: a header, a line a case, a footer."""
    case_id = tiny.case("one", passing)

    done = run("run", "--adapter", "fake", "--report", "out")
    results = read_results(tiny.root.parent / "out")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "1/1" in done.stdout
    assert results.header["cases"] == 1
    assert results.header["adapters"] == ["fake"]
    assert [(line["id"], line["adapter"], line["verdict"]) for line in results.cases] == [(case_id, "fake", "pass")]
    assert results.footer["exit"] == 0
    assert results.footer["counts"] == {"fake": {"pass": 1}}
    assert results.footer["implementations"]["fake"]["name"] == "fake"
    assert (tiny.root.parent / "out" / "index.html").is_file()


def test_what_an_adapter_logs_is_kept_beside_the_results(tiny: TinyCorpus, run: Run):
    """stderr of a crash is there to be read."""
    tiny.case("bad", {"do": "die"})

    done = run("run", "--adapter", "fake", "--report", "out")

    assert done.returncode == 1
    assert "last words" in (tiny.root.parent / "out" / "logs" / "fake-0.log").read_text(encoding="utf-8")


def test_the_same_answer_has_the_same_digest(tiny: TinyCorpus, run: Run, passing: Params, other: Params):
    """Answers are compared across runs by their digest, seconds aside."""
    tiny.case("one", passing)
    tiny.case("two", passing)
    tiny.case("three", other)
    run("run", "--adapter", "fake", "--report", "out")

    one, two, three = (line["answer_sha256"] for line in read_results(tiny.root.parent / "out").cases)

    assert one == two != three


def test_a_failure_exits_1_and_is_reported_once(tiny: TinyCorpus, run: Run, passing: Params, other: Params):
    """Every failure has its block, with the command that repeats it."""
    tiny.case("good", passing)
    tiny.case("bad", other)

    done = run("run", "--adapter", "fake")

    assert done.returncode == 1
    assert done.stdout.count("FAIL conformance::v9/tiny::bad [fake]") == 1
    assert "1/2  1 fail" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["--adapter", "fake"],
        ["--adapter", "no-such-adapter"],
        [],
        ["--adapter", "fake", "--adapter", "fake"],
        ["--adapter", "fake", "--expected", "absent.toml"],
    ],
)
def test_a_run_without_verdicts_exits_2(tiny: TinyCorpus, run: Run, arguments: list[str]):
    """An empty corpus, an unknown adapter, none or one twice: usage, not a verdict."""
    assert run("run", *arguments).returncode == 2


def test_missing_bytes_exit_2(tiny: TinyCorpus, run: Run, passing: Params):
    """A corpus with holes gives no verdict."""
    tiny.case("one", passing)
    (tiny.table() / "table.zip").unlink()

    done = run("run", "--adapter", "fake")

    assert done.returncode == 2
    assert "table.zip" in done.stderr


def test_two_adapters_stand_side_by_side(tiny: TinyCorpus, run: Run, passing: Params):
    """A command line is an adapter too."""
    tiny.case("one", passing)

    done = run("run", "--adapter", "fake", "--adapter", f"{sys.executable} {tiny.root / 'fake_adapter.py'}")

    assert done.returncode == 0
    assert done.stdout.count("1/1") == 4


def test_list_names_cases_and_adapters(tiny: TinyCorpus, run: Run, passing: Params):
    """What can be run is listed."""
    case_id = tiny.case("one", passing)

    assert case_id in run("list").stdout
    assert run("list", "--adapters").stdout.split() == ["fake"]
    assert run("list", "--area", "nowhere").returncode == 2


def test_repro_shows_everything_and_keeps_the_given_folder(tiny: TinyCorpus, run: Run, tmp_path: Path, other: Params):
    """The table's copy and the answer stay for a debugger."""
    tiny.case("bad", other)

    done = run("repro", "conformance::v9/tiny::bad", "--adapter", "fake", "--keep", "kept")

    assert done.returncode == 1
    assert "diff    row" in done.stdout
    assert list((tmp_path / "kept").rglob("hoodie.properties"))
    assert list((tmp_path / "kept").rglob("r.jsonl"))
    assert run("repro", "nothing", "--adapter", "fake").returncode == 2

    again = run("repro", "conformance::v9/tiny::bad", "--adapter", "fake", "--keep", "kept")
    assert again.returncode == 2
    assert "kept is not empty" in again.stdout + again.stderr


class TestSmoke:
    """The first check of a new adapter."""

    def test_an_honest_adapter_passes(self, run: Run):
        """An adapter may begin with nothing but its name."""
        done = run("smoke", "--adapter", f"{sys.executable} -m hudi_conformance.adapters.null unsupported")

        assert done.returncode == 0, done.stdout

    @pytest.mark.parametrize(
        ("script", "message"),
        [
            ("pass", "ended with status 0"),
            ("input(); print('hello', flush=True); input()", "not a line of JSON"),
            ("import time; time.sleep(60)", "is stdout flushed"),
            ("input(); print('{}', flush=True); input()", "is a required property"),
        ],
    )
    def test_the_first_violation_is_reported(self, run: Run, script: str, message: str):
        """An author reads what was wrong and how to try it by hand."""
        done = run("smoke", "--limit", "3", "--adapter", f'{sys.executable} -c "{script}"')

        assert done.returncode == 1
        assert message in done.stdout
        assert "try it by hand" in done.stdout


class TestNull:
    """An implementation that knows nothing passes nothing."""

    @pytest.fixture
    def corpus(self, tiny: TinyCorpus) -> TinyCorpus:
        """Cases of every shape."""
        tiny.case("rows", {})
        tiny.case("empty-columns", {}, 'expect = "none"')
        tiny.case("refused", {}, 'reject = {reason = "LOG_CONTENT_CORRUPT"}')
        tiny.case("timeline", {}, 'expect = "timeline"', op="list_timeline")
        tiny.case("info", {}, 'expect = "info"', op="table_info")
        entry = {"requested": "1", "completed": "2", "action": "commit", "state": "COMPLETED"}
        tiny.answers(
            tiny.table(),
            none={"schema": [{"name": "id", "type": "string"}], "rows": []},
            timeline={"value": [entry]},
            info={"value": {"table_version": 9, "table_type": "COPY_ON_WRITE"}},
        )
        return tiny

    @pytest.mark.parametrize("kind", sorted(KINDS))
    def test_it_passes_no_case_of_a_small_corpus(self, corpus: TinyCorpus, run: Run, kind: str):
        """Even an expected answer without rows has columns."""
        command = f"{sys.executable} -m hudi_conformance.adapters.null {kind}"

        run("run", "--adapter", command, "--report", "out")

        assert {line["verdict"] for line in read_results(corpus.root.parent / "out").cases}.isdisjoint(
            {"pass", "unexpected_pass"}
        )

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", sorted(KINDS))
    def test_it_passes_no_case_of_the_corpus(self, kind: str, tmp_path: Path):
        """A case that it passes asks nothing."""
        from hudi_conformance.runner.cases import Selection  # noqa: PLC0415 - likewise
        from rich.console import Console  # noqa: PLC0415 - only here

        root = Path(__file__).resolve().parents[2]
        with (tmp_path / "printed.txt").open("w", encoding="utf-8") as printed:
            options = SuiteOptions(root, (f"null-{kind}",), Selection(), tmp_path / "out")
            run_suite(options, Console(file=printed))
        results = read_results(tmp_path / "out")

        passed = [line["id"] for line in results.cases if line["verdict"] == "pass"]

        assert passed == []
        assert len(results.cases) == len(load_cases(root)) > 0


@pytest.mark.parametrize("text", ["", "{}", "[]\n", "not json", '{"kind":"footer"}\n'])
def test_a_broken_results_file_is_reported(tmp_path: Path, text: str):
    """The report names the file that it cannot read."""
    (tmp_path / "results.jsonl").write_text(text, encoding="utf-8")

    with pytest.raises(ResultsError, match=r"results\.jsonl"):
        read_results(tmp_path)
