"""A page for each file of clauses: every rule with an anchor, and links back to what states and tests it."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from hudi_conformance.runner.clauses import Clause
from hudi_conformance.verification.clause_facts import Cited, ClauseFacts, facts_of_all

FOLDER = "reference/clauses"
SHOWN = 8
_TITLE = re.compile(r"^# (.*)$", re.MULTILINE)


class ClausePages:
    """The pages of a checkout's clauses."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def facts(self) -> Mapping[str, ClauseFacts]:
        """What the suite knows of each clause."""
        return facts_of_all(self.root)

    @cached_property
    def places(self) -> Mapping[str, str]:
        """Each clause id with its place on the site: a page and an anchor."""
        return {name: f"{FOLDER}/{one.clause.file}#{name.lower()}" for name, one in self.facts.items()}

    @cached_property
    def files(self) -> Mapping[str, tuple[ClauseFacts, ...]]:
        """The clauses of each file, in the order in which they stand there."""
        found: dict[str, list[ClauseFacts]] = defaultdict(list)
        for one in self.facts.values():
            found[one.clause.file].append(one)
        return {name: tuple(facts) for name, facts in sorted(found.items())}

    def title(self, file: str) -> str:
        """The title of a file of clauses."""
        match = _TITLE.search((self.root / "specs" / "clauses" / file).read_text(encoding="utf-8"))
        return match[1] if match else file

    def page(self, file: str) -> str:
        """The page of one file, as Markdown."""
        parts = [f"# {self.title(file)}", ""]
        for one in self.files[file]:
            parts += _section(one)
        return "\n".join(parts)


def _section(facts: ClauseFacts) -> Iterator[str]:
    clause = facts.clause
    yield f"## {clause.id} {clause.title} {{ #{clause.id.lower()} }}"
    yield ""
    yield f"**{clause.standing}**, table versions {', '.join(map(str, clause.versions))}{_refused(clause)}"
    yield ""
    yield clause.rule
    yield ""
    yield f"Source: {'; '.join(map(_source, facts.sources)) or clause.source}"
    if clause.evidence:
        yield ""
        yield f"Evidence: {clause.evidence}"
    yield ""
    yield from _back(facts)
    yield ""


def _source(cited: Cited) -> str:
    name = cited.title or cited.text
    return f"{name}, “{cited.section}”" if cited.section else name


def _refused(clause: Clause) -> str:
    refused = f"; refused with {', '.join(f'`{one}`' for one in clause.refuses)}" if clause.refuses else ""
    return refused + (f"; two readings: {', '.join(clause.readings)}" if len(clause.readings) > 1 else "")


def _back(facts: ClauseFacts) -> Iterator[str]:
    rows = {
        "Stated by": _listed(one.name for one in facts.functions),
        "TLA+": _listed(facts.actions),
        "Cases": _listed(one.id.removeprefix("conformance::") for one in facts.cases),
    }
    yield from (f"- {name}: {text}" for name, text in rows.items() if text)


def _listed(names: Iterable[str]) -> str:
    """The first names, and how many more there are."""
    kept = list(names)
    more = f", and {len(kept) - SHOWN} more" if len(kept) > SHOWN else ""
    return ", ".join(f"`{name}`" for name in kept[:SHOWN]) + more
