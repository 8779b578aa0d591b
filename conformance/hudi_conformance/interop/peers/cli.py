"""`hudi-conformance peers`: ask the other implementations again, look at their record, let Apache Hudi write tables."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hudi_conformance.apache.bundles import BundleUnavailableError, bundle_jar, bundles
from hudi_conformance.apache.dynamodb_local import dynamodb_local
from hudi_conformance.interop.peers.page import peers_page
from hudi_conformance.interop.peers.recorded import by_subject, contradictions, load_record, stale_tables
from hudi_conformance.interop.peers.running import PEERS, PeerRun, peers_required, relist, run_peer
from hudi_conformance.runner.cases import load_cases
from hudi_conformance.runner.console import console
from hudi_conformance.runner.identifiers import known_word
from hudi_conformance.runner.recorded_results import write_results_page
from hudi_conformance.runner.resources import suite_root

app = typer.Typer(help="Other implementations: ask them again, check what they answered, let them write tables.")

_Adapter = Annotated[list[str] | None, typer.Option("--adapter", "-a", help="Only this peer.")]


@app.callback(invoke_without_command=True)
def changed(context: typer.Context) -> None:
    """Without a command: ask about what changed and about a rotating sample, and write build/pages/peers.md."""
    if context.invoked_subcommand is None:
        _finish([run_peer(suite_root(), name, console()) for name in PEERS])


@app.command("run")
def run_peers(
    tables: Annotated[
        list[str] | None, typer.Argument(help="Tables, or cases that write; all tables when none is named.")
    ] = None,
    adapter: _Adapter = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only what changed, or was answered wrongly and not expected to be.")
    ] = False,
) -> None:
    """Ask about these tables and cases, about what changed, or about all tables."""
    root = suite_root()
    cases = load_cases(root)
    for name in adapter or ():
        known_word("peer", name, PEERS)
    for name in tables or ():
        known_word("table or case that writes", name, by_subject(cases).keys())
    runs = []
    for name in adapter or PEERS:
        chosen = tables or (None if changed else sorted(by_subject(case for case in cases if not case.writes)))
        runs.append(run_peer(root, name, console(), chosen, sample=0))
    _finish(runs)


@app.command()
def check() -> None:
    """Tell, without asking anyone, what of the record is stale or contradicts the corpus."""
    root = suite_root()
    cases = load_cases(root)
    stale = [f"{name}: stale {table}" for name in PEERS for table in stale_tables(load_record(root, name), cases)]
    stale += [f"{name}: {text}" for name in PEERS for text in contradictions(load_record(root, name))]
    for line in stale:
        typer.echo(line, err=True)
    raise typer.Exit(bool(stale))


@app.command()
def page() -> None:
    """Hold the record against the lists of expected failures, and write build/pages/peers.md, without asking anyone."""
    root = suite_root()
    for name in PEERS:
        relist(root, name)
    _write_page(root)


@app.command()
def fetch() -> None:
    """Fetch everything that peers.toml names into the cache."""
    for version in bundles():
        typer.echo(_name(partial(bundle_jar, version)))
    typer.echo(_name(dynamodb_local))


@app.command()
def write_tables(
    into: Annotated[Path, typer.Argument(help="Folder to write below; a table that is there is left alone.")],
    tables: Annotated[list[str] | None, typer.Argument(help="Ids of tables; all when none is named.")] = None,
) -> None:
    """Run the recipes: one process for each bundle, since a JVM holds one bundle."""
    for version in bundles():
        _name(partial(bundle_jar, version))
        module = "hudi_conformance.corpus.recipes_apache.runner"
        command = [sys.executable, "-m", module, version, str(into), *(tables or [])]
        if subprocess.run(command, check=False).returncode != 0:
            raise typer.Exit(1)


def _finish(runs: list[PeerRun]) -> None:
    for one in runs:
        if one.missing:
            word = "error" if peers_required() else "not run"
            typer.echo(f"{word}: {one.adapter}: {one.missing}", err=True)
        else:
            typer.echo(f"{one.adapter}: {len(one.tables)} tables and writing cases run")
    _write_page(suite_root())
    raise typer.Exit(max(one.code for one in runs))


def _write_page(root: Path) -> None:
    write_results_page(root, "peers.md", peers_page(root))


def _name(fetched: Callable[[], Path]) -> str:
    try:
        return fetched().name
    except BundleUnavailableError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
