"""One logical value as JSON and back: 64-bit integers, decimals, times and floats as text, binary as uppercase hex."""

from __future__ import annotations

import datetime as dt
import re
import struct
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from hudi_adapter.logical_types import DecimalType, ListType, LogicalType, MapType, Primitive, StructType, parse_type

Value = Any
"""None, bool, int, float, Decimal, str, bytes, date, time, datetime (aware: instant, naive: local), list or dict."""

_INSTANT_FORM = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_LOCAL_FORM = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}", re.ASCII)
_INTEGER_FORM = re.compile(r"-?\d{1,20}", re.ASCII)
_DATE_FORM = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME_FORM = re.compile(r"\d\d:\d\d:\d\d\.\d{6}", re.ASCII)
_DECIMAL_LENGTH = 400
_INT32 = range(-(2**31), 2**31)
_INT64 = range(-(2**63), 2**63)


class ValueFormError(ValueError):
    """A value that is not of its logical type, or not in the form that type has in JSON."""


def encode_value(value: Value, logical: str | LogicalType) -> Any:
    """The JSON form of a logical value; null stays null.

    Raises:
        ValueFormError: the value is not of that type.

    """
    kind = parse_type(logical) if isinstance(logical, str) else logical
    if value is None:
        return None
    if isinstance(kind, Primitive):
        return _ENCODERS[kind.name](value)
    if isinstance(kind, DecimalType):
        return format(_typed(value, Decimal, "decimal"), "f")
    if isinstance(kind, ListType):
        return [encode_value(item, kind.element) for item in _typed(value, list, "list")]
    if isinstance(kind, MapType):
        pairs: dict[str, Value] = _typed(value, dict, "map")
        return [[key, encode_value(pairs[key], kind.value)] for key in sorted(pairs)]
    members: dict[str, Value] = _typed(value, dict, "struct")
    return {name: encode_value(members.get(name), field) for name, field in kind.fields}


def decode_value(form: Any, logical: str | LogicalType) -> Value:
    """The logical value that a JSON form stands for.

    Raises:
        ValueFormError: the form is not the one of that type.

    """
    kind = parse_type(logical) if isinstance(logical, str) else logical
    if form is None:
        return None
    if isinstance(kind, Primitive):
        return _decode_primitive(form, kind.name)
    if isinstance(kind, DecimalType):
        return _decode_decimal(form)
    if isinstance(kind, ListType):
        return [decode_value(item, kind.element) for item in _typed(form, list, "list")]
    if isinstance(kind, MapType):
        return _decode_map(form, kind.value)
    return _decode_struct(form, kind)


def _typed(value: Any, wanted: type, name: str) -> Any:
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        raise ValueFormError(f"{value!r:.80} is no {name}")
    return value


def _not_a_datetime(value: Value) -> Value:
    if isinstance(value, dt.datetime):
        raise ValueFormError(f"{value!r} is a timestamp, not a date")
    return value


def _encode_instant(value: dt.datetime) -> str:
    if value.tzinfo is None:
        raise ValueFormError(f"{value!r} is no instant: it has no time zone")
    return value.astimezone(dt.timezone.utc).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _encode_local(value: dt.datetime) -> str:
    if value.tzinfo is not None:
        raise ValueFormError(f"{value!r} is no local timestamp: it has a time zone")
    return value.isoformat(timespec="microseconds")


def _within(value: int, limits: range, name: str) -> int:
    if value not in limits:
        raise ValueFormError(f"{value} is outside {name}")
    return value


def _decode_primitive(form: Any, name: str) -> Value:
    try:
        return _DECODERS[name](form)
    except ValueFormError:
        raise
    except (ValueError, OverflowError) as error:
        raise ValueFormError(f"{form!r:.80} is no {name}: {error}") from error


def _decode_int64(form: Any) -> int:
    return _within(int(_formed(form, _INTEGER_FORM, "int64 (as text)")), _INT64, "int64")


def _decode_float32(form: Any) -> float:
    wide = float(_typed(form, str, "float32 (as text)"))
    (narrow,) = struct.unpack("<f", struct.pack("<f", wide))
    return float(narrow)


def _formed(form: Any, pattern: re.Pattern[str], name: str) -> str:
    text: str = _typed(form, str, name)
    if not pattern.fullmatch(text):
        raise ValueFormError(f"{text!r:.80} is no {name}")
    return text


