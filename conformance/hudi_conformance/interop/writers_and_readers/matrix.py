"""Who writes, who reads: cases that write, played by each writer, read back by each reader, and checked."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hudi_conformance.runner.adapter_pool import AdapterPool, Roles, roles_of
from hudi_conformance.runner.adapters_config import AdapterConfig, find_adapter
from hudi_conformance.runner.case_values import WRITER
from hudi_conformance.runner.cases import Case
from hudi_conformance.runner.expected_failures import ReadBack, load_read_back
from hudi_conformance.runner.reading_clauses import ClauseBook
from hudi_conformance.runner.step_execution import VerdictOptions, WritingCaseRun
from hudi_conformance.runner.suite import expected_of
from hudi_conformance.runner.verdicts import FAILURES, Outcome, Verdict, against_expectation
from hudi_conformance.runner.work_folders import work_folder

WROTE, CHECKED = "writes", "check_table"
"""Columns beside those of the readers: what the writer answers itself, and what is wrong with its tables."""
Outcomes = Mapping[str, Outcome]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known to be wrong: of who writes, by case, and of each who reads."""

    writer: Mapping[str, str]
    readers: Mapping[str, Sequence[ReadBack]]

    def settled(self, case: Case, writer: str, outcomes: Outcomes) -> dict[str, Outcome]:
        """The verdicts of a case held against what is known.

        A case that its writer fails may fail anywhere, since whoever reads it reads what it wrote; where it fails
        nowhere, the entry is out of date.
        """
        why = self.writer.get(case.id)
        if why is None:
            return {
                name: against_expectation(one, self._of_reader(name, case, writer)) for name, one in outcomes.items()
            }
        failed = [name for name, one in outcomes.items() if one.verdict in FAILURES] or [WROTE]
        return {name: against_expectation(one, why if name in failed else None) for name, one in outcomes.items()}

    def _of_reader(self, reader: str, case: Case, writer: str) -> str | None:
        entries = (one for one in self.readers.get(reader, ()) if one.fits(case.id, writer))
        return next((one.finding.why for one in entries), None)


@dataclass(frozen=True, slots=True)
class Played:
    """What one writer's cases came to: who it is, when it was asked, and the outcomes of each case by column."""

    writer: AdapterConfig
    implementation: Mapping[str, Any]
    queried_on: str
    cases: list[tuple[Case, dict[str, Outcome]]] = field(default_factory=list)


def sample(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Of the cases that take the same step on the same kind of table the shortest, in their order.

    The same is the op with its operation or service, and whether it is refused; a kind of table its version and type.
    """
    known: set[tuple[Any, ...]] = set()
    chosen: set[str] = set()
    for case in sorted(cases, key=lambda one: len(one.steps)):
        kind = case.table.version, "mor" in case.table.features
        taken = {(*kind, *act) for act in _acts(case)}
        if not taken <= known:
            known |= taken
            chosen.add(case.id)
    return tuple(case for case in cases if case.id in chosen)


def sampled_for(name: str, cases: Sequence[Case], root: Path) -> tuple[Case, ...]:
    """The sample, and what its writer is known to fail: a list that is not asked of again would only grow."""
    listed, taken = expected_of(find_adapter(name, root), root), {one.id for one in sample(cases)}
    return tuple(case for case in cases if case.id in taken or case.id in listed)


def _acts(case: Case) -> Iterator[tuple[Any, ...]]:
    for step in case.steps:
        if step.writes:
            done = (step.params.get(name) for name in ("operation", "service", "name") if step.op != "create_table")
            yield step.op, next((str(one) for one in done if one), ""), bool(step.reasons)


def run_writer(
    name: str, readers: Sequence[str], cases: Sequence[Case], root: Path, limit_s: float
) -> Iterator[Played]:
    """All that was found so far, after each case; what its writer does not finish is read by nobody."""
    writer, roles = find_adapter(name, root), roles_of(root, readers=readers)
    known, options = known_of(writer, roles, root), VerdictOptions(limit_s, ClauseBook(root).reading_clause)
    # Within a case the writer reads itself: what others read of it is distinguished.
    own = replace(roles, readers=(writer,))
    with ExitStack() as stack:
        work = Path(stack.enter_context(work_folder("hudi-matrix-")))
        pool = stack.enter_context(AdapterPool(writer, own, work / "logs"))
        reading = stack.enter_context(AdapterPool(writer, roles, work / "logs", job=1))
        pool.executor(WRITER).start()
        started = (pool.executor(WRITER).started or {}).get("implementation", {})
        played = Played(writer, started, dt.datetime.now(dt.timezone.utc).date().isoformat())
        for number, case in enumerate(cases):
            outcomes = dict(_outcomes(WritingCaseRun(case, pool, work / f"case-{number}", options), reading))
            played.cases.append((case, known.settled(case, writer.name, outcomes)))
            yield played


def _outcomes(run: WritingCaseRun, reading: AdapterPool) -> Iterator[tuple[str, Outcome]]:
    outcome = run.written()
    yield WROTE, outcome
    if outcome.verdict is Verdict.PASS:
        run.pool = reading
        yield from run.read_back()
        yield CHECKED, run.checked() or outcome


def known_of(writer: AdapterConfig, roles: Roles, root: Path) -> Known:
    """What the lists of a writer and of readers say.

    Raises:
        AdapterConfigError: a list does not parse, or names a case that is not there.

    """
    listed = expected_of(writer, root)
    readers = {one.name: load_read_back(one.expected_failures) for one in roles.readers}
    return Known({name: one.why for name, one in listed.items()}, readers)
