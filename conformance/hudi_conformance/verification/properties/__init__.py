"""What must hold of the model: every property by id, proved or refuted, with the mutants that break it."""

import importlib
import pkgutil

from hudi_conformance.verification.properties.registry import (
    MODEL_PROPERTIES,
    Counterexample,
    ModelProperty,
    Verdict,
    model_property,
    property_check,
)

__all__ = ["MODEL_PROPERTIES", "Counterexample", "ModelProperty", "Verdict", "model_property", "property_check"]

for _found in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_found.name)
