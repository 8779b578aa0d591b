"""Whole tables whose columns have ids, whose partition columns were dropped, or whose data stands elsewhere."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_tables import TableBuilder, avro, row, tick
from hudi_format.avro.files import write_container
from hudi_format.hfile.writer import write_hfile
from hudi_format.names import BaseFileName
from hudi_format.schemas import META_FIELDS
from hudi_format.storage import LocalStorage
from hudi_format.table.bootstrap_index import FILE_INDEX_FOLDER, METADATA_ONLY_INSTANT
from hudi_format.table.internal_schema import (
    InternalField,
    InternalSchema,
    PrimitiveType,
    internal_schema_text,
    schema_history_text,
)
from hudi_format.timeline.commit_metadata import CommitMetadata, WriteStat, serialise_avro, serialise_json
from hudi_spark import HudiError, read_arrow
from hudi_spark.testing import load_configuration

Columns = Sequence[tuple[str, Any]]
KEYS: Columns = (("id", "string"), ("region", "string"), ("ts", ["null", "long"]))
TEXT = ["null", "string"]


def ids(n: int, numbers: Mapping[str, int]) -> InternalSchema:
    fields = [
        InternalField(number, name, optional=True, type=PrimitiveType("string")) for name, number in numbers.items()
    ]
    return InternalSchema(int(tick(n)) if n else 0, max(numbers.values()), tuple(fields))


def commit(builder: TableBuilder, n: int, stats: Sequence[WriteStat], schema: InternalSchema | None) -> None:
    extra = {"schema": json.dumps(builder.schema)}
    if schema is not None:
        extra["latest_schema"] = internal_schema_text(schema)
    metadata = CommitMetadata("UPSERT", write_stats=tuple(stats), replaced_file_ids={}, extra=extra)
    builder.pending(n)
    data = serialise_json(metadata) if builder.layout == 1 else serialise_avro(metadata, replace=False)
    builder.timeline_file(n, "deltacommit", "COMPLETED", data)


def keep(base: Path, n: int, *schemas: InternalSchema) -> None:
    folder = base / ".hoodie" / ".schema"
    folder.mkdir(exist_ok=True)
    (folder / f"{tick(n)}.schemacommit").write_text(schema_history_text(schemas))


FIRST = {"id": 0, "region": 1, "ts": 2, "one": 3, "two": 4}
RENAMED = {"id": 0, "region": 1, "ts": 2, "two": 3, "one": 5}


def renamed(path: Path, version: int = 9, *, stated: bool = True) -> TableBuilder:
    """Columns one and two at 10; two dropped, one renamed to two, another one added at 20; a log of each time."""
    builder = TableBuilder(path, version, columns=(*KEYS, ("one", TEXT), ("two", TEXT)))
    first = [
        builder.base_file(10, [{**row("a", 1), "one": "1a", "two": "2a"}, {**row("b", 1), "one": "1b", "two": "2b"}])
    ]
    commit(builder, 10, first, ids(10, FIRST) if stated else None)
    old = builder.data(15, [{**row("c", 1), "one": "1c", "two": "2c"}])
    commit(builder, 15, [builder.log_file(10 if version == 6 else 15, [old])], ids(10, FIRST) if stated else None)
    builder.schema = avro((*KEYS, ("two", TEXT), ("one", TEXT)))
    commit(builder, 20, [], ids(20, RENAMED))
    new = builder.data(30, [{**row("d", 1), "two": "1d", "one": "new"}])
    commit(builder, 30, [builder.log_file(10 if version == 6 else 30, [new], version=2)], ids(20, RENAMED))
    return builder


EXPECTED = {"a": ("1a", None), "b": ("1b", None), "c": ("1c", None), "d": ("1d", "new")}


def pairs(path: Path, **query: Any) -> dict[str, tuple[Any, Any]]:
    table = read_arrow(path, **query).to_pylist()
    return {one["id"]: (one["two"], one["one"]) for one in table}


@pytest.mark.parametrize("version", [6, 8, 9])
def test_files_and_blocks_of_an_older_schema_are_read_by_the_ids_of_their_time(tmp_path: Path, version: int) -> None:
    renamed(tmp_path, version)
    assert pairs(tmp_path) == EXPECTED


def test_a_time_before_the_change_has_the_columns_of_then(tmp_path: Path) -> None:
    renamed(tmp_path)
    assert pairs(tmp_path, as_of=tick(15)) == {"a": ("2a", "1a"), "b": ("2b", "1b"), "c": ("2c", "1c")}


def test_the_stored_history_covers_files_whose_commits_state_no_ids(tmp_path: Path) -> None:
    renamed(tmp_path, stated=False)
    keep(tmp_path, 20, ids(0, FIRST), ids(20, RENAMED))
    assert pairs(tmp_path) == EXPECTED


def test_a_schema_whose_commit_never_completed_is_no_part_of_the_history(tmp_path: Path) -> None:
    builder = renamed(tmp_path, stated=False)
    keep(tmp_path, 20, ids(0, FIRST), ids(20, RENAMED))
    builder.pending(25)
    keep(tmp_path, 25, ids(0, FIRST), ids(12, RENAMED), ids(20, RENAMED), ids(25, FIRST))
    assert pairs(tmp_path) == EXPECTED


@pytest.mark.parametrize(("column", "value", "keys"), [("two", "1a", ["a"]), ("one", "new", ["d"]), ("two", "2a", [])])
def test_a_filter_on_a_renamed_column_never_meets_the_column_that_had_its_name(
    tmp_path: Path, column: str, value: str, keys: list[str]
) -> None:
    renamed(tmp_path)
    assert sorted(pairs(tmp_path, filter=[column, "=", value])) == keys


def test_without_ids_in_the_newest_commit_columns_are_known_by_name(tmp_path: Path) -> None:
    builder = renamed(tmp_path)
    commit(builder, 40, [], None)
    assert pairs(tmp_path)["a"] == ("2a", "1a")


DROPPED = {"hoodie.datasource.write.drop.partition.columns": "true"}


def dropped(path: Path, partition: str, **properties: str) -> TableBuilder:
    """Files without the column region; a log block that holds it as text."""
    columns: Columns = (("id", "string"), ("ts", ["null", "long"]), ("note", TEXT))
    builder = TableBuilder(path, properties={**DROPPED, **properties}, columns=columns)
    rows = [{"id": "a", "ts": 1, "note": "x"}, {"id": "b", "ts": 1, "note": "y"}]
    builder.commit(10, [builder.base_file(10, rows, partition=partition)])
    builder.schema = avro((*columns, ("region", TEXT)))
    block = builder.data(20, [{"id": "a", "ts": 2, "note": "z", "region": "wrong"}])
    builder.commit(20, [builder.log_file(20, [block], partition=partition)])
    return builder


@pytest.mark.parametrize(
    ("partition", "properties", "value"),
    [
        ("süd", {}, "süd"),
        ("region=süd", {"hoodie.datasource.write.hive_style_partitioning": "true"}, "süd"),
        ("region=__HIVE_DEFAULT_PARTITION__", {"hoodie.datasource.write.hive_style_partitioning": "true"}, None),
        ("a%2Fb%zz", {"hoodie.datasource.write.partitionpath.urlencode": "true"}, "a/b%zz"),
        ("a%2Fb", {}, "a%2Fb"),
        ("2024/01/31", {}, "2024/01/31"),
        ("2024/01/31", {"hoodie.datasource.write.slash.separated.date.partitioning": "true"}, "2024-01-31"),
    ],
)
def test_a_dropped_column_has_the_value_of_the_path_in_every_row(
    tmp_path: Path, partition: str, properties: dict[str, str], value: str | None
) -> None:
    dropped(tmp_path, partition, **properties)
    rows = read_arrow(tmp_path).to_pylist()
    assert {one["id"]: (one["region"], one["note"]) for one in rows} == {"a": (value, "z"), "b": (value, "y")}
    assert read_arrow(tmp_path, columns=["region"]).column("region").to_pylist() == [value, value]
    met = [] if value is None else ["a", "b"]
    assert sorted(read_arrow(tmp_path, filter=["region", "=", str(value)]).column("id").to_pylist()) == met


def test_a_dropped_column_has_the_type_that_the_table_was_made_with(tmp_path: Path) -> None:
    made = avro((("id", "string"), ("region", ["null", {"type": "int", "logicalType": "date"}])))
    builder = TableBuilder(tmp_path, properties={**DROPPED, "hoodie.table.create.schema": json.dumps(made)})
    builder.schema = avro((("id", "string"), ("ts", ["null", "long"])))
    builder.commit(10, [builder.base_file(10, [{"id": "a", "ts": 1}], partition="2024-01-31")])
    assert read_arrow(tmp_path, columns=["region"]).schema.field("region").type == pa.date32()
    # As writers of logs leave it: text, at the end of the commit's schema.
    builder.schema = avro((("id", "string"), ("ts", ["null", "long"]), ("region", TEXT)))
    builder.commit(15, [])
    assert read_arrow(tmp_path, columns=["region"]).schema.field("region").type == pa.date32()
    builder.schema = avro((("id", "string"), ("ts", ["null", "long"])))
    builder.commit(20, [builder.base_file(20, [{"id": "b", "ts": 1}], group="f2", partition="soon")])
    with pytest.raises(HudiError, match=r"SCHEMA_INCOMPATIBLE.*'soon'.*region"):
        read_arrow(tmp_path)


def test_moments_in_paths_are_encoded_whatever_the_table_says(tmp_path: Path) -> None:
    """As SQL writes them, in tables that do not encode paths."""
    made = avro((("id", "string"), ("region", ["null", {"type": "long", "logicalType": "timestamp-micros"}])))
    hive = {"hoodie.datasource.write.hive_style_partitioning": "true"}
    builder = TableBuilder(tmp_path, properties={**DROPPED, **hive, "hoodie.table.create.schema": json.dumps(made)})
    builder.schema = avro((("id", "string"), ("ts", ["null", "long"])))
    before = builder.base_file(10, [{"id": "a", "ts": 1}], partition="region=1969-12-31 23%3A59%3A59")
    nothing = builder.base_file(10, [{"id": "b", "ts": 1}], group="f2", partition="region=__HIVE_DEFAULT_PARTITION__")
    builder.commit(10, [before, nothing])
    last = datetime(1969, 12, 31, 23, 59, 59, tzinfo=timezone.utc)
    assert {one["id"]: one["region"] for one in read_arrow(tmp_path).to_pylist()} == {"a": last, "b": None}
    assert read_arrow(tmp_path, filter=["region", "=", "1969-12-31T23:59:59.000000Z"]).column("id").to_pylist() == ["a"]


def test_a_path_whose_folders_belong_to_no_field_in_particular_is_refused(tmp_path: Path) -> None:
    builder = TableBuilder(tmp_path, properties={**DROPPED, "hoodie.table.partition.fields": "day,region"})
    assert read_from(builder, "2024/süd") == {"day": "2024", "region": "süd"}
    with pytest.raises(HudiError, match=r"SCHEMA_INCOMPATIBLE.*3 folders for the columns day, region"):
        read_from(builder, "2024/01/süd")


def test_hive_styled_folders_show_where_a_value_with_slashes_ends(tmp_path: Path) -> None:
    hive = {
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.table.partition.fields": "day:TIMESTAMP,region:SIMPLE",
    }
    builder = TableBuilder(tmp_path, properties={**DROPPED, **hive})
    style = load_configuration(LocalStorage(tmp_path)).partitions
    assert (style.hive, style.columns_dropped) == (True, True)
    assert read_from(builder, "day=2024/01/31/region=a") == {"day": "2024/01/31", "region": "a"}


def read_from(builder: TableBuilder, partition: str) -> dict[str, Any]:
    """What a row of a partition has in the columns that only its path holds."""
    columns: Columns = (("id", "string"), ("ts", ["null", "long"]))
    builder.schema = avro(columns)
    stat = builder.base_file(10, [{"id": "a", "ts": 1}], partition=partition)
    builder.commit(10, [stat], schema=avro((*columns, ("day", "string"), ("region", "string"))))
    (found,) = read_arrow(builder.base, columns=["day", "region"]).to_pylist()
    return dict(found)


def bootstrap(base: Path, source: Path, *, rows: int = 2, uri: str | None = None, entry: bool = True) -> TableBuilder:
    """One bootstrapped slice, an update of it in a log, and the file that it was made from."""
    columns: Columns = (("id", "string"), ("ts", ["null", "long"]), ("note", TEXT), ("region", "string"))
    builder = TableBuilder(base, properties={"hoodie.bootstrap.base.path": str(source)}, columns=columns)
    folder = source / "region=north"
    folder.mkdir(parents=True)
    data = pa.table({"note": ["x", "y"], "ts": [1, 1], "id": ["a", "b"]}).slice(0, rows)
    pq.write_table(data, folder / "part 1.parquet")
    name = str(BaseFileName("f1", "0-1-0", METADATA_ONLY_INSTANT, "parquet"))
    meta = {one: [f"{one} {key}" for key in "ab"] for one in META_FIELDS} | {"_hoodie_record_key": ["a", "b"]}
    builder._write("north", name, b"")
    pq.write_table(pa.table(meta), base / "north" / name)
    if entry:
        _index(base, uri or f"file:{folder}/part 1.parquet")
    metadata = CommitMetadata(
        "BOOTSTRAP",
        write_stats=(WriteStat(file_id="f1", path=f"north/{name}", prev_commit="null", partition_path="north"),),
        replaced_file_ids={},
        extra={"schema": json.dumps(builder.schema)},
    )
    stem = f"{METADATA_ONLY_INSTANT}_{tick(1)}.deltacommit"
    (builder.folder / stem).write_bytes(serialise_avro(metadata, replace=False))
    block = builder.data(20, [{"id": "b", "ts": 2, "note": "z", "region": "south"}])
    builder.commit(20, [builder.log_file(20, [block])])
    return builder


def _index(base: Path, uri: str) -> None:
    path = {"type": "record", "name": "HoodiePath", "fields": [{"name": "uri", "type": ["null", "string"]}]}
    status = {
        "type": "record",
        "name": "HoodieFileStatus",
        "fields": [{"name": "path", "type": ["null", path]}, {"name": "length", "type": ["null", "long"]}],
    }
    schema = {
        "type": "record",
        "name": "HoodieBootstrapFilePartitionInfo",
        "fields": [
            {"name": "bootstrapPartitionPath", "type": ["null", "string"]},
            {"name": "bootstrapFileStatus", "type": ["null", status]},
            {"name": "partitionPath", "type": ["null", "string"]},
        ],
    }
    file_status = {"path": {"uri": uri}, "length": 1}
    record = {"bootstrapPartitionPath": "region=north", "bootstrapFileStatus": file_status, "partitionPath": "north"}
    folder = base / FILE_INDEX_FOLDER
    folder.mkdir(parents=True)
    (folder / "one.hfile").write_bytes(write_hfile([(b"part=north;fileid=f1", write_container(schema, [record]))], {}))


def test_a_bootstrapped_slice_has_the_rows_of_its_data_file_and_its_own_meta_fields(tmp_path: Path) -> None:
    bootstrap(tmp_path / "t", tmp_path / "s")
    rows = read_arrow(tmp_path / "t", columns=["id", "note", "region", "_hoodie_commit_seqno"]).to_pylist()
    assert {one["id"]: (one["note"], one["region"]) for one in rows} == {"a": ("x", "north"), "b": ("z", "south")}
    assert {one["_hoodie_commit_seqno"] for one in rows if one["id"] == "a"} == {"_hoodie_commit_seqno a"}
    assert read_arrow(tmp_path / "t", columns=[], read_optimized=True).num_rows == 2
    assert read_arrow(tmp_path / "t", as_of=METADATA_ONLY_INSTANT).column("note").to_pylist() == ["x", "y"]
    assert read_arrow(tmp_path / "t", filter=["note", "=", "x"]).column("id").to_pylist() == ["a"]


def test_a_data_file_of_other_rows_is_refused(tmp_path: Path) -> None:
    bootstrap(tmp_path / "t", tmp_path / "s", rows=1)
    with pytest.raises(HudiError, match=r"BASE_FILE_CORRUPT.*2 rows.*1"):
        read_arrow(tmp_path / "t")


def test_a_data_file_outside_of_the_bootstrap_base_path_is_refused(tmp_path: Path) -> None:
    for number, uri in enumerate(("file:/etc/passwd", f"{tmp_path}/s1/../x.parquet", "s3a://elsewhere/x.parquet")):
        bootstrap(tmp_path / f"t{number}", tmp_path / f"s{number}", uri=uri)
        with pytest.raises(HudiError, match="PATH_ESCAPES_TABLE"):
            read_arrow(tmp_path / f"t{number}")


@pytest.mark.parametrize("place", ["subprocess:Popen", "s3://", "hdfs://elsewhere/t"])
def test_a_bootstrap_base_path_that_is_no_place_is_refused(tmp_path: Path, place: str) -> None:
    """By its key and value; nothing named in it is looked up."""
    bootstrap(tmp_path / "t", tmp_path / "s")
    file = tmp_path / "t" / ".hoodie" / "hoodie.properties"
    kept = [line for line in file.read_text().splitlines() if not line.startswith("hoodie.bootstrap.base.path=")]
    file.write_text("\n".join([*kept, f"hoodie.bootstrap.base.path={place}", ""]))
    with pytest.raises(HudiError, match=re.escape(f"hoodie.bootstrap.base.path is '{place}'")) as caught:
        read_arrow(tmp_path / "t")
    assert caught.value.reason == "PROPERTIES_INVALID"
    assert str(tmp_path / "t" / ".hoodie" / "hoodie.properties") in str(caught.value)


def test_a_bootstrapped_slice_that_the_index_lacks_is_refused(tmp_path: Path) -> None:
    bootstrap(tmp_path / "t", tmp_path / "s", entry=False)
    with pytest.raises(HudiError, match=r"BASE_FILE_MISSING.*index"):
        read_arrow(tmp_path / "t")


def nested(path: Path) -> TableBuilder:
    """A struct in a base file and in a log, null in one row of each; a filter and an order by other columns."""
    part = {"type": "record", "name": "p", "fields": [{"name": "y", "type": TEXT, "default": None}]}
    kind = {
        "type": "record",
        "name": "s",
        "fields": [{"name": "x", "type": ["null", "long"]}, {"name": "p", "type": part}],
    }
    builder = TableBuilder(path, columns=(*KEYS, ("s", ["null", kind])))
    rows = [{**row("a", 1), "s": {"x": 1, "p": {"y": "old"}}}, {**row("b", 1), "s": None}]
    builder.commit(10, [builder.base_file(10, rows)])
    later = [{**row("a", 2), "s": {"x": 2, "p": {"y": "new"}}}, {**row("c", 2), "s": None}]
    builder.commit(20, [builder.log_file(20, [builder.data(20, later)])])
    return builder


def test_a_field_inside_a_struct_can_be_selected_by_its_path(tmp_path: Path) -> None:
    nested(tmp_path)
    table = read_arrow(tmp_path, columns=["id", "s.p.y", "s.x"])
    assert table.schema.field("s.p.y").type == pa.string()
    rows = {one["id"]: (one["s.p.y"], one["s.x"]) for one in table.to_pylist()}
    assert rows == {"a": ("new", 2), "b": (None, None), "c": (None, None)}
    assert read_arrow(tmp_path, columns=["s.x"], filter=["id", "=", "a"]).to_pylist() == [{"s.x": 2}]
    assert sorted(read_arrow(tmp_path, columns=["s.x"], read_optimized=True).column("s.x").to_pylist(), key=str) == [
        1,
        None,
    ]
    for wrong in ("s.z", "id.x", "s.x.y", "s."):
        with pytest.raises(HudiError, match="CONFIG_INVALID"):
            read_arrow(tmp_path, columns=[wrong])
