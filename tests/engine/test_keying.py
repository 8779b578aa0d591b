"""Keys and paths of incoming rows: their laws, and what is refused."""

import pickle
from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engine_tables import TableBuilder
from hudi_format.storage import open_storage
from hudi_spark import HudiError, UnsupportedFeature
from hudi_spark.keys import KeyGenerator, key_generator, stamp_settings
from hudi_spark.keys.generator import encoded, is_named, refuse_unsafe
from hudi_spark.keys.timestamps import civil, days_from, formatted, zone_named
from hudi_spark.merge import key_rule
from hudi_spark.pruning.pruner import timestamp_paths
from hudi_spark.schema import path_values
from hudi_spark.testing import TableConfiguration, TaskIdentity, load_configuration, resolve
from hypothesis import assume, given, settings
from hypothesis import strategies as st

TASK = TaskIdentity(3, 1, 7)
INSTANT = "20260101000000000"
TYPE = "hoodie.table.keygenerator.type"
KEYS = "hoodie.table.recordkey.fields"
PARTITIONS = "hoodie.table.partition.fields"
ENCODED = "hoodie.datasource.write.partitionpath.urlencode"
HIVE = "hoodie.datasource.write.hive_style_partitioning"
TIME = "hoodie.keygen.timebased."
BARE = "hoodie.write.complex.keygen.new.encoding"
MILLISECONDS = {TIME + "timestamp.type": "EPOCHMILLISECONDS", TIME + "output.dateformat": "yyyy/MM/dd"}


CONFIGURED: dict[tuple[Any, ...], TableConfiguration] = {}


def configured(path: Path, properties: Mapping[str, str], version: int = 9) -> TableConfiguration:
    """The configuration of a table with these properties, written once."""
    known = (path, version, *sorted(properties.items()))
    if known not in CONFIGURED:
        CONFIGURED[known] = _configured(path, properties, version)
    return CONFIGURED[known]


def _configured(path: Path, properties: Mapping[str, str], version: int) -> TableConfiguration:
    builder = TableBuilder(path, version)
    builder.properties.update({KEYS: "id", PARTITIONS: "part", TYPE: "SIMPLE", HIVE: "false", **properties})
    builder.write_properties()
    return load_configuration(open_storage(path))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keying")


def generator(
    folder: Path, properties: Mapping[str, str], options: Mapping[str, str] | None = None, **more: Any
) -> KeyGenerator:
    configuration = configured(folder, properties, more.pop("version", 9))
    return key_generator(configuration, resolve(options or {}), **more)


def keys_of(found: KeyGenerator, rows: pa.Table) -> list[str]:
    texts: list[str] = found.keys(rows, TASK, INSTANT).to_pylist()
    return texts


TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=8)


@settings(deadline=None)
@given(values=st.lists(TEXTS, min_size=1, max_size=6))
def test_an_encoded_path_is_one_folder_and_leads_back(values: list[str], folder: Path):
    """Encoding keeps every text to a folder of its own, from which the reader of paths gets it back."""
    assume(not {".", "..", ".hoodie", "__HIVE_DEFAULT_PARTITION__"} & set(values))
    configuration = configured(folder, {ENCODED: "true"})
    rows = pa.table({"id": values, "part": values})
    paths = key_generator(configuration, resolve({})).partition_paths(rows).to_pylist()
    assert all("/" not in path for path in paths)
    assert [path_values(path, configuration)["part"] for path in paths] == values
    assert encoded("a:b/c%") == "a%3Ab%2Fc%25"


@settings(deadline=None)
@given(moments=st.lists(st.integers(-(10**12), 4 * 10**12), min_size=1, max_size=8))
def test_a_day_s_path_holds_the_moments_of_that_day(moments: list[int], folder: Path):
    """The range of numbers that pruning sees in a path contains every number that led to the path."""
    properties = {TYPE: "TIMESTAMP", **MILLISECONDS}
    rows = pa.table({"id": [str(one) for one in moments], "part": moments})
    paths = generator(folder, properties).partition_paths(rows).to_pylist()
    reader = timestamp_paths(properties)
    assert reader is not None
    for moment, path in zip(moments, paths, strict=True):
        least, greatest = reader.bounds(path) or (1, 0)
        assert least <= moment <= greatest


