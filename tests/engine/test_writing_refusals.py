"""Bad input: refused before damage, with a reason and what to do; the table answers as before, and can be written."""

import errno
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyarrow as pa
import pytest
from checked_tables import edited_rows
from hudi_format.storage import LocalStorage
from hudi_spark import (
    HudiError,
    TableDefinition,
    check_table,
    create_arrow,
    read_arrow,
    read_incremental,
    services_arrow,
    write_arrow,
)
from hudi_spark.errors import Reason
from hudi_spark.testing import Effect, WriteRequest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from written_tables import SCHEMA, Written, rows


def _null_keys() -> pa.Table:
    return rows([1, 2]).set_column(0, "id", pa.array([None, "k2"], pa.string()))


# Arrow looks at no byte of it, as Spark does not where it casts bytes to a text.
_NO_TEXT = pa.array([b"\xff\xfe"], pa.binary()).view(pa.string())


def _deep(levels: int) -> pa.DataType:
    kind = pa.int32()
    for _ in range(levels):
        kind = pa.struct([("x", kind)])
    return kind


BAD = {
    "a column of a name that writes work with": (
        "upsert",
        rows([1]).append_column("_tag_deletes", pa.array([True])),
        {},
        Reason.SCHEMA_INCOMPATIBLE,
    ),
    "a column without a name": (
        "upsert",
        rows([1]).append_column("", pa.array([1])),
        {},
        Reason.SCHEMA_INCOMPATIBLE,
    ),
    "a text that is not UTF-8": (
        "upsert",
        rows([1]).append_column("name", _NO_TEXT),
        {},
        Reason.SCHEMA_INCOMPATIBLE,
    ),
    "a text in a list that is not UTF-8": (
        "insert",
        rows([1]).append_column("name", pa.ListArray.from_arrays([0, 1], _NO_TEXT)),
        {},
        Reason.SCHEMA_INCOMPATIBLE,
    ),
    "a key that is not UTF-8": ("insert", rows([1]).set_column(0, "id", _NO_TEXT), {}, Reason.SCHEMA_INCOMPATIBLE),
    "a partition that is not UTF-8": (
        "bulk_insert",
        rows([1]).set_column(1, "region", _NO_TEXT),
        {},
        Reason.SCHEMA_INCOMPATIBLE,
    ),
    "a place that is none in its dictionary": (
        "insert",
        rows([1]).append_column(
            "name", pa.DictionaryArray.from_arrays(pa.array([7], pa.int8()), pa.array(["a"]), safe=False)
        ),
        {},
        Reason.SCHEMA_INCOMPATIBLE,
    ),
    "a decimal of more digits than its type": (
        "upsert",
        rows([1]).append_column(
            "sum", pa.Array.from_buffers(pa.decimal128(5, 2), 1, [None, pa.py_buffer((10**12).to_bytes(16, "little"))])
        ),
        {},
        Reason.SCHEMA_INCOMPATIBLE,
    ),
    "a column nested without end": (
        "upsert",
        rows([1]).append_column("deep", pa.nulls(1, _deep(1500))),
        {},
        Reason.SCHEMA_INCOMPATIBLE,
    ),
    "a key column that stands there twice": (
        "upsert",
        rows([1]).append_column("id", pa.array(["another"])),
        {},
        Reason.SCHEMA_INCOMPATIBLE,
    ),
    "keys to delete that stand there twice": (
        "delete",
        rows([1]).append_column("id", pa.array(["another"])),
        {},
        Reason.SCHEMA_INCOMPATIBLE,
    ),
    "null keys": ("upsert", _null_keys(), {}, Reason.KEY_MISSING),
    "no key column": ("upsert", rows([1]).drop_columns(["id"]), {}, Reason.KEY_MISSING),
    "no partition column": ("upsert", rows([1]).drop_columns(["region"]), {}, Reason.KEY_MISSING),
    "no ordering column": ("upsert", rows([1]).drop_columns(["ts"]), {}, Reason.CONFIG_INVALID),
    "a wrong type": (
        "upsert",
        rows([1]).set_column(3, "price", pa.array([b"x"], pa.binary())),
        {},
        Reason.SCHEMA_INCOMPATIBLE,
    ),
    "an unknown option": ("upsert", rows([1]), {"hoodie.parquet.max.file.sise": "1"}, Reason.CONFIG_INVALID),
    "an option of another kind": ("upsert", rows([1]), {"hoodie.parquet.max.file.size": "big"}, Reason.CONFIG_INVALID),
    "a bloom filter that is always wrong": (
        "insert",
        rows([3]),
        {"hoodie.index.bloom.fpp": "1"},
        Reason.CONFIG_INVALID,
    ),
    "a bloom filter that is never wrong": ("insert", rows([3]), {"hoodie.index.bloom.fpp": "0"}, Reason.CONFIG_INVALID),
    "a share beyond one": ("insert", rows([3]), {"hoodie.index.bloom.fpp": "2"}, Reason.CONFIG_INVALID),
    "a bloom filter of terabytes": (
        "insert",
        rows([3]),
        {"hoodie.index.bloom.num_entries": "99999999999"},
        Reason.CONFIG_INVALID,
    ),
    "another record key": (
        "upsert",
        rows([1]),
        {"hoodie.datasource.write.recordkey.field": "ts"},
        Reason.CONFIG_INVALID,
    ),
    "another merge mode": (
        "upsert",
        rows([1]),
        {"hoodie.write.record.merge.mode": "COMMIT_TIME_ORDERING"},
        Reason.CONFIG_INVALID,
    ),
    "an unknown operation": ("upsurt", rows([1]), {}, Reason.CONFIG_INVALID),
    "no rows": ("upsert", None, {}, Reason.CONFIG_INVALID),
    "no partitions": ("delete_partition", None, {}, Reason.CONFIG_INVALID),
}


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("bad", sorted(BAD))
def test_bad_input_changes_nothing(tmp_path: Path, bad: str, table_type: str):
    """Refused with the reason and a hint; not one file more or less, and the next write works."""
    table = Written(tmp_path, table_type)
    table.write("upsert", rows([1, 2]))
    before = table.files()
    operation, given, configs, reason = BAD[bad]
    with pytest.raises(HudiError) as refused:
        table.write(operation, given, configs=configs)
    assert refused.value.reason == reason
    assert refused.value.hint
    assert table.files() == before
    table.write("upsert", rows([3]))
    assert table.ids() == ["k1", "k2", "k3"]


