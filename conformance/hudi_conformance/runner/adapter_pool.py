"""Who takes the steps of a case: the processes of adapters, started when they are needed, kept for the next case."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hudi_format.compat import Self

from hudi_conformance.runner.adapters_config import AdapterConfig, AdapterConfigError, find_adapter
from hudi_conformance.runner.case_values import READER, SERVICER
from hudi_conformance.runner.in_process import InProcess
from hudi_conformance.runner.session import START_LIMIT_S, Response, Session

CHECKER = "model"
"""Who looks over tables that were written, and reads them back where nobody else is named."""


class AdapterClient(Protocol):
    """What a session is to who puts steps to it."""

    @property
    def started(self) -> Mapping[str, Any] | None:
        """What it said of itself."""

    def request(self, op: str, table: Path, params: Mapping[str, Any], out_dir: Path, limit_s: float) -> Response:
        """One question."""

    def start(self) -> Response:
        """Say hello."""

    def kill(self) -> None:
        """End the process."""


@dataclass(frozen=True, slots=True)
class Roles:
    """Who, beside the adapter that is tried, has a part: it takes every one that nobody else is named for.

    `readers` read back what a case has written; `checker` says what is wrong with the table.
    """

    servicer: AdapterConfig | None = None
    readers: tuple[AdapterConfig, ...] = ()
    checker: AdapterConfig | None = None


def roles_of(root: Path, servicer: str | None = None, readers: Sequence[str] = ()) -> Roles:
    """The adapters of a command line; the model reads back where no reader is named.

    Raises:
        AdapterConfigError: one is unknown.

    """
    try:
        checker: AdapterConfig | None = find_adapter(CHECKER, root)
    except AdapterConfigError:
        # A corpus of its own may come without the suite's adapters.
        checker = None
    named = tuple(find_adapter(name, root) for name in readers)
    usual = (checker,) if checker and not readers else ()
    return Roles(find_adapter(servicer, root) if servicer else None, named or usual, checker)


class AdapterPool:
    """The processes that take the steps of one case at a time."""

    def __init__(
        self, adapter: AdapterConfig, roles: Roles, logs: Path, start_limit_s: float = START_LIMIT_S, job: int = 0
    ) -> None:
        self.adapter, self.roles = adapter, roles
        self._logs, self._start_limit_s, self._job = logs, start_limit_s, job
        self._sessions: dict[tuple[tuple[str, ...], int], AdapterClient] = {}
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def executor(self, role: str, process: int = 1) -> AdapterClient:
        """The process of a role."""
        other = {SERVICER: self.roles.servicer, READER: next(iter(self.roles.readers), None)}.get(role)
        # Without a reader of the user's own choice, the adapter reads itself.
        chosen = self.adapter if other is None or other == self.roles.checker else other
        return self.session(chosen, process)

    def readers(self) -> tuple[tuple[str, AdapterClient], ...]:
        """Who else reads a table back, by name."""
        others = (one for one in self.roles.readers if one.command != self.adapter.command)
        return tuple((one.name, self.session(one)) for one in others)

    def checker(self) -> AdapterClient | None:
        """Who says what is wrong with a table."""
        return self.session(self.roles.checker) if self.roles.checker else None

    def session(self, adapter: AdapterConfig, process: int = 1) -> AdapterClient:
        """A process of an adapter; those of one command are shared by all roles."""
        key = (adapter.command, process)
        if key not in self._sessions:
            self._sessions[key] = self._started(adapter, process)
        return self._sessions[key]

    def _started(self, adapter: AdapterConfig, process: int) -> AdapterClient:
        if self.adapter.in_process and adapter.command == self.adapter.command:
            return InProcess.of(self.adapter)
        log = self._logs / f"{adapter.name}-{self._job}{'' if process == 1 else f'-{process}'}.log"
        session = Session(adapter.command, log, self._start_limit_s, adapter.folder)
        return self._closing.enter_context(session)
