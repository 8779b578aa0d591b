"""The engine's effects, one at a time, in the orders of the model's graph: nothing but what the model says is seen."""

from pathlib import Path

import pytest
from fine_replaying import replay_paths
from hudi_conformance.verification.interleavings.scenarios import INTERLEAVING_SCENARIOS

pytestmark = pytest.mark.crashes

# All paths of the writers' graphs, and of the larger ones those with the most new edges; `soak.py` plays all.
WRITERS = [name for name in INTERLEAVING_SCENARIOS if name.startswith("writers")]
OTHERS = [name for name in INTERLEAVING_SCENARIOS if name not in WRITERS]
PATHS = 10


@pytest.mark.parametrize("name", WRITERS)
def test_two_optimistic_writers_keep_to_the_model_at_every_edge(name: str, tmp_path: Path):
    found = replay_paths(INTERLEAVING_SCENARIOS[name], tmp_path, whole=False)
    assert not found.failures, "\n".join(found.failures)
    assert found.played == found.edges


@pytest.mark.parametrize("name", OTHERS)
def test_services_beside_writers_keep_to_the_model(name: str, tmp_path: Path):
    found = replay_paths(INTERLEAVING_SCENARIOS[name], tmp_path, whole=False, paths=PATHS)
    assert not found.failures, "\n".join(found.failures)
    assert found.played > PATHS


def test_each_effect_may_be_followed_by_any_other_process(tmp_path: Path):
    """The same without joining effects that nobody sees, for one scenario."""
    found = replay_paths(INTERLEAVING_SCENARIOS["writers-same-mor-9"], tmp_path, whole=True, paths=PATHS)
    assert not found.failures, "\n".join(found.failures)
