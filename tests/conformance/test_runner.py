"""Verdicts, from the answer of a process to the outcome of a case."""

import io
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hudi_conformance.runner.adapters_config import AdapterConfigError, find_adapter
from hudi_conformance.runner.archive import pack
from hudi_conformance.runner.cases import load_cases
from hudi_conformance.runner.console import Bars
from hudi_conformance.runner.expected_failures import ExpectedFailure, load_expected_failures, resolved
from hudi_conformance.runner.failure_text import failure_text
from hudi_conformance.runner.reading_clauses import ClauseBook
from hudi_conformance.runner.resources import CorpusError
from hudi_conformance.runner.running import AdapterRun, RunOptions
from hudi_conformance.runner.skips import load_skips, resolved_skips
from hudi_conformance.runner.verdicts import Outcome, Verdict
from rich.console import Console
from tiny_corpus import Params, TinyCorpus

RunCases = Callable[..., list[Outcome]]
CLAUSE_LINE = (
    "  clause  RD-001 Snapshot read time (must, v8, v9): A snapshot shows what was complete when the read began."
)
REJECT = 'reject = {reason = "LOG_CONTENT_CORRUPT"}'
BOTH = 'expect = {released = "rows", text = "other"}'


@pytest.fixture
def run_cases(tiny: TinyCorpus, tmp_path: Path) -> RunCases:
    """Run all cases of the tiny corpus on the fake adapter."""

    def run_all(
        expected: Mapping[str, ExpectedFailure] | None = None, limit_s: float = 20.0, jobs: int = 1
    ) -> list[Outcome]:
        options = RunOptions(tmp_path / "work", limit_s, 20.0, jobs)
        adapter = find_adapter("fake", tiny.root)
        with AdapterRun(adapter, options, ClauseBook(tiny.root).reading_clause, expected) as run:
            return list(run.outcomes(load_cases(tiny.root)))

    return run_all


@pytest.mark.parametrize(
    ("params", "outcome", "verdict"),
    [
        ({"do": "reject", "reason": "LOG_CONTENT_CORRUPT"}, REJECT, Verdict.PASS),
        ({"do": "reject", "reason": "BASE_FILE_CORRUPT"}, REJECT, Verdict.WRONG_REASON),
        ({"do": "reject", "reason": "NOT_A_TABLE"}, 'expect = "rows"', Verdict.FAIL),
        ({"do": "value", "value": 3}, REJECT, Verdict.FAIL),
        ({"do": "value", "value": 3}, 'expect = "rows"', Verdict.FAIL),
        ({"do": "unsupported"}, REJECT, Verdict.UNSUPPORTED),
        ({"do": "errored"}, REJECT, Verdict.ERROR),
        ({"do": "value", "value": 3}, "", Verdict.OPEN),
        ({"do": "reject", "reason": "NOT_A_TABLE"}, "", Verdict.OPEN),
    ],
)
def test_the_verdict_of_each_answer(
    tiny: TinyCorpus, run_cases: RunCases, params: Params, outcome: str, verdict: Verdict
):
    """Refusing for another reason is not passing, and an open question never fails."""
    tiny.case("one", params, outcome)

    assert [one.verdict for one in run_cases()] == [verdict]


def test_rows_that_agree_pass_and_rows_that_differ_fail(
    tiny: TinyCorpus, run_cases: RunCases, passing: Params, other: Params
):
    """A changed value is reported with its row and column."""
    tiny.case("good", passing)
    tiny.case("bad", other)

    good, bad = run_cases()

    assert good.verdict is Verdict.PASS
    assert bad.verdict is Verdict.FAIL
    assert bad.differences == ('row id="k1": column n: expected "1", is "2"',)


@pytest.mark.parametrize("do", ["die", "garbage", "wrong_seq"])
def test_an_ended_or_malformed_adapter_is_started_again(
    tiny: TinyCorpus, run_cases: RunCases, passing: Params, do: str
):
    """One bad case costs one verdict, not the run."""
    tiny.case("bad", {"do": do})
    tiny.case("good", passing)

    bad, good = run_cases()

    assert bad.verdict is Verdict.ERROR
    assert bad.caught == (do != "die")
    assert good.verdict is Verdict.PASS