_NAMES = st.text(alphabet="ab", min_size=1, max_size=3)
_NO_NAMES = st.one_of(
    _NAMES, st.integers(), st.lists(st.integers() | st.none(), min_size=1), st.builds(iter, st.just([]))
)
_OTHER = st.one_of(st.integers(0), st.lists(_NAMES, min_size=1), st.binary(min_size=1), st.just("\ud800"))


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=_NO_NAMES, other=_OTHER)
def test_arguments_of_another_type_change_nothing(tmp_path_factory: pytest.TempPathFactory, names: Any, other: Any):
    """One text where names belong would be its letters, and its letters are partitions here."""
    path = tmp_path_factory.mktemp("arguments")
    create_arrow(path, TableDefinition("t", SCHEMA, record_key=("id",), partition_by=("region",), ordering=("ts",)))
    given_rows = pa.concat_tables([rows([1]), rows([2])]).set_column(1, "region", [["a", "b"]])
    write_arrow(path, given_rows)
    calls: list[Callable[[], Any]] = [
        lambda: write_arrow(path, None, "delete_partition", partitions=names),
        lambda: read_arrow(path, columns=names),
        lambda: read_incremental(path, "earliest", columns=names),
        lambda: write_arrow(path, given_rows, other),
        lambda: write_arrow(path, given_rows, write_id=other),
        lambda: write_arrow(path, given_rows, configs={5: "x"}),  # type: ignore[dict-item]
        lambda: read_arrow(path, configs={5: "x"}),  # type: ignore[dict-item]
        lambda: write_arrow(path, given_rows, configs={"_\ud800": "x"}),
        lambda: write_arrow(path, given_rows, configs={"_x": "\ud800"}),
        lambda: read_arrow(path, configs=5),  # type: ignore[arg-type]
    ]
    before = sorted(path.rglob("*"))
    for call in calls:
        with pytest.raises(HudiError) as refused:
            call()
        assert refused.value.reason == Reason.CONFIG_INVALID
        assert refused.value.hint
    assert sorted(path.rglob("*")) == before
    assert read_arrow(path).num_rows == 2


