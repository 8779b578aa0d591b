"""`hudi-conformance mutants`: the model with one rule broken, and the cases that notice."""

from pathlib import Path
from typing import Annotated

import typer

from hudi_conformance.corpus.mutants import MUTANTS
from hudi_conformance.runner.cases import matches_id, short_id
from hudi_conformance.runner.console import Bars, console
from hudi_conformance.runner.identifiers import known_word
from hudi_conformance.verification.mutation_matrix.columns import every_case, killed_by
from hudi_conformance.verification.mutation_matrix.matrix import keep, run_matrix
from hudi_conformance.verification.mutation_matrix.page import write_page

app = typer.Typer(help="The model with one rule broken, and the cases that notice.", no_args_is_help=True)
_HERE = Path()


@app.command(name="list")
def list_mutants() -> None:
    """Every mutant with its clauses and what it does."""
    for mutant in MUTANTS.values():
        typer.echo(f"{mutant.name}  {','.join(mutant.clauses)}  {mutant.sentence}")


@app.command()
def row(name: Annotated[str, typer.Argument(help="A mutant.")]) -> None:
    """Put every case to one mutant: exit 1 where none of them fails it."""
    known_word("mutant", name, MUTANTS)
    cases, killers = every_case(_HERE), 0
    with Bars(console()) as progress:
        for case in progress.track(cases, description=name):
            if killed_by(case, [MUTANTS[name]]):
                killers += 1
                progress.console.print(case.id, markup=False, highlight=False)
    typer.echo(f"{killers} of {len(cases)} cases kill {name}")
    raise typer.Exit(0 if killers else 1)


@app.command()
def column(case: Annotated[str, typer.Argument(help="The id of a case, or a glob.")]) -> None:
    """Put every mutant to some cases: which of them each case distinguishes from the model."""
    found = [one for one in every_case(_HERE) if matches_id(one.id, case)]
    if not found:
        known_word("case", case, (short_id(one.id) for one in every_case(_HERE)))
    for one in found:
        typer.echo(f"{one.id}  {' '.join(killed_by(one))}")


@app.command()
def matrix(
    *,
    whole: Annotated[
        bool, typer.Option("--whole", help="Cases that write against every mutant, too: it takes hours.")
    ] = False,
) -> None:
    """Run the cases against the mutants, keep up to three cases for each, and write build/pages/mutants.md."""
    with Bars(console()) as progress:
        bar = progress.add_task("cases", total=len(every_case(_HERE)))
        played = run_matrix(_HERE, whole=whole, advance=lambda: progress.advance(bar))
    keep(played, _HERE)
    lost = [one.mutant for one in played.rows if one.survives]
    typer.echo(f"{len(played.rows)} mutants, {played.cases} cases; killed by nothing: {', '.join(lost) or 'none'}")
    typer.echo(f"wrote {write_page(_HERE)}")
    raise typer.Exit(1 if lost else 0)


@app.command()
def page() -> None:
    """Write build/pages/mutants.md again from the record of the last matrix."""
    typer.echo(f"wrote {write_page(_HERE)}")
