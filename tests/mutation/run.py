"""Mutation testing of the engine: `python tests/mutation/run.py`; `make pages` shows what came of it."""

import compileall
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Annotated, TypeAlias

import typer
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import TestOutcome, WorkItem, WorkResult
from explanations import explanations
from listing import Mutant, drawn, mutants_of, some_mutants
from mutation_operators import register
from mutation_page import write_page
from mutation_targets import (
    ALIVE_SIZES,
    BUILD,
    CORPUS_LIMIT_S,
    CORPUS_MODULES,
    CORPUS_SIZES,
    ENGINE,
    LIMIT_S,
    MODULES,
    ROOT,
    SIZES,
    SURVIVOR_SIZES,
    SampleSizes,
)
from results import NOT_TRIED, SPECS, SURVIVED, Result, keep, kept
from spec_mutants import FOLDER, modules_of, spec_mutants, try_by_graphs, try_quickly
from spec_mutants import try_mutants as try_spec_mutants

Key: TypeAlias = tuple[str, str, str, int]
_SIZES: Mapping[str, SampleSizes] = {
    "some": SIZES,
    "survivors": SURVIVOR_SIZES,
    "corpus": CORPUS_SIZES,
    "alive": ALIVE_SIZES,
}
_ALIVE = BUILD / "alive.json"
app = typer.Typer(help=__doc__, no_args_is_help=True, pretty_exceptions_enable=False)


@app.command()
def reach(
    *,
    only_tests: Annotated[bool, typer.Option("--tests", help="The cases are as they were.")] = False,
    only_cases: Annotated[bool, typer.Option("--cases", help="No test, as `corpus` needs none.")] = False,
) -> None:
    """Find out which cases and tests reach which lines: `try` asks a mutant only these."""
    import reaching  # noqa: PLC0415 - the engine as it is is imported by this command alone

    cases = reaching.kept()["cases"] if only_tests else reaching.reach_of_cases(every=only_cases)
    reaching.keep(cases, () if only_cases else reaching.reach_of_tests())


@app.command(name="try")
def try_mutants(
    share: Annotated[float, typer.Option(help="How much of each module's mutants, drawn by a fixed seed.")] = 1.0,
    jobs: Annotated[int, typer.Option(help="How many are tried side by side.")] = 2,
    *,
    survivors: Annotated[bool, typer.Option(help="What survived and is not explained; it is asked more.")] = False,
    go_on: Annotated[bool, typer.Option(help="Only what has not been tried yet.")] = False,
) -> None:
    """Try mutants, keep what became of them, and write the page."""
    register()
    listed = mutants_of(MODULES)
    before = _before() if survivors or go_on else {}
    wanted = {SURVIVED} if survivors else {NOT_TRIED}
    explained = explanations().survivors if survivors else ()
    chosen = [one for one in drawn(listed, share) if before.get(one.key, NOT_TRIED) in wanted]
    sample = "survivors" if survivors else "some"
    _run_mutants([one for one in chosen if one.key not in explained], jobs, sample)
    _keep(listed, {**before, **_comments()})
    write_page()


@app.command()
def corpus(
    count: Annotated[int, typer.Option(help="How many mutants, drawn by a fixed seed, by length of module.")] = 60,
    jobs: Annotated[int, typer.Option(help="How many are tried side by side.")] = 2,
    *,
    alive_before: Annotated[
        bool, typer.Option("--alive", help="Those that failed none last time; more is asked.")
    ] = False,
) -> None:
    """Ask the cases alone about mutants that change what the engine does; name those that fail none."""
    register()
    explained = explanations().survivors
    chosen = [one for one in some_mutants(CORPUS_MODULES, count) if one.key not in explained]
    if alive_before:
        before = {tuple(key) for key in json.loads(_ALIVE.read_text(encoding="utf-8"))}
        chosen = [one for one in chosen if one.key in before]
    _run_mutants(chosen, jobs, "alive" if alive_before else "corpus")
    comments = _comments()
    alive = [one for one in chosen if comments.get(one.key) == SURVIVED]
    typer.echo(f"{len(chosen) - len(alive)} of {len(chosen)} mutants fail a case")
    _ALIVE.write_text(json.dumps([one.key for one in alive]), encoding="utf-8")
    for one in alive:
        typer.echo(f"{one.module}:{one.line}: {one.text} -> {one.becomes}")


