import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hudi_conformance.verification.properties.scenarios import (
    COMMIT_TIME,
    COPY_ON_WRITE,
    ROLLBACK,
    SCENARIOS,
    Scenario,
    reader,
    writer,
)
from hudi_conformance.verification.properties.scenarios import Shape as Kind
from hudi_model.actions import State
from hudi_model.files import Record
from hudi_model.queries import read_snapshot
from hudi_model_tools.explore import project
from hudi_model_tools.protocol import Move, Protocol, World
from hudi_model_tools.store import Store

KIND = Kind(9, COPY_ON_WRITE, COMMIT_TIME)
PAIR = Scenario("pair", "", KIND, (writer("one"), writer("two"), ROLLBACK), writes=1)


def worlds(scenario: Scenario, crashes: int = 0, *, whole: bool = False) -> dict[World, tuple[Move, ...]]:
    store = Store()
    protocol = Protocol(store, crashes, whole=whole)
    border = [scenario.start(store)]
    found: dict[World, tuple[Move, ...]] = {}
    while border:
        world = border.pop()
        if world not in found:
            found[world] = protocol.moves(world)
            border += [move.world for move in found[world]]
    return found


def walks(scenario: Scenario, crashes: int, seed: int) -> Iterator[Move]:
    store, chance = Store(), random.Random(seed)  # noqa: S311 - a walk, no secret
    protocol, world = Protocol(store, crashes), scenario.start(store)
    while moves := protocol.moves(world):
        yield (move := chance.choice(moves))
        world = move.world


def ends(found: dict[World, tuple[Move, ...]]) -> set[object]:
    return {project(world) for world, moves in found.items() if not moves}


def answers(found: dict[World, tuple[Move, ...]]) -> set[object]:
    """What the table has shown in any state: its completed instants and its rows."""
    tables = {world.shared.table.number: world.shared.table.value for world in found}
    return {
        (
            tuple(sorted(one.name for one in table.timeline if one.state is State.COMPLETED)),
            tuple(sorted(str(dict(row)) for row in read_snapshot(table).rows)),
        )
        for table in tables.values()
    }


@pytest.mark.parametrize("crashes", [0, 1])
def test_joining_invisible_acts_loses_no_final_state_and_no_answer(crashes: int):
    """The reduction is sound: the whole search ends in the same states and shows the same tables on the way."""
    joined, whole = worlds(PAIR, crashes), worlds(PAIR, crashes, whole=True)

    assert ends(joined) == ends(whole)
    assert answers(joined) == answers(whole)
    assert len(joined) < len(whole)


@pytest.mark.parametrize("name", ["writer-compaction", "stream-compaction", "clustering", "writer-logs-6", "archival"])
def test_the_reduction_is_sound_beside_services(name: str):
    """Services, logs of version 6 and archival too: every end and every answer of the whole search is found."""
    scenario = replace(SCENARIOS[name], actors=SCENARIOS[name].actors[:-1])
    joined, whole = worlds(scenario), worlds(scenario, whole=True)

    assert ends(joined) == ends(whole)
    assert answers(joined) == answers(whole)


def test_a_process_waiting_for_the_lock_may_crash_and_a_crashed_one_does_nothing():
    """A death needs no turn of its own, and no move follows it but those of others."""
    found = worlds(PAIR, 1)
    crashed = [one for world in found for one in world.processes if not one.is_alive]
    deaths = [move for moves in found.values() for move in moves if move.is_crash and not move.acts]

    assert crashed
    assert deaths
    for world, moves in found.items():
        names = {one.name for one in world.processes if not one.is_alive}
        assert not names & {move.process.name for move in moves}


def test_the_lease_of_a_failed_process_ends():
    """No state is stuck because a failed process holds the lock."""
    for world, moves in worlds(PAIR, 1).items():
        names = {one.name for one in world.processes if one.is_alive}
        assert world.shared.holder is None or world.shared.holder in names
        assert moves or world.shared.holder is None


def test_a_state_is_what_it_holds_not_how_it_came_about():
    """Two processes that touch different files lead to one state in either order."""
    apart = Scenario("apart", "", KIND, (reader("first"), reader("second")), writes=1)
    found = worlds(apart)

    assert len(ends(found)) == 1
    assert len(found) == 16


def test_a_projection_is_plain():
    """Another tool compares texts, numbers and tuples of them, nothing of ours."""

    def plain(value: object) -> bool:
        if isinstance(value, tuple):
            return all(map(plain, value))
        return value is None or type(value) in (str, int, bool)

    assert all(plain(project(world)) for world in worlds(PAIR))


def test_a_reader_keeps_its_snapshot():
    """Rows come from the snapshot that was picked, and a reader changes nothing."""
    for seed in range(20):
        for move in walks(SCENARIOS["writers"], 1, seed):
            if move.process.program == "reader" and not move.is_crash:
                local = next(one.local.value for one in move.world.processes if one.name == "reader")
                assert all(isinstance(row, Record) for row in local.rows)
                assert local.refused is None
