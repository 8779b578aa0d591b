"""The metadata table in the variables of the TLA+ modules."""

from dataclasses import replace

from hudi_conformance.verification.agreement.projecting import Projection
from hudi_conformance.verification.properties.scenarios import SCENARIOS
from hudi_conformance.verification.tla.expressions import Value, function
from hudi_model_tools.protocol import Protocol, World
from hudi_model_tools.store import Store

NAMES = ("stored", "metadata", "indexed", "building", "built", "covered")


def worlds(scenario: str, process: str) -> list[World]:
    """What one process does alone, from the beginning to its end."""
    store, moves = Store(), Protocol(Store(), whole=True).moves
    found = SCENARIOS[scenario]
    alone = replace(found, actors=tuple(one for one in found.actors if one(Store()).name == process))
    passed = [alone.start(store)]
    while following := moves(passed[-1]):
        passed.append(following[0].world)
    return passed


def shown(passed: list[World]) -> list[dict[Value, Value]]:
    """Worlds in the variables of the metadata table."""
    projection = Projection(NAMES, ())
    return [projection.state(world).mapping() for world in passed]


def listed(instant: int, *days: str) -> frozenset[Value]:
    return frozenset(function({"day": day, "since": 1, "instant": instant, "kind": "base"}) for day in days)


def metadata_file(instant: int, added: frozenset[Value]) -> Value:
    return function({"instant": instant, "added": added, "removed": frozenset()})


BEFORE = {
    metadata_file(0, frozenset()),
    metadata_file(1, listed(1, "d1", "d2")),
    metadata_file(3, listed(3, "d1", "d2")),
}


def test_the_entries_of_each_write_in_the_metadata_table():
    first, *_, last = shown(worlds("metadata", "one"))

    assert first["metadata"] == BEFORE
    assert last["metadata"] == {*BEFORE, metadata_file(5, listed(5, "d1"))}
    assert last["stored"] == listed(1, "d1", "d2") | listed(3, "d1", "d2") | listed(5, "d1")
    assert last["indexed"] == frozenset()


def test_an_index_is_announced_built_of_everything_and_switched_on():
    states = shown(worlds("indexing", "indexing"))
    stages = list(dict.fromkeys((one["building"], one["built"], bool(one["indexed"])) for one in states))
    files, index = frozenset({"files"}), frozenset({"column_stats"})

    assert stages == [
        (frozenset(), files, False),
        (index, files, False),
        (index, files, True),
        (frozenset(), files | index, True),
    ]
    assert states[-1]["indexed"] == {metadata_file(0, listed(1, "d1", "d2") | listed(3, "d1", "d2"))}


def test_an_indexing_records_the_last_write_that_it_covers():
    last = shown(worlds("indexing", "indexing"))[-1]

    assert last["covered"] == {
        function({"requested": 5, "state": state, "upto": 3}) for state in ("REQUESTED", "COMPLETED")
    }
