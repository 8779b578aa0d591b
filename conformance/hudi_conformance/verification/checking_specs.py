"""`make specs`: TLC over every module, with configurations that must pass and others that must fail; and agreement."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from hudi_adapter.java import JavaNotFoundError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from hudi_conformance.runner.processes import AT_ONCE
from hudi_conformance.runner.resources import CorpusError, suite_root
from hudi_conformance.verification.agreement.comparing import Compared, compare
from hudi_conformance.verification.counterexamples.behaviour import Behaviour
from hudi_conformance.verification.counterexamples.page import file_name, write_behaviour, write_index
from hudi_conformance.verification.counterexamples.sources import of_finding
from hudi_conformance.verification.counterexamples.terminal import print_behaviour
from hudi_conformance.verification.lint.checkout import NoCheckoutError, find_root
from hudi_conformance.verification.specs_page import write_specs_page
from hudi_conformance.verification.tla.apalache import (
    ABSENT,
    ApalacheCheck,
    apalache_checks,
    apalache_command,
    run_apalache,
)
from hudi_conformance.verification.tla.manifest import Manifest, ManifestError, Run, load_manifest
from hudi_conformance.verification.tla.tlc import Result, TlcNotFoundError, run_tlc, tlc_jar

Task = TypeVar("Task")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class SpecSelection:
    """What is to be checked: of these modules, all where none is named; `soak`: with the larger constants too.

    `draw` is the folder for pages of what TLC finds violated, `page` the file that states the figures.
    """

    modules: Sequence[str] = ()
    agreements_only: bool = False
    soak: bool = False
    draw: Path | None = None
    page: Path | None = None


def check_specs(
    folder: Path | None = None, selection: SpecSelection | None = None, *, apalache: bool | None = None
) -> int:
    """Run the manifest of a folder of TLA+ modules, by default the suite's own; answers the exit code."""
    console = Console(soft_wrap=True, highlight=False)
    try:
        specs = folder or modules_folder()
        tlc_jar()
        faults = _checked(console, specs, selection or SpecSelection())
    except (CorpusError, ManifestError, TlcNotFoundError, JavaNotFoundError) as error:
        console.print(str(error), markup=False, style="red")
        return 2
    if apalache if apalache is not None else os.environ.get("APALACHE", "0") not in ("", "0"):
        faults += _apalache_all(console, specs)
    return 1 if faults else 0


def _checked(console: Console, specs: Path, selection: SpecSelection) -> int:
    """How many runs and agreements came out otherwise than they must."""
    manifest = chosen(load_manifest(specs), selection)
    runs, agreements = manifest.runs, manifest.agreements
    with ThreadPoolExecutor(AT_ONCE) as threads:
        results = _results(console, "TLC", threads, partial(run_tlc, specs), runs)
        reported = [(result, _report(console, result)) for result in results]
    # The model explores in Python, and a rule is broken for a whole process.
    with ProcessPoolExecutor(AT_ONCE, mp_context=get_context("spawn")) as processes:
        pairs = _results(console, "agreement", processes, partial(compare, specs), agreements)
        compared = [(found, _report_agreement(console, found)) for found in pairs]
    if selection.draw:
        console.print(f"drawn: {draw_specs((result for result, _ in reported), selection.draw)}", markup=False)
    if selection.page:
        write_specs_page(specs, [result for result, _ in reported], [found for found, _ in compared], selection.page)
    faults, differ = (sum(fault for _, fault in reports) for reports in (reported, compared))
    ending = f"{len(runs)} runs, {faults} failures; {len(agreements)} agreements, {differ} differ"
    console.print(f"TLA+: {ending}", markup=False)
    return faults + differ


def modules_folder() -> Path:
    """Where the modules lie: in the checkout, else in the wheel.

    Raises:
        CorpusError: in neither.

    """
    try:
        return find_root(Path.cwd()) / "specs" / "tla"
    except NoCheckoutError:
        return suite_root() / "specs" / "tla"


