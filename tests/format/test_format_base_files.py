"""Base files: rows, pushdown, footers, the bloom filter, damage."""

import io
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from format_strategies import TEXT
from hudi_format.base.bloom_filters import (
    bits_and_hashes,
    build_bloom_filter,
    build_simple_filter,
    decode_bloom_filter,
    encode_bloom_filter,
)
from hudi_format.base.files import (
    AVRO_SCHEMA_KEY,
    BLOOM_FILTER_KEY,
    BLOOM_TYPE_KEY,
    MAXIMUM_KEY,
    MINIMUM_KEY,
    base_file_footer,
    open_base_parquet,
    read_base_file,
    write_base_file,
)
from hudi_format.errors import FormatError, Reason, UnsupportedFormat
from hudi_format.names import BaseFileName, parse_data_file_name
from hudi_format.schemas import META_FIELDS
from hudi_format.storage import LocalStorage
from hypothesis import given
from hypothesis import strategies as st

SCHEMA = {"type": "record", "name": "trips_record", "namespace": "hoodie.trips", "fields": []}


def rows(count: int, **columns: Any):
    meta = {name: [f"{name}{number:05}" for number in range(count)] for name in META_FIELDS}
    return pa.table(meta | {"n": list(range(count)), "text": ["x" * 50] * count} | columns)


@pytest.fixture
def storage(tmp_path: Path):
    return LocalStorage(tmp_path)


def test_rows_are_read_back(storage: LocalStorage):
    storage.put("p=süd/a b.parquet", write_base_file(rows(3), SCHEMA))
    assert read_base_file(storage, "p=süd/a b.parquet").equals(rows(3))


def test_columns_come_in_the_requested_order_and_absent_ones_are_left_out(storage: LocalStorage):
    storage.put("a.parquet", write_base_file(rows(3), SCHEMA))
    assert read_base_file(storage, "a.parquet", ["text", "absent", "n"]).column_names == ["text", "n"]
    filtered = read_base_file(storage, "a.parquet", ["text"], pc.field("n") > 1)
    assert (filtered.column_names, filtered.num_rows) == (["text"], 1)
    assert read_base_file(storage, "a.parquet", []).num_rows == 3


def test_a_filter_on_an_absent_column_is_the_callers_mistake(storage: LocalStorage):
    storage.put("a.parquet", write_base_file(rows(3), SCHEMA))
    with pytest.raises(ValueError, match="absent"):
        read_base_file(storage, "a.parquet", None, pc.field("absent") > 1)


class CountingStorage(LocalStorage):
    read_bytes = 0

    def read_range(self, path: str, offset: int, length: int):
        data = super().read_range(path, offset, length)
        self.read_bytes += len(data)
        return data


def test_row_groups_and_columns_that_are_not_needed_are_not_read(tmp_path: Path):
    storage = CountingStorage(tmp_path)
    text = [f"{number:050}" for number in range(10_000)]
    storage.put("a.parquet", write_base_file(rows(10_000, text=text), SCHEMA, rows_a_group=1000, bloom_entries=0))

    def cost(columns: Any, row_filter: pc.Expression | None) -> int:
        storage.read_bytes = 0
        read_base_file(storage, "a.parquet", columns, row_filter)
        return storage.read_bytes

    everything = cost(None, None)
    assert cost(["n"], None) < everything / 4
    assert cost(None, pc.field("n") >= 9500) < everything / 4


def test_the_footer_holds_schema_key_range_and_filter(storage: LocalStorage):
    storage.put("a.parquet", write_base_file(rows(100), SCHEMA, rows_a_group=40, extra_keys={"x": "y"}))
    footer = base_file_footer(storage, "a.parquet")
    assert (footer.rows, footer.row_groups, footer.keys["x"]) == (100, 3, "y")
    assert footer.keys[AVRO_SCHEMA_KEY].startswith('{"type":"record"')
    assert footer.keys[MINIMUM_KEY] == "_hoodie_record_key00000"
    assert footer.keys[MAXIMUM_KEY] == "_hoodie_record_key00099"
    bloom = decode_bloom_filter(footer.keys[BLOOM_FILTER_KEY], footer.keys[BLOOM_TYPE_KEY], "f")
    assert all(bloom.may_contain(f"_hoodie_record_key{number:05}") for number in range(100))
    assert not bloom.may_contain("other")