def test_the_last_stderr_of_an_ended_adapter_is_reported(tiny: TinyCorpus, run_cases: RunCases):
    """stderr is kept, and its last line is the message."""
    tiny.case("bad", {"do": "die"})

    assert run_cases()[0].message == "the adapter's process ended with status 7: last words"


def test_a_hung_adapter_times_out_and_the_run_goes_on(tiny: TinyCorpus, run_cases: RunCases, passing: Params):
    """The limit holds for each step."""
    tiny.case("slow", {"do": "hang"})
    tiny.case("good", passing)

    slow, good = run_cases(limit_s=1.0)

    assert (slow.verdict, slow.caught) == (Verdict.TIMEOUT, False)
    assert good.verdict is Verdict.PASS


def test_several_processes_answer_in_the_order_of_the_corpus(tiny: TinyCorpus, run_cases: RunCases, passing: Params):
    """Side by side or one after the other: the same outcomes in the same order."""
    names = [f"case-{number}" for number in range(6)]
    for name in names:
        tiny.case(name, passing)

    found = run_cases(jobs=2)

    assert [one.case.name for one in found] == names
    assert {one.verdict for one in found} == {Verdict.PASS}


def test_a_command_that_does_not_start_fails_every_case(tiny: TinyCorpus, tmp_path: Path, passing: Params):
    """No verdict but error comes of an adapter that is not there, and no case waits for it."""
    for name in ("one", "two", "three"):
        tiny.case(name, passing)
    adapter = find_adapter("python3 -c pass", tiny.root)
    with AdapterRun(adapter, RunOptions(tmp_path / "work", 5, 5), ClauseBook(tiny.root).reading_clause) as run:
        found = list(run.outcomes(load_cases(tiny.root)))

    assert {(one.verdict, one.caught) for one in found} == {(Verdict.ERROR, False)}
    assert "could not be started" in found[-1].message


class TestFreshCopies:
    """Tables as the adapter sees them."""

    def test_dot_files_empty_folders_and_times_are_restored(self, tiny: TinyCorpus, run_cases: RunCases):
        """The archive and the list of files in table.toml hold what git loses."""
        names = [".hoodie", ".hoodie/hoodie.properties", ".hoodie/timeline", "city=Zürich", "city=Zürich/f1.parquet"]
        tiny.case("see", {"do": "see_table"}, 'expect = "seen"', op="see")
        times = {".hoodie/hoodie.properties": 1735689600000, "city=Zürich/f1.parquet": 1735689600000}
        tiny.answers(tiny.table(), seen={"value": {"names": names, "times": times}})

        assert [one.differences for one in run_cases()] == [()]

    def test_a_case_never_sees_what_another_did(self, tiny: TinyCorpus, run_cases: RunCases):
        """The fake adapter deletes a file of its table; the next case has it again."""
        tiny.case("first", {"do": "see_table"}, 'expect = "seen"', op="see")
        tiny.case("second", {"do": "see_table"}, 'expect = "seen"', op="see")
        tiny.answers(tiny.table(), seen={"value": {"times": {".hoodie/hoodie.properties": 1735689600000}}})

        assert {one.verdict for one in run_cases()} == {Verdict.PASS}

    @pytest.mark.parametrize("damage", ["gone", "changed"])
    def test_missing_or_changed_bytes_stop_the_run(
        self, tiny: TinyCorpus, run_cases: RunCases, passing: Params, damage: str
    ):
        """A verdict on other bytes than the corpus has would be worth nothing."""
        tiny.case("one", passing)
        folder = tiny.table()
        file = tiny.root / "files" / "v9" / "tiny" / "city=Zürich" / "f1.parquet"
        if damage == "gone":
            file.unlink()
        else:
            file.write_bytes(b"PAR2")
        pack(tiny.root / "files" / "v9" / "tiny", folder / "table.zip")

        with pytest.raises(CorpusError, match=r"f1\.parquet"):
            run_cases()

    def test_a_missing_expected_answer_stops_the_run(self, tiny: TinyCorpus, run_cases: RunCases, passing: Params):
        """An absent answer is no pass."""
        tiny.case("one", passing)
        (tiny.table() / "expected.json").write_text("{}", encoding="utf-8")

        with pytest.raises(CorpusError, match=r"no answer 'rows'"):
            run_cases()


