"""Copies of the engine with one text of their source replaced: cases that are asked of an adapter notice each."""

import importlib.util
import sys
from pathlib import Path

import pytest
from broken_engine import broken_engines
from hudi_conformance.runner.adapter_pool import roles_of
from hudi_conformance.runner.adapters_config import AdapterConfig
from hudi_conformance.runner.cases import load_cases, matches_id
from hudi_conformance.runner.reading_clauses import ClauseBook
from hudi_conformance.runner.running import AdapterRun, RunOptions
from hudi_conformance.runner.verdicts import Verdict

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("broken_engine.py")


@pytest.mark.parametrize("name", broken_engines())
def test_the_replaced_text_stands_once_in_the_source(name: str):
    """An engine that does not start fails every case, whatever the case protects."""
    broken = broken_engines()[name]
    found = importlib.util.find_spec(broken["module"])
    assert found is not None
    assert found.origin is not None
    assert Path(found.origin).read_text(encoding="utf-8").count(broken["old"]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", broken_engines())
def test_a_case_fails_an_engine_with_this_defect(name: str, tmp_path: Path):
    """Every case that the list names for it fails, but drafts, which it skips; the engine itself passes them."""
    broken = broken_engines()[name]
    named = broken["cases"]
    cases = [one for one in load_cases(ROOT) if any(matches_id(one.id, pattern) for pattern in named)]
    assert cases, f"{name}: no case is named {named}"
    adapter = AdapterConfig(name, (sys.executable, str(SCRIPT), name))

    with AdapterRun(adapter, RunOptions(tmp_path, roles=roles_of(ROOT)), ClauseBook(ROOT).reading_clause) as run:
        verdicts = {one.case.id: one.verdict for one in run.outcomes(cases)}

    answered = {name: verdict for name, verdict in verdicts.items() if verdict is not Verdict.SKIPPED}
    assert answered == dict.fromkeys(answered, Verdict.FAIL)
    assert answered
