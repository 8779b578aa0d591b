"""All that the suite knows of a clause: its text and sources, who states it, and what shows it."""

import ast
import importlib.util
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hudi_format.compat import tomllib

from hudi_conformance.corpus.mutants import MUTANTS
from hudi_conformance.corpus.trace_cases import FOLDER as TRACES
from hudi_conformance.corpus.trace_cases import load_trace_cases
from hudi_conformance.runner.cases import Case, load_cases
from hudi_conformance.runner.clauses import Clause, load_clauses, parse_sources
from hudi_conformance.runner.identifiers import normal_number, unknown_number
from hudi_conformance.runner.resources import CorpusError
from hudi_conformance.verification.properties import MODEL_PROPERTIES

STATING = ("hudi_model", "hudi_model_tools", "hudi_format")
"""The packages whose functions state clauses."""
_CITED = re.compile(r"\b[A-Z]{2,4}-[0-9]{3}\b")
_DEFINED = re.compile(r"^(?P<name>[A-Za-z]\w*)(?:\([^)]*\))?\s*==")
_Documented = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Named:
    """Something that cites a clause: its name, and what it says in one line."""

    name: str
    says: str

    def to_json(self) -> dict[str, str]:
        """As JSON."""
        return {"name": self.name, "says": self.says}


@dataclass(frozen=True, slots=True)
class Cited:
    """A text that a rule comes from, in full, and the section of it."""

    text: str
    title: str
    section: str

    def to_json(self) -> dict[str, str]:
        """As JSON."""
        return {"text": self.text, "title": self.title, "section": self.section}


@dataclass(frozen=True, slots=True)
class ClauseFacts:
    """A clause with everything that cites it; `questions` ask a reader, `traces` are judged by the model alone.

    `properties` hold of the model, or are refuted; `actions` are those of the TLA+ modules; `defects` are documented
    ones of real implementations that the clause decides.
    """

    clause: Clause
    sources: tuple[Cited, ...]
    functions: tuple[Named, ...]
    cases: tuple[Case, ...]
    traces: tuple[Named, ...]
    mutants: tuple[Named, ...]
    properties: tuple[Named, ...]
    actions: tuple[str, ...]
    defects: tuple[Named, ...]

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        clause = self.clause
        return {
            "id": clause.id,
            "title": clause.title,
            "level": clause.level,
            "draft": clause.is_draft,
            "versions": list(clause.versions),
            "text": clause.rule,
            "readings": list(clause.readings),
            "refuses": list(clause.refuses),
            "evidence": clause.evidence,
            "sources": [one.to_json() for one in self.sources],
            "functions": [one.to_json() for one in self.functions],
            "cases": [{"id": one.id, "title": one.title, "area": one.area} for one in self.cases],
            "traces": [one.to_json() for one in self.traces],
            "mutants": [one.to_json() for one in self.mutants],
            "properties": [one.to_json() for one in self.properties],
            "tla": list(self.actions),
            "defects": [one.to_json() for one in self.defects],
        }


def facts_of_all(root: Path) -> Mapping[str, ClauseFacts]:
    """The facts of every clause, by id, in the order of the clauses."""
    everything = _Everything(root)
    return {one.id: everything.facts(one) for one in load_clauses(root / "specs" / "clauses")}


def facts_of(root: Path, ids: Sequence[str]) -> tuple[ClauseFacts, ...]:
    """The facts of each clause that is named, however its id is typed.

    Raises:
        CorpusError: an id stands for no clause, or the suite's data cannot be read.

    """
    clauses = {one.id: one for one in load_clauses(root / "specs" / "clauses")}
    wanted = list(dict.fromkeys(map(normal_number, ids)))
    unknown = [one for one in wanted if one not in clauses]
    if unknown:
        raise CorpusError("; ".join(_unknown(one, clauses) for one in unknown))
    everything = _Everything(root)
    return tuple(everything.facts(clauses[one]) for one in wanted)


def _unknown(text: str, clauses: Mapping[str, Clause]) -> str:
    """An id that no clause has; a word is looked for in the titles."""
    titled = [
        f"{one.id} {one.title}" for one in clauses.values() if len(text) > 2 and text.lower() in one.title.lower()
    ]
    if titled:
        return f"{text!r} is not the id of a clause; clauses whose titles have the word: {', '.join(titled[:5])}"
    return unknown_number("clause", text, clauses)


