"""`pytest --conformance`, run as its users run it: in a folder of their own, in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tiny_corpus import Params, TinyCorpus

Run = Callable[..., subprocess.CompletedProcess[str]]
BOTH = 'expect = {released = "rows", text = "other"}'


@pytest.fixture
def run(tiny: TinyCorpus, tmp_path: Path) -> Run:
    """Run pytest in a foreign, empty folder without any configuration."""
    foreign = tmp_path / "foreign"
    foreign.mkdir()

    def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error", *arguments],
            cwd=foreign,
            env={**os.environ, "PYTEST_ADDOPTS": "", "COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=False,
        )

    return ran


def test_only_the_corpus_is_collected_without_paths(tiny: TinyCorpus, run: Run, tmp_path: Path, passing: Params):
    """A user's own tests do not run by accident; ids are those of the corpus."""
    (tmp_path / "foreign" / "test_own.py").write_text("def test_own(): assert False\n", encoding="utf-8")
    tiny.case("one", passing)

    done = run("--conformance", "--adapter", "fake", "-v")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "collected 1 item" in done.stdout
    assert "conformance::v9/tiny::one PASSED" in done.stdout
    assert "test_own" not in done.stdout


def test_paths_add_what_they_name(tiny: TinyCorpus, run: Run, tmp_path: Path, passing: Params):
    """With paths, a user's tests run beside the corpus."""
    (tmp_path / "foreign" / "test_own.py").write_text("def test_own(): pass\n", encoding="utf-8")
    tiny.case("one", passing)

    done = run("--conformance", "--adapter", "fake", "test_own.py")

    assert "2 passed" in done.stdout


def test_without_the_option_nothing_happens(run: Run, tmp_path: Path):
    """An installed suite does not disturb other test runs, nor imports anything for them."""
    (tmp_path / "foreign" / "test_own.py").write_text(
        "import sys\n\n\ndef test_own():\n"
        "    heavy = {'pyarrow', 'jsonschema', 'hudi_conformance.runner.cases', 'hudi_adapter'}\n"
        "    assert not heavy & sys.modules.keys()\n",
        encoding="utf-8",
    )

    done = run()

    assert "1 passed" in done.stdout, done.stdout


@pytest.mark.parametrize("adapters", [[], ["--adapter", "fake", "--adapter", "fake"], ["--adapter", "no-such"]])
def test_anything_but_one_known_adapter_is_a_usage_error(
    tiny: TinyCorpus, run: Run, passing: Params, adapters: list[str]
):
    """A run that asks nobody must not look green."""
    tiny.case("one", passing)

    done = run("--conformance", *adapters)

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "adapter" in done.stderr


def test_zero_cases_are_a_failure(tiny: TinyCorpus, run: Run):
    """An empty corpus proves nothing."""
    done = run("--conformance", "--adapter", "fake")

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "no case" in done.stderr


@pytest.mark.slow
def test_verdicts_become_outcomes(tiny: TinyCorpus, run: Run, tmp_path: Path, passing: Params, other: Params):
    """Unsupported and open are skips with their reason, an expected failure is xfailed, an unexpected pass fails."""
    tiny.case("good", passing)
    tiny.case("bad", other)
    tiny.case("lacking", {"do": "unsupported"})
    tiny.case("undecided", passing, "")
    tiny.case("known", other)
    tiny.case("fixed", passing)
    listed = tmp_path / "known.toml"
    listed.write_text(
        "".join(
            f'[[case]]\nid = "v9/tiny::{name}"\nclause = "RD-001"\nwhy = "bug 12"\nevidence = "bytes"\n'
            for name in ("known", "fixed")
        ),
        encoding="utf-8",
    )

    done = run("--conformance", "--adapter", "fake", "--conformance-expected", str(listed), "-rsx")

    assert done.returncode == 1
    assert "2 failed, 1 passed, 2 skipped, 1 xfailed" in done.stdout
    assert "unsupported: log-hfile" in done.stdout
    assert "bug 12" in done.stdout
    assert "UNEXPECTED_PASS conformance::v9/tiny::fixed" in done.stdout
    assert 'diff    row id="k1": column n: expected "1", is "2"' in done.stdout
    assert "repro   hudi-conformance repro conformance::v9/tiny::bad --adapter fake" in done.stdout
    assert "Traceback" not in done.stdout


