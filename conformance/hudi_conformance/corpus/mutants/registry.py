"""Mutants: the model with one rule broken. A case counts only if at least one of them fails it."""

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache, wraps
from types import FunctionType, ModuleType
from typing import Any

from hudi_conformance.bridge.remembering import reading_anew

Function = Callable[..., Any]
MODEL, TOOLS, FORMAT, BRIDGE = "hudi_model", "hudi_model_tools", "hudi_format", "hudi_conformance.bridge"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One broken rule: the function that is replaced, and how the replacement comes of the original.

    `module` is a module of the model or the format by its full name. A rule of bytes shows where files are read or
    written: one of the format, or one of the model that says which files these are.
    """

    name: str
    clauses: tuple[str, ...]
    sentence: str
    module: str
    function: str
    replacement: Callable[[Function], Function]
    of_bytes: bool = False

    def original(self) -> Function:
        """The function as it is.

        Raises:
            AttributeError: there is none of this name, so the mutant is out of date.

        """
        found: Function = getattr(importlib.import_module(self.module), self.function)
        return found


MUTANTS: dict[str, Mutant] = {}


def mutant(
    name: str, clauses: str, sentence: str, place: str
) -> Callable[[Callable[[Function], Function]], Callable[[Function], Function]]:
    """Register a mutant; the decorated function wraps the original.

    `place` is `module.function` below hudi_model; what lies beside the rules, in hudi_model_tools, is named in full.
    A rule of bytes names its function in full, too, from the package on.
    """

    def register(replacement: Callable[[Function], Function]) -> Callable[[Function], Function]:
        if name in MUTANTS:
            raise ValueError(f"two mutants are named {name}")
        module, _, function = place.rpartition(".")
        of_bytes = module.startswith((f"{FORMAT}.", f"{MODEL}."))
        full = module if of_bytes or module.startswith(f"{TOOLS}.") else f"{MODEL}.{module}"
        MUTANTS[name] = Mutant(name, tuple(clauses.split()), sentence, full, function, replacement, of_bytes)
        return replacement

    return register


@contextmanager
def mutated(mutant: Mutant) -> Iterator[None]:
    """Within the block, every module that holds the mutant's function holds its replacement instead."""
    original = mutant.original()
    with _replaced([(original, mutant.replacement(original), mutant.of_bytes)]), _read_as(mutant):
        yield


@contextmanager
def watched(mutants: Iterable[Mutant]) -> Iterator[set[str]]:
    """Within the block, the set fills with the names of mutants whose function is called: no other can change a thing.

    What is no plain function counts as called.
    """
    called: set[str] = set()
    names: dict[Function, set[str]] = {}
    every = tuple(mutants)
    for mutant in every:
        names.setdefault(mutant.original(), set()).add(mutant.name)
    read = {mutant.original() for mutant in every if mutant.of_bytes}
    watching = [(one, _watching(one, called, of), one in read) for one, of in names.items()]
    with _replaced(watching), _read_as(*every):
        yield called


def _read_as(*mutants: Mutant) -> AbstractContextManager[None]:
    """Tables are loaded anew under a mutant, files where it is at their bytes."""
    return reading_anew(files=any(one.of_bytes for one in mutants)) if mutants else nullcontext()


def mutants_reached(run: Callable[[], object], mutants: Iterable[Mutant]) -> list[Mutant]:
    """The mutants whose function a play comes by: no other can change what comes of it."""
    every = tuple(mutants)
    if not every:
        return []
    with watched(every) as called:
        run()
    return [one for one in every if one.name in called]


def _watching(original: Function, called: set[str], names: set[str]) -> Function:
    if not isinstance(original, FunctionType):
        called |= names
        return original

    @wraps(original)
    def watching(*arguments: Any, **named: Any) -> Any:
        called.update(names)
        return original(*arguments, **named)

    return watching


@contextmanager
def _replaced(triples: Sequence[tuple[Function, Function, bool]]) -> Iterator[None]:
    """Functions stand for others within the block; where requested, also in what reads and writes files."""
    places = [(place, original, other) for original, other, read in triples for place in _places(original, read)]
    for (module, name), _, other in places:
        setattr(module, name, other)
    try:
        yield
    finally:
        for (module, name), original, _ in places:
            setattr(module, name, original)


@cache
def _places(original: Function, read: bool) -> tuple[tuple[ModuleType, str], ...]:
    """Where a function is held; found while nothing is replaced, and the same ever after."""
    packages = (MODEL, TOOLS, FORMAT, BRIDGE) if read else (MODEL, TOOLS)
    modules = (module for package in packages for module in _modules(package))
    return tuple((module, name) for module in modules for name, value in vars(module).items() if value is original)


@cache
def _modules(package: str) -> tuple[ModuleType, ...]:
    """The modules of a package, all of them imported."""
    for found in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        importlib.import_module(found.name)
    return tuple(one for name, one in sorted(sys.modules.items()) if f"{name}.".startswith(f"{package}."))
