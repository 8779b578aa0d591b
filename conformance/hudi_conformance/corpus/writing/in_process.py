"""The model as a session of this process: what the builder plays cases on, and tests."""

from functools import partial
from pathlib import Path
from typing import Self

from hudi_conformance.adapters.model import adapter
from hudi_conformance.bridge.operations import READINGS
from hudi_conformance.runner.adapter_pool import AdapterPool, Roles
from hudi_conformance.runner.adapters_config import AdapterConfig
from hudi_conformance.runner.in_process import InProcess


class ModelSession(InProcess):
    """One process of the model, without a process of its own."""

    def __init__(self, reading: str = "released") -> None:
        super().__init__(partial(adapter, READINGS[reading]))


class ModelPool(AdapterPool):
    """The model in every part; who reads back and checks is a session of its own."""

    def __init__(self, reading: str = "released") -> None:
        played, other = AdapterConfig("played", ("played",)), AdapterConfig("model", ("model",))
        super().__init__(played, Roles(readers=(other,), checker=other), Path())
        self._reading = reading
        self._models: dict[tuple[str, int], ModelSession] = {}

    def __enter__(self) -> Self:
        return self

    def session(self, adapter: AdapterConfig, process: int = 1) -> ModelSession:
        """A session for each process."""
        return self._models.setdefault((adapter.name, process), ModelSession(self._reading))
