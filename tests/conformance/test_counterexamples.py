"""A counterexample is one thing, no matter who found it, and its picture shows every step inside its frame."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hudi_conformance.cli import app
from hudi_conformance.corpus.mutants import MUTANTS, mutated
from hudi_conformance.verification.checking_specs import SpecSelection, check_specs
from hudi_conformance.verification.counterexamples.bars import bars_of
from hudi_conformance.verification.counterexamples.behaviour import Behaviour, Situation, Step, behaviour_of_json
from hudi_conformance.verification.counterexamples.page import behaviour_page
from hudi_conformance.verification.counterexamples.picture import behaviour_svg, held_by
from hudi_conformance.verification.counterexamples.sources import of_counterexample, of_finding, of_itf, of_moves
from hudi_conformance.verification.properties import MODEL_PROPERTIES
from hudi_conformance.verification.properties.scenarios import SCENARIOS
from hudi_conformance.verification.proving import tried
from hudi_conformance.verification.tla.output import read_finding
from hudi_model_tools.store import Store
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

SVG = "{http://www.w3.org/2000/svg}"
RUNNER = CliRunner()

# Two steps of a module: one requests a commit under the lock, then it crashes.
REQUESTED = (
    '[requested |-> 1, completed |-> 0, action |-> "commit", state |-> "REQUESTED", target |-> 0, whole |-> TRUE]'
)
STATES = (
    ("Initial predicate", 'lock = "nobody"', "timeline = {}", '(one :> "idle" @@ two :> "idle")'),
    ("CreateInstant", 'lock = "one"', f"timeline = {{{REQUESTED}}}", '(one :> "requested" @@ two :> "idle")'),
    ("Crash", 'lock = "nobody"', f"timeline = {{{REQUESTED}}}", '(one :> "crashed" @@ two :> "idle")'),
)


def output_of_tlc() -> str:
    messages = ["@!@!@STARTMSG 2110:1 @!@!@\nInvariant NothingIsLeft is violated.\n@!@!@ENDMSG 2110 @!@!@"]
    for number, (action, lock, timeline, steps) in enumerate(STATES, start=1):
        named = steps.replace("one :", '"one" :').replace("two :", '"two" :')
        body = f"{number}: <{action} line 1, col 1 to line 2, col 2 of module Tiny>\n"
        body += f"/\\ {lock}\n/\\ {timeline}\n/\\ step = {named}"
        messages.append(f"@!@!@STARTMSG 2217:4 @!@!@\n{body}\n@!@!@ENDMSG 2217 @!@!@")
    return "\n".join(messages)


def itf() -> dict[str, Any]:
    """The same states as Apalache writes them."""
    number = {"completed": {"#bigint": "0"}, "requested": {"#bigint": "1"}, "target": {"#bigint": "0"}}
    requested = {**number, "action": "commit", "state": "REQUESTED", "whole": True}
    states = (("nobody", [], "idle"), ("one", [requested], "requested"), ("nobody", [requested], "crashed"))
    return {
        "#meta": {"format": "ITF"},
        "vars": ["lock", "timeline", "step"],
        "states": [
            {
                "#meta": {"index": index},
                "lock": lock,
                "timeline": {"#set": timeline},
                "step": {"#map": [["one", step], ["two", "idle"]]},
            }
            for index, (lock, timeline, step) in enumerate(states)
        ],
    }


@pytest.fixture
def itf_file(tmp_path: Path) -> Path:
    file = tmp_path / "violation.itf.json"
    file.write_text(json.dumps(itf()), encoding="utf-8")
    return file


def found_by_tlc() -> Behaviour:
    found = of_finding(read_finding(output_of_tlc(), ()), "Tiny: a run")
    assert found
    return found


def found_by_the_explorer(scenario: str, mutant: str, *, whole: bool = False) -> Behaviour:
    with mutated(MUTANTS[mutant]):
        found = SCENARIOS[scenario].search(crashes=0, whole=whole)
        return of_moves(found.broken, f"scenario {scenario}", SCENARIOS[scenario].start(Store()), found.steps)


def test_tlc_and_apalache_report_the_same_counterexample(itf_file: Path):
    """The same states are the same behaviour; only the names of actions are TLC's alone."""
    checked, symbolic = found_by_tlc(), of_itf(itf_file, "NothingIsLeft")

    assert checked.wrong == symbolic.wrong == "NothingIsLeft is violated"
    assert checked.processes == symbolic.processes == ("one", "two")
    assert [step.who for step in checked.steps] == [step.who for step in symbolic.steps] == ["one", "one"]
    assert [step.after.timeline for step in checked.steps] == [step.after.timeline for step in symbolic.steps]
    assert [dict(step.after.variables) for step in checked.steps] == [
        dict(step.after.variables) for step in symbolic.steps
    ]
    assert [step.what for step in checked.steps] == [("CreateInstant",), ("Crash",)]
    assert list(held_by(symbolic, "one")) == [(1, 2)]
    assert [step.what for step in symbolic.steps] == [("requested",), ("crashed",)]
    assert checked.steps[1].crashes
    assert symbolic.steps[1].crashes