@settings(deadline=None)
@given(day=st.dates(), of_day=st.integers(0, 86_399_999))
def test_patterns_count_days_as_python_does(day: date, of_day: int):
    """Dates by arithmetic are those of the calendar, ISO weeks included."""
    days = (day - date(1970, 1, 1)).days
    assert civil(days) == (day.year, day.month, day.day)
    assert days_from(day.year, day.month, day.day) == days
    clock = datetime(day.year, day.month, day.day, tzinfo=timezone.utc) + timedelta(milliseconds=of_day)
    year, week, weekday = day.isocalendar()
    written = formatted(days * 86_400_000 + of_day, 0, "yyyyMMddHHmmssSSS xxxx-ww-e DDD EEEE MMM")
    whole = f"{clock:%m%d%H%M%S}{of_day % 1000:03d} {year:04d}-{week:02d}-{weekday} {clock:%j %A %b}"
    assert written == f"{day.year:04d}{whole}"


@settings(deadline=None)
@given(st.integers(31_536_000, 2_840_140_800), st.sampled_from(["Europe/Berlin", "Asia/Kolkata", "GMT-3"]))
def test_a_wall_clock_leads_to_a_moment_that_has_it(second: int, name: str):
    """From 1971 to 2060 a moment's wall clock in a zone leads back to a moment with the same wall clock."""
    zone = zone_named(name)
    assert zone is not None
    moments = pa.array([second * 1000], pa.int64())
    clocks = moments[0].as_py() + zone.offsets(moments)[0].as_py()
    again = zone.from_wall_clock(pa.array([clocks], pa.int64()))
    assert again[0].as_py() + zone.offsets(again)[0].as_py() == clocks


@settings(deadline=None)
@given(rows=st.integers(0, 20), partition=st.integers(0, 9))
def test_generated_keys_name_instant_part_and_row(rows: int, partition: int, folder: Path):
    """Keys without key fields are all different, and say which row of which part of which write they are."""
    found = generator(folder, {KEYS: ""})
    assert found.rule is None
    made = found.keys(pa.table({"part": ["a"] * rows}), TaskIdentity(partition, 0, 5), INSTANT).to_pylist()
    assert made == [f"{INSTANT}_{partition}_{row}" for row in range(rows)]


@settings(deadline=None)
@given(first=st.one_of(st.none(), st.text(max_size=3)), second=st.one_of(st.none(), st.integers(-9, 9)))
def test_a_key_of_several_fields_needs_one_of_them(first: str | None, second: int | None, folder: Path):
    """Null and empty parts have names; a row with nothing at all in its key fields is refused."""
    found = generator(folder, {TYPE: "COMPLEX", KEYS: "a,b"})
    rows = pa.table({"a": pa.array([first], pa.string()), "b": pa.array([second], pa.int64()), "part": ["p"]})
    if not first and second is None:
        with pytest.raises(HudiError, match="1 of 1 rows") as refused:
            keys_of(found, rows)
        assert refused.value.reason == "KEY_MISSING"
        return
    a = "__null__" if first is None else first or "__empty__"
    assert keys_of(found, rows) == [f"a:{a},b:{'__null__' if second is None else second}"]


def test_missing_keys_are_counted(folder: Path):
    """The error says how many rows have no key, the empty text among them, and what to do."""
    rows = pa.table({"id": ["a", None, "", "b"], "part": ["p"] * 4})
    with pytest.raises(HudiError, match="2 of 4 rows have no value in id") as refused:
        keys_of(generator(folder, {}), rows)
    assert "fill the field" in refused.value.hint
    assert keys_of(generator(folder, {}), rows.slice(0, 0)) == []