@app.command()
def specs(
    modules: Annotated[
        list[str] | None, typer.Argument(help="Only these: a module's mutants, or those that its runs check.")
    ] = None,
    share: Annotated[float, typer.Option(help="How much of each module's mutants, drawn by a fixed seed.")] = 1.0,
    jobs: Annotated[int, typer.Option(help="How many are tried side by side.")] = 2,
    *,
    go_on: Annotated[bool, typer.Option(help="Only what has not been tried yet.")] = False,
    quick: Annotated[bool, typer.Option(help="Only short runs; what they do not kill is left.")] = False,
    graphs: Annotated[
        float, typer.Option(help="Only agreements of at most so many states; what they do not kill is left.")
    ] = 0,
) -> None:
    """Try mutants of the TLA+ modules: TLC's declared runs, each as declared or not."""
    folder = ROOT / FOLDER
    listed = spec_mutants(folder, modules_of(folder))
    wanted = {one.key for one in drawn([one.result for one in listed], share)}
    before = {one.key: one.outcome for one in kept(SPECS)}
    found = {one.result.key: replace(one.result, outcome=before.get(one.result.key, NOT_TRIED)) for one in listed}
    named = set(modules or ())
    chosen = [one for one in listed if one.result.key in wanted and (not named or named & {one.file, *one.checked})]
    waiting = [one for one in chosen if not (go_on and found[one.result.key].tried)]
    if graphs:
        results = try_by_graphs(folder, waiting, jobs, graphs)
    else:
        results = try_quickly(folder, waiting) if quick else try_spec_mutants(folder, waiting, jobs)
    with typer.progressbar(length=len(waiting), label="mutants") as bar:
        for result in results:
            # Another run may have kept some meanwhile.
            found |= {one.key: one for one in kept(SPECS) if one.tried and one.key in found}
            found[result.key] = result
            typer.echo(f"{result.module}:{result.line} {result.operator}: {result.outcome}")
            keep(found.values(), SPECS)
            bar.update(1)
    write_page()


@app.command()
def collect() -> None:
    """Keep what the sessions of a run that was broken off have come to."""
    register()
    _keep(mutants_of(MODULES), {**_before(), **_comments()})
    write_page()


@app.command()
def page() -> None:
    """Write the page again; exit 1 where a survivor is not explained, or an explanation is one too many."""
    raise typer.Exit(write_page())


@app.command(hidden=True)
def job(number: int, sample: str) -> None:
    """Try the mutants of one copy of the engine."""
    from forking import Forking  # noqa: PLC0415 - loads all that a mutant needs
    from reaching import kept as reached  # noqa: PLC0415

    register()
    session = WorkDB(str(BUILD / f"{number}.sqlite"), WorkDB.Mode.open)
    trying = Forking(BUILD / str(number), reached(), _SIZES[sample])
    limit_s = CORPUS_LIMIT_S if sample in {"corpus", "alive"} else LIMIT_S
    trying(session.pending_work_items, "", limit_s, None, session.set_result)


def _run_mutants(mutants: Sequence[Mutant], jobs: int, sample: str) -> None:
    for file in BUILD.glob("[0-9]*.sqlite"):
        file.unlink()
    for number in range(jobs):
        _lay_out(number, mutants[number::jobs])
    command = (sys.executable, str(Path(__file__).resolve()), "job")
    running = [subprocess.Popen([*command, str(number), sample], cwd=ROOT) for number in range(jobs)]
    if {process.wait() for process in running} != {0}:
        raise typer.Exit(2)


def _lay_out(number: int, mutants: Iterable[Mutant]) -> None:
    """A copy of the engine, and a session of cosmic-ray that mutates it."""
    folder = BUILD / str(number)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ENGINE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    # Compiled once; a file that is mutated within the same second is noticed by its content.
    compileall.compile_dir(folder, quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    session = WorkDB(str(BUILD / f"{number}.sqlite"), WorkDB.Mode.create)
    session.add_work_items(_item(one, folder) for one in mutants)
    session.close()


def _item(one: Mutant, folder: Path) -> WorkItem:
    spec = one.spec
    placed = type(spec)(
        module_path=folder / "hudi_spark" / one.module,
        operator_name=spec.operator_name,
        occurrence=spec.occurrence,
        start_pos=spec.start_pos,
        end_pos=spec.end_pos,
        operator_args=spec.operator_args,
    )
    return WorkItem.single(json.dumps(one.key), placed)


def _comments() -> dict[Key, str]:
    """What became of the mutants of the sessions."""
    found: dict[Key, str] = {}
    for file in sorted(BUILD.glob("[0-9]*.sqlite")):
        session = WorkDB(str(file), WorkDB.Mode.open)
        found |= {_key(name): _outcome(result) for name, result in session.results}
        session.close()
    return found


def _before() -> dict[Key, str]:
    """What became of mutants in earlier runs."""
    return {one.key: one.outcome for one in kept()}


def _key(name: str) -> Key:
    module, text, operator, nth = json.loads(name)
    return module, text, operator, nth


def _outcome(result: WorkResult) -> str:
    if result.test_outcome is TestOutcome.SURVIVED:
        return SURVIVED
    lines = (result.output or "").strip().splitlines()
    return lines[-1] if lines else "error without a word"


def _keep(listed: Iterable[Mutant], comments: Mapping[Key, str]) -> None:
    known = (Result(one.module, one.text, one.operator, one.nth, one.line, one.becomes) for one in listed)
    keep(replace(one, outcome=comments.get(one.key, NOT_TRIED)) for one in known)


if __name__ == "__main__":
    app()
