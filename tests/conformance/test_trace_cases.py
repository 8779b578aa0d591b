"""Trace cases: the model says what they say, each named mutant says otherwise, the files are what recipes make."""

import json
import shutil
from pathlib import Path

import hudi_conformance.verification.trace_cases.recipes  # noqa: F401 - registers them
import pytest
from hudi_conformance.corpus.mutants import MUTANTS
from hudi_conformance.corpus.trace_cases import FOLDER, PAGE, TraceCase, load_trace_cases
from hudi_conformance.runner.resources import CorpusError
from hudi_conformance.verification.trace_cases.building import RECIPES, RecipeError, all_files, build, trace_case
from hudi_conformance.verification.tracing.console import check
from rich.console import Console

ROOT = Path(__file__).parents[2]
CASES = load_trace_cases(ROOT)


@pytest.mark.parametrize("case", CASES, ids=lambda one: one.id)
def test_the_model_says_what_the_case_says(case: TraceCase) -> None:
    """All lines are explained, or the first that is not is the one that the case names; its mutants differ."""
    refused = case.verdict()

    assert (refused.number if refused else 0) == case.refused
    assert case.kills
    assert case.killed(MUTANTS[name] for name in case.kills) == list(case.kills)


def test_the_files_are_what_the_recipes_make() -> None:
    """To write them anew: `python -m hudi_conformance.verification.trace_cases`."""
    there = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / FOLDER).iterdir()}

    assert there == all_files(RECIPES.values())


def test_the_command_judges_a_case_as_any_trace() -> None:
    """An implementer may hand the files to `hudi-conformance trace`."""
    for case in (min(CASES, key=lambda one: one.refused), max(CASES, key=lambda one: one.refused)):
        out = Console(width=500, record=True)
        file = ROOT / FOLDER / f"{case.name}.ndjson"

        assert check(file, out, model=True, tla=False) == bool(case.refused)
        assert (f"line {case.refused}:" in out.export_text()) == bool(case.refused)


def test_building_writes_all_and_removes_what_no_recipe_makes(tmp_path: Path) -> None:
    """A case whose recipe is gone would stay for ever."""
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / "unknown.toml").write_text("")
    build(tmp_path)

    assert [one.id for one in load_trace_cases(tmp_path)] == [one.id for one in CASES]


def test_a_recipe_that_says_what_the_model_does_not_is_refused() -> None:
    """Wrong line, or a mutant that agrees with the model."""
    name = "wrong_recipe"
    try:
        trace_case(name, "Wrong", "LK-001", "trace-check-accepts-a-held-lock", "nothing", 1)(lambda: "w take_lock w")
        with pytest.raises(RecipeError, match="the model says None"):
            RECIPES[name].check()
        RECIPES.pop(name)
        trace_case(name, "Wrong", "LK-001", "trace-check-accepts-a-held-lock", "nothing")(lambda: "w take_lock w")
        with pytest.raises(RecipeError, match="these agree"):
            RECIPES[name].check()
    finally:
        RECIPES.pop(name, None)


@pytest.mark.parametrize("damage", ["page", "trace", "both verdicts", "nothing"])
def test_a_case_that_cannot_be_read_is_reported(tmp_path: Path, damage: str) -> None:
    """Silently fewer cases would look like success."""
    folder = tmp_path / FOLDER
    shutil.copytree(ROOT / FOLDER, folder)
    page = folder / PAGE
    match damage:
        case "page":
            page.write_text("id = ")
        case "trace":
            (folder / "two_holders.ndjson").write_text(json.dumps({"process": "w", "effect": "sleep"}) + "\n")
        case "both verdicts":
            page.write_text(page.read_text().replace("reject =", "accept = true\nreject =", 1))
        case _:
            shutil.rmtree(folder)

    with pytest.raises(CorpusError):
        load_trace_cases(tmp_path)
