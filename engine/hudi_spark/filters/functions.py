"""The functions that filters and expression indexes have, and the values that filters compare with.

Literals are 64-bit integers, decimals, times and floats as text, binary as hexadecimal digits; or what Python has for
them: int, Decimal, date, datetime, time, float, bytes.

Clauses: IX-041.
"""

import datetime as dt
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from numbers import Integral
from typing import Any, Final

import pyarrow as pa
import pyarrow.types as kinds
from hudi_format.compat import datetime_of

from hudi_spark.errors import HudiError, Reason
from hudi_spark.filters import dates, texts
from hudi_spark.filters.grammar import Column

_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_LOCAL: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}", re.ASCII)
_INTEGER: Final = re.compile(r"-?\d{1,20}", re.ASCII)
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME: Final = re.compile(r"\d\d:\d\d:\d\d\.\d{6}", re.ASCII)
_DECIMAL_LENGTH: Final = 400
_INT32: Final = range(-(2**31), 2**31)
_INT64: Final = range(-(2**63), 2**63)


class LiteralError(ValueError):
    """A literal that is not of its column's type, or not in the form that the type has."""


_NAMES: Final[tuple[tuple[Callable[[pa.DataType], bool], str], ...]] = (
    (kinds.is_boolean, "boolean"),
    (lambda kind: kinds.is_signed_integer(kind) and kind.bit_width <= 32, "int32"),
    (lambda kind: kinds.is_unsigned_integer(kind) and kind.bit_width <= 16, "int32"),
    (kinds.is_int64, "int64"),
    (kinds.is_uint32, "int64"),
    (lambda kind: kinds.is_float16(kind) or kinds.is_float32(kind), "float32"),
    (kinds.is_float64, "float64"),
    (lambda kind: kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind), "string"),
    (lambda kind: kinds.is_binary(kind) or kinds.is_large_binary(kind) or kinds.is_binary_view(kind), "binary"),
    (kinds.is_fixed_size_binary, "binary"),
    (kinds.is_date, "date"),
    (kinds.is_time32, "time-millis"),
    (kinds.is_time64, "time-micros"),
)


def type_name(kind: pa.DataType) -> str:
    """What a type is called, whatever its physical width: `int64`, `decimal(10,2)`, `list<string>`.

    Raises:
        LiteralError: no literal is of this type.

    """
    if kinds.is_dictionary(kind):
        return type_name(kind.value_type)
    if kinds.is_nested(kind):
        return _nested_name(kind)
    if kinds.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if kinds.is_timestamp(kind):
        precision = "millis" if kind.unit in {"s", "ms"} else "micros"
        return f"{'local-' if kind.tz is None else ''}timestamp-{precision}"
    for matches, name in _NAMES:
        if matches(kind):
            return name
    raise _not_compared(kind)


def _not_compared(kind: pa.DataType) -> LiteralError:
    return LiteralError(f"a column of type {kind} cannot be compared with a value")


def _nested_name(kind: pa.DataType) -> str:
    if _is_list(kind):
        return f"list<{type_name(kind.value_type)}>"
    if kinds.is_map(kind) and type_name(kind.key_type) == "string":
        return f"map<string,{type_name(kind.item_type)}>"
    if kinds.is_struct(kind):
        return f"struct<{','.join(f'{field.name}:{type_name(field.type)}' for field in kind)}>"
    raise _not_compared(kind)


def decode_literal(form: Any, kind: pa.DataType) -> Any:
    """The Python value that a literal stands for; null stays null.

    Raises:
        LiteralError: the form is not the one of that type.

    """
    if form is None:
        return None
    if kinds.is_dictionary(kind):
        return decode_literal(form, kind.value_type)
    if kinds.is_nested(kind):
        return _decode_nested(form, kind)
    if kinds.is_decimal(kind):
        return _decode_decimal(form)
    name = type_name(kind)
    try:
        return _DECODERS[name](form)
    except LiteralError:
        raise
    except (ValueError, OverflowError) as error:
        raise LiteralError(f"{form!r:.80} is no {name}: {error}") from error


def _decode_nested(form: Any, kind: pa.DataType) -> Any:
    if _is_list(kind):
        return [decode_literal(item, kind.value_type) for item in _typed(form, list, "list")]
    if kinds.is_map(kind):
        return _decode_map(form, kind.item_type)
    return _decode_struct(form, kind)


def _is_list(kind: pa.DataType) -> bool:
    return bool(kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind))


def _typed(value: Any, wanted: type, name: str) -> Any:
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        raise LiteralError(f"{value!r:.80} is no {name}")
    return value


def _within(value: int, limits: range, name: str) -> int:
    if value not in limits:
        raise LiteralError(f"{value} is outside {name}")
    return value


