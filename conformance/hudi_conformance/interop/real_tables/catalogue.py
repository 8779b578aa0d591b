"""What a recipe is, the tables it makes, and the list of all of them."""

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

from hudi_conformance.interop.real_tables import recipes as recipes_package

if TYPE_CHECKING:
    from hudi_conformance.interop.real_tables.writer import RealTable

Steps = Callable[["RealTable"], None]
Oracle = Literal["1.1.1", "own"]
TYPES = {"cow": "COPY_ON_WRITE", "mor": "MERGE_ON_READ"}


@dataclass(frozen=True, slots=True)
class Question:
    """An op of the protocol with its parameters; a text `$N.requested` or `$N.completed` stands for a write's time."""

    name: str
    op: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipe:
    """One table to write: by which release, in which version and type, how, and what is asked about it."""

    id: str
    bundle: str
    version: int
    type: str
    features: tuple[str, ...]
    steps: Steps
    questions: tuple[Question, ...] = ()
    without: tuple[str, ...] = ()
    begins_with: str = ""
    oracle: Oracle = "1.1.1"

    @property
    def area(self) -> str:
        """The module it stands in."""
        return self.id.split("/", maxsplit=1)[0]

    @property
    def answered_by(self) -> str:
        """The release whose answers count."""
        return self.bundle if self.oracle == "own" else self.oracle


_FOUND: dict[str, Recipe] = {}


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
                identifier = f"{name}-{kind}-{bundle}-v{version}"
                if identifier in _FOUND:
                    raise ValueError(f"two recipes make {identifier}")
                _FOUND[identifier] = Recipe(
                    identifier,
                    bundle,
                    int(version),
                    TYPES[kind],
                    (f"table-version-{version}", kind, *features),
                    steps,
                    tuple(questions),
                    tuple(without),
                    begins_with,
                    oracle,
                )
        return steps

    return register


def recipes(wanted: Sequence[str] = (), bundle: str | None = None) -> tuple[Recipe, ...]:
    """All recipes by id, or those whose id is, begins with or fits one of `wanted`, of this release."""
    for module in pkgutil.iter_modules(recipes_package.__path__):
        if _may_hold(module.name, wanted):
            importlib.import_module(f"{recipes_package.__name__}.{module.name}")
    found = (_FOUND[identifier] for identifier in sorted(_FOUND))
    return tuple(one for one in found if _is_wanted(one.id, wanted) and bundle in {None, one.bundle})


def _may_hold(module: str, wanted: Sequence[str]) -> bool:
    """An area's recipes stand in modules whose names begin with it; a glob may mean any."""
    areas = {text.split("/", maxsplit=1)[0] for text in wanted}
    return not wanted or any("*" in area or module.startswith(area) for area in areas)


def _is_wanted(identifier: str, wanted: Sequence[str]) -> bool:
    return not wanted or any(identifier.startswith(text) or fnmatchcase(identifier, text) for text in wanted)
