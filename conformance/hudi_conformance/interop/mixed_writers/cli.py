# ruff: noqa: PLR0917 - an option is a parameter
"""`hudi-conformance mixed-writers`: the engine and Apache Hudi take turns writing one table."""

from pathlib import Path
from typing import Annotated

import typer

from hudi_conformance.interop.fuzzing.seeds import case_of_seed
from hudi_conformance.interop.mixed_writers.cases import MixedRun, mixed_runs
from hudi_conformance.interop.mixed_writers.checking import Result, Table, check, played_once
from hudi_conformance.interop.mixed_writers.page import write_page
from hudi_conformance.runner.resources import suite_root

app = typer.Typer(help="Two writers take turns on one table; both read equal rows.", no_args_is_help=True)

# The older release takes part in a third of the sequences, with tables of version 6.
PEERS = ("1.1.1", "1.1.1", "0.15.0")
SOAK_SEEDS = 50

_Engine = Annotated[str, typer.Option(help="The adapter that takes turns with Apache Hudi: a name or a command line.")]
_Peer = Annotated[list[str] | None, typer.Option(help="A release of Apache Hudi.")]
_Referee = Annotated[str | None, typer.Option(help="An adapter that does every step on a table of its own.")]
_Attempts = Annotated[int, typer.Option(help="How many smaller sequences are tried of a failing one.")]
_ENGINE = "engine-in-process"


@app.command("check")
def check_seeds(
    engine: _Engine = _ENGINE,
    peer: _Peer = None,
    referee: _Referee = None,
    seed: Annotated[int, typer.Option(help="The first seed.")] = 0,
    count: Annotated[int, typer.Option(help="How many seeds.")] = 4,
    seconds: Annotated[float, typer.Option(help="When to begin no further sequence.")] = 3600.0,
    attempts: _Attempts = 60,
    save: Annotated[Path | None, typer.Option(help="Folder for failing sequences.")] = None,
) -> None:
    """Draw sequences of turns and play them: exit 1 where readers disagree or a writer fails."""
    found = _checked(engine, tuple(peer or PEERS), referee, range(seed, seed + count), seconds, attempts, save)
    raise typer.Exit(int(any(one.failure for one in found)))


@app.command()
def soak(
    engine: _Engine = _ENGINE,
    peer: _Peer = None,
    referee: _Referee = None,
    count: Annotated[int, typer.Option(help="How many seeds.")] = SOAK_SEEDS,
    attempts: _Attempts = 60,
    page: Annotated[Path, typer.Option(help="The page that says what came of it.")] = Path(
        "build/pages/mixed-writers.md"
    ),
) -> None:
    """Run many seeds and write the page of results."""
    found = _checked(engine, tuple(peer or PEERS), referee, range(count), 6 * 3600.0, attempts, None)
    write_page(page, found)
    raise typer.Exit(int(any(one.failure for one in found)))


@app.command()
def repeat(
    case: Annotated[Path, typer.Argument(help="A sequence that `check` reported.")],
    engine: _Engine = _ENGINE,
    referee: _Referee = None,
) -> None:
    """Run one sequence again: exit 1 where it fails."""
    given = MixedRun.from_json(case.read_text(encoding="utf-8"))
    with Table(engine, suite_root(), referee) as table:
        played = played_once(given, table.adapters(given.peer))
    typer.echo(str(played.failure or f"{played.rounds} turns, {played.agreed} answers agree"))
    for feature in played.unsupported:
        typer.echo(f"unsupported: {feature}")
    raise typer.Exit(int(played.failure is not None))


@app.command("draw")
def show(seed: Annotated[int, typer.Argument(help="Any number.")], peer: _Peer = None) -> None:
    """Print the sequence of a seed."""
    typer.echo(case_of_seed(mixed_runs(tuple(peer or PEERS)), seed).to_json())


def _checked(
    engine: str,
    peers: tuple[str, ...],
    referee: str | None,
    seeds: range,
    seconds: float,
    attempts: int,
    save: Path | None,
) -> list[Result]:
    found = []
    with Table(engine, suite_root(), referee) as table:
        for one in check(mixed_runs(peers), seeds, table, seconds=seconds, attempts=attempts):
            typer.echo(one.describe())
            found.append(one)
            if one.small is not None and save is not None:
                save.mkdir(parents=True, exist_ok=True)
                (save / f"seed-{one.seed}.json").write_text(one.small.to_json(), encoding="utf-8")
    return found
