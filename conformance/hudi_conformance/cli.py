# ruff: noqa: PLC0415, PLR0917 - commands import what they need when they run; an option is a parameter
"""The command line `hudi-conformance`; heavy modules are imported inside the commands that need them."""

import importlib
import json
import sys
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path
from typing import Annotated, NoReturn, TypeVar

import typer

from hudi_conformance.adapter_templates.command import new_adapter
from hudi_conformance.command_examples import add_examples
from hudi_conformance.runner.adapters_config import AdapterConfigError, adapter_names, find_adapter
from hudi_conformance.runner.cases import Case, Selection, load_cases, matches_id, normal_id, short_id
from hudi_conformance.runner.identifiers import nearest_words
from hudi_conformance.runner.plain_text import counted
from hudi_conformance.runner.resources import CorpusError, suite_root

app = typer.Typer(
    help="The conformance suite of the Apache Hudi table format.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
Result = TypeVar("Result")

_Adapters = Annotated[list[str], typer.Option("--adapter", "-a", help="A name (adapters/NAME.toml) or a command line.")]
_Adapter = Annotated[str, typer.Option("--adapter", "-a", help="A name (adapters/NAME.toml) or a command line.")]
_Areas = Annotated[list[str] | None, typer.Option("--area", help="Only cases of this area, such as merging.")]
_Clauses = Annotated[
    list[str] | None, typer.Option("--clause", help="Only cases that cite this clause, such as TL-004.")
]
_Features = Annotated[list[str] | None, typer.Option("--feature", help="Only tables with this feature.")]
_Versions = Annotated[list[int] | None, typer.Option("--table-version", help="Only tables of this version.")]
_Cases = Annotated[list[str] | None, typer.Option("--case", help="Only cases whose id fits this glob.")]
_Servicer = Annotated[
    str | None, typer.Option(help="Who runs the table services of cases that write; the adapter itself by default.")
]
_Readers = Annotated[
    list[str] | None, typer.Option("--reader", help="Who reads back what a case has written; the model by default.")
]
_Limit = Annotated[float, typer.Option("--limit", help="Seconds an adapter has for one step.")]


def _print_version(*, wanted: bool) -> None:
    if wanted:
        typer.echo(f"hudi-conformance {metadata.version('hudi-conformance')}")
        raise typer.Exit


@app.callback()
def common(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Say which release this is.")
    ] = False,
) -> None:
    """What holds for every command."""