def test_an_unknown_id_in_the_list_is_a_usage_error(tiny: TinyCorpus, run: Run, tmp_path: Path, passing: Params):
    """A stale list is no list."""
    tiny.case("good", passing)
    (tmp_path / "known.toml").write_text(
        '[[case]]\nid = "v9/tiny::gone"\nclause = "RD-001"\nwhy = "x"\nevidence = "y"\n', encoding="utf-8"
    )

    done = run("--conformance", "--adapter", "fake", "--conformance-expected", str(tmp_path / "known.toml"))

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "v9/tiny::gone" in done.stderr


class TestSkips:
    """Cases that are not asked."""

    @pytest.fixture
    def skips(self, tmp_path: Path) -> Path:
        """A list of one."""
        file = tmp_path / "skips.toml"
        file.write_text('[[skip]]\nid = "v9/tiny::bad"\nreason = "needs a month"\n', encoding="utf-8")
        return file

    def test_a_skipped_case_is_reported_with_its_reason(
        self, tiny: TinyCorpus, run: Run, skips: Path, passing: Params, other: Params
    ):
        """It neither passes nor fails."""
        tiny.case("good", passing)
        tiny.case("bad", other)

        done = run("--conformance", "--adapter", "fake", "--conformance-skip", str(skips), "-rs")

        assert done.returncode == 0, done.stdout
        assert "1 passed, 1 skipped" in done.stdout
        assert "skipped: needs a month" in done.stdout

    def test_nothing_but_skips_is_a_failure(self, tiny: TinyCorpus, run: Run, skips: Path, other: Params):
        """Nobody was asked anything."""
        tiny.case("bad", other)

        done = run("--conformance", "--adapter", "fake", "--conformance-skip", str(skips))

        assert done.returncode == pytest.ExitCode.USAGE_ERROR
        assert "no case is asked" in done.stderr

    def test_an_unknown_id_is_a_usage_error(self, tiny: TinyCorpus, run: Run, skips: Path, passing: Params):
        """A stale list is no list."""
        tiny.case("good", passing)

        done = run("--conformance", "--adapter", "fake", "--conformance-skip", str(skips))

        assert done.returncode == pytest.ExitCode.USAGE_ERROR
        assert "v9/tiny::bad" in done.stderr