def test_a_value_of_a_dictionary_that_no_row_has_is_no_reason_to_refuse(tmp_path: Path):
    table = Written(tmp_path / "table")
    values = pa.concat_arrays([pa.array(["known"]), _NO_TEXT])

    table.write("insert", rows([1]).append_column("name", pa.DictionaryArray.from_arrays(pa.array([0]), values)))

    assert read_arrow(table.path).column("name").to_pylist() == ["known"]


def test_an_unknown_option_is_refused_with_its_nearest(tmp_path: Path):
    """The spelling that was meant stands in the error."""
    with pytest.raises(HudiError, match=r"hoodie\.parquet\.max\.file\.size"):
        Written(tmp_path).write("upsert", rows([1]), configs={"hoodie.parquet.max.file.sise": "1"})


def test_a_table_of_a_newer_version_is_not_written(tmp_path: Path):
    """Whatever a later version changes, this writer does not know it."""
    table = Written(tmp_path)
    file = tmp_path / ".hoodie" / "hoodie.properties"
    file.write_text(file.read_text().replace("hoodie.table.version=9", "hoodie.table.version=10"))
    with pytest.raises(HudiError) as refused:
        table.write("upsert", rows([1]))
    assert refused.value.reason == Reason.TABLE_VERSION_UNSUPPORTED


class Failing(LocalStorage):
    """Storage on which the n-th change fails, and every one after it, but for deletes."""

    def __init__(self, base: Path, left: int, error: OSError) -> None:
        super().__init__(base)
        self.left = left
        self.error = error

    def put(self, path: str, data: bytes) -> None:
        self._count()
        super().put(path, data)

    def put_if_absent(self, path: str, data: bytes) -> bool:
        self._count()
        return super().put_if_absent(path, data)

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise self.error


class Counting:
    """How many effects there are."""

    def __init__(self) -> None:
        self.seen = 0

    def before(self, effect: Effect) -> None:
        del effect
        self.seen += 1

    def after(self, effect: Effect) -> None:
        """Nothing."""


@pytest.mark.parametrize(("version", "table_type"), [(6, "MERGE_ON_READ"), (9, "COPY_ON_WRITE"), (9, "MERGE_ON_READ")])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_storage_that_fails_in_the_middle_changes_no_answer(tmp_path: Path, version: int, table_type: str, code: int):
    """A full disk, or one that cannot be written any more, at each of a write's changes in turn."""
    table = Written(tmp_path / "whole", table_type, version)
    table.write("upsert", rows([1, 2]))
    counting = Counting()
    table.writer(hook=counting).write(WriteRequest("upsert", rows([1, 3], 2, 2.0)))
    for left in range(0, counting.seen, 7):
        broken = Written(tmp_path / str(left), table_type, version)
        broken.write("upsert", rows([1, 2]))
        storage = Failing(broken.path, left, OSError(code, "no more"))
        answered: Any = None
        try:
            broken.writer(storage).write(WriteRequest("upsert", rows([1, 3], 2, 2.0)))
            answered = "done"
        except OSError:
            pass
        after = [("k1", 2.0), ("k2", 1.0), ("k3", 2.0)]
        assert broken.found() in ([("k1", 1.0), ("k2", 1.0)], after)
        if answered:
            assert broken.found() == after
        broken.write("upsert", rows([5]))
        assert "k5" in broken.ids()


