"""Writers in processes of their own, which tests stop, let go on and kill."""

import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

from hudi_format.storage import open_storage
from hudi_spark import HudiError
from hudi_spark.testing import Effect, Hooks, InProcess, StopAt, TableWriter, WriteRequest
from written_tables import rows

PATIENCE = 240.0


def processes() -> ForkServerContext:
    """Processes that begin quickly, with the engine loaded and no thread running."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lock_processes"])
    return context


@dataclass(slots=True)
class Acknowledged:
    """Appends each effect to a file, before it happens."""

    file: Path

    def before(self, effect: Effect) -> None:
        with self.file.open("a") as stream:
            stream.write(json.dumps([effect.name, effect.folder, dict(effect.parameters)]) + "\n")

    def after(self, effect: Effect) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True)
class Task:
    """One write of a process; `stop` before (or `after_it`) the effect of this number. `environment`: its variables."""

    base: str
    answer: Path
    configs: Mapping[str, str]
    ids: Sequence[int]
    price: float
    operation: str = "upsert"
    stop: int | None = None
    after_it: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)

    def run(self) -> None:
        """Writes, and says what came of it in the file of the answer."""
        os.environ.update(self.environment)
        hooks: list[Any] = [Acknowledged(self.answer.with_suffix(".effects"))]
        if self.stop is not None:
            hooks.append(StopAt(self.stop, self.after_it))
        storage = open_storage(self.base, _storage_options(self.configs))
        writer = TableWriter(storage, InProcess(), dict(self.configs), hook=Hooks(tuple(hooks)))
        try:
            outcome = writer.write(WriteRequest(self.operation, rows(self.ids, 2, self.price)))
            last_answer = {"requested": outcome.requested, "completed": outcome.completed}
        except HudiError as error:
            last_answer = {"reason": str(error.reason), "message": str(error)}
        self.answer.write_text(json.dumps(last_answer))


def _storage_options(configs: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in configs.items() if key.startswith("fs.")}


@dataclass(slots=True)
class Writer:
    """A task in a process of its own."""

    task: Task
    process: ForkServerProcess

    @property
    def pid(self) -> int:
        return self.process.pid or 0

    def is_stopped(self) -> bool:
        state = Path(f"/proc/{self.pid}/stat")
        return state.exists() and state.read_text().rpartition(")")[2].split()[0] == "T"

    def wait_until_stopped(self) -> bool:
        """Whether it stopped; False when it ended before."""
        wait_for(lambda: self.is_stopped() or not self.process.is_alive())
        return self.process.is_alive()

    def go_on(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        self.process.join()

    def last_answer(self) -> dict[str, Any]:
        """What came of the write, once the process has ended."""
        self.process.join(PATIENCE)
        assert not self.process.is_alive(), "the writer does not end"
        answer: dict[str, Any] = json.loads(self.task.answer.read_text())
        return answer


@contextmanager
def writing(task: Task) -> Iterator[Writer]:
    """A process that writes; it has ended with the block."""
    process = processes().Process(target=task.run)
    process.start()
    try:
        yield Writer(task, process)
    finally:
        if process.is_alive():
            process.kill()
        process.join()


def wait_for(condition: Callable[[], bool]) -> None:
    """Until it holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited for too long"
        time.sleep(0.01)
