"""Partitions of moments and days: by a generator of timestamps, by a custom one, or as they are."""

import datetime as dt
from typing import Any, Final

from hudi_conformance.corpus.golden.rides import Row, ride, rides
from hudi_conformance.corpus.writing.recipes.versions import to_the_other_version
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import COW, MOR, shapes
from hudi_conformance.corpus.writing.steps import WritingCase

_GENERATOR: Final = {"hoodie.table.keygenerator.type": "TIMESTAMP"}
_GENERATOR_OF_VERSION_6: Final = {
    "hoodie.table.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator"
}
_DATES: Final = {
    "hoodie.keygen.timebased.timestamp.type": "DATE_STRING",
    "hoodie.keygen.timebased.input.dateformat": "yyyy-MM-dd",
    "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
}
_PACKED: Final = {**_DATES, "hoodie.keygen.timebased.input.dateformat": "yyyyMMddHHmmss,yyyyMMdd"}
_MILLISECONDS: Final = {
    "hoodie.keygen.timebased.timestamp.type": "EPOCHMILLISECONDS",
    "hoodie.keygen.timebased.output.dateformat": "yyyy-MM-dd HH",
}
_DAY: Final = 86_400_000
# A leap day, the day before it, the first day of all and the last one before that.
_KEYS: Final[dict[str, tuple[str | None, int | None]]] = {
    "leap": ("2024-02-29", 19_782 * _DAY + 1),
    "before": ("2024-02-28", 19_782 * _DAY - 1),
    "first": ("1970-01-01", 0),
    "earlier": ("1969-12-31", -1),
    "none-駅": (None, None),
}


def _dated(key: str, fare_of: int, *, packed: bool = False) -> Row:
    date, moment = _KEYS[key]
    date = date.replace("-", "") if date and packed else date
    return {**ride(key, fare_of), "rider": date, "ts": moment}


def _tables(version: int, **traits: Any) -> Any:
    generator = _GENERATOR_OF_VERSION_6 if version < 8 else _GENERATOR
    usual = {"merge_mode": "COMMIT_TIME_ORDERING", "ordering": (), **traits}
    return shapes((version,), (COW, MOR), **{**usual, "properties": {**generator, **traits["properties"]}})


def _write(case: WritingCase, column: str, value: Any) -> None:
    case.create()
    packed = bool(case.shape.label)
    case.write("insert", [_dated(key, 10, packed=packed) for key in _KEYS])
    case.write("upsert", [_dated(key, 20, packed=packed) for key in ("leap", "earlier", "none-駅")])
    case.write("delete", [_dated("before", 30, packed=packed)])
    case.state()
    case.filtered([column, "=", value])
    case.filtered([column, "is_null"])


@writing(
    "dated_partitions/of_dates",
    [
        *(one for version in (6, 9) for one in _tables(version, partition_by=("rider",), properties=_DATES)),
        *_tables(9, partition_by=("rider",), properties=_PACKED, label="without_separators"),
    ],
    "DM-033 SL-020 OW-020 PR-007 VR-004",
    "null-dates-lie-in-the-default-partition version-stays",
)
def of_dates(case: WritingCase) -> None:
    """A date lies in the folders of its year, month and day, and a missing one in those of the first day of 1970.

    Given a table that is partitioned by dates as texts, by a generator that writes them with slashes.
    When rides of several days and of none are inserted, changed and deleted; then the version of the table changes, and
    all are changed again.
    Then each is in the folders of its day, once, and keeps its date; one without is beside those of 1970.
    """
    packed = bool(case.shape.label)
    _write(case, "rider", "20240229" if packed else "2024-02-29")
    to_the_other_version(case)
    case.write("upsert", [_dated(key, 40, packed=packed) for key in _KEYS])
    case.snapshot()
    case.info()


@writing(
    "dated_partitions/of_milliseconds",
    [one for version in (6, 9) for one in _tables(version, partition_by=("ts",), properties=_MILLISECONDS)],
    "DM-033 SL-020 OW-020",
    "null-dates-lie-in-the-default-partition",
)
def of_milliseconds(case: WritingCase) -> None:
    """Milliseconds lie in the folder of their hour, those before 1970 too, and missing ones in that of its first.

    Given a table that is partitioned by milliseconds since 1970, by a generator that writes day and hour.
    When rides of several moments and of none are inserted, changed and deleted.
    Then each is in the folder of its hour, once, and keeps its milliseconds; one without is beside those of 1970.
    """
    _write(case, "ts", 19_782 * _DAY + 1)


