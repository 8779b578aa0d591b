"""The commands that show what holds of the model, and what is left where it does not."""

import json
from pathlib import Path

import pytest
from hudi_conformance.cli import app
from hudi_conformance.corpus.traces import check_trace, lines_of, schema, snake_case
from hudi_conformance.verification.properties import MODEL_PROPERTIES
from hudi_conformance.verification.properties.scenarios import SCENARIOS
from hudi_conformance.verification.proving import SOAKED
from hudi_format.compat import tomllib
from hudi_model.effects import Effect
from hudi_model_tools.protocol import Protocol
from hudi_model_tools.store import Store
from typer.testing import CliRunner

ROOT = Path(__file__).parents[2]
RUNNER = CliRunner()


def effects() -> list[dict[str, list[str]]]:
    found: list[dict[str, list[str]]] = tomllib.loads((ROOT / "specs/effects.toml").read_text(encoding="utf-8"))[
        "effect"
    ]
    return found


def test_a_proved_property_is_reported_in_one_line():
    """Its number, that it holds, its statement, and how it was checked."""
    done = RUNNER.invoke(app, ["prove", "PO-271"])

    assert done.exit_code == 0
    assert "PO-271 holds" in done.output
    assert MODEL_PROPERTIES["PO-271"].title in done.output
    assert "1 hold, 0 refuted" in done.output


def test_a_refuted_property_shows_its_counterexample_and_what_holds_instead():
    """The shortest way, the timeline it leaves, and the statement that replaces it."""
    done = RUNNER.invoke(app, ["prove", "PO-270"])

    assert done.exit_code == 0
    assert "PO-270 refuted" in done.output
    assert "create_instant deltacommit COMPLETED" in done.output
    assert "█" in done.output
    assert "what holds: PO-271" in done.output


def test_a_mutant_shows_what_it_breaks():
    """With a rule broken the counterexample is the answer, and the exit code says that there is one."""
    done = RUNNER.invoke(app, ["prove", "PO-271", "--mutant", "event-time-ignores-ordering"])

    assert done.exit_code == 0
    assert "1 refuted" in done.output
    assert RUNNER.invoke(app, ["prove", "PO-271", "--mutant", "lease-never-ends"]).exit_code == 1


@pytest.mark.parametrize("arguments", [["PO-999"], ["PO-271", "--mutant", "nothing"]])
def test_an_unknown_column_is_an_error(arguments: list[str]):
    """A misspelt id or mutant must not look like a proof."""
    done = RUNNER.invoke(app, ["prove", *arguments])

    assert done.exit_code == 2
    assert "there is no" in done.output


def test_a_scenario_is_explored_and_counted():
    """States, transitions and depth, and that its laws hold."""
    done = RUNNER.invoke(app, ["explore", "travel"])

    assert done.exit_code == 0
    assert "states" in done.output
    assert "all laws hold" in done.output


def test_a_broken_law_is_drawn():
    """The interleaving, and the timeline it leaves."""
    done = RUNNER.invoke(app, ["explore", "writers", "--crashes", "0", "--mutant", "overlap-not-checked"])

    assert done.exit_code == 1
    assert "the completed writes make" in done.output
    assert "█" in done.output


def test_scenarios_are_listed_where_the_name_fits_none():
    """Every one with its sentence."""
    done = RUNNER.invoke(app, ["explore", "?"])

    assert done.exit_code == 2
    assert all(one.name in done.output and one.sentence in done.output for one in SCENARIOS.values())


def test_what_is_soaked_is_explored_no_less_than_in_tests():
    """A soak that does less would hide what the tests see."""
    assert all(SCENARIOS[name].crashes <= crashes for name, crashes in SOAKED.items())


def test_effects_bear_one_name_everywhere():
    """The model's classes, the registry and the trace schema name the same effects."""
    unstored = {"take_lock", "release_lock", "generate_time", "pick_snapshot", "read_slice"}
    # No trace has the files of an index of keys, nor those of schemas: no other effect depends on when they appear.
    untraced = {"put_hash_ring", "put_schema_file"}
    modelled = ({snake_case(one.__name__) for one in Effect.__subclasses__()} | unstored) - untraced
    named = [str(one["name"]) for one in effects()]

    assert modelled == set(named)
    assert [branch["title"] for branch in schema()["oneOf"]] == named
    for effect, branch in zip(effects(), schema()["oneOf"], strict=True):
        parameters = {name.rstrip("?") for name in effect["parameters"]}
        assert set(branch["properties"]) == parameters | {"effect", "process"}
        optional = {name.rstrip("?") for name in effect["parameters"] if name.endswith("?")}
        assert set(branch["required"]) == set(branch["properties"]) - optional


def trace() -> list[dict[str, str]]:
    store = Store()
    world = start = SCENARIOS["streams-commit-time"].start(store)
    steps = []
    while moves := Protocol(store).moves(world):
        steps.append(moves[0])
        world = moves[0].world
    return [line for line in lines_of(start, steps) if line["process"] == "one"]


def test_a_trace_is_lines_of_json_that_fit_the_schema_and_the_order():
    """What a process did alone is a trace; a line more, a word less or no line at all is none."""
    lines = [json.dumps(line) for line in trace()]

    assert check_trace("\n".join(lines)) == ""
    assert "the trace is empty" in check_trace("")
    assert "line 2" in check_trace("\n".join((lines[0], "{", *lines[1:])))
    assert "there is no effect" in check_trace(json.dumps({"process": "one", "effect": "fly"}))
    assert "required" in check_trace(json.dumps({"process": "one", "effect": "take_lock"}))
    assert "a line is a JSON object" in check_trace("[]")
    assert "does not hold the lock" in check_trace("\n".join(lines[1:2] + lines[-1:]))
