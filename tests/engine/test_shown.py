"""What tables and outcomes look like in a shell and in a notebook."""

import re
from pathlib import Path
from typing import Any

import hudi_spark
import pytest
from hudi_conformance.runner.resources import suite_root
from hudi_spark import (
    HudiError,
    HudiTable,
    Outcome,
    TableDefinition,
    UnsupportedFeature,
    create_arrow,
    read_arrow,
    services_arrow,
    write_arrow,
)
from written_tables import SCHEMA, rows

TABLE_TYPES = pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])


def table_of(path: Path, table_type: Any = "COPY_ON_WRITE", name: str = "trips") -> Path:
    create_arrow(path, TableDefinition(name, SCHEMA, table_type=table_type, record_key=("id",), ordering=("ts",)))
    return path


def test_the_public_names_are_those_of_the_reference():
    page = (suite_root() / "docs/reference/python-api.md").read_text()
    assert sorted(re.findall(r"^::: hudi_spark\.(\w+)$", page, re.MULTILINE)) == sorted(hudi_spark.__all__)
    assert all(hasattr(hudi_spark, name) for name in hudi_spark.__all__)


def test_a_shell_completes_and_suggests_the_public_names():
    assert dir(hudi_spark) == hudi_spark.__all__
    with pytest.raises(AttributeError) as found:
        hudi_spark.read_arow  # noqa: B018
    assert (found.value.name, found.value.obj) == ("read_arow", hudi_spark)


@pytest.mark.parametrize(
    ("call", "near"),
    [
        (lambda path: read_arrow(path, columns=["ID"]), "id"),
        (lambda path: read_arrow(path, filter="ids = 1"), "id"),
        (lambda path: read_arrow(path, filter=["prices", ">", 1]), "price"),
        (lambda path: write_arrow(path, rows([1]), "upsrt"), "upsert"),
        (lambda path: services_arrow(path).run("compactions"), "compaction"),
    ],
)
def test_the_nearest_of_what_there_is_is_suggested(tmp_path: Path, call: Any, near: str):
    path = table_of(tmp_path / "t")
    write_arrow(path, rows([1]))
    with pytest.raises((HudiError, UnsupportedFeature), match=rf"did you mean {near}\?"):
        call(path)


def test_services_are_shown_by_what_they_are(tmp_path: Path):
    assert repr(services_arrow(tmp_path)) == (
        f"<TableServices {tmp_path}: compaction, logcompaction, clustering, clean, indexing>"
    )


@TABLE_TYPES
def test_a_delete_that_matches_nothing_says_so(tmp_path: Path, table_type: str):
    path = table_of(tmp_path / "t", table_type)
    write_arrow(path, rows(range(3)))
    for nothing in (
        write_arrow(path, rows([7]), "delete"),
        write_arrow(path, operation="delete", filter=["id", "=", "nobody"]),
    ):
        assert "no stored row matches" in str(nothing)
        assert "no stored row matches" in nothing._repr_html_()
    something = write_arrow(path, rows([1, 7]), "delete")
    assert "1 deleted" in str(something)
    assert "no stored row" not in str(something)


def test_a_notebook_shows_an_outcome_escaped():
    outcome = Outcome("1", "2", "commit", "UPSERT", schema_changes=("column <b> added, string",))
    shown = outcome._repr_html_()
    assert "<td>completed</td><td>2</td>" in shown
    assert "column &lt;b&gt; added, string" in shown
    assert "nothing to do" in Outcome("", None, "", "DELETE_PARTITION", missing_partitions=("x",))._repr_html_()


def test_a_table_is_shown_with_its_last_ten_actions(spark: Any, tmp_path: Path):
    path = table_of(tmp_path / "t", name="trips<1>")
    outcomes = [write_arrow(path, rows([n])) for n in range(11)]
    table = HudiTable(spark, path)
    assert repr(table) == f"<HudiTable {path}: trips<1>, COPY_ON_WRITE, table version 9>"
    shown = table._repr_html_()
    assert "trips&lt;1&gt;" in shown
    assert "10 of 11 actions" in shown
    assert [one.requested in shown for one in outcomes] == [False] + [True] * 10


def test_what_is_no_table_is_shown_as_such(spark: Any, tmp_path: Path):
    table = HudiTable(spark, tmp_path)
    assert repr(table) == f"<HudiTable {tmp_path}: NOT_A_TABLE>"
    assert "NOT_A_TABLE" in table._repr_html_()
