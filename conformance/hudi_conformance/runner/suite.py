"""A whole run: the selected cases put to each adapter in turn, results written, exit code found."""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from hudi_conformance.runner.adapter_pool import roles_of
from hudi_conformance.runner.adapters_config import AdapterConfig, AdapterConfigError, find_adapter
from hudi_conformance.runner.cases import Case, Selection, load_cases
from hudi_conformance.runner.console import Bars, readings_line, summary
from hudi_conformance.runner.expected_failures import ExpectedFailure, load_expected_failures, resolved
from hudi_conformance.runner.failure_text import failure_text
from hudi_conformance.runner.identifiers import nearest_words
from hudi_conformance.runner.junit import write_junit
from hudi_conformance.runner.plain_text import counted
from hudi_conformance.runner.publishing import badge, markdown_summary
from hudi_conformance.runner.reading_clauses import ClauseBook
from hudi_conformance.runner.resources import CorpusError, write_text
from hudi_conformance.runner.results import RESULTS_FILE, ResultsWriter, RunResults, read_results
from hudi_conformance.runner.running import AdapterRun, RunOptions
from hudi_conformance.runner.scores import NO_REQUIREMENTS, Requirements
from hudi_conformance.runner.selecting import one_of_each, select
from hudi_conformance.runner.session import START_FAILED
from hudi_conformance.runner.skips import load_skips, resolved_skips
from hudi_conformance.runner.trend import EarlierRun, trend_lines
from hudi_conformance.runner.verdicts import BAD, NOT_QUERIED, Outcome, Verdict
from hudi_conformance.runner.work_folders import work_folder

FINE, BAD_VERDICT, BAD_USAGE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Lists:
    """What is known of an adapter before it is asked, by case id: what it fails, and what it is not asked and why."""

    expected: Mapping[str, ExpectedFailure] = field(default_factory=dict)
    skips: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SuiteOptions:
    """What to run: where the corpus is, which cases, which adapters, and how."""

    root: Path
    adapters: tuple[str, ...]
    selection: Selection
    results_folder: Path | None = None
    expected: Path | None = None
    skip: Path | None = None
    junit: Path | None = None
    summary: Path | None = None
    badges: tuple[Path, ...] = ()
    earlier: EarlierRun | None = None
    """The run that this one is compared with."""
    step_limit_s: float = 60.0
    start_limit_s: float = 180.0
    jobs: int = 1
    servicer: str | None = None
    readers: tuple[str, ...] = ()
    smoke_sample: tuple[str, ...] = ()
    """Adapters, by name, that are asked one case of each kind only."""
    requirements: Requirements = NO_REQUIREMENTS


def run_suite(options: SuiteOptions, out: Console) -> int:
    """Run the suite and answer the exit code.

    Raises:
        CorpusError: no case is selected, or bytes of the corpus are absent.
        AdapterConfigError: an adapter or its list of expected failures is not usable.

    """
    adapters = named_adapters(options.adapters, options.root)
    reject_unknown_adapters(options.smoke_sample, adapters)
    corpus = load_cases(options.root)
    cases = select(corpus, options.selection)
    book = ClauseBook(options.root)
    roles = roles_of(options.root, options.servicer, options.readers)
    requirements = options.requirements.checked(corpus)
    requirements.reject_incomparable(adapter.name for adapter in adapters)
    before = options.earlier.results if options.earlier else None
    lists = {adapter.name: lists_of(adapter, corpus, options.expected, options.skip) for adapter in adapters}
    require_runnable_cases(cases, lists.values())
    with ExitStack() as stack:
        work = Path(stack.enter_context(work_folder("hudi-conformance-")))
        folder = options.results_folder or work
        writer = stack.enter_context(ResultsWriter(folder / RESULTS_FILE, adapters, len(cases), roles))
        limits = RunOptions(
            work,
            options.step_limit_s,
            options.start_limit_s,
            options.jobs,
            log_folder=folder / "logs",
            roles=roles,
        )
        outcomes: dict[str, list[Outcome]] = {}
        for adapter in adapters:
            listed = lists[adapter.name]
            run = AdapterRun(adapter, limits, book.reading_clause, listed.expected, listed.skips)
            run = stack.enter_context(run)
            chosen = one_of_each(cases) if adapter.name in options.smoke_sample else cases
            found = _run_one(run, adapter, chosen, out, writer)
            writer.implementation(adapter, run.started)
            run.close()
            outcomes[adapter.name] = found
            _print_outcomes(found, adapter, run, partial(failure_text, adapter=adapter, book=book, roles=roles), out)
        unmet = [line for name, found in outcomes.items() for line in requirements.unmet(name, found)]
        codes = [*map(exit_code, outcomes.values()), *([BAD_VERDICT] if unmet else [])]
        code = max(codes, key=(FINE, BAD_USAGE, BAD_VERDICT).index)
        writer.close(code)
        run_results = read_results(folder / RESULTS_FILE)
    publish(run_results, options, before, unmet)
    out.print(summary(outcomes))
    if options.earlier is not None:
        first = f"no earlier run in {options.earlier.file}: this is the first"
        out.print("since the last run:" if before else first, markup=False)
    for line in trend_lines(before, run_results) if before else ():
        out.print(f"  {line}", markup=False)
    for line in unmet:
        out.print(f"FAIL {line}", markup=False)
    return code


def publish(run: RunResults, options: SuiteOptions, before: RunResults | None, unmet: Iterable[str]) -> None:
    """Write what is requested of a finished run beside its results."""
    if options.junit is not None:
        write_junit(run, options.junit)
    if options.summary is not None:
        write_text(options.summary, markdown_summary(run, before, unmet))
    for path in options.badges:
        write_text(path, badge(run, path))


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


