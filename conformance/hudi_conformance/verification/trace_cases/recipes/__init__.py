"""The trace cases, by what they are about."""

import importlib
import pkgutil

for _found in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_found.name)
