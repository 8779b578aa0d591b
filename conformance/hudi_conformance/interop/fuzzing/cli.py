# ruff: noqa: PLR0917 - an option is a parameter
"""`hudi-conformance writes`: tables that one adapter writes and others read and go on with."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from hudi_conformance.interop.fuzzing.array import array_rows, every_row
from hudi_conformance.interop.fuzzing.reading_back import describe_row, differs, played_by, run_row
from hudi_conformance.interop.fuzzing.recorded import add_results
from hudi_conformance.interop.writers_and_readers.matrix import run_writer, sampled_for
from hudi_conformance.interop.writers_and_readers.page import matrix_table, write_page
from hudi_conformance.interop.writers_and_readers.record import add_writer, message_of, recorded, relist
from hudi_conformance.runner.cases import Case, Selection, load_cases
from hudi_conformance.runner.identifiers import known_word
from hudi_conformance.runner.resources import suite_root
from hudi_conformance.runner.verdicts import BAD

app = typer.Typer(help="Tables that one implementation writes and others read.", no_args_is_help=True)
_Subject = Annotated[str, typer.Option(help="The adapter that is checked: a name, or a command line.")]


@app.command()
def array(
    writer: _Subject,
    reader: Annotated[list[str] | None, typer.Option(help="Who reads what was written.")] = None,
    continuing: Annotated[list[str] | None, typer.Option(help="Who goes on with it.")] = None,
    row: Annotated[list[str] | None, typer.Option(help="Only these rows.")] = None,
    version: Annotated[list[int] | None, typer.Option(help="Only these table versions.")] = None,
    seconds: Annotated[float, typer.Option(help="When to begin no further row.")] = 3600.0,
    *,
    whole: Annotated[
        bool, typer.Option("--whole", help="Every operation, type, version and index, not all pairs.")
    ] = False,
    record: Annotated[bool, typer.Option("--record", help="Write the results down.")] = False,
) -> None:
    """Write the tables of the array, let others read them and go on: exit 1 where an answer is not the model's."""
    rows = every_row() if whole else iter(array_rows())
    chosen = (
        one for one in rows if (not row or one.name in row) and (not version or one.case.shape.version in version)
    )
    until, found = time.monotonic() + seconds, []
    with played_by("model", writer, reader or [], continuing or [], suite_root()) as participants:
        for one in chosen:
            if time.monotonic() > until:
                break
            with tempfile.TemporaryDirectory(prefix="hudi-array-") as folder:
                found.append(run_row(one, participants, Path(folder)))
            typer.echo(describe_row(found[-1]))
    if not found:
        known_word("row", (row or ["of these versions"])[0], () if whole else (one.name for one in array_rows()))
    if record:
        add_results(suite_root(), found)
    raise typer.Exit(int(any(differs(one) for one in found)))


@app.command()
def matrix(
    writer: Annotated[list[str] | None, typer.Option(help="Who writes: names, or command lines.")] = None,
    reader: Annotated[list[str] | None, typer.Option(help="Who reads back; the model by default.")] = None,
    case: Annotated[list[str] | None, typer.Option(help="Only cases whose id fits this glob.")] = None,
    limit: Annotated[float, typer.Option(help="Seconds an adapter has for one step.")] = 150.0,
    *,
    sampled: Annotated[
        bool, typer.Option("--sample", help="One case of each step and kind of table, and what is listed.")
    ] = False,
    record: Annotated[bool, typer.Option("--record", help="Write the results and their page down.")] = False,
) -> None:
    """Run the cases that write with every writer and let every reader read them: exit 1 where an answer is wrong.

    Without a writer nobody is asked: what was recorded is held against the lists, and the page written from it.
    """
    root = suite_root()
    cases = [one for one in load_cases(root, Selection(cases=tuple(case or ()))) if one.writes]
    if not cases:
        typer.echo("error: no case is selected", err=True)
        raise typer.Exit(2)
    chosen = {name: sampled_for(name, cases, root) if sampled else cases for name in writer or []}
    wrong = [_run_writer(name, reader or [], chosen[name], limit, record=record) for name in chosen]
    if not writer:
        relist(root)
    if record or not writer:
        write_page(root)
    raise typer.Exit(int(any(wrong)))


def _run_writer(writer: str, readers: list[str], cases: Sequence[Case], limit: float, *, record: bool) -> bool:
    """One writer's cases, reported as they come; whether an answer was wrong."""
    root, played = suite_root(), None
    for played in run_writer(writer, readers, cases, root, limit):
        case, outcomes = played.cases[-1]
        for column, outcome in outcomes.items():
            if outcome.verdict in BAD:
                typer.echo(f"{writer}, {column}: {case.id}: {outcome.verdict} {message_of(outcome)}")
    if played is None:
        return False
    typer.echo("\n".join(matrix_table([recorded(played)])))
    if record:
        add_writer(root, played)
    return bool(recorded(played).bad)
