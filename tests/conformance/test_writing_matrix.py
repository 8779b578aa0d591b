"""Who writes, who reads: what is known of either, the sample, the record, and the page that follows from it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hudi_adapter.reasons import Reason
from hudi_conformance.apache.java_errors import refusal
from hudi_conformance.corpus.writing.in_process import ModelPool, ModelSession
from hudi_conformance.interop.writers_and_readers import record as matrix_record
from hudi_conformance.interop.writers_and_readers.matrix import CHECKED, WROTE, Known, Played, sample, sampled_for
from hudi_conformance.interop.writers_and_readers.page import matrix_page
from hudi_conformance.interop.writers_and_readers.record import SOURCE, add_writer, load_matrix, recorded, relist
from hudi_conformance.runner.adapter_pool import Roles
from hudi_conformance.runner.adapters_config import AdapterConfig, AdapterConfigError, find_adapter
from hudi_conformance.runner.case_values import READER, Case, Step
from hudi_conformance.runner.cases import load_cases
from hudi_conformance.runner.expected_failures import ReadBack, load_expected_failures, load_read_back
from hudi_conformance.runner.failure_text import repro_command
from hudi_conformance.runner.findings import Finding
from hudi_conformance.runner.recorded_results import load_recorded
from hudi_conformance.runner.resources import suite_root
from hudi_conformance.runner.step_execution import VerdictOptions, WritingCaseRun
from hudi_conformance.runner.verdicts import Outcome, Verdict
from hypothesis import given
from hypothesis import strategies as st

ROOT = suite_root()
WRITING = [case for case in load_cases(ROOT) if case.writes]
CASE = WRITING[0]
FINDING = Finding("loud", "RD-001", "it shouts", "bytes")
SOME = st.sampled_from([Verdict.PASS, Verdict.FAIL, Verdict.ERROR, Verdict.UNSUPPORTED])
COLUMNS = st.dictionaries(st.sampled_from([CHECKED, "reader", "other"]), SOME)


def _outcomes(verdicts: Mapping[str, Verdict]) -> dict[str, Outcome]:
    return {name: Outcome(CASE, verdict) for name, verdict in verdicts.items()}


def _settled(known: Known, verdicts: Mapping[str, Verdict], writer: str = "writer") -> dict[str, Verdict]:
    return {name: one.verdict for name, one in known.settled(CASE, writer, _outcomes(verdicts)).items()}


def test_the_page_follows_from_the_record() -> None:
    """It has a section for each recorded writer."""
    text = matrix_page(ROOT)
    assert [name for name in load_matrix(ROOT) if f"## {name}\n" not in text] == []


@pytest.mark.slow
def test_the_record_is_compared_with_the_current_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry that is added or taken away shows in the record, without anybody being asked."""
    before, kept = load_recorded(ROOT, SOURCE), []
    monkeypatch.setattr(matrix_record, "save_recorded", lambda _root, _source, content: kept.append(content))
    relist(ROOT)

    assert kept == [before]


def test_every_entry_about_tables_of_others_names_a_case_that_writes() -> None:
    """A word that fits nothing would excuse nothing."""
    for name in ("hudi-rs", "daft", "apache-hudi-1.1.1"):
        for entry in load_read_back(ROOT / "adapters" / f"{name}.expected.toml"):
            assert any(entry.fits(case.id, min(entry.writers, default="model")) for case in WRITING), entry.id


@given(COLUMNS)
def test_verdicts_without_a_known_failure_stay(verdicts: dict[str, Verdict]) -> None:
    """Without entries no verdict changes."""
    seen = {WROTE: Verdict.PASS, **verdicts}

    assert _settled(Known({}, {}), seen) == seen


@given(COLUMNS, SOME)
def test_a_case_that_its_writer_fails_may_fail_anywhere_and_must_somewhere(
    verdicts: dict[str, Verdict], wrote: Verdict
) -> None:
    """What was written wrongly is read wrongly; an entry that nothing shows is out of date."""
    seen = {WROTE: wrote, **verdicts}
    settled = _settled(Known({CASE.id: "known"}, {}), seen)
    failing = {name for name, verdict in seen.items() if verdict in {Verdict.FAIL, Verdict.ERROR}}

    assert {name for name, verdict in settled.items() if verdict is Verdict.EXPECTED_FAIL} == failing
    outdated = not failing and wrote is Verdict.PASS
    assert (settled[WROTE] is Verdict.UNEXPECTED_PASS) is outdated


