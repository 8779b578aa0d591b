"""Mutants: the model with one rule broken. A case counts only if it tells at least one of them from the model."""

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import hudi_model

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One broken rule: the model's function that is replaced, and how the replacement comes of the original."""

    name: str
    clauses: tuple[str, ...]
    sentence: str
    module: str
    function: str
    replacement: Callable[[Function], Function]

    def original(self) -> Function:
        """The function as the model has it.

        Raises:
            AttributeError: the model has none of this name, so the mutant is out of date.

        """
        found: Function = getattr(importlib.import_module(f"hudi_model.{self.module}"), self.function)
        return found


MUTANTS: dict[str, Mutant] = {}


def mutant(
    name: str, clauses: str, sentence: str, place: str
) -> Callable[[Callable[[Function], Function]], Callable[[Function], Function]]:
    """Register a mutant; `place` is `module.function` below hudi_model, the decorated function wraps the original."""

    def register(replacement: Callable[[Function], Function]) -> Callable[[Function], Function]:
        if name in MUTANTS:
            raise ValueError(f"two mutants are named {name}")
        module, _, function = place.rpartition(".")
        MUTANTS[name] = Mutant(name, tuple(clauses.split()), sentence, module, function, replacement)
        return replacement

    return register


@contextmanager
def mutated(mutant: Mutant) -> Iterator[None]:
    """Within the block, every module of the model that holds the mutant's function holds its replacement instead."""
    original = mutant.original()
    replacement = mutant.replacement(original)
    places = [(module, name) for module in _modules() for name, value in vars(module).items() if value is original]
    for module, name in places:
        setattr(module, name, replacement)
    try:
        yield
    finally:
        for module, name in places:
            setattr(module, name, original)


def _modules() -> list[ModuleType]:
    for found in pkgutil.walk_packages(hudi_model.__path__, "hudi_model."):
        importlib.import_module(found.name)
    return [module for name, module in sorted(sys.modules.items()) if name.partition(".")[0] == "hudi_model"]
