"""The model as a session of this process: what the builder plays cases on, and tests."""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from hudi_adapter.serving import serve

from hudi_conformance.adapters.model import adapter
from hudi_conformance.adapters_config import AdapterConfig
from hudi_conformance.bridge.asking import READINGS
from hudi_conformance.casting import Cast, Roles
from hudi_conformance.session import Heard, Reply


class ModelSession:
    """One process of the model, without a process of its own."""

    def __init__(self, reading: str = "released") -> None:
        self._reading = reading
        self._adapter = adapter(READINGS[reading])
        self.started: Mapping[str, Any] | None = {"ops": sorted(self._adapter.operations)}

    def ask(self, op: str, table: Path, params: Mapping[str, Any], out_dir: Path, limit_s: float) -> Heard:
        """One question, through the wire's forms."""
        message = {"cmd": "run", "seq": 1, "op": op, "table": str(table), "params": dict(params)}
        asked = json.dumps({**message, "out_dir": str(out_dir), "limit_s": limit_s}) + "\n"
        answers = io.StringIO()
        serve(self._adapter, io.StringIO(asked), answers)
        return Reply(json.loads(answers.getvalue()))

    def start(self) -> Heard:
        """It has been there all the time."""
        return Reply({})

    def kill(self) -> None:
        """What the process has begun is forgotten by it."""
        self._adapter = adapter(READINGS[self._reading])


class ModelCast(Cast):
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
