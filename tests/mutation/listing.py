"""The mutants of the modules: those that cosmic-ray makes, less those that say nothing, and a draw of the rest."""

import ast
import hashlib
import pickle
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import cosmic_ray.plugins
from cosmic_ray.commands.init import init
from cosmic_ray.mutating import mutate_code
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import MutationSpec
from mutation_targets import BUILD, ENGINE, SEED

Drawn = TypeVar("Drawn")


class Named(Protocol):
    """A mutant, by whatever tool."""

    @property
    def module(self) -> str:
        """Where it is."""

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What names it."""


Listed = TypeVar("Listed", bound=Named)
_BINARY: Final = "core/ReplaceBinaryOperator"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one line.

    `text`: the line as it stands in the module. `nth`: which it is of those of one operator on equal lines.
    """

    module: str
    text: str
    operator: str
    nth: int
    line: int
    becomes: str
    spec: MutationSpec

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What names it, also when lines above it come or go."""
        return self.module, self.text, self.operator, self.nth


def mutants_of(modules: Sequence[str], package: Path = ENGINE / "hudi_spark") -> list[Mutant]:
    """Every mutant of some modules that says something; a list of the same sources is made once."""
    sources = _sources(modules, package)

    def make() -> list[Mutant]:
        return [one for module, source in sources.items() for one in _named(module, source, _specs(package / module))]

    return _made_once(sources, 0, make)


def some_mutants(modules: Sequence[str], count: int, package: Path = ENGINE / "hudi_spark") -> list[Mutant]:
    """That many mutants, drawn by the fixed seed from each module by its length; only these are made."""
    sources = _sources(modules, package)
    whole = sum(map(len, sources.values()))

    def make() -> list[Mutant]:
        found: list[Mutant] = []
        for module, source in sources.items():
            listed = _specs(package / module)
            # Twice as many: of those that say nothing there are fewer.
            few = max(1, round(2 * count * len(source) / whole))
            found += _named(module, source, _shuffled(module, listed)[:few])
        return _shuffled("", found)[:count]

    return _made_once(sources, count, make)


def _sources(modules: Sequence[str], package: Path) -> dict[str, str]:
    return {module: (package / module).read_text(encoding="utf-8") for module in modules}


def _made_once(sources: Mapping[str, str], count: int, make: Callable[[], list[Mutant]]) -> list[Mutant]:
    BUILD.mkdir(parents=True, exist_ok=True)
    names = repr((sources, count, cosmic_ray.plugins.operator_names()))
    made = BUILD / f"listing-{hashlib.sha256(names.encode()).hexdigest()[:12]}.pickle"
    if not made.exists():
        made.write_bytes(pickle.dumps(make()))
    return list(pickle.loads(made.read_bytes()))  # noqa: S301 - written here


def _specs(path: Path) -> list[MutationSpec]:
    file = BUILD / "listing.sqlite"
    file.unlink(missing_ok=True)
    listed = WorkDB(str(file), WorkDB.Mode.create)
    init([path], listed, {})
    specs = [item.mutations[0] for item in listed.work_items]
    listed.close()
    return specs


def _named(module: str, source: str, specs: Iterable[MutationSpec]) -> Iterator[Mutant]:
    lines, quiet = source.splitlines(), _Quiet(source)
    seen: Counter[tuple[str, str]] = Counter()
    for spec in sorted(specs, key=lambda one: (one.start_pos, one.operator_name, one.occurrence)):
        mutated = None if quiet.holds(spec) else _mutated(source, spec)
        if mutated is None:
            continue
        row, _ = spec.start_pos
        text = lines[row - 1].strip()
        seen[text, spec.operator_name] += 1
        becomes = mutated.splitlines()[row - 1].strip()
        yield Mutant(module, text, spec.operator_name, seen[text, spec.operator_name], row, becomes, spec)


def _mutated(source: str, spec: MutationSpec) -> str | None:
    """The source with one mutation; None where that is no Python, or changes nothing."""
    operator = cosmic_ray.plugins.get_operator(spec.operator_name)(**spec.operator_args)
    mutated = mutate_code(source, operator, spec.occurrence)
    if mutated is None or mutated == source:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)
            compile(mutated, "mutant", "exec")
    except (SyntaxError, SyntaxWarning):
        return None
    return str(mutated)


class _Quiet:
    """Places where a change says nothing of what the engine does: annotations, how value classes are made."""

    def __init__(self, source: str) -> None:
        tree = ast.parse(source)
        self._extents = [_extent(node) for node in _silent(tree)]
        self._operators = [_between(node) for node in ast.walk(tree) if isinstance(node, ast.BinOp)]

    def holds(self, spec: MutationSpec) -> bool:
        """Whether a mutation is in such a place."""
        place = spec.start_pos
        if spec.operator_name.startswith(_BINARY) and not any(first <= place < last for first, last in self._operators):
            return True
        return any(first <= place < last for first, last in self._extents)


def _silent(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            yield node.annotation
        if isinstance(node, ast.FunctionDef) and node.returns is not None:
            yield node.returns
        if isinstance(node, ast.ClassDef):
            yield from (keyword.value for one in node.decorator_list for keyword in getattr(one, "keywords", ()))


def _extent(node: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _between(node: ast.BinOp) -> tuple[tuple[int, int], tuple[int, int]]:
    return _extent(node.left)[1], _extent(node.right)[0]


def drawn(mutants: Iterable[Listed], share: float) -> list[Listed]:
    """A share of the mutants of each module, by a fixed seed: a smaller share is where a greater one begins."""
    of_module: dict[str, list[Listed]] = {}
    for mutant in mutants:
        of_module.setdefault(mutant.module, []).append(mutant)
    placed = [
        (rank / len(found), one)
        for module, found in of_module.items()
        for rank, one in enumerate(_shuffled(module, found))
    ]
    return [one for place, one in sorted(placed, key=lambda pair: (pair[0], pair[1].key)) if place < share]


def _shuffled(module: str, found: list[Drawn]) -> list[Drawn]:
    return random.Random(f"{SEED} {module}").sample(found, len(found))  # noqa: S311 - a draw that can be made again