def _decode_timestamp(form: Any, pattern: re.Pattern[str], name: str) -> dt.datetime:
    text = _formed(form, pattern, f"{name}: 2025-01-31T12:00:00.000000, an instant with Z")
    # Python 3.10 reads no `Z`.
    return dt.datetime.fromisoformat(text.replace("Z", "+00:00"))


def _decode_decimal(form: Any) -> Decimal:
    try:
        number = Decimal(_typed(form, str, "decimal (as text)"))
    except InvalidOperation as error:
        raise ValueFormError(f"{form!r:.80} is no decimal") from error
    if not number.is_finite() or len(form) > _DECIMAL_LENGTH or (number and abs(number.adjusted()) > _DECIMAL_LENGTH):
        raise ValueFormError(f"{form!r:.80} is no decimal")
    return number


def _decode_map(form: Any, inner: LogicalType) -> dict[str, Value]:
    pairs: dict[str, Value] = {}
    for pair in _typed(form, list, "map (as pairs)"):
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise ValueFormError(f"{pair!r:.80} is no [key, value] pair")
        if pair[0] in pairs:
            raise ValueFormError(f"a map holds {pair[0]!r:.80} twice")
        pairs[pair[0]] = decode_value(pair[1], inner)
    return pairs


def _decode_struct(form: Any, kind: StructType) -> dict[str, Value]:
    members: Mapping[str, Any] = _typed(form, dict, "struct")
    unknown = members.keys() - {name for name, _ in kind.fields}
    if unknown:
        raise ValueFormError(f"a struct has no field {min(unknown)!r}")
    return {name: decode_value(members.get(name), field) for name, field in kind.fields}


_DECODERS: Mapping[str, Callable[[Any], Value]] = {
    "boolean": lambda form: _typed(form, bool, "boolean"),
    "int32": lambda form: _within(_typed(form, int, "int32"), _INT32, "int32"),
    "int64": _decode_int64,
    "float32": _decode_float32,
    "float64": lambda form: float(_typed(form, str, "float64 (as text)")),
    "string": lambda form: _typed(form, str, "string"),
    "binary": lambda form: bytes.fromhex(_typed(form, str, "binary (as hex)")),
    "date": lambda form: dt.date.fromisoformat(_formed(form, _DATE_FORM, "date: 2025-01-31")),
    "time-millis": lambda form: dt.time.fromisoformat(_formed(form, _TIME_FORM, "time: 12:00:00.000000")),
    "time-micros": lambda form: dt.time.fromisoformat(_formed(form, _TIME_FORM, "time: 12:00:00.000000")),
    "timestamp-millis": lambda form: _decode_timestamp(form, _INSTANT_FORM, "instant"),
    "timestamp-micros": lambda form: _decode_timestamp(form, _INSTANT_FORM, "instant"),
    "local-timestamp-millis": lambda form: _decode_timestamp(form, _LOCAL_FORM, "local timestamp"),
    "local-timestamp-micros": lambda form: _decode_timestamp(form, _LOCAL_FORM, "local timestamp"),
}

_ENCODERS: Mapping[str, Callable[[Value], Any]] = {
    "boolean": lambda value: _typed(value, bool, "boolean"),
    "int32": lambda value: _within(_typed(value, int, "int32"), _INT32, "int32"),
    "int64": lambda value: str(_within(_typed(value, int, "int64"), _INT64, "int64")),
    "float32": lambda value: repr(float(_typed(value, float, "float32"))),
    "float64": lambda value: repr(float(_typed(value, float, "float64"))),
    "string": lambda value: _typed(value, str, "string"),
    "binary": lambda value: bytes(_typed(value, bytes, "binary")).hex().upper(),
    "date": lambda value: _typed(_not_a_datetime(value), dt.date, "date").isoformat(),
    "time-millis": lambda value: _typed(value, dt.time, "time").isoformat("microseconds"),
    "time-micros": lambda value: _typed(value, dt.time, "time").isoformat("microseconds"),
    "timestamp-millis": lambda value: _encode_instant(_typed(value, dt.datetime, "instant")),
    "timestamp-micros": lambda value: _encode_instant(_typed(value, dt.datetime, "instant")),
    "local-timestamp-millis": lambda value: _encode_local(_typed(value, dt.datetime, "local timestamp")),
    "local-timestamp-micros": lambda value: _encode_local(_typed(value, dt.datetime, "local timestamp")),
}
