"""The parts of the documentation site that are generated, and its pictures."""

import re
from pathlib import Path

import hudi_spark
import pytest
from hudi_conformance.cli import whole_app
from hudi_conformance.pages.site.clause_pages import ClausePages
from hudi_conformance.pages.site.commands import commands_page
from hudi_conformance.pages.site.pictures import FOLDER, PICTURES
from hudi_conformance.pages.site.results_matrix import results_matrix
from hudi_conformance.pages.site.screenshots import DIGEST, digest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", PICTURES)
def test_a_drawing_is_what_would_be_drawn_now(name: str):
    """`make pictures` draws it again."""
    assert (ROOT / FOLDER / f"{name}.svg").read_text(encoding="utf-8") == PICTURES[name]()


def test_no_drawing_is_left_over():
    assert {path.stem for path in (ROOT / FOLDER).iterdir()} == set(PICTURES)


def test_the_screenshots_show_the_report_of_today():
    """`make pictures` takes them again after a change of the report's templates."""
    assert (ROOT / DIGEST).read_text(encoding="utf-8").strip() == digest()


@pytest.fixture(scope="module")
def clause_pages() -> ClausePages:
    return ClausePages(ROOT)


def test_a_clause_has_an_anchor_and_links_back(clause_pages: ClausePages):
    page = clause_pages.page("merging.md")

    assert "## MG-004 A tie goes to the newer { #mg-004 }" in page
    assert "`hudi_model.merging.merge_by_event_time`" in page
    assert "`v9/mor_event_time_late_data::snapshot`" in page
    assert clause_pages.places["MG-004"] == "reference/clauses/merging.md#mg-004"


def test_tla_operators_are_named(clause_pages: ClausePages):
    assert "`TimelineFiles!StateIn`" in clause_pages.page("timeline.md")


def test_the_reference_of_commands_names_groups_and_options():
    page = commands_page(whole_app())

    assert "## hudi-conformance check-table" in page
    assert "### hudi-conformance golden unpack" in page
    assert "`--adapter`" in page


def test_the_results_name_every_version():
    page = results_matrix(ROOT)

    assert all(f"\n| {version} |" in page for version in (4, 5, 6, 8, 9))
    assert "hudi-rs" in page


def test_the_results_show_every_area_over_the_releases_of_apache_hudi():
    trend = results_matrix(ROOT).partition("## Apache Hudi over its releases\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in trend.splitlines() if line.startswith("| ")]

    assert rows[0] == ["| area", "cases", "0.15.0", "1.0.2", "1.1.1", "1.2.0", "trend |"]
    assert len(rows) > 15
    assert all(row[-1].count("<circle ") == 4 for row in rows[2:])
    assert sum(int(row[1]) for row in rows[2:-1]) == int(rows[-1][1])


def test_the_reference_has_every_public_name():
    page = (ROOT / "docs" / "reference" / "python-api.md").read_text(encoding="utf-8")

    assert sorted(re.findall(r"^::: hudi_spark\.(\w+)$", page, re.MULTILINE)) == sorted(hudi_spark.__all__)