@pytest.mark.parametrize("absent", ["id", "part"])
def test_a_missing_column_is_named(folder: Path, absent: str):
    """Rows without a column of the key or the path are refused with its name."""
    found, rows = generator(folder, {}), pa.table({"id": ["a"], "part": ["p"]}).drop_columns([absent])
    with pytest.raises(HudiError, match=f"no column {absent}") as refused:
        found.keys(rows, TASK, INSTANT) if absent == "id" else found.partition_paths(rows)
    assert refused.value.reason == "KEY_MISSING"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("..", "PATH_ESCAPES_TABLE"),
        ("a/../../b", "PATH_ESCAPES_TABLE"),
        ("/etc", "PATH_ESCAPES_TABLE"),
        ("a//b", "PATH_ESCAPES_TABLE"),
        ("a/", "PATH_ESCAPES_TABLE"),
        (".", "PATH_ESCAPES_TABLE"),
        (".hoodie/timeline", "PATH_ESCAPES_TABLE"),
        ("a\0b", "PATH_ESCAPES_TABLE"),
        ("2024-01-31 12:30", "CONFIG_INVALID"),
    ],
)
def test_a_value_cannot_lead_out_of_the_table(folder: Path, path: str, reason: str):
    """A partition value that is no folder of the table's own is refused; encoding or hive style may make it one."""
    rows = pa.table({"id": ["a"], "part": [path]})
    with pytest.raises(HudiError) as refused:
        generator(folder, {}).partition_paths(rows)
    assert refused.value.reason == reason
    if path not in (".", "..", "a\0b"):
        assert len(generator(folder, {ENCODED: "true"}).partition_paths(rows)) == 1
    refuse_unsafe("a/b:c")


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({KEYS: "id,part"}, "takes one record key field"),
        ({PARTITIONS: ""}, "needs one partition field"),
        ({TYPE: "NON_PARTITION"}, "takes no partition field"),
        ({PARTITIONS: "part:SIMPLE"}, "only CUSTOM takes field:TYPE"),
        ({TYPE: "CUSTOM"}, "does not know the type"),
        ({TYPE: "TIMESTAMP"}, "timestamp.type is missing"),
        ({TYPE: "TIMESTAMP", **MILLISECONDS, TIME + "timezone": "Mars/Base"}, "time zone 'Mars/Base' is unknown"),
        ({TYPE: "TIMESTAMP", **MILLISECONDS, TIME + "timestamp.type": "AGES"}, "AGES is unknown"),
    ],
)
def test_a_generator_that_does_not_fit_is_refused(folder: Path, properties: dict[str, str], message: str):
    """Key generator and fields that do not go together, and settings that are missing, are named."""
    with pytest.raises(HudiError, match=message) as refused:
        generator(folder, properties)
    assert refused.value.reason == "CONFIG_INVALID"


@pytest.mark.parametrize(
    "option",
    [
        {"hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.ComplexKeyGenerator"},
        {"hoodie.datasource.write.keygenerator.type": "COMPLEX"},
    ],
)
def test_a_write_makes_keys_as_the_table_does(folder: Path, option: dict[str, str]):
    """Options that name another generator than the table's are refused; its class or Avro twin are the same one."""
    with pytest.raises(HudiError, match="is requested and the table has SIMPLE") as refused:
        generator(folder, {}, option)
    assert refused.value.reason == "CONFIG_INVALID"
    same = {"hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.SimpleAvroKeyGenerator"}
    assert generator(folder, {}, same) == generator(folder, {})
    assert generator(folder, {TYPE: "GLOBAL_DELETE", PARTITIONS: ""}).path.fields == ()


def test_a_folder_s_name_has_its_length(folder: Path):
    """A value of more bytes than a file system takes is refused before anything is written."""
    rows = pa.table({"id": ["a"], "part": ["é" * 128]})
    with pytest.raises(HudiError, match="more than 255 bytes"):
        generator(folder, {}).partition_paths(rows)
    assert len(generator(folder, {}).partition_paths(pa.table({"id": ["a"], "part": ["e" * 255]}))) == 1


def test_what_is_not_built_is_named(folder: Path):
    """A generator of somebody's own and a pattern with the names of zones are no silent guess."""
    with pytest.raises(UnsupportedFeature, match="custom-key-generator"):
        generator(folder, {TYPE: "USER_PROVIDED"})
    with pytest.raises(UnsupportedFeature, match="date-pattern"):
        stamp_settings({**MILLISECONDS, TIME + "output.dateformat": "yyyy z"})


