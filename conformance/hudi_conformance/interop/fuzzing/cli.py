# ruff: noqa: PLR0917 - an option is a parameter
"""`hudi-conformance writes check` and `repeat`: random sequences of writes put to two adapters."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from hudi_conformance.corpus.table_shapes import WriteCase
from hudi_conformance.interop.fuzzing.array import array_rows, every_row
from hudi_conformance.interop.fuzzing.checking import Found, Summary, check_cases, played_once, two_sides
from hudi_conformance.interop.fuzzing.drawing import Limits, write_cases
from hudi_conformance.interop.fuzzing.playing import Options
from hudi_conformance.interop.fuzzing.reading_back import differs, played_by, told_line, told_of
from hudi_conformance.interop.fuzzing.recorded import add_results
from hudi_conformance.interop.fuzzing.seeds import case_of_seed
from hudi_conformance.interop.writers_and_readers.matrix import play_writer, sampled_for
from hudi_conformance.interop.writers_and_readers.page import matrix_table, write_page
from hudi_conformance.interop.writers_and_readers.record import add_writer, recorded, relist, said
from hudi_conformance.runner.cases import Case, Selection, load_cases
from hudi_conformance.runner.resources import suite_root
from hudi_conformance.runner.verdicts import BAD

app = typer.Typer(help="Random sequences of writes, put to two adapters.", no_args_is_help=True)
_Model = Annotated[str, typer.Option(help="The adapter whose answers count.")]
_Subject = Annotated[str, typer.Option(help="The adapter that is checked: a name, or a command line.")]
_Loose = Annotated[bool, typer.Option("--loose", help="Any reason will do, and a column without values is none.")]
_Check = Annotated[bool, typer.Option(help="Let the model check the subject's tables, too.")]


@app.command()
def check(
    subject: _Subject,
    model: _Model = "model",
    seed: Annotated[int, typer.Option(help="The first seed.")] = 0,
    count: Annotated[int, typer.Option(help="How many seeds.")] = 1_000_000,
    seconds: Annotated[float, typer.Option(help="When to begin no further case.")] = 60.0,
    attempts: Annotated[int, typer.Option(help="How many smaller cases are tried of a failing one.")] = 500,
    stop_after: Annotated[int, typer.Option(help="How many failing cases are enough.")] = 5,
    version: Annotated[list[int] | None, typer.Option(help="Only these table versions.")] = None,
    *,
    loose: _Loose = False,
    checked: _Check = True,
    refusals: Annotated[bool, typer.Option(help="Draw writes that are refused, too.")] = True,
    no_metadata: Annotated[bool, typer.Option("--no-metadata-table", help="Never a metadata table.")] = False,
    plain: Annotated[bool, typer.Option("--plain", help="No change feed, no empty meta fields.")] = False,
    services: Annotated[bool, typer.Option("--services", help="Draw table services, too.")] = False,
    save: Annotated[Path | None, typer.Option(help="Folder for failing cases.")] = None,
) -> None:
    """Draw cases and compare: exit 1 where two answers differ."""
    limits = Limits(
        versions=tuple(version or (6, 8, 9)),
        metadata_table=not no_metadata,
        refusals=refusals,
        change_feed=not plain,
        no_meta_fields=not plain,
        services=services,
    )
    options = Options(strict=not loose)
    cases, seeds = write_cases(limits), range(seed, seed + count)
    with two_sides(model, subject, suite_root(), check=checked) as sides:
        told = check_cases(cases, seeds, sides, options, seconds=seconds, attempts=attempts, stop_after=stop_after)
        differ = _print(told, model, subject, save)
    raise typer.Exit(int(differ))


def _print(told: Iterator[Found | Summary], model: str, subject: str, save: Path | None) -> bool:
    differ = False
    for one in told:
        if isinstance(one, Summary):
            typer.echo(str(one))
            continue
        differ = True
        typer.echo(one.told(model, subject))
        if save is not None:
            save.mkdir(parents=True, exist_ok=True)
            (save / f"{one.name}.json").write_text(one.case.to_json(), encoding="utf-8")
    return differ


@app.command()
def repeat(
    case: Annotated[Path, typer.Argument(help="A case that `check` told.")],
    subject: _Subject,
    model: _Model = "model",
    keep: Annotated[Path | None, typer.Option(help="A new folder for both tables, inputs and answers.")] = None,
    *,
    loose: _Loose = False,
    checked: _Check = True,
) -> None:
    """Play one case again: exit 1 where two answers differ."""
    given = WriteCase.from_json(case.read_text(encoding="utf-8"))
    with two_sides(model, subject, suite_root(), check=checked) as sides:
        played = played_once(given, sides, Options(strict=not loose), keep)
    typer.echo(str(played.failure or f"{played.asked} answers alike, {played.refused} refusals"))
    for feature in played.unsupported:
        typer.echo(f"unsupported: {feature}")
    raise typer.Exit(int(played.failure is not None))


@app.command()
def draw(seed: Annotated[int, typer.Argument(help="Any number.")]) -> None:
    """Print the case of a seed."""
    typer.echo(case_of_seed(write_cases(), seed).to_json())


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
    with played_by("model", writer, reader or [], continuing or [], suite_root()) as cast:
        for one in chosen:
            if time.monotonic() > until:
                break
            with tempfile.TemporaryDirectory(prefix="hudi-array-") as folder:
                found.append(told_of(one, cast, Path(folder)))
            typer.echo(told_line(found[-1]))
    if record:
        add_results(suite_root(), found)
    raise typer.Exit(int(any(differs(one) for one in found)))


@app.command()
def matrix(
    writer: Annotated[list[str] | None, typer.Option(help="Who writes: names, or command lines.")] = None,
    reader: Annotated[list[str] | None, typer.Option(help="Who reads back; the model unless told.")] = None,
    case: Annotated[list[str] | None, typer.Option(help="Only cases whose id fits this glob.")] = None,
    limit: Annotated[float, typer.Option(help="Seconds an adapter has for one step.")] = 150.0,
    *,
    sampled: Annotated[
        bool, typer.Option("--sample", help="One case of each step and kind of table, and what is listed.")
    ] = False,
    record: Annotated[bool, typer.Option("--record", help="Write the results and their page down.")] = False,
) -> None:
    """Play the cases that write with every writer and let every reader read them: exit 1 where an answer is wrong.

    Without a writer nobody is asked: what was recorded is held against the lists, and the page written from it.
    """
    root = suite_root()
    cases = [one for one in load_cases(root, Selection(cases=tuple(case or ()))) if one.writes]
    if not cases:
        typer.echo("error: no case is selected", err=True)
        raise typer.Exit(2)
    asked = {name: sampled_for(name, cases, root) if sampled else cases for name in writer or []}
    wrong = [_asked_of(name, reader or [], asked[name], limit, record=record) for name in asked]
    if not writer:
        relist(root)
    if record or not writer:
        write_page(root)
    raise typer.Exit(int(any(wrong)))


def _asked_of(writer: str, readers: list[str], cases: Sequence[Case], limit: float, *, record: bool) -> bool:
    """One writer's cases, told as they come; whether an answer was wrong."""
    root, played = suite_root(), None
    for played in play_writer(writer, readers, cases, root, limit):
        case, outcomes = played.cases[-1]
        for column, outcome in outcomes.items():
            if outcome.verdict in BAD:
                typer.echo(f"{writer}, {column}: {case.id}: {outcome.verdict} {said(outcome)}")
    if played is None:
        return False
    typer.echo("\n".join(matrix_table([recorded(played)])))
    if record:
        add_writer(root, played)
    return bool(recorded(played).bad)
