"""A place that is no table is refused with its full path, what is there, and what to give instead."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hudi_conformance.runner.archive import golden_table
from hudi_format.errors import FormatError
from hudi_format.storage import LocalStorage, open_storage
from hudi_format.table.no_table import no_table
from hudi_spark import HudiError, check_table, read_arrow

TABLE = golden_table("v9/mor_event_time_late_data")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table in a folder of tables."""
    return Path(shutil.copytree(TABLE, tmp_path / "tables" / "trips"))


def partition(table: Path) -> Path:
    return next(path for path in sorted(table.iterdir()) if path.is_dir() and path.name != ".hoodie")


def base_file(table: Path) -> Path:
    return next(iter(sorted(partition(table).glob("*.parquet"))))


def lost(table: Path, what: str) -> Path:
    place = table / what
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink()
    return table


def linked(table: Path) -> Path:
    """An empty folder with a link that leads out of it, as `/bin` is."""
    place = table.parent / "linked"
    (place / "usr").mkdir(parents=True)
    (place / "usr/X11").symlink_to(table.parent.parent)
    (place / "bin").symlink_to("usr")
    (place / "out").symlink_to("/")
    return place


def emptied(table: Path) -> Path:
    shutil.rmtree(table)
    table.mkdir()
    return table


PLACES: dict[str, tuple[Callable[[Path], Path], str, str]] = {
    "a partition": (partition, "this is a partition of the table {table}", "{table}"),
    "its .hoodie": (lambda table: table / ".hoodie", "this is inside .hoodie of the table {table}", "{table}"),
    "its timeline": (
        lambda table: table / ".hoodie/timeline",
        "this is inside .hoodie of the table {table}",
        "{table}",
    ),
    "a data file": (base_file, "this is a file, no folder", "{table}"),
    "a partition that is missing": (lambda table: table / "Lima", "the folder does not exist", "{table}"),
    "a folder of tables": (lambda table: table.parent, "the folder holds tables, and is none itself", "{table}"),
    "a missing folder": (lambda table: table.parent / "trip", "the folder does not exist", "the folder that holds"),
    "lost properties": (
        lambda table: lost(table, ".hoodie/hoodie.properties"),
        ".hoodie/hoodie.properties and its backup are lost, and the rest of a table is there",
        "HudiTable.recover",
    ),
    "a lost .hoodie": (lambda table: lost(table, ".hoodie"), ".hoodie is lost", "HudiTable.recover"),
    "a folder of links": (linked, "there is no .hoodie/hoodie.properties", "create_arrow"),
    "an empty folder in a folder": (
        emptied,
        "there is no .hoodie/hoodie.properties",
        "the folder that holds .hoodie",
    ),
}


@pytest.mark.parametrize("what", PLACES)
def test_a_refusal_says_what_is_there_and_what_to_give_instead(what: str, table: Path) -> None:
    place, message, hint = PLACES[what]
    found = place(table)
    for read in (check_table, read_arrow):
        with pytest.raises(HudiError) as refused:
            read(found)
        assert (refused.value.reason, refused.value.clause) == ("NOT_A_TABLE", "SL-001")
        assert refused.value.file == str(found)
        assert message.format(table=table) in refused.value.message
        assert hint.format(table=table) in refused.value.hint


def test_a_relative_path_is_named_in_full(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(table.parent)
    assert no_table(LocalStorage(Path("trips"))).file == str(table)


def test_many_tables_are_counted(table: Path) -> None:
    for number in range(6):
        shutil.copytree(table, table.parent / f"more{number}")
    assert no_table(LocalStorage(table.parent)).hint.endswith("and 2 more")


@pytest.mark.parametrize(("below", "above"), [("north/2025", True), (".hoodie", True), ("elsewhere", False)])
def test_a_prefix_of_a_bucket_is_explained_by_what_lies_below_it(below: str, above: bool, tmp_path: Path) -> None:
    """A partition says how deep it lies."""
    root = f"memory://no-table-{tmp_path.name}/trips"
    storage = open_storage(root)
    storage.put(".hoodie/hoodie.properties", b"hoodie.table.name=trips\n")
    storage.put("north/2025/.hoodie_partition_metadata", b"commitTime=20250101000000000\npartitionDepth=2\n")
    found: FormatError = no_table(open_storage(f"{root}/{below}"))
    assert found.file == f"{root}/{below}"
    assert found.hint == (f"give the table's base path: {root}" if above else found.hint)
    assert (f"of the table {root}" in found.message) is above
