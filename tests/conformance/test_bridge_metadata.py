"""Metadata tables through the bridge: what the model holds of an index is what its stored files say, byte for byte."""

from pathlib import Path

import pytest
from hudi_conformance.bridge import load, store
from hudi_conformance.corpus.golden.layout import merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable
from hudi_conformance.corpus.golden.recipes.indexes import EVERY, OLD, spread
from hudi_conformance.corpus.golden.rides import ride, second
from hudi_model.metadata import rows_of, valid, view_of
from hudi_model.tables import Table
from hudi_model_tools.checks.metadata import metadata_differences

VERSIONS = pytest.mark.parametrize("version", [6, 8, 9])


def indexed(version: int) -> GoldenTable:
    """Every index that a version has, over logs, with deletes of entries."""
    table = GoldenTable(f"v{version}/tried", merge_on_read(version))
    table.insert(second(1), spread(10))
    table.keep_indexes(*(EVERY if version > 6 else OLD))
    table.upsert(second(2), [ride("r01", 20, rider="A$b\\c\x01")])
    table.delete(second(3), "lima", "r13")
    return table


def held(table: Table) -> dict[str, dict[str, object]]:
    """What every index holds, sizes of files left out, which only storage knows."""
    rows = rows_of(view_of(valid(table)))
    return {
        name: entries if name != "files" else {key: set(one) for key, one in entries.items()}
        for name, entries in rows.items()
    }


@VERSIONS
def test_a_stored_metadata_table_is_loaded_as_it_was(version: int, tmp_path: Path) -> None:
    """Names in place of hashes, bounds in their types, places, escaped values, deletes."""
    made = indexed(version).state()
    store(made, tmp_path)
    found = load(tmp_path)
    assert held(found) == held(made)
    assert found.metadata is not None
    assert made.metadata is not None
    assert {one.name for one in found.metadata.indexes} == {one.name for one in made.metadata.indexes}


@VERSIONS
def test_what_is_loaded_agrees_with_the_files_and_rows_of_the_table(version: int, tmp_path: Path) -> None:
    """Sizes of files included."""
    store(indexed(version).state(), tmp_path)
    assert metadata_differences(load(tmp_path)) == ()


@VERSIONS
def test_equal_metadata_tables_have_equal_bytes(version: int, tmp_path: Path) -> None:
    """Golden tables are built twice and compared."""
    for name in ("one", "two"):
        store(indexed(version).state(), tmp_path / name)
    listed = [
        sorted(path.relative_to(tmp_path / name) for path in (tmp_path / name).rglob("*")) for name in ("one", "two")
    ]
    assert listed[0] == listed[1]
    files = [path for path in listed[0] if (tmp_path / "one" / path).is_file()]
    assert [
        path for path in files if (tmp_path / "one" / path).read_bytes() != (tmp_path / "two" / path).read_bytes()
    ] == []
