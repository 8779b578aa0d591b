from pathlib import Path

import pytest
from engine_tables import TableBuilder
from hudi_format.errors import FormatError
from hudi_format.storage import open_storage
from hudi_spark import HudiError
from hudi_spark.testing import load_configuration


def load(path: Path):
    return load_configuration(open_storage(path))


def test_a_folder_without_properties_is_not_a_table(tmp_path: Path):
    with pytest.raises(FormatError, match=r"NOT_A_TABLE.*base path") as caught:
        load(tmp_path / "absent")
    assert caught.value.reason == "NOT_A_TABLE"


@pytest.mark.parametrize(
    ("version", "layout", "folder"),
    [(6, 1, ".hoodie"), (8, 2, ".hoodie/timeline"), (9, 2, ".hoodie/timeline")],
)
def test_the_layout_of_the_timeline_follows_from_the_table_version(
    tmp_path: Path, version: int, layout: int, folder: str
):
    builder = TableBuilder(tmp_path, version)
    del builder.properties["hoodie.timeline.layout.version"]
    builder.write_properties()
    found = load(tmp_path)
    assert (found.timeline_layout, found.timeline_folder) == (layout, folder)


@pytest.mark.parametrize("key", ["hoodie.table.name", "hoodie.table.type", "hoodie.table.version"])
def test_the_required_keys_are_required(tmp_path: Path, key: str):
    builder = TableBuilder(tmp_path, properties={key: ""})
    del builder.properties["hoodie.table.checksum"]
    builder.write_properties()
    with pytest.raises(HudiError, match=key) as caught:
        load(tmp_path)
    assert caught.value.reason == "PROPERTIES_INVALID"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hoodie.table.type", "COPY_ON_READ"),
        ("hoodie.table.version", "nine"),
        ("hoodie.table.version", "9 "),
        ("hoodie.table.version", "٩"),
        ("hoodie.table.version", "9" * 5000),
        ("hoodie.timeline.layout.version", "3"),
        ("hoodie.record.merge.mode", "LATEST"),
    ],
)
def test_values_outside_the_format_are_refused(tmp_path: Path, key: str, value: str):
    TableBuilder(tmp_path, properties={key: value})
    with pytest.raises(HudiError) as caught:
        load(tmp_path)
    assert caught.value.reason == "PROPERTIES_INVALID"


@pytest.mark.parametrize("version", [0, 7, 10])
def test_an_unknown_table_version_is_refused(tmp_path: Path, version: int):
    TableBuilder(tmp_path, properties={"hoodie.table.version": str(version)})
    with pytest.raises(HudiError) as caught:
        load(tmp_path)
    assert caught.value.reason == "TABLE_VERSION_UNSUPPORTED"


@pytest.mark.parametrize("version", [4, 5])
def test_versions_before_six_have_its_layout(tmp_path: Path, version: int):
    TableBuilder(
        tmp_path, version=6, properties={"hoodie.table.version": str(version), "hoodie.timeline.layout.version": ""}
    )
    found = load(tmp_path)
    assert (found.version, found.timeline_layout, found.timeline_folder) == (version, 1, ".hoodie")
    assert not found.has_completion_times


def test_a_wrong_checksum_is_refused(tmp_path: Path):
    TableBuilder(tmp_path, properties={"hoodie.table.checksum": "1"})
    with pytest.raises(FormatError) as caught:
        load(tmp_path)
    assert caught.value.reason == "CHECKSUM_MISMATCH"


@pytest.mark.parametrize("damage", ["absent", "torn", "wrong checksum"])
def test_the_backup_stands_in_for_a_missing_or_broken_file(tmp_path: Path, damage: str):
    builder = TableBuilder(tmp_path)
    builder.write_properties("hoodie.properties.backup")
    main = tmp_path / ".hoodie" / "hoodie.properties"
    if damage == "absent":
        main.unlink()
    elif damage == "torn":
        main.write_bytes(b"hoodie.table.na")
    else:
        builder.properties["hoodie.table.checksum"] = "7"
        builder.write_properties()
    assert load(tmp_path).name == "trips"


@pytest.mark.parametrize("key", ["hoodie.table.ordering.fields", "hoodie.table.precombine.field"])
@pytest.mark.parametrize("version", [6, 8, 9])
def test_both_names_of_the_ordering_field_are_read_in_every_version(tmp_path: Path, version: int, key: str):
    builder = TableBuilder(tmp_path, version)
    del builder.properties["hoodie.table.ordering.fields"]
    builder.properties[key] = "seen, ts"
    builder.write_properties()
    assert load(tmp_path).ordering == ("seen", "ts")


def test_the_types_of_a_custom_key_generator_are_no_part_of_the_field_names(tmp_path: Path):
    TableBuilder(tmp_path, properties={"hoodie.table.partition.fields": "region:SIMPLE,day:TIMESTAMP"})
    assert load(tmp_path).partition_by == ("region", "day")
