"""Numbers that a table has since given another type: as text, or as a wider float."""

from decimal import Decimal

import pyarrow as pa

# Within these powers of ten Java writes a number without exponent.
_PLAIN_FROM, _PLAIN_BELOW = -3, 7


def promoted(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray | None:
    """A column of numbers in the type the table has now, or None where no such promotion leads there.

    A narrow float becomes the wide one of the same shortest digits: 0.1 stays 0.1.

    Clauses: DM-004.
    """
    found = column.type
    if pa.types.is_float32(found) and pa.types.is_float64(wanted):
        return column.cast(pa.string()).cast(wanted)
    if not pa.types.is_string(wanted):
        return None
    if pa.types.is_integer(found):
        return column.cast(wanted)
    if pa.types.is_floating(found):
        texts = column.cast(pa.string()).to_pylist()
        return pa.chunked_array([pa.array([text and java_text(text) for text in texts], wanted)])
    return None


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
