"""Values that a table has since given another type: numbers as text, as decimals or as wider floats, days as text."""

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal

import pyarrow as pa
import pyarrow.compute as pc

# Within these powers of ten Java writes a number without exponent.
_PLAIN_FROM, _PLAIN_BELOW = -3, 7
# A month or day of one digit, which the regular expressions of Arrow cannot look around.
_LONE_DIGIT = r"-([0-9])\b"
# The digits of the widest decimal, so that no rounding but the last happens.
_EXACT = Context(prec=400, rounding=ROUND_HALF_UP)


def promoted(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    """Values of another kind in the type the table has now, or None where no such promotion leads there.

    A narrow float becomes the wide one of the same shortest digits: 0.1 stays 0.1. An integer becomes the nearest
    float, and a number or text the nearest decimal of the table's scale, halves away from zero.

    Raises:
        ArrowInvalid: a text that is no such value, a number with more digits than the decimal has.

    Clauses: DM-004, DM-021.

    """
    found = array.type
    if pa.types.is_floating(wanted):
        return _as_float(array, wanted)
    if pa.types.is_string(wanted):
        return _as_text(array)
    if pa.types.is_decimal(wanted) and not pa.types.is_binary(found):
        return _as_decimal(array, wanted)
    if pa.types.is_date(wanted) and pa.types.is_string(found):
        padded = pc.replace_substring_regex(array, _LONE_DIGIT, r"-0\1")
        return pc.replace_substring_regex(padded, _LONE_DIGIT, r"-0\1").cast(wanted)
    return None


def _as_float(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    if pa.types.is_float32(array.type) and pa.types.is_float64(wanted):
        return array.cast(pa.string()).cast(wanted)
    # Java's promotion of large integers rounds, too.
    return pc.cast(array, wanted, safe=False) if pa.types.is_integer(array.type) else None


def _as_text(array: pa.Array) -> pa.Array | None:
    found = array.type
    if pa.types.is_floating(found):
        return pa.array([text and java_text(text) for text in array.cast(pa.string()).to_pylist()], pa.string())
    plain = pa.types.is_integer(found) or pa.types.is_decimal(found) or pa.types.is_date32(found)
    return array.cast(pa.string()) if plain else None


def _as_decimal(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    found = array.type
    if not (pa.types.is_integer(found) or pa.types.is_floating(found) or pa.types.is_string(found)):
        return None
    texts = array.cast(pa.string()).to_pylist()
    try:
        return pa.array(_rounded(texts, wanted.scale), wanted)
    except ArithmeticError as error:
        raise pa.ArrowInvalid(f"a value is no {wanted}") from error


def _rounded(texts: Iterable[str | None], scale: int) -> list[Decimal | None]:
    step = Decimal(1).scaleb(-scale)
    return [None if text is None else Decimal(text).quantize(step, context=_EXACT) for text in texts]


def java_text(number: str) -> str:
    """A float's shortest digits in the form in which Java writes it: 7.0, 1.0E10, NaN.

    Clauses: DM-004.
    """
    value = Decimal(number)
    sign = "-" if value.is_signed() else ""
    if value.is_nan():
        return "NaN"
    if value.is_infinite():
        return f"{sign}Infinity"
    if value == 0:
        return f"{sign}0.0"
    digits = "".join(map(str, value.as_tuple().digits)).rstrip("0")
    power = value.adjusted()
    if _PLAIN_FROM <= power < _PLAIN_BELOW:
        return sign + _plain(digits, power)
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{power}"


def _plain(digits: str, power: int) -> str:
    if power < 0:
        return f"0.{'0' * (-power - 1)}{digits}"
    whole = digits[: power + 1].ljust(power + 1, "0")
    return f"{whole}.{digits[power + 1 :] or '0'}"
