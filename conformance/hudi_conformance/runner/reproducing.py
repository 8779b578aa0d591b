"""One case again, with everything there is to see."""

from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

from hudi_conformance.runner.adapter_pool import Roles
from hudi_conformance.runner.adapters_config import AdapterConfig
from hudi_conformance.runner.cases import Case
from hudi_conformance.runner.failure_text import failure_text
from hudi_conformance.runner.reading_clauses import ClauseBook
from hudi_conformance.runner.resources import CorpusError
from hudi_conformance.runner.running import AdapterRun, RunOptions
from hudi_conformance.runner.suite import exit_code, expected_of
from hudi_conformance.runner.verdicts import FAILURES, Verdict
from hudi_conformance.runner.work_folders import work_folder


def reproduce(
    root: Path, case: Case, adapter: AdapterConfig, roles: Roles, *, keep: Path | None, limit_s: float, out: Console
) -> int:
    """Put one case to an adapter, tell its verdict and all differences, and answer the exit code.

    Raises:
        CorpusError: bytes of the case's table or answer are absent, or the folder to keep them in is not empty.

    """
    if keep and keep.is_dir() and any(keep.iterdir()):
        raise CorpusError(f"{keep} is not empty: what an earlier run kept there would be taken for this one's")
    book = ClauseBook(root)
    with ExitStack() as stack:
        # Adapters receive absolute paths, wherever the command was typed.
        work = keep.resolve() if keep else Path(stack.enter_context(work_folder("hudi-conformance-")))
        options = RunOptions(work, limit_s, keep=keep is not None, roles=roles)
        # A skipped case is asked when it is named alone.
        expected = expected_of(adapter, root)
        run = stack.enter_context(AdapterRun(adapter, options, book.reading_clause, expected))
        outcome = run.outcome(case)
    if outcome.verdict in FAILURES | {Verdict.EXPECTED_FAIL}:
        out.print(failure_text(outcome, adapter, book, len(outcome.differences), roles), markup=False)
        out.print(outcome.traceback, markup=False)
    else:
        reading = f", {outcome.reading[0]} as {outcome.reading[1]}" if outcome.reading else ""
        message = f": {outcome.message}" if outcome.message else ""
        out.print(f"{outcome.verdict.upper()} {case.id} [{adapter.name}]{reading}{message}", markup=False)
    if keep is not None:
        out.print(f"kept below {keep}", markup=False)
    return exit_code([outcome])