def test_rows_of_other_columns_are_named(tmp_path: Path):
    """The column, both types and what to do."""
    table = Written(tmp_path)
    table.write("upsert", rows([1]))
    wrong = rows([1]).set_column(3, "price", pa.array([[1.0]]))
    with pytest.raises(HudiError, match="price") as refused:
        table.write("upsert", wrong)
    assert refused.value.reason == Reason.SCHEMA_INCOMPATIBLE


def test_an_option_that_contradicts_the_table_is_refused_before_leftovers_are_taken_back(tmp_path: Path):
    """A write that is not to be leaves what failed writers left as it is."""
    table = tmp_path / "table"
    with ZipFile(Path(__file__).parents[2] / "golden_tables/v9/apache_cow_failed_write/table.zip") as archive:
        archive.extractall(table)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(HudiError, match="recordkey") as refused:
        write_arrow(table, read_arrow(table), "upsert", configs={"hoodie.datasource.write.recordkey.field": "another"})
    assert refused.value.reason is Reason.CONFIG_INVALID
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("table_id", ["v10/mor_native_logs", "v10/cow_changes_both"])
def test_a_draft_version_is_refused_by_name_before_anything_is_written(tmp_path: Path, table_id: str):
    """No release writes version 10: no rows are answered, and no file appears."""
    table = tmp_path / "table"
    with ZipFile(Path(__file__).parents[2] / "golden_tables" / table_id / "table.zip") as archive:
        archive.extractall(table)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for attempt in (lambda: write_arrow(table, rows([1]), "upsert"), lambda: read_arrow(table)):
        with pytest.raises(HudiError, match="version 10") as refused:
            attempt()
        assert refused.value.reason is Reason.TABLE_VERSION_UNSUPPORTED
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_key_too_long_for_its_index_is_refused_and_the_write_is_taken_back(tmp_path: Path, table_type: str):
    """The row length of an HFile has 15 bits (MT-024): the record index cannot hold the key."""
    table = Written(tmp_path / "table", table_type, configs={"hoodie.metadata.record.index.enable": "true"})
    table.write("upsert", rows([1, 2]))
    before = [name for name in table.files() if "/metadata/" not in name]
    with pytest.raises(HudiError, match="40000 bytes") as refused:
        table.write("upsert", rows([3]).set_column(0, "id", pa.array(["x" * 40_000])))
    assert refused.value.reason is Reason.LIMIT_EXCEEDED
    assert str(table.path) in str(refused.value)
    assert refused.value.hint
    assert [name for name in table.files() if "/metadata/" not in name] == before
    assert check_table(table.path, deep=True) == ()
    table.write("upsert", rows([3]))
    assert table.ids() == ["k1", "k2", "k3"]


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_damaged_index_is_refused_and_the_write_is_taken_back(tmp_path: Path, table_type: str):
    """What the format package refuses while the metadata table is brought up is a refusal like any other."""
    table = Written(tmp_path / "table", table_type)
    table.write("upsert", rows([1, 2]))
    file = next((table.path / ".hoodie/metadata/column_stats").glob(".*.log.*"))
    whole = file.read_bytes()
    # The header of the block has one entry of an unknown kind: its instant is lost.
    file.write_bytes(whole[:26] + (99).to_bytes(4, "big") + whole[30:])
    before = [name for name in table.files() if "/metadata/" not in name]
    with pytest.raises(HudiError) as refused:
        table.write("upsert", rows([3]), configs={"hoodie.metadata.compact.max.delta.commits": "1"})
    assert refused.value.reason is Reason.LOG_CONTENT_CORRUPT
    assert refused.value.place == str(file)
    assert refused.value.hint
    assert [name for name in table.files() if "/metadata/" not in name] == before
    file.write_bytes(whole)
    table.write("upsert", rows([3]))
    assert table.ids() == ["k1", "k2", "k3"]


