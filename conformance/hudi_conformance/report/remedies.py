"""What findings of `check-table` mean for a table's operator, and what to do: `specs/check-table.toml`, read once."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hudi_format.compat import tomllib

from hudi_conformance.runner.clauses import CLAUSE_ID
from hudi_conformance.runner.findings import Finding, findings_below
from hudi_conformance.runner.identifiers import nearest_words
from hudi_conformance.runner.resources import CorpusError

FILE = "specs/check-table.toml"
AFFECTS = ("answers", "refused", "upkeep", "speed", "nothing")
"""What a finding affects, gravest first: answers are wrong; queries or writes fail; services, time travel or recovery
fail; answers cost more; nothing that anybody queries."""
_KEYS = ("clauses", "affects", "consequence", "remedy")


@dataclass(frozen=True, slots=True)
class Remedy:
    """What a finding affects (one of `AFFECTS`), which rows or queries, and the command or edit that mends it."""

    affects: str
    consequence: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Remedies:
    """The remedies by clause, that of every other clause, and what released writers are known to leave behind."""

    by_clause: Mapping[str, Remedy]
    otherwise: Remedy
    known: Mapping[str, Finding]

    def of(self, clause: str) -> Remedy:
        """The remedy of a clause."""
        return self.by_clause.get(clause, self.otherwise)

    def known_of(self, clause: str, message: str) -> tuple[tuple[str, Finding], ...]:
        """Findings of released writers that leave behind what a check says, by name."""
        return tuple(
            (name, finding)
            for name, finding in self.known.items()
            if any(one == clause and part in message for one, part in finding.leaves)
        )


def load_remedies(root: Path) -> Remedies:
    """The remedies of a suite.

    Raises:
        CorpusError: the file is absent or does not parse, an entry lacks something, or a clause is named twice.
        AdapterConfigError: a file of findings does not parse.

    """
    try:
        entries = tomllib.loads((root / FILE).read_text(encoding="utf-8"))["entry"]
        pairs = [(clause, _remedy(entry)) for entry in entries for clause in _clauses(entry)]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CorpusError(f"{FILE}: {error}") from error
    by_clause = dict(pairs)
    if len(by_clause) < len(pairs):
        twice = next(clause for clause, _ in pairs if sum(clause == one for one, _ in pairs) > 1)
        raise CorpusError(f"{FILE}: {twice or 'the entry without clauses'} is there twice")
    if "" not in by_clause:
        raise CorpusError(f"{FILE}: the entry without clauses is absent")
    known = {name: one for name, one in findings_below(root / "adapters").items() if one.leaves}
    return Remedies(by_clause, by_clause.pop(""), known)


def _clauses(entry: Mapping[str, Any]) -> Iterable[str]:
    """The clauses of an entry; an empty id for the entry that has none."""
    found = [str(one) for one in entry["clauses"]] or [""]
    for one in found:
        if one and not re.fullmatch(CLAUSE_ID, one):
            raise ValueError(f"{one!r} is no id of a clause")
    return found


def _remedy(entry: Mapping[str, Any]) -> Remedy:
    for key in entry:
        if key not in _KEYS:
            raise ValueError(f"{key!r} is not known here{nearest_words(key, _KEYS)}")
    made = Remedy(*(str(entry[key]).strip() for key in _KEYS[1:]))
    if made.affects not in AFFECTS:
        raise ValueError(
            f"affects {made.affects!r} is none of {', '.join(AFFECTS)}{nearest_words(made.affects, AFFECTS)}"
        )
    if not (made.consequence and made.remedy):
        raise ValueError(f"an entry of {', '.join(entry['clauses']) or 'no clause'} says nothing")
    return made
