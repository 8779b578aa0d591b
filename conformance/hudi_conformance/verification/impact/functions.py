"""The functions of a checkout, what they cite and whom they name: what has changed between two of them."""

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from hudi_conformance.runner.clauses import CLAUSE_ID

PACKAGES = (
    ("model", "hudi_model"),
    ("model", "hudi_model_tools"),
    ("format", "hudi_format"),
    ("conformance", "hudi_conformance/verification/properties"),
)
"""Whose functions state rules, and the properties that hold them to it: folder and package."""
CITED = re.compile(r"\b[A-Z]{2,4}-[0-9]{3}\b")
Documented = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Function:
    """A function, or what else a module or a class holds: its body as one text, clauses cited, names named."""

    name: str
    body: str
    clauses: frozenset[str]
    names: frozenset[str]

    @property
    def own_name(self) -> str:
        """The last part of its name."""
        return self.name.rpartition(".")[2]


def functions_of(root: Path) -> dict[str, Function]:
    """The functions of a checkout by their full names; files that do not parse have none."""
    found: dict[str, Function] = {}
    for room, package in PACKAGES:
        for path in sorted((root / room / package).rglob("*.py")):
            module = ".".join(path.relative_to(root / room).with_suffix("").parts)
            found |= {one.name: one for one in _functions_in(path.read_bytes(), module)}
    return found


@lru_cache(maxsize=1024)
def _functions_in(content: bytes, module: str) -> tuple[Function, ...]:
    """Most files are the same on both sides."""
    return tuple(_held(_parsed(content).body, module))


def changed_functions(before: Mapping[str, Function], after: Mapping[str, Function]) -> tuple[str, ...]:
    """The names of those that are new, gone, or have another body; comments, blanks and docstrings are none of it."""
    return tuple(
        sorted(
            name
            for name in before.keys() | after.keys()
            if name not in before or name not in after or before[name].body != after[name].body
        )
    )


def clauses_of(names: Iterable[str], *sides: Mapping[str, Function]) -> frozenset[str]:
    """The clauses that functions cite; of one that cites none, those of whoever names it, and so on."""
    found: set[str] = set()
    for side in sides:
        callers = callers_by_name(side)
        for name in names:
            found |= _nearest_clauses(name, side, callers)
    return frozenset(found)


def clauses_of_mutants(names: Collection[str], root: Path) -> frozenset[str]:
    """The clauses of the mutants that replace one of these functions: what breaks where it is wrong."""
    found, replaced = set[str](), frozenset(names)
    for path in sorted((root / "conformance" / "hudi_conformance").glob("**/mutants/*.py")):
        for node in ast.walk(_parsed(path.read_bytes())):
            match node:
                case ast.Call(func=ast.Name("mutant"), args=[_, ast.Constant(str(cited)), _, ast.Constant(str(place))]):
                    found.update(
                        CITED.findall(cited) if not replaced.isdisjoint((place, f"hudi_model.{place}")) else ()
                    )
    return frozenset(found)


def callers_by_name(side: Mapping[str, Function]) -> dict[str, list[Function]]:
    """The functions that name a function, by its own name."""
    callers: dict[str, list[Function]] = {}
    for one in side.values():
        for name in one.names:
            callers.setdefault(name, []).append(one)
    return callers


def reaches(names: Iterable[str], side: Mapping[str, Function], modules: tuple[str, ...]) -> bool:
    """Whether a function of these modules is among them, or names one of them, or one that does, and so on."""
    callers = callers_by_name(side)
    waiting, known = [side[name] for name in names if name in side], set[str]()
    while waiting:
        one = waiting.pop()
        if one.name.startswith(modules):
            return True
        if one.name not in known:
            known.add(one.name)
            waiting += callers.get(one.own_name, [])
    return False


def _nearest_clauses(name: str, side: Mapping[str, Function], callers: Mapping[str, list[Function]]) -> frozenset[str]:
    border, known = [side[name]] if name in side else [], set[str]()
    while border:
        cited = frozenset().union(*(one.clauses for one in border))
        if cited:
            return cited
        known |= {one.name for one in border}
        border = [caller for one in border for caller in callers.get(one.own_name, []) if caller.name not in known]
    return frozenset()


def skeleton_of(root: Path) -> str:
    """The model without the bodies of its functions: what a call of another function may depend on, as one text.

    A plain function of a module is none of it: who calls it, reaches it. One that hides another name is.
    """
    texts = []
    for folder in (root / room / package for room, package in PACKAGES if room == "model"):
        for path in sorted(folder.rglob("*.py")):
            texts += [str(path.relative_to(root)), _skeleton_in(path.read_bytes())]
    return "\n".join(texts)


@lru_cache(maxsize=1024)
def _skeleton_in(content: bytes) -> str:
    tree = _parsed(content)
    hidden = {*dir(builtins), *_imported(tree)}
    return "\n".join(map(ast.dump, _bare(tree.body, hidden)))


def _imported(tree: ast.Module) -> Iterator[str]:
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    yield from (alias.asname or alias.name for node in imports for alias in node.names)


def _bare(body: list[ast.stmt], hidden: Collection[str] | None) -> Iterator[ast.stmt]:
    """Of functions their names and decorators, where they are methods or hide one of these names."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            node.body = [*_bare(node.body, None)] or [ast.Pass()]
            yield node
        elif isinstance(node, Documented):
            node.body = [ast.Pass()]
            if hidden is None or node.name in hidden or node.decorator_list:
                yield node
        elif not _is_text(node):
            yield node


def _parsed(content: bytes) -> ast.Module:
    """A file as a tree; nothing where it does not parse, which running it will tell."""
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _held(body: list[ast.stmt], place: str, head: tuple[ast.expr, ...] = ()) -> Iterator[Function]:
    """The functions of a module or a class, and what is left of it as one more: of a class its bases, too."""
    rest: list[ast.AST] = list(head)
    for node in body:
        if isinstance(node, Documented):
            yield _function(f"{place}.{node.name}", [node], ast.get_docstring(node) or "")
        elif isinstance(node, ast.ClassDef):
            given = (*node.bases, *(one.value for one in node.keywords), *node.decorator_list)
            yield from _held(node.body, f"{place}.{node.name}", given)
        elif not isinstance(node, ast.Import | ast.ImportFrom) and not _is_text(node):
            rest.append(node)
    if rest:
        yield _function(place, rest, "")


def _function(name: str, nodes: list[ast.AST], docstring: str) -> Function:
    body = "\n".join(ast.dump(_without_docstring(node)) for node in nodes)
    inside = [one for node in nodes for one in ast.walk(node)]
    named = {one.id for one in inside if isinstance(one, ast.Name)}
    named |= {one.attr for one in inside if isinstance(one, ast.Attribute)}
    constants = (one.value for one in inside if isinstance(one, ast.Constant) and isinstance(one.value, str))
    cited = {value for value in constants if CLAUSE_ID.match(value)}
    clauses = CITED.findall(docstring[docstring.rfind("Clauses:") :]) if "Clauses:" in docstring else []
    return Function(name, body, frozenset(cited).union(clauses), frozenset(named))


def _without_docstring(node: ast.AST) -> ast.AST:
    if isinstance(node, Documented) and node.body and _is_text(node.body[0]):
        node.body = node.body[1:] or [ast.Pass()]
    return node


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
