"""An adapter in Python without a process of its own: the model where many cases are played, or stepped through."""

import importlib
import io
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hudi_adapter.protocol import Adapter
from hudi_adapter.serving import serve
from hudi_format.compat import Self

from hudi_conformance.runner.adapters_config import AdapterConfig, AdapterConfigError
from hudi_conformance.runner.session import START, Reply, Response, checked_answer, question, refuse_unknown_ops


class InProcess:
    """What a session of a process is, asked through the wire's forms; no time limit ends a step."""

    def __init__(self, make: Callable[[], Adapter]) -> None:
        self._make = make
        self._adapter = make()
        self.started: Mapping[str, Any] | None = self._reply(START)
        refuse_unknown_ops((self.started or {}).get("ops", ()))

    @classmethod
    def of(cls, adapter: AdapterConfig) -> Self:
        """The adapter that "module:function" makes; the folder of its file is where modules are looked for first.

        Raises:
            AdapterConfigError: there is no such function.

        """
        name, folder = adapter.in_process, str(adapter.folder or "")
        module, _, function = name.partition(":")
        if folder and folder not in sys.path:
            # For good: an adapter may import more of its own when it is asked.
            sys.path.insert(0, folder)
        try:
            return cls(getattr(importlib.import_module(module), function))
        except (ImportError, AttributeError, ValueError) as error:
            raise AdapterConfigError(f"in_process = {name!r} names no function of a module: {error}") from error

    def request(self, op: str, table: Path, params: Mapping[str, Any], out_dir: Path, limit_s: float) -> Response:
        """One question."""
        reply = self._reply(question(1, op, table, params, out_dir, limit_s))
        return checked_answer(op, 1, Reply(reply))

    def start(self) -> Response:
        """It has been there all the time."""
        return Reply(self.started or {})

    def kill(self) -> None:
        """What the process has begun is forgotten by it."""
        self._adapter = self._make()

    def _reply(self, message: Mapping[str, Any]) -> dict[str, Any]:
        answers = io.StringIO()
        serve(self._adapter, io.StringIO(json.dumps(message) + "\n"), answers)
        reply: dict[str, Any] = json.loads(answers.getvalue())
        return reply