def _formed(form: Any, pattern: re.Pattern[str], name: str) -> str:
    text: str = _typed(form, str, name)
    if not pattern.fullmatch(text):
        raise LiteralError(f"{text!r:.80} is no {name}")
    return text


def _decode_struct(form: Any, kind: pa.DataType) -> dict[str, Any]:
    members: Mapping[str, Any] = _typed(form, dict, "struct")
    unknown = members.keys() - {field.name for field in kind}
    if unknown:
        raise LiteralError(f"a struct has no field {min(unknown)!r}")
    return {field.name: decode_literal(members.get(field.name), field.type) for field in kind}


def _decode_map(form: Any, inner: pa.DataType) -> dict[str, Any]:
    pairs: dict[str, Any] = {}
    for pair in _typed(form, list, "map (as pairs)"):
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise LiteralError(f"{pair!r:.80} is no [key, value] pair")
        if pair[0] in pairs:
            raise LiteralError(f"a map holds {pair[0]!r:.80} twice")
        pairs[pair[0]] = decode_literal(pair[1], inner)
    return pairs


def _decode_decimal(form: Any) -> Decimal:
    try:
        number = Decimal(_typed(form, str, "decimal (as text)"))
    except InvalidOperation as error:
        raise LiteralError(f"{form!r:.80} is no decimal") from error
    if not number.is_finite() or len(form) > _DECIMAL_LENGTH or (number and abs(number.adjusted()) > _DECIMAL_LENGTH):
        raise LiteralError(f"{form!r:.80} is no decimal")
    return number


def _decode_int64(form: Any) -> int:
    return _within(int(_formed(form, _INTEGER, "int64 (as text)")), _INT64, "int64")


def _decode_float32(form: Any) -> float:
    wide = float(_typed(form, str, "float32 (as text)"))
    (narrow,) = struct.unpack("<f", struct.pack("<f", wide))
    return float(narrow)


def _decode_time(form: Any) -> dt.time:
    return dt.time.fromisoformat(_formed(form, _TIME, "time: 12:00:00.000000"))


def _decode_instant(form: Any) -> dt.datetime:
    return _decode_timestamp(form, _INSTANT, "instant")


def _decode_local(form: Any) -> dt.datetime:
    return _decode_timestamp(form, _LOCAL, "local timestamp")


def _decode_timestamp(form: Any, pattern: re.Pattern[str], name: str) -> dt.datetime:
    return datetime_of(_formed(form, pattern, f"{name}: 2025-01-31T12:00:00.000000, an instant with Z"))


_DECODERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "boolean": lambda form: _typed(form, bool, "boolean"),
    "int32": lambda form: _within(_typed(form, int, "int32"), _INT32, "int32"),
    "int64": _decode_int64,
    "float32": _decode_float32,
    "float64": lambda form: float(_typed(form, str, "float64 (as text)")),
    "string": lambda form: _typed(form, str, "string"),
    "binary": lambda form: bytes.fromhex(_typed(form, str, "binary (as hex)")),
    "date": lambda form: dt.date.fromisoformat(_formed(form, _DAY, "date: 2025-01-31")),
    "time-millis": _decode_time,
    "time-micros": _decode_time,
    "timestamp-millis": _decode_instant,
    "timestamp-micros": _decode_instant,
    "local-timestamp-millis": _decode_local,
    "local-timestamp-micros": _decode_local,
}


_Takes = Callable[[pa.DataType], bool]
_DATE: Final = pa.date32()


@dataclass(frozen=True, slots=True)
class Function:
    """A function of one column.

    `arguments`: types of what may follow the column, of which `required` must.
    `options`: the names that an index definition gives the arguments. `result`: its type, or None for the column's.
    `zoned`: whether for instants the result depends on the time zone. `grows`: greater values never give smaller
    results, for columns that it takes but texts.
    """

    evaluate: Callable[..., Any]
    takes: _Takes
    result: pa.DataType | None
    arguments: tuple[type, ...] = ()
    required: int = 0
    options: tuple[str, ...] = ()
    zoned: bool = False
    grows: bool = False


def _identity(column: Any) -> Any:
    return column


def _substring(column: Any, position: int = 1, length: int = 2**31 - 1) -> Any:
    """The protocol's filters give no positions: then the text from the first character on."""
    return texts.substring(column, position, length)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_moment(kind: pa.DataType) -> bool:
    return _is_text(kind) or bool(pa.types.is_timestamp(kind) or pa.types.is_date32(kind))


def _has_length(kind: pa.DataType) -> bool:
    return _is_text(kind) or bool(pa.types.is_binary(kind))


def _is_anything(_: pa.DataType) -> bool:
    return True


