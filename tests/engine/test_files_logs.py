"""Log files written from Arrow are read as those that are written record by record."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engine_tables import TableBuilder, row, tick
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, encode_block, read_blocks
from hudi_format.log.content import decode_arrow
from hudi_format.log.deletes import DeleteRecord, decode_deletes
from hudi_format.log.headers import record_positions
from hudi_format.schemas import META_FIELDS, arrow_schema, with_meta_fields
from hudi_format.storage.local import LocalStorage
from hudi_spark import HudiError, UnsupportedFeature, read_arrow
from hudi_spark.files import LogForm, LogGroup, LogRows, Place, WrittenLog, log_form, opened_slices, write_log
from hudi_spark.files.logs import deletes_content, made_logs, ordering_wrappers
from hudi_spark.merge import merge_rule
from hudi_spark.testing import Effect, Effects, TaskIdentity, load_configuration, load_table, resolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

KEYS = "abcdefgh"
BASE_KEYS = "abcdef"
IDENTITY = TaskIdentity(3, 1, 4)
FORMATS = ("avro", "parquet", "hfile")
COLUMNS = (
    ("id", "string"),
    ("region", "string"),
    ("ts", ["null", "long"]),
    ("note", ["null", "string"]),
    ("price", ["null", "double"]),
    ("_hoodie_is_deleted", ["null", "boolean"]),
)


class Watch:
    """Remembers effects in their order."""

    def __init__(self) -> None:
        self.seen: list[Effect] = []

    def before(self, effect: Effect) -> None:
        self.seen.append(effect)

    def after(self, effect: Effect) -> None:
        """Nothing."""


def table(path: Path, version: int = 9, **properties: str) -> TableBuilder:
    named = {f"hoodie.{name.replace('__', '.')}": value for name, value in properties.items()}
    builder = TableBuilder(path, version, properties=named, columns=COLUMNS)
    rows = [row(key, 10, f"base {key}", _hoodie_is_deleted=None) for key in BASE_KEYS]
    builder.commit(1, [builder.base_file(1, rows)])
    return builder


def form_of(builder: TableBuilder, missing: Any = (), **options: str) -> LogForm:
    configuration = load_configuration(LocalStorage(builder.base))
    given_options = resolve({f"hoodie.{name.replace('__', '.')}": value for name, value in options.items()})
    rule = merge_rule(configuration)
    return log_form(configuration, builder.schema, given_options, rule, missing=frozenset(missing))


def log_rows(builder: TableBuilder, n: int, rows: list[dict[str, Any]], natural: Any = (), places: bool = True):
    """Rows of one write; keys in `natural` go without ordering value; `places`: where the base file has them."""
    meta = dict.fromkeys(META_FIELDS, "north") | {
        "_hoodie_commit_time": tick(n),
        "_hoodie_commit_seqno": f"{tick(n)}_0",
    }
    filled = [{**meta, "_hoodie_is_deleted": None, **one, "_hoodie_record_key": one["id"]} for one in rows]
    keys = [one["id"] for one in rows]
    return LogRows(
        pa.Table.from_pylist(filled, arrow_schema(with_meta_fields(builder.schema))),
        pa.chunked_array([pa.array([key in natural for key in keys], pa.bool_())]),
        pa.chunked_array([pa.array([key in BASE_KEYS for key in keys], pa.bool_())]),
        pa.chunked_array([pa.array([BASE_KEYS.find(key) if key in BASE_KEYS else None for key in keys], pa.int64())])
        if places
        else None,
    )


def write(builder: TableBuilder, n: int, incoming: LogRows, form: LogForm, *, logs: Any = (), hook: Any = None):
    """One write to the group of the table, committed."""
    place = Place(Effects(LocalStorage(builder.base), hook or Watch()), tick(n))
    base = next(path.name for path in (builder.base / "north").glob("f1_*"))
    group = LogGroup("north", "f1", tick(1), base, tuple(logs))
    written = write_log(place, incoming, group, form, IDENTITY)
    builder.commit(n, [one.stat for one in written])
    return written


def blocks(builder: TableBuilder, written: tuple[WrittenLog, ...]) -> list[RawBlock]:
    found: list[RawBlock] = []
    for one in written:
        path = str(one.stat.path)
        for block in read_blocks((builder.base / path).read_bytes(), path):
            assert isinstance(block, RawBlock)
            found.append(block)
    return found


def answer(path: Path) -> list[dict[str, Any]]:
    return sorted(read_arrow(path).to_pylist(), key=repr)


KINDS = st.sampled_from(("row", "row", "flagged", "natural"))
WRITES = st.lists(st.dictionaries(st.sampled_from(KEYS), st.tuples(st.integers(8, 12), KINDS), min_size=1), max_size=3)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from((6, 8, 9)), st.sampled_from(FORMATS), WRITES, st.booleans())
def test_logs_are_read_as_those_written_record_by_record(
    tmp_path_factory: Any, version: int, block_format: str, writes: Any, places: bool
):
    """Whatever the version, the format of blocks, and whether positions are known."""
    ours, theirs = (table(tmp_path_factory.mktemp("table"), version) for _ in range(2))
    form = form_of(ours, logfile__data__block__format=block_format)
    logs: list[str] = []
    for number, changes in enumerate(writes, 1):
        at = 10 * number
        rows = [row(key, ts, f"log {number}") for key, (ts, kind) in changes.items()]
        flags = [kind == "flagged" or None for _, kind in changes.values()]
        natural = [key for key, (_, kind) in changes.items() if kind == "natural"]
        flagged = [{**one, "_hoodie_is_deleted": flag} for one, flag in zip(rows, flags, strict=True)]
        logs += [name(one) for one in write(ours, at, log_rows(ours, at, flagged, natural, places), form, logs=logs)]
        by_hand(theirs, at, number, changes)
    assert answer(ours.base) == answer(theirs.base)


def by_hand(builder: TableBuilder, at: int, number: int, changes: Any) -> None:
    rows = [
        row(key, ts, f"log {number}", _hoodie_is_deleted=None) for key, (ts, kind) in changes.items() if kind == "row"
    ]
    deletes = [
        DeleteRecord(key, "north", ts if kind == "flagged" else 0, "Long" if kind == "flagged" else "Int")
        for key, (ts, kind) in changes.items()
        if kind != "row"
    ]
    parts = [builder.data(at, rows), builder.deletes(at, *deletes)]
    named, version = (1, number) if builder.version == 6 else (at, 1)
    builder.commit(at, [builder.log_file(named, parts, version=version)])


def name(one: WrittenLog) -> str:
    return str(one.stat.path).rpartition("/")[2]


@pytest.mark.parametrize(
    ("version", "expected", "io_type"), [(6, (1, 8), "APPEND"), (8, (7, 1), "CREATE"), (9, (7, 1), "CREATE")]
)
def test_a_log_is_named_as_its_version_wants_and_announced_first(
    tmp_path: Path, version: int, expected: tuple[int, int], io_type: str
):
    builder, watch = table(tmp_path, version), Watch()
    logs = (f".f1_{tick(1)}.log.7_0-1-0", f".f1_{tick(1)}.log.2_0-1-0", f".f1_{tick(3)}.log.9_0-1-0.cdc")
    incoming = log_rows(builder, 7, [row("a", 11), row("g", 11)])
    (written,) = write(builder, 7, incoming, form_of(builder), logs=logs, hook=watch)
    instant, number = expected
    assert name(written) == f".f1_{tick(instant)}.log.{number}_3-1-4"
    assert [one.name for one in watch.seen] == ["put_marker", "put_log_file"]
    assert watch.seen[0].parameters == {
        "requested": tick(7),
        "partition": "north",
        "file": name(written),
        "io_type": io_type,
    }


def test_where_changes_are_logged_a_stat_names_its_slice_in_every_version(tmp_path: Path):
    """Readers of changes go back to it; logs stand in it newest first."""
    builder = table(tmp_path, 9, table__cdc__enabled="true")
    logs = [f".f1_{tick(3)}.log.1_0-1-0", f".f1_{tick(5)}.log.1_0-1-0"]
    (written,) = write(builder, 7, log_rows(builder, 7, [row("a", 11)]), form_of(builder), logs=logs)
    assert (written.stat.prev_commit, written.stat.base_file) == (tick(1), f"f1_0-1-0_{tick(1)}.parquet")
    assert written.stat.log_files == (*reversed(logs), name(written))


@pytest.mark.parametrize("version", [6, 9])
def test_the_stat_of_a_log_is_filled_as_its_version_does(tmp_path: Path, version: int):
    builder = table(tmp_path, version)
    rows = [row("a", 11), row("g", 11), {**row("b", 9), "_hoodie_is_deleted": True}, row("c", 11)]
    logs = [f".f1_{tick(1)}.log.1_0-1-0"]
    (written,) = write(builder, 7, log_rows(builder, 7, rows, "c"), form_of(builder), logs=logs)
    stat = written.stat
    assert (stat.num_writes, stat.num_update_writes, stat.num_inserts, stat.num_deletes) == (2, 1, 1, 2)
    assert stat.file_size_in_bytes == stat.total_write_bytes == (tmp_path / str(stat.path)).stat().st_size
    assert (stat.log_version, stat.log_offset) == ((2, 0) if version == 6 else (1, 0))
    if version == 6:
        assert (stat.prev_commit, stat.base_file) == (tick(1), f"f1_0-1-0_{tick(1)}.parquet")
        assert stat.log_files == (f".f1_{tick(1)}.log.1_0-1-0", name(written))
        assert stat.num_updates is None
    else:
        assert (stat.prev_commit, stat.base_file, stat.log_files) == (tick(7), "", (name(written),))
        assert stat.num_updates == stat.total_log_read_time_ms == 0
    assert written.rows.column("id").to_pylist() == ["a", "g"]


def test_blocks_name_positions_where_every_row_has_one_and_follow_them(tmp_path: Path):
    builder = table(tmp_path)
    rows = [row("e", 11), row("b", 11), row("d", 11), row("a", 11)]
    data, deletes = blocks(builder, write(builder, 7, log_rows(builder, 7, rows, "da"), form_of(builder)))
    for block, keys, places in ((data, ["b", "e"], [1, 4]), (deletes, ["a", "d"], [0, 3])):
        positions = record_positions(block, 2, "f")
        assert positions is not None
        assert positions.to_pylist() == places
        assert block.header[HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS] == tick(1)
        found = decode_arrow(block, "f").column("id").to_pylist() if block is data else keys_of(block)
        assert found == keys


def keys_of(block: RawBlock) -> list[str | None]:
    return [one.key for one in decode_deletes(block, "f")]


@pytest.mark.parametrize(("version", "options"), [(6, {}), (9, {"write__record__positions": "false"}), (9, {})])
def test_blocks_name_no_positions_where_one_row_has_none_or_nobody_wants_them(
    tmp_path: Path, version: int, options: dict[str, str]
):
    builder = table(tmp_path, version)
    rows = [row("e", 11), row("g", 11) if version == 9 and not options else row("b", 11)]
    (data,) = blocks(builder, write(builder, 7, log_rows(builder, 7, rows), form_of(builder, **options)))
    assert HeaderKey.RECORD_POSITIONS not in data.header
    assert HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS not in data.header
    assert decode_arrow(data, "f").column("id").to_pylist() == [one["id"] for one in rows]


def test_two_rows_of_one_key_keep_their_order_and_name_no_positions(tmp_path: Path):
    """As incoming rows that nobody combined have it: the later row counts."""
    builder = table(tmp_path)
    rows = [row("e", 11, "first"), row("b", 11), row("e", 11, "second")]
    (data,) = blocks(builder, write(builder, 7, log_rows(builder, 7, rows), form_of(builder)))
    assert HeaderKey.RECORD_POSITIONS not in data.header
    assert decode_arrow(data, "f").column("id").to_pylist() == ["e", "b", "e"]
    assert {one["id"]: one["note"] for one in answer(tmp_path)}["e"] == "second"


def test_large_writes_take_several_blocks_and_files_and_lose_nothing(tmp_path: Path):
    builder = table(tmp_path)
    form = form_of(builder, logfile__data__block__max__size="300", logfile__max__size="2500")
    rows = [row(f"k{number:03}", 11, "x" * number) for number in range(40)]
    written = write(builder, 7, log_rows(builder, 7, rows, ["k039"]), form)
    assert [one.stat.log_version for one in written] == list(range(1, len(written) + 1))
    assert written[-1].stat.log_files == tuple(name(one) for one in written)
    assert all((one.stat.file_size_in_bytes or 0) > 2500 for one in written[:-1])
    found = blocks(builder, written)
    assert len(found) > len(written) > 2
    assert [block.type for block in found].index(BlockType.DELETE) == len(found) - 1
    assert sum(one.stat.num_writes or 0 for one in written) == 39
    assert len(answer(tmp_path)) == len(BASE_KEYS) + 39


def test_partial_updates_hold_their_columns_alone(tmp_path: Path):
    builder = table(tmp_path)
    form = form_of(builder, missing=["region", "note", "id", "_hoodie_is_deleted"])
    (block,) = blocks(builder, write(builder, 7, log_rows(builder, 7, [{**row("b", 11), "price": 2.5}]), form))
    assert block.header[HeaderKey.IS_PARTIAL] == "true"
    assert decode_arrow(block, "f").column_names == [*META_FIELDS, "ts", "price"]
    (changed,) = (one for one in answer(tmp_path) if one["id"] == "b")
    assert (changed["note"], changed["price"], changed["ts"]) == ("base b", 2.5, 11)


def test_records_name_their_write_and_their_group(tmp_path: Path):
    builder = table(tmp_path)
    (block,) = blocks(builder, write(builder, 7, log_rows(builder, 7, [row("b", 11)]), form_of(builder)))
    (record,) = decode_arrow(block, "f").select(META_FIELDS).to_pylist()
    assert list(record.values()) == [tick(7), f"{tick(7)}_0", "b", "north", "f1"]


@pytest.mark.parametrize("block_format", FORMATS)
def test_without_meta_fields_records_leave_them_null(tmp_path: Path, block_format: str):
    builder = table(tmp_path, populate__meta__fields="false")
    form = form_of(builder, logfile__data__block__format=block_format)
    (block,) = blocks(builder, write(builder, 7, log_rows(builder, 7, [row("b", 11, "log")]), form))
    (record,) = decode_arrow(block, "f").to_pylist()
    assert [record[name] for name in META_FIELDS] == [None] * 5
    assert {one["id"]: one["note"] for one in answer(tmp_path)}["b"] == "log"


def test_a_file_that_is_there_already_is_not_written_over(tmp_path: Path):
    builder = table(tmp_path)
    form, incoming = form_of(builder), log_rows(builder, 7, [row("b", 11)])
    write(builder, 7, incoming, form)
    with pytest.raises(HudiError) as caught:
        write(builder, 7, incoming, form)
    assert caught.value.reason == "WRITE_CONFLICT"


def test_no_rows_write_no_file(tmp_path: Path):
    builder, watch = table(tmp_path), Watch()
    assert write(builder, 7, log_rows(builder, 7, []), form_of(builder), hook=watch) == ()
    assert not watch.seen


@pytest.mark.parametrize("version", [6, 9])
def test_while_a_compaction_is_pending_logs_belong_to_its_slice_and_positions_to_the_file(tmp_path: Path, version: int):
    """The logs of the slice before it are merged, too, and do not count for names."""
    builder = table(tmp_path, version)
    builder.pending_compaction(4, "f1")
    older, newer = f".f1_{tick(1)}.log.5_0-1-0", f".f1_{tick(4)}.log.1_0-1-0"
    group = LogGroup("north", "f1", tick(1), f"f1_0-1-0_{tick(1)}.parquet", (older, newer))
    opened = opened_slices(LocalStorage(tmp_path), load_table(LocalStorage(tmp_path))[1])
    assert opened == {("north", "f1"): tick(4)}
    form = replace(form_of(builder), opened=opened)
    (log,) = made_logs(
        log_rows(builder, 7, [row("b", 11)]),
        group,
        form,
        tick(7),
        group.first_name(form, tick(7), IDENTITY.write_token),
    )
    (block,) = read_blocks(log.data, "f")
    assert isinstance(block, RawBlock)
    if version == 6:
        assert str(log.name) == f".f1_{tick(4)}.log.2_3-1-4"
        assert (log.stat.prev_commit, log.stat.base_file) == (tick(4), "")
        assert log.stat.log_files == (newer, str(log.name))
    else:
        assert str(log.name) == f".f1_{tick(7)}.log.1_3-1-4"
        assert block.header[HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS] == tick(1)


@pytest.mark.parametrize("change", [{"region": None}, {"_hoodie_is_deleted": True, "ts": None}])
def test_a_row_without_a_value_that_must_be_there_is_refused_before_any_file(tmp_path: Path, change: dict[str, Any]):
    """A delete holds no row: it needs its key alone."""
    builder, watch = table(tmp_path), Watch()
    incoming = log_rows(builder, 7, [{**row("b", 11), **change}])
    if "region" in change:
        with pytest.raises(HudiError) as caught:
            write(builder, 7, incoming, form_of(builder), hook=watch)
        assert caught.value.reason == "SCHEMA_INCOMPATIBLE"
        assert not watch.seen
    else:
        (block,) = blocks(builder, write(builder, 7, incoming, form_of(builder)))
        assert decode_deletes(block, "f") == [DeleteRecord("b", "north", 0, "Int")]


ORDERINGS = [
    (pa.array([dt.date(2024, 2, 29)]), 6, ("Date", dt.date(2024, 2, 29))),
    (pa.array([dt.date(2024, 2, 29)]), 9, ("Int", 19782)),
    (pa.array([2.5], pa.float32()), 9, ("Float", 2.5)),
    (pa.array([2], pa.int16()), 9, ("Int", 2)),
    (pa.array([Decimal("1.5")], pa.decimal128(38, 18)), 9, ("Decimal", Decimal("1.500000000000000"))),
    (pa.array([1_709_200_800], pa.timestamp("ms", "UTC")), 9, ("Long", 1_709_200_800)),
    (pa.array([{"at": 7}], pa.struct({"at": pa.int64()})), 9, ("Long", 7)),
]


@pytest.mark.parametrize(("values", "version", "expected"), ORDERINGS)
def test_a_delete_holds_its_ordering_value_in_the_wrapper_of_its_type(values: Any, version: int, expected: Any):
    field = "ts.at" if pa.types.is_struct(values.type) else "ts"
    wrappers = ordering_wrappers(pa.table({"ts": values}), [field], version)
    content = deletes_content(pa.chunked_array([["k"]]), pa.chunked_array([[False]]), "p", wrappers)
    (block,) = read_blocks(encode_block(BlockType.DELETE, {}, b"".join(content)), "f")
    assert isinstance(block, RawBlock)
    (found,) = decode_deletes(block, "f")
    assert (found.kind, found.ordering) == expected


def test_an_ordering_value_that_a_delete_cannot_hold_is_refused():
    too_fine = pa.array([Decimal("0.1234567890123456")], pa.decimal128(38, 16))
    with pytest.raises(HudiError, match="15 digits"):
        ordering_wrappers(pa.table({"ts": too_fine}), ["ts"], 9)
    with pytest.raises(UnsupportedFeature, match="ordering-type"):
        ordering_wrappers(pa.table({"ts": pa.array([[1]])}), ["ts"], 9)
    assert ordering_wrappers(pa.table({"x": pa.array([1])}), ["ts"], 9) == []
