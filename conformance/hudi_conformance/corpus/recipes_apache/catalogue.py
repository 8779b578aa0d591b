"""What a recipe is, and the list of all of them."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hudi_conformance.corpus.recipes_apache.writer import TableWriter

_MODULES = (
    "basics_6",
    "basics_8",
    "basics_9",
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


@dataclass(frozen=True, slots=True)
class Recipe:
    """One table to write: its id below golden_tables, the bundle that writes it, and the steps."""

    id: str
    bundle: str
    title: str
    features: tuple[str, ...]
    steps: "Callable[[TableWriter], None]"

    @property
    def table_version(self) -> int:
        """The version the table is written in, as its folder says."""
        return int(self.id[1])

    @property
    def table_type(self) -> str:
        """COPY_ON_WRITE or MERGE_ON_READ, as its name says."""
        return "COPY_ON_WRITE" if "cow" in self.id.split("_") else "MERGE_ON_READ"

    @property
    def reference(self) -> str:
        """`module:function` of the steps."""
        return f"{self.steps.__module__}:{self.steps.__name__}"

    @property
    def how(self) -> str:
        """The steps in words: the docstring of the function, on one line."""
        return " ".join((self.steps.__doc__ or "").split())


_FOUND: dict[str, Recipe] = {}


def recipe(
    identifier: str, *, bundle: str, title: str, features: tuple[str, ...]
) -> "Callable[[Callable[[TableWriter], None]], Callable[[TableWriter], None]]":
    """Register the decorated function as the recipe of one table."""

    def register(steps: "Callable[[TableWriter], None]") -> "Callable[[TableWriter], None]":
        _FOUND[identifier] = Recipe(identifier, bundle, title, features, steps)
        return steps

    return register


def recipes() -> tuple[Recipe, ...]:
    """All recipes, by id."""
    for name in _MODULES:
        importlib.import_module(f"hudi_conformance.corpus.recipes_apache.{name}")
    return tuple(_FOUND[identifier] for identifier in sorted(_FOUND))
