"""Imports every module of the suite with nothing installed but what the package requests; prints those that fail."""

import importlib
import json
import pkgutil
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import packages_distributions, requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PACKAGES = ("hudi_model", "hudi_model_tools", "hudi_format", "hudi_adapter", "hudi_conformance")


def installed_with(texts: Sequence[str], found: set[str]) -> set[str]:
    """What comes along with distributions that are installed without extras."""
    for text in texts:
        one = Requirement(text)
        needed = canonicalize_name(one.name)
        if needed not in found and (one.marker is None or one.marker.evaluate({"extra": ""})):
            found |= {needed}
            installed_with(requires(needed) or (), found)
    return found


class Absent(MetaPathFinder):
    """Modules of distributions that are not there."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Nobody else is asked for a module of theirs."""
        if name.partition(".")[0] in self._names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def failing() -> dict[str, str]:
    """Modules that cannot be imported, and the one that each lacks."""
    found = {}
    for package in PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as error:
                found[module.name] = str(error.name)
    return found


if __name__ == "__main__":
    there = installed_with(["hudi-conformance"], set())
    absent = {
        top for top, of in packages_distributions().items() if not any(canonicalize_name(one) in there for one in of)
    }
    sys.meta_path.insert(0, Absent(frozenset(absent)))
    sys.stdout.write(json.dumps(failing()))
