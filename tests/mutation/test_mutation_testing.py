"""Mutation testing of the engine: its operators, what it leaves alone, and reasons for every recorded survivor."""

from pathlib import Path
from typing import Any

import listing
import pytest
from cosmic_ray.mutating import mutate_code
from explanations import Explanation, Explanations, complaints, explanations
from kill_one import statement_lines
from listing import Mutant, drawn, mutants_of
from mutation_operators import OPERATORS, register
from mutation_page import page
from mutation_targets import ENGINE, MODULES, ROOT
from results import SPECS, Result, kept
from spec_mutants import FOLDER, spec_mutants, try_by_graphs, try_mutants, try_quickly

SOURCE = '''\
@dataclass(frozen=True)
class Kept:
    names: tuple[str | None, ...] = ()


def last(codes: list[int] | None, ranks: Any) -> Any:
    """Not 1."""
    order = [(name, "ascending", "at_start") for name in ranks]
    if codes and len(codes) > 1 - 0:
        return pc.greater(codes, order)
    return {**ranks, "a": 1 | 2}
'''


@pytest.fixture(autouse=True)
def known_operators(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(listing, "BUILD", tmp_path / "build")
    register()


def mutants(folder: Path) -> list[Mutant]:
    (folder / "kernel.py").write_text(SOURCE)
    return mutants_of(["kernel.py"], folder)


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_does_what_its_example_says(name: str):
    operator = OPERATORS[name]
    for example in operator.examples():
        assert mutate_code(example.pre_mutation_code, operator(), 0) == example.post_mutation_code


def test_names_and_orders_are_changed_and_what_says_nothing_is_not(tmp_path: Path):
    """Annotations, the settings of value classes, unpacking; every mutant is Python."""
    found = {(one.operator, one.becomes) for one in mutants(tmp_path)}
    assert ("names/greater_to_greater_equal", "return pc.greater_equal(codes, order)") in found
    assert ("names/text_ascending_to_descending", SOURCE.splitlines()[7].strip().replace("asc", "desc")) in found
    assert ("core/ReplaceBinaryOperator_BitOr_BitAnd", 'return {**ranks, "a": 1 & 2}') in found
    assert not [one for one in found if "frozen" in one[1] or "tuple[" in one[1] or one[1].startswith("def ")]


def test_equal_lines_are_distinguished_by_number(tmp_path: Path):
    found = mutants(tmp_path)
    assert len({one.key for one in found}) == len(found)
    assert {one.nth for one in found if one.operator == "core/NumberReplacer"} == {1, 2, 3, 4}


def test_a_smaller_draw_is_where_a_greater_one_begins(tmp_path: Path):
    found = mutants(tmp_path)
    whole = drawn(found, 1.0)
    assert sorted(one.key for one in whole) == sorted(one.key for one in found)
    half = drawn(found, 0.5)
    assert 0 < len(half) < len(found)
    assert [one.key for one in half] == [one.key for one in whole[: len(half)]]


def test_a_statement_is_reached_by_any_of_its_lines():
    """Of a function or a condition it is the head alone."""
    text = (ENGINE / "hudi_spark" / MODULES[0]).read_text().splitlines()
    number = next(number for number, line in enumerate(text, 1) if line.startswith("def "))
    first, last = statement_lines(MODULES[0], number)
    assert first <= number <= last < number + 5


def result(outcome: str, **more: Any) -> Result:
    return Result(
        **{"module": "m.py", "text": "a > b", "operator": "o", "nth": 1, "line": 1, "becomes": "", **more},
        outcome=outcome,
    )


def explained_by(survivors: bool) -> Explanations:
    key = ("m.py", "a > b", "o", 1)
    one = {key: Explanation(key, "equivalent", "they are never equal")}
    return Explanations(one, {}) if survivors else Explanations({}, one)


@pytest.mark.parametrize(
    ("outcome", "explained", "complaint"),
    [
        ("survived", explained_by(survivors=True), ""),
        ("survived", Explanations({}, {}), "survived and not explained"),
        ("case x", explained_by(survivors=True), "explained, but killed"),
        ("", explained_by(survivors=True), "explained, but killed, gone or not tried"),
        ("case x", explained_by(survivors=False), ""),
        ("survived", explained_by(survivors=False), "survived and not explained"),
        ("", explained_by(survivors=False), "said to be closed"),
    ],
)
def test_survivors_are_explained_and_nothing_else_is(outcome: str, explained: Explanations, complaint: str):
    found = complaints([result(outcome)], explained)
    assert found[0].startswith(complaint) if complaint else found == []
    assert complaints([], explained_by(survivors=True)) != []


def test_an_explanation_has_a_kind_and_a_reason(tmp_path: Path):
    entry = '[[survivor]]\nmodule = "m.py"\ntext = "a"\noperator = ["o", "p"]\nnth = [1, 2]\n'
    path = tmp_path / "explanations.toml"
    path.write_text(entry + 'kind = "words"\nwhy = "w"\n')
    assert len(explanations(path).survivors) == 4
    for wrong in (entry, entry + 'kind = "words"\n', entry + 'kind = "luck"\nwhy = "w"\n'):
        path.write_text(wrong)
        with pytest.raises(ValueError, match=r"m\.py"):
            explanations(path)


def test_every_survivor_is_explained():
    assert complaints([*kept(), *kept(SPECS)], explanations()) == []


def test_the_page_names_every_module_that_is_mutated():
    text = page(kept(), kept(SPECS), explanations())
    assert [module for module in MODULES if module not in text] == []


def test_what_survived_is_still_in_the_engine():
    """Where a line is changed, its mutants are to be tried again: `python tests/mutation/run.py try --go-on`."""
    lines = {module: _lines(module) for module in MODULES}
    assert [one.key for one in kept() if one.survived and one.text not in lines[one.module]] == []


def test_what_survived_is_still_in_the_modules_of_tla():
    """Where a line is changed, its mutants are to be tried again: `python tests/mutation/run.py specs --go-on`."""
    survived = [one for one in kept(SPECS) if one.survived]
    lines = {one.module: _lines_of(ROOT / FOLDER / one.module) for one in survived}
    assert [one.key for one in survived if one.text not in lines[one.module]] == []


def _lines(module: str) -> set[str]:
    return _lines_of(ENGINE / "hudi_spark" / module)


def _lines_of(path: Path) -> set[str]:
    return {line.strip() for line in path.read_text(encoding="utf-8").splitlines()}


SPEC = """---- MODULE Counter ----
EXTENDS Integers
CONSTANT Last
VARIABLES at, step, seen
Goes(p, from, to) == step[p] = from /\\ step' = [step EXCEPT ![p] = to]
Init == at = 0 /\\ seen = FALSE /\\ step = [p \\in {"one"} |-> "counting"]
May == at < Last /\\ at >= 0
Count(p) ==
  /\\ step[p] = "counting"
  /\\ May
  /\\ at' = at + 1
  /\\ UNCHANGED <<step, seen>>
End(p) == Goes(p, "counting", "done") /\\ at = Last /\\ seen' = TRUE /\\ UNCHANGED at
Next == \\E p \\in {"one"}: Count(p) \\/ End(p)
Spec == Init /\\ [][Next]_<<at, step, seen>> /\\ \\A p \\in {"one"}: WF_<<at, step, seen>>(Count(p) \\/ End(p))
InBounds == at <= Last
EndsWhole == step["one"] = "done" => at = Last
Ends == <>(step["one"] = "done")
NeverDone == step["one"] # "done"
====
"""
RUNS = """[[run]]
name = "it counts to the last"
expect = "pass"
"""
WITNESS = """
[[run]]
name = "witness: it is done"
check = ["NeverDone"]
expect = { violates = "NeverDone" }
"""
AGREEMENT = """
[[agreement]]
name = "as the model counts"
scenario = "counting"
"""
CONFIGURATION = (
    "CONSTANTS\n  Last = 2\nSPECIFICATION\n  Spec\nINVARIANTS\n  InBounds\n  EndsWhole\nPROPERTIES\n  Ends\n"
)


def counter(folder: Path, runs: str = RUNS) -> Path:
    (folder / "runs").mkdir(parents=True)
    (folder / "Counter.tla").write_text(SPEC)
    (folder / "MCCounter.cfg").write_text(CONFIGURATION)
    (folder / "runs" / "Counter.toml").write_text(runs)
    return folder


def test_each_condition_and_change_of_a_module_is_mutated_once(tmp_path: Path):
    """What `Next` reaches, calls of actions by their first step too; what only a property says is left alone."""
    found = [(one.result.line, one.result.operator) for one in spec_mutants(counter(tmp_path / "tla"), ["Counter"])]
    conditions = [(line, operator) for line in (5, 7, 7, 9, 10, 13) for operator in ("drop", "negate")]
    assert sorted(found) == sorted([*conditions, (5, "leave"), (11, "leave"), (13, "leave"), (13, "from any step")])


def test_what_a_module_has_an_instance_of_is_none_of_its_steps():
    """`NonBlockingWriters` has `Next` from a module that it extends; it implements another that has a `Next`, too."""
    found = {one.result.module for one in spec_mutants(ROOT / FOLDER, ["NonBlockingWriters"])}
    assert "StreamingSteps.tla" in found
    assert "AtomicTable.tla" not in found


def test_a_mutant_that_no_run_notices_survives_or_changes_nothing(tmp_path: Path):
    """What is done may be done again: that is another graph, and no property says that it is done once.

    So is what nobody reads left out, though there are as many states.
    """
    folder = counter(tmp_path / "tla")
    chosen = {(7, "drop"), (9, "drop"), (11, "leave"), (13, "leave"), (13, "from any step")}
    mutants = [one for one in spec_mutants(folder, ["Counter"]) if (one.result.line, one.result.operator) in chosen]
    outcomes = {(one.becomes, one.outcome) for one in try_mutants(folder, mutants)}
    assert ("May == at < Last /\\ TRUE", "unchanged") in outcomes
    ends = "/\\ at = Last /\\ seen' = TRUE /\\ UNCHANGED at"
    assert (f'End(p) == Goes(p, step[p], "done") {ends}', "survived") in outcomes
    unseen = ends.replace("seen' = TRUE", "UNCHANGED seen")
    assert (f'End(p) == Goes(p, "counting", "done") {unseen}', "survived") in outcomes
    assert ("May == TRUE /\\ at >= 0", "run Counter: it counts to the last") in outcomes
    assert ("/\\ UNCHANGED at", "run Counter: it counts to the last") in outcomes


def test_a_quick_run_says_what_short_runs_kill(tmp_path: Path):
    """One run has all mutants: the witness is found of the one, and not of the other, which breaks an invariant."""
    folder = counter(tmp_path / "tla", RUNS + WITNESS)
    chosen = {(7, "drop"), (9, "negate")}
    mutants = [one for one in spec_mutants(folder, ["Counter"]) if (one.result.line, one.result.operator) in chosen]
    outcomes = {(one.becomes, one.outcome) for one in try_quickly(folder, mutants)}
    assert outcomes == {
        ('/\\ ~(step[p] = "counting")', "run Counter: witness: it is done"),
        ("May == TRUE /\\ at >= 0", "run Counter: it counts to the last"),
    }


def test_an_agreement_kills_what_has_other_states_or_steps(tmp_path: Path):
    """One run has the graphs of all mutants: of what changes nothing, of what nobody reads, of what never ends."""
    folder = counter(tmp_path / "tla", RUNS + AGREEMENT)
    chosen = {(7, "drop"), (11, "leave"), (13, "leave"), (13, "from any step")}
    mutants = [one for one in spec_mutants(folder, ["Counter"]) if (one.result.line, one.result.operator) in chosen]
    outcomes = {(one.becomes, one.outcome) for one in try_by_graphs(folder, mutants)}
    by = "agreement Counter: as the model counts"
    ends = "/\\ at = Last /\\ seen' = TRUE /\\ UNCHANGED at"
    unseen = ends.replace("seen' = TRUE", "UNCHANGED seen")
    assert outcomes == {
        ("May == TRUE /\\ at >= 0", by),
        ("/\\ UNCHANGED at", by),
        (f'End(p) == Goes(p, step[p], "done") {ends}', by),
        (f'End(p) == Goes(p, "counting", "done") {unseen}', by),
    }
