"""Rows that an upsert brings marked as deleted: they compete by their ordering values, also by zero of any type."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from hudi_model.records import Field, Schema, Value

from hudi_conformance.golden.rides import RIDES, ride
from hudi_conformance.writing.registry import writing
from hudi_conformance.writing.shapes import COW, MOR, shapes
from hudi_conformance.writing.steps import WritingCase

_MARK: Final = "_hoodie_is_deleted"
_MARKED: Final = Schema((*RIDES.fields, Field(_MARK, "boolean")))
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_LOW: Final[Mapping[str, Value]] = {"ts": 0, "rider": "", "fare": Decimal("0.00"), "seen": _EPOCH, "ratio": 0.0}
_HIGH: Final[Mapping[str, Value]] = {
    "ts": 5,
    "rider": "e",
    "fare": Decimal("5.00"),
    "seen": _EPOCH + dt.timedelta(days=5),
    "ratio": 5.0,
}
_KILLS: Final = "marked-rows-lose-their-ordering"
_ZERO: Final = "zeroes-of-deletes-are-none"


def _row(key: str, ordering: Mapping[str, Value], paid: bool | None, mark: bool | None = None) -> dict[str, Value]:
    return {**ride(key, 0), **ordering, "paid": paid, _MARK: mark}


def marked_and_again(case: WritingCase) -> None:
    """Rows marked as deleted compete by their ordering values.

    Given rides, some of them with the least ordering value of its type.
    When an upsert marks some as deleted, in time and late, and the next brings two of them again, in time and late.
    Then those that were deleted late and brought again in time stand, and the others that were deleted are gone.
    """
    case.schema = _MARKED
    case.create()
    both = (("r01", _HIGH), ("r02", _LOW), ("r03", _HIGH), ("r04", _LOW), ("r11", _HIGH))
    case.write("insert", [_row(key, ordering, True) for key, ordering in both])
    gone = (("r01", _HIGH), ("r03", _LOW), ("r04", _LOW), ("r11", _HIGH))
    case.write("upsert", [_row(key, ordering, None, True) for key, ordering in gone])
    case.snapshot()
    case.write("upsert", [_row(key, _LOW, False) for key in ("r04", "r11")])
    case.snapshot()


writing(
    "deletes/marked_rows", shapes(versions=(6, 8, 9), types=(COW,)), "OW-013 MG-006 MG-008", "deleted-flag-ignored"
)(marked_and_again)
for _field, _kills in {
    "ts": f"{_KILLS} {_ZERO}",
    "rider": _KILLS,
    "fare": _KILLS,
    "seen": _KILLS,
    "ratio": _KILLS,
}.items():
    _of_one = shapes(versions=(6, 8, 9) if _field == "ts" else (6, 9), types=(MOR,), ordering=(_field,))
    writing(f"deletes/marked_rows_by_{_field}", _of_one, "LF-017 OW-013 MG-006", _kills)(marked_and_again)
writing(
    "deletes/marked_rows_by_two_fields",
    shapes(versions=(8, 9), types=(MOR,), ordering=("ts", "rider")),
    "LF-017 OW-013 MG-006 MG-007",
    _KILLS,
)(marked_and_again)
