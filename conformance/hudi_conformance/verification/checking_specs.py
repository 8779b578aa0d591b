"""`make specs`: what TLC and Apalache must find in the modules, and where the modules agree with the model."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from hudi_adapter.java import JavaNotFoundError
from rich.console import Console

from hudi_conformance.runner.console import Bars
from hudi_conformance.runner.identifiers import nearest_words
from hudi_conformance.runner.processes import AT_ONCE, Shard
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
    Apalache,
    ApalacheResult,
    check_types,
    find_apalache,
    run_apalache,
    typed_modules,
)
from hudi_conformance.verification.tla.manifest import Manifest, ManifestError, Run, load_manifest
from hudi_conformance.verification.tla.tlc import Result, TlcNotFoundError, run_tlc, tlc_version

Task = TypeVar("Task")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class SpecSelection:
    """What is to be checked: of these modules, all where none is named; `soak`: with the larger constants too.

    `apalache` asks for Apalache too, forbids it, or asks where it can be had; `apalache_only` leaves TLC out. `shard`:
    which part of TLC's runs, as K/N; a run is in the same part always. `draw` is the folder for pages of what TLC finds
    violated, `page` the file that states the figures.
    """

    modules: Sequence[str] = ()
    agreements_only: bool = False
    apalache: bool | None = None
    apalache_only: bool = False
    soak: bool = False
    shard: str = "1/1"
    draw: Path | None = None
    page: Path | None = None


def check_specs(folder: Path | None = None, selection: SpecSelection | None = None) -> int:
    """Run the manifest of a folder of TLA+ modules, by default the suite's own; answers the exit code.

    0: all came out as declared; 1: something did not; 2: it could not be checked, or a checker that was requested is
    not here.

    Raises:
        OSError: a page cannot be written.

    """
    console = Console(soft_wrap=True, highlight=False)
    wanted = selection or SpecSelection()
    try:
        specs = folder or modules_folder()
        apalache = _apalache(console, wanted)
        manifest = chosen(load_manifest(specs), wanted)
        results, compared = ([], []) if wanted.apalache_only else _checked(console, specs, manifest)
        bounded = _apalache_all(console, specs, manifest, wanted, apalache) if apalache else []
        if wanted.draw:
            console.print(f"drawn: {draw_specs(results, wanted.draw)}", markup=False)
        if wanted.page:
            write_specs_page(specs, results, compared, bounded, wanted.page)
    except (CorpusError, ManifestError, TlcNotFoundError, JavaNotFoundError, ApalacheNotFoundError) as error:
        console.print(str(error), markup=False, style="red")
        return 2
    faults = [*(one.fault for one in results), *(one.fault for one in bounded), *(one.differs for one in compared)]
    return 1 if any(faults) else 0


class ApalacheNotFoundError(RuntimeError):
    """Apalache is requested and is not here."""


def _apalache(console: Console, selection: SpecSelection) -> Apalache | None:
    """Apalache where it is to run; what it and TLC are is printed first."""
    if not selection.apalache_only:
        console.print(tlc_version(), markup=False)
    selected = selection.apalache
    if selected is None and (variable := os.environ.get("APALACHE")):
        selected = variable != "0"
    selected = True if selection.apalache_only else selected
    if selected is False or selection.agreements_only:
        return None
    found = find_apalache()
    if found:
        console.print(f"Apalache {found.version()}, from {found.found}", markup=False)
    elif selected:
        raise ApalacheNotFoundError(ABSENT)
    else:
        console.print(ABSENT, markup=False)
    return found


def _checked(console: Console, specs: Path, manifest: Manifest) -> tuple[list[Result], list[Compared]]:
    """What the runs and the agreements came to."""
    runs, agreements = manifest.runs, manifest.agreements
    with ThreadPoolExecutor(AT_ONCE) as threads:
        results = _results(console, "TLC", threads, partial(run_tlc, specs), runs, _report)
    # The model explores in Python, and a rule is broken for a whole process.
    with ProcessPoolExecutor(AT_ONCE, mp_context=get_context("spawn")) as processes:
        compared = _results(console, "agreement", processes, partial(compare, specs), agreements, _report_agreement)
    faults, differ = sum(bool(one.fault) for one in results), sum(bool(one.differs) for one in compared)
    ending = f"{len(runs)} runs, {faults} failures; {len(agreements)} agreements, {differ} differ"
    console.print(f"TLA+: {ending}", markup=False)
    return results, compared


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
        ManifestError: there is nothing to run, or the shard is none.

    """
    try:
        shard = Shard.of(selection.shard)
    except ValueError as error:
        raise ManifestError(f"--shard {error}") from error

    def fits(run: Run) -> bool:
        return (not selection.modules or run.module in selection.modules) and (selection.soak or not run.soak)

    runs = tuple(one for one in manifest.runs if fits(one) and not selection.agreements_only)
    runs = tuple(one for one in runs if f"{one.module} {one.name}" in shard)
    agreements = tuple(one for one in manifest.agreements if fits(one.run))
    bounded = tuple(one for one in manifest.bounded if fits(one.run) and not selection.agreements_only)
    if not runs and not agreements:
        known = {one.module for one in manifest.runs}
        near = "".join(nearest_words(one, known) for one in selection.modules if one not in known)
        raise ManifestError(f"there is no run of {', '.join(selection.modules)}: nothing would be checked{near}")
    return Manifest(runs, agreements, bounded, manifest.tlc_only)


def _results(  # noqa: PLR0917 - what is done, to what, and where it is shown
    console: Console,
    title: str,
    pool: Executor,
    work: Callable[[Task], Found],
    tasks: Sequence[Task],
    report: Callable[[Console, Found], None],
) -> list[Found]:
    """Results in the order in which they come, each reported, with progress."""
    found: list[Found] = []
    with Bars(console) as progress:
        bar = progress.add_task(title, total=len(tasks))
        for done in as_completed([pool.submit(work, task) for task in tasks]):
            report(console, done.result())
            found.append(done.result())
            progress.advance(bar)
    return found


def _report(console: Console, result: Result) -> None:
    """Print one line for a run, and all there is to know about one that failed."""
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


def _report_agreement(console: Console, found: Compared) -> None:
    """Print one line for an agreement, and where it ends."""
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


def _apalache_all(
    console: Console, specs: Path, manifest: Manifest, selection: SpecSelection, apalache: Apalache
) -> list[ApalacheResult]:
    """The types of the modules and the declared checks."""
    typed = [
        module
        for module in typed_modules(specs, manifest.tlc_only)
        if not selection.modules or module in selection.modules
    ]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        types = _results(console, "types", pool, partial(check_types, apalache, specs), typed, _report_apalache)
        work = partial(run_apalache, apalache, specs)
        checks = _results(console, "Apalache", pool, work, manifest.bounded, _report_apalache)
    results = [*types, *checks]
    faults = sum(bool(one.fault) for one in results)
    console.print(f"Apalache: types of {len(typed)} modules, {len(checks)} checks, {faults} failures", markup=False)
    return results


def _report_apalache(console: Console, result: ApalacheResult) -> None:
    """Print one line for a check, and all that Apalache said where it failed."""
    depth = f"depth {result.check.depth}" if result.check else ""
    ending = f": violates {result.check.run.violates}" if result.check and result.check.run.violates else ""
    console.print(
        f"{'FAIL' if result.fault else 'ok  '} {result.module:<18} Apalache, {depth:<8} {result.seconds:5.1f} s  "
        f"{result.title}{': ' + result.fault if result.fault else ending}",
        markup=False,
        style="red" if result.fault else None,
    )