def test_the_key_range_has_the_order_of_java_strings(storage: LocalStorage):
    keys = ["\ufffd", "\U0001f600"]
    table = rows(2).set_column(2, "_hoodie_record_key", pa.array(keys))
    storage.put("a.parquet", write_base_file(table, SCHEMA))
    found = base_file_footer(storage, "a.parquet").keys
    assert (found[MINIMUM_KEY], found[MAXIMUM_KEY]) == ("\U0001f600", "\ufffd")


@pytest.mark.parametrize("table", [rows(2).set_column(2, "_hoodie_record_key", pa.array(["", None])), rows(0)])
def test_without_keys_there_is_no_key_range(storage: LocalStorage, table: pa.Table):
    storage.put("a.parquet", write_base_file(table, SCHEMA))
    assert MINIMUM_KEY not in base_file_footer(storage, "a.parquet").keys
    assert read_base_file(storage, "a.parquet").num_rows == table.num_rows


def test_the_same_rows_give_the_same_bytes_in_another_process():
    program = (
        "import hashlib, pyarrow as pa; from hudi_format.base.files import write_base_file as w;"
        "t = pa.table({'_hoodie_record_key': ['a', 'b'], 'n': [1, 2]});"
        "print(hashlib.sha256(w(t, {'type': 'record'}, extra_keys={'k': 'v', 'l': 'w'})).hexdigest())"
    )
    seeds = ("1", "2")
    command = [sys.executable, "-c", program]
    digests = {
        subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout for seed in seeds
    }
    assert len(digests) == 1


@pytest.mark.parametrize("name", ["p/absent.parquet", "p/absent.orc", "p/absent.hfile"])
def test_a_missing_base_file_is_named(storage: LocalStorage, name: str):
    for use in (read_base_file, base_file_footer):
        with pytest.raises(FormatError) as caught:
            use(storage, name)
        assert (caught.value.reason, caught.value.file) == (Reason.BASE_FILE_MISSING, name)


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1" * 10, b"no parquet at all", b"PAR1\xff\xff\xff\x7fPAR1"])
def test_a_base_file_that_does_not_parse_is_refused(storage: LocalStorage, data: bytes):
    storage.put("a.parquet", data)
    for use in (read_base_file, base_file_footer):
        with pytest.raises(FormatError) as caught:
            use(storage, "a.parquet")
        assert caught.value.reason == Reason.BASE_FILE_CORRUPT


def test_a_value_that_changed_in_storage_is_refused_where_its_page_has_a_checksum(
    storage: LocalStorage, tmp_path: Path
):
    """As those of Apache Hudi have; the page decodes, and no other part of the file says what the value was."""
    place = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"n": [1, 2, 3]}), place, compression="none", use_dictionary=False, write_page_checksum=True
    )
    data = place.read_bytes()
    place.write_bytes(data.replace((2).to_bytes(8, "little"), (6).to_bytes(8, "little"), 1))
    for use in (
        lambda: read_base_file(storage, "a.parquet"),
        lambda: read_base_file(storage, "a.parquet", None, pc.field("n") > 1),
        lambda: open_base_parquet(storage, "a.parquet").column("n"),
    ):
        with pytest.raises(FormatError, match="CRC") as refused:
            use()
        assert (refused.value.reason, refused.value.file) == (Reason.BASE_FILE_CORRUPT, "a.parquet")


def test_a_base_file_of_no_columns_is_no_empty_file(storage: LocalStorage):
    """Nobody writes one: its rows would be missing without a word."""
    sink = io.BytesIO()
    pq.write_table(pa.table({}), sink)
    storage.put("a.parquet", sink.getvalue())
    with pytest.raises(FormatError, match="no columns") as caught:
        read_base_file(storage, "a.parquet")
    assert (caught.value.reason, caught.value.file) == (Reason.BASE_FILE_CORRUPT, "a.parquet")


def test_a_file_that_declares_more_rows_than_can_be_held_is_refused_by_its_footer(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
):
    storage.put("a.parquet", write_base_file(rows(11), SCHEMA))
    monkeypatch.setattr("hudi_format.base.parquet_bytes.MAXIMUM_ROWS", 10)
    for use in (read_base_file, base_file_footer):
        with pytest.raises(FormatError) as caught:
            use(storage, "a.parquet")
        assert caught.value.reason == Reason.LIMIT_EXCEEDED