def _part(evaluate: Callable[..., Any], *, grows: bool = False) -> Function:
    return Function(evaluate, _is_moment, pa.int32(), zoned=True, grows=grows)


def _text(evaluate: Callable[..., Any], *options: str, required: int = 0, types: tuple[type, ...] = ()) -> Function:
    return Function(evaluate, _is_text, pa.string(), types or (str,) * len(options), required, options)


def _moment(
    evaluate: Callable[..., Any], result: pa.DataType, required: int = 0, *, grows: bool = False, zoned: bool = True
) -> Function:
    return Function(evaluate, _is_moment, result, (str,), required, ("format",), zoned=zoned, grows=grows)


def _shift(evaluate: Callable[..., Any]) -> Function:
    # Days at the end of the count wrap around, so that greater ones may give smaller results.
    return Function(evaluate, _is_moment, _DATE, (int,), 1, ("days",), zoned=True)


FUNCTIONS: Final[Mapping[str, Function]] = {
    "identity": Function(_identity, _is_anything, None, grows=True),
    "year": _part(dates.year, grows=True),
    "month": _part(dates.month),
    "day": _part(dates.day),
    "hour": _part(dates.hour),
    "date_format": _moment(dates.date_format, pa.string(), 1),
    "from_unixtime": Function(
        dates.from_unixtime, pa.types.is_integer, pa.string(), (str,), 0, ("format",), zoned=True
    ),
    "unix_timestamp": _moment(dates.unix_timestamp, pa.int64(), grows=True),
    "to_date": _moment(dates.to_date, _DATE, grows=True),
    "to_timestamp": _moment(dates.to_timestamp, pa.timestamp("us", "UTC"), grows=True),
    "date_add": _shift(dates.date_add),
    "date_sub": _shift(dates.date_sub),
    "lower": _text(texts.lower),
    "upper": _text(texts.upper),
    "substring": _text(_substring, "pos", "len", types=(int, int)),
    "trim": _text(texts.trim, "trimString"),
    "ltrim": _text(texts.ltrim, "trimString"),
    "rtrim": _text(texts.rtrim, "trimString"),
    "length": Function(texts.length, _has_length, pa.int32()),
    "regexp_replace": _text(texts.regexp_replace, "pattern", "replacement", required=2),
    "regexp_extract": _text(texts.regexp_extract, "pattern", "idx", required=1, types=(str, int)),
    "split": Function(texts.split, _is_text, pa.list_(pa.string()), (str,), 1, ("pattern",)),
}


def function_of(column: Column) -> Function:
    """The function of a filter's column."""
    return FUNCTIONS[column.function]


def apply(column: Column, operand: Any) -> Any:
    """The values of a filter's column: those of the table's column after the function.

    Raises:
        UnsupportedFeature: a pattern, or texts, that are not built.

    """
    return function_of(column).evaluate(operand, *column.arguments)


def complaint(column: Column, kind: pa.DataType) -> str | None:
    """What is wrong with a function of a column of this type, or None."""
    function = function_of(column)
    if not function.takes(kind):
        return f"{column.function} takes no column of type {kind}"
    given: Sequence[Any] = column.arguments
    if not function.required <= len(given) <= len(function.arguments):
        return f"{column.function} takes {function.required} to {len(function.arguments)} values after the column"
    for value, wanted in zip(given, function.arguments, strict=False):
        if isinstance(value, bool) or not isinstance(value, wanted):
            return f"{column.function} takes {wanted.__name__}, not {value!r}"
    return None


_FLOATS = ("float32", "float64")


def compared_type(column: Column, schema: pa.Schema) -> pa.DataType:
    """The Arrow type of a filter's column after its function."""
    result = function_of(column).result
    return schema.field(column.name).type if result is None else result


def value_of(form: Any, column: Column, schema: pa.Schema) -> Any:
    """A filter's value as a Python value of the compared type.

    Raises:
        HudiError: CONFIG_INVALID when it has another type.

    Clauses: RD-012.

    """
    kind = compared_type(column, schema)
    try:
        name = type_name(kind)
        if isinstance(form, str | list | dict):
            return decode_literal(form, kind)
    except LiteralError as error:
        raise invalid(f"{column.name}: {error}") from error
    if form is None:
        return None
    # Arrow would cut a fraction off, and take a number for a day.
    value = _of_python(name, form)
    if value is None:
        raise invalid(f"{column.name}: {form!r:.80} is no {name}{_WANTED.get(_family(name), '')}")
    return value


_DIGITS_OF_128_BITS: Final = 38