def chosen(manifest: Manifest, selection: SpecSelection) -> Manifest:
    """What is to run.

    Raises:
        ManifestError: nothing.

    """

    def fits(run: Run) -> bool:
        return (not selection.modules or run.module in selection.modules) and (selection.soak or not run.soak)

    runs = tuple(one for one in manifest.runs if fits(one) and not selection.agreements_only)
    agreements = tuple(one for one in manifest.agreements if fits(one.run))
    if not runs and not agreements:
        raise ManifestError(f"there is no run of {', '.join(selection.modules)}: nothing would be checked")
    return Manifest(runs, agreements)


def _results(
    console: Console, title: str, pool: Executor, work: Callable[[Task], Found], tasks: Sequence[Task]
) -> Iterator[Found]:
    """Results as they come, with a bar on a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(title, total=len(tasks))
        for done in as_completed([pool.submit(work, task) for task in tasks]):
            yield done.result()
            progress.advance(bar)


def _report(console: Console, result: Result) -> int:
    """Print one line for a run, and all there is to know about one that failed; answers the number of failures."""
    finding = result.finding
    found = f"{finding.distinct_states:>7} states, depth {finding.depth:>2}" if finding else " " * 24
    ending = f"violates {result.run.violates}" if result.run.violates else "passes"
    fault = result.fault
    console.print(
        f"{'FAIL' if fault else 'ok  '} {result.run.module:<18} {found} {result.seconds:5.1f} s  "
        f"{result.run.name}: {fault or ending}",
        markup=False,
        style="red" if fault else None,
    )
    if fault and finding:
        _print_trace(console, result)
    return 1 if fault else 0


def _print_trace(console: Console, result: Result) -> None:
    behaviour = behaviour_of(result)
    if behaviour:
        print_behaviour(behaviour, console, changes=True)
    elif result.finding and not result.finding.passed:
        console.print(result.finding.message, markup=False)


def behaviour_of(result: Result) -> Behaviour | None:
    """The states that TLC printed of a run."""
    return of_finding(result.finding, f"{result.run.module}: {result.run.name}") if result.finding else None


def draw_specs(results: Iterable[Result], folder: Path) -> Path:
    """A page for every run of which TLC printed states, also where they were expected; and one that lists them."""
    drawn = [behaviour for behaviour in map(behaviour_of, results) if behaviour]
    folder.mkdir(parents=True, exist_ok=True)
    pages = [(file_name(one.place), one) for one in drawn]
    for name, one in pages:
        write_behaviour(one, folder / name)
    return write_index("What TLC finds when a rule is left out", pages, folder / "index.html")


def _report_agreement(console: Console, found: Compared) -> int:
    """Print one line for an agreement, and where it ends; answers whether it differs."""
    run = found.agreement.run
    steps = f"{found.states:>7} states, {sum(found.actions.values()):>6} steps"
    text = f"counterexamples of {found.length} steps" if found.agreement.law else steps
    console.print(
        f"{'DIFF' if found.differs else 'same'} {run.module:<18} {text}  {run.name}",
        markup=False,
        style="red" if found.differs else None,
    )
    for line in found.differs:
        console.print(f"  {line}", markup=False)
    return 1 if found.differs else 0


def _apalache_all(console: Console, specs: Path) -> int:
    if apalache_command(specs) is None:
        console.print(ABSENT, markup=False)
        return 0
    faults = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        work = partial(_run_apalache, specs)
        for check, wrong in _results(console, "Apalache", pool, work, list(apalache_checks(specs))):
            console.print(f"{'FAIL' if wrong else 'ok  '} {check.module:<18} Apalache: {check.title}", markup=False)
            if wrong:
                console.print(wrong, markup=False)
                faults += 1
    return faults


def _run_apalache(specs: Path, check: ApalacheCheck) -> tuple[ApalacheCheck, str | None]:
    return check, run_apalache(specs, check)
