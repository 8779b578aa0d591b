"""`make specs`: TLC over every module, with configurations that must pass and others that must fail."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from hudi_adapter.java import JavaNotFoundError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from hudi_conformance.lint.checkout import NoCheckoutError, find_root
from hudi_conformance.resources import CorpusError, suite_root
from hudi_conformance.tla.apalache import ABSENT, apalache_command, typecheck
from hudi_conformance.tla.manifest import ManifestError, Run, load_runs
from hudi_conformance.tla.tlc import Result, TlcNotFoundError, run_tlc, tlc_jar

__all__ = ["ManifestError", "Result", "Run", "load_runs", "main", "run_tlc"]


def main(folder: Path | None = None, *, apalache: bool | None = None) -> int:
    """Run the manifest of a folder of TLA+ modules, by default the suite's own; answers the exit code."""
    console = Console(soft_wrap=True, highlight=False)
    try:
        specs = folder or _modules()
        runs = load_runs(specs / "runs.toml")
        tlc_jar()
        faults = sum(_report(console, result) for result in _results(console, specs, runs))
    except (CorpusError, ManifestError, TlcNotFoundError, JavaNotFoundError) as error:
        console.print(str(error), markup=False, style="red")
        return 2
    console.print(f"TLA+: {len(runs)} runs, {faults} failures", markup=False)
    if apalache if apalache is not None else os.environ.get("APALACHE", "0") not in ("", "0"):
        faults += _typecheck_all(console, specs)
    return 1 if faults else 0


def _modules() -> Path:
    try:
        return find_root(Path.cwd()) / "specs" / "tla"
    except NoCheckoutError:
        return suite_root() / "specs" / "tla"


def _results(console: Console, specs: Path, runs: Sequence[Run]) -> Iterator[Result]:
    """Results as they come, two runs at a time, with a bar on a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress,
        ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool,
    ):
        bar = progress.add_task("TLC", total=len(runs))
        for done in as_completed([pool.submit(run_tlc, specs, run) for run in runs]):
            yield done.result()
            progress.advance(bar)


def _report(console: Console, result: Result) -> int:
    """Print one line for a run, and all there is to know about one that failed; answers the number of failures."""
    finding = result.finding
    found = f"{finding.distinct_states:>7} states, depth {finding.depth:>2}" if finding else " " * 24
    ending = f"violates {result.run.violates}" if result.run.violates else "passes"
    fault = result.fault
    console.print(
        f"{'FAIL' if fault else 'ok  '} {result.run.module:<9} {found} {result.seconds:5.1f} s  "
        f"{result.run.name}: {fault or ending}",
        markup=False,
        style="red" if fault else None,
    )
    if fault and finding:
        _print_trace(console, result)
    return 1 if fault else 0


def _print_trace(console: Console, result: Result) -> None:
    finding = result.finding
    if finding is None:
        return
    if not finding.passed and not finding.trace:
        console.print(finding.message, markup=False)
    for step in finding.trace:
        console.print(f"  {step.number:>2} {step.action}", markup=False)
        for name, value in step.changed:
            console.print(f"       {name} = {value}", markup=False)


def _typecheck_all(console: Console, specs: Path) -> int:
    command = apalache_command(specs)
    if command is None:
        console.print(ABSENT, markup=False)
        return 0
    faults = 0
    for module in sorted(specs.glob("*.tla")):
        wrong = typecheck(command, module)
        console.print(f"{'FAIL' if wrong else 'ok  '} Apalache types of {module.name}", markup=False)
        if wrong:
            console.print(wrong, markup=False)
            faults += 1
    return faults
