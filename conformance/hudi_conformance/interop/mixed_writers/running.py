"""Two writers on one table: in each turn one of them writes, then every reader is asked for the rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from hudi_adapter.rows import Rows

from hudi_conformance.interop.mixed_writers.cases import ENGINE, MixedRun, has_metadata_table
from hudi_conformance.runner.adapter_pool import AdapterClient
from hudi_conformance.runner.comparison import compare_rows
from hudi_conformance.runner.step_executor import Answer, Failure, Kind, StepExecutor

LIMIT_S = 180.0
REFEREE: Final = "referee"

_METADATA = "hoodie.metadata.enable"


@dataclass(frozen=True, slots=True)
class Adapters:
    """Who takes part: the engine, the peer, and perhaps a referee with a table of its own.

    The referee does every step on its table, so that a row which a writer loses for both readers is missed.
    """

    engine: AdapterClient
    peer: AdapterClient
    referee: AdapterClient | None = None


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a mixed-writer run: where it failed, if so; answers that agreed; features that a writer lacks."""

    failure: Failure | None
    rounds: int
    agreed: int
    unsupported: tuple[str, ...] = ()


def run_case(mixed_run: MixedRun, adapters: Adapters, folder: Path) -> Played:
    """Run below an empty folder, up to the first disagreement or to what a writer does not support."""
    run = _Run(mixed_run, adapters, folder)
    failure = next(filter(None, run.rounds()), None)
    return Played(failure, run.taken, run.agreed, tuple(run.unsupported))


class _Run:
    def __init__(self, mixed_run: MixedRun, adapters: Adapters, folder: Path) -> None:
        self.mixed_run = mixed_run
        self.engine = StepExecutor.below(folder / "shared", adapters.engine, LIMIT_S, ENGINE)
        self.peer = replace(self.engine, adapter=adapters.peer, name=mixed_run.peer)
        referee = adapters.referee
        self.referee = None if referee is None else StepExecutor.below(folder / REFEREE, referee, LIMIT_S, REFEREE)
        self.taken = self.agreed = 0
        self.unsupported: dict[str, None] = {}

    def rounds(self) -> Iterator[Failure | None]:
        for executor in filter(None, (self.engine, self.referee)):
            executor.table.mkdir(parents=True)
        shape = self.mixed_run.case.shape
        yield self._write(0, "create_table", ("create_table", shape.create_params(), None))
        for number, step in enumerate(self.mixed_run.case.steps, start=1):
            if self.unsupported:
                return
            yield self._write(number, f"write {step.operation}", ("write", step.params(shape), step.input()))
            if not self.unsupported:
                self.taken += 1
                yield self._read(number)

    def _write(self, number: int, question: str, request: tuple[str, Mapping[str, Any], Rows | None]) -> Failure | None:
        """The step by the writer whose turn it is, and by the referee on its own table."""
        writer = self.mixed_run.rounds[number]
        answer = (self.engine if writer == ENGINE else self.peer).request(*request)
        if answer.kind is Kind.UNSUPPORTED:
            self.unsupported[f"{writer}: {answer.reason}"] = None
            return None
        if answer.is_result and self.referee is not None:
            writer, answer = REFEREE, self.referee.request(*request)
        return None if answer.is_result else Failure(number, question, (answer.describe(),), writer, (question, writer))

    def _read(self, number: int) -> Failure | None:
        writer = self.mixed_run.rounds[number]
        (first, expected), *others = self._readings()
        if expected.rows is None:
            return Failure(number, f"read by {first}", (expected.describe(),), writer)
        for other, answer in others:
            differences = (answer.describe(),) if answer.rows is None else compare_rows(expected.rows, answer.rows)
            if differences:
                return Failure(number, f"{first} and {other}", differences, writer)
            self.agreed += 1
        return None

    def _readings(self) -> Iterator[tuple[str, Answer]]:
        """Every reader's rows, with and without the metadata table where there is one."""
        if self.referee is not None:
            yield REFEREE, self.referee.request("read_snapshot", {})
        listed = has_metadata_table(self.mixed_run.case)
        for params in ({"configs": {_METADATA: kept}} for kept in ("false", "true")) if listed else ({},):
            how = " with the metadata table" if params == {"configs": {_METADATA: "true"}} else ""
            for executor in (self.peer, self.engine):
                yield f"{executor.name}{how}", executor.request("read_snapshot", params)
