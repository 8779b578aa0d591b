"""A whole run: the selected cases put to each adapter in turn, results written, exit code found."""

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from hudi_conformance.adapters_config import AdapterConfig, AdapterConfigError, find_adapter
from hudi_conformance.cases import Case, Selection, load_cases
from hudi_conformance.console import Ticker, readings_line, summary
from hudi_conformance.expected_failures import ExpectedFailure, load_expected_failures, refuse_unknown
from hudi_conformance.failure_text import failure_text
from hudi_conformance.reading_clauses import ClauseBook
from hudi_conformance.resources import CorpusError
from hudi_conformance.results import RESULTS_FILE, ResultsWriter
from hudi_conformance.running import AdapterRun, RunOptions
from hudi_conformance.verdicts import BAD, Outcome, Verdict

FINE, BAD_VERDICT, BAD_USAGE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class SuiteOptions:
    """What to run: where the corpus is, which cases, which adapters, and how."""

    root: Path
    adapters: tuple[str, ...]
    selection: Selection
    results_folder: Path | None = None
    expected: Path | None = None
    step_limit_s: float = 60.0
    start_limit_s: float = 180.0
    jobs: int = 1


def run_suite(options: SuiteOptions, out: Console) -> int:
    """Run the suite and answer the exit code.

    Raises:
        CorpusError: no case is selected, or bytes of the corpus are absent.
        AdapterConfigError: an adapter or its list of expected failures is not usable.

    """
    adapters = named_adapters(options.adapters, options.root)
    cases = selected_cases(options.root, options.selection)
    book = ClauseBook(options.root)
    expected = {adapter.name: expected_of(adapter, options.root, options.expected) for adapter in adapters}
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hudi-conformance-")))
        folder = options.results_folder or work
        writer = stack.enter_context(ResultsWriter(folder / RESULTS_FILE, adapters, len(cases)))
        limits = RunOptions(work, options.step_limit_s, options.start_limit_s, options.jobs, log_folder=folder / "logs")
        outcomes: dict[str, list[Outcome]] = {}
        for adapter in adapters:
            run = stack.enter_context(AdapterRun(adapter, limits, book.reading_clause, expected[adapter.name]))
            found = _run_one(run, adapter, cases, out, writer)
            writer.implementation(adapter, run.started)
            run.close()
            outcomes[adapter.name] = found
            _tell(found, adapter, run, book, out)
        code = exit_code([outcome for found in outcomes.values() for outcome in found])
        writer.close(code)
    out.print(summary(outcomes))
    return code


def named_adapters(names: Sequence[str], root: Path) -> tuple[AdapterConfig, ...]:
    """The adapters of a command line, each once.

    Raises:
        AdapterConfigError: none is named, one is unknown, or two have one name.

    """
    if not names:
        raise AdapterConfigError("name at least one adapter: --adapter NAME or --adapter 'command line'")
    adapters = tuple(find_adapter(name, root) for name in names)
    doubled = [one.name for one in adapters if sum(other.name == one.name for other in adapters) > 1]
    if doubled:
        raise AdapterConfigError(f"adapter {doubled[0]} is named twice")
    return adapters


def selected_cases(root: Path, selection: Selection) -> tuple[Case, ...]:
    """The selected cases: at least one, for an empty run proves nothing.

    Raises:
        CorpusError: the selection is empty.

    """
    cases = load_cases(root, selection)
    if not cases:
        raise CorpusError("no case is selected: the corpus is empty, or the options fit no case")
    return cases


def expected_of(adapter: AdapterConfig, root: Path, given: Path | None = None) -> dict[str, ExpectedFailure]:
    """An adapter's expected failures: the given file, else the one that its own file names.

    Raises:
        AdapterConfigError: the file does not parse, or names an unknown case.

    """
    failures = dict(load_expected_failures(given or adapter.expected_failures))
    if failures:
        refuse_unknown(failures, (case.id for case in load_cases(root)))
    return failures


def exit_code(outcomes: Sequence[Outcome]) -> int:
    """0 when nothing is bad, 1 when a verdict is."""
    return BAD_VERDICT if any(outcome.verdict in BAD for outcome in outcomes) else FINE


def _run_one(
    run: AdapterRun, adapter: AdapterConfig, cases: Sequence[Case], out: Console, writer: ResultsWriter
) -> list[Outcome]:
    found: list[Outcome] = []
    with Ticker(out, adapter.name, len(cases)) as ticker:
        for outcome in run.outcomes(cases):
            writer.case(adapter, outcome)
            ticker.step(outcome)
            found.append(outcome)
    return found


def _tell(found: Sequence[Outcome], adapter: AdapterConfig, run: AdapterRun, book: ClauseBook, out: Console) -> None:
    for outcome in found:
        if outcome.verdict in BAD:
            out.print(failure_text(outcome, adapter, book), markup=False)
            out.print()
    if run.ledger.chosen:
        out.print(f"{adapter.name} follows: {readings_line(run.ledger.chosen)}", markup=False)
    unanswered = sum(outcome.verdict is Verdict.UNSUPPORTED for outcome in found)
    if unanswered == len(found):
        out.print(f"{adapter.name} supports nothing that was asked", markup=False)
