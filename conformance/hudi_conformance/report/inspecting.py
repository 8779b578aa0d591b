"""A real table checked by an adapter: the clauses that it breaks, for operators."""

import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import Any, TypeAlias

from hudi_format.compat import Self
from hudi_format.errors import FormatError
from hudi_format.storage import open_storage
from hudi_format.table.no_table import no_table
from hudi_format.table.table_properties import holds_table
from hudi_model.rejection import Rejection, Unsupported
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from hudi_conformance.drawing.console_timeline import plain
from hudi_conformance.runner.adapters_config import AdapterConfig
from hudi_conformance.runner.clauses import Clause, load_clauses
from hudi_conformance.runner.console import console
from hudi_conformance.runner.resources import suite_root
from hudi_conformance.runner.session import START_LIMIT_S, Broken, Hung, Response, Session

VALID, BROKEN, NO_VERDICT = 0, 1, 2
"""Exit codes: no error; an error among what was found; nothing could be found out."""
CHECKER = "engine-in-process"
"""The adapter that checks by default; the model is its reference."""
CLAUSES = "specs/clauses"
LIMIT_S = 24 * 3600.0
_QUIET_FOR_S = 2.0
_CLAUSE = re.compile(r"\(([A-Z]{2,4}-\d{3})\)")

Found: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Check:
    """What is asked of an adapter about the table at a path or the URI of an object store."""

    adapter: AdapterConfig
    options: Mapping[str, str] = field(default_factory=dict)
    deep: bool = False
    limit_s: float = LIMIT_S
    start_limit_s: float = START_LIMIT_S

    def request(self, place: str) -> tuple[str, Response]:
        """Who answered, and the answer. Nothing of the table is written.

        Raises:
            FormatError: NOT_A_TABLE.
            ValueError: a place or an option that no storage has.
            OSError: a store that does not answer.

        """
        storage = open_storage(place, self.options)
        if not holds_table(storage):
            raise no_table(storage)
        location = storage.base if "://" in storage.base else Path(storage.base).absolute()
        params = {"deep": self.deep, "configs": dict(self.options)}
        with tempfile.TemporaryDirectory(prefix="hudi-conformance-check-") as folder:
            log, answers = Path(folder) / "stderr.log", Path(folder) / "answers"
            answers.mkdir()
            with Session(self.adapter.command, log, self.start_limit_s, self.adapter.folder) as session:
                try:
                    response = session.request("check_table", location, params, answers, self.limit_s)
                except KeyboardInterrupt:
                    session.kill()
                    raise
                return _name_of(session.started, self.adapter), response


def _name_of(started: Mapping[str, Any] | None, adapter: AdapterConfig) -> str:
    described = (started or {}).get("implementation", {})
    return f"{described.get('name', adapter.name)} {described.get('version', '')}".strip()


def check(place: str, check_by: Check, *, as_json: bool) -> int:
    """Print every violation of a table that an adapter finds, and give the exit code."""
    out = console()
    try:
        with Watch(quiet=as_json):
            name, response = check_by.request(place)
    except (FormatError, OSError, ValueError) as error:
        print_refusal(out, refusal_of(place, error), as_json=as_json)
        return NO_VERDICT
    found = _found(response)
    if found is None:
        print_refusal(out, _refusal_of_answer(place, response), as_json=as_json)
        return NO_VERDICT
    if as_json:
        _print_json(out, found)
    else:
        _print_text(out, found, f"checked by {name}, {_extent(check_by)}")
    return BROKEN if _count(found, "error") else VALID


def _extent(check_by: Check) -> str:
    return "with rows" if check_by.deep else "without rows, which --deep reads"


def _found(response: Response) -> list[Found] | None:
    """The violations that an answer has; None where it has something else to say."""
    if isinstance(response, Broken | Hung) or "result" not in response.message:
        return None
    return list(response.message["result"]["value"])


@dataclass(slots=True)
class Watch:
    """Says on the error stream that a check is at work, and for how long, once it has taken a while."""

    quiet: bool
    _bar: Progress = field(init=False)
    _timer: Timer = field(init=False)

    def __enter__(self) -> Self:
        screen = Console(stderr=True)
        columns = (TextColumn("checking"), BarColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, console=screen, transient=True, disable=self.quiet or not screen.is_terminal)
        self._bar.add_task("checking", total=None)
        self._timer = Timer(_QUIET_FOR_S, self._bar.start)
        self._timer.daemon = True
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._timer.join()
        self._bar.stop()


def _print_text(out: Console, found: Iterable[Found], how: str) -> None:
    clauses = {one.id: one for one in load_clauses(suite_root() / CLAUSES)}
    listed = sorted(found, key=lambda one: (one["severity"], one["clause"], one["where"]))
    for clause in dict.fromkeys(one["clause"] for one in listed):
        own = [one for one in listed if one["clause"] == clause]
        _print_group(out, clause, clauses.get(clause), own)
    out.print(plain(how))
    out.print(f"{_count(listed, 'error')} errors, {_count(listed, 'warning')} warnings", markup=False)


def _print_group(out: Console, clause: str, known: Clause | None, found: Iterable[Found]) -> None:
    severities = dict.fromkeys(one["severity"] for one in found)
    style = "bold red" if "error" in severities else "yellow"
    out.print(plain(f"{'/'.join(severities)} {clause}  {known.title if known else ''}", style))
    if known:
        out.print(plain(f"  rule: {meaning(known)}  (hudi-conformance clause {clause})", "dim"))
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


def print_refusal(out: Console, refusal: Mapping[str, str], *, as_json: bool) -> None:
    """What keeps a table from being judged."""
    if as_json:
        out.print(json.dumps({"refused": refusal}, ensure_ascii=False), markup=False)
        return
    place = f"{refusal['where']}: {refusal['message']}"
    out.print(plain("  ".join(filter(None, (refusal["reason"], refusal["clause"], place)))))


def refusal_of(place: str, error: Exception) -> dict[str, str]:
    """What keeps a table from being looked at: a reason of the protocol, else the kind of error."""
    match error:
        case Rejection():
            return _refused(error.reason.value, error.clause, error.where, error.detail)
        case FormatError():
            message = f"{error.message}; {error.hint}" if error.hint else error.message
            return _refused(str(error.reason), error.clause, error.file, message)
        case Unsupported():
            return _refused("UNSUPPORTED", "", place, error.feature)
    return _refused("UNREADABLE", "", place, str(error) or type(error).__name__)


def _refusal_of_answer(place: str, response: Response) -> dict[str, str]:
    """The same of an adapter that answered without violations, or not at all."""
    if isinstance(response, Hung):
        return _refused("UNREADABLE", "", place, f"no answer within {response.limit_s:g} s")
    if isinstance(response, Broken):
        return _refused("UNREADABLE", "", place, response.why)
    answer = response.message
    if "unsupported" in answer:
        return _refused("UNSUPPORTED", "", place, str(answer["unsupported"].get("feature", "")))
    if "rejected" in answer:
        reason, message = str(answer["rejected"]["reason"]), str(answer["rejected"]["message"])
        clause = _CLAUSE.search(message)
        return _refused(reason, clause[1] if clause else "", place, message)
    return _refused("UNREADABLE", "", place, str(answer["errored"]["message"]))


def _refused(reason: str, clause: str, where: str, message: str) -> dict[str, str]:
    return {"reason": reason, "clause": clause, "where": where, "message": message}


def _count(found: Iterable[Found], severity: str) -> int:
    return sum(one["severity"] == severity for one in found)
