from hudi_conformance.corpus.mutants import MUTANTS, mutated
from hudi_conformance.verification.properties import laws
from hudi_conformance.verification.properties.scenarios import SCENARIOS
from hudi_model_tools.explore import Exploration
from hudi_model_tools.protocol import World


def broken() -> Exploration:
    with mutated(MUTANTS["overlap-not-checked"]):
        return SCENARIOS["writers"].search((laws.answers,), (), crashes=0)


def test_a_search_counts_what_it_sees_and_does_so_again():
    """Two searches of one scenario see the same states, transitions and depth."""
    first, second = (SCENARIOS["writers"].search(crashes=0) for _ in range(2))

    assert (first.states, first.transitions, first.depth) == (second.states, second.transitions, second.depth)
    assert first.broken == second.broken == ""
    assert first.states > 300


def test_a_counterexample_is_as_short_as_any_and_can_be_followed():
    """Both writers begin, both stage, both complete: eight moves, each from where the one before it led."""
    found = broken()

    assert "the completed writes make" in found.broken
    assert len(found.steps) == found.depth == 8
    assert found.last == found.steps[-1].world
    assert {move.process.name for move in found.steps} == {"one", "two"}


def test_a_search_reports_progress():
    """Once for each step of the search, with numbers that only grow."""
    progress: list[tuple[int, int, int]] = []
    found = SCENARIOS["travel"].search(progress=lambda *numbers: progress.append(numbers))

    assert progress == sorted(progress)
    assert progress[-1] == (found.states, found.transitions, found.depth)


def test_laws_at_rest_are_held_only_where_nothing_can_happen():
    """A pending write is no fault while its writer lives."""

    def made(_: World) -> laws.Law:
        return lambda world: "" if all(one.is_alive for one in world.processes) else "someone is dead"

    assert SCENARIOS["writers"].search((), (laws.nothing_left,), crashes=0).broken == ""
    assert SCENARIOS["writers"].search((made,), (), crashes=1).depth == 1