class TestWarnings:
    """A torn block must be skipped and reported."""

    def test_a_required_warning_must_be_given(self, tiny: TinyCorpus, run_cases: RunCases, passing: Params):
        """Right rows in silence fail."""
        outcome = 'expect = "rows"\nwarnings = [{clause = "LF-010"}]'
        tiny.case("silent", passing, outcome)
        tiny.case("warned", {**passing, "warn": "LF-010"}, outcome)
        tiny.case("other", {**passing, "warn": "LF-011"}, outcome)

        assert [one.verdict for one in run_cases()] == [Verdict.FAIL, Verdict.PASS, Verdict.FAIL]

    def test_more_warnings_than_required_pass(self, tiny: TinyCorpus, run_cases: RunCases, passing: Params):
        """An adapter may say more."""
        tiny.case("warned", {**passing, "warn": "LF-010"})

        assert run_cases()[0].verdict is Verdict.PASS


class TestReadings:
    """One reading a clause over all cases."""

    def test_the_followed_reading_is_noted(self, tiny: TinyCorpus, run_cases: RunCases, passing: Params):
        """The clause is the one of the case that has two readings."""
        tiny.case("one", passing, BOTH, clauses=("RD-001", "RD-007"))

        assert run_cases()[0].reading == ("RD-007", "released")

    def test_either_reading_passes_but_not_both_by_turns(
        self, tiny: TinyCorpus, run_cases: RunCases, passing: Params, other: Params
    ):
        """The second choice fails, whatever it is."""
        for name, params in (("one", other), ("two", passing), ("three", other)):
            tiny.case(name, params, BOTH, clauses=("RD-007",))

        found = run_cases()

        assert [one.verdict for one in found] == [Verdict.PASS, Verdict.FAIL, Verdict.PASS]
        assert found[1].message.startswith("mixed readings: RD-007")

    def test_an_answer_that_fits_both_readings_binds_to_none(
        self, tiny: TinyCorpus, run_cases: RunCases, passing: Params, other: Params
    ):
        """What does not distinguish readings does not choose one."""
        same = 'expect = {released = "rows", text = "rows"}'
        tiny.case("same", passing, same, clauses=("RD-007",))
        tiny.case("text", other, BOTH, clauses=("RD-007",))

        assert [(one.verdict, one.reading) for one in run_cases()] == [
            (Verdict.PASS, None),
            (Verdict.PASS, ("RD-007", "text")),
        ]


