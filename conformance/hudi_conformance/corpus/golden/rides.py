"""The rows that golden tables hold: rides of a few cities, with nulls, late data and keys outside ASCII."""

import datetime as dt
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TypeAlias

from hudi_model.files import Field, Schema, Value
from hudi_model.time import InstantTime, tick

Row: TypeAlias = Mapping[str, Value]

RIDES = Schema(
    (
        Field("id", "string"),
        Field("city", "string"),
        Field("ts", "int64"),
        Field("rider", "string"),
        Field("fare", "decimal(10,2)"),
        Field("day", "date"),
        Field("seen", "timestamp-micros"),
        Field("paid", "boolean"),
        Field("ratio", "float64"),
    )
)
CITIES = ("oslo", "lima")
# Six keys a city; two of each six are not ASCII, as keys in the wild are not.
KEYS = {
    "oslo": ("r01", "r02", "r03", "r04", "fähre-05", "駅-06"),
    "lima": ("r11", "r12", "r13", "r14", "año-15", "🚲-16"),
}
_DAY = dt.date(2024, 2, 26)
_SEEN = dt.datetime(2024, 2, 26, 23, 59, 59, 999_999, tzinfo=dt.timezone.utc)


def second(number: float) -> InstantTime:
    """The instant so many seconds after the tables' first day began."""
    return tick(round(number * 1000))


def ride(key: str, ts: int | None, **changes: Value) -> dict[str, Value]:
    """One ride; its city is where the key is known, its other values follow from the key and `ts` unless given."""
    number = sum(key.encode()) + (ts or 0)
    row: dict[str, Value] = {
        "id": key,
        "city": city_of(key),
        "ts": ts,
        "rider": None if number % 5 == 0 else f"rider {number % 7}",
        "fare": None if number % 6 == 0 else Decimal(number * 37 % 10_000) / 100,
        "day": None if number % 7 == 0 else _DAY + dt.timedelta(days=number % 9),
        "seen": None if number % 4 == 0 else _SEEN + dt.timedelta(microseconds=number * 1_000_003),
        "paid": (True, False, None)[number % 3],
        "ratio": None if number % 11 == 0 else number / 8,
    }
    return {**row, **changes}


def rides(ts: int | None, keys: Iterable[str], **changes: Value) -> list[dict[str, Value]]:
    """One ride a key, all with the same ordering value."""
    return [ride(key, ts, **changes) for key in keys]


def fleet(ts: int = 10) -> list[dict[str, Value]]:
    """All twelve rides of both cities."""
    return [row for city in CITIES for row in rides(ts, KEYS[city])]


def city_of(key: str) -> str:
    """The city whose list holds the key; the first one for new keys that name none as `key@city`."""
    named = key.partition("@")[2]
    return named or next((city for city in CITIES if key in KEYS[city]), CITIES[0])
