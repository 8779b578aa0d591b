"""Records of the metadata table: every kind both ways in every release's schema; keys, groups, real and bad bytes."""

import datetime as dt
import decimal
import json
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from format_strategies import LONGS, TEXT, damaged
from hudi_conformance.runner.archive import unpacked_corpus
from hudi_format.base.bloom_filters import build_bloom_filter, decode_bloom_filter
from hudi_format.errors import FormatError, Reason, UnsupportedFormat
from hudi_format.hfile.blocks import Origin
from hudi_format.hfile.reader import open_hfile
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, encode_block, read_blocks
from hudi_format.log.deletes import decode_deletes
from hudi_format.metadata.codec import (
    decode_metadata_record,
    encode_metadata_record,
    metadata_schema_text,
    reading_metadata_schema,
)
from hudi_format.metadata.files import decode_metadata_block, metadata_base_file, metadata_block, metadata_delete_block
from hudi_format.metadata.keys import secondary_key, secondary_prefix, split_secondary_key
from hudi_format.metadata.partitions import (
    data_partition_of_id,
    file_group_count,
    file_group_of_id,
    file_group_of_key,
    metadata_file_id,
)
from hudi_format.metadata.record_schemas import SchemaRelease, wrappers_of
from hudi_format.metadata.records import (
    BloomFilterEntry,
    ColumnStats,
    FileEntry,
    FileIdEncoding,
    FileList,
    MetadataRecord,
    RecordLocation,
    RecordType,
    SecondaryEntry,
    file_id_of,
    halves_of,
)
from hudi_format.metadata.wrapped_values import ValueKind, ValueType, Wrapped, plain_value
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ORIGIN = Origin("f.hfile")
GOLDEN = unpacked_corpus()
RELEASES = list(SchemaRelease)
INTS = st.integers(-(2**31), 2**31 - 1)
FLOATS = st.floats(allow_nan=False, width=32)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "Boolean": st.booleans(),
    "Int": INTS,
    "Long": LONGS,
    "Float": FLOATS,
    "Double": st.floats(allow_nan=False),
    "Bytes": st.binary(max_size=9),
    "String": TEXT,
    "Date": INTS,
    "Decimal": st.integers(-(10**29), 10**29).map(lambda digits: decimal.Decimal(digits).scaleb(-15)),
    "TimeMicros": st.integers(0, 86_399_999_999),
    "TimestampMicros": LONGS,
    "LocalDate": INTS,
}
FILE_IDS = st.builds(
    lambda number, index: f"{uuid.UUID(int=number)}{index}",
    st.integers(0, 2**128 - 1),
    st.sampled_from(["", "-0", "-17"]),
)


def wrapped(release: SchemaRelease) -> st.SearchStrategy[Wrapped | None]:
    simple = [st.builds(Wrapped, st.just(kind), VALUES[kind]) for kind in wrappers_of(release) if kind != "Array"]
    one = st.one_of(st.none(), *simple)
    if release is not SchemaRelease.V1_1:
        return one
    return one | st.builds(Wrapped, st.just("Array"), st.lists(one, max_size=3).map(tuple))


def column_stats(release: SchemaRelease) -> st.SearchStrategy[ColumnStats]:
    count = st.none() | LONGS
    kinds = st.builds(ValueType, st.sampled_from(ValueKind), st.none() | TEXT)
    return st.builds(
        ColumnStats,
        *(st.none() | TEXT, st.none() | TEXT, wrapped(release), wrapped(release), count, count, count, count),
        st.booleans(),
        st.just(value=False) if release is SchemaRelease.V0_15 else st.booleans(),
        st.none() | kinds if release is SchemaRelease.V1_1 else st.none(),
    )


@st.composite
def records(draw: st.DrawFn, release: SchemaRelease) -> MetadataRecord:
    left_out = {RecordType.SECONDARY_INDEX} if release is SchemaRelease.V0_15 else set()
    kind = draw(st.sampled_from([one for one in RecordType if one not in left_out]))
    files = st.dictionaries(TEXT, st.builds(FileEntry, LONGS, st.booleans()), max_size=4).map(FileList)
    position = st.none() if release is SchemaRelease.V0_15 else st.none() | LONGS
    uuids = st.builds(RecordLocation, TEXT, FILE_IDS, LONGS, st.just(FileIdEncoding.UUID), position)
    texts = st.builds(RecordLocation, TEXT, TEXT, LONGS, st.just(FileIdEncoding.TEXT), position)
    content = {
        RecordType.ALL_PARTITIONS: files,
        RecordType.FILES: files,
        RecordType.COLUMN_STATS: column_stats(release),
        RecordType.PARTITION_STATS: column_stats(release),
        RecordType.BLOOM_FILTER: st.builds(BloomFilterEntry, TEXT, TEXT, st.binary(max_size=9), st.booleans()),
        RecordType.RECORD_INDEX: uuids | texts,
        RecordType.SECONDARY_INDEX: st.builds(SecondaryEntry, st.booleans()),
    }[kind]
    return MetadataRecord(draw(TEXT), kind, draw(content))


