"""The comparison of the working tree with a revision, from the command line."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from hudi_adapter.java import JavaNotFoundError
from rich.console import Console
from rich.progress import TaskID

from hudi_conformance.runner.console import Bars
from hudi_conformance.verification.impact.comparing import (
    Changed,
    Impact,
    changed_statements,
    doubtful,
    moved_answers,
    rewritten_tables,
)
from hudi_conformance.verification.impact.console import print_impact
from hudi_conformance.verification.impact.functions import functions_of
from hudi_conformance.verification.impact.kept import KEYS, Content, Line, content_of, keep_results, kept_results
from hudi_conformance.verification.impact.modules import changed_runs, manifest_of
from hudi_conformance.verification.impact.page import write_page
from hudi_conformance.verification.impact.revisions import ImpactError, Side, sources_of, unpacked, working_tree
from hudi_conformance.verification.impact.sides import PROGRAM, Answered, ReportProgress, Request, run
from hudi_conformance.verification.impact.touching import UNTOUCHED, Touched, touched
from hudi_conformance.verification.tla.manifest import ManifestError
from hudi_conformance.verification.tla.tlc import TlcNotFoundError

Tasks: TypeAlias = Mapping[str, Mapping[str, Any]]
STATEMENTS = {"properties": "property", "scenarios": "scenario", "agreements": "agreement"}


@dataclass(frozen=True, slots=True)
class Scope:
    """How much is asked: every property and TLA+ module, what is known; which tables and scenarios, where not all."""

    everything: bool = False
    fresh: bool = False
    specs: bool = False
    tables: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()


def show_impact(
    start: Path, revision: str, scope: Scope, out: Console, html: Path | None = None, *, as_json: bool = False
) -> int:
    """Compare: exit 0 where nothing gives another result, 1 where something does, 2 where they cannot be compared."""
    try:
        tree = working_tree(start, fresh=scope.fresh)
        with unpacked(tree, revision) as base, Bars(out, quiet=as_json) as bars:
            found = impact(base, tree, scope, _shown(bars))
    except (ImpactError, ManifestError, TlcNotFoundError, JavaNotFoundError) as error:
        out.print(f"error: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    if as_json:
        out.print(json.dumps(found.as_json(), indent=1), markup=False, highlight=False, soft_wrap=True)
    else:
        print_impact(found, out)
    if html:
        written = write_page(found, html)
        if not as_json:
            out.print(f"page: {written}", markup=False, soft_wrap=True)
    return 1 if found.changes else 0


def impact(base: Side, tree: Side, scope: Scope, report_progress: ReportProgress) -> Impact:
    """What gives another result in the tree than in the base.

    Raises:
        ImpactError: one of the two cannot be asked.

    """
    started_at = time.perf_counter()
    if base.sources and base.sources == tree.sources:
        return Impact(base.name, tree.name, UNTOUCHED, equal=True, seconds=time.perf_counter() - started_at)
    functions = functions_of(base.root), functions_of(tree.root)
    change = touched(base, tree, *functions)
    contents = [content_of(side, some, PROGRAM) for side, some in zip((base, tree), functions, strict=True)]
    answers = {"folder": str(tree.root / "golden_tables"), "tables": scope.tables}
    after = _answered(tree, contents[1], {"answers": answers, **_statements(tree, change, scope)}, {}, report_progress)
    held = {name: lines for name, lines in after.lines.items() if name in STATEMENTS}
    # What holds of the tree and is registered so held of the base as well; only the rest is tried there.
    again = {name: doubtful(lines) for name, lines in held.items()}
    # Bases that differ in the bodies of functions alone have the same tables.
    alike = contents[0].file is not None and contents[0].file == contents[1].file
    names = {"answers": [line["table"] for line in after.lines["answers"]]} if alike else {}
    answers = {**answers, "folder": str(base.root / "golden_tables")}
    before = _answered(
        base, contents[0], {"answers": answers, **_named(base, again)}, {**names, **again}, report_progress
    )
    old, new = before.lines["answers"], after.lines["answers"]
    runs = _runs(base, tree, change, scope, report_progress)
    return Impact(
        base.name,
        tree.name,
        change,
        moved_answers(old, new),
        rewritten_tables(old, new),
        (*_turned(before.lines, held), *runs),
        {name: (after.computed[name], after.known.get(name, 0)) for name in after.lines},
        time.perf_counter() - started_at,
    )


def _answered(
    side: Side, content: Content, tasks: Tasks, names: Mapping[str, list[str]], report_progress: ReportProgress
) -> Answered:
    """What a side comes to, of which only that is computed that is not kept; what is new is kept.

    A task of which all names are given and kept is not asked at all.
    """
    kept = kept_results(content)
    whole = {task for task, some in names.items() if task in tasks and kept.get(task, {}).keys() >= set(some)}
    found = run(Request(side, {task: work for task, work in tasks.items() if task not in whole}, kept), report_progress)
    # A working tree may have been edited meanwhile.
    if not side.is_working_tree or not side.sources or sources_of(side.root)[0] == side.sources:
        keep_results(content, found.lines)
    found.lines |= {task: [kept[task][name] for name in names[task]] for task in whole}
    # In one order, computed now or kept.
    for task, lines in found.lines.items():
        lines.sort(key=lambda line: str(line[KEYS.get(task, "id")]))
    return found


def _statements(tree: Side, change: Touched, scope: Scope) -> Tasks:
    """What of the tree is to be tried."""
    clauses = (*change.clauses, *change.rewritten)
    requested: dict[str, Mapping[str, Any]] = {}
    if clauses or change.functions or scope.everything:
        touching = {"clauses": clauses, "functions": change.functions}
        requested["properties"] = {"all": scope.everything, "ids": (), **touching}
    if change.concurrency or scope.everything or scope.scenarios:
        requested["scenarios"] = {"all": scope.everything, "ids": scope.scenarios}
    modules = _modules(tree, change, scope)
    if any(one.run.module in modules for one in manifest_of(tree.root).agreements):
        requested["agreements"] = {"folder": str(tree.root / "specs" / "tla"), "modules": modules, "ids": ()}
    return requested


def _named(base: Side, ids: Mapping[str, list[str]]) -> Tasks:
    """What of the base is to be tried: these alone."""
    forms: Mapping[str, Mapping[str, Any]] = {
        "properties": {"all": False, "clauses": (), "functions": ()},
        "scenarios": {"all": False},
        "agreements": {"folder": str(base.root / "specs" / "tla"), "modules": ()},
    }
    return {name: {**forms[name], "ids": wanted} for name, wanted in ids.items() if wanted}


def _modules(tree: Side, change: Touched, scope: Scope) -> tuple[str, ...]:
    if scope.specs:
        return tuple(sorted({one.module for one in manifest_of(tree.root).runs}))
    return change.modules


def _runs(
    base: Side, tree: Side, change: Touched, scope: Scope, report_progress: ReportProgress
) -> tuple[Changed, ...]:
    modules = _modules(tree, change, scope)
    tlc = partial(report_progress, "TLC")
    return tuple(changed_runs(base.root, tree.root, modules, tlc, soak=scope.everything))


def _turned(before: Mapping[str, list[Line]], after: Mapping[str, list[Line]]) -> tuple[Changed, ...]:
    none: list[Line] = []
    return tuple(
        one
        for name, kind in STATEMENTS.items()
        for one in changed_statements(kind, before.get(name, none), after.get(name, none))
    )


def _shown(bars: Bars) -> ReportProgress:
    """A bar for each name of what is at work."""
    known: dict[str, TaskID] = {}

    def report_progress(name: str, done: int, total: int) -> None:
        if name not in known:
            known[name] = bars.add_task(name, total=total)
        bars.update(known[name], completed=done, total=total)

    return report_progress
