"""Instants as callers write them."""

import datetime as dt
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_tables import TableBuilder, row
from hudi_format.storage import LocalStorage
from hudi_spark import HudiError, explain, read_arrow, read_changes, read_incremental, read_stream, services_arrow
from hudi_spark.table_state import instant_digits
from hypothesis import given
from hypothesis import strategies as st

ZONE = "hoodie.table.timeline.timezone"
# Ticks of the builder are milliseconds after the midnight of 2025-01-01.
MIDNIGHT = dt.datetime(2025, 1, 1)  # noqa: DTZ001 - the timeline's zone is meant
HOUR = dt.timezone(dt.timedelta(hours=1))


def grown(path: Path, zone: str = "UTC") -> Path:
    """A table with writes 10, 20 and 2,000 milliseconds after midnight."""
    builder = TableBuilder(path, properties={ZONE: zone})
    builder.commit(10, [builder.base_file(10, [row("a", 1)])])
    builder.commit(20, [builder.base_file(20, [row("b", 1)], group="f2")])
    builder.commit(2000, [builder.base_file(2000, [row("c", 1)], group="f3")])
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return grown(tmp_path_factory.mktemp("table"))


@pytest.fixture
def in_oslo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "CET-1")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def keys(rows: Any) -> str:
    return "".join(sorted(rows.column("id").to_pylist()))


@pytest.mark.parametrize(
    ("instant", "found"),
    [
        ("20250101000000010", "a"),
        ("20250101000000", "ab"),
        ("20250101000002", "abc"),
        ("2025-01-01", ""),
        ("2025-01-02", "abc"),
        (dt.date(2025, 1, 1), ""),
        (dt.date(2025, 1, 2), "abc"),
        ("2025-01-01 00:00", ""),
        ("2025-01-01 00:00:00", ""),
        ("2025-01-01 00:00:01", "ab"),
        ("2025-01-01 00:00:00.010", "a"),
        ("2025-01-01T00:00:00.02", "ab"),
        ("2025-01-01 00:00:00.0199999", "a"),
        ("2025-01-01T00:00:01Z", "ab"),
        ("2025-01-01t00:00:01z", "ab"),
        ("2025-01-01T01:00:01+01:00", "ab"),
        ("2025-01-01 01:00:01+0100", "ab"),
        ("2024-12-31T23:00:01-01", "ab"),
        (MIDNIGHT + dt.timedelta(milliseconds=10), "a"),
        (MIDNIGHT + dt.timedelta(microseconds=19_999), "a"),
        (dt.datetime(2025, 1, 1, 1, 0, 1, tzinfo=HOUR), "ab"),
        (dt.datetime(2025, 1, 1, 0, 0, 1, tzinfo=HOUR), ""),
    ],
)
def test_a_snapshot_takes_an_instant_in_each_form(table: Path, instant: Any, found: str):
    assert keys(read_arrow(table, as_of=instant)) == found


@pytest.mark.parametrize(
    "instant",
    [
        "",
        "yesterday",
        "earliest",
        "2025",
        "2025-01",
        "2025-02-30",
        "2025-13-01 00:00:00",
        "2025-01-01 24:00:01",
        "2025-01-01 00:00:00 Europe/Oslo",
        "2025-01-01T00:00:00+99:00",
        " 2025-01-01",
        "20250132000000",
        "٢٠٢٥٠١٠١٠٠٠٠٠٠",
        "1735689600000",
        1735689600,
        dt.time(12),
        dt.datetime(1, 1, 1, tzinfo=HOUR),
    ],
)
def test_anything_else_is_one_error_that_lists_the_forms(table: Path, instant: Any):
    with pytest.raises(HudiError) as caught:
        read_arrow(table, as_of=instant)
    assert caught.value.reason == "INSTANT_MALFORMED"
    assert caught.value.table == str(table)
    assert all(form in caught.value.hint for form in ("yyyyMMddHHmmssSSS", "yyyy-MM-dd HH:mm:ss[.SSS]", "datetime"))


@given(moment=st.datetimes(dt.datetime(1, 1, 3), dt.datetime(9999, 12, 29)), zone=st.timezones())  # noqa: DTZ001
def test_a_moment_is_the_same_instant_in_every_zone_and_as_text(table: Path, moment: dt.datetime, zone: dt.tzinfo):
    utc = moment.replace(tzinfo=dt.timezone.utc)
    local = utc.astimezone(zone)
    forms: list[Any] = [moment, utc, utc.isoformat(), moment.isoformat(" ", "milliseconds"), local]
    if (local.utcoffset() or dt.timedelta()) % dt.timedelta(minutes=1) == dt.timedelta():
        forms.append(local.isoformat())
    digits = {instant_digits(form, lambda: LocalStorage(table)) for form in forms}
    assert digits == {moment.isoformat(timespec="milliseconds").translate(str.maketrans("", "", "-T:."))}


@pytest.mark.usefixtures("in_oslo")
def test_a_timeline_in_local_time_shows_the_digits_of_that_zone(tmp_path: Path):
    local, utc = grown(tmp_path / "local", "LOCAL"), grown(tmp_path / "utc", "UTC")
    moment = dt.datetime(2024, 12, 31, 23, 0, 1, tzinfo=dt.timezone.utc)
    assert keys(read_arrow(local, as_of=moment)) == "ab"
    assert keys(read_arrow(local, as_of=moment.isoformat())) == "ab"
    assert keys(read_arrow(utc, as_of=moment)) == ""
    without = MIDNIGHT + dt.timedelta(seconds=1)
    assert keys(read_arrow(local, as_of=without)) == keys(read_arrow(utc, as_of=without)) == "ab"


def test_ranges_streams_and_plans_take_the_same_forms(table: Path, tmp_path: Path):
    second = dt.datetime(2025, 1, 1, 0, 0, 1, tzinfo=dt.timezone.utc)
    assert keys(read_incremental(table, "2025-01-01", second)) == "ab"
    assert keys(read_incremental(table, second)) == "c"
    assert keys(read_incremental(table, "earliest", "2025-01-01 00:00:00.011")) == "a"
    (batch,) = read_stream(table, tmp_path / "position", begin=second)
    assert keys(batch.rows) == "c"
    assert len(explain(table, as_of="2025-01-01 00:00:01").slices) == 2
    with pytest.raises(HudiError, match="INSTANT_MALFORMED"):
        read_incremental(table, second, "earliest")
    with pytest.raises(HudiError, match="CONFIG_INVALID"):
        read_changes(table, dt.date(2025, 1, 1), second)


def test_an_action_is_named_to_the_millisecond(table: Path):
    services = services_arrow(table)
    assert services.has_completed("2025-01-01 00:00:00.020")
    assert services.has_completed(dt.datetime(2025, 1, 1, 1, 0, 2, tzinfo=HOUR))
    assert not services.has_completed("2025-01-01 00:00:01")
    with pytest.raises(HudiError, match="INSTANT_NOT_FOUND"):
        services.restore("2025-01-01 00:00:01")
    with pytest.raises(HudiError, match="INSTANT_MALFORMED"):
        services.restore("the first of January")
