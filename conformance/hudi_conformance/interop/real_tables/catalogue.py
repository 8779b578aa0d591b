"""The list of all real tables, of the one registry of what releases of Apache Hudi write."""

import importlib
import pkgutil
from collections.abc import Sequence
from fnmatch import fnmatchcase

from hudi_conformance.corpus.recipes_apache.catalogue import RECIPES, Recipe
from hudi_conformance.interop.real_tables import recipes as recipes_package


def recipes(wanted: Sequence[str] = (), bundle: str | None = None) -> tuple[Recipe, ...]:
    """The recipes of real tables by id, or those whose id is, begins with or fits one of `wanted`, of this release."""
    for module in pkgutil.iter_modules(recipes_package.__path__):
        if _may_hold(module.name, wanted):
            importlib.import_module(f"{recipes_package.__name__}.{module.name}")
    found = (RECIPES[identifier] for identifier in sorted(RECIPES))
    real = (one for one in found if one.golden is None)
    return tuple(one for one in real if _is_wanted(one.id, wanted) and bundle in {None, one.bundle})


def _may_hold(module: str, wanted: Sequence[str]) -> bool:
    """An area's recipes stand in modules whose names begin with it; a glob may mean any."""
    areas = {text.split("/", maxsplit=1)[0] for text in wanted}
    return not wanted or any("*" in area or module.startswith(area) for area in areas)


def _is_wanted(identifier: str, wanted: Sequence[str]) -> bool:
    return not wanted or any(identifier.startswith(text) or fnmatchcase(identifier, text) for text in wanted)
