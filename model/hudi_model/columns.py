"""Stored rows in the table's columns: found by id or by name, at every depth, their values in the type of today."""

import datetime as dt
import math
import re
import struct
from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TypeAlias

from hudi_model.files import HIDDEN, Field, Record, Schema, Value, source_of
from hudi_model.rejection import Reason, Rejection

Sources: TypeAlias = tuple[tuple[Field, Field | None], ...]
"""Columns, each with the stored one that it is, or none."""
NESTED = frozenset({"struct", "list", "map"})
EXACT = Context(prec=400, rounding=ROUND_HALF_UP)
"""The digits of the greatest float and of the widest decimal, so that nothing but the last step rounds."""


def conform(records: Iterable[Record], schema: Schema, where: str, stored: Schema | None = None) -> tuple[Record, ...]:
    """Stored rows with the table's columns: null for what a file lacks, beside the meta fields as they are.

    Where nothing says what columns their file has, rows have the table's already.

    Raises: SCHEMA_INCOMPATIBLE.

    Clauses: DM-004, DM-021.
    """
    columns = sources(schema.fields, stored.fields if stored else schema.fields)
    return tuple(conform_record(record, columns, where) for record in records)


def conform_record(record: Record, columns: Sources, where: str) -> Record:
    """One stored row with the table's columns.

    Raises: SCHEMA_INCOMPATIBLE.

    Clauses: DM-004, DM-021.
    """
    own = {name: value for name, value in record.values.items() if name in HIDDEN}
    return Record({**own, **brought(record.values, columns, where)})


def sources(wanted: tuple[Field, ...], stored: tuple[Field, ...]) -> Sources:
    """Each wanted column with the stored one that it is.

    Clauses: DM-004, DM-021.
    """
    return tuple((field, source_of(field, stored)) for field in wanted)


def brought(values: Mapping[str, Value], columns: Sources, where: str) -> dict[str, Value]:
    """The wanted columns of a row, or parts of a struct; null for one that is not stored.

    Raises: SCHEMA_INCOMPATIBLE.

    Clauses: DM-004, DM-021.
    """
    return {
        field.name: promote(values.get(source.name), source, field, where) if source else None
        for field, source in columns
    }


def promote(value: Value, stored: Field, wanted: Field, where: str) -> Value:
    """A stored value in the table's type, its parts too.

    Raises: SCHEMA_INCOMPATIBLE where the table's type cannot hold the value.

    Clauses: DM-004, DM-021.
    """
    kinds = {stored.type.partition("<")[0], wanted.type.partition("<")[0]}
    try:
        if value is None or not kinds & NESTED:
            return value if value is None else promoted(value, stored.type, wanted.type)
        if len(kinds) > 1:
            raise incompatible(value, wanted, where)
        return promote_parts(value, stored, wanted, where) if stored.parts and wanted.parts else value
    except (ValueError, ArithmeticError):
        raise incompatible(value, wanted, where) from None


def promote_parts(value: Value, stored: Field, wanted: Field, where: str) -> Value:
    """A list, a map or a struct, each part in the type that the table has for it.

    Raises: SCHEMA_INCOMPATIBLE.

    Clauses: DM-004, DM-021.
    """
    if isinstance(value, list):
        return [promote(one, stored.parts[0], wanted.parts[0], where) for one in value]
    if wanted.type.startswith("map<"):
        return {key: promote(one, stored.parts[0], wanted.parts[0], where) for key, one in members(value)}
    return brought(dict(members(value)), sources(wanted.parts, stored.parts), where)


def members(value: Value) -> Iterable[tuple[str, Value]]:
    """The members of a struct or a map."""
    return value.items() if isinstance(value, dict) else ()


def incompatible(value: Value, wanted: Field, where: str) -> Rejection:
    """What a value is refused with that the table's type cannot hold."""
    detail = f"column {wanted.name!r} holds {value!r}, the table has {wanted.type}"
    return Rejection(Reason.SCHEMA_INCOMPATIBLE, "DM-004", where, detail)


