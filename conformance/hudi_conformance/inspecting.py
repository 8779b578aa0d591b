"""A real table looked at with the model: the clauses that it violates."""

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

from hudi_format.errors import FormatError
from hudi_format.storage import Storage, open_storage
from hudi_model.rejection import Rejection, Unsupported
from hudi_model.tables import Table
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from hudi_conformance.bridge.asking import ask
from hudi_conformance.bridge.checking import load_for_check
from hudi_conformance.clauses import Clause, load_clauses
from hudi_conformance.console import console
from hudi_conformance.report.console_timeline import plain
from hudi_conformance.resources import suite_root

SOUND, BROKEN, NOT_JUDGED = 0, 1, 2
"""Exit codes: no error; an error among what was found; nothing could be found out."""
CLAUSES = "specs/clauses"
_QUIET_FOR_S = 2.0

Found: TypeAlias = Mapping[str, Any]


def check(place: str, options: Mapping[str, str], *, deep: bool, as_json: bool) -> int:
    """Print every violation of a table, at a path or the URI of an object store, and give the exit code."""
    out = console()
    try:
        table = _looked_at(open_storage(place, options), deep=deep, quiet=as_json)
        found: list[Found] = ask(table, "check_table", {}).content
    except (Rejection, FormatError, Unsupported, OSError, ValueError) as error:
        print_refusal(out, place, error, as_json=as_json)
        return NOT_JUDGED
    if as_json:
        _print_json(out, found)
    else:
        _print_text(out, table, found, deep=deep)
    return BROKEN if _count(found, "error") else SOUND


def _looked_at(storage: Storage, *, deep: bool, quiet: bool) -> Table:
    with Watch(quiet=quiet) as watch:
        return load_for_check(storage, deep=deep, progress=watch.tell)


@dataclass(slots=True)
class Watch:
    """Says how far a look at many files has come, on the error stream, once it has taken a while."""

    quiet: bool
    began: float = field(default_factory=time.monotonic)
    bar: Progress | None = None
    task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def tell(self, done: int, files: int) -> None:
        """So many files of all have been looked at."""
        if self.bar is None and not self.quiet and time.monotonic() - self.began > _QUIET_FOR_S:
            columns = (TextColumn("files"), BarColumn(), MofNCompleteColumn())
            self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self.bar.start()
            self.task = self.bar.add_task("files", total=files)
        if self.bar is not None and self.task is not None:
            self.bar.update(self.task, completed=done)


def _print_text(out: Console, table: Table, found: Iterable[Found], *, deep: bool) -> None:
    clauses = {one.id: one for one in load_clauses(suite_root() / CLAUSES)}
    listed = sorted(found, key=lambda one: (one["severity"], one["clause"], one["where"]))
    for clause in dict.fromkeys(one["clause"] for one in listed):
        own = [one for one in listed if one["clause"] == clause]
        _print_group(out, clause, clauses.get(clause), own)
    files = len(table.base_files) + len(table.log_files)
    what = "with rows" if deep else "without rows, which --deep reads"
    out.print(f"{files} files and {len(table.timeline)} timeline files looked at, {what}", markup=False)
    out.print(f"{_count(listed, 'error')} errors, {_count(listed, 'warning')} warnings", markup=False)


def _print_group(out: Console, clause: str, known: Clause | None, found: Iterable[Found]) -> None:
    severities = dict.fromkeys(one["severity"] for one in found)
    style = "bold red" if "error" in severities else "yellow"
    out.print(plain(f"{'/'.join(severities)} {clause}  {known.title if known else ''}", style))
    if known:
        out.print(plain(f"  rule: {meaning(known)}  ({CLAUSES}/{known.anchor})", "dim"))
    for one in found:
        out.print(plain(f"  {one['where']}: {one['message']}"))
    out.print()


def meaning(clause: Clause) -> str:
    """The first sentence of a rule."""
    text = " ".join(clause.rule.split())
    first, stop, _ = text.partition(". ")
    return first + "." if stop else text


def _print_json(out: Console, found: Iterable[Found]) -> None:
    clauses = {one.id: one.title for one in load_clauses(suite_root() / CLAUSES)}
    for one in found:
        line = {**one, "name": clauses.get(one["clause"], "")}
        out.print(json.dumps(line, ensure_ascii=False), markup=False)


def print_refusal(out: Console, place: str, error: Exception, *, as_json: bool) -> None:
    """What keeps a table from being judged."""
    told = _told(place, error)
    if as_json:
        out.print(json.dumps({"refused": told}, ensure_ascii=False), markup=False)
        return
    out.print(plain("  ".join(filter(None, (told["reason"], told["clause"], f"{told['where']}: {told['message']}")))))


def _told(place: str, error: Exception) -> dict[str, str]:
    """What keeps a table from being judged: a reason of the protocol, else the kind of error."""
    match error:
        case Rejection():
            return _refused(error.reason.value, error.clause, error.where, error.detail)
        case FormatError():
            return _refused(str(error.reason), error.clause, error.file, error.message)
        case Unsupported():
            return _refused("UNSUPPORTED", "", place, error.feature)
    return _refused("UNREADABLE", "", place, str(error) or type(error).__name__)


def _refused(reason: str, clause: str, where: str, message: str) -> dict[str, str]:
    return {"reason": reason, "clause": clause, "where": where, "message": message}


def _count(found: Iterable[Found], severity: str) -> int:
    return sum(one["severity"] == severity for one in found)
