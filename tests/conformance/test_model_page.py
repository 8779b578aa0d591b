"""The reading order of the model names every module once, and the page is current."""

from pathlib import Path

from hudi_conformance.pages.model_page import PACKAGE, PAGE, PARTS, model_page

ROOT = Path(__file__).parents[2]


def test_every_module_stands_in_one_part() -> None:
    """A module that no part names would be read by nobody."""
    listed = [module for modules in PARTS.values() for module in modules]
    package = ROOT / PACKAGE
    present = {path.relative_to(package).with_suffix("").as_posix().replace("/", ".") for path in package.rglob("*.py")}

    assert len(listed) == len(set(listed))
    assert set(listed) == {module for module in present if not module.endswith("__init__")}


def test_the_page_is_current() -> None:
    """`make golden` writes it."""
    assert (ROOT / PAGE).read_text(encoding="utf-8") == model_page(ROOT)
