"""An adapter without a process of its own answers as the process does, by one core or two."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hudi_conformance.runner.adapters_config import AdapterConfig, AdapterConfigError, find_adapter
from hudi_conformance.runner.case_values import END_PROCESS
from hudi_conformance.runner.cases import Case, load_cases
from hudi_conformance.runner.in_process import InProcess
from hudi_conformance.runner.reading_clauses import ClauseBook
from hudi_conformance.runner.running import AdapterRun, RunOptions
from hudi_conformance.runner.session import Broken, Reply
from hudi_conformance.runner.verdicts import Outcome, Verdict

ROOT = Path(__file__).parents[2]
FEW = 4


@cache
def cases() -> tuple[Case, ...]:
    """Some that ask, some that write, some of which end a process of the writer."""
    corpus = load_cases(ROOT)
    reading = [one for one in corpus if not one.writes]
    ending = [one for one in corpus if any(step.op == END_PROCESS for step in one.steps)]
    writing = [one for one in corpus if one.writes and one not in ending]
    return tuple(one for some in (reading, writing, ending) for one in some[:: len(some) // FEW][:FEW])


def outcomes(name: str, folder: Path, jobs: int, chosen: tuple[Case, ...]) -> list[Outcome]:
    """What an adapter comes to."""
    options = RunOptions(folder, jobs=jobs)
    with AdapterRun(find_adapter(name, ROOT), options, ClauseBook(ROOT).reading_clause) as run:
        found = list(run.outcomes(chosen))
        assert run.started is not None
    return found


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_the_model_in_this_process_answers_as_in_its_own(tmp_path: Path, jobs: int):
    """Also where a case ends the writer's process: what it had begun is forgotten."""
    found = outcomes("model-in-process", tmp_path / "in", jobs, cases())

    own = outcomes("model", tmp_path / "own", 1, cases())
    assert [(one.case.id, one.verdict, one.step, one.reading) for one in found] == [
        (one.case.id, one.verdict, one.step, one.reading) for one in own
    ]
    assert {one.verdict for one in found} == {Verdict.PASS}


def test_a_wrong_answer_is_reported_from_another_process(tmp_path: Path):
    """A case held against the answer of another fails, with its differences, and is the same case here."""
    corpus = {one.id: one for one in load_cases(ROOT)}
    own, other = (corpus[f"conformance::v9/{name}::snapshot"] for name in ("cow_cleaned", "cow_changes_both"))
    swapped = replace(own, table=other.table)

    (right, wrong) = outcomes("model-in-process", tmp_path, 2, (own, swapped))

    assert (right.verdict, wrong.verdict) == (Verdict.PASS, Verdict.FAIL)
    assert wrong.case == swapped


@pytest.mark.parametrize("name", ["", "no_such_module:adapter", "hudi_conformance.adapters.model:nothing", "json"])
def test_a_name_that_leads_nowhere_is_bad_usage(name: str):
    """It says which name, and what one looks like."""
    with pytest.raises(AdapterConfigError, match="names no function"):
        InProcess.of(AdapterConfig("wrong", ("wrong",), in_process=name))


OWN = """
from hudi_adapter.protocol import Adapter, Implementation, Unsupported


def adapter() -> Adapter:
    return Adapter(Implementation("mine", "7"), (), {"list_timeline": refuse})


def refuse(request):
    import beside
    raise Unsupported(beside.FEATURE)
"""


def test_modules_beside_the_file_of_an_adapter_are_found(tmp_path: Path):
    """Wherever the suite is started, in its own process and in those that share the work."""
    (tmp_path / "mine_in_process.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "beside.py").write_text('FEATURE = "everything"', encoding="utf-8")
    text = 'name = "mine"\ncommand = ["false"]\nin_process = "mine_in_process:adapter"\n'
    (tmp_path / "adapter.toml").write_text(text, encoding="utf-8")
    chosen = tuple(one for one in load_cases(ROOT) if one.name == "timeline" and one.table.version == 9)[:3]

    for jobs in (1, 2):
        found = outcomes(str(tmp_path / "adapter.toml"), tmp_path / f"work-{jobs}", jobs, chosen)
        assert {(one.verdict, one.message) for one in found} == {(Verdict.UNSUPPORTED, "everything")}


def test_an_answer_that_breaks_the_protocol_counts_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As it would from a process."""
    model = InProcess.of(find_adapter("model-in-process", ROOT))
    response = model.request("list_timeline", tmp_path, {}, tmp_path, 1.0)
    assert isinstance(response, Reply)

    monkeypatch.setattr(model, "_reply", lambda _: {**response.message, "seq": 7})

    assert isinstance(model.request("list_timeline", tmp_path, {}, tmp_path, 1.0), Broken)
