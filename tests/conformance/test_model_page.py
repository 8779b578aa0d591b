"""The reading order of the model names every module once, its first reading is closed, and the page is current."""

import ast
from pathlib import Path

from hudi_conformance.pages.model_page import (
    BESIDE,
    BESIDE_PARTS,
    FIRST_READING,
    FIRST_READING_LINES,
    PAGE,
    PARTS,
    RULES,
    first_reading_lines,
    model_page,
)

ROOT = Path(__file__).parents[2]


def modules_of(package: Path) -> set[str]:
    """The modules of a package by their names below it."""
    files = (path.relative_to(ROOT / package).with_suffix("") for path in (ROOT / package).rglob("*.py"))
    return {path.as_posix().replace("/", ".") for path in files if path.name != "__init__"}


def imported_by(module: str) -> set[str]:
    """The modules of the model that a module imports, wherever in it."""
    path = ROOT / RULES / f"{module.replace('.', '/')}.py"
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "hudi_model":
            found |= {f"hudi_model.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module))
    return {name.removeprefix("hudi_model.") for name in found if name.startswith("hudi_model")}


def test_every_module_stands_in_one_part() -> None:
    """A module that no part names would be read by nobody."""
    rules = [*FIRST_READING, *(module for modules in PARTS.values() for module in modules)]
    beside = [module for modules in BESIDE_PARTS.values() for module in modules]

    assert len(rules) == len(set(rules))
    assert len(beside) == len(set(beside))
    assert set(rules) == modules_of(RULES)
    assert set(beside) == modules_of(BESIDE)


def test_the_first_reading_stands_on_itself() -> None:
    """Each module imports only modules above it, so that nothing has to be looked up elsewhere."""
    for place, module in enumerate(FIRST_READING):
        assert imported_by(module) <= set(FIRST_READING[:place]), module


def test_the_first_reading_is_short() -> None:
    assert first_reading_lines(ROOT) <= FIRST_READING_LINES


def test_the_page_is_current() -> None:
    """`make pages` writes it."""
    assert (ROOT / PAGE).read_text(encoding="utf-8") == model_page(ROOT)
