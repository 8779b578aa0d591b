"""A check names every clause that a table breaks, and nothing else, and writes nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import test_checking_files as files
import test_checking_services as services
import test_checking_timeline as timeline
from checked_reference import KNOWN, assert_alike
from checked_tables import badly_damaged
from hudi_conformance.runner.answers_file import read_answer
from hudi_conformance.runner.archive import folder_of, unpacked_corpus
from hudi_format.compat import tomllib
from hudi_format.storage import LocalStorage, open_storage
from hudi_spark import HudiError, check_table
from hudi_spark.errors import Reason

# The engine refuses tables of the draft version 10.
_GOLDEN = sorted(path.parent for path in unpacked_corpus().glob("v[4-9]/*/table"))
# Tables of which cases ask what reading refuses or passes over, and none what a check says.
_REFUSED = {
    "v9/apache_cow_not_a_number": "MT-011 MT-014",
    "v9/bad_change_log_content": "LF-007",
    "v9/bad_change_log_missing": "CD-003",
    "v9/bad_empty_commit_in_range": "TL-015",
    "v8/bad_history_manifest": "TL-031",
    "v9/bad_history_manifest": "TL-031",
    "v9/bad_history_version": "TL-031",
    "v9/bad_merger": "MG-016",
    "v9/bad_partial_update_mode": "MG-026",
    "v9/bad_properties_and_backup": "PR-003",
}


# Bytes that readers skip, and leftovers of an update.
_WARNINGS = {"LF-010", "PR-008"}


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing may be written to a folder, nor deleted."""

    def refuse(_: LocalStorage, path: str, *data: bytes) -> None:
        raise AssertionError(f"a check changes {path}: {data!r:.40}")

    for name in ("put_if_absent", "put", "delete", "delete_folder"):
        monkeypatch.setattr(LocalStorage, name, refuse)


def _answers(table: Path) -> Iterator[Any]:
    """What the golden table's own cases say that a check of it finds."""
    folder = folder_of(f"{table.parent.name}/{table.name}")
    for case in tomllib.loads((folder / "table.toml").read_text())["case"]:
        for step in case["steps"]:
            if step["op"] == "check_table":
                yield read_answer(folder / "expected.json", step["expect"])


def _expected(table: Path) -> set[tuple[str, str]]:
    """Clauses and severities of the golden answer, or of what reading refuses."""
    for answer in _answers(table):
        return {(one["clause"], one["severity"]) for one in answer}
    refused = _REFUSED.get(f"{table.parent.name}/{table.name}", "")
    return {(clause, "error") for clause in refused.split()}


@pytest.mark.slow
@pytest.mark.usefixtures("read_only")
@pytest.mark.parametrize("table", _GOLDEN, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_golden_table_breaks_what_was_broken_in_it_and_nothing_else_and_as_the_model_says(table: Path) -> None:
    if table.name == "bad_not_a_table":
        with pytest.raises(HudiError) as refused:
            check_table(table / "table")
        assert refused.value.reason is Reason.NOT_A_TABLE
        return

    assert_alike(f"{table.parent.name}/{table.name}", table / "table")
    found = check_table(table / "table", deep=True)

    errors = {(one.clause, one.severity) for one in found if one.severity == "error"}
    assert errors == {one for one in _expected(table) if one[1] == "error"}
    warnings = {clause for clause, severity in _expected(table) if severity == "warning"}
    assert {one.clause for one in found if one.severity == "warning"} <= {*_WARNINGS, *warnings}


def test_listed_refusals_and_differences_are_of_tables_that_are_there() -> None:
    tables = {f"{path.parent.name}/{path.name}" for path in _GOLDEN}
    damages = {str(one) for module in (files, services, timeline) for one in module.DAMAGED.cases}
    assert set(_REFUSED) <= tables
    assert set(KNOWN) <= tables | damages


def test_an_object_store_is_checked_as_a_folder_is(tmp_path: Path) -> None:
    table = badly_damaged(tmp_path)
    place = f"memory://{tmp_path.name}/table"
    storage = open_storage(place)
    for path in table.rglob("*"):
        if path.is_file():
            storage.put(str(path.relative_to(table)), path.read_bytes())
    assert check_table(place, deep=True) == check_table(table, deep=True)
