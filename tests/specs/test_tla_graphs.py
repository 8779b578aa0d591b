"""Values and graphs of states are read back as TLC printed them; of two graphs the first lone step is reported."""

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hudi_conformance.verification.agreement.comparing import differing
from hudi_conformance.verification.tla.expressions import ExpressionError, Function, Value, function, parse_value, show
from hudi_conformance.verification.tla.graph import Graph, State, read_dump
from hudi_conformance.verification.tla.manifest import ManifestError, Run
from hudi_conformance.verification.tla.tlc import JAR, TlcNotFoundError, dump_graph, run_tlc, tlc_version
from hypothesis import given
from hypothesis import strategies as st

NAMES = st.from_regex(r"[a-z]\w{0,4}", fullmatch=True)
VALUES: st.SearchStrategy[Value] = st.recursive(
    st.integers() | st.booleans() | st.text('ab "\\,{}[]<>|', max_size=6),
    lambda inner: (
        st.frozensets(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(NAMES, inner, min_size=1, max_size=3).map(function)
    ),
    max_leaves=12,
)
TOGGLES = """---- MODULE Toggles ----
EXTENDS Integers
CONSTANTS Names, Last
VARIABLES on, count
Init == on = [n \\in Names |-> FALSE] /\\ count = 0
Toggle(n) == count < Last /\\ on' = [on EXCEPT ![n] = ~@] /\\ count' = count + 1
Reset == count = Last /\\ on' = [n \\in Names |-> FALSE] /\\ count' = 0
Next == Reset \\/ \\E n \\in Names: Toggle(n)
Spec == Init /\\ [][Next]_<<on, count>>
====
"""


@given(VALUES)
def test_a_value_is_read_back_as_it_was_shown(value: Value):
    assert show(parse_value(show(value))) == show(value)


@given(st.text('{}[]<>|-:@(), ab1"\\', max_size=20))
def test_what_is_no_value_is_refused_as_that(text: str):
    with suppress(ExpressionError):
        show(parse_value(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(1 :> TRUE @@ 3 :> FALSE)", Function(frozenset({(1, True), (3, False)}))),
        ('[step |-> "idle", seen |-> {}]', function({"step": "idle", "seen": frozenset()})),
        ('<<-1, "a\\"b">>', (-1, 'a"b')),
    ],
)
def test_forms_that_tlc_prints(text: str, value: Value):
    assert parse_value(text) == value


@pytest.fixture
def toggles(tmp_path: Path) -> Path:
    (tmp_path / "Toggles.tla").write_text(TOGGLES, encoding="utf-8")
    constants = 'CONSTANTS\n  Names = {"a", "b"}\n  Last = 2\nSPECIFICATION\n  Spec\n'
    (tmp_path / "MCToggles.cfg").write_text(constants, encoding="utf-8")
    return tmp_path


def state(count: int, *, a: bool = False, b: bool = False) -> State:
    return function({"on": function({"a": a, "b": b}), "count": count})


def test_a_dump_has_every_state_and_every_step_by_its_action(toggles: Path):
    graph = dump_graph(toggles, Run("all", "Toggles", "MCToggles.cfg", None))

    first, both = state(0), state(2, a=True, b=True)
    assert graph.initial == {first}
    assert graph.states == {first, state(1, a=True), state(1, b=True), state(2), both}
    assert {edge for edge in graph.edges if edge[1] == "Reset"} == {(state(2), "Reset", first), (both, "Reset", first)}
    assert [action for action, _ in graph.ways().steps_to(both)] == ["Toggle", "Toggle"]
    assert len(graph.edges) == 8


OF_2020 = r"""strict digraph DiskGraph {
-1 [label="/\\ on = \"a(\\\"\"\n/\\ count = 0",style = filled]
-1 -> 2 [label="Toggle",color="black",fontcolor="black"];
2 [label="/\\ on = \"b\"\n/\\ count = 1"];
2 -> -1 [label="Reset",color="black",fontcolor="black"];
}
"""
OF_TODAY = r"""strict digraph DiskGraph {
node [shape=box,style=rounded]
-1 [label="/\\ on = \"a(\\\"\"\n/\\ count = 0",tooltip="/\\ on = \"a(\\\"\"\n/\\ count = 0",style = filled]
-1 -> 2 [label="Toggle(\"a\")",color="black",fontcolor="black"];
-1 -> 2 [label="Toggle(\"b\")",color="black",fontcolor="black"];
2 [label="/\\ on = \"b\"\n/\\ count = 1",tooltip="/\\ on = \"b\"\n/\\ count = 1"];
2 -> -1 [label="Reset",color="black",fontcolor="black"];
}
"""


def test_dumps_of_both_releases_are_the_same_graph():
    """TLC of today adds tooltips, and to the names of actions what they were taken with."""
    graph = read_dump(OF_TODAY)

    assert graph == read_dump(OF_2020)
    assert {action for _, action, _ in graph.edges} == {"Toggle", "Reset"}
    assert [state.mapping()["on"] for state in graph.initial] == ['a("']


def test_a_step_to_a_state_that_is_not_shown_is_an_error():
    with pytest.raises(ExpressionError, match="1 states that it does not show"):
        read_dump('1 [label="x = 1",style = filled]\n1 -> 2 [label="Go"]\n')


def test_the_tlc_that_a_variable_names_finds_the_same_graph(toggles: Path, monkeypatch: pytest.MonkeyPatch):
    """Where TLA2TOOLS_JAR names another TLC, its graphs and verdicts are those of the wheel's."""
    if not os.environ.get(JAR):
        pytest.skip(f"{JAR} names no other TLC to compare with")
    run = Run("all", "Toggles", "MCToggles.cfg", None)
    named = dump_graph(toggles, run), run_tlc(toggles, run).finding

    monkeypatch.delenv(JAR)

    of_wheel = run_tlc(toggles, run).finding
    assert (named[0], named[1] and named[1].distinct_states) == (
        dump_graph(toggles, run),
        of_wheel and of_wheel.distinct_states,
    )


def test_a_variable_that_names_no_jar_is_an_error(toggles: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(JAR, str(toggles / "none.jar"))

    with pytest.raises(TlcNotFoundError, match="there is no such file"):
        tlc_version()


def test_a_dump_that_could_not_be_made_is_an_error(toggles: Path):
    with pytest.raises(ManifestError, match="stopped: more than"):
        dump_graph(toggles, Run("all", "Toggles", "MCToggles.cfg", None, limit_s=0.01))


def test_the_first_lone_step_is_reported_with_the_path_to_it():
    first, one, other, far = state(0), state(1, a=True), state(1, b=True), state(2, a=True, b=True)
    whole = {(first, "Toggle", one), (first, "Toggle", other), (one, "Toggle", far)}
    checked = Graph(frozenset({first}), frozenset({first, one, other, far}), frozenset(whole))
    model = Graph(frozenset({first}), frozenset({first, one}), frozenset({(first, "Toggle", one)}))

    lines = list(differing(checked, model))

    assert lines[0] == "only TLC has this step, Toggle, after 0 steps:"
    assert lines[1] == "      1 Toggle: count 1; on [.. b |-> TRUE]"
    assert lines[2] == "    where the other's Toggle leads to count 1; on [.. a |-> TRUE]"
    assert lines[3] == "steps of TLC alone: {'Toggle': 2}"
    assert list(differing(model, model)) == []


def test_other_first_states_are_reported_by_variable():
    graphs = [Graph(frozenset({one}), frozenset({one}), frozenset()) for one in (state(0), state(1))]

    assert list(differing(*graphs)) == ["the first states differ:", "  count: TLC 0", "         model 1"]