@writing(
    "dated_partitions/of_made_keys",
    [
        one
        for version in (6, 8, 9)
        for one in _tables(version, partition_by=("ts",), record_key=(), properties=_MILLISECONDS)
    ],
    "DM-030 DM-033 SL-020",
    "made-keys-come-again",
)
def of_made_keys(case: WritingCase) -> None:
    """Rows whose keys are made lie in the folders of their hours as others do.

    Given a table without key fields that is partitioned by milliseconds, by a generator that writes day and hour.
    When rides of several moments and of none are inserted, some of them twice, and one hour is deleted by a filter.
    Then each is in the folder of its hour, as often as it came, and filters by moments find them.
    """
    case.create()
    for operation, keys in (("insert", tuple(_KEYS)), ("bulk_insert", ("leap", "earlier", "none-駅"))):
        case.write(operation, [_dated(key, 10) for key in keys])
        case.slices()
    case.write("delete", filter=["ts", "=", 0])
    case.snapshot(meta_columns=False)
    case.slices()
    for form in (["ts", "=", 19_782 * _DAY + 1], ["ts", "<", 0], ["ts", "is_null"]):
        case.filtered(form)
    case.sound()


_COMPLETED: Final = {
    **_DATES,
    "hoodie.compaction.payload.class": "org.apache.hudi.common.model.PartialUpdateAvroPayload",
}


@writing(
    "dated_partitions/of_rows_that_complete",
    [
        one
        for version in (6, 8, 9)
        for one in _tables(version, partition_by=("rider",), ordering=("ts",), merge_mode=None, properties=_COMPLETED)
    ],
    "DM-033 RD-012 MG-023",
    "filter-ignored",
)
def of_rows_that_complete(case: WritingCase) -> None:
    """A column that folders are made of keeps its values where rows are completed, whichever columns are read.

    Given a table that is partitioned by dates as texts, and whose null values mean "as it was".
    When some rides of each day change, and others come to the same days.
    Then all have their dates, also where only these, or no others, are read, or chosen by a filter.
    """
    case.create()
    rows = [{**_dated(key, 10), "id": f"{key}{end}"} for key in _KEYS for end in ("", " too")]
    case.write("insert", rows)
    case.write("upsert", [{**_dated(key, 20), "fare": None} for key in ("leap", "earlier", "none-駅")])
    case.snapshot()
    for columns in (["rider"], ["rider", "id"], ["id", "fare"]):
        case.snapshot(columns=columns, meta_columns=False)
    case.filtered(["rider", "=", "2024-02-29"])
    case.query("read_snapshot", filter=["rider", "!=", "2024-02-29"], columns=["id"])


_HOUR: Final = 3_600_000
_NUMBERS: Final[dict[str, tuple[dict[str, str], int, int]]] = {
    "seconds": ({"timestamp.type": "UNIX_TIMESTAMP"}, 1, 1000),
    "microseconds": ({"timestamp.type": "EPOCHMICROSECONDS"}, 1000, 1),
    **{
        f"scalar_{unit.lower()}": ({"timestamp.type": "SCALAR", "timestamp.scalar.time.unit": unit}, times, parts)
        for unit, times, parts in (
            ("HOURS", 1, _HOUR),
            ("MINUTES", 1, 60_000),
            ("SECONDS", 1, 1000),
            ("MICROSECONDS", 1000, 1),
            ("NANOSECONDS", 1_000_000, 1),
        )
    },
}
"""What numbers count by label, as settings of the generator have it; how they are made of milliseconds."""
_FOLDERS: Final = {
    "years": {"output.dateformat": "yyyy"},
    "months": {"output.dateformat": "yyyy'm'MM"},
    "days_of_any_year": {"output.dateformat": "MM-dd"},
    "hours_of_another_zone": {"output.timezone": "Asia/Kolkata"},
}
"""How folders of milliseconds are written by label."""
_MOMENTS: Final = {
    "leap": (19_782 * 24 + 1) * _HOUR,
    "first": 0,
    "later": 5 * _HOUR,
    "earlier": -3 * _HOUR,
    "end_of_january": 19_754 * 24 * _HOUR - 1,
    "end_of_leap_year": 20_089 * 24 * _HOUR - 1,
}
"""In milliseconds."""