@pytest.mark.parametrize("index", ["column_stats", "record_index", "bloom_filters"])
def test_an_index_whose_folder_is_gone_is_named(tmp_path: Path, index: str):
    """The properties list it, and storage holds nothing of it."""
    options = ("record.index", "index.bloom.filter", "index.column.stats")
    table = Written(tmp_path / "table", configs={f"hoodie.metadata.{one}.enable": "true" for one in options})
    table.write("upsert", rows([1, 2]))
    folder = table.path / ".hoodie" / "metadata" / index
    shutil.rmtree(folder)
    before = [name for name in table.files() if "/metadata/" not in name]
    with pytest.raises(HudiError) as refused:
        table.write("upsert", rows([3]))
    assert refused.value.reason is Reason.BASE_FILE_MISSING
    assert refused.value.place == str(folder)
    assert refused.value.hint
    assert [name for name in table.files() if "/metadata/" not in name] == before


def test_a_null_inside_of_a_required_field_is_named_by_its_path(tmp_path: Path):
    """Rows may state that there is none: Arrow does not look whether that is so."""
    required = pa.struct([pa.field("in", pa.struct([pa.field("x", pa.int32(), nullable=False)]), nullable=False)])
    create_arrow(tmp_path, TableDefinition("trips", pa.schema([*SCHEMA, ("s", required)]), record_key=("id",)))
    inner = pa.StructArray.from_arrays([pa.array([None], pa.int32())], fields=list(required.field("in").type))
    given = rows([1]).append_column("s", pa.StructArray.from_arrays([inner], fields=list(required)))
    with pytest.raises(HudiError, match=r"s\.in\.x") as refused:
        write_arrow(tmp_path, given)
    assert refused.value.reason == Reason.SCHEMA_INCOMPATIBLE
    assert read_arrow(tmp_path).num_rows == 0


LOGGED = {"hoodie.logfile.data.block.format": "parquet"}


@pytest.mark.parametrize(
    ("table_type", "configs", "properties"),
    [
        ("COPY_ON_WRITE", {}, {}),
        ("COPY_ON_WRITE", {}, {"hoodie.table.cdc.enabled": "true"}),
        ("MERGE_ON_READ", {}, {}),
        ("MERGE_ON_READ", LOGGED, {}),
    ],
    ids=["files", "changes", "logs", "logs of Parquet"],
)
def test_a_struct_with_a_required_field_may_itself_be_null(
    tmp_path: Path, table_type: Any, configs: dict[str, str], properties: dict[str, str]
):
    """Below a null nothing is required: in new files, merged ones, logs, and what services write."""
    deep = pa.struct([pa.field("y", pa.string(), nullable=False), pa.field("flags", pa.list_(pa.bool_()))])
    fields = [("x", pa.int32()), ("deep", deep), ("all", pa.list_(pa.int64())), ("day", pa.date32())]
    kind = pa.struct([pa.field(*one, nullable=False) for one in fields])
    schema = pa.schema([*SCHEMA, ("s", kind)])
    definition = TableDefinition("trips", schema, table_type, record_key=("id",), ordering=("ts",), configs=properties)
    create_arrow(tmp_path, definition)
    some = {"x": 1, "deep": {"y": "a", "flags": [True]}, "all": [1], "day": None}
    some["day"] = pa.scalar(1, pa.date32()).as_py()
    for ts, held in enumerate(([some, None], [None, some, None], [None, some, some])):
        ids = [1, 3, 5][: len(held)]
        given = rows(ids, ts).append_column("s", pa.array(held, kind))
        write_arrow(tmp_path, given, "upsert", configs=configs)
        assert _structs(tmp_path) == dict(zip(("k1", "k3", "k5"), held, strict=False))
    services = services_arrow(tmp_path, configs={"hoodie.compact.inline.max.delta.commits": "1"})
    if table_type == "MERGE_ON_READ":
        assert services.run("compaction")
    assert services.cluster()
    assert _structs(tmp_path) == {"k1": None, "k3": some, "k5": some}
    assert check_table(tmp_path, deep=True) == ()


