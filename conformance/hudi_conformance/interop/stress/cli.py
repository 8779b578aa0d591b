# ruff: noqa: PLR0917 - an option is a parameter
"""`hudi-conformance stress`: processes write, keep and read one table at once, and some are killed."""

import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from hudi_conformance.interop.stress.locks import PROVIDERS
from hudi_conformance.interop.stress.page import write_page
from hudi_conformance.interop.stress.rereading import Reader, readers_named, reread
from hudi_conformance.interop.stress.running import Played, run_stress
from hudi_conformance.interop.stress.settings import Setting, every_setting, soaked_settings
from hudi_conformance.runner.adapters_config import find_adapter
from hudi_conformance.runner.identifiers import known_word
from hudi_conformance.runner.resources import suite_root

app = typer.Typer(help="Real processes on one table, killed at random; every read is judged.", no_args_is_help=True)

PAGE: Final = Path("build/pages/stress.md")
READERS: Final = ("engine-in-process", "apache-hudi-1.1.1")
_Names = Annotated[list[str] | None, typer.Option(help="Names of settings; those of a soak where none is named.")]
_Adapter = Annotated[str, typer.Option(help="The adapter of every process; the engine's on the setting's executor.")]
_Lock = Annotated[list[str] | None, typer.Option(help=f"Only settings under these locks: {', '.join(PROVIDERS)}.")]
_Seconds = Annotated[float, typer.Option(help="How long each stress run runs.")]
_Seed = Annotated[int, typer.Option(help="Any number; processes still meet as they happen to.")]
_Kills = Annotated[bool, typer.Option(help="Whether processes are killed.")]
_Keep = Annotated[Path | None, typer.Option(help="A folder in which tables and traces stay.")]
_Readers = Annotated[list[str] | None, typer.Option("--reader", help="Adapters that read the tables at the end.")]


@dataclass(frozen=True, slots=True)
class Run:
    """How stress runs are played: `adapter` is empty where each setting chooses its own."""

    adapter: str
    seconds: float
    seed: int
    kills: bool
    keep: Path | None
    readers: tuple[str, ...]
    page: Path | None

    def command(self, setting: Setting) -> tuple[str, ...]:
        """What starts a process."""
        return find_adapter(self.adapter or f"engine-{setting.executor}", suite_root()).command


@app.command("run")
def run_some(
    setting: _Names = None,
    lock: _Lock = None,
    adapter: _Adapter = "",
    seconds: _Seconds = 10.0,
    seed: _Seed = 0,
    kills: _Kills = True,
    keep: _Keep = None,
    reader: _Readers = None,
    page: Annotated[Path | None, typer.Option(help="Write the results to this page.")] = None,
) -> None:
    """Run stress runs: exit 1 where one is wrong."""
    run = Run(adapter, seconds, seed, kills, keep, tuple(reader or ()), page)
    _run_chosen(_chosen(setting, lock), run)


@app.command()
def soak(
    seconds: _Seconds = 120.0,
    seed: _Seed = 0,
    keep: _Keep = None,
    page: Annotated[Path, typer.Option(help="The page of results.")] = PAGE,
) -> None:
    """Run the whole matrix, every lock provider and Spark; Apache Hudi reads every table at the end."""
    _run_chosen(soaked_settings(), Run("", seconds, seed, kills=True, keep=keep, readers=READERS, page=page))


@app.command()
def settings(lock: _Lock = None) -> None:
    """The names of the settings."""
    for one in every_setting().values():
        if not lock or one.lock in lock:
            typer.echo(one.name)


def _chosen(names: Sequence[str] | None, locks: Sequence[str] | None) -> tuple[Setting, ...]:
    known = every_setting()
    for name in names or ():
        known_word("setting", name, known)
    for name in locks or ():
        known_word("provider of locks", name, PROVIDERS)
    found = tuple(known[name] for name in names) if names else soaked_settings()
    return tuple(one for one in found if not locks or one.lock in locks)


def _run_chosen(chosen: Sequence[Setting], run: Run) -> None:
    """Run each, with the page written after each; ends the program, with 1 where one is wrong."""
    found: list[Played] = []
    with tempfile.TemporaryDirectory(prefix="hudi-readers-") as logs, readers_named(run.readers, Path(logs)) as readers:
        for one in _each(chosen, run, readers):
            found.append(one)
            if run.page is not None:
                write_page(run.page, found, len(chosen), run.readers)
    raise typer.Exit(int(any(one.verdict.wrong for one in found)))


def _each(chosen: Sequence[Setting], run: Run, readers: Sequence[Reader]) -> Iterator[Played]:
    """Each stress run as it is over; what goes on is reported on the way."""
    started = time.monotonic()
    for number, setting in enumerate(chosen):
        spent = time.monotonic() - started
        left = (spent / number if number else run.seconds + 15) * (len(chosen) - number) / 60
        progress = (
            f"[{number + 1}/{len(chosen)}] {setting.name}, {run.seconds:.0f} s; about {left:.0f} minutes are left"
        )
        typer.echo(progress, err=True)
        played = _played(setting, run, readers)
        typer.echo(played.describe())
        yield played


def _played(setting: Setting, run: Run, readers: Sequence[Reader]) -> Played:
    """One stress run in a folder that goes when all is well."""
    folder = Path(tempfile.mkdtemp(prefix=f"hudi-history-{setting.name}-", dir=run.keep))
    played = run_stress(setting, run.command(setting), folder, run.seconds, run.seed, kills=run.kills)
    played = reread(played, readers)
    if played.verdict.wrong:
        typer.echo(f"left in {folder}", err=True)
    elif run.keep is None:
        shutil.rmtree(folder, ignore_errors=True)
    return played
