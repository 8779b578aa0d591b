"""Where clauses are cited: docstrings and constants of Python, cases and tables, TLA+ comments, docs."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hudi_conformance.runner.clauses import CLAUSE_ID, Problem
from hudi_conformance.runner.resources import TABLES, WRITING_CASES
from hudi_conformance.verification.lint.checkout import Checkout, read_toml, tables, words

CITED = re.compile(r"\b[A-Z]{2,4}-[0-9]{3}\b")
CLAUSES_LINE = re.compile(r"^Clauses: (?P<ids>[A-Z]{2,4}-[0-9]{3}(?:,\s+[A-Z]{2,4}-[0-9]{3})*)\.$", re.DOTALL)
ROOMS = ("model", "format", "engine", "adapter", "conformance")
Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Citation:
    """A clause id as it stands somewhere; `kind` is the room of a docstring, or what cites it.

    `versions`: those of the table that a case is about; None where it is about all.
    """

    id: str
    kind: str
    file: str
    line: int
    versions: frozenset[int] | None = None


def all_citations(checkout: Checkout) -> list[Citation]:
    """Every citation in the checkout; a `Clauses:` line of the wrong form becomes a problem."""
    return [
        *_python_citations(checkout),
        *_case_citations(checkout),
        *_trace_citations(checkout),
        *_expected_failures(checkout),
        *_text_citations(checkout, "tla", "specs/tla", "*.tla"),
        *_text_citations(checkout, "docs", "docs", "*.md"),
        *_text_citations(checkout, "docs", "specs/questions", "*.md"),
    ]


def _python_citations(checkout: Checkout) -> Iterator[Citation]:
    for room in ROOMS:
        for path in checkout.python_files(room):
            name = checkout.name(path)
            try:
                tree = ast.parse(path.read_bytes())
            except (SyntaxError, ValueError) as error:
                checkout.problems.append(Problem(name, 1, f"does not parse: {error}"))
                continue
            yield from _docstring_citations(checkout, tree, room, name)
            yield from _constant_citations(checkout, tree, name)


def _docstring_citations(checkout: Checkout, tree: ast.Module, room: str, name: str) -> Iterator[Citation]:
    for node in ast.walk(tree):
        if not isinstance(node, Documented):
            continue
        docstring = ast.get_docstring(node) or ""
        start = docstring.find("\nClauses:") + 1 if not docstring.startswith("Clauses:") else 0
        last = docstring[start:].strip()
        if not last.startswith("Clauses:"):
            continue
        match = CLAUSES_LINE.match(last)
        if not match:
            message = f"{node.name}: the docstring must end in a line like `Clauses: TL-004, TL-006.`"
            checkout.problems.append(Problem(name, node.lineno, message))
        yield from (Citation(found, room, name, node.lineno) for found in CITED.findall(last))


def _constant_citations(checkout: Checkout, tree: ast.Module, name: str) -> Iterator[Citation]:
    """String constants that are nothing but a clause id, as in `Rejection(reason, "TL-016", ...)`."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(value)) if CLAUSE_ID.match(value) and value.partition("-")[0] in checkout.areas:
                yield Citation(value, "code", name, node.lineno)


def _case_citations(checkout: Checkout) -> Iterator[Citation]:
    for path in sorted((checkout.root / TABLES).rglob("table.toml")):
        name = checkout.name(path)
        content = read_toml(checkout, name)
        yield from (Citation(found, "table", name, 1) for found in words(content.get("clauses")))
        for case in tables(content.get("case")):
            version = path.parent.parent.name.removeprefix("v")
            yield from _ids_of_case(case, name, _line_of(path, str(case.get("id"))), version)
    for path in sorted((checkout.root / WRITING_CASES).glob("*/*.toml")):
        name = checkout.name(path)
        content = read_toml(checkout, name)
        scripts = content.get("scripts")
        for case in tables(content.get("case")):
            stated = {**content, **case}
            steps = scripts.get(stated.get("script")) if isinstance(scripts, dict) else None
            line = _line_of(path, str(case.get("id")))
            yield from _ids_of_case({**stated, "steps": steps}, name, line, str(stated.get("table_version")))


def _ids_of_case(case: dict[str, Any], name: str, line: int, version: str) -> Iterator[Citation]:
    """The kind says what the case shows: `accept` an answer, `reject:REASON` a refusal.

    A table that an upgrade or downgrade takes to another version shows what holds for that one, too.
    """
    steps = tables(case.get("steps"))
    given = (step.get("params") for step in steps)
    taken_to = (str(params.get("to")) for params in given if isinstance(params, dict))
    versions = frozenset(int(one) for one in (version, *taken_to) if one.isdecimal())
    kinds = {"accept" for step in steps if "expect" in step}
    kinds |= {f"reject:{step['reject'].get('reason')}" for step in steps if isinstance(step.get("reject"), dict)}
    for found in words(case.get("clauses")):
        yield from (Citation(found, kind, name, line, versions) for kind in sorted(kinds) or ["case"])
    for step in steps:
        for warning in tables(step.get("warnings")):
            yield Citation(str(warning.get("clause")), "warning", name, line)


def _trace_citations(checkout: Checkout) -> Iterator[Citation]:
    """Of a trace the kind says whether it is accepted; a refused line has no reason of specs/reasons.toml."""
    for path in (checkout.root / "conformance/trace_cases").glob("*.toml"):
        name = checkout.name(path)
        for case in tables(read_toml(checkout, name).get("case")):
            kind, line = "accept" if case.get("accept") else "reject:trace", _line_of(path, str(case.get("id")))
            yield from (Citation(found, kind, name, line) for found in words(case.get("clauses")))


def _expected_failures(checkout: Checkout) -> Iterator[Citation]:
    folder = checkout.root / "adapters"
    lists = [(path, "case", "id") for path in folder.glob("*.expected.toml")]
    lists += [(path, "finding", "name") for path in (folder / "findings").glob("*.toml")]
    for path, kind, called in sorted(lists):
        name = checkout.name(path)
        for entry in tables(read_toml(checkout, name).get(kind)):
            if "clause" in entry:
                word = str(entry.get(called) or next(iter(words(entry.get("ids"))), None))
                yield Citation(str(entry["clause"]), "expected failure", name, _line_of(path, word))


def _text_citations(checkout: Checkout, kind: str, folder: str, pattern: str) -> Iterator[Citation]:
    for path in sorted((checkout.root / folder).rglob(pattern)):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        for number, line in enumerate(lines, start=1):
            for found in CITED.findall(line):
                if kind == "tla" or found.partition("-")[0] in checkout.areas:
                    yield Citation(found, kind, checkout.name(path), number)


def _line_of(path: Path, identifier: str) -> int:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((number for number, line in enumerate(lines, start=1) if f'"{identifier}"' in line), 1)
