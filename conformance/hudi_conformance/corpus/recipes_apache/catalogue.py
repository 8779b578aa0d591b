"""Tables that releases of Apache Hudi write: what a recipe is, and the one registry of all of them.

A recipe is a function over a writer that drives one release. `kept` registers it for a table that is kept below
golden_tables/, with the function that asks its cases beside it; `recipe` registers it for real tables, which are
written on demand, on several releases and table versions each.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hudi_model.tables import Table

from hudi_conformance.corpus.golden.questions import WrittenTable, one_line

_MODULES = (
    "basics",
    "services",
    "replaced",
    "failed_writes",
    "shapes",
    "types",
    "damaged",
    "change_feed",
    "partial_updates",
    "old_releases",
    "indexes",
)
TYPES = {"cow": "COPY_ON_WRITE", "mor": "MERGE_ON_READ"}
Queries = Callable[[WrittenTable], None]
Oracle = Literal["1.1.1", "own"]
# Over a TableWriter, or over a RealTable where the table is not kept.
Steps = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Golden:
    """That a table is kept below golden_tables/: its title and version, and the cases that are asked of it."""

    title: str
    version: int
    queries: Queries
    given: str

    @property
    def place(self) -> str:
        """Module and function of the cases."""
        return f"{self.queries.__module__}:{self.queries.__name__}"

    def made(self, state: Table) -> WrittenTable:
        """The questions, which may name the instants of the table."""
        table = WrittenTable(self.version, state)
        self.queries(table)
        return table


@dataclass(frozen=True, slots=True)
class Question:
    """An op of the protocol with its parameters; a text `$N.requested` or `$N.completed` stands for a write's time."""

    name: str
    op: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipe:
    """One table to write: by which release, in which version and type, how, and what is asked about it.

    A golden table has its id below golden_tables/. What a real table is asked beside the usual questions stands in
    `questions`; `without` leaves out usual ones.
    """

    id: str
    bundle: str
    version: int
    type: str
    features: tuple[str, ...]
    steps: Steps
    golden: Golden | None = None
    questions: tuple[Question, ...] = ()
    without: tuple[str, ...] = ()
    begins_with: str = ""
    oracle: Oracle = "1.1.1"

    @property
    def area(self) -> str:
        """The module that a real table's recipe stands in."""
        return self.id.split("/", maxsplit=1)[0]

    @property
    def answered_by(self) -> str:
        """The release whose answers count."""
        return self.bundle if self.oracle == "own" else self.oracle

    @property
    def reference(self) -> str:
        """`module:function` of the steps."""
        return f"{self.steps.__module__}:{self.steps.__name__}"

    @property
    def how(self) -> str:
        """The steps in words: the docstring of the function, on one line."""
        return one_line(self.steps.__doc__)


RECIPES: dict[str, Recipe] = {}
"""Every recipe whose module has been imported, by id."""


def kept(
    identifier: str, *, by: str, title: str, features: tuple[str, ...], queries: Queries, given: str = ""
) -> Callable[[Steps], Steps]:
    """Register the decorated steps as the recipe of one golden table, written `by` a release.

    Version and type follow from the id. `given` is the table in words where the docstring of `ask` is of another.
    """
    version, kind = int(identifier[1]), "cow" if "cow" in identifier.split("_") else "mor"

    def register(steps: Steps) -> Steps:
        traits = (f"table-version-{version}", kind, *features)
        golden = Golden(title, version, queries, given or one_line(queries.__doc__))
        _register(Recipe(identifier, by, version, TYPES[kind], traits, steps, golden))
        return steps

    return register


def recipe(
    name: str,
    *,
    on: Sequence[str],
    types: Sequence[str] = ("mor",),
    features: Sequence[str] = (),
    questions: Sequence[Question] = (),
    without: Sequence[str] = (),
    begins_with: str = "",
    oracle: Oracle = "1.1.1",
) -> Callable[[Steps], Steps]:
    """Register the decorated steps as `name` (`area/what`) on each release and version of `on`, such as "1.1.1 v9".

    `types` are cow and mor; "0.15.0 v6 mor" is of that type alone. `features` say what the table shows, in the words
    of the golden tables. `without` leaves out usual questions by name. `begins_with` is the id of a table of another
    release that the steps go on from.
    """

    def register(steps: Steps) -> Steps:
        for where in on:
            bundle, version, *alone = where.replace(" v", " ").split()
            for kind in alone or types:
                _register(
                    Recipe(
                        f"{name}-{kind}-{bundle}-v{version}",
                        bundle,
                        int(version),
                        TYPES[kind],
                        (f"table-version-{version}", kind, *features),
                        steps,
                        None,
                        tuple(questions),
                        tuple(without),
                        begins_with,
                        oracle,
                    )
                )
        return steps

    return register


def _register(made: Recipe) -> None:
    if made.id in RECIPES:
        raise ValueError(f"two recipes make {made.id}")
    RECIPES[made.id] = made


def golden_recipes() -> tuple[tuple[Recipe, Golden], ...]:
    """The recipes of all golden tables that Apache Hudi wrote, by id."""
    for name in _MODULES:
        importlib.import_module(f"hudi_conformance.corpus.recipes_apache.{name}")
    return tuple((RECIPES[one], golden) for one in sorted(RECIPES) if (golden := RECIPES[one].golden))


def written_tables() -> dict[str, Golden]:
    """The golden tables that Apache Hudi wrote, by id."""
    return {made.id: golden for made, golden in golden_recipes()}