class _Everything:
    """What the suite's data and its packages hold, read once for all clauses that are asked about."""

    def __init__(self, root: Path) -> None:
        self._texts = {str(one.get("name")): one for one in _tables(root / "specs" / "sources.toml", "text")}
        self._defects = _tables(root / "specs" / "known-bugs.toml", "bug")
        # Cases of drafts come last: few implementations are asked them.
        self._cases = sorted(load_cases(root), key=lambda case: bool(case.drafts))
        self._traces = load_trace_cases(root) if (root / TRACES).is_dir() else ()
        self._actions = list(tla_actions(root / "specs" / "tla"))

    def facts(self, clause: Clause) -> ClauseFacts:
        """Those of one clause."""
        return ClauseFacts(
            clause=clause,
            sources=tuple(self._sources(clause)),
            functions=tuple(named for cited, named in _functions() if clause.id in cited),
            cases=tuple(one for one in self._cases if clause.id in one.clauses),
            traces=tuple(Named(one.id, one.title) for one in self._traces if clause.id in one.clauses),
            mutants=tuple(Named(one.name, one.sentence) for one in MUTANTS.values() if clause.id in one.clauses),
            properties=tuple(
                Named(one.id, f"{one.title} ({one.verdict})")
                for one in sorted(MODEL_PROPERTIES.values(), key=lambda one: one.id)
                if clause.id in one.clauses
            ),
            actions=_actions(name for cited, name in self._actions if clause.id in cited),
            defects=tuple(
                Named(str(one.get("id")), str(one.get("title")))
                for one in self._defects
                if clause.id in one.get("clauses", ())
            ),
        )

    def _sources(self, clause: Clause) -> Iterator[Cited]:
        for source in parse_sources(clause.source) or ():
            title = str(self._texts.get(source.text, {}).get("title", ""))
            yield Cited(source.text, title, source.section or "")


def _tables(file: Path, key: str) -> list[dict[str, Any]]:
    """The tables of a registry; a corpus of its own may come without it."""
    if not file.is_file():
        return []
    found: list[dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8")).get(key, [])
    return found


@cache
def _functions() -> tuple[tuple[frozenset[str], Named], ...]:
    """Every function and class of model and format whose docstring ends in clauses, as installed."""
    return tuple(found for package in STATING for found in _functions_below(package))


def _functions_below(package: str) -> Iterator[tuple[frozenset[str], Named]]:
    spec = importlib.util.find_spec(package)
    for folder in spec.submodule_search_locations or () if spec else ():
        for path in sorted(Path(folder).rglob("*.py")):
            module = ".".join((package, *path.relative_to(folder).with_suffix("").parts)).removesuffix(".__init__")
            text = path.read_text(encoding="utf-8")
            if "Clauses:" in text:
                yield from _documented(ast.parse(text), module)


def _documented(node: ast.AST, place: str) -> Iterator[tuple[frozenset[str], Named]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Documented):
            name = f"{place}.{child.name}"
            docstring = ast.get_docstring(child) or ""
            _, stated, clauses = docstring.rpartition("Clauses:")
            if stated:
                yield frozenset(_CITED.findall(clauses)), Named(name, docstring.splitlines()[0])
            yield from _documented(child, name)


def _actions(names: Iterable[str]) -> tuple[str, ...]:
    """Each name once; a module is left out where one of its operators is named."""
    found = tuple(dict.fromkeys(names))
    modules = {name.partition("!")[0] for name in found if "!" in name}
    return tuple(name for name in found if name not in modules)


def tla_actions(folder: Path) -> Iterator[tuple[frozenset[str], str]]:
    """What the TLA+ modules define under a comment that cites clauses, as `Module!Name`; the clauses beside it.

    The comment at a module's head cites for the whole module.
    """
    for path in sorted(folder.glob("*.tla")):
        cited: set[str] = set()
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("(*") and (named := _CITED.findall(line)):
                yield frozenset(named), path.stem
            if line.startswith("\\*"):
                cited.update(_CITED.findall(line))
                continue
            defined = _DEFINED.match(line)
            if defined and cited:
                yield frozenset(cited), f"{path.stem}!{defined['name']}"
            cited.clear()


def json_lines(facts: Sequence[ClauseFacts]) -> Iterator[str]:
    """One JSON object a line."""
    return (json.dumps(one.to_json(), ensure_ascii=False) for one in facts)
