"""Scores of those answered, and what a run may require besides passing."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hudi_conformance.cli import app
from tiny_corpus import Params, TinyCorpus
from typer.testing import CliRunner, Result

Run = Callable[..., Result]
LACKING = {"do": "unsupported"}


@pytest.fixture
def run(tiny: TinyCorpus, tmp_path: Path) -> Run:
    """`hudi-conformance run` on the fake adapter."""
    return lambda *options: CliRunner().invoke(app, ["run", "--adapter", "fake", *options], env={"COLUMNS": "160"})


def test_the_score_counts_what_was_answered(tiny: TinyCorpus, run: Run, passing: Params, other: Params):
    """Unsupported and open cases are no part of it."""
    for name in ("one", "two"):
        tiny.case(name, passing)
    tiny.case("bad", other)
    tiny.case("lacking", LACKING)
    tiny.case("undecided", passing, "")

    done = run()

    assert "2/3  1 fail, 1 open, 1 unsupported" in done.output
    assert "66.6 % of 3 answered" in done.output


def test_a_run_that_supports_nothing_says_so(tiny: TinyCorpus, run: Run):
    """It is not green, and names the op that is declared but never answered."""
    tiny.case("one", LACKING)
    tiny.case("two", LACKING)

    done = run()

    assert done.exit_code == 2
    assert "supports nothing that was asked" in done.output
    assert "none of 2 cases answered" in done.output
    assert "declares the op read_snapshot, but answered `unsupported` (log-hfile) in all 2 cases" in done.output


def test_an_op_that_is_never_answered_is_named(tiny: TinyCorpus, run: Run, passing: Params):
    """One answer is enough to show that the adapter knows the op."""
    tiny.case("one", LACKING)
    tiny.case("two", LACKING)
    tiny.case("three", passing)

    assert "declares the op" not in run().output


class TestRequire:
    """An area that must be answered whole."""

    def test_an_area_that_is_answered_is_fine(self, tiny: TinyCorpus, run: Run, passing: Params):
        """What is lacking elsewhere does not matter."""
        tiny.case("one", passing)
        tiny.case("merged", LACKING, clauses=("MG-003",))

        assert run("--require", "reading").exit_code == 0

    def test_an_unsupported_case_fails_the_run(self, tiny: TinyCorpus, run: Run, passing: Params):
        """Without the option it would be green."""
        tiny.case("one", passing)
        tiny.case("lacking", LACKING)

        done = run("--require", "reading")

        assert run().exit_code == 0
        assert done.exit_code == 1
        assert "area reading is required, but 1 of its 2 cases is unsupported (lacking: log-hfile)" in done.output

    def test_an_area_without_an_answer_fails_the_run(self, tiny: TinyCorpus, run: Run, passing: Params):
        """No case of it is selected."""
        tiny.case("one", passing)

        done = run("--require", "reading", "--require", "merging")

        assert done.exit_code == 1
        assert "area merging is required, but none of its 0 cases was answered" in done.output

    def test_an_unknown_area_is_bad_usage(self, tiny: TinyCorpus, run: Run, passing: Params):
        """Nothing is asked."""
        tiny.case("one", passing)

        done = run("--require", "readings")

        assert done.exit_code == 2
        assert "there is no area 'readings' to require; did you mean reading?" in done.stderr


class TestMinimum:
    """The share of those answered that must pass."""

    @pytest.fixture
    def listed(self, tiny: TinyCorpus, tmp_path: Path, passing: Params, other: Params) -> str:
        """One of two passes, the other is an expected failure."""
        tiny.case("one", passing)
        tiny.case("bad", other)
        tiny.case("lacking", LACKING)
        file = tmp_path / "known.toml"
        entry = '[[case]]\nid = "v9/tiny::bad"\nclause = "RD-001"\nwhy = "bug 12"\nevidence = "bytes"\n'
        file.write_text(entry, encoding="utf-8")
        return str(file)

    @pytest.mark.parametrize(("minimum", "code"), [("50", 0), ("50.1", 1), ("101", 2)])
    def test_the_score_is_held_against_it(self, run: Run, listed: str, minimum: str, code: int):
        """An expected failure is answered and does not pass; what is unsupported does not count."""
        done = run("--expected", listed, "--minimum", minimum)

        assert done.exit_code == code, done.output
        assert ("50.0 % of the 2 cases that were answered pass, below the required 50.1 %" in done.output) == (
            code == 1
        )

    @pytest.mark.usefixtures("listed")
    def test_a_failure_is_one_at_any_score(self, run: Run):
        """The option requests more, never for less."""
        assert run("--minimum", "0").exit_code == 1


class TestNotBelow:
    """What passed in an earlier run passes."""

    @pytest.fixture
    def before(self, tiny: TinyCorpus, run: Run, tmp_path: Path, passing: Params) -> Path:
        """The results of a run in which both cases passed; then the adapter loses one."""
        tiny.case("one", passing)
        tiny.case("two", passing)
        assert run("--report", str(tmp_path / "before")).exit_code == 0
        return tmp_path / "before"

    def test_the_same_results_are_fine(self, tiny: TinyCorpus, run: Run, before: Path, passing: Params):
        """A new case that passes changes nothing; the folder or the file may be named."""
        tiny.case("three", passing)

        assert run("--not-below", str(before)).exit_code == 0
        assert run("--not-below", str(before / "results.jsonl")).exit_code == 0

    def test_a_lost_case_fails_the_run(self, tiny: TinyCorpus, run: Run, before: Path):
        """A case that became unsupported would be green without the option."""
        cases = tiny.table() / "table.toml"
        text = cases.read_text(encoding="utf-8")
        at = text.index('id = "two"')
        cases.write_text(text[:at] + text[at:].replace('"rows"\ntext', '"unsupported"\ntext'), encoding="utf-8")

        done = run("--not-below", str(before))

        assert run().exit_code == 0
        assert done.exit_code == 1
        assert (
            "1 case passed in the earlier run and did not now: conformance::v9/tiny::two (unsupported)" in done.output
        )

    def test_only_cases_of_this_run_are_compared(self, run: Run, before: Path):
        """A narrower selection loses nothing."""
        assert run("--not-below", str(before), "--case", "*::one").exit_code == 0

    def test_what_cannot_be_compared_is_bad_usage(self, tiny: TinyCorpus, run: Run, before: Path, tmp_path: Path):
        """No file, or a run of somebody else: nothing is asked."""
        (tiny.root / "adapters" / "other.toml").write_text(
            (tiny.root / "adapters" / "fake.toml").read_text(encoding="utf-8").replace('"fake"', '"other"'),
            encoding="utf-8",
        )

        absent = run("--not-below", str(tmp_path / "absent.jsonl"))
        foreign = CliRunner().invoke(app, ["run", "--adapter", "other", "--not-below", str(before)])

        assert absent.exit_code == 2
        assert "the results of the earlier run cannot be read" in absent.stderr
        assert foreign.exit_code == 2
        assert "the earlier run did not ask other" in foreign.stderr


def test_an_adapter_that_cannot_start_is_reported_once(tiny: TinyCorpus, passing: Params):
    """Hundreds of cases fail for one reason: the first are shown, the others are counted."""
    for number in range(6):
        tiny.case(f"case-{number}", passing)

    done = CliRunner().invoke(app, ["run", "--adapter", "false x"], env={"COLUMNS": "160"})

    assert done.exit_code == 1
    assert "0/6  6 error" in done.output
    assert done.output.count("ERROR conformance::") == 2
    assert "false could not be started, so 4 cases failed without being asked" in done.output
    assert "hudi-conformance smoke --adapter 'false x'" in done.output


def test_a_misspelt_op_stops_the_run(tiny: TinyCorpus, run: Run, passing: Params):
    """It would never be asked, and its cases would be unsupported in silence."""
    tiny.case("one", passing)
    fake = tiny.root / "fake_adapter.py"
    fake.write_text(fake.read_text(encoding="utf-8").replace('"read_snapshot"', '"read_snapshots"'), encoding="utf-8")

    done = run()

    assert done.exit_code == 2
    assert "unknown op, 'read_snapshots'; did you mean 'read_snapshot'?" in done.stderr