def reject_unknown_adapters(names: Sequence[str], adapters: Sequence[AdapterConfig]) -> None:
    """Hold names of adapters against those of the run.

    Raises:
        AdapterConfigError: one of them does not take part.

    """
    known = [adapter.name for adapter in adapters]
    for name in names:
        if name not in known:
            near = nearest_words(name, known)
            raise AdapterConfigError(
                f"{name!r} is to be asked one case of each kind, but takes no part in the run{near}"
            )


def lists_of(
    adapter: AdapterConfig, corpus: Sequence[Case], expected: Path | None = None, skip: Path | None = None
) -> Lists:
    """An adapter's expected failures and skips: of the given files, else of those that its own file names.

    Raises:
        AdapterConfigError: a file does not parse, names an unknown case, or both name one.

    """
    failures, skips = load_expected_failures(expected or adapter.expected_failures), load_skips(skip or adapter.skips)
    ids = [case.id for case in corpus] if failures or skips else []
    found = Lists(resolved(failures, ids), resolved_skips(skips, ids))
    both = sorted(found.expected.keys() & found.skips.keys())
    if both:
        raise AdapterConfigError(f"{both[0]} is both skipped and expected to fail")
    return found


def expected_of(adapter: AdapterConfig, root: Path) -> Mapping[str, ExpectedFailure]:
    """What an adapter's own list says, by case; the corpus is looked through only where there is one.

    Raises:
        AdapterConfigError: the list does not parse, or names a case that is not there.

    """
    return lists_of(adapter, load_cases(root)).expected if adapter.expected_failures else {}


def require_runnable_cases(cases: Sequence[Case], lists: Iterable[Lists]) -> None:
    """Hold the skips against the selected cases: at least one is asked, for an empty run proves nothing.

    Raises:
        CorpusError: every selected case is skipped.

    """
    for listed in lists:
        if all(case.id in listed.skips for case in cases):
            raise CorpusError(f"no case is asked: all {len(cases)} that are selected are skipped")


def exit_code(outcomes: Sequence[Outcome]) -> int:
    """0 when nothing is bad, 1 when a verdict is, 2 when nothing that was asked is supported."""
    if any(outcome.verdict in BAD for outcome in outcomes):
        return BAD_VERDICT
    return BAD_USAGE if all(outcome.verdict in NOT_QUERIED for outcome in outcomes) else FINE


def _run_one(
    run: AdapterRun, adapter: AdapterConfig, cases: Sequence[Case], out: Console, writer: ResultsWriter
) -> list[Outcome]:
    found, bad = list[Outcome](), 0
    with Bars(out) as bars:
        bar = bars.add_task(adapter.name, total=len(cases))
        for outcome in run.outcomes(cases):
            writer.case(adapter, outcome)
            found.append(outcome)
            bad += outcome.verdict in BAD
            bars.update(bar, completed=len(found), description=f"{adapter.name}{f', {bad} bad' if bad else ''}")
    return found


def _print_outcomes(
    found: Sequence[Outcome], adapter: AdapterConfig, run: AdapterRun, describe: Callable[[Outcome], str], out: Console
) -> None:
    bad = [outcome for outcome in found if outcome.verdict in BAD]
    shown = [outcome for outcome in bad if START_FAILED not in outcome.message]
    not_started = [outcome for outcome in bad if START_FAILED in outcome.message]
    # What cannot be started fails every case for one reason: once is enough.
    for outcome in (*shown, *not_started[: not shown]):
        out.print(describe(outcome), markup=False)
        out.print()
    if not_started:
        again = shlex.join(("hudi-conformance", "smoke", "--adapter", adapter.given or adapter.name))
        out.print(
            f"{adapter.name} could not be started, so {counted(len(not_started), 'case')} failed without being asked."
        )
        out.print(f"Check how it starts:  {again}", markup=False)
        out.print()
    for line in undispatched(adapter.name, found, run.started):
        out.print(line, markup=False)
    if run.ledger.chosen:
        out.print(f"{adapter.name} follows: {readings_line(run.ledger.chosen)}", markup=False)
    if all(outcome.verdict in NOT_QUERIED for outcome in found):
        out.print(all_unsupported(adapter.name, found, run.started), markup=False)


def all_unsupported(name: str, found: Sequence[Outcome], started: Mapping[str, Any] | None) -> str:
    """What to say of an adapter that supports nothing of what it was asked: this is no passed run."""
    op_names = sorted({step.op for one in found for step in one.case.steps})
    ops = ", ".join((started or {}).get("ops", ())) or "none"
    return (
        f"{name} supports nothing that was asked, so nothing is judged: its ops are {ops}; asked: {', '.join(op_names)}"
    )


def undispatched(name: str, found: Sequence[Outcome], started: Mapping[str, Any] | None) -> tuple[str, ...]:
    """A line for each declared op that gets no answer but `unsupported`: its name may be misspelt in the adapter."""
    ops = (started or {}).get("ops", ())
    by_op: dict[str, list[Outcome]] = {}
    for one in found:
        # Where there are several steps, which of them was lacking is not known.
        if len(one.case.steps) == 1 and one.verdict is not Verdict.SKIPPED:
            by_op.setdefault(one.case.steps[0].op, []).append(one)
    return tuple(
        f"{name} declares the op {op}, but answered `unsupported` ({outcomes[0].message}) in all "
        f"{counted(len(outcomes), 'case')} that ask it. Check how the adapter spells the op where it looks it up."
        for op, outcomes in sorted(by_op.items())
        if op in ops and len(outcomes) > 1 and all(one.verdict is Verdict.UNSUPPORTED for one in outcomes)
    )