def _structs(table: Path) -> dict[str, Any]:
    found = read_arrow(table, columns=["id", "s"])
    return dict(zip(found.column("id").to_pylist(), found.column("s").to_pylist(), strict=True))


INDEXES = ("SIMPLE", "GLOBAL_SIMPLE", "BLOOM", "GLOBAL_BLOOM", "RECORD_INDEX")


@pytest.mark.parametrize("index", INDEXES)
def test_a_stored_row_without_key_is_refused_by_the_name_of_its_file(tmp_path: Path, index: str):
    """No index finds it: a newer version of its record would stand beside it."""
    configs = {"hoodie.index.type": index, "hoodie.metadata.record.index.enable": "true"}
    table = Written(tmp_path / "table", configs=configs)
    table.write("upsert", rows([1, 3]))
    (file,) = table.path.glob("north/*.parquet")
    edited_rows(file, "_hoodie_record_key", None)
    before = _names(table.path)
    for operation in ("upsert", "delete"):
        with pytest.raises(HudiError, match="1 rows have no record key") as refused:
            table.write(operation, rows([1], ts=2))
        assert refused.value.reason is Reason.KEY_MISSING
        assert refused.value.place == str(file)
    assert _names(table.path) == before


FOLDERS = (".hoodie/.temp", ".hoodie/.heartbeat", ".hoodie/.schema")


@pytest.mark.parametrize("version", [6, 9])
@pytest.mark.parametrize("folder", [*FOLDERS, "history", "a heartbeat"])
def test_what_is_in_the_place_of_a_folder_is_refused_before_anything_is_written(
    tmp_path: Path, folder: str, version: int
):
    """A heartbeat that is a folder is refused likewise, whichever write it is of."""
    table = Written(tmp_path / "table", version=version)
    table.write("upsert", rows([1, 2]))
    table.writer().begin(WriteRequest("upsert")).write.silence()
    name = {"history": ".hoodie/archived" if version == 6 else ".hoodie/timeline/history"}.get(folder, folder)
    blocking = table.path / (".hoodie/.heartbeat/20240101000000000" if folder == "a heartbeat" else name)
    if folder == "a heartbeat":
        blocking.mkdir(parents=True)
    else:
        shutil.rmtree(blocking, ignore_errors=True)
        blocking.write_bytes(b"mine")
    before = _names(table.path)
    services = table.services()
    for attempt in (lambda: table.write_and_serve("upsert", rows([3, 4])), services.savepoint, services.cluster):
        with pytest.raises(HudiError) as refused:
            attempt()
        assert refused.value.reason is Reason.CONFIG_INVALID
        assert refused.value.place == str(blocking)
        assert refused.value.hint
        assert _names(table.path) == before
    assert table.ids() == ["k1", "k2"]


@pytest.mark.parametrize("operation", ["upsert", "bulk_insert"])
@pytest.mark.parametrize("inside", [False, True])
def test_a_file_in_the_place_of_a_partition_is_refused_and_nothing_is_left(
    tmp_path: Path, operation: str, inside: bool
):
    """Folders above a partition count likewise."""
    table = Written(tmp_path / "table", partition_by=("region", "id") if inside else ("region",))
    table.write("upsert", rows([1]))
    before, blocking = _names(table.path), table.path / "süd"
    blocking.write_bytes(b"mine")
    with pytest.raises(HudiError) as refused:
        table.write(operation, rows([1, 2, 3]))
    assert (refused.value.reason, refused.value.clause) == (Reason.CONFIG_INVALID, "SL-002")
    assert refused.value.place == str(blocking)
    assert refused.value.hint
    assert _names(table.path) == before | {"süd"}
    blocking.unlink()
    table.write(operation, rows([2]))
    assert table.ids() == ["k1", "k2"]