def test_the_explorer_shows_each_step_with_its_process_and_its_changes():
    """The completion time that was generated too early stands out: before its step, and before the reader's."""
    behaviour = found_by_the_explorer("travel", "completion-time-before-lock")
    late = next(bar for bar in bars_of(behaviour) if bar.timed)
    reading = next(place for place, step in enumerate(behaviour.steps, start=1) if step.who == "reader")

    assert "had read the timeline before" in behaviour.wrong
    assert behaviour.processes == ("one", "two", "reader")
    assert late.timed < reading < late.last == len(behaviour.steps)
    assert any(name == "timeline" and "COMPLETED" in text for name, text in behaviour.steps[-1].changed)
    assert behaviour.last.timeline[-1]["state"] == "COMPLETED"


def test_a_property_keeps_the_moves_of_the_explorer():
    """What is refuted by exploration is drawn with its processes; what is refuted in words has its words."""
    explored = tried(MODEL_PROPERTIES["PO-270"]).found
    worded = tried(MODEL_PROPERTIES["PO-123"]).found

    assert explored
    assert worded
    assert of_counterexample(explored, "PO-270").processes == ("one", "two")
    assert [step.what for step in of_counterexample(worded, "PO-123").steps] == [
        (one,) for one in worded.steps or ("",)
    ]