@pytest.mark.parametrize(("entries", "bits"), [(60_000, 2_587_966), (10_000, 431_328), (50, 2_157)])
def test_filter_sizes_are_those_of_real_files(entries: int, bits: int):
    assert bits_and_hashes(entries, 1e-9) == (bits, 30)


@given(st.lists(TEXT, max_size=30, unique=True), st.integers(1, 20))
def test_a_filter_knows_every_key_and_survives_the_footer(keys: list[str], entries: int):
    bloom = build_bloom_filter(keys, entries)
    assert len(bloom.rows) == max(1, -(-len(keys) // entries))
    assert all(bloom.may_contain(key) for key in keys)
    assert decode_bloom_filter(encode_bloom_filter(bloom), "DYNAMIC_V0", "f") == bloom


@given(st.lists(TEXT, max_size=30, unique=True), st.integers(1, 20))
def test_a_simple_filter_takes_every_key_into_one_row(keys: list[str], entries: int):
    simple = build_simple_filter(keys, entries)
    assert len(simple.rows) == 1
    assert all(simple.may_contain(key) for key in keys)
    assert decode_bloom_filter(encode_bloom_filter(simple), "SIMPLE", "f") == simple


@given(st.text() | st.binary().map(lambda data: __import__("base64").b64encode(data).decode()))
def test_a_text_that_is_no_filter_is_refused(text: str):
    for type_code in ("SIMPLE", "DYNAMIC_V0", "OTHER"):
        with pytest.raises(FormatError):
            decode_bloom_filter(text, type_code, "f")


def test_the_process_ends_after_the_streams_that_other_threads_hold(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(bytes(2 << 20))
    script = """
import sys, threading, time
from hudi_format.base.stored_file import open_stored
from hudi_format.storage import open_storage

def hold(streams):
    time.sleep(0.3)
    print("held until now", flush=True)
    streams.clear()

streams = [open_stored(open_storage(sys.argv[1]), "a.parquet")]
threading.Thread(target=hold, args=(streams,), daemon=True).start()
"""
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "held until now\n"


LANCE = "1ad2500a-97a1-4225-8266-8694365efc71-0_0-40-125_20260503194208547.lance"


def test_the_name_of_a_lance_file_is_that_of_a_base_file():
    found = parse_data_file_name(LANCE)
    assert isinstance(found, BaseFileName)
    assert str(found) == LANCE


@pytest.mark.parametrize("read", [read_base_file, base_file_footer, open_base_parquet])
def test_reading_a_lance_file_is_refused_as_not_built(tmp_path: Path, read: Callable[..., object]):
    """Later releases write them; rows that nobody can read are no empty answer."""
    (tmp_path / LANCE).write_bytes(b"LANC")
    with pytest.raises(UnsupportedFormat) as caught:
        read(LocalStorage(str(tmp_path)), LANCE)
    assert caught.value.feature == "base-lance"


def test_moments_of_96_bits_are_instants_at_every_depth(storage: LocalStorage):
    """They state no zone, and those who write them mean instants; nanoseconds cannot hold the years of these."""
    moments = [
        datetime(1, 1, 1, tzinfo=timezone.utc),
        datetime(1969, 12, 31, 23, 59, 59, 999999, timezone.utc),
        None,
        datetime(9999, 12, 31, tzinfo=timezone.utc),
    ]
    instant = pa.timestamp("us", "UTC")
    nested = pa.array(
        [[{"at": each, "n": 1}] for each in moments], pa.list_(pa.struct({"at": instant, "n": pa.int64()}))
    )
    written = pa.table({"n": range(4), "at": pa.array(moments, instant), "nested": nested})
    buffer = io.BytesIO()
    pq.write_table(written, buffer, use_deprecated_int96_timestamps=True, store_schema=False)
    storage.put("a.parquet", buffer.getvalue())
    assert read_base_file(storage, "a.parquet").to_pydict() == written.to_pydict()
    assert base_file_footer(storage, "a.parquet").schema.field("at").type == instant
    late = read_base_file(storage, "a.parquet", ["n"], pc.field("at") > datetime(2000, 1, 1, tzinfo=timezone.utc))
    assert late.to_pydict() == {"n": [3]}
    assert open_base_parquet(storage, "a.parquet").column("at").to_pylist() == moments
