"""`check-table`: real tables checked one after the other, printed as text or JSON, and written as a page."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from hudi_format.storage import LocalStorage, open_storage
from hudi_format.table.table_properties import PROPERTIES_FILE, holds_table
from rich.console import Console

from hudi_conformance.drawing.console_timeline import plain
from hudi_conformance.report.check_page import check_page
from hudi_conformance.report.inspecting import BROKEN, NO_VERDICT, VALID, Check, Finding, Inspected, print_refusal
from hudi_conformance.runner.console import Bars, console
from hudi_conformance.runner.plain_text import counted
from hudi_conformance.runner.resources import CorpusError, write_text


def check(places: Sequence[str], check_by: Check, *, as_json: bool, html: Path | None = None) -> int:
    """Print every violation of tables that an adapter finds, and give the exit code: the gravest of all tables.

    An error in one table counts more than a table that could not be checked: 1, then 2, then 0.
    """
    out, seen = console(), list[Inspected]()
    inspected = check_by.inspect(places)
    while True:
        with Bars(Console(stderr=True), quiet=as_json) as progress:
            progress.add_task("checking", total=None)
            one = next(inspected, None)
        if one is None:
            break
        seen.append(one)
        if as_json:
            _print_json(out, one)
        else:
            _print_text(out, one, named=len(places) > 1)
    if not as_json:
        _print_summary(out, seen, _extent(check_by))
    if html is not None:
        write_text(html, check_page(seen, _extent(check_by), check_by.options))
        if not as_json:
            out.print(plain(f"report: {html}"))
    return max((one.code for one in seen), key=(VALID, NO_VERDICT, BROKEN).index)


def tables_below(folders: Iterable[str], options: Mapping[str, str]) -> tuple[str, ...]:
    """The tables of folders, however deep on a disk; of an object store those of the next level.

    Raises:
        CorpusError: a folder has none, or cannot be listed.

    """
    return tuple(place for folder in folders for place in _tables_of(folder, options))


def _tables_of(folder: str, options: Mapping[str, str]) -> Iterator[str]:
    try:
        storage = open_storage(folder, options)
        if "://" in storage.base:
            names = (f"{storage.base}/{one}" for one in storage.list_folders())
            found = [one for one in names if holds_table(open_storage(one, options))]
        else:
            # What lies in .hoodie, such as the metadata table, belongs to the table above.
            marks = sorted(Path(storage.base).rglob(PROPERTIES_FILE.rpartition("/")[0]))
            found = [
                str(one.parent)
                for one in marks
                if ".hoodie" not in one.parent.parts and holds_table(LocalStorage(one.parent))
            ]
    except (OSError, ValueError) as error:
        raise CorpusError(f"{folder}: {error}") from error
    if not found:
        raise CorpusError(f"{folder}: there are no tables below this folder")
    yield from found


def _extent(check_by: Check) -> str:
    return "with rows" if check_by.deep else "without rows, which --deep reads"


def _print_text(out: Console, one: Inspected, *, named: bool) -> None:
    if named:
        out.print(plain(f"{one.place}: {one.summary}", "bold"))
    if one.refusal is not None:
        print_refusal(out, one.refusal, as_json=False)
    for group in one.groups:
        _print_group(out, group)
    if named and (one.findings or one.refusal):
        out.print()


def _print_group(out: Console, group: Sequence[Finding]) -> None:
    first = group[0]
    severities = dict.fromkeys(one.severity for one in group)
    style = "bold red" if "error" in severities else "yellow"
    out.print(plain(f"{'/'.join(severities)} {first.clause}  {first.name}", style))
    if first.rule:
        out.print(plain(f"  rule: {first.rule}  (hudi-conformance clause {first.clause})", "dim"))
    for one in group:
        out.print(plain(f"  {one.where}: {one.message}"))
    out.print(plain(f"  means: {first.consequence}"))
    for name, why in first.known:
        out.print(plain(f"  known: released writers can leave this behind ({name}): {why}"))
    out.print(plain(f"  to do: {first.remedy}"))
    out.print()


def _print_summary(out: Console, seen: Sequence[Inspected], how: str) -> None:
    checkers = dict.fromkeys(one.checker for one in seen if one.checker)
    if checkers:
        out.print(plain(f"checked by {', '.join(checkers)}, {how}"))
    if len(seen) > 1:
        errors, warnings = (sum(one.count(severity) for one in seen) for severity in ("error", "warning"))
        bad = sum(one.code == BROKEN for one in seen)
        refused = sum(one.refusal is not None for one in seen)
        text = f"{counted(len(seen), 'table')}: {bad} with errors, {refused} not checked; "
        out.print(plain(f"{text}{counted(errors, 'error')}, {counted(warnings, 'warning')}"))
    elif seen[0].refusal is None:
        out.print(plain(seen[0].summary))


def _print_json(out: Console, one: Inspected) -> None:
    """A line for each finding; what cannot be checked is one line, and so is a table without findings."""
    if one.refusal is not None:
        print_refusal(out, {"table": one.place, **one.refusal}, as_json=True)
    for finding in one.findings:
        known = [{"finding": name, "why": why} for name, why in finding.known]
        line = {"table": one.place, **asdict(finding), "known": known}
        out.print(json.dumps(line, ensure_ascii=False), markup=False)
