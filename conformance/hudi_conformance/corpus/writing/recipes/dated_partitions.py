"""Partitions whose paths a key generator by timestamp makes of dates and of milliseconds."""

from typing import Any, Final

from hudi_conformance.corpus.golden.rides import Row, ride
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


def _dated(key: str, fare_of: int) -> Row:
    date, moment = _KEYS[key]
    return {**ride(key, fare_of), "rider": date, "ts": moment}


def _tables(version: int, **traits: Any) -> Any:
    generator = _GENERATOR_OF_VERSION_6 if version < 8 else _GENERATOR
    usual = {"merge_mode": "COMMIT_TIME_ORDERING", "ordering": (), **traits}
    return shapes((version,), (COW, MOR), **{**usual, "properties": {**generator, **traits["properties"]}})


def _write(case: WritingCase, column: str, value: Any) -> None:
    case.create()
    case.write("insert", [_dated(key, 10) for key in _KEYS])
    case.write("upsert", [_dated(key, 20) for key in ("leap", "earlier", "none-駅")])
    case.write("delete", [_dated("before", 30)])
    case.state()
    case.filtered([column, "=", value])
    case.filtered([column, "is_null"])


@writing(
    "dated_partitions/of_dates",
    [one for version in (6, 9) for one in _tables(version, partition_by=("rider",), properties=_DATES)],
    "DM-033 SL-020 OW-020",
    "null-dates-lie-in-the-default-partition",
)
def of_dates(case: WritingCase) -> None:
    """A date lies in the folders of its year, month and day, and a missing one in those of the first day of 1970.

    Given a table that is partitioned by dates as texts, by a generator that writes them with slashes.
    When rides of several days and of none are inserted, changed and deleted.
    Then each is in the folders of its day, once, and keeps its date; one without is beside those of 1970.
    """
    _write(case, "rider", "2024-02-29")


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
