"""`hudi-conformance golden`: rebuild the corpus, or see whether it stands as built."""

from pathlib import Path
from typing import Annotated

import typer

from hudi_conformance.case_values import WRITING
from hudi_conformance.golden.building import build as build_tables
from hudi_conformance.golden.cases import GoldenError
from hudi_conformance.golden.checking import check as check_tables
from hudi_conformance.resources import WRITING_CASES
from hudi_conformance.writing.building import build as build_writing_cases

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
) -> None:
    """Rebuild model-written tables, the cases, manifests and index of all tables, and the cases that write."""
    report = typer.echo if verbose else lambda _: None
    named = tables or []
    writing = [one.removeprefix(f"{WRITING}/") for one in named if one.startswith(f"{WRITING}/")]
    golden = [one for one in named if not one.startswith(f"{WRITING}/")]
    try:
        if golden or not named:
            built = build_tables(root, golden, report)
            typer.echo(f"{len(built)} tables, {sum(len(table.cases) for table in built)} cases")
        if writing or not named:
            cases = build_writing_cases(root.parent, root.parent / WRITING_CASES, writing, report)
            typer.echo(f"{len(cases)} cases that write")
    except GoldenError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from error


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
