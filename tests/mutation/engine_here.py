"""The engine in this very process, asked the cases of the suite as its adapter's process would be."""

import io
import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from hudi_adapter.protocol import PROTOCOL_VERSION, Adapter
from hudi_adapter.serving import serve
from hudi_conformance.runner.answer_verdicts import outcome_of
from hudi_conformance.runner.archive import unpack
from hudi_conformance.runner.case_files import cases_of, table_of, writing_cases_of
from hudi_conformance.runner.case_values import WRITING
from hudi_conformance.runner.cases import Case, GoldenTable, load_tables
from hudi_conformance.runner.resources import TABLES, WRITING_CASES
from hudi_conformance.runner.session import Reply
from hudi_conformance.runner.step_execution import VerdictOptions, WritingCaseRun
from hudi_conformance.runner.step_executor import StepExecutor
from hudi_conformance.runner.verdicts import Outcome, Verdict
from hudi_spark.testing import readings_named
from hudi_spark_adapter.adapter import adapter_of
from hudi_spark_adapter.executors import InProcess
from hudi_spark_adapter.mergers import register_reference_mergers
from mutation_targets import ROOT

_LIMIT_S = 60.0


class EngineHere:
    """What a session is to who puts steps to it, without a process: lines of the protocol in memory."""

    def __init__(self) -> None:
        self._adapter: Adapter | None = None
        self.started: Mapping[str, Any] | None = None

    def start(self) -> Reply:
        """Say hello."""
        self._adapter = adapter_of(InProcess(), readings_named("released"))
        hello = self._exchange({"cmd": "start", "protocol": PROTOCOL_VERSION})
        self.started = hello.message
        return hello

    def request(self, op: str, table: Path, params: Mapping[str, Any], out_dir: Path, limit_s: float) -> Reply:
        """One question."""
        if self._adapter is None:
            self.start()
        question = {"cmd": "run", "seq": 1, "op": op, "table": str(table), "params": dict(params)}
        return self._exchange({**question, "out_dir": str(out_dir), "limit_s": limit_s})

    def kill(self) -> None:
        """Forget what the adapter knows."""
        self._adapter = None

    def _exchange(self, message: Mapping[str, Any]) -> Reply:
        assert self._adapter is not None
        answers = io.StringIO()
        serve(self._adapter, io.StringIO(json.dumps(message) + "\n"), answers)
        return Reply(json.loads(answers.getvalue()))


class PoolHere:
    """All roles are the engine's, and nobody reads back or checks: that is asked in the suite itself."""

    def __init__(self) -> None:
        self._engines: dict[int, EngineHere] = {}

    def executor(self, role: str, process: int = 1) -> EngineHere:  # noqa: ARG002 - every role is the engine's
        """The one who takes the steps of a process."""
        return self._engines.setdefault(process, EngineHere())


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


def answer_of(case: Case, folder: Path) -> str:
    """The verdict on a case and the reading that its answers follow, as one text."""
    register_reference_mergers()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        outcome = _written(case, folder) if case.writes else _read(case, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return " ".join([outcome.verdict.value, *(outcome.reading or ())])


def _written(case: Case, folder: Path) -> Outcome:
    return WritingCaseRun(case, PoolHere(), folder, VerdictOptions(_LIMIT_S, _reading_clause)).written()


def _read(case: Case, folder: Path) -> Outcome:
    executor = StepExecutor.below(folder, EngineHere(), _LIMIT_S)
    unpack(case.table.folder, executor.table)
    outcome = Outcome(case, Verdict.PASS)
    for step in case.steps:
        decided = outcome_of(case, step, executor.request(step.op, step.params), _reading_clause)
        outcome = replace(decided, reading=decided.reading or outcome.reading)
        if outcome.verdict is not Verdict.PASS:
            break
    return outcome
