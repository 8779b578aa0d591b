"""The recipes of writing cases: one module a theme. Importing a module registers what it declares."""

import importlib
import pkgutil


def load_recipes() -> None:
    """Import every recipe module of this package."""
    for found in pkgutil.iter_modules(__path__, f"{__name__}."):
        importlib.import_module(found.name)
