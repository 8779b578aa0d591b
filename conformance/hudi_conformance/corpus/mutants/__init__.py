"""The model with one rule broken, by name."""

import importlib
import pkgutil

from hudi_conformance.corpus.mutants.registry import MUTANTS, Mutant, mutant, mutants_reached, mutated, watched

__all__ = ["MUTANTS", "Mutant", "mutant", "mutants_reached", "mutated", "watched"]

for _found in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_found.name)