def promoted(value: Value, stored: str, wanted: str) -> Value:
    """A value without parts in another type; ValueError or ArithmeticError where that type cannot hold it.

    Clauses: DM-004, DM-021.
    """
    match wanted.partition("(")[0]:
        case "float32" | "float64":
            return float_of(value, stored, wanted)
        case "string":
            return text_of(value, stored)
        case "decimal":
            return decimal_of(value, stored, wanted)
        case "date" if isinstance(value, str):
            return day_of(value)
        case "binary" if isinstance(value, str):
            return value.encode()
        case "int32" | "int64" | "boolean" if isinstance(value, float | str):
            raise ValueError
    return value


def float_of(value: Value, stored: str, wanted: str) -> float:
    """A number as a float: the nearest to an integer, and to a narrower float the one of the same digits.

    Clauses: DM-004, DM-021.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or (stored, wanted) == ("float64", "float32"):
        raise ValueError
    if isinstance(value, int):
        return nearest_of_24_bits(value) if wanted == "float32" else float(value)
    return float(digits_of(value, stored)) if wanted == "float64" else value


def nearest_of_24_bits(number: int) -> float:
    """The narrow float nearest to an integer, the even one of two.

    Clauses: DM-021.
    """
    step = 1 << max(abs(number).bit_length() - 24, 0)
    count, rest = divmod(number, step)
    return float((count + (2 * rest > step or (2 * rest == step and count % 2 == 1))) * step)


def digits_of(value: float, stored: str) -> str:
    """The fewest digits, at least two, that only this float of its width has.

    Clauses: DM-004, DM-021.
    """
    if stored != "float32" or not math.isfinite(value):
        two = f"{value:.1e}"
        return two if float(two) == value else repr(value)
    spelt = (f"{value:.{count}g}" for count in range(2, 9))
    return next((text for text in spelt if narrowed(float(text)) == value), f"{value:.9g}")


def narrowed(value: float) -> float:
    """The narrow float nearest to a wide one; infinite beyond the greatest."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def text_of(value: Value, stored: str) -> str:
    """A number, a day or bytes as text.

    Clauses: DM-004, DM-021.
    """
    match value:
        case str():
            return value
        case bytes():
            return value.decode()
        case float():
            return java_text(Decimal(digits_of(value, stored)))
        case bool() | dt.datetime() | dt.time() | list() | dict():
            raise ValueError
    return str(value)


def java_text(number: Decimal) -> str:
    """The digits of a float as Java writes them: 7.0, 1.0E10, NaN.

    Clauses: DM-004.
    """
    if number.is_nan() or number.is_infinite():
        return str(number)
    power = number.adjusted() if number else 0
    if -4 < power < 7:
        return with_point(number)
    return f"{with_point(number.scaleb(-power))}E{power}"


def with_point(number: Decimal) -> str:
    """A number with at least one digit after its point."""
    text = f"{number.normalize():f}"
    return text if "." in text else f"{text}.0"


def decimal_of(value: Value, stored: str, wanted: str) -> Decimal:
    """A number or a text as a decimal of the table's scale, a half away from zero; a decimal loses no digit.

    Clauses: DM-021.
    """
    precision, scale = map(int, re.findall(r"\d+", wanted))
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise ValueError  # noqa: TRY004 - as for every value that does not fit
    number = Decimal(digits_of(value, stored) if isinstance(value, float) else value)
    if not number.is_finite():
        raise ValueError
    rounded = number.quantize(Decimal(1).scaleb(-scale), context=EXACT)
    if (rounded != number and isinstance(value, Decimal)) or rounded.adjusted() >= precision - scale:
        raise ValueError
    return rounded


def day_of(text: str) -> dt.date:
    """A text as a day; its month and its day may have one digit.

    Clauses: DM-021.
    """
    if not re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}", text):
        raise ValueError
    return dt.date(*map(int, text.split("-")))