def shapes(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - our own drawing


def steps_drawn(svg: str) -> list[str]:
    return [one.attrib["data-step"] for one in shapes(svg).iter(f"{SVG}g") if "data-step" in one.attrib]


def assert_inside(svg: str) -> None:
    picture = shapes(svg)
    width, height = (float(picture.attrib[name]) for name in ("width", "height"))
    for one in picture.iter():
        for name, limit in (("x", width), ("x1", width), ("x2", width), ("cx", width), ("y", height), ("cy", height)):
            assert 0 <= float(one.attrib.get(name, 0)) <= limit


def test_a_long_behaviour_has_a_place_and_words_for_each_step():
    """Forty steps and more stand apart; the picture widens instead of crowding."""
    behaviour = found_by_the_explorer("writers", "overlap-not-checked", whole=True)
    longer = Behaviour(
        behaviour.wrong, behaviour.place, "TLC", behaviour.processes, behaviour.start, behaviour.steps * 2
    )
    svg = behaviour_svg(longer)
    places = [float(one.attrib["cx"]) for one in shapes(svg).iter(f"{SVG}circle")]

    assert len(longer.steps) > 40
    assert steps_drawn(svg) == [str(number) for number in range(1, len(longer.steps) + 1)]
    assert min(later - earlier for earlier, later in pairwise(places)) >= 20
    assert_inside(svg)


texts = st.text(max_size=12)
instants = st.fixed_dictionaries(
    {
        "requested": st.integers(0, 9).map(lambda number: f"2025010100000000{number}"),
        "completed": st.one_of(st.none(), st.integers(0, 9).map(lambda number: f"2025010100000000{number}")),
        "action": st.one_of(st.sampled_from(["commit", "rollback"]), texts),
        "state": st.sampled_from(["REQUESTED", "INFLIGHT", "COMPLETED"]),
    }
)
names = st.sampled_from(["", "one", "two"])
pairs = st.lists(st.tuples(texts, texts), max_size=2).map(tuple)
situations = st.builds(Situation, st.lists(instants, max_size=4).map(tuple), names, pairs)
steps = st.builds(Step, names, st.lists(texts, max_size=3).map(tuple), situations, pairs, st.booleans())
behaviours = st.builds(
    Behaviour, texts, texts, texts, st.just(("one", "two")), situations, st.lists(steps, max_size=8).map(tuple)
)


@given(behaviours)
def test_any_behaviour_is_drawn_inside_its_frame_and_comes_back_from_json(behaviour: Behaviour):
    """Whatever texts and states it holds."""
    svg = behaviour_svg(behaviour)

    assert_inside(svg)
    assert len(steps_drawn(svg)) == len(behaviour.steps)
    assert behaviour_of_json(json.loads(json.dumps(behaviour.as_json()))) == behaviour


def test_the_page_shows_all_steps_and_loads_nothing_else():
    """Words of a state are text on the page, never markup; and no address is on it."""
    hostile = "<script>alert(1)</script>"
    behaviour = found_by_tlc()
    page = behaviour_page(Behaviour(hostile, hostile, "TLC", ("one",), behaviour.start, behaviour.steps))

    assert "<script>" not in page
    assert page.count("<summary>state</summary>") == len(behaviour.steps) + 1
    assert not re.search(r'(src|href)="?https?:', page)
    assert "default-src &#39;none&#39;" in page


def test_explore_draws_what_it_finds(tmp_path: Path):
    page = tmp_path / "pages" / "page.html"
    arguments = ["explore", "streams-commit-time", "--draw", str(page)]

    assert RUNNER.invoke(app, arguments).exit_code == 1
    assert "create_instant deltacommit COMPLETED" in page.read_text(encoding="utf-8")


def test_specs_draws_every_violated_run_also_where_it_was_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A page for each, and one that lists them."""
    module = "---- MODULE Tiny ----\nEXTENDS Integers\nCONSTANT Last\nVARIABLE hour\nInit == hour = 0\n"
    module += "Tick == hour' = hour + 1\n"
    module += "Spec == Init /\\ [][Tick]_hour\nNeverTwo == hour # Last\n====\n"
    (tmp_path / "Tiny.tla").write_text(module, encoding="utf-8")
    (tmp_path / "MCTiny.cfg").write_text(
        "CONSTANTS\n  Last = 2\nSPECIFICATION\n  Spec\nINVARIANTS\n  NeverTwo\n", encoding="utf-8"
    )
    (tmp_path / "runs").mkdir()
    runs = '[[run]]\nname = "it strikes"\nexpect = { violates = "NeverTwo" }\n'
    (tmp_path / "runs" / "Tiny.toml").write_text(runs, encoding="utf-8")

    assert check_specs(tmp_path, SpecSelection(draw=tmp_path / "drawn", apalache=False)) == 0
    assert "drawn: " in capsys.readouterr().out
    assert 'href="tiny-it-strikes.html"' in (tmp_path / "drawn" / "index.html").read_text(encoding="utf-8")
    assert "NeverTwo is violated" in (tmp_path / "drawn" / "tiny-it-strikes.html").read_text(encoding="utf-8")


def test_a_file_of_apalache_is_printed_and_drawn(itf_file: Path, tmp_path: Path):
    page = tmp_path / "page.html"
    done = RUNNER.invoke(app, ["counterexample", str(itf_file), "--violates", "NothingIsLeft", "--draw", str(page)])

    assert done.exit_code == 0
    assert "NothingIsLeft is violated" in done.output
    assert "commit REQUESTED" in done.output.replace("  ", " ")
    assert "NothingIsLeft is violated" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        ("{", "is no trace in the Informal Trace Format"),
        ("[]", "is no trace in the Informal Trace Format"),
        ('{"vars": [], "states": [3]}', "is no trace in the Informal Trace Format"),
        ('{"vars": [], "states": []}', "holds no state"),
    ],
)
def test_what_is_no_counterexample_is_one_clear_line(tmp_path: Path, content: str | None, message: str):
    file = tmp_path / "violation.itf.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")

    done = RUNNER.invoke(app, ["counterexample", str(file)])

    assert done.exit_code == 2
    assert message in done.output
    assert len(done.output.splitlines()) == 1
