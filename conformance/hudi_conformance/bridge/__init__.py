"""The one place that knows model and format both: bytes to model states and back, and the model's answers."""

from hudi_conformance.bridge.checking import load_for
from hudi_conformance.bridge.loading import load
from hudi_conformance.bridge.storing import store

__all__ = ["load", "load_for", "store"]