@pytest.mark.parametrize("version", [6, 9])
def test_a_write_whose_completed_file_was_lost_stays_under_one_that_builds_on_it(tmp_path: Path, version: int):
    """Rows that nobody has stored again since are in its files alone."""
    table = Written(tmp_path / "table", version=version)
    table.write("upsert", rows([1, 2]))
    table.write("upsert", rows([1], ts=2))
    folder = table.path / (".hoodie" if version == 6 else ".hoodie/timeline")
    completed = min(folder.glob("*.commit"))
    requested, content = completed.name[:17], completed.read_bytes()
    completed.unlink()
    before = _names(table.path)
    with pytest.raises(HudiError, match="builds on this one") as refused:
        table.write_and_serve("upsert", rows([3]))
    assert refused.value.reason is Reason.TIMELINE_FILE_CORRUPT
    assert requested in refused.value.place
    assert refused.value.hint
    assert _names(table.path) == before
    lost = table.copied(tmp_path / "lost")
    lost.services().rollback(requested)
    assert lost.ids() == ["k1"]
    completed.write_bytes(content)
    table.write_and_serve("upsert", rows([3]))
    assert table.ids() == ["k1", "k2", "k3"]


@pytest.mark.parametrize("lost", ["2*", "{last}*"], ids=["all", "the last"])
def test_an_index_that_lacks_completed_writes_is_made_anew(tmp_path: Path, lost: str):
    """It does not know their keys, which would be inserted a second time."""
    configs = {"hoodie.index.type": "RECORD_INDEX", "hoodie.metadata.record.index.enable": "true"}
    table = Written(tmp_path / "table", configs=configs)
    table.write("upsert", rows([1, 2]))
    last = table.write("upsert", rows([3, 4])).requested
    for one in (table.path / ".hoodie/metadata/.hoodie/timeline").glob(lost.format(last=last)):
        one.unlink()
    with pytest.warns(UserWarning, match="no record index"):
        table.write("upsert", rows([1, 2, 3, 4], ts=2, price=2.0))
    assert table.found() == [(f"k{number}", 2.0) for number in range(1, 5)]
    assert check_table(table.path, deep=True) == ()


def test_a_torn_log_of_an_index_of_keys_is_refused(tmp_path: Path):
    """The keys in it would be inserted a second time; bytes that are no block say nothing of themselves."""
    configs = {"hoodie.index.type": "RECORD_INDEX", "hoodie.metadata.record.index.enable": "true"}
    table = Written(tmp_path / "table", configs=configs)
    table.write("upsert", rows([1, 2]))
    last = table.write("upsert", rows([3, 4])).requested
    logs = list((table.path / ".hoodie/metadata/record_index").glob(f".*_{last}.log*"))
    for log in logs:
        log.write_bytes(log.read_bytes()[:-1])
    with pytest.raises(HudiError) as refused:
        table.write("upsert", rows([1, 2, 3, 4], ts=2, price=2.0))
    assert refused.value.reason is Reason.LOG_CONTENT_CORRUPT
    assert refused.value.place in map(str, logs)
    assert refused.value.hint
    assert table.found() == [(f"k{number}", 1.0) for number in range(1, 5)]


def test_a_file_in_the_place_of_the_metadata_table_is_refused_and_stays(tmp_path: Path):
    table = Written(tmp_path, configs={"hoodie.metadata.enable": "false"})
    table.write("upsert", rows([1]))
    blocking = tmp_path / ".hoodie/metadata"
    blocking.write_bytes(b"mine")
    before = _names(tmp_path)
    with pytest.raises(HudiError) as refused:
        write_arrow(tmp_path, rows([3]))
    assert refused.value.place == str(blocking)
    assert "hoodie.metadata.enable" in refused.value.hint
    assert _names(tmp_path) == before
    assert blocking.read_bytes() == b"mine"
    write_arrow(tmp_path, rows([3]), configs={"hoodie.metadata.enable": "false"})
    assert read_arrow(tmp_path).num_rows == 2


def _names(table: Path) -> set[str]:
    """All files of a table but those of heartbeats and markers, whose folders stay."""
    return {str(one.relative_to(table)) for one in table.rglob("*") if one.is_file()}
