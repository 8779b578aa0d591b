"""Partition paths: what they say of columns is true of every row that lies there."""

import datetime as dt
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pytest
from hudi_spark.pruning.facts import Facts
from hudi_spark.pruning.pruner import PartitionPaths, timestamp_paths
from hudi_spark.table_state import PartitionStyle
from hudi_spark.testing import TableConfiguration
from hypothesis import given, settings
from hypothesis import strategies as st

_SCHEMA = pa.schema([("a", pa.string()), ("b", pa.int64()), ("c", pa.date32()), ("t", pa.bool_())])
_DEFAULT = "__HIVE_DEFAULT_PARTITION__"
_STAMPS = {
    "hoodie.keygen.timebased.timestamp.type": "EPOCHMILLISECONDS",
    "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
}


def _configuration(fields: tuple[str, ...], generator: str, style: PartitionStyle, **properties: str) -> Any:
    return TableConfiguration(
        name="t",
        table_type="COPY_ON_WRITE",
        version=9,
        timeline_layout=2,
        timeline_folder=".hoodie/timeline",
        record_key=("k",),
        partition_by=fields,
        ordering=(),
        populates_meta_fields=True,
        key_generator=generator,
        payload_class=None,
        create_schema=None,
        partitions=style,
        bootstrap_base=None,
        properties=properties,
    )


def _text(value: Any) -> str:
    if value is None or value == "":
        return _DEFAULT
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, dt.date) else str(value)


_ROW = {
    "a": st.none() | st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=6),
    "b": st.none() | st.integers(-(2**63), 2**63 - 1),
    "c": st.none() | st.dates(),
    "t": st.none() | st.booleans(),
}


@settings(deadline=None)
@given(
    row=st.fixed_dictionaries(_ROW),
    fields=st.lists(st.sampled_from(list(_ROW)), min_size=1, max_size=3, unique=True),
    hive=st.booleans(),
    encoded=st.booleans(),
)
def test_a_rows_values_are_among_what_its_path_says(row: dict[str, Any], fields: list[str], hive: bool, encoded: bool):
    """Simple and complex generators, hive style or not, encoded or with slashes of their own, nulls and empty texts."""
    texts = [quote(_text(row[name]), safe=" +&}") if encoded else _text(row[name]) for name in fields]
    path = "/".join(f"{name}={text}" if hive else text for name, text in zip(fields, texts, strict=True))
    paths = PartitionPaths(_configuration(tuple(fields), "COMPLEX", PartitionStyle(hive, encoded)), _SCHEMA)
    for name, facts in paths.facts(path).items():
        assert facts.nulls if row[name] is None else facts.may_be(row[name])


@pytest.mark.parametrize(
    ("fields", "generator", "style", "path"),
    [
        (("b",), "COM.EXAMPLE.OWN", PartitionStyle(), "5"),
        (("b",), "SIMPLE", PartitionStyle(hive=True), "5"),
        (("a", "b"), "COMPLEX", PartitionStyle(), "x/y/5"),
        (("a",), "SIMPLE", PartitionStyle(), "a=b"),
        (("b",), "TIMESTAMP", PartitionStyle(), "2024-01-01"),
    ],
)
def test_a_path_that_may_mean_something_else_says_nothing(fields: Any, generator: str, style: Any, path: str):
    """Generators of users, folders of another style, slashes in values, patterns that are not known."""
    facts = PartitionPaths(_configuration(fields, generator, style), _SCHEMA).facts(path)
    assert all(one == Facts() for one in facts.values())


@settings(deadline=None)
@given(moment=st.datetimes(dt.datetime(1600, 1, 1), dt.datetime(2400, 1, 1), timezones=st.just(dt.timezone.utc)))  # noqa: DTZ001
@pytest.mark.parametrize("pattern", ["yyyy/MM/dd", "yyyyMMdd", "yyyy-MM", "dd.MM.yyyy HH", "yyyy"])
def test_a_moment_lies_in_the_range_of_its_own_path(pattern: str, moment: dt.datetime):
    """The path by a pattern, and back to a range of milliseconds."""
    words = {"yyyy": f"{moment:%Y}".zfill(4), "MM": f"{moment:%m}", "dd": f"{moment:%d}", "HH": f"{moment:%H}"}
    path = pattern
    for letters, text in words.items():
        path = path.replace(letters, text)
    stamps = timestamp_paths({**_STAMPS, "hoodie.keygen.timebased.output.dateformat": pattern})
    assert stamps is not None
    bounds = stamps.bounds(path)
    assert bounds is not None
    assert (
        bounds[0]
        <= (moment - dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)) // dt.timedelta(milliseconds=1)
        <= bounds[1]
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"hoodie.keygen.timebased.timezone": "Europe/Berlin"},
        {"hoodie.keygen.timebased.output.dateformat": "MM/yyyy/EEE"},
        {"hoodie.keygen.timebased.output.dateformat": "dd"},
        {"hoodie.keygen.timebased.timestamp.type": "DATE_STRING"},
    ],
)
def test_other_patterns_and_zones_are_no_range(changed: dict[str, str]):
    """What is not surely a range of numbers prunes nothing."""
    assert timestamp_paths({**_STAMPS, **changed}) is None
