"""The literals of a filter: 64-bit integers, decimals, times and floats as text, binary as hexadecimal digits."""

import datetime as dt
import re
import struct
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import pyarrow as pa
import pyarrow.types as kinds

_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_LOCAL: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}", re.ASCII)
_INTEGER: Final = re.compile(r"-?\d{1,20}", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
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
    return dt.datetime.fromisoformat(_formed(form, pattern, f"{name}: 2025-01-31T12:00:00.000000, an instant with Z"))


_DECODERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "boolean": lambda form: _typed(form, bool, "boolean"),
    "int32": lambda form: _within(_typed(form, int, "int32"), _INT32, "int32"),
    "int64": _decode_int64,
    "float32": _decode_float32,
    "float64": lambda form: float(_typed(form, str, "float64 (as text)")),
    "string": lambda form: _typed(form, str, "string"),
    "binary": lambda form: bytes.fromhex(_typed(form, str, "binary (as hex)")),
    "date": lambda form: dt.date.fromisoformat(_formed(form, _DATE, "date: 2025-01-31")),
    "time-millis": _decode_time,
    "time-micros": _decode_time,
    "timestamp-millis": _decode_instant,
    "timestamp-micros": _decode_instant,
    "local-timestamp-millis": _decode_local,
    "local-timestamp-micros": _decode_local,
}
