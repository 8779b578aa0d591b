"""The rows most recipes write: orders of two regions, with non-ASCII keys, nulls and an ordering value."""

from decimal import Decimal
from typing import NamedTuple

SCHEMA = "id string, region string, ts bigint, note string, amount decimal(10,2), _hoodie_is_deleted boolean"
REGIONS = ("north", "süd")
_NON_ASCII = ("ключ", "é", "木")


class Order(NamedTuple):
    """One row of the orders table."""

    id: str
    region: str
    ts: int
    note: str | None
    amount: Decimal | None
    deleted: bool | None = None


def key(number: int) -> str:
    """The record key of an order; every fourth is not ASCII."""
    return f"{_NON_ASCII[number % 3]}-{number}" if number % 4 == 0 else f"k{number:03d}"


def order(number: int, ts: int, note: str | None, *, deleted: bool | None = None) -> Order:
    """Order `number`; its region follows from the number, and some amounts are null."""
    amount = None if number % 5 == 3 else Decimal(number * 1000 + ts).scaleb(-2)
    return Order(key(number), REGIONS[number % 2], ts, note, amount, deleted)


def orders(numbers: range | tuple[int, ...], ts: int, note: str) -> list[Order]:
    """Several orders with one ordering value; every third note is null."""
    return [order(number, ts, None if number % 3 == 2 else f"{note} {number}") for number in numbers]


def deletes(numbers: tuple[int, ...], ts: int) -> list[Order]:
    """Rows that say of themselves that they are deleted."""
    return [order(number, ts, "gone", deleted=True) for number in numbers]
