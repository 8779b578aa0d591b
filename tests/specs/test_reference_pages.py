"""The reference pages are written from what the code goes by."""

from pathlib import Path

import pytest
from hudi_conformance.pages import clause_index, protocol_page
from hudi_conformance.runner.clauses import load_clauses
from hudi_conformance.runner.messages import MESSAGES, check_message

ROOT = Path(__file__).parents[2]


def test_the_page_of_clauses_is_current():
    """`make golden` writes it."""
    assert (ROOT / clause_index.PAGE).read_text(encoding="utf-8") == clause_index.clause_index(ROOT)


def test_it_leads_to_every_clause():
    """No rule is left out, and every link leads to a heading that is there."""
    page = clause_index.clause_index(ROOT)

    for clause in load_clauses(ROOT / "specs" / "clauses"):
        assert f"(../../specs/clauses/{clause.anchor})" in page
        assert f"## {clause.id} {clause.title}" in (ROOT / "specs" / "clauses" / clause.file).read_text(
            encoding="utf-8"
        )


def test_the_page_of_the_protocol_is_current():
    """`make golden` writes it."""
    assert (ROOT / protocol_page.PAGE).read_text(encoding="utf-8") == protocol_page.protocol_page(ROOT)


@pytest.mark.parametrize("name", MESSAGES)
def test_its_examples_keep_to_the_schemas(name: str):
    """Who copies one has a sound message."""
    check_message(name, protocol_page.example(name))