class TestConfiguration:
    """Two lines in a repository of somebody else."""

    @pytest.mark.slow
    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_two_lines_are_enough(  # noqa: PLR0917 - fixtures
        self, tiny: TinyCorpus, run: Run, tmp_path: Path, passing: Params, other: Params, workers: tuple[str, ...]
    ):
        """The adapter's file names its command and its lists, all relative to itself."""
        foreign = tmp_path / "foreign"
        tiny.case("good", passing)
        tiny.case("known", other)
        tiny.case("skipped", other)
        (tiny.root / "fake_adapter.py").rename(foreign / "fake_adapter.py")
        (foreign / "pytest.ini").write_text("[pytest]\nconformance_adapter = adapter.toml\n", encoding="utf-8")
        (foreign / "adapter.toml").write_text(
            'name = "theirs"\ncommand = ["{python}", "fake_adapter.py"]\n'
            'expected_failures = "known.toml"\nskips = "skips.toml"\n',
            encoding="utf-8",
        )
        entry = '[[case]]\nid = "v9/tiny::known"\nclause = "RD-001"\nwhy = "bug 12"\nevidence = "bytes"\n'
        (foreign / "known.toml").write_text(entry, encoding="utf-8")
        (foreign / "skips.toml").write_text('[[skip]]\nid = "*::skipped"\nreason = "slow"\n', encoding="utf-8")

        done = run("--conformance", *workers)

        assert done.returncode == 0, done.stdout + done.stderr
        assert "1 passed, 1 skipped, 1 xfailed" in done.stdout

    @pytest.mark.slow
    def test_a_command_may_stand_there_itself(self, tiny: TinyCorpus, run: Run, tmp_path: Path, other: Params):
        """It runs beside the configuration, from whatever folder pytest is called."""
        foreign = tmp_path / "foreign"
        tiny.case("bad", other)
        (tiny.root / "fake_adapter.py").rename(foreign / "fake_adapter.py")
        (foreign / "deeper").mkdir()
        lines = f"[pytest]\nconformance_adapter = {sys.executable} fake_adapter.py\nconformance_expected = known.toml\n"
        (foreign / "pytest.ini").write_text(lines, encoding="utf-8")
        entry = '[[case]]\nid = "v9/tiny::bad"\nclause = "RD-001"\nwhy = "bug 12"\nevidence = "bytes"\n'
        (foreign / "known.toml").write_text(entry, encoding="utf-8")

        done = run("--conformance", "--rootdir", str(foreign), "-c", str(foreign / "pytest.ini"))

        assert "1 xfailed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("option", "value", "passed"),
    [
        ("area", "merging", "merged"),
        ("clause", "RD-007", "ordered"),
        ("clause", "rd7", "ordered"),
        ("feature", "table-version-8", "old"),
        ("table-version", "8", "old"),
        ("case", "v9/*::ord*", "ordered"),
    ],
)
def test_each_way_to_select_finds_its_case(  # noqa: PLR0917 - fixtures
    tiny: TinyCorpus, run: Run, passing: Params, option: str, value: str, passed: str
):
    """Areas, clauses, features and table versions select as they do on the plain command line."""
    tiny.case("read", passing)
    tiny.case("merged", passing, clauses=("MG-003",))
    tiny.case("ordered", passing, clauses=("RD-001", "RD-007"))
    tiny.case("old", passing, table_id="v8/tiny")

    done = run("--conformance", "--adapter", "fake", f"--conformance-{option}", value, "-v")

    assert "1 passed" in done.stdout, done.stdout + done.stderr
    assert f"::{passed} PASSED" in done.stdout


@pytest.mark.slow
def test_junit_names_cases_as_the_corpus_does(tiny: TinyCorpus, run: Run, tmp_path: Path, passing: Params):
    """A CI service follows a case by its id over time, and shows its clauses."""
    tiny.case("good", passing, clauses=("RD-001", "RD-007"))

    run("--conformance", "--adapter", "fake", "--junitxml", str(tmp_path / "j.xml"), "-n", "1")

    (case,) = ET.parse(tmp_path / "j.xml").iter("testcase")  # noqa: S314 - our own file
    assert (case.get("classname"), case.get("name")) == ("conformance.v9/tiny", "good")
    assert {one.get("name"): one.get("value") for one in case.iter("property")} == {
        "clauses": "RD-001 RD-007",
        "area": "reading",
        "title": "The case good",
    }


@pytest.mark.slow
def test_an_id_names_its_case(tiny: TinyCorpus, run: Run, passing: Params, other: Params):
    """The id that pytest prints can be given back to it; -k works too."""
    tiny.case("good", passing)
    tiny.case("bad", other)

    assert "1 passed" in run("--conformance", "--adapter", "fake", "conformance::v9/tiny::good").stdout
    assert "1 passed, 1 deselected" in run("--conformance", "--adapter", "fake", "-k", "good").stdout


@pytest.mark.slow
def test_each_worker_has_one_adapter_and_readings_meet(tiny: TinyCorpus, run: Run, passing: Params, other: Params):
    """Under xdist two workers may each see one reading: together they are mixed, and the run fails."""
    tiny.case("one", passing, BOTH, clauses=("RD-007",))
    tiny.case("two", other, BOTH, clauses=("RD-007",))

    done = run("--conformance", "--adapter", "fake", "-n", "2", "--dist", "each")
    mixed = run("--conformance", "--adapter", "fake", "-n", "2", "--dist", "load", "--maxschedchunk", "1")

    assert done.returncode == 1
    assert mixed.returncode == 1
    assert "mixed readings" in mixed.stdout


