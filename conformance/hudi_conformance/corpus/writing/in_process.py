"""Adapters as sessions of this process: what the builder plays cases on, and tests."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from hudi_format.compat import Self

from hudi_conformance.adapters.model import adapter
from hudi_conformance.bridge.operations import READINGS
from hudi_conformance.runner.adapter_pool import CHECKER, AdapterPool, Roles
from hudi_conformance.runner.adapters_config import AdapterConfig
from hudi_conformance.runner.in_process import InProcess


class ModelSession(InProcess):
    """One process of the model, without a process of its own."""

    def __init__(self, reading: str = "released", *, makes_metadata_tables: bool = False) -> None:
        super().__init__(partial(adapter, READINGS[reading], makes_metadata_tables=makes_metadata_tables))


class InProcessPool(AdapterPool):
    """The adapter that `make` makes in every part; who reads back and checks is the model; all in this process."""

    def __init__(self, make: Callable[[], InProcess], reading: str = "released") -> None:
        played, other = AdapterConfig("played", ("played",)), AdapterConfig(CHECKER, (CHECKER,))
        super().__init__(played, Roles(readers=(other,), checker=other), Path())
        self._make: dict[str, Callable[[], InProcess]] = {played.name: make, other.name: partial(ModelSession, reading)}
        self._here: dict[tuple[str, int], InProcess] = {}

    def __enter__(self) -> Self:
        return self

    def session(self, adapter: AdapterConfig, process: int = 1) -> InProcess:
        """A session for each process."""
        key = adapter.name, process
        if key not in self._here:
            self._here[key] = self._make[adapter.name]()
        return self._here[key]


class ModelPool(InProcessPool):
    """The model in every part; who reads back and checks is a session of its own."""

    def __init__(self, reading: str = "released") -> None:
        super().__init__(partial(ModelSession, reading), reading)
