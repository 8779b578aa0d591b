"""A page for each file of clauses: every rule with an anchor, and links back to what states and tests it."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from hudi_conformance.runner.cases import load_cases
from hudi_conformance.runner.clauses import Clause, parse_sources
from hudi_conformance.verification.lint.checkout import read_checkout
from hudi_conformance.verification.lint.citations import all_citations

FOLDER = "reference/clauses"
SHOWN = 8
STATED = frozenset({"model", "format"})
_DEFINITION = re.compile(r"^\s*(?:async )?(?:def|class) (\w+)")
_OPERATOR = re.compile(r"^(\w+)(?:\([^)]*\))? ==")
_TITLE = re.compile(r"^# (.*)$", re.MULTILINE)


@dataclass(slots=True)
class Backlinks:
    """What refers to one clause: functions that state it, operators of TLA+ modules, cases."""

    functions: list[str] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    cases: list[str] = field(default_factory=list)


class ClausePages:
    """The pages of a checkout's clauses."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.checkout = read_checkout(root)

    @cached_property
    def places(self) -> Mapping[str, str]:
        """Each clause id with its place on the site: a page and an anchor."""
        return {one.id: f"{FOLDER}/{one.file}#{one.id.lower()}" for one in self.checkout.clauses}

    @cached_property
    def files(self) -> Mapping[str, tuple[Clause, ...]]:
        """The clauses of each file, in the order in which they stand there."""
        found: dict[str, list[Clause]] = defaultdict(list)
        for clause in self.checkout.clauses:
            found[clause.file].append(clause)
        return {name: tuple(clauses) for name, clauses in sorted(found.items())}

    def title(self, file: str) -> str:
        """The title of a file of clauses."""
        match = _TITLE.search((self.root / "specs" / "clauses" / file).read_text(encoding="utf-8"))
        return match[1] if match else file

    def page(self, file: str) -> str:
        """The page of one file, as Markdown."""
        parts = [f"# {self.title(file)}", ""]
        for clause in self.files[file]:
            parts += self._clause(clause)
        return "\n".join(parts)

    @cached_property
    def backlinks(self) -> Mapping[str, Backlinks]:
        """What refers to each clause."""
        found: dict[str, Backlinks] = defaultdict(Backlinks)
        texts: dict[str, list[str]] = {}
        for one in all_citations(self.checkout):
            if one.kind not in STATED and one.kind != "tla":
                continue
            if one.file not in texts:
                texts[one.file] = (self.root / one.file).read_text(encoding="utf-8").splitlines()
            if one.kind == "tla":
                _add(found[one.id].operators, _operator(one.file, one.line, texts[one.file]))
            else:
                _add(found[one.id].functions, _function(one.file, one.line, texts[one.file]))
        for case in load_cases(self.root):
            for clause in case.clauses:
                _add(found[clause].cases, case.id.removeprefix("conformance::"))
        return found

    def _clause(self, clause: Clause) -> Iterator[str]:
        yield f"## {clause.id} {clause.title} {{ #{clause.id.lower()} }}"
        yield ""
        yield f"**{clause.level}**, table versions {', '.join(map(str, clause.versions))}{_refused(clause)}"
        yield ""
        yield clause.rule
        yield ""
        yield f"Source: {self._sources(clause)}"
        if clause.evidence:
            yield ""
            yield f"Evidence: {clause.evidence}"
        yield ""
        yield from _back(self.backlinks.get(clause.id, Backlinks()))
        yield ""

    def _sources(self, clause: Clause) -> str:
        sources = parse_sources(clause.source) or ()
        return "; ".join(self._source(one.text, one.section) for one in sources) or clause.source

    def _source(self, text: str, section: str | None) -> str:
        known = self.checkout.sources.get(text)
        name = known.title if known else text
        return f"{name}, “{section}”" if section else name


def _refused(clause: Clause) -> str:
    refused = f"; refused with {', '.join(f'`{one}`' for one in clause.refuses)}" if clause.refuses else ""
    return refused + (f"; two readings: {', '.join(clause.readings)}" if len(clause.readings) > 1 else "")


def _back(links: Backlinks) -> Iterator[str]:
    rows = {
        "Stated by": _listed(links.functions),
        "TLA+": _listed(links.operators),
        "Cases": _listed(links.cases),
    }
    yield from (f"- {name}: {text}" for name, text in rows.items() if text)


def _listed(names: list[str]) -> str:
    """The first names; a module is left out where an operator of it is named."""
    kept = [name for name in names if not any(other.startswith(f"{name}!") for other in names)]
    more = f", and {len(kept) - SHOWN} more" if len(kept) > SHOWN else ""
    return ", ".join(f"`{name}`" for name in kept[:SHOWN]) + more


def _add(names: list[str], name: str) -> None:
    if name not in names:
        names.append(name)


def _function(file: str, line: int, text: list[str]) -> str:
    """A function by its module and name."""
    module = ".".join(Path(file).with_suffix("").parts[1:]).removesuffix(".__init__")
    for number in range(line - 1, min(line + 8, len(text))):
        if match := _DEFINITION.match(text[number]):
            return f"{module}.{match[1]}"
    return module


def _operator(file: str, line: int, text: list[str]) -> str:
    """A TLA+ operator by its module and name: the one in which a comment stands, or before which it stands."""
    module = Path(file).stem
    own = _OPERATOR.match(text[line - 1])
    if own:
        return f"{module}!{own[1]}"
    if not text[line - 1].lstrip().startswith("\\*"):
        before: Iterable[str] = reversed(text[: line - 1])
        inside = next((match for match in map(_OPERATOR.match, before) if match), None)
        return f"{module}!{inside[1]}" if inside else module
    after = next((one for one in text[line:] if one.strip() and not one.lstrip().startswith("\\*")), "")
    match = _OPERATOR.match(after)
    return f"{module}!{match[1]}" if match else module