def test_a_single_complex_key_keeps_to_what_the_table_has(folder: Path):
    """Releases differ on the key of one field: a key that is there decides, then the option, then the version."""
    rows, complex_type = pa.table({"id": ["7"], "part": ["p"]}), {TYPE: "COMPLEX"}
    bare, named = ["7"], ["id:7"]
    assert keys_of(generator(folder, complex_type), rows) == named
    assert keys_of(generator(folder, complex_type, version=8), rows) == bare
    assert keys_of(generator(folder, complex_type, {BARE: "false"}, version=8), rows) == named
    assert keys_of(generator(folder, complex_type, {BARE: "true"}, version=9), rows) == named
    assert keys_of(generator(folder, complex_type, existing="7"), rows) == bare
    assert keys_of(generator(folder, complex_type, existing="id:3", version=6), rows) == named
    assert keys_of(generator(folder, {}, existing="id:3"), rows) == bare
    assert is_named("id:3", "id")


def test_types_that_version_6_does_not_keep_come_from_the_options(folder: Path):
    """A custom generator's field types, and what a timestamp counts, are options of each write to version 6."""
    stored = {
        TYPE: "",
        "hoodie.table.keygenerator.class": "org.apache.hudi.keygen.CustomKeyGenerator",
        PARTITIONS: "a,b",
    }
    options = {"hoodie.datasource.write.partitionpath.field": "a:SIMPLE,b:TIMESTAMP", **MILLISECONDS}
    rows = pa.table({"id": ["x"], "a": ["p"], "b": [0]})
    assert generator(folder, stored, options, version=6).partition_paths(rows).to_pylist() == ["p/1970/01/01"]
    with pytest.raises(HudiError, match="the table keeps 'yyyy'"):
        generator(folder, {**stored, TIME + "output.dateformat": "yyyy"}, options, version=6)


def test_texts_that_are_no_dates_are_counted_and_shown(folder: Path):
    """A text that fits no input pattern is refused with an example."""
    texts = {TYPE: "TIMESTAMP", TIME + "timestamp.type": "DATE_STRING", TIME + "output.dateformat": "yyyy"}
    found = generator(folder, {**texts, TIME + "input.dateformat": "yyyy-MM-dd,yyyyMMdd"})
    good = pa.table({"id": ["1", "2"], "part": ["2024-02-29", "20240229"]})
    assert found.partition_paths(good).to_pylist() == ["2024", "2024"]
    for wrong in ("2023-02-29", "2024-13-01", "soon", "2024-02-29 "):
        with pytest.raises(HudiError, match="texts that do not fit") as refused:
            found.partition_paths(pa.table({"id": ["1"], "part": [wrong]}))
        assert refused.value.reason == "SCHEMA_INCOMPATIBLE"


@pytest.mark.parametrize("column", [pa.array([True]), pa.array([b"x"]), pa.array(["1"]), pa.array([1e300])])
def test_a_column_that_counts_nothing_is_refused(folder: Path, column: pa.Array):
    """A timestamp generator takes numbers, days and decimals that are moments."""
    found = generator(folder, {TYPE: "TIMESTAMP", **MILLISECONDS})
    with pytest.raises(HudiError, match="partition field 'part'"):
        found.partition_paths(pa.table({"id": ["1"], "part": column}))


def test_slashed_days_are_folders(folder: Path):
    """Days as nested folders, as Apache Hudi 1.2 writes them; what begins with a dash stays as it is."""
    found = generator(folder, {"hoodie.datasource.write.slash.separated.date.partitioning": "true"})
    rows = pa.table({"id": ["1", "2", "3"], "part": ["2026-01-31", "-5", None]})
    assert found.partition_paths(rows).to_pylist() == ["2026/01/31", "-5", "__HIVE_DEFAULT_PARTITION__"]


def test_a_generator_travels_and_rebuilds_stored_keys(folder: Path):
    """Tasks get the generator pickled; in a table without meta fields it makes the keys that readers rebuild."""
    found = generator(folder, {TYPE: "COMPLEX", KEYS: "id,n.x", PARTITIONS: "part", HIVE: "true"})
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301 - what was just pickled
    assert found.columns == ("id", "n.x", "part")
    rows = pa.table({"id": ["1"], "n": [{"x": 1.5}], "part": [None]})
    assert keys_of(found, rows) == ["id:1,n.x:1.5"]
    stored = configured(folder, {TYPE: "COMPLEX", KEYS: "id,n.x", "hoodie.populate.meta.fields": "false"})
    assert key_rule(stored).keys(rows).to_pylist() == keys_of(found, rows)