class TestExpectedFailures:
    """Known failures run, and must keep failing."""

    def _listed(self, tmp_path: Path, case_id: str) -> Mapping[str, ExpectedFailure]:
        file = tmp_path / "known.toml"
        entry = f'[[case]]\nid = "{case_id}"\nclause = "RD-001"\nwhy = "a known bug"\nevidence = "bytes"\n'
        file.write_text(entry, encoding="utf-8")
        return load_expected_failures(file)

    @pytest.mark.parametrize("prefix", ["", "conformance::"])
    def test_a_listed_failure_is_expected(
        self, tiny: TinyCorpus, run_cases: RunCases, tmp_path: Path, other: Params, prefix: str
    ):
        """It is reported with the list's reason; ids are given with or without their prefix."""
        tiny.case("bad", other)

        (outcome,) = run_cases(self._listed(tmp_path, f"{prefix}v9/tiny::bad"))

        assert outcome.verdict is Verdict.EXPECTED_FAIL
        assert "a known bug" in outcome.message

    def test_a_listed_case_that_passes_is_bad(
        self, tiny: TinyCorpus, run_cases: RunCases, tmp_path: Path, passing: Params
    ):
        """A fix forces the entry off the list."""
        tiny.case("good", passing)

        assert run_cases(self._listed(tmp_path, "v9/tiny::good"))[0].verdict is Verdict.UNEXPECTED_PASS

    def test_an_unknown_id_is_refused(self, tiny: TinyCorpus, tmp_path: Path, passing: Params):
        """A list that names no case protects nothing."""
        known = tiny.case("good", passing)

        with pytest.raises(AdapterConfigError, match="v9/tiny::gone"):
            resolved(self._listed(tmp_path, "v9/tiny::gone"), [known])

    def test_a_glob_stands_for_all_cases_that_fit_it(
        self, tiny: TinyCorpus, run_cases: RunCases, tmp_path: Path, passing: Params, other: Params
    ):
        """Every one of them must keep failing."""
        ids = [tiny.case("bad", other), tiny.case("good", passing)]

        known = resolved(self._listed(tmp_path, "v9/*::*d"), ids)

        assert [one.verdict for one in run_cases(known)] == [Verdict.EXPECTED_FAIL, Verdict.UNEXPECTED_PASS]

    def test_two_entries_for_one_case_are_refused(self, tiny: TinyCorpus, tmp_path: Path, passing: Params):
        """Which of two reasons would hold?"""
        known = tiny.case("good", passing)
        listed = {**self._listed(tmp_path, "v9/tiny::good"), **self._listed(tmp_path, "v9/*")}

        with pytest.raises(AdapterConfigError, match="twice"):
            resolved(listed, [known])

    @pytest.mark.parametrize("text", ["[[case]]\nid = 'x'", "[[case", "case = 1"])
    def test_a_broken_list_is_refused(self, tmp_path: Path, text: str):
        """A list without evidence is no list."""
        (tmp_path / "known.toml").write_text(text, encoding="utf-8")

        with pytest.raises(AdapterConfigError, match=r"known\.toml"):
            load_expected_failures(tmp_path / "known.toml")


class TestSkips:
    """What is not asked is reported."""

    def test_a_skipped_case_is_not_run(self, tiny: TinyCorpus, tmp_path: Path, passing: Params):
        """Its reason is the message; the others are asked as ever."""
        (tmp_path / "skips.toml").write_text('[[skip]]\nid = "v9/*::slow"\nreason = "takes a day"\n', encoding="utf-8")
        ids = [tiny.case("slow", {"do": "die"}), tiny.case("good", passing)]
        skips = resolved_skips(load_skips(tmp_path / "skips.toml"), ids)
        options = RunOptions(tmp_path / "work", 20.0, 20.0)

        with AdapterRun(
            find_adapter("fake", tiny.root), options, ClauseBook(tiny.root).reading_clause, None, skips
        ) as run:
            found = list(run.outcomes(load_cases(tiny.root)))

        assert [(one.verdict, one.message) for one in found] == [
            (Verdict.SKIPPED, "takes a day"),
            (Verdict.PASS, ""),
        ]

    @pytest.mark.parametrize(
        "text",
        [
            "[[skip]]\nid = 'v9/tiny::one'",
            "[[skip]]\nreason = 'why'",
            "[[skip]]\nid = 'x'\nreason = ' '",
            "[[case]]\nid = 'x'\nreason = 'why'",
            "[[skip]]\nid = 'x'\nreason = 'why'\n[[skip]]\nid = 'conformance::x'\nreason = 'why'",
            "[[skip",
            "skip = 1",
        ],
    )
    def test_a_list_without_reasons_is_refused(self, tmp_path: Path, text: str):
        """A skip nobody explains is a hole."""
        (tmp_path / "skips.toml").write_text(text, encoding="utf-8")

        with pytest.raises(AdapterConfigError, match=r"skips\.toml"):
            load_skips(tmp_path / "skips.toml")

    def test_an_unknown_id_is_refused(self, tiny: TinyCorpus, passing: Params):
        """A list that names no case hides a typing error."""
        known = tiny.case("good", passing)

        with pytest.raises(AdapterConfigError, match="v9/tiny::gone"):
            resolved_skips({"conformance::v9/tiny::gone": "why"}, [known])


