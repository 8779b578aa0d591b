"""Paths that cover a graph of states, the model's coarse graphs, and the implementations that play them."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hudi_conformance.interop.peers.running import missing_bundle, peers_required
from hudi_conformance.runner.resources import suite_root
from hudi_conformance.verification.interleavings.coarse import coarse_graph
from hudi_conformance.verification.interleavings.fine import fine_graph
from hudi_conformance.verification.interleavings.graph import Cover, Edge, Graph, cover, graph_of
from hudi_conformance.verification.interleavings.page import write_page
from hudi_conformance.verification.interleavings.results import Result, load, save
from hudi_conformance.verification.interleavings.running import Bounds, run_all
from hudi_conformance.verification.interleavings.scenarios import INTERLEAVING_SCENARIOS
from hypothesis import given
from hypothesis import strategies as st

# Of each graph the paths with the most new edges; `make soak` plays all.
PATHS = 2


@st.composite
def graphs(draw: st.DrawFn) -> Graph[int, str]:
    """A small graph whose moves go from lower numbers to higher ones."""
    size = draw(st.integers(1, 7))
    pairs = [(low, high) for low in range(size) for high in range(low + 1, size)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []

    def moves(state: int) -> Iterator[tuple[str, int]]:
        yield from ((f"{low}-{high}", high) for low, high in chosen if low == state)

    return graph_of(0, moves)


@given(graphs())
def test_paths_lead_from_start_to_end_and_together_over_every_edge(graph: Graph[int, str]):
    paths = cover(graph)
    for path in paths:
        assert path[0].source == 0
        assert all(one.target == two.source for one, two in pairwise(path))
        assert not graph.leaving[path[-1].target]
    assert {edge.number for path in paths for edge in path} == {edge.number for edge in graph.edges()}


@given(graphs(), st.integers(0, 50))
def test_no_path_goes_over_a_barred_edge_again(graph: Graph[int, str], place: int):
    paths = Cover(graph)
    barred: Edge[str] | None = None
    for path in paths:
        assert barred is None or barred.number not in {edge.number for edge in path}
        if barred is None:
            step = place % len(path)
            barred = path[step]
            paths.bar(path, step)


def test_a_circle_is_no_graph_of_progress():
    with pytest.raises(ValueError, match="circle"):
        Cover(graph_of(0, lambda state: [("on", (state + 1) % 3)]))


@pytest.mark.slow
@pytest.mark.parametrize("name", INTERLEAVING_SCENARIOS)
def test_every_kind_of_act_has_edges(name: str):
    acts = {edge.move.act for edge in coarse_graph(INTERLEAVING_SCENARIOS[name]).edges()}
    services = {"schedule", "execute"} if not name.startswith("writers") else set()
    assert acts == {"begin", "stage", "commit", "abort"} | services


@pytest.mark.parametrize("whole", [False, True])
def test_of_writers_that_are_each_others_images_the_first_moves_first(*, whole: bool):
    graph = fine_graph(INTERLEAVING_SCENARIOS["writers-same-cow-9"], whole=whole)
    assert {edge.move.process for edge in graph.leaving[0]} == {"one"}
    assert {
        edge.move.process for edge in fine_graph(INTERLEAVING_SCENARIOS["streams-compaction-9"], whole=False).leaving[0]
    } == {
        "one",
        "two",
        "compaction",
    }


@pytest.mark.crashes
@pytest.mark.parametrize("adapter", ["model", "engine-in-process"])
def test_outcomes_and_reads_after_every_act_are_the_models(adapter: str):
    results = list(run_all(INTERLEAVING_SCENARIOS.values(), adapter, Bounds(PATHS)))
    assert [failure for one in results for failure in one.failures] == []
    assert all(one.played for one in results)


@pytest.mark.crashes
@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
def test_apache_hudi_plays_them_too():
    why = missing_bundle(suite_root(), "apache-hudi-1.1.1")
    if why and not peers_required():
        pytest.skip(f"apache-hudi-1.1.1 is not asked: {why}")
    assert not why, why
    chosen = [INTERLEAVING_SCENARIOS[name] for name in ("writers-same-mor-9", "streams-compaction-9")]
    results = list(run_all(chosen, "apache-hudi-1.1.1", Bounds(1)))
    assert [failure for one in results for failure in one.failures] == []


def test_results_are_kept_and_reported(tmp_path: Path):
    found = Result(
        "writers-same-cow-9", "whole", "engine-in-process", 5, 6, 4, 2, 9, ("path 1: wrong",), 1, 1, (("take_lock", 2),)
    )
    save(tmp_path / "kept.json", [found])
    assert load(tmp_path / "kept.json") == (found,)
    write_page(tmp_path / "interleavings.md", [found])
    text = (tmp_path / "interleavings.md").read_text(encoding="utf-8")
    assert "4 of 6 edges in 2 paths, 1 with a difference" in text
    assert "path 1: wrong" in text
    assert (tmp_path / "pictures/interleaving.svg").read_text(encoding="utf-8").startswith("<svg")
