"""The scenarios whose interleavings are played: who shares a table of which shape, and with which settings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hudi_model_tools.protocol import World
from hudi_model_tools.store import Store

from hudi_conformance.verification.properties import scenarios as small_worlds
from hudi_conformance.verification.properties.histories import EVENT_TIME, Shape

# What would run with a write by itself does not: a service is an actor of its own.
_ALONE = {
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.compact.inline": "false",
    "hoodie.clustering.inline": "false",
}
OPTIMISTIC = {
    **_ALONE,
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.index.type": "SIMPLE",
}
NON_BLOCKING = {**OPTIMISTIC, **small_worlds.NON_BLOCKING}
COLUMNS = (("id", "string"), ("day", "string"), ("ts", "int64"), ("note", "string"))
COPY_ON_WRITE, MERGE_ON_READ = small_worlds.COPY_ON_WRITE, small_worlds.MERGE_ON_READ
_SHORT = {COPY_ON_WRITE: "cow", MERGE_ON_READ: "mor"}
_DAYS = {"a": "d1", "b": "d2"}


@dataclass(frozen=True, slots=True)
class Writer:
    """A writer of one row that bears its name."""

    name: str
    ts: int = 2
    key: str = "a"

    def row(self) -> tuple[Any, ...]:
        """The row, in the order of the table's columns."""
        return self.key, _DAYS[self.key], self.ts, self.name


@dataclass(frozen=True, slots=True)
class Service:
    """A table service that plans and carries out one plan. `name`: the model's; `asked`: the protocol's."""

    name: str
    requested: str
    settings: Mapping[str, str]


Actor = Writer | Service
COMPACTION = Service("compaction", "compaction", small_worlds.COMPACTS)
CLUSTERING = Service("clustering", "clustering", small_worlds.CLUSTERS)
CLEANING = Service("cleaning", "clean", small_worlds.CLEANS)


@dataclass(frozen=True, slots=True)
class InterleavingScenario:
    """A scenario of the explorer, and how its actors are asked through the protocol."""

    name: str
    shape: Shape
    actors: tuple[Actor, ...]
    settings: Mapping[str, str]
    writes: int = 2

    def start(self, store: Store) -> World:
        """The world before anything happens."""
        return self._world().start(store)

    def _world(self) -> small_worlds.Scenario:
        actors = tuple(map(self._process, self.actors))
        return small_worlds.Scenario(self.name, "", self.shape, actors, writes=self.writes, settings=self.settings)

    def _process(self, actor: Actor) -> small_worlds.Actor:
        if isinstance(actor, Writer):
            return small_worlds.writer(actor.name, actor.ts, key=actor.key, settings=self.settings)
        return small_worlds.service(actor.name, {**self.settings, **actor.settings})

    def actor(self, name: str) -> Actor:
        """The actor of a name."""
        return next(one for one in self.actors if one.name == name)

    def configs(self, actor: Actor) -> dict[str, str]:
        """The keys that an actor is asked with."""
        return {**self.settings, **(actor.settings if isinstance(actor, Service) else {})}


def _interleaving_scenarios() -> Iterator[InterleavingScenario]:
    for version in (6, 8, 9):
        for table_type in (COPY_ON_WRITE, MERGE_ON_READ):
            shape = Shape(version, table_type, EVENT_TIME)
            for word, key in (("same", "a"), ("other", "b")):
                pair = (Writer("one"), Writer("two", key=key))
                yield InterleavingScenario(f"writers-{word}-{_SHORT[table_type]}-{version}", shape, pair, OPTIMISTIC)
    for version in (8, 9):
        shape = Shape(version, MERGE_ON_READ, EVENT_TIME)
        streams = (Writer("one"), Writer("two", 3), COMPACTION)
        yield InterleavingScenario(f"streams-compaction-{version}", shape, streams, NON_BLOCKING)
    for version in (6, 8, 9):
        shape = Shape(version, COPY_ON_WRITE, EVENT_TIME)
        yield InterleavingScenario(
            f"services-cow-{version}", shape, (Writer("one"), CLUSTERING, CLEANING), OPTIMISTIC, 3
        )


INTERLEAVING_SCENARIOS = {one.name: one for one in _interleaving_scenarios()}
