"""A distributor for cosmic-ray: each mutant in a process forked from this one, which has everything but the engine."""

import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import hypothesis  # noqa: F401 - what every mutant needs is imported once, before the fork
import pyarrow.compute
import pyarrow.parquet  # noqa: F401
from cosmic_ray.distribution.distributor import Distributor
from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkItem, WorkResult
from hudi_conformance.runner import answer_verdicts  # noqa: F401
from kill_one import engine_first, killer
from mutation_targets import SampleSizes
from reaching import Reached

_KILLED = 1
_PAUSE_S = 0.02
_LAST = 2000


class Forking(Distributor):
    """Tries mutants of one copy of the engine, one after the other."""

    def __init__(self, package: Path, reached: Mapping[str, list[Reached]], sizes: SampleSizes) -> None:
        self._package, self._reached, self._sizes = package, reached, sizes

    def __call__(
        self,
        pending_work: Iterable[WorkItem],
        test_command: str,  # noqa: ARG002 - the interface of cosmic-ray
        timeout: float,
        _distributor_config: Any,
        on_task_complete: Callable[[str, WorkResult], None],
    ) -> None:
        """Try each pending mutant; what stands in place of a command is not asked."""
        for item in pending_work:
            on_task_complete(item.job_id, self._tried(item, timeout))

    def _tried(self, item: WorkItem, limit_s: float) -> WorkResult:
        (spec,) = item.mutations
        operator = get_operator(spec.operator_name)(**spec.operator_args)
        module = spec.module_path.relative_to(self._package / "hudi_spark").as_posix()
        with use_mutation(spec.module_path, operator, spec.occurrence), TemporaryFile() as output:
            child = os.fork()
            if not child:
                self._in_child(module, spec.start_pos[0], output)
            killed, why = _ended(child, limit_s)
            output.seek(0)
            message = why or output.read().decode("utf-8", "replace")[-_LAST:]
        outcome = TestOutcome.KILLED if killed else TestOutcome.SURVIVED
        return WorkResult(worker_outcome=WorkerOutcome.NORMAL, output=message, test_outcome=outcome)

    def _in_child(self, module: str, line: int, output: IO[bytes]) -> None:
        """Never returns; the last line of the output names what killed the mutant."""
        status = _KILLED
        try:
            os.setsid()
            for stream in (1, 2):
                os.dup2(output.fileno(), stream)
            engine_first(self._package)
            found = killer(module, line, self._reached, self._sizes)
            os.write(1, f"\n{found}".encode())
            status = _KILLED if found else 0
        except BaseException as error:  # noqa: BLE001 - whatever a mutant does, it is reported by it
            os.write(1, f"\nerror {type(error).__name__}".encode())
        finally:
            os._exit(status)


def _ended(child: int, limit_s: float) -> tuple[bool, str]:
    """Whether the process killed the mutant, and a word where it did not end by itself."""
    last = time.monotonic() + limit_s
    while time.monotonic() < last:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status != 0, ""
        time.sleep(_PAUSE_S)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True, f"limit of {limit_s:g} s"