def decoded(record: MetadataRecord, release: SchemaRelease) -> MetadataRecord:
    schema = reading_metadata_schema(metadata_schema_text(release), ORIGIN)
    return decode_metadata_record(record.key.encode(), encode_metadata_record(record, release), schema, ORIGIN)


@pytest.mark.parametrize("release", RELEASES)
def test_every_record_is_what_it_was(release: SchemaRelease):
    @settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
    @given(records(release))
    def check(record: MetadataRecord) -> None:
        assert decoded(record, release) == record

    check()


def test_what_a_release_cannot_say_is_refused():
    stats = ColumnStats("f", "c", minimum=Wrapped("LocalDate", 1))
    with pytest.raises(ValueError, match=r"no form in schema 0\.15"):
        encode_metadata_record(MetadataRecord("k", RecordType.COLUMN_STATS, stats), SchemaRelease.V0_15)


SECONDARY = st.text(st.sampled_from("a$\\\0é"), max_size=6)


@given(st.none() | SECONDARY, SECONDARY, st.none() | SECONDARY)
def test_secondary_keys_separate_value_and_key(value: str | None, record_key: str, other: str | None):
    """Every value has a prefix of its own, and no key of another value begins with it."""
    key = secondary_key(value, record_key)
    assert split_secondary_key(key) == (value, record_key)
    assert key.startswith(secondary_prefix(other)) == (value == other)


def test_secondary_keys_are_those_of_released_writers():
    assert secondary_key("x$y", "b$") == "x\\$y$b\\$"
    assert secondary_key(None, "a") == "\0$a"
    assert secondary_key("\0", "a") == "\\\0$a"
    with pytest.raises(ValueError, match="no separator"):
        split_secondary_key("a\\$b")


@given(FILE_IDS)
def test_file_ids_are_two_halves_and_an_index(file_id: str):
    assert file_id_of(*halves_of(file_id)) == file_id


@pytest.mark.parametrize("file_id", ["", "files-0000-0", "0" * 36, f"{uuid.UUID(int=5)}-07", f"{uuid.UUID(int=5)}x1"])
def test_other_file_ids_have_no_halves(file_id: str):
    with pytest.raises(ValueError):
        halves_of(file_id)


@pytest.mark.parametrize(
    ("partition", "index", "within", "file_id"),
    [
        ("files", 0, None, "files-0000-0"),
        ("column_stats", 1, None, "col-stats-0001-0"),
        ("secondary_index_idx_name", 3, None, "secondary-index-idx-name-0003-0"),
        ("expr_index_idx_ts", 12, None, "expr-index-idx-ts-0012-0"),
        ("record_index", 3, "region=süd/a", "record-index-region%3Dsüd%2Fa-0003-0"),
    ],
)
def test_groups_have_the_ids_that_releases_give_them(partition: str, index: int, within: str | None, file_id: str):
    assert metadata_file_id(partition, index, within) == file_id
    assert file_group_of_id(file_id)[0] == index
    if partition == "record_index":
        assert data_partition_of_id(file_id) == within


def test_group_numbers():
    assert data_partition_of_id("record-index-0003-0") is None
    assert file_group_of_id("files-0000") == (0, "files")
    assert file_group_count(["files-0000-0", "files-0001-0"]) == 2
    assert file_group_of_key("n9$k1", 10, by_value=True) == file_group_of_key("n9$", 10)
    with pytest.raises(ValueError, match="no file id"):
        file_group_of_id("files")


@pytest.mark.parametrize(
    ("bound", "kind", "value"),
    [
        (Wrapped("Date", 19000), None, dt.date(2022, 1, 8)),
        (Wrapped("LocalDate", -1), None, dt.date(1969, 12, 31)),
        (Wrapped("Date", 2**31 - 1), None, None),
        (Wrapped("TimestampMicros", 1), None, dt.datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=dt.timezone.utc)),
        (Wrapped("TimeMicros", 1_000_001), None, dt.time(0, 0, 1, 1)),
        (Wrapped("Array", (Wrapped("Int", 1), None)), None, (1, None)),
        (Wrapped("Int", 3), ValueType(ValueKind.INT), 3),
        (Wrapped("Int", 19000), ValueType(ValueKind.DATE), dt.date(2022, 1, 8)),
        (Wrapped("Bytes", b"\xff"), ValueType(ValueKind.DECIMAL, "20,4"), decimal.Decimal("-0.0001")),
        (Wrapped("Int", 1001), ValueType(ValueKind.TIME_MILLIS), dt.time(0, 0, 1, 1000)),
        (
            Wrapped("Long", 1),
            ValueType(ValueKind.TIMESTAMP_MILLIS),
            dt.datetime(1970, 1, 1, 0, 0, 0, 1000, tzinfo=dt.timezone.utc),
        ),
        (
            Wrapped("Long", 1999),
            ValueType(ValueKind.LOCAL_TIMESTAMP_NANOS),
            dt.datetime.fromisoformat("1970-01-01T00:00:00.000001"),
        ),
        (Wrapped("String", str(uuid.UUID(int=7))), ValueType(ValueKind.UUID), uuid.UUID(int=7)),
        (None, ValueType(ValueKind.NULL), None),
    ],
)
def test_bounds_mean_values(bound: Wrapped | None, kind: ValueType | None, value: Any):
    assert plain_value(bound, kind) == value


