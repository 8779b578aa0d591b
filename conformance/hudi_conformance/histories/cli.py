# ruff: noqa: PLR0917 - an option is a parameter
"""`hudi-conformance histories`: processes write, keep and read one table at once, and some are killed."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from hudi_conformance.adapters_config import find_adapter
from hudi_conformance.histories.page import write_page
from hudi_conformance.histories.playing import Played, play
from hudi_conformance.histories.settings import LOCKS, Setting, settings_for
from hudi_conformance.resources import suite_root

app = typer.Typer(help="Real processes on one table, killed at random; every read is judged.", no_args_is_help=True)

_Adapter = Annotated[str, typer.Option(help="The adapter of every process: a name or a command line.")]
_Lock = Annotated[list[str] | None, typer.Option(help=f"How processes lock the table: {', '.join(LOCKS)}.")]
_Seconds = Annotated[float, typer.Option(help="How long each history runs.")]
_Seed = Annotated[int, typer.Option(help="Any number; processes still meet as they happen to.")]
_Kills = Annotated[bool, typer.Option(help="Whether processes are killed.")]
_ENGINE = "engine-in-process"


@app.command("play")
def play_some(
    adapter: _Adapter = _ENGINE,
    setting: Annotated[list[str] | None, typer.Option(help="Names of settings; all where none is named.")] = None,
    lock: _Lock = None,
    seconds: _Seconds = 10.0,
    seed: _Seed = 0,
    kills: _Kills = True,
    keep: Annotated[Path | None, typer.Option(help="A folder in which tables and traces stay.")] = None,
    page: Annotated[Path | None, typer.Option(help="Write the results to this page.")] = None,
) -> None:
    """Play histories: exit 1 where one is wrong."""
    found: list[Played] = []
    chosen = [one for one in _settings(lock) if not setting or one.name in setting]
    if not chosen:
        known = ", ".join(one.name for one in _settings(lock))
        raise typer.BadParameter(f"no such setting; there are {known}")
    for number, one in enumerate(chosen, start=1):
        typer.echo(f"[{number}/{len(chosen)}] {one.name}, {seconds:.0f} s", err=True)
        found.append(_played(one, adapter, seconds, seed, kills=kills, keep=keep))
        typer.echo(found[-1].told())
    if page is not None:
        write_page(page, found, seconds)
    raise typer.Exit(int(any(one.judgement.wrong for one in found)))


@app.command()
def settings(lock: _Lock = None) -> None:
    """The names of the settings."""
    for one in _settings(lock):
        typer.echo(one.name)


def _settings(locks: list[str] | None) -> Iterator[Setting]:
    for name in locks or LOCKS:
        if name not in LOCKS:
            raise typer.BadParameter(f"{name} is none of {', '.join(LOCKS)}")
        yield from settings_for(name, LOCKS[name])


def _played(setting: Setting, adapter: str, seconds: float, seed: int, *, kills: bool, keep: Path | None) -> Played:
    """One history in a folder that goes when all is well."""
    folder = Path(tempfile.mkdtemp(prefix=f"hudi-history-{setting.name}-", dir=keep))
    command = find_adapter(adapter, suite_root()).command
    played = play(setting, command, folder, seconds, seed, kills=kills)
    if keep is None and not played.judgement.wrong:
        shutil.rmtree(folder, ignore_errors=True)
    elif played.judgement.wrong:
        typer.echo(f"left in {folder}", err=True)
    return played
