"""The page of the status counts what the checkout holds."""

from pathlib import Path

import pytest
from hudi_conformance.pages.status import STATUS_PAGE, status_markdown, write_status
from hudi_conformance.runner.recorded_results import PAGES

CLAUSE = """## MG-003 The greater | ordering value wins
- level: must
- versions: 6, 9
- stated_in: model
- source: spec-1.0, "Merging"

It wins.
"""
TABLE = """id = "v9/t"
title = "A table"
table_version = 9
table_type = "MERGE_ON_READ"
written_by = "model"
"""
CASES = """[[case]]
id = "c"
title = "Late data loses"
clauses = ["MG-003"]
kills = ["ignores-ordering"]
[[case.steps]]
op = "read_snapshot"
reject = {reason = "NOT_A_TABLE"}
"""
MODEL = '''def merge() -> None:
    """Merge.

    Clauses: MG-003.
    """
'''


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    contents = {
        "specs/clauses/merging.md": CLAUSE,
        "specs/areas.toml": '[MG]\ntitle = "Merging"\nfiles = ["merging.md"]\n',
        "golden_tables/v9/t/table.toml": TABLE + CASES,
        "model/hudi_model/merging.py": MODEL,
    }
    for name, text in contents.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_tables_cases_clauses_and_citations_are_counted(checkout: Path):
    text = status_markdown(checkout)

    assert "| 9 | 1 | 1 | 0 | 0 | 1 | 1 |" in text
    assert "| Merging | 1 | 1 | 0 | 1 | 1 |" in text
    assert "`ignores-ordering` (1)" in text
    assert "The greater \\| ordering value wins | must | 6, 9 | 1 |  |  | 1 |" in text


def test_an_empty_checkout_has_a_status_too(tmp_path: Path):
    (tmp_path / "specs" / "clauses").mkdir(parents=True)
    page = write_status(tmp_path)

    assert page == tmp_path / PAGES / STATUS_PAGE
    assert "No case names a mutant." in page.read_text(encoding="utf-8")
