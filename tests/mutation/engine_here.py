"""The engine in this very process, asked the cases of the suite; the model reads back and checks, as in a run."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from hudi_conformance.corpus.writing.in_process import InProcessPool, ModelSession
from hudi_conformance.interop.fuzzing.command import ALL_WRITES
from hudi_conformance.interop.fuzzing.running import Side, run_case
from hudi_conformance.interop.fuzzing.seeds import case_of_seed
from hudi_conformance.interop.fuzzing.strategies import write_cases
from hudi_conformance.runner.answer_verdicts import outcome_of
from hudi_conformance.runner.archive import unpack
from hudi_conformance.runner.case_files import cases_of, table_of, writing_cases_of
from hudi_conformance.runner.case_values import WRITING
from hudi_conformance.runner.cases import Case, GoldenTable, load_tables
from hudi_conformance.runner.in_process import InProcess
from hudi_conformance.runner.resources import TABLES, WRITING_CASES
from hudi_conformance.runner.session import Response
from hudi_conformance.runner.step_execution import VerdictOptions, run_writing_case
from hudi_conformance.runner.step_executor import StepExecutor
from hudi_conformance.runner.verdicts import Outcome, Verdict
from hudi_spark.concurrency.heartbeats import _HEARTBEATS
from hudi_spark.testing import readings_named
from hudi_spark_adapter import executors
from hudi_spark_adapter.adapter import adapter_of
from hudi_spark_adapter.mergers import register_reference_mergers
from mutation_targets import HISTORY, ROOT

_LIMIT_S = 60.0


class EngineSession(InProcess):
    """The engine without a process of its own; to kill it ends the heartbeats of what it has begun."""

    def __init__(self) -> None:
        super().__init__(partial(adapter_of, executors.InProcess(), readings_named("released")))
        self._beating: set[tuple[str, str]] = set()

    def request(self, op: str, table: Path, params: Mapping[str, Any], out_dir: Path, limit_s: float) -> Response:
        """One question."""
        before = set(_HEARTBEATS._beating)
        try:
            return super().request(op, table, params, out_dir, limit_s)
        finally:
            self._beating |= set(_HEARTBEATS._beating) - before

    def kill(self) -> None:
        """What it has begun is forgotten, and beats no more."""
        super().kill()
        for key in self._beating:
            _HEARTBEATS.remove(*key)


def case_here(name: str) -> Case:
    """The case of an id; only its own file is read."""
    _, place, own = name.split("::")
    if place.startswith(f"{WRITING}/"):
        area = ROOT / WRITING_CASES / place.removeprefix(f"{WRITING}/")
        files = sorted((one for one in area.glob("*.toml") if own.startswith(one.stem)), key=lambda one: -len(one.stem))
        cases = (case for file in files for case in writing_cases_of(file, _tables()))
        return next(case for case in cases if case.name == own)
    return next(case for case in cases_of(table_of(ROOT / TABLES / place, place)) if case.name == own)


@cache
def _tables() -> Mapping[str, GoldenTable]:
    return {table.id: table for table in load_tables(ROOT)}


def _reading_clause(case: Case) -> str:
    """Which clause has two readings is of no account: an answer is held against that of the engine as it is."""
    return ""


def answer_of(name: str, folder: Path) -> str:
    """The verdict on a case and the reading that its answers follow, as one text; of a drawn history the verdict."""
    register_reference_mergers()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if name.startswith(HISTORY):
            return _history(name.removeprefix(HISTORY), folder)
        case = case_here(name)
        outcome = _written(case, folder) if case.writes else _read(case, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return " ".join([outcome.verdict.value, *(outcome.reading or ())])


def _history(seed: str, folder: Path) -> str:
    model = ModelSession(makes_metadata_tables=True)
    sides = Side("model", model), Side("engine", EngineSession(), model)
    played = run_case(case_of_seed(write_cases(ALL_WRITES), int(seed)), sides, folder)
    return (Verdict.FAIL if played.failure else Verdict.PASS).value


def _written(case: Case, folder: Path) -> Outcome:
    return run_writing_case(case, InProcessPool(EngineSession), folder, VerdictOptions(_LIMIT_S, _reading_clause))


def _read(case: Case, folder: Path) -> Outcome:
    executor = StepExecutor.below(folder, EngineSession(), _LIMIT_S)
    unpack(case.table.folder, executor.table)
    outcome = Outcome(case, Verdict.PASS)
    for step in case.steps:
        decided = outcome_of(case, step, executor.request(step.op, step.params), _reading_clause)
        outcome = replace(decided, reading=decided.reading or outcome.reading)
        if outcome.verdict is not Verdict.PASS:
            break
    return outcome
