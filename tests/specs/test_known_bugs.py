"""Every documented defect of a real implementation is shown here, or waits for something named, or does not apply."""

from dataclasses import replace
from pathlib import Path

import pytest
from hudi_conformance.pages.known_bug_list import KnownBug, faults, load_known_bugs, page
from hudi_conformance.runner.cases import load_cases
from hudi_conformance.verification.lint.checkout import read_checkout
from hudi_conformance.verification.properties import MODEL_PROPERTIES

ROOT = Path(__file__).parents[2]
BUGS = load_known_bugs(ROOT)
VALID = KnownBug("bug-1", "area", "title", ("RD-001",), ("v9/a::b",), (), (), "", "", "")


def test_all_550_are_listed_once() -> None:
    """None is lost, none is counted twice."""
    assert len(BUGS) == len({bug.id for bug in BUGS}) == 550


def test_what_an_entry_names_exists() -> None:
    """Clauses, cases, properties and tests are real."""
    clauses, cases = (
        read_checkout(ROOT).ids,
        frozenset(case.id.removeprefix("conformance::") for case in load_cases(ROOT)),
    )

    found = [fault for bug in BUGS for fault in faults(bug, clauses, cases, frozenset(MODEL_PROPERTIES))]
    missing = [test for bug in BUGS for test in bug.tests if not _is_test(test)]

    assert found == []
    assert missing == []


def _is_test(test: str) -> bool:
    file, _, name = test.partition("::")
    path = ROOT / file
    return path.is_file() and f"def {name}(" in path.read_text(encoding="utf-8")


def test_the_page_names_every_bug() -> None:
    """It is generated from the registry."""
    text = page(BUGS)
    assert [bug.id for bug in BUGS if bug.id not in text] == []


@pytest.mark.parametrize(
    ("bug", "word"),
    [
        (replace(VALID, clauses=("RD-999",)), "no clause RD-999"),
        (replace(VALID, cases=("v9/none::x",)), "no case v9/none::x"),
        (replace(VALID, properties=("PO-999",)), "no property PO-999"),
        (replace(VALID, cases=()), "one of the three"),
        (replace(VALID, waits="something"), "one of the three"),
        (replace(VALID, clauses=()), "names no clause"),
    ],
)
def test_an_entry_that_says_what_is_not_so_is_found(bug: KnownBug, word: str) -> None:
    """A registry nobody checks would soon be wishful."""
    known = frozenset({"RD-001"}), frozenset({"v9/a::b"}), frozenset({"PO-100"})

    assert not list(faults(VALID, *known))
    assert any(word in fault for fault in faults(bug, *known))
