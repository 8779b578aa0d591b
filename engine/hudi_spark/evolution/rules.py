"""Which type a column has when rows of one type meet a table of another, as release 1.1.1 decides.

taken      the table's type stays: values of the rows' type become it (an int in a column of longs, a number as text)
widened    the rows' type becomes the table's: older values are read as it (a long for a column of ints)
refused    neither

1.1.1 widens unasked, and where older values change; here a write has to ask for it, and only what loses nothing is
widened (`loses_nothing`).

Where 1.1.1 compares only how values are stored, and so takes days for numbers or one scale for another, it is refused.
"""

from collections.abc import Mapping
from typing import Final

from hudi_format.table.internal_schema import PrimitiveType

from hudi_spark.evolution.avro_form import DECIMALS, fixed_size

_TAKEN: Final[Mapping[str, frozenset[str]]] = {
    "int": frozenset({"long", "float", "double", "string", "decimal", "decimal_fixed"}),
    "long": frozenset({"float", "double", "string", "decimal", "decimal_fixed"}),
    "float": frozenset({"double", "string", "decimal", "decimal_fixed"}),
    "double": frozenset({"string", "decimal", "decimal_fixed"}),
    "date": frozenset({"string"}),
    "binary": frozenset({"string"}),
    "string": frozenset({"date", "binary", "decimal", "decimal_fixed"}),
    "decimal": frozenset({"string"}),
    "decimal_fixed": frozenset({"string"}),
    "decimal_bytes": frozenset({"string"}),
}
_WIDENED: Final[Mapping[str, frozenset[str]]] = {
    "int": frozenset({"long", "float", "double", "string"}),
    "long": frozenset({"float", "double", "string"}),
    "float": frozenset({"double", "string"}),
    "double": frozenset({"string"}),
}
# Of these types every value is one of the other, and is got back from it.
_LOSSLESS: Final[Mapping[str, frozenset[str]]] = {
    "int": frozenset({"long", "double", "string"}),
    "long": frozenset({"string"}),
    "float": frozenset({"double", "string"}),
    "double": frozenset({"string"}),
}
_NUMBERS: Final = frozenset({"int", "long", "float", "double", *DECIMALS})
# The same values, another unit or another way to store them.
_SAME: Final = (
    frozenset({"timestamp", "timestamp-millis"}),
    frozenset({"local-timestamp-micros", "local-timestamp-millis"}),
    frozenset({"time", "time-millis"}),
    frozenset({"string", "uuid"}),
    frozenset({"binary", "fixed"}),
)


def may_become(found: PrimitiveType, wanted: PrimitiveType) -> bool:
    """Whether a column of one type may be given the other: by a change of the schema, or value by value in a write.

    Clauses: DM-021.
    """
    if found == wanted:
        return True
    if found.name in DECIMALS and wanted.name in DECIMALS:
        fits = wanted.name == "decimal_bytes" or found.name == "decimal_bytes" or _size(found) <= _size(wanted)
        return fits and _holds(wanted, found)
    return wanted.name in _TAKEN.get(found.name, ())


def met(table: PrimitiveType, rows: PrimitiveType) -> PrimitiveType | None:
    """The type of a column of the table when rows bring another; None when they must be refused.

    Clauses: DM-003, DM-004.
    """
    if table == rows or rows.name == "null" or any({table.name, rows.name} <= same for same in _SAME):
        return table
    if may_become(rows, table) or (
        table.name in DECIMALS and rows.name in DECIMALS and _digits(table) == _digits(rows)
    ):
        return table
    return rows if _widens(table, rows) else None


def loses_nothing(table: PrimitiveType, wider: PrimitiveType) -> bool:
    """Whether every value of a column is kept when the column gets the wider type that rows bring.

    Clauses: DM-005.
    """
    if table.name in DECIMALS and wider.name in DECIMALS:
        return _holds(wider, table)
    return wider.name in _LOSSLESS.get(table.name, ())


def reorders(table: PrimitiveType, rows: PrimitiveType) -> bool:
    """Whether values have another order once they are the table's: numbers as text, of which "9" follows "10".

    Clauses: DM-005.
    """
    return table.name == "string" and rows.name in _NUMBERS


def kept(table: PrimitiveType, rows: PrimitiveType) -> PrimitiveType | None:
    """The same when the table's schema is to stay: wider rows are narrowed, value by value, where none is lost.

    Clauses: DM-003, DM-004.
    """
    return table if _widens(table, rows) else met(table, rows)


def _widens(table: PrimitiveType, rows: PrimitiveType) -> bool:
    if table.name in DECIMALS and rows.name in DECIMALS:
        return "decimal_bytes" not in (table.name, rows.name) and _size(table) == _size(rows) and _holds(rows, table)
    return rows.name in _WIDENED.get(table.name, ())


def _holds(wanted: PrimitiveType, found: PrimitiveType) -> bool:
    (more, scale), (digits, fewer) = _digits(wanted), _digits(found)
    return scale >= fewer and more - scale >= digits - fewer


def _digits(kind: PrimitiveType) -> tuple[int, int]:
    return kind.precision or 1, kind.scale or 0


def _size(kind: PrimitiveType) -> int:
    return kind.size or fixed_size(kind.precision or 1)
