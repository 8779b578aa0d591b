"""TLA+ modules and the model: the projection states the future, agreement is found, and what differs is reported."""

from collections import defaultdict, deque
from dataclasses import replace
from pathlib import Path

import pytest
from hudi_conformance.verification.agreement.comparing import compare
from hudi_conformance.verification.agreement.model_graphs import action_of, scenario_of
from hudi_conformance.verification.agreement.projecting import VARIABLES, Projection
from hudi_conformance.verification.tla.manifest import Agreement, ManifestError, Run, load_manifest
from hudi_model_tools.protocol import Protocol
from hudi_model_tools.store import Store

SPECS = Path(__file__).resolve().parents[2] / "specs" / "tla"
AGREEMENTS = {(one.run.module, one.run.name): one for one in load_manifest(SPECS).agreements}
SMALL = AGREEMENTS["Recovery", "a writer and a rollback, a death"]
SHORT = AGREEMENTS["OptimisticWriters", "two processes hold the lock"]


@pytest.mark.parametrize(
    ("scenario", "processes", "crashes"),
    [
        ("writers", ("one", "rollback"), 1),
        ("writer-compaction", ("one", "compaction"), 0),
        ("clustering", ("one", "clustering"), 0),
        ("archival", ("one", "archiver"), 1),
        ("metadata", ("one", "rollback"), 1),
        ("indexing", ("one", "indexing"), 0),
        ("savepoint", ("one", "cleaning", "savepointer"), 0),
    ],
)
def test_worlds_that_are_one_state_go_on_alike(scenario: str, processes: tuple[str, ...], crashes: int):
    """Else a module that has the same states could not have the same steps."""
    agreement = Agreement(Run("any", "Any", "MCAny.cfg", None), scenario, processes, crashes)
    store = Store()
    start = scenario_of(agreement).start(store)
    projection, protocol = Projection(VARIABLES, processes), Protocol(store, crashes, whole=True)
    known, waiting, following = {start: projection.state(start)}, deque([start]), defaultdict(set)
    while waiting:
        world = waiting.popleft()
        moves = protocol.moves(world)
        for move in moves:
            if move.world not in known:
                known[move.world] = projection.state(move.world)
                waiting.append(move.world)
        following[known[world]].add(frozenset((action_of(move), known[move.world]) for move in moves))
    assert len(known) > 50
    assert all(len(one) == 1 for one in following.values())


def test_a_module_has_the_states_and_the_steps_of_the_model():
    found = compare(SPECS, SMALL)

    assert found.differs == ()
    assert (found.states, sum(found.actions.values())) == (81, 84)
    assert found.actions["Crash"] > 0


def test_counterexamples_are_of_one_length():
    found = compare(SPECS, SHORT)

    assert (found.differs, found.length) == ((), 2)


def test_a_rule_that_only_the_model_breaks_is_reported_with_the_path_to_the_first_step():
    """The module keeps the rule, the mutant does not: this must not pass for agreement."""
    found = compare(SPECS, replace(SMALL, mutant="lease-never-ends"))

    assert found.differs[0].startswith("only TLC has this step, Crash, after ")
    assert any("where the other's Crash leads to" in line for line in found.differs)


def test_a_law_that_the_model_keeps_is_reported():
    found = compare(SPECS, replace(SHORT, mutant=None))

    assert found.differs == ("the model keeps the law one_holder",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scenario": "no such"}, "there is no scenario no such"),
        ({"processes": ("nobody",)}, "writers has no"),
        ({"run": replace(SMALL.run, without="no such rule")}, "is no rule of"),
    ],
)
def test_an_agreement_that_fits_nothing_is_an_error(change: dict[str, object], message: str):
    with pytest.raises(ManifestError, match=message):
        compare(SPECS, replace(SMALL, **change))  # type: ignore[arg-type]
