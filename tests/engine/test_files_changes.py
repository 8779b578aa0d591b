"""Change logs written from Arrow are read as changes, in each of the three modes."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engine_tables import COLUMNS, TableBuilder, avro, tick
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, read_blocks
from hudi_format.log.changes import LoggingMode, change_block, decode_changes
from hudi_format.names import PARTITION_METAFILE
from hudi_format.schemas import arrow_schema, with_meta_fields
from hudi_format.storage.local import LocalStorage
from hudi_spark import HudiError
from hudi_spark.files import ChangeForm, Place, change_form, write_changes
from hudi_spark.testing import Effects, TaskIdentity, load_configuration, resolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

IDENTITY = TaskIdentity(3, 1, 4)
ROWS = st.fixed_dictionaries(
    {
        "id": st.text(max_size=3),
        "region": st.just("north"),
        "ts": st.none() | st.integers(0, 9),
        "note": st.none() | st.text(max_size=3),
        "price": st.none() | st.floats(allow_nan=False),
    }
)
CHANGES = st.lists(st.tuples(st.sampled_from("iud"), st.text(max_size=4), ROWS, ROWS), min_size=1, max_size=6)


def form_of(path: Path, mode: str, version: int = 9, **options: str) -> ChangeForm | None:
    properties = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": mode}
    TableBuilder(path, version, "COPY_ON_WRITE", properties)
    given_options = resolve({f"hoodie.{name.replace('__', '.')}": value for name, value in options.items()})
    return change_form(load_configuration(LocalStorage(path)), with_meta_fields(avro()), given_options)


def as_records(drawn: Any) -> list[dict[str, Any]]:
    return [
        {
            "op": op,
            "record_key": key,
            "before": None if op == "i" else before,
            "after": None if op == "d" else after,
        }
        for op, key, before, after in drawn
    ]


def as_table(records: list[dict[str, Any]]) -> pa.Table:
    """Images in another order of columns, with a meta field besides."""
    fields = [pa.field("_hoodie_commit_time", pa.string()), *reversed(list(arrow_schema(avro())))]
    image = pa.struct([one.with_nullable(True) for one in fields])
    schema = pa.schema({"op": pa.string(), "record_key": pa.string(), "before": image, "after": image})
    return pa.Table.from_pylist(records, schema)


def written(path: Path, records: list[dict[str, Any]], form: ChangeForm) -> dict[str, int]:
    place = Place(Effects(LocalStorage(path)), tick(7))
    return write_changes(place, as_table(records), "north", "f1", form, IDENTITY)


def blocks(path: Path, sizes: dict[str, int]) -> list[RawBlock]:
    return [block for name in sizes for block in read_blocks((path / name).read_bytes(), name)]  # type: ignore[misc]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CHANGES, st.sampled_from(list(LoggingMode)))
def test_changes_have_the_bytes_of_the_row_wise_library(tmp_path_factory: Any, drawn: Any, mode: LoggingMode):
    path, records = tmp_path_factory.mktemp("table"), as_records(drawn)
    form = form_of(path, mode)
    assert form is not None
    sizes = written(path, records, form)
    name = f"north/.f1_{tick(7)}.log.1_3-1-4.cdc"
    (block,) = blocks(path, sizes)
    (expected,) = read_blocks(change_block(tick(7), records, mode, avro()), "f")
    assert isinstance(expected, RawBlock)
    assert block.content == expected.content
    assert arrow_schema(block.header[HeaderKey.SCHEMA]) == arrow_schema(expected.header[HeaderKey.SCHEMA])
    assert sizes == {name: (path / name).stat().st_size}


def test_an_image_has_no_namespace_of_its_own_as_java_writes_it(tmp_path: Path):
    form = form_of(tmp_path, "DATA_BEFORE_AFTER")
    assert form is not None
    image = next(one["type"][1] for one in form.avro["fields"] if one["name"] == "before")
    assert (form.avro["namespace"], image["name"], "namespace" in image) == ("hoodie.trips", "trips_record", False)


def test_rows_that_are_not_there_are_null_even_where_columns_may_not_be(tmp_path: Path):
    form = form_of(tmp_path, "DATA_BEFORE_AFTER")
    assert form is not None
    row = {"id": "a", "region": "north", "ts": 1, "note": None, "price": None}
    sizes = written(tmp_path, as_records([("i", "a", row, row), ("d", "b", row, row)]), form)
    (block,) = blocks(tmp_path, sizes)
    assert decode_changes(block, "f").to_pylist() == [
        {"op": "i", "ts_ms": tick(7), "before": None, "after": row},
        {"op": "d", "ts_ms": tick(7), "before": row, "after": None},
    ]


@pytest.mark.parametrize("version", [6, 8, 9])
def test_a_change_log_is_announced_as_a_new_file_in_every_version(tmp_path: Path, version: int):
    form = form_of(tmp_path, "OP_KEY_ONLY", version)
    assert form is not None
    (name,) = written(tmp_path, as_records([("d", "b", {}, {})]), form)
    marker = tmp_path / ".hoodie" / ".temp" / tick(7) / f"{name}.marker.CREATE"
    assert marker.is_file()
    assert (tmp_path / "north" / PARTITION_METAFILE).is_file()


def test_many_changes_take_several_blocks_and_files(tmp_path: Path):
    options = {"logfile__data__block__max__size": "100", "logfile__max__size": "1000"}
    form = form_of(tmp_path, "OP_KEY_ONLY", **options)
    assert form is not None
    sizes = written(tmp_path, as_records([("d", f"key {number}", {}, {}) for number in range(50)]), form)
    assert [name.rpartition("log.")[2][0] for name in sizes] == [str(number + 1) for number in range(len(sizes))]
    assert sizes == {name: (tmp_path / name).stat().st_size for name in sizes}
    found = blocks(tmp_path, sizes)
    assert len(found) > len(sizes) > 1
    assert {(block.type, block.header[HeaderKey.INSTANT_TIME]) for block in found} == {(BlockType.CDC_DATA, tick(7))}
    keys = [key for block in found for key in decode_changes(block, "f").column("record_key").to_pylist()]
    assert keys == [f"key {number}" for number in range(50)]


def test_no_changes_write_no_file(tmp_path: Path):
    form = form_of(tmp_path, "DATA_BEFORE")
    assert form is not None
    assert written(tmp_path, [], form) == {}


def test_a_table_without_change_data_has_no_form_and_an_unknown_mode_is_refused(tmp_path: Path):
    TableBuilder(tmp_path)
    assert change_form(load_configuration(LocalStorage(tmp_path)), avro(COLUMNS), resolve({})) is None
    with pytest.raises(HudiError) as caught:
        form_of(tmp_path, "DATA_BETWEEN")
    assert caught.value.reason == "PROPERTIES_INVALID"