@pytest.mark.parametrize(
    ("writers", "writer", "verdict", "settled"),
    [
        ((), "anybody", Verdict.FAIL, Verdict.EXPECTED_FAIL),
        ((), "anybody", Verdict.PASS, Verdict.UNEXPECTED_PASS),
        (("one",), "one", Verdict.ERROR, Verdict.EXPECTED_FAIL),
        (("one",), "another", Verdict.FAIL, Verdict.FAIL),
        (("one",), "another", Verdict.PASS, Verdict.PASS),
        ((), "anybody", Verdict.UNSUPPORTED, Verdict.UNSUPPORTED),
    ],
)
def test_what_a_reader_misreads_is_known_of_the_writers_it_names(
    writers: tuple[str, ...], writer: str, verdict: Verdict, settled: Verdict
) -> None:
    """The same case as another writer leaves it may be read rightly."""
    known = Known({}, {"reader": (ReadBack(CASE.id, FINDING, frozenset(writers)),)})
    seen = {WROTE: Verdict.PASS, "reader": verdict, "other": Verdict.FAIL}

    assert _settled(known, seen, writer) == {**seen, "reader": settled}


def test_what_is_read_back_wrongly_is_listed_beside_what_is_answered_wrongly(tmp_path: Path) -> None:
    """One list of an adapter holds both, and neither takes the other's entries for its own."""
    stated = 'clause = "RD-001"\nwhy = "it shouts"\nevidence = "bytes"\n'
    path = tmp_path / "a.expected.toml"
    path.write_text(
        f'[[case]]\n{stated}id = "v9/a::x"\n[[read_back]]\n{stated}writers = ["one"]\nids = ["writing/b::y"]\n',
        encoding="utf-8",
    )
    (entry,) = load_read_back(path)

    assert list(load_expected_failures(path)) == ["conformance::v9/a::x"]
    assert (entry.fits("conformance::writing/b::y", "one"), entry.fits("conformance::writing/b::y", "two")) == (
        True,
        False,
    )
    path.write_text(f'[[read_bock]]\n{stated}id = "v9/a::x"\n', encoding="utf-8")
    with pytest.raises(AdapterConfigError, match="read_bock"):
        load_read_back(path)


def _steps(case: Case) -> set[tuple[Any, ...]]:
    kind = case.table.version, "mor" in case.table.features
    named = ("operation", "service", "name")
    return {
        (
            *kind,
            step.op,
            *(str(step.params.get(name, "")) for name in named if step.op != "create_table"),
            bool(step.reasons),
        )
        for step in case.steps
        if step.writes
    }


def test_the_sample_takes_every_step_that_the_cases_take() -> None:
    """On every kind of table; and each of its cases is there for a step that a shorter one does not take."""
    chosen = sample(WRITING)

    assert set().union(*map(_steps, chosen)) == set().union(*map(_steps, WRITING))
    assert len(chosen) < len(WRITING) / 2
    assert sample(chosen) == chosen


def test_a_writer_repeats_the_cases_that_it_is_known_to_fail() -> None:
    """Also what the sample leaves out: the record would lose it, and the list stand without an answer."""
    name = "apache-hudi-1.1.1"
    sampled = {one.id for one in sampled_for(name, WRITING, ROOT)}
    listed = set(load_expected_failures(find_adapter(name, ROOT).expected_failures)) & {one.id for one in WRITING}

    assert listed
    assert sampled == listed | {one.id for one in sample(WRITING)}
    assert sampled_for("model", WRITING, ROOT) == sample(WRITING)


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    """A column that some case lacks included; another writer's record stays."""
    (tmp_path / "conformance").mkdir()
    for name in ("one", "two"):
        seen = {WROTE: Outcome(CASE, Verdict.FAIL, "no", differences=("a", "b"))}
        whole = _outcomes({WROTE: Verdict.PASS, "reader": Verdict.UNSUPPORTED, CHECKED: Verdict.PASS})
        played = Played(
            AdapterConfig(name, (name,)), {"version": "1"}, "2026-01-01", [(CASE, seen), (WRITING[1], whole)]
        )
        add_writer(tmp_path, played)
        assert load_matrix(tmp_path)[name] == recorded(played)

    assert set(load_matrix(tmp_path)) == {"one", "two"}
    assert load_matrix(tmp_path)["one"].bad == {f"{CASE.id.removeprefix('conformance::')}, {WROTE}": "no; a; b"}


