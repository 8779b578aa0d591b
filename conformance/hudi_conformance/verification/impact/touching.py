"""What a change touches before anything is run: functions, the clauses they state, clauses and modules themselves."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hudi_conformance.runner.clauses import load_clauses
from hudi_conformance.verification.impact.functions import (
    CITED,
    Function,
    changed_functions,
    clauses_of,
    clauses_of_mutants,
    reaches,
)
from hudi_conformance.verification.impact.revisions import Side

SHARED = (
    "hudi_model_tools.programs",
    "hudi_model_tools.protocol",
    "hudi_model_tools.explore",
    "hudi_conformance.verification.properties.laws",
    "hudi_conformance.verification.properties.scenarios",
)
"""The model under concurrency and its laws: who touches these, or what they name, touches every scenario."""
EXTENDS = re.compile(r"^EXTENDS (?P<names>[\w, ]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Touched:
    """What a change touches."""

    functions: tuple[str, ...]
    clauses: tuple[str, ...]
    """Stated by those functions or by the one that names them, or broken by a mutant of them."""
    rewritten: tuple[str, ...]
    """Clauses whose own text differs."""
    modules: tuple[str, ...]
    """TLA+ modules of which a file differs, or one that they extend."""
    stating: tuple[str, ...]
    """Other TLA+ modules that cite a touched clause."""
    concurrency: bool
    """Whether the scenarios of the explorer can come to a touched function."""


UNTOUCHED = Touched((), (), (), (), (), concurrency=False)


def touched(base: Side, tree: Side, before: Mapping[str, Function], after: Mapping[str, Function]) -> Touched:
    """What differs between two checkouts, of which these are the functions."""
    names = changed_functions(before, after)
    broken = (clauses_of_mutants(names, side.root) for side in (base, tree))
    clauses = clauses_of(names, before, after).union(*broken)
    rewritten = _rewritten(base.root, tree.root)
    modules = changed_modules(base.root, tree.root)
    return Touched(
        names,
        tuple(sorted(clauses)),
        rewritten,
        modules,
        tuple(one for one in _citing(tree.root, clauses.union(rewritten)) if one not in modules),
        any(reaches(names, side, SHARED) for side in (before, after)),
    )


def changed_modules(base: Path, tree: Path) -> tuple[str, ...]:
    """The modules of which a text, a configuration or a run differs, and those that extend them."""
    before, after = _files(base), _files(tree)
    differing = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    modules = {_module_of(name) for name in differing}
    extending = _extensions(tree)
    while more := {name for name, extended in extending.items() if extended & modules} - modules:
        modules |= more
    return tuple(sorted(modules))


def _files(root: Path) -> dict[str, bytes]:
    folder = root / "specs" / "tla"
    paths = (*folder.glob("*.tla"), *folder.glob("MC*.cfg"), *folder.glob("runs/*.toml"))
    return {path.name: path.read_bytes() for path in paths}


def _module_of(file: str) -> str:
    stem = file.partition(".")[0]
    return stem.removeprefix("MC") if file.endswith(".cfg") else stem


def _extensions(root: Path) -> dict[str, set[str]]:
    found = {}
    for path in (root / "specs" / "tla").glob("*.tla"):
        names = EXTENDS.search(path.read_text(encoding="utf-8", errors="replace"))
        found[path.stem] = {one.strip() for one in names["names"].split(",")} if names else set()
    return found


def _citing(root: Path, clauses: frozenset[str]) -> tuple[str, ...]:
    paths = sorted((root / "specs" / "tla").glob("*.tla"))
    return tuple(
        path.stem
        for path in paths
        if clauses.intersection(CITED.findall(path.read_text(encoding="utf-8", errors="replace")))
    )


def _rewritten(base: Path, tree: Path) -> tuple[str, ...]:
    """The clauses of which anything but their place differs."""
    before, after = (
        {
            one.id: (one.title, one.level, one.versions, one.readings, one.refuses, one.rule)
            for one in load_clauses(root / "specs" / "clauses")
        }
        for root in (base, tree)
    )
    return tuple(sorted(one for one in before.keys() | after.keys() if before.get(one) != after.get(one)))