def test_a_failure_says_what_was_expected_and_what_came(tiny: TinyCorpus, run_cases: RunCases, other: Params):
    """A reader of the block needs nothing else to go on, and nothing of a checkout."""
    tiny.case("bad", other, clauses=("RD-001", "RD-007"))
    adapter = find_adapter("fake", tiny.root)

    text = failure_text(run_cases()[0], adapter, ClauseBook(tiny.root))
    lines = text.splitlines()

    assert lines[:6] == [
        "FAIL conformance::v9/tiny::bad [fake]  The case bad",
        CLAUSE_LINE,
        "  clause  RD-007 Order of logs (must, v8, v9)",
        "  given   a table",
        "  when    it is read",
        "  then    its rows are there",
    ]
    assert lines[6].startswith('  asked   read_snapshot {"do": "rows", ')
    assert lines[6].endswith(", of table v9/tiny")
    assert lines[7:] == [
        "  expect  2 rows",
        "  got     another answer: 1 changed",
        '  diff    row id="k1": column n: expected "1", is "2"',
        "  explain hudi-conformance clause RD-001 RD-007",
        "  repro   hudi-conformance repro conformance::v9/tiny::bad --adapter fake",
    ]
    assert "specs/" not in text


@pytest.mark.parametrize(
    ("params", "outcome", "expected", "got"),
    [
        ({"do": "value", "value": 3}, REJECT, "a refusal with LOG_CONTENT_CORRUPT", "answered a value where it must"),
        ({"do": "reject", "reason": "NOT_A_TABLE"}, 'expect = "rows"', "2 rows", "refused with NOT_A_TABLE: no"),
        ({"do": "errored"}, 'expect = "rows"', "2 rows", "boom"),
        (
            {"do": "reject", "reason": "NOT_A_TABLE"},
            BOTH,
            "2 rows (reading released) or 2 rows (reading text)",
            "refused",
        ),
    ],
)
def test_a_failure_without_differences_says_both_sides(  # noqa: PLR0917 - fixtures
    tiny: TinyCorpus, run_cases: RunCases, params: Params, outcome: str, expected: str, got: str
):
    """What had to come stands beside what came."""
    tiny.case("bad", params, outcome)

    text = failure_text(run_cases()[0], find_adapter("fake", tiny.root), ClauseBook(tiny.root))

    assert f"  expect  {expected}" in text.splitlines()
    assert f"  got     {got}" in text


def _shown_by_bars(out: Console, monkeypatch: pytest.MonkeyPatch, *, quiet: bool = False) -> None:
    monkeypatch.setattr("hudi_conformance.runner.console._QUIET_FOR_S", 0.0)
    monkeypatch.setattr("hudi_conformance.runner.console._LINES_EVERY_S", 0.01)
    with Bars(out, quiet=quiet) as bars:
        bar = bars.add_task("reading [MOR]", total=3)
        bars.add_task("checking", total=None)
        bars.advance(bar, 2)
        time.sleep(0.2)


def test_progress_in_a_pipe_is_lines_on_stderr(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What takes long says how far it is also where no bar can be drawn, and the output stays what was requested."""
    out = io.StringIO()
    _shown_by_bars(Console(file=out), monkeypatch)
    lines = capsys.readouterr().err.splitlines()
    assert "reading [MOR]: 2 of 3" in lines
    assert "checking: 0 s" in lines
    assert lines.count("reading [MOR]: 2 of 3") == 1, "a line comes again only where something moved"
    assert not out.getvalue()


def test_progress_at_a_terminal_is_a_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A terminal gets bars with counts, and no lines."""
    out = io.StringIO()
    _shown_by_bars(Console(file=out, force_terminal=True, width=100), monkeypatch)
    assert "reading [MOR]" in out.getvalue()
    assert "2/3" in out.getvalue()
    assert not capsys.readouterr().err


def test_nothing_shows_progress_where_quiet_is_requested(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """JSON for a program comes without progress."""
    for terminal in (True, False):
        out = io.StringIO()
        _shown_by_bars(Console(file=out, force_terminal=terminal), monkeypatch, quiet=True)
        assert not out.getvalue()
    assert not capsys.readouterr().err


def test_what_is_done_at_once_shows_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    """A short operation prints nothing but its result."""
    with Bars(Console(file=io.StringIO())) as bars:
        bars.advance(bars.add_task("reading", total=1))
    assert not capsys.readouterr().err