def test_results_of_a_later_run_join_those_of_earlier_runs(tmp_path: Path) -> None:
    """But a case that is asked no more goes, and so does what was wrong with it."""
    (tmp_path / "conformance").mkdir()
    one = AdapterConfig("one", ("one",))
    before = [(case, _outcomes({WROTE: Verdict.PASS, "reader": Verdict.FAIL})) for case in WRITING[:2]]
    after = [(WRITING[0], _outcomes({WROTE: Verdict.PASS, "other": Verdict.FAIL}))]
    for cases in (before, after):
        add_writer(tmp_path, Played(one, {}, "2026-01-01", cases))
    name = WRITING[0].id.removeprefix("conformance::")

    assert load_matrix(tmp_path)["one"].cases == {name: {WROTE: "pass", "reader": "fail", "other": "fail"}}
    assert set(load_matrix(tmp_path)["one"].bad) == {f"{name}, reader", f"{name}, other"}


def test_the_command_that_repeats_a_mixed_case_names_everybody() -> None:
    """But not who reads and checks where nobody else is named."""
    mine, other, model = (AdapterConfig(name, (name,)) for name in ("mine", "other", "model"))
    outcome = Outcome(CASE, Verdict.FAIL)

    assert repro_command(outcome, mine, Roles(other, (other,), model)).endswith(
        "--adapter mine --servicer other --reader other"
    )
    assert repro_command(outcome, mine, Roles(None, (model,), model)).endswith("--adapter mine")


class _Mute(ModelSession):
    """An adapter without the questions that it is not to be asked."""

    def __init__(self) -> None:
        super().__init__()
        self.started = {"ops": [op for op in self.started["ops"] if op not in {"list_timeline", "check_table"}]}


def test_another_adapter_executes_ops_that_one_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that the reader of a case lacks is the writer's, a check that an adapter lacks is the checker's."""

    sessions: dict[tuple[str, int], ModelSession] = {}

    class _Pool(ModelPool):
        def session(self, adapter: AdapterConfig, process: int = 1) -> ModelSession:
            kind = _Mute if adapter.name in {"reader", "played"} else ModelSession
            return sessions.setdefault((adapter.name, process), kind())

    reader = AdapterConfig("reader", ("reader",))
    cast = _Pool()
    monkeypatch.setattr(cast, "roles", Roles(readers=(reader,), checker=AdapterConfig("model", ("model",))))
    run = WritingCaseRun(CASE, cast, tmp_path, VerdictOptions(60.0, lambda _: ""))

    assert run.taker(Step("list_timeline", {}, by=READER)) is cast.session(AdapterConfig("played", ("played",)))
    assert run.taker(Step("read_snapshot", {}, by=READER)) is cast.session(reader)
    assert run.taker(Step("check_table", {}, by=READER)) is cast.session(AdapterConfig("model", ("model",)))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("No enum constant org.apache.hudi.common.model.WriteConcurrencyMode.ANARCHY", Reason.CONFIG_INVALID),
        ("No enum constant org.apache.hudi.common.model.HoodieCleaningPolicy.MOODS", Reason.CONFIG_INVALID),
        ("java.lang.NumberFormatException: For input string: many", Reason.CONFIG_INVALID),
        ("HoodieSavepointException: Failed to savepoint 1\nFileAlreadyExistsException: f", Reason.CONFIG_INVALID),
        ("No savepoint for instantTime 2", Reason.INSTANT_NOT_FOUND),
        ("IllegalArgumentException: File /t/20260101000000000.inflight does not exist!", Reason.WRITE_CONFLICT),
    ],
)
def test_what_a_writer_says_of_its_settings_is_no_word_about_a_table(text: str, reason: Reason) -> None:
    """A reader that meets the same words has met something else."""
    found = refusal(text, writes=True)

    assert getattr(found, "reason", None) is reason
    assert refusal(text) is None
