"""`hudi-conformance interleavings`: interleavings that the model writes out, played by implementations."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final

import typer

from hudi_conformance.runner.identifiers import known_word
from hudi_conformance.verification.interleavings.coarse import coarse_graph
from hudi_conformance.verification.interleavings.drawing import lanes, most_changes
from hudi_conformance.verification.interleavings.fine import fine_graph
from hudi_conformance.verification.interleavings.graph import cover
from hudi_conformance.verification.interleavings.page import write_page
from hudi_conformance.verification.interleavings.results import Result, add, load
from hudi_conformance.verification.interleavings.running import APACHE, Bounds, run_all
from hudi_conformance.verification.interleavings.scenarios import INTERLEAVING_SCENARIOS, InterleavingScenario

app = typer.Typer(help="Interleavings that cover every edge of the model's graphs.", no_args_is_help=True)

ENGINE: Final = "engine-in-process"
KEPT: Final = Path("build/interleavings.json")
PAGE: Final = Path("build/pages/interleavings.md")
# A path takes Apache Hudi half a minute.
APACHE_PATHS: Final = 6
_Adapters = Annotated[list[str] | None, typer.Option("--adapter", help="A name or a command line; by default both.")]
_Names = Annotated[list[str] | None, typer.Argument(help="Schedules whose names begin so; all where none is given.")]


@app.command()
def count() -> None:
    """Say how large each graph is, and how many paths cover it."""
    for scenario in INTERLEAVING_SCENARIOS.values():
        coarse, joined = coarse_graph(scenario), fine_graph(scenario, whole=False)
        text = f"coarse {coarse.count()} edges, {len(cover(coarse))} paths"
        typer.echo(f"{scenario.name}: {text}; joined {joined.count()} edges, {len(cover(joined))} paths")


@app.command("run")
def run_some(
    names: _Names = None,
    adapter: _Adapters = None,
    paths: Annotated[int | None, typer.Option(help="How many paths of each graph, those with most new edges.")] = None,
    keep: Annotated[Path | None, typer.Option(help="Where to keep the results for `page`.")] = None,
    *,
    every: Annotated[bool, typer.Option("--every", help="Compare reads after every act of every path.")] = False,
) -> None:
    """Run coarse paths through the adapter protocol: exit 1 where an answer is not the model's."""
    for one in names or ():
        if not any(known.startswith(one) for known in INTERLEAVING_SCENARIOS):
            known_word("schedule", one, INTERLEAVING_SCENARIOS)
    chosen = [one for one in INTERLEAVING_SCENARIOS.values() if not names or one.name.startswith(tuple(names))]
    wrong = [_played(chosen, name, Bounds(paths, every), keep) for name in adapter or ("model", ENGINE)]
    raise typer.Exit(int(any(wrong)))


@app.command()
def draw(name: Annotated[str, typer.Argument(help="A schedule.")]) -> None:
    """Print the interleaving of a schedule that goes from process to process most often."""
    scenario = INTERLEAVING_SCENARIOS[known_word("schedule", name, INTERLEAVING_SCENARIOS)]
    typer.echo("\n".join(lanes(scenario, most_changes(cover(fine_graph(scenario, whole=False))))))


@app.command()
def soak(
    apache: Annotated[str, typer.Option(help="The adapter of Apache Hudi.")] = f"{APACHE}-1.1.1",
    apache_paths: Annotated[int, typer.Option(help="How many paths of each graph it plays.")] = APACHE_PATHS,
    kept: Annotated[Path, typer.Option(help="Where `tests/interleavings/soak.py` keeps its results, too.")] = KEPT,
    page: Annotated[Path, typer.Option(help="The page that says what came of it.")] = PAGE,
) -> None:
    """Run every coarse path by the model and the engine, some by Apache Hudi, and write the page of results."""
    plays = (("model", Bounds()), (ENGINE, Bounds()), (apache, Bounds(apache_paths)))
    wrong = [_played(INTERLEAVING_SCENARIOS.values(), name, bounds, kept) for name, bounds in plays]
    write_page(page, load(kept))
    raise typer.Exit(int(any(wrong)))


@app.command("page")
def page_of(
    kept: Annotated[Path, typer.Option(help="Where results were kept.")] = KEPT,
    page: Annotated[Path, typer.Option(help="The page that says what came of it.")] = PAGE,
) -> None:
    """Write the page of results that were kept."""
    write_page(page, load(kept))


def _played(scenarios: Iterable[InterleavingScenario], adapter: str, bounds: Bounds, kept: Path | None) -> bool:
    """Whether an answer was not the model's."""
    wrong = False
    for one in run_all(scenarios, adapter, bounds):
        typer.echo(line_of(one))
        wrong |= bool(one.failures)
        if kept is not None:
            add(kept, one)
    return wrong


def line_of(one: Result) -> str:
    """One line, and each difference."""
    line = f"{one.schedule} ({one.grain}, {one.executor}): {one.played} of {one.edges} edges, {one.paths} paths"
    return "\n".join((f"{line}, {len(one.failures)} differ", *one.failures[:5]))