@pytest.mark.slow
def test_workers_share_the_corpus(tiny: TinyCorpus, run: Run, passing: Params):
    """Every case runs once, whichever worker takes it."""
    for number in range(6):
        tiny.case(f"case-{number}", passing)

    done = run("--conformance", "--adapter", "fake", "-n", "2")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout


def test_the_reading_followed_is_reported(tiny: TinyCorpus, run: Run, other: Params):
    """A report says which of two readings an implementation has."""
    tiny.case("one", other, BOTH, clauses=("RD-007",))

    assert "RD-007: follows text" in run("--conformance", "--adapter", "fake").stdout


class TestRequirements:
    """What a run must come to besides passing; workers report to one place."""

    @pytest.mark.slow
    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_an_area_must_be_answered_whole(
        self, tiny: TinyCorpus, run: Run, passing: Params, workers: tuple[str, ...]
    ):
        """A case that is unsupported is a skip, and fails the run all the same."""
        tiny.case("good", passing)
        tiny.case("lacking", {"do": "unsupported"})

        done = run("--conformance", "--adapter", "fake", "--conformance-require", "reading", *workers)

        assert done.returncode == 1, done.stdout + done.stderr
        assert "1 passed, 1 skipped" in done.stdout
        assert "FAILED fake: area reading is required, but 1 of its 2 cases is unsupported" in done.stdout
        assert "fake: 1 of 1 answered cases pass (100.0 %)" in done.stdout

    @pytest.mark.parametrize(("minimum", "code"), [("50", 0), ("60", 1)])
    def test_a_minimum_is_held_against_the_score(  # noqa: PLR0917 - fixtures
        self, tiny: TinyCorpus, run: Run, tmp_path: Path, passing: Params, other: Params, minimum: str, code: int
    ):
        """An expected failure is answered and does not pass."""
        tiny.case("good", passing)
        tiny.case("known", other)
        listed = tmp_path / "known.toml"
        entry = '[[case]]\nid = "v9/tiny::known"\nclause = "RD-001"\nwhy = "bug 12"\nevidence = "bytes"\n'
        listed.write_text(entry, encoding="utf-8")
        options = ("--conformance-expected", str(listed), "--conformance-minimum", minimum)

        done = run("--conformance", "--adapter", "fake", *options)

        assert done.returncode == code, done.stdout + done.stderr
        assert ("below the required 60 %" in done.stdout) == bool(code)

    def test_what_passed_before_must_pass(self, tiny: TinyCorpus, run: Run, tmp_path: Path):
        """The results are those that `hudi-conformance run --report` wrote."""
        case = tiny.case("lost", {"do": "unsupported"})
        tiny.case("open", {"do": "value", "value": 3}, "")
        header = {"kind": "header", "adapters": ["fake"]}
        line = {"kind": "case", "id": case, "adapter": "fake", "verdict": "pass"}
        (tmp_path / "results.jsonl").write_text(f"{json.dumps(header)}\n{json.dumps(line)}\n", encoding="utf-8")

        done = run("--conformance", "--adapter", "fake", "--conformance-not-below", str(tmp_path / "results.jsonl"))

        assert done.returncode == 1, done.stdout + done.stderr
        assert f"1 case passed in the earlier run and did not now: {case} (unsupported)" in done.stdout

    @pytest.mark.parametrize(
        ("option", "value", "message"),
        [("require", "readings", "did you mean reading?"), ("not-below", "absent.jsonl", "cannot be read")],
    )
    def test_what_cannot_be_required_is_a_usage_error(  # noqa: PLR0917 - fixtures
        self, tiny: TinyCorpus, run: Run, passing: Params, option: str, value: str, message: str
    ):
        """Nothing is asked."""
        tiny.case("good", passing)

        done = run("--conformance", "--adapter", "fake", f"--conformance-{option}", value)

        assert done.returncode == pytest.ExitCode.USAGE_ERROR
        assert message in done.stderr