@pytest.mark.parametrize(
    ("bound", "kind"),
    [
        (Wrapped("String", "x"), ValueType(ValueKind.DATE)),
        (Wrapped("Bytes", b"1"), ValueType(ValueKind.DECIMAL)),
        (Wrapped("TimeMicros", 86_400_000_000), None),
    ],
)
def test_bounds_of_another_type_are_refused(bound: Wrapped, kind: ValueType | None):
    with pytest.raises(ValueError):
        plain_value(bound, kind)


FILES = MetadataRecord("p", RecordType.FILES, FileList({"f.parquet": FileEntry(5), "g": FileEntry(0, is_deleted=True)}))
PLACE = MetadataRecord("é", RecordType.RECORD_INDEX, RecordLocation("p", f"{uuid.UUID(int=9)}-0", 1))


def only_block(data: bytes) -> RawBlock:
    (block,) = read_blocks(data, "f.log")
    assert isinstance(block, RawBlock)
    return block


def test_blocks_hold_records_by_key_and_deletes():
    block = only_block(metadata_block("001", [PLACE, FILES]))
    assert decode_metadata_block(block, "f.log") == (FILES, PLACE)
    deletes = decode_deletes(only_block(metadata_delete_block("001", "record_index", ["a"])), "f.log")
    assert [(one.key, one.partition, one.ordering, one.kind) for one in deletes] == [("a", "record_index", 0, "Int")]
    with pytest.raises(ValueError, match="one key"):
        metadata_block("001", [FILES, FILES])


def test_avro_blocks_are_read_too():
    values = [encode_metadata_record(one) for one in (FILES, PLACE)]
    content = (
        (3).to_bytes(4, "big") + (2).to_bytes(4, "big") + b"".join(len(one).to_bytes(4, "big") + one for one in values)
    )
    header = {HeaderKey.INSTANT_TIME: "001", HeaderKey.SCHEMA: metadata_schema_text()}
    found = decode_metadata_block(only_block(encode_block(BlockType.AVRO_DATA, header, content)), "f.log")
    assert [one.content for one in found] == [FILES.content, PLACE.content]
    for broken in (content[:-1], content + b"x", content[:6], b"\0\0\0\7" + content[4:]):
        with pytest.raises(FormatError) as caught:
            decode_metadata_block(only_block(encode_block(BlockType.AVRO_DATA, header, broken)), "f.log")
        assert caught.value.reason == Reason.LOG_CONTENT_CORRUPT
    with pytest.raises(UnsupportedFormat):
        decode_metadata_block(only_block(encode_block(BlockType.PARQUET_DATA, header, content)), "f.log")


def test_base_files_know_their_keys():
    opened = open_hfile(metadata_base_file([PLACE, FILES]), ORIGIN)
    assert (opened.info["minRecordKey"], opened.info["maxRecordKey"]) == (b"p", "é".encode())
    bloom = decode_bloom_filter((opened.meta_block("bloomFilter") or b"").decode(), "DYNAMIC_V0", "f")
    assert bloom == build_bloom_filter(["p", "é"], 2)


@pytest.mark.parametrize(
    "path", sorted(GOLDEN.glob("*/*/table/.hoodie/metadata/*/*.hfile")), ids=lambda path: path.name
)
def test_records_of_released_writers_keep_their_bytes(path: Path):
    opened = open_hfile(path.read_bytes(), Origin(path.name))
    text = opened.info["schema"].decode()
    schema = reading_metadata_schema(text, opened.origin)
    as_now = json.loads(text) == json.loads(metadata_schema_text())
    for key, value in opened.entries():
        record = decode_metadata_record(key, value, schema, opened.origin)
        written = encode_metadata_record(record)
        # Releases before 1.1 have fewer fields: their records come back by value.
        assert written == value if as_now else decode_metadata_record(key, written, SCHEMA, opened.origin) == record


SCHEMA = reading_metadata_schema(metadata_schema_text(), ORIGIN)


@settings(deadline=None, max_examples=150)
@given(damaged(*(encode_metadata_record(one) for one in (FILES, PLACE))), st.binary(max_size=4))
def test_any_bytes_are_a_record_or_refused(value: bytes, key: bytes):
    """Whatever else were raised would fail the test."""
    with suppress(FormatError):
        decode_metadata_record(key, value, SCHEMA, ORIGIN)
