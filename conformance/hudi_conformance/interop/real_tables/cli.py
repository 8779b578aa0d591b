"""`hudi-conformance real`: let Apache Hudi write tables, ask it and the adapters the same, compare."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from hudi_conformance.corpus.recipes_apache.catalogue import Recipe
from hudi_conformance.interop.real_tables.building import build as build_tables
from hudi_conformance.interop.real_tables.cache import is_answered
from hudi_conformance.interop.real_tables.catalogue import recipes
from hudi_conformance.interop.real_tables.checking import check_lines
from hudi_conformance.interop.real_tables.comparing import BAD, Compared, Verdict, compare
from hudi_conformance.interop.real_tables.known import load_known
from hudi_conformance.interop.real_tables.page import PAGE, real_tables_page
from hudi_conformance.interop.real_tables.results import load_results, save_results
from hudi_conformance.interop.real_tables.sampling import sample_of
from hudi_conformance.runner.adapters_config import find_adapter
from hudi_conformance.runner.console import Bars, console
from hudi_conformance.runner.identifiers import known_word
from hudi_conformance.runner.plain_text import counted
from hudi_conformance.runner.recorded_results import write_results_page
from hudi_conformance.runner.resources import CorpusError, suite_root

app = typer.Typer(help="Tables that Apache Hudi's releases write on demand, compared with its reader.")
CHECKER = "engine-in-process"
ADAPTERS = ("engine-in-process", "hudi-rs")

_Wanted = Annotated[list[str] | None, typer.Argument(help="Ids, their beginnings or globs; all when none is named.")]
_Adapters = Annotated[list[str] | None, typer.Option("--adapter", "-a", help="A name or a command line.")]
_Bundle = Annotated[str | None, typer.Option(help="Only tables that this release writes.")]


@app.command(name="list")
def list_recipes(wanted: _Wanted = None, bundle: _Bundle = None) -> None:
    """List the tables: whether they are built, and what they show."""
    for made in _chosen(wanted, bundle):
        typer.echo(f"{'built' if is_answered(made) else '-':6}{made.id}  {' '.join(made.features)}")


@app.command()
def build(
    wanted: _Wanted = None,
    bundle: _Bundle = None,
    minutes: Annotated[float, typer.Option(help="Begin no table after so long.")] = 24.0 * 60,
    *,
    again: Annotated[bool, typer.Option("--again", help="Also what is there already.")] = False,
) -> None:
    """Write the tables that are not there as their recipes say now, and let Apache Hudi answer for them."""
    raise typer.Exit(build_tables(_chosen(wanted, bundle), again=again, minutes=minutes))


@app.command(name="compare")
def compare_tables(
    wanted: _Wanted = None,
    bundle: _Bundle = None,
    adapter: _Adapters = None,
    shown: Annotated[int, typer.Option(help="How many lines of a difference are shown.")] = 4,
    *,
    record: Annotated[
        bool, typer.Option("--record", help="Keep the results, and write build/pages/real-tables.md.")
    ] = False,
) -> None:
    """Ask the adapters what Apache Hudi was asked: exit 0 when nothing but known differences is found."""
    chosen = _chosen(wanted, bundle)
    compared = _compared(chosen, adapter or ADAPTERS, shown)
    if record:
        root = suite_root()
        save_results(root, compared)
        write_results_page(root, PAGE, real_tables_page(root))
    raise typer.Exit(_code(chosen, compared))


@app.command()
def sample(
    number: Annotated[int, typer.Option(help="Which sample: every table is in one.")] = 1,
    count: Annotated[int, typer.Option(help="How many tables.")] = 4,
    adapter: _Adapters = None,
) -> None:
    """Build, compare and check a few tables of one release, of those in the last whole comparison."""
    for name in adapter or ():
        find_adapter(name, suite_root())
    recorded = load_results(suite_root())
    chosen = sample_of([made for made in recipes() if made.id in recorded], number, count)
    built = build_tables(chosen)
    code = _code(chosen, _compared(chosen, adapter or ADAPTERS, 4))
    differences = _checked(chosen, CHECKER)[1]
    raise typer.Exit(built or code or int(differences > 0))


@app.command()
def check(
    wanted: _Wanted = None,
    bundle: _Bundle = None,
    adapter: Annotated[str, typer.Option("--adapter", "-a", help="Who checks beside the model.")] = CHECKER,
) -> None:
    """Check the tables that are built, rows and indexes too: exit 0 when no error is found, and the model agrees."""
    raise typer.Exit(int(any(_checked(_chosen(wanted, bundle), adapter))))


def _checked(chosen: Sequence[Recipe], adapter: str) -> tuple[int, int]:
    """How many errors the checks find, and how many differences between them."""
    root, out, found = suite_root(), console(), Counter[bool]()
    for line in check_lines(chosen, find_adapter(adapter, root), load_known(root)):
        out.print(line.text, markup=False)
        found[line.is_difference] += 1
    built = sum(map(is_answered, chosen))
    counts = f"{counted(found[False], 'error')}, {counted(found[True], 'difference')} from the model"
    out.print(f"{built} of {len(chosen)} tables are built, {counts}", markup=False)
    return found[False], found[True]


def _compared(chosen: Sequence[Recipe], adapters: Sequence[str], shown: int) -> list[Compared]:
    root, out = suite_root(), console()
    built = [made for made in chosen if is_answered(made)]
    if len(built) < len(chosen):
        out.print(f"{len(chosen) - len(built)} of {len(chosen)} tables are not built as their recipes say now")
    known = load_known(root)
    compared: list[Compared] = []
    for name in adapters:
        config = find_adapter(name, root)
        with Bars(out) as progress:
            task = progress.add_task(config.name, total=len(built))
            for one in compare(built, config, known, lambda: progress.advance(task)):  # noqa: B023  used at once
                compared.append(one)
                _print(one, out, shown)
    out.print(_summary(compared))
    return compared


def _code(chosen: Sequence[Recipe], compared: Sequence[Compared]) -> int:
    whole = all(is_answered(made) for made in chosen)
    return int(not whole or any(one.verdict in BAD for one in compared))


def _chosen(wanted: Sequence[str] | None, bundle: str | None) -> tuple[Recipe, ...]:
    chosen = recipes(wanted or (), bundle)
    if bundle is not None:
        known_word("release", bundle, {made.bundle for made in recipes()})
    for text in wanted or ():
        if not recipes((text,)):
            known_word("table", text, {made.id for made in recipes()})
    if not chosen:
        raise CorpusError(f"release {bundle} writes none of these tables")
    return chosen


def _print(one: Compared, out: Console, shown: int) -> None:
    if one.verdict not in BAD:
        return
    lines = [f"{one.adapter}: {one.verdict}: {one.id}  {one.question['op']} {dict(one.question['params'])}"]
    lines += [f"    {text[:400]}" for text in one.details[:shown]]
    if len(one.details) > shown:
        lines.append(f"    ... {len(one.details) - shown} more")
    out.print("\n".join(lines), markup=False)


def _summary(compared: Iterable[Compared]) -> Table:
    counts = Counter((one.adapter, one.verdict) for one in compared)
    table = Table(title="questions about real tables", title_justify="left")
    for head in ("adapter", *Verdict):
        table.add_column(head)
    for adapter in dict.fromkeys(name for name, _ in counts):
        table.add_row(adapter, *(str(counts[adapter, verdict]) for verdict in Verdict))
    return table
