"""Real tables checked by an adapter: the clauses that they break, what that means and what to do, for operators."""

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from hudi_format.compat import Self
from hudi_format.errors import FormatError
from hudi_format.storage import open_storage
from hudi_format.table.no_table import no_table
from hudi_format.table.table_properties import holds_table
from hudi_model.rejection import Rejection, Unsupported
from rich.console import Console

from hudi_conformance.drawing.console_timeline import plain
from hudi_conformance.report.remedies import AFFECTS, Remedies, load_remedies
from hudi_conformance.runner.adapters_config import AdapterConfig
from hudi_conformance.runner.clauses import Clause, load_clauses
from hudi_conformance.runner.plain_text import counted
from hudi_conformance.runner.resources import suite_root
from hudi_conformance.runner.session import START_LIMIT_S, Broken, Hung, Response, Session

VALID, BROKEN, NO_VERDICT = 0, 1, 2
"""Exit codes: no error; an error among what was found; nothing could be found out."""
CHECKER = "engine-in-process"
"""The adapter that checks by default; the model is its reference."""
CLAUSES = "specs/clauses"
LIMIT_S = 24 * 3600.0
SAYS = {
    "answers": "answers may be wrong",
    "refused": "queries or writes are refused",
    "upkeep": "services, time travel or recovery may fail",
    "speed": "answers are right and cost more",
    "nothing": "no query is affected",
}
"""What each of `AFFECTS` means, in a few words."""
_CLAUSE = re.compile(r"\(([A-Z]{2,4}-\d{3})\)")

Found: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Check:
    """What is requested of an adapter about tables at paths or URIs of an object store."""

    adapter: AdapterConfig
    options: Mapping[str, str] = field(default_factory=dict)
    deep: bool = False
    limit_s: float = LIMIT_S
    start_limit_s: float = START_LIMIT_S

    def inspect(self, places: Iterable[str]) -> Iterator["Inspected"]:
        """What is found in each table, in order, by one process of the adapter. Nothing of a table is written."""
        known = Known.of(suite_root())
        with tempfile.TemporaryDirectory(prefix="hudi-conformance-check-") as folder:
            log, answers = Path(folder) / "stderr.log", Path(folder) / "answers"
            answers.mkdir()
            with Session(self.adapter.command, log, self.start_limit_s, self.adapter.folder) as session:
                for place in places:
                    try:
                        response = self._request(session, place, answers)
                    except KeyboardInterrupt:
                        session.kill()
                        raise
                    except (FormatError, OSError, ValueError) as error:
                        yield Inspected(place, refusal=refusal_of(place, error))
                        continue
                    found = _found(response)
                    if found is None:
                        yield Inspected(place, refusal=_refusal_of_answer(place, response))
                    else:
                        yield Inspected(place, known.explained(found), _name_of(session.started, self.adapter))

    def _request(self, session: Session, place: str, answers: Path) -> Response:
        """The answer about one table.

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
        return session.request("check_table", location, params, answers, self.limit_s)


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation with its clause, what it means and what to do.

    `where` is a path in the table; `affects` one of `remedies.AFFECTS`; `known` what released writers are known to
    leave behind, as (name, sentence).
    """

    clause: str
    name: str
    rule: str
    severity: str
    where: str
    message: str
    affects: str
    consequence: str
    remedy: str
    known: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Inspected:
    """What came of one table: its findings, by whom; or the refusal that keeps it from being judged."""

    place: str
    findings: tuple[Finding, ...] = ()
    checker: str = ""
    refusal: Mapping[str, str] | None = None

    @property
    def code(self) -> int:
        """The exit code for this table alone."""
        if self.refusal is not None:
            return NO_VERDICT
        return BROKEN if self.count("error") else VALID

    def count(self, severity: str) -> int:
        """How many findings have a severity, `error` or `warning`."""
        return sum(one.severity == severity for one in self.findings)

    @property
    def summary(self) -> str:
        """Errors and warnings in numbers, with the gravest thing that they affect."""
        if self.refusal is not None:
            return f"not checked: {self.refusal['reason']}"
        gravest = min((AFFECTS.index(one.affects) for one in self.findings), default=None)
        affected = f"; {SAYS[AFFECTS[gravest]]}" if gravest is not None else ""
        return f"{counted(self.count('error'), 'error')}, {counted(self.count('warning'), 'warning')}{affected}"

    @property
    def groups(self) -> tuple[tuple[Finding, ...], ...]:
        """The findings of each clause that mean the same, the gravest first."""
        listed = sorted(
            self.findings,
            key=lambda one: (one.severity, AFFECTS.index(one.affects), one.clause, one.where, one.message),
        )
        grouped: dict[object, list[Finding]] = {}
        for one in listed:
            grouped.setdefault((one.clause, one.known), []).append(one)
        return tuple(map(tuple, grouped.values()))


@dataclass(frozen=True, slots=True)
class Known:
    """What the suite says of clauses: their titles and rules, and what their violations mean."""

    clauses: Mapping[str, Clause]
    remedies: Remedies

    @classmethod
    def of(cls, root: Path) -> Self:
        """What the suite at a folder says.

        Raises:
            CorpusError: a file is absent or does not parse.

        """
        return cls({one.id: one for one in load_clauses(root / CLAUSES)}, load_remedies(root))

    def explained(self, found: Iterable[Found]) -> tuple[Finding, ...]:
        """The violations of an answer with what is known of them."""
        return tuple(map(self._explained, found))

    def _explained(self, one: Found) -> Finding:
        clause, remedy = self.clauses.get(one["clause"]), self.remedies.of(one["clause"])
        known = self.remedies.known_of(one["clause"], one["message"])
        return Finding(
            one["clause"],
            clause.title if clause else "",
            meaning(clause) if clause else "",
            one["severity"],
            one["where"],
            one["message"],
            remedy.affects,
            remedy.consequence,
            remedy.remedy,
            tuple((name, finding.why) for name, finding in known),
        )


def _name_of(started: Mapping[str, Any] | None, adapter: AdapterConfig) -> str:
    described = (started or {}).get("implementation", {})
    return f"{described.get('name', adapter.name)} {described.get('version', '')}".strip()


def _found(response: Response) -> list[Found] | None:
    """The violations that an answer has; None where it has something else to say."""
    if isinstance(response, Broken | Hung) or "result" not in response.message:
        return None
    return list(response.message["result"]["value"])


def meaning(clause: Clause) -> str:
    """The first sentence of a rule."""
    text = " ".join(clause.rule.split())
    first, stop, _ = text.partition(". ")
    return first + "." if stop else text


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
