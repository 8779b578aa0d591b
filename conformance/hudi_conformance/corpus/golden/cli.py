"""`hudi-conformance golden`: rebuild the corpus, see whether it stands as built, unpack and compare tables."""

from pathlib import Path
from typing import Annotated

import typer

from hudi_conformance.corpus.golden.building import build as build_tables
from hudi_conformance.corpus.golden.cases import GoldenError
from hudi_conformance.corpus.golden.checking import check as check_tables
from hudi_conformance.corpus.golden.diffing import diff
from hudi_conformance.corpus.writing.building import build as build_writing_cases
from hudi_conformance.runner.archive import folder_of, golden_ids, unpack
from hudi_conformance.runner.case_values import WRITING
from hudi_conformance.runner.identifiers import known_word
from hudi_conformance.runner.processes import Shard
from hudi_conformance.runner.resources import WRITING_CASES, CorpusError

app = typer.Typer(help="Golden tables: build them from their recipes, check what stands on disk.", no_args_is_help=True)

_Root = Annotated[Path, typer.Option("--root", help="The folder of the golden tables.")]


@app.command()
def build(
    tables: Annotated[
        list[str] | None, typer.Argument(help="Ids of tables, or globs writing/AREA/NAME; all when none is named.")
    ] = None,
    root: _Root = Path("golden_tables"),
    *,
    verbose: Annotated[bool, typer.Option("--kills", help="Print which mutants each case kills.")] = False,
    shard: Annotated[
        str,
        typer.Option(
            metavar="K/N",
            help="Of the cases that write, put those of unchanged files to their mutants by the K-th part in N only.",
        ),
    ] = "1/1",
) -> None:
    """Rebuild model-written tables, the cases and index of all tables, and the cases that write."""
    report = typer.echo if verbose else lambda _: None
    named = tables or []
    writing = [one.removeprefix(f"{WRITING}/") for one in named if one.startswith(f"{WRITING}/")]
    golden = [one for one in named if not one.startswith(f"{WRITING}/")]
    try:
        part = Shard.of(shard)
    except ValueError as error:
        typer.echo(f"error: --shard {error}", err=True)
        raise typer.Exit(2) from error
    try:
        if golden or not named:
            built = build_tables(root, golden, report)
            if not built:
                known_word("golden table", golden[0], golden_ids())
            typer.echo(f"{len(built)} tables, {sum(len(table.cases) for table in built)} cases")
        if writing or not named:
            cases = build_writing_cases(root.parent, root.parent / WRITING_CASES, writing, report, part)
            typer.echo(f"{len(cases)} cases that write")
    except GoldenError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from error


@app.command("unpack")
def unpack_table(
    name: Annotated[str, typer.Argument(help="The id of a golden table, such as v9/mor_deletes.")],
    folder: Annotated[Path, typer.Argument(help="The folder to write its files to.")],
) -> None:
    """Write the files of a golden table below a folder, empty folders and modification times included."""
    try:
        typer.echo(unpack(folder_of(name), folder))
    except CorpusError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error


@app.command("diff")
def diff_tables(
    one: Annotated[str, typer.Argument(help="A golden table's id, a folder, an archive, or REVISION:ID.")],
    other: Annotated[str, typer.Argument(help="The other side, in the same form.")],
) -> None:
    """Show how two tables differ, by timeline, file slices, rows and files: exit 1 where they do."""
    try:
        found = diff(one, other)
    except CorpusError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
    for part, lines in found.items():
        typer.echo(f"{part}: {len(lines)} {'difference' if len(lines) == 1 else 'differences'}")
        typer.echo("".join(f"  {line}\n" for line in lines), nl=False)
    if found:
        raise typer.Exit(1)
    typer.echo("no difference")


@app.command()
def check(root: _Root = Path("golden_tables")) -> None:
    """Rebuild into a temporary folder and compare with what stands on disk."""
    differences = check_tables(root)
    for difference in differences:
        typer.echo(difference, err=True)
    if differences:
        raise typer.Exit(1)
    typer.echo("the corpus is what its recipes make")


if __name__ == "__main__":
    app()