_BY_CITY_AND_NUMBER: Final = {
    **_MILLISECONDS,
    "hoodie.table.keygenerator.type": "CUSTOM",
    "hoodie.keygen.timebased.output.dateformat": "yyyyMMdd",
}


def _counted(label: str, settings: dict[str, str]) -> Any:
    stated = {f"hoodie.keygen.timebased.{name}": text for name, text in settings.items()}
    properties = {**_MILLISECONDS, **_GENERATOR, **stated}
    return shapes(
        (9,),
        (COW,),
        partition_by=("ts",),
        ordering=(),
        merge_mode="COMMIT_TIME_ORDERING",
        properties=properties,
        label=label,
    )


@writing(
    "dated_partitions/of_numbers",
    [shape for label, (settings, _, _) in _NUMBERS.items() for shape in _counted(label, settings)],
    "DM-033 SL-020 OW-020",
    "every-number-counts-milliseconds",
)
def of_numbers(case: WritingCase) -> None:
    """Numbers of any unit since 1970 lie in the folder of their hour, day, month or year.

    Given a table that is partitioned by a number, by a generator whose settings state the unit, or how folders are
    written; another by a city, too, where the folders of days have names of digits.
    When rides of hours after and before 1970 are inserted, and some are changed.
    Then each is in its folder, once, keeps its number, and is found by it: also the last of a month and of a year, and
    the last number before 1970, which finer than a millisecond lies with the first.
    """
    _, times, parts = _NUMBERS.get(case.shape.label, ({}, 1, 1))
    numbers = {**{key: moment * times // parts for key, moment in _MOMENTS.items()}, "last_before": -1}
    case.create()
    for fare_of in (10, 20):
        keys = [key for key in numbers if fare_of == 10 or key != "first"]
        case.write("upsert", [{**ride(key, fare_of), "ts": numbers[key]} for key in keys])
        case.snapshot()
    case.slices()
    for form in _around(numbers["leap"]):
        case.filtered(form)
    for key in ("end_of_january", "end_of_leap_year", "last_before", "first"):
        case.filtered(["ts", "=", numbers[key]])


writing(
    "dated_partitions/of_numbers",
    shapes(
        (8, 9),
        (MOR,),
        partition_by=("city:SIMPLE", "ts:TIMESTAMP"),
        ordering=(),
        merge_mode="COMMIT_TIME_ORDERING",
        properties=_BY_CITY_AND_NUMBER,
        label="of_a_city",
    ),
    "DM-033 DM-031 SL-020 OW-020",
    "partitions-filtered-by-folder tagging-sees-nothing",
)(of_numbers)
writing(
    "dated_partitions/of_numbers",
    [shape for label, settings in _FOLDERS.items() for shape in _counted(label, settings)],
    "DM-033 SL-020 OW-020",
    "tagging-sees-nothing",
)(of_numbers)


def _around(number: int) -> tuple[Any, ...]:
    near = ["and", ["ts", ">", number - 1], ["ts", "<", number + 1]]
    return (["ts", "=", number], near, ["not", ["ts", "=", number]], ["ts", "!=", number - 1], ["ts", "<", number])


_BY_CITY_AND_DAY: Final = {
    "hoodie.table.keygenerator.type": "CUSTOM",
    "hoodie.keygen.timebased.timestamp.type": "SCALAR",
    "hoodie.keygen.timebased.timestamp.scalar.time.unit": "DAYS",
    "hoodie.keygen.timebased.output.dateformat": "yyyy-MM",
}
_LEAP: Final = dt.date(2024, 2, 29)
_DAYS: Final[dict[str, dt.date | None]] = {
    "leap": _LEAP,
    "before": dt.date(2024, 2, 28),
    "after@lima": dt.date(2024, 3, 1),
    "earlier@lima": dt.date(1969, 12, 31),
    "none-駅": None,
}


def _of_days(ts: int, *keys: str, **changes: Any) -> list[Row]:
    return [ride(key, ts, day=_DAYS[key], **changes) for key in keys or _DAYS]


def _filter_days(case: WritingCase) -> None:
    """Filters by day that a path may answer in part, and others."""
    for form in (
        ["day", "=", "2024-02-29"],
        ["day", "<", "2024-02-29"],
        ["and", ["day", ">", "2024-02-28"], ["day", "<=", "2024-03-01"]],
        ["day", "is_null"],
        ["or", ["day", "is_null"], ["day", "=", "1969-12-31"]],
        ["not", ["day", "in", ["2024-02-28", "2024-03-01"]]],
        ["and", ["city", "=", "lima"], ["day", "is_not_null"]],
    ):
        case.filtered(form)


@writing(
    "dated_partitions/of_city_and_month",
    (
        *shapes((9,), (COW,), partition_by=("city:SIMPLE", "day:TIMESTAMP"), properties=_BY_CITY_AND_DAY),
        *shapes((8, 9), (MOR,), partition_by=("city:SIMPLE", "day:TIMESTAMP"), properties=_BY_CITY_AND_DAY),
    ),
    "DM-033 DM-031 OW-018 IX-056",
    "null-dates-lie-in-the-default-partition scalars-are-seconds",
)
def of_city_and_month(case: WritingCase) -> None:
    """A custom generator makes one folder of a plain value and one of the month of a day, counted since 1970.

    Given a table by city and month.
    When rides of several days and of none, one without a city too, are inserted, changed and deleted, and a month of
    one city is deleted.
    Then each is in the folder of its city and month, keeps its day, and filters by day find what they want.
    """
    nowhere = ride("nowhere", 10, city=None, day=_LEAP)
    case.create()
    case.write("insert", [*_of_days(10), nowhere])
    case.write("upsert", [*_of_days(20, "leap", "earlier@lima", "none-駅", rider="changed"), {**nowhere, "ts": 20}])
    case.write("delete", _of_days(30, "before"))
    _filter_days(case)
    for form in (["city", "is_null"], ["and", ["city", "is_null"], ["day", "=", "2024-02-29"]], ["city", "<", "z"]):
        case.filtered(form)
    case.write("delete_partition", partitions=["lima/2024-03"])
    case.state()


@writing(
    "dated_partitions/of_days_as_they_are",
    (*shapes((6, 9), (COW,), partition_by=("day",)), *shapes((8, 9), (MOR,), partition_by=("day",))),
    "DM-031 OW-018 OW-021 IX-056",
    "moved-row-stays-too",
)
def of_days_as_they_are(case: WritingCase) -> None:
    """A missing day lies in the default partition, from which a ride moves, and which is overwritten, like any other.

    Given a table by day.
    When rides of several days and of none are inserted and changed, by a global index some of them on another day or on
    none, and those of no day are overwritten.
    Then each is in the folder of its day, once, and filters by day find what they want.
    """
    moving = {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path": "true"}
    case.create()
    case.write("insert", _of_days(10))
    case.write("upsert", _of_days(20, "before", "none-駅", rider="changed"))
    _filter_days(case)
    case.write("upsert", [ride("none-駅", 30, day=_LEAP), ride("leap", 30, day=None)], configs=moving)
    case.state()
    _filter_days(case)
    case.write("insert_overwrite", [ride("new", 10, day=None)])
    case.state()
    _filter_days(case)


@writing(
    "dated_partitions/of_days_that_order",
    shapes((6, 9), partition_by=("day",), ordering=("day",)),
    "MG-003 OW-021 OW-024",
    "late-rows-move",
)
def of_days_that_order(case: WritingCase) -> None:
    """The column that partitions a table may be the one by which versions compete.

    Given a table that is partitioned and ordered by day.
    When upserts by a global index bring rides on a later day and on an earlier one, and rides are deleted.
    Then the later version stands in the folder of its day alone, and the earlier has lost.
    """
    moving = {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path": "true"}
    first, later, last = (dt.date(2024, 2, day) for day in (1, 2, 3))
    case.create()
    case.write("insert", rides(10, ("r01", "r02", "r03"), day=later))
    moved = [
        ride("r01", 20, day=last, rider="later"),
        ride("r02", 20, day=first, rider="late"),
        ride("r04", 20, day=first),
    ]
    case.write("upsert", moved, configs=moving)
    case.state()
    case.write("upsert", [ride("r03", 30, day=later, rider="tied"), ride("r04", 30, day=later)], configs=moving)
    case.snapshot(columns=["id", "rider"], meta_columns=False)
    case.write("delete", [ride("r01", 40, day=last)])
    case.state()