def scalar_of(form: Any, column: Column, schema: pa.Schema) -> pa.Scalar:
    """A filter's value as an Arrow scalar that compares with the column's values.

    Raises:
        HudiError: CONFIG_INVALID when it has another type.

    Clauses: RD-012.

    """
    value = value_of(form, column, schema)
    kind = _in_microseconds(compared_type(column, schema))
    # Decimals of another scale compare by value: Arrow gives both the digits of either, of which 128 bits have 38.
    if isinstance(value, Decimal):
        found = pa.scalar(value)
        whole_digits = max(one.precision - one.scale for one in (found.type, kind))
        wide = whole_digits + max(found.type.scale, kind.scale) > _DIGITS_OF_128_BITS
        return found.cast(pa.decimal256(found.type.precision, found.type.scale)) if wide else found
    whole = isinstance(value, int) and not isinstance(value, bool) and pa.types.is_integer(kind)
    # A number beyond the column's type is none of its values, and compares with all of them.
    return pa.scalar(value, pa.int64() if whole and function_of(column).result else kind)


def _in_microseconds(kind: pa.DataType) -> pa.DataType:
    """Of times in seconds or milliseconds the type that holds every literal: theirs would cut it."""
    if kinds.is_timestamp(kind) and kind.unit in {"s", "ms"}:
        return pa.timestamp("us", kind.tz)
    return pa.time64("us") if kinds.is_time32(kind) else kind


def plain_values(forms: Sequence[Any], column: Column, schema: pa.Schema) -> pa.Array | None:
    """The values of many forms that are texts or whole numbers like the column's own; None for any others.

    As `scalar_of` has them one by one, a hundred times as fast.
    """
    kind, kinds_given = schema.field(column.name).type, set(map(type, forms))
    alike = (kinds.is_string(kind) and kinds_given == {str}) or (kinds.is_signed_integer(kind) and kinds_given == {int})
    if function_of(column).result is not None or not alike:
        return None
    try:
        return pa.array(forms, kind)
    except (pa.ArrowInvalid, OverflowError):
        return None


def _family(name: str) -> str:
    """A type's name without its digits and unit: `decimal`, `local-timestamp`."""
    return name.partition("(")[0].removesuffix("-micros").removesuffix("-millis")


_WANTED: Final[Mapping[str, str]] = {
    "timestamp": "; give a datetime with a time zone, or text as in 2025-01-31T12:00:00.000000Z",
    "local-timestamp": "; give a datetime without a time zone, or text as in 2025-01-31T12:00:00.000000",
    "date": "; give a date, or text as in 2025-01-31",
}


def _of_python(name: str, form: Any) -> Any:
    """The value of a type's name that Python's own class of it stands for; None where the class is another one's.

    Like Arrow's literals; but what Arrow would round, cut or move between zones is not taken.
    """
    for classes, of_family in _OF_CLASSES:
        if isinstance(form, classes):
            convert = of_family.get(_family(name))
            return None if convert is None else convert(form)
    return None


def _finite(number: Decimal) -> Decimal | None:
    return number if number.is_finite() and abs(number.adjusted()) <= _DECIMAL_LENGTH else None


def _instant(moment: dt.datetime) -> dt.datetime | None:
    return moment.astimezone(dt.timezone.utc) if _is_exact(moment) and moment.utcoffset() is not None else None


def _local(moment: dt.datetime) -> dt.datetime | None:
    return moment if _is_exact(moment) and moment.tzinfo is None else None


def _is_exact(moment: dt.datetime) -> bool:
    """Whether there are no nanoseconds, which pandas adds; its missing time is unlike itself."""
    return moment == moment and not getattr(moment, "nanosecond", 0)  # noqa: PLR0124


def _time(time: dt.time) -> dt.time | None:
    return time if time.tzinfo is None else None


# A class stands before those that it is one of. A decimal becomes a float for a column of floats: statistics and
# Parquet would compare by its own digits, and Arrow does not.
_OF_CLASSES: Final[tuple[tuple[type | tuple[type, ...], Mapping[str, Callable[[Any], Any]]], ...]] = (
    (bool, {"boolean": bool}),
    (Integral, dict.fromkeys(("int32", "int64", "decimal", *_FLOATS), int)),
    (Decimal, {"decimal": _finite, **dict.fromkeys(_FLOATS, float)}),
    (float, dict.fromkeys(_FLOATS, float)),
    (dt.datetime, {"timestamp": _instant, "local-timestamp": _local}),
    (dt.date, {"date": _identity}),
    (dt.time, {"time": _time}),
    ((bytes, bytearray), {"binary": bytes}),
)


def invalid(message: str) -> HudiError:
    """A filter that cannot be used."""
    return HudiError(Reason.CONFIG_INVALID, "RD-012", f"the filter cannot be used: {message}")