@app.command()
def run(
    adapter: _Adapters,
    area: _Areas = None,
    clause: _Clauses = None,
    feature: _Features = None,
    table_version: _Versions = None,
    case: _Cases = None,
    report: Annotated[Path | None, typer.Option(help="Folder for results.jsonl and index.html.")] = None,
    expected: Annotated[Path | None, typer.Option(help="File of expected failures.")] = None,
    skip: Annotated[Path | None, typer.Option(help="File of cases that are not run, with reasons.")] = None,
    junit: Annotated[Path | None, typer.Option(help="JUnit file to write.")] = None,
    summary: Annotated[Path | None, typer.Option(help="Markdown file to write, such as $GITHUB_STEP_SUMMARY.")] = None,
    badge: Annotated[
        list[Path] | None, typer.Option(help="Badge to write: an .svg, or JSON for the endpoint of shields.io.")
    ] = None,
    trend: Annotated[
        Path | None,
        typer.Option(help="results.jsonl of the last run, or its folder: say what changed; absent on a first run."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes of each adapter.", min=1)] = 1,
    servicer: _Servicer = None,
    reader: _Readers = None,
    smoke_sample: Annotated[
        list[str] | None, typer.Option(help="An adapter of the run that runs one case of each kind only.")
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(help="An area that must be answered whole: a case of it that is unsupported fails the run."),
    ] = None,
    minimum: Annotated[
        float | None,
        typer.Option(help="Percent of the answered cases that must pass; bad verdicts fail the run anyway."),
    ] = None,
    not_below: Annotated[
        Path | None,
        typer.Option(help="results.jsonl of an earlier run, or its folder: a case that passed there must pass."),
    ] = None,
    limit: _Limit = 60.0,
) -> None:
    """Put the cases to one or more adapters: exit 0 all well, 1 a bad verdict, 2 no case was carried out."""
    from hudi_conformance.runner.console import console
    from hudi_conformance.runner.scores import Requirements
    from hudi_conformance.runner.suite import SuiteOptions, run_suite
    from hudi_conformance.runner.trend import earlier_run

    out = console()
    earlier = _usable(lambda: earlier_run(trend)) if trend else None
    options = SuiteOptions(
        root=_usable(suite_root),
        adapters=tuple(adapter),
        selection=_selection(area, clause, feature, table_version, case),
        results_folder=report,
        expected=expected,
        skip=skip,
        junit=junit,
        summary=summary,
        badges=tuple(badge or ()),
        earlier=earlier,
        step_limit_s=limit,
        jobs=jobs,
        servicer=servicer,
        readers=tuple(reader or ()),
        smoke_sample=tuple(smoke_sample or ()),
        requirements=Requirements(tuple(require or ()), minimum, not_below),
    )
    code = _usable(lambda: run_suite(options, out))
    if report is not None:
        from hudi_conformance.report.html import write_report

        out.print(f"report: {write_report(report / 'results.jsonl', report, earlier=earlier)}", markup=False)
    raise typer.Exit(code)


@app.command(name="list")
def list_cases(
    area: _Areas = None,
    clause: _Clauses = None,
    feature: _Features = None,
    table_version: _Versions = None,
    case: _Cases = None,
    *,
    adapters: Annotated[bool, typer.Option("--adapters", help="List the adapters instead.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the cases: id, clauses, title."""
    from hudi_conformance.runner.selecting import select

    root = _usable(suite_root)
    if adapters:
        for name in adapter_names(root):
            typer.echo(json.dumps({"name": name}) if as_json else name)
        return
    cases = _usable(lambda: select(load_cases(root), _selection(area, clause, feature, table_version, case)))
    for one in cases:
        listed = json.dumps(_as_json(one), ensure_ascii=False)
        typer.echo(listed if as_json else f"{one.id}  {','.join(one.clauses)}  {one.title}")


def _as_json(case: Case) -> dict[str, object]:
    """A case as programs read it; one that writes has no golden table, unless it goes on with one."""
    table = case.begins_with or (None if case.writes else case.table)
    return {
        "id": case.id,
        "title": case.title,
        "area": case.area,
        "clauses": case.clauses,
        "operations": tuple(dict.fromkeys(step.op for step in case.steps)),
        "table": table.id if table else None,
        "table_version": case.table.version,
        "features": case.table.features,
        "writes": case.writes,
    }


app.command(name="new-adapter")(new_adapter)


@app.command(name="lint-adapter")
def lint_adapter(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="An adapter.toml, or a list of expected failures or skips.")
    ],
) -> None:
    """Check an adapter's files against the corpus without starting it: exit 1 and a line for each that is wrong."""
    from hudi_conformance.runner.adapter_lint import lint_files

    found = _usable(lambda: tuple(lint_files(files, suite_root())))
    for line in found:
        typer.echo(line)
    raise typer.Exit(1 if found else 0)


@app.command()
def smoke(adapter: _Adapter, limit: _Limit = 60.0) -> None:
    """Check a new adapter against the protocol; print the first violation."""
    from hudi_conformance.runner.console import console
    from hudi_conformance.runner.smoke import smoke as check

    root = _usable(suite_root)
    config = _usable(lambda: find_adapter(adapter, root))
    raise typer.Exit(check(config, console(), limit))


@app.command()
def repro(
    case: Annotated[
        str, typer.Argument(help="Id of a case, or a glob that fits exactly one; or a file that `fuzz` saved.")
    ],
    adapter: _Adapter,
    keep: Annotated[
        Path | None, typer.Option(help="Folder to keep the table's copy, the answer and the log in.")
    ] = None,
    servicer: _Servicer = None,
    reader: _Readers = None,
    limit: _Limit = 60.0,
) -> None:
    """Run one case again and show every difference."""
    from hudi_conformance.runner.adapter_pool import roles_of
    from hudi_conformance.runner.console import console
    from hudi_conformance.runner.reproducing import reproduce

    root = _usable(suite_root)
    config = _usable(lambda: find_adapter(adapter, root))
    if case.endswith(".json"):
        from hudi_conformance.interop.fuzzing.command import replay

        raise typer.Exit(_usable(lambda: replay(Path(case), config, root, console(), keep)))
    found = [one for one in _usable(lambda: load_cases(root)) if one.id == normal_id(case) or matches_id(one.id, case)]
    if len(found) != 1:
        near = "" if found else nearest_words(case, (short_id(one.id) for one in load_cases(root)))
        _refuse(f"{case!r} fits {counted(len(found), 'case')}, not one{near}")
    roles = _usable(lambda: roles_of(root, servicer, reader or ()))
    raise typer.Exit(_usable(lambda: reproduce(root, found[0], config, roles, keep=keep, limit_s=limit, out=console())))


@app.command()
def fuzz(
    adapter: _Adapter,
    histories: Annotated[int, typer.Option(help="How many histories.")] = 100,
    minutes: Annotated[float | None, typer.Option(help="When to begin no further history.")] = None,
    seed: Annotated[int, typer.Option(help="The seed of the first history; the next ones follow it.")] = 0,
    save: Annotated[Path | None, typer.Option(help="Folder for failing histories, which `repro` replays.")] = None,
    version: Annotated[list[int] | None, typer.Option("--table-version", help="Only tables of this version.")] = None,
    attempts: Annotated[int, typer.Option(help="How many shorter histories are tried of a failing one.")] = 300,
    stop_after: Annotated[int, typer.Option(help="How many failing histories are enough.")] = 5,
    *,
    services: Annotated[bool, typer.Option(help="Draw table services.")] = True,
    metadata_table: Annotated[bool, typer.Option(help="Draw tables with a metadata table.")] = True,
    change_feed: Annotated[bool, typer.Option(help="Draw tables with a change feed.")] = True,
    meta_fields: Annotated[bool, typer.Option(help="Draw tables with meta fields only.")] = False,
    refusals: Annotated[bool, typer.Option(help="Draw writes that are refused.")] = True,
    interruptions: Annotated[bool, typer.Option(help="Draw writers that die or overlap.")] = True,
    loose: Annotated[
        bool, typer.Option("--loose", help="Accept any reason of a refusal, and columns without values.")
    ] = False,
) -> None:
    """Let an adapter carry out random histories of writes and services that the model predicts.

    A failing history is shrunk. Exit 0 all well, 1 an answer is not the model's, 2 nothing was compared.
    """
    from dataclasses import replace

    from hudi_conformance.interop.fuzzing.command import ALL_WRITES, Budget
    from hudi_conformance.interop.fuzzing.command import fuzz as carry_out
    from hudi_conformance.interop.fuzzing.running import Options
    from hudi_conformance.runner.console import console

    root = _usable(suite_root)
    config = _usable(lambda: find_adapter(adapter, root))
    if strange := sorted({*(version or ())} - {*ALL_WRITES.versions}):
        _refuse(f"histories are of table versions {', '.join(map(str, ALL_WRITES.versions))}, not of {strange[0]}")
    limits = replace(
        ALL_WRITES,
        versions=tuple(version or ALL_WRITES.versions),
        services=services,
        metadata_table=metadata_table,
        change_feed=change_feed,
        no_meta_fields=not meta_fields,
        refusals=refusals,
        interruptions=interruptions,
    )
    budget = Budget(histories, seed, minutes, attempts, stop_after)
    options = Options(strict=not loose)
    raise typer.Exit(
        _usable(lambda: carry_out(config, root, budget, console(), limits=limits, options=options, save=save))
    )


@app.command()
def lint(
    texts: Annotated[
        Path | None, typer.Option(help="A folder with the cited texts: compare their sections too.")
    ] = None,
) -> None:
    """Check clauses, citations and registries of the checkout."""
    from hudi_conformance.verification.lint import main as lint_main

    raise typer.Exit(lint_main(texts=texts))


@app.command()
def clause(
    ids: Annotated[list[str], typer.Argument(help="Ids of clauses: TL-014, or tl-14, TL14.")],
    *,
    every: Annotated[bool, typer.Option("--all", help="Lists of cases, mutants and properties in full.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Show a clause: its text and sources, the functions that state it, and the cases that check it."""
    from hudi_conformance.verification.clause_command import clause_text
    from hudi_conformance.verification.clause_facts import facts_of, json_lines

    facts = _usable(lambda: facts_of(suite_root(), ids))
    if as_json:
        typer.echo("\n".join(json_lines(facts)))
    else:
        typer.echo("\n\n\n".join(clause_text(one, shown=sys.maxsize) if every else clause_text(one) for one in facts))


@app.command()
def specs(
    modules: Annotated[list[str] | None, typer.Argument(help="Only these modules.")] = None,
    *,
    agreements: Annotated[bool, typer.Option("--agreements", help="Only what is compared with the model.")] = False,
    apalache: Annotated[
        bool | None, typer.Option(help="Check with Apalache too, or do not; by default where it is installed.")
    ] = None,
    apalache_only: Annotated[bool, typer.Option("--apalache-only", help="Check with Apalache alone.")] = False,
    soak: Annotated[bool, typer.Option("--soak", help="Larger constants too.")] = False,
    shard: Annotated[str, typer.Option(metavar="K/N", help="Of TLC's runs only the K-th part in N.")] = "1/1",
    draw: Annotated[Path | None, typer.Option(help="Folder for pages that draw what is violated.")] = None,
    page: Annotated[Path | None, typer.Option(help="The page of figures to write.")] = None,
) -> None:
    """Run TLC and Apalache over the TLA+ modules, and compare them with the model, state for state."""
    from hudi_conformance.verification.checking_specs import SpecSelection, check_specs

    selection = SpecSelection(modules or (), agreements, apalache, apalache_only, soak, shard, draw, page)
    raise typer.Exit(check_specs(selection=selection))


@app.command()
def report(
    results: Annotated[Path, typer.Argument(help="A run's results.jsonl, its folder, or a folder of runs.")],
    output: Annotated[Path, typer.Argument(help="Folder for index.html and the pages beside it.")],
    *,
    all_cases: Annotated[
        bool, typer.Option("--all-cases", help="A page for every case, not only for findings.")
    ] = False,
) -> None:
    """Write the HTML report of a run; of a folder of runs, that of the last, with what came of all."""
    from hudi_conformance.report.html import write_report

    try:
        typer.echo(str(_usable(lambda: write_report(results, output, all_cases=all_cases))))
    except (OSError, ValueError) as error:
        _refuse(str(error))


@app.command(name="check-table")
def check_table(
    places: Annotated[
        list[str] | None, typer.Argument(metavar="PLACE", help="Folders of tables, or their URIs in an object store.")
    ] = None,
    below: Annotated[
        list[str] | None, typer.Option(help="Every table below this folder; of a store one level.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    html: Annotated[Path | None, typer.Option(help="The page to write, one file.")] = None,
    deep: Annotated[bool, typer.Option("--deep", help="Read rows too, and the indexes of the metadata table.")] = False,
    option: Annotated[list[str] | None, typer.Option(help="`key=value` for the object store.")] = None,
    adapter: Annotated[
        str, typer.Option("--adapter", "-a", help="Who checks: `model` is the engine's reference.")
    ] = "engine-in-process",
    limit: Annotated[float, typer.Option(help="Seconds that the check of a table may take.")] = 24 * 3600.0,
) -> None:
    """Name every clause that real tables violate, with the file, what it means and what to do.

    Exit 0 no errors, 1 an error in a table, 2 a table cannot be checked.
    """
    from hudi_conformance.report.checking_tables import check, tables_below
    from hudi_conformance.report.inspecting import Check

    config = _usable(lambda: find_adapter(adapter, _usable(suite_root)))
    options = _pairs(option or ())
    named = tuple(dict.fromkeys((*(places or ()), *_usable(lambda: tables_below(below or (), options)))))
    if not named:
        _refuse("name a table, or a folder of tables with --below")
    wanted = Check(config, options, deep, limit)
    raise typer.Exit(_usable(lambda: check(named, wanted, as_json=as_json, html=html)))


@app.command()
def timeline(
    place: Annotated[str, typer.Argument(help="A table's folder, or its URI in an object store.")],
    *,
    svg: Annotated[Path | None, typer.Option(help="Write a picture to this file.")] = None,
    history: Annotated[bool, typer.Option("--history", help="Archived actions too.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Every action, however many there are.")] = False,
    option: Annotated[list[str] | None, typer.Option(help="`key=value` for the object store.")] = None,
) -> None:
    """Draw a table's timeline: each action from requested to completed."""
    from hudi_conformance.report.drawing_timelines import draw

    raise typer.Exit(draw(place, _pairs(option or ()), svg, history=history, every=every))


def _pairs(options: Iterable[str]) -> dict[str, str]:
    pairs = [one.partition("=") for one in options]
    for key, equals, _ in pairs:
        if not equals:
            _refuse(f"{key} is no key=value")
    return {key: value for key, _, value in pairs}


@app.command()
def prove(
    properties: Annotated[list[str] | None, typer.Argument(help="Ids such as PO-262; all by default.")] = None,
    mutant: Annotated[str | None, typer.Option(help="The model with this rule broken.")] = None,
    *,
    soak: Annotated[
        bool, typer.Option("--soak", help="Explore scenarios further and write build/pages/soak.md.")
    ] = False,
) -> None:
    """Check what must hold of the model; print the shortest counterexample of what does not."""
    from hudi_conformance.runner.console import console
    from hudi_conformance.verification.proving import prove as check
    from hudi_conformance.verification.proving import soak as explore_further

    if soak:
        raise typer.Exit(explore_further(Path("build/pages/soak.md"), console()))
    raise typer.Exit(check(properties or [], mutant, console()))


@app.command()
def explore(
    scenario: Annotated[str, typer.Argument(help="Its name; any other word lists them.")],
    crashes: Annotated[int | None, typer.Option(help="How many processes may die.", min=0)] = None,
    mutant: Annotated[str | None, typer.Option(help="The model with this rule broken.")] = None,
    *,
    whole: Annotated[bool, typer.Option("--whole", help="Every order, also of effects that nobody sees.")] = False,
    draw: Annotated[Path | None, typer.Option(help="The page to draw what breaks a law on.")] = None,
) -> None:
    """Try every order of the effects of processes that share a table, and every death."""
    from hudi_conformance.runner.console import console
    from hudi_conformance.verification.proving import explore as search

    raise typer.Exit(search(scenario, crashes, mutant, console(), whole=whole, draw=draw))


@app.command()
def counterexample(
    file: Annotated[Path, typer.Argument(help="What Apalache wrote: a file NAME.itf.json.")],
    violates: Annotated[str, typer.Option(help="The invariant that Apalache checked.")] = "an invariant",
    draw: Annotated[Path | None, typer.Option(help="The page to draw it on.")] = None,
) -> None:
    """Draw a counterexample of Apalache: every step, and the timeline that it leaves."""
    from hudi_conformance.runner.console import console
    from hudi_conformance.verification.counterexamples.reading import show_file

    raise typer.Exit(show_file(file, violates, draw, console()))


@app.command()
def impact(
    base: Annotated[str, typer.Option(help="The revision to compare the working tree with.")],
    html: Annotated[Path | None, typer.Option(help="The page to write.")] = None,
    table: Annotated[list[str] | None, typer.Option(help="Only answers of golden tables that fit this glob.")] = None,
    scenario: Annotated[list[str] | None, typer.Option(help="Only this scenario of the explorer.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every property and scenario, touched or not.")] = False,
    specs: Annotated[bool, typer.Option("--specs", help="Every TLA+ module, touched or not.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute also what is equal or kept from before.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Show what a change moves: answers, properties, laws and TLA+ runs: exit 1 where one gives another result."""
    from hudi_conformance.runner.console import console
    from hudi_conformance.verification.impact.command import Scope, show_impact

    scope = Scope(everything, fresh, specs, tuple(table or ()), tuple(scenario or ()))
    raise typer.Exit(show_impact(Path.cwd(), base, scope, console(), html, as_json=as_json))


@app.command()
def trace(
    file: Annotated[Path, typer.Argument(help="Lines of JSON, one an effect, from the table's beginning on.")],
    *,
    model: Annotated[bool, typer.Option("--model", help="Only the model.")] = False,
    tla: Annotated[bool, typer.Option("--tla", help="Only the TLA+ modules.")] = False,
) -> None:
    """Check a trace by the model and by TLA+: exit 1 and the first line that no behaviour explains, 2 for no trace."""
    from hudi_conformance.runner.console import console
    from hudi_conformance.verification.tracing.console import check

    raise typer.Exit(check(file, console(), model=model or not tla, tla=tla or not model))


def main() -> None:
    """Run the command line; what the system refuses, as a file that cannot be written, is one line and exit code 2."""
    add_examples(app)
    # The groups bring their own options; they are loaded only when named.
    named = sys.argv[1] if len(sys.argv) > 1 else ""
    if named in _GROUPS:
        app.add_typer(_group(named), name=named)
    else:
        for name, help_text in _GROUP_HELP.items():
            app.add_typer(typer.Typer(help=help_text), name=name)
    try:
        app()
    except (OSError, CorpusError, AdapterConfigError) as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)


def whole_app() -> typer.Typer:
    """The command line with the commands of every group, for its reference."""
    add_examples(app)
    whole = typer.Typer()
    whole.registered_commands = list(app.registered_commands)
    for name in _GROUPS:
        whole.add_typer(_group(name), name=name, help=_GROUP_HELP.get(name))
    return whole


def _group(name: str) -> typer.Typer:
    group: typer.Typer = importlib.import_module(f"hudi_conformance.{_GROUPS[name]}.cli").app
    add_examples(group, name)
    return group


_GROUPS = {
    "golden": "corpus.golden",
    "interleavings": "verification.interleavings",
    "mixed-writers": "interop.mixed_writers",
    "mutants": "verification.mutation_matrix",
    "peers": "interop.peers",
    "real": "interop.real_tables",
    "stress": "interop.stress",
    "writes": "interop.fuzzing",
}
"""Packages whose `cli` has the commands of a group."""

_GROUP_HELP = {
    "golden": "Build and check golden tables.",
    "mutants": "The model with one rule broken.",
    "peers": "Ask the peers again.",
    "real": "Tables that Apache Hudi writes on demand.",
    "writes": "Tables that one implementation writes and others read.",
}


def _selection(
    areas: list[str] | None,
    clauses: list[str] | None,
    features: list[str] | None,
    versions: list[int] | None,
    cases: list[str] | None,
) -> Selection:
    return Selection(
        tuple(areas or ()), tuple(clauses or ()), tuple(features or ()), tuple(versions or ()), tuple(cases or ())
    )


def _usable(attempt: Callable[[], Result]) -> Result:
    try:
        return attempt()
    except (CorpusError, AdapterConfigError) as error:
        _refuse(str(error))


def _refuse(message: str) -> NoReturn:
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(2)


if __name__ == "__main__":
    main()
