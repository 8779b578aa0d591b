"""`hudi-conformance schedules`: interleavings that the model writes out, played by implementations."""

from pathlib import Path
from typing import Annotated, Final

import typer

from hudi_conformance.schedules.coarse import coarse_graph
from hudi_conformance.schedules.drawing import lanes, most_changes
from hudi_conformance.schedules.fine import fine_graph
from hudi_conformance.schedules.graph import cover
from hudi_conformance.schedules.page import write_page
from hudi_conformance.schedules.results import Result, load
from hudi_conformance.schedules.running import APACHE, Bounds, play_all
from hudi_conformance.schedules.scenarios import SCHEDULES, Schedule

app = typer.Typer(help="Interleavings that cover every edge of the model's graphs.", no_args_is_help=True)

ENGINE: Final = "engine-in-process"
FINE_RESULTS: Final = Path("build/schedules.json")
# A path takes Apache Hudi half a minute.
APACHE_PATHS: Final = 6
_Adapters = Annotated[list[str] | None, typer.Option("--adapter", help="A name or a command line; by default both.")]
_Names = Annotated[list[str] | None, typer.Argument(help="Schedules whose names begin so; all where none is given.")]


@app.command()
def count() -> None:
    """Say how large each graph is, and how many paths cover it."""
    for schedule in SCHEDULES.values():
        coarse, joined = coarse_graph(schedule), fine_graph(schedule, whole=False)
        told = f"coarse {coarse.count()} edges, {len(cover(coarse))} paths"
        typer.echo(f"{schedule.name}: {told}; joined {joined.count()} edges, {len(cover(joined))} paths")


@app.command("play")
def play_some(
    names: _Names = None,
    adapter: _Adapters = None,
    paths: Annotated[int | None, typer.Option(help="How many paths of each graph, those with most new edges.")] = None,
    *,
    every: Annotated[bool, typer.Option("--every", help="Compare reads after every act of every path.")] = False,
) -> None:
    """Play coarse paths through the adapter protocol: exit 1 where an answer is not the model's."""
    failed = False
    for name in adapter or ["model", ENGINE]:
        for one in play_all(_chosen(names), name, Bounds(paths, every)):
            typer.echo(line_of(one))
            failed |= bool(one.failures)
    raise typer.Exit(int(failed))


@app.command()
def draw(name: Annotated[str, typer.Argument(help="A schedule.")]) -> None:
    """Print the interleaving of a schedule that goes from process to process most often."""
    schedule = SCHEDULES[name]
    typer.echo("\n".join(lanes(schedule, most_changes(cover(fine_graph(schedule, whole=False))))))


@app.command()
def soak(
    apache: Annotated[str, typer.Option(help="The adapter of Apache Hudi.")] = f"{APACHE}-1.1.1",
    apache_paths: Annotated[int, typer.Option(help="How many paths of each graph it plays.")] = APACHE_PATHS,
    fine: Annotated[Path, typer.Option(help="What `tests/schedules/soak.py` kept.")] = FINE_RESULTS,
    page: Annotated[Path, typer.Option(help="The page that says what came of it.")] = Path("docs/schedules.md"),
) -> None:
    """Play every coarse path by the model and the engine, some by Apache Hudi, and write the page of results."""
    found: list[Result] = []
    plays = (("model", Bounds()), (ENGINE, Bounds()), (apache, Bounds(apache_paths)))
    for name, bounds in plays:
        for one in play_all(SCHEDULES.values(), name, bounds):
            typer.echo(line_of(one))
            found.append(one)
    found += load(fine)
    write_page(page, found)
    raise typer.Exit(int(any(one.failures for one in found)))


def line_of(one: Result) -> str:
    """One line, and each difference."""
    line = f"{one.schedule} ({one.grain}, {one.player}): {one.played} of {one.edges} edges, {one.paths} paths"
    return "\n".join((f"{line}, {len(one.failures)} differ", *one.failures[:5]))


def _chosen(names: list[str] | None) -> list[Schedule]:
    return [one for one in SCHEDULES.values() if not names or any(one.name.startswith(name) for name in names)]
