"""Partition folders that key generators by timestamp make: zones, kinds of numbers, several formats of texts."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hudi_model.files import Field, Schema, Value

from hudi_conformance.corpus.golden.layout import Layout
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.recipes.indexes import FEATURES, STATISTICS
from hudi_conformance.corpus.golden.rides import Row, second
from hudi_conformance.corpus.golden.usual import deep_check, skipping

_TIMED = "hoodie.keygen.timebased"
_CLASS = {"hoodie.table.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator"}
_TYPE = {"hoodie.table.keygenerator.type": "TIMESTAMP"}
_NUMBERS = Schema((Field("id", "string"), Field("at", "int64"), Field("ts", "int64"), Field("note", "string")))
_TEXTS = Schema((Field("id", "string"), Field("at", "string"), Field("ts", "int64"), Field("note", "string")))
_KEYS = ("k1", "k2", "schlüssel", "駅")
_INDIA = dt.timezone(dt.timedelta(hours=5, minutes=30))


@dataclass(frozen=True, slots=True)
class Timed(Layout):
    """Folders by a function of the value of the column `at`."""

    folder: Callable[[Any], str] = str

    def partition(self, row: Row) -> str:
        """The folder of a row."""
        return self.folder(row["at"])


def _timed(
    schema: Schema, folder: Callable[[Any], str], *, merge_on_read: bool, hive: bool = False, **settings: str
) -> Callable[[int], Timed]:
    stated = {f"{_TIMED}.{name.replace('__', '.')}": value for name, value in settings.items()}

    def layout(version: int) -> Timed:
        kept = {**stated, **(_TYPE if version > 6 else _CLASS)}
        traits: dict[str, Any] = {"partition_by": "at", "schema": schema, "hive_style": hive, "properties": kept}
        return Timed(version, merge_on_read, folder=folder, **traits)

    return layout


def _row(key: str, at: Value, ts: int, note: str | None = None) -> Row:
    return {"id": key, "at": at, "ts": ts, "note": note}


def _write(table: GoldenTable, moments: tuple[Value, ...]) -> None:
    """A row a moment and key, then an update of one of them, and a late one."""
    rows = [_row(f"{key} of {place}", at, 10) for place, at in enumerate(moments) for key in _KEYS]
    table.insert(second(1), rows)
    table.keep_indexes(STATISTICS)
    table.upsert(second(2), [_row("k1 of 0", moments[0], 20, "second"), _row("駅 of 1", moments[1], 20, "second")])
    table.upsert(second(3), [_row("k2 of 0", moments[0], 5, "late")])


def _in_india(seconds: int) -> str:
    return f"at={dt.datetime.fromtimestamp(seconds, _INDIA):%Y-%m-%d %H}"


@golden(
    "v9/mor_zoned_partitions",
    "Partition folders are hours of a zone half an hour off, made of seconds since 1970",
    _timed(
        _NUMBERS,
        _in_india,
        merge_on_read=True,
        hive=True,
        timestamp__type="UNIX_TIMESTAMP",
        timezone="Asia/Kolkata",
        output__dateformat="yyyy-MM-dd HH",
    ),
    FEATURES,
)
def zoned_partitions(table: GoldenTable) -> None:
    """Seconds that are of one hour in UTC and of two in India, and seconds before 1970."""
    _write(table, (1_700_000_000, 1_700_001_900, -1))
    skipping(
        table,
        "hour",
        ["at", "=", "1700001900"],
        "a value leads to the folder of its hour in the table's zone",
        "DM-033 IX-051",
        "zones-of-partitions-ignored",
    )
    skipping(
        table,
        "before-1970",
        ["at", "<", "0"],
        "numbers before 1970 have their folder, too",
        "DM-033 RD-012",
        "partition-column-from-folder",
    )
    table.snapshot(
        "snapshot", "the column keeps the number that it held", "DM-033 RD-004", "event-time-ignores-ordering"
    )
    deep_check(table, "each row lies in the folder of its hour", "DM-033 MT-010", "zones-of-partitions-ignored")


_PACIFIC = dt.timezone(dt.timedelta(hours=-8))
_FORMS = "yyyy-MM-dd'T'HH:mm:ssZ;yyyy-MM-dd HH:mm"


def _in_pacific(text: str) -> str:
    moment = dt.datetime.fromisoformat(text)
    known = moment if moment.tzinfo else moment.replace(tzinfo=_INDIA)
    return f"{known.astimezone(_PACIFIC):%Y/%m/%d}"


@golden(
    "v6/cow_zoned_texts",
    "Partition folders are days of another zone than that of the texts they are made of",
    _timed(
        _TEXTS,
        _in_pacific,
        merge_on_read=False,
        timestamp__type="MIXED",
        input__timezone="GMT+5:30",
        output__timezone="GMT-8:00",
        input__dateformat=_FORMS,
        input__dateformat__list__delimiter__regex=";",
        output__dateformat="yyyy/MM/dd",
    ),
    FEATURES,
)
def zoned_texts(table: GoldenTable) -> None:
    """Texts of two formats: one states its offset, the other is of the zone of the input; days are those of a third."""
    _write(table, ("2023-11-15T03:43:20+0530", "2023-11-15 03:43", "2023-11-15 18:00"))
    skipping(
        table,
        "day",
        ["at", "=", "2023-11-15 03:43"],
        "a text leads to the folder of its day in the zone of the output",
        "DM-033 IX-051",
        "zones-of-partitions-ignored first-format-only",
    )
    table.snapshot("snapshot", "the column keeps the text that it held", "DM-033 RD-004", "oldest-base-file")
    deep_check(
        table,
        "each row lies in the folder of its day",
        "DM-033 MT-010",
        "zones-of-partitions-ignored first-format-only",
    )


def _day(days: int | None) -> str:
    return f"{dt.date(1970, 1, 1) + dt.timedelta(days=1 if days is None else days):%Y/%m/%d}"


@golden(
    "v8/mor_days_in_paths",
    "Partition folders are made of days since 1970",
    _timed(
        _NUMBERS,
        _day,
        merge_on_read=True,
        timestamp__type="SCALAR",
        timestamp__scalar__time__unit="DAYS",
        output__dateformat="yyyy/MM/dd",
    ),
    FEATURES,
)
def days_in_paths(table: GoldenTable) -> None:
    """Days before and after 1970, and a null, which lies with the first of them."""
    _write(table, (19_737, -1, None))
    skipping(
        table,
        "day",
        ["at", "=", "19737"],
        "a number of days leads to its folder",
        "DM-033 IX-051",
        "scalars-are-seconds",
    )
    table.snapshot(
        "snapshot", "the column keeps the number, and the null", "DM-033 RD-004", "event-time-ignores-ordering"
    )
    deep_check(table, "each row lies in the folder of its day", "DM-033 MT-010", "scalars-are-seconds null-is-1970")
