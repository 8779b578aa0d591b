"""The filter grammar of the protocol: a row matches, does not match, or it is unknown."""

import datetime as dt
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from hudi_model.files import Schema, Value
from hudi_model.rejection import Reason, Rejection, Unsupported

Row = Mapping[str, Value]

COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPERATORS = (*COMPARISONS, "in", "is_null", "is_not_null")

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
PATTERN = "yyyy-MM-dd HH:mm:ss"
PARTS = {"yyyy": "year", "MM": "month", "dd": "day", "HH": "hour", "mm": "minute", "ss": "second"}
DAY = re.compile(r"\s*([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T](.*))?)?)?\s*", re.DOTALL)
TIME = re.compile(r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\.([0-9]{1,6}))?")


def day_of(value: Any, pattern: str = "") -> dt.date | None:
    """The day of a date, of a moment, or of a text that begins with one or has the form of a pattern."""
    if not isinstance(value, str):
        return dt.date(value.year, value.month, value.day)
    named = DAY.fullmatch(value)
    parts = zip(PARTS.values(), named.groups()[:3], strict=False) if named else ()
    found = moment_of(value, pattern) if pattern else moment(parts) if named else None
    return found.date() if found else None


def moment_of(value: Any, pattern: str = "") -> dt.datetime | None:
    """A moment, the midnight of a date, or what a text says: in the form of a pattern, or as one that is cast.

    Raises: Unsupported for a text with another time: a release takes zones and more.
    """
    if not isinstance(value, str):
        whole = value if isinstance(value, dt.datetime) else dt.datetime(value.year, value.month, value.day)  # noqa: DTZ001
        return whole.replace(tzinfo=dt.timezone.utc)
    if pattern:
        found = re.fullmatch(PIECES.sub(as_group, pattern), value)
        return moment(found.groupdict().items()) if found else None
    named = DAY.fullmatch(value)
    if named is None or day_of(value) is None:
        return None
    time = TIME.fullmatch((named[4] or "0:0:0").rstrip())
    if time is None:
        raise Unsupported("timestamp-text")
    parts = (*named.groups()[:3], *time.groups()[:3], (time[4] or "").ljust(6, "0"))
    return moment(zip((*PARTS.values(), "microsecond"), parts, strict=True))


def moment(parts: Iterable[tuple[str, str | None]]) -> dt.datetime | None:
    """What the parts of a text say together; no moment where one is too great."""
    stated = {name: int(text) for name, text in parts if text}
    try:
        return dt.datetime(**{"year": 1970, "month": 1, "day": 1, **stated}, tzinfo=dt.timezone.utc)
    except ValueError:
        return None


PIECES = re.compile(r"(?P<word>[A-Za-z]+)|'(?P<quoted>[^']*)'|(?P<other>[^A-Za-z']+)")


def as_group(piece: re.Match[str]) -> str:
    """A piece of a pattern as an expression that takes it.

    Raises: ValueError, for letters that are no part.
    """
    if piece["word"] is None:
        return re.escape(piece["quoted"] or piece["other"])
    if piece["word"] not in PARTS:
        raise ValueError(f"no part of a moment: {piece['word']}")
    return f"(?P<{PARTS[piece['word']]}>[0-9]{{{len(piece['word'])}}})"


def formatted(value: Any, pattern: str) -> str | None:
    """A moment as a pattern spells it.

    Raises: ValueError, for letters that are no part.
    """
    found = moment_of(value)
    if found is None:
        return None

    def spelt(piece: re.Match[str]) -> str:
        as_group(piece)
        word = piece["word"]
        return f"{getattr(found, PARTS[word]):0{len(word)}}" if word else piece["quoted"] or piece["other"]

    return PIECES.sub(spelt, pattern)


def seconds_of(value: Any, pattern: str = PATTERN) -> int | None:
    """Whole seconds since 1970; fractions go towards zero."""
    found = moment_of(value, pattern)
    return None if found is None else int((found - EPOCH) / dt.timedelta(seconds=1))


def part_of(value: str, start: int = 1, length: int = 2**31 - 1) -> str:
    """A text from a place on, counted from 1, or from its end where that is below zero."""
    first = start - 1 if start > 0 else start + len(value) if start < 0 else 0
    return value[max(first, 0) : max(first + length, 0)]


def replaced(value: str, pattern: str, replacement: str) -> str:
    """Every match in place of another text, in which `$1` is a group."""
    return re.sub(pattern, re.sub(r"\$([0-9])", r"\\g<\1>", replacement), value, flags=re.ASCII)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "identity": lambda value: value,
    "year": lambda value: (found := day_of(value)) and found.year,
    "month": lambda value: (found := day_of(value)) and found.month,
    "day": lambda value: (found := day_of(value)) and found.day,
    "hour": lambda value: (found := moment_of(value)) and found.hour,
    "date_format": formatted,
    "from_unixtime": lambda value, pattern=PATTERN: formatted(EPOCH + dt.timedelta(seconds=value), pattern),
    "unix_timestamp": seconds_of,
    "to_date": day_of,
    "to_timestamp": moment_of,
    "date_add": lambda value, days: (found := day_of(value)) and found + dt.timedelta(days=days),
    "date_sub": lambda value, days: (found := day_of(value)) and found - dt.timedelta(days=days),
    "lower": lambda value: value.lower(),
    "upper": lambda value: value.upper(),
    "substring": part_of,
    "trim": lambda value, letters=" ": value.strip(letters),
    "ltrim": lambda value, letters=" ": value.lstrip(letters),
    "rtrim": lambda value, letters=" ": value.rstrip(letters),
    "length": len,
    "regexp_replace": replaced,
    "regexp_extract": lambda value, form, group=1: ((found := re.search(form, value, re.ASCII)) and found[group]) or "",
}
"""What takes a column's value, and what a filter or an index states beside it.

Clauses: IX-041.
"""


class Function(NamedTuple):
    """A function of a column, with its arguments."""

    name: str = "identity"
    arguments: tuple[Any, ...] = ()


IDENTITY = Function()

INSTANTS = ("timestamp-millis", "timestamp-micros")
NUMBERS = ("int32", "int64", "float32", "float64", "decimal")

RESULTS = {
    **dict.fromkeys(("year", "month", "day", "hour", "unix_timestamp", "length"), "int64"),
    **dict.fromkeys(("date_format", "from_unixtime"), "string"),
    **dict.fromkeys(("to_date", "date_add", "date_sub"), "date"),
    "to_timestamp": "timestamp-micros",
}

PARSERS: Mapping[str, Callable[[str], Value]] = {
    **dict.fromkeys(("int32", "int64"), int),
    **dict.fromkeys(("float32", "float64"), float),
    **dict.fromkeys(("time-millis", "time-micros"), dt.time.fromisoformat),
    # Python 3.10 reads no `Z`.
    **dict.fromkeys(INSTANTS, lambda form: dt.datetime.fromisoformat(form.replace("Z", "+00:00"))),
    **dict.fromkeys(("local-timestamp-millis", "local-timestamp-micros"), dt.datetime.fromisoformat),
    "decimal": Decimal,
    "binary": bytes.fromhex,
    "date": dt.date.fromisoformat,
}
"""Texts in which values of a type travel; those of other types are the value."""


def matches(form: Any, row: Row, schema: Schema) -> bool:
    """Whether a row is in the answer: a filter that is unknown for it leaves it out.

    Raises: CONFIG_INVALID for a form that is no filter, or a column that does not exist.

    Clauses: RD-012.
    """
    return evaluate(form, row, schema) is True


def check_filter(form: Any, schema: Schema) -> None:
    """Nothing, unless a filter is not in the grammar or names what does not exist.

    Raises: CONFIG_INVALID.

    Clauses: RD-012.
    """
    evaluate(form, {field.name: None for field in schema.fields}, schema)


def evaluate(form: Any, row: Row, schema: Schema) -> bool | None:
    """True, False, or None where a null leaves the filter unknown.

    Raises: CONFIG_INVALID.

    Clauses: RD-012.
    """
    if not isinstance(form, Sequence) or isinstance(form, str) or not form:
        raise invalid(f"{form!r} is no filter")
    if is_junction(form):
        return junction(form[0], [evaluate(part, row, schema) for part in form[1:]])
    word = form[1] if len(form) > 1 else None
    if word not in OPERATORS:
        raise invalid(f"{word!r} is no operator")
    function, name = column_of(form[0])
    own = type_of(name, schema)
    if function.name == "from_unixtime" and own not in ("int32", "int64"):
        raise invalid(f"from_unixtime of {own}")
    value = None if row[name] is None else applied(function, row[name])
    if word in ("is_null", "is_not_null"):
        return bool((value is None) == (word == "is_null"))
    if len(form) != 3:
        raise invalid(f"`{word}` takes one value")
    return compare_value(word, value, form[2], RESULTS.get(function.name, own))


def is_junction(form: Sequence[Any]) -> bool:
    """Whether a filter combines others; a column may be called `and`."""
    return form[0] in ("and", "or", "not") and not (len(form) > 1 and form[1] in OPERATORS)


def junction(word: str, parts: list[bool | None]) -> bool | None:
    """Three-valued and, or, not.

    Raises: CONFIG_INVALID for a wrong number of parts.
    """
    if not parts or (word == "not" and len(parts) > 1):
        raise invalid(f"`{word}` of {len(parts)} filters")
    if word == "not":
        return None if parts[0] is None else not parts[0]
    decisive = word == "or"
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive


def compare_value(word: str, value: Value, form: Any, kind: str) -> bool | None:
    """A value against the one that the filter gives, or against any of a list.

    Raises: CONFIG_INVALID.
    """
    if word == "in":
        if not isinstance(form, list):
            raise invalid("`in` takes a list")
        return junction("or", [compare_value("=", value, one, kind) for one in form]) if form else False
    wanted = literal(form, kind)
    if value is None or wanted is None:
        return None
    try:
        return bool(COMPARISONS[word](value, wanted))
    except TypeError:
        raise invalid(f"{kind} does not compare with {form!r}") from None


def column_of(form: Any) -> tuple[Function, str]:
    """The function and the column that a filter's first place names.

    Raises: CONFIG_INVALID.
    """
    if isinstance(form, str):
        return IDENTITY, form
    if isinstance(form, list) and len(form) > 2 and form[0] == "fn" and form[1] in FUNCTIONS:
        return Function(form[1], tuple(form[3:])), str(form[2])
    raise invalid(f"{form!r} is no column")


def type_of(name: str, schema: Schema) -> str:
    """The logical type of a column.

    Raises: CONFIG_INVALID.
    """
    for field in schema.fields:
        if field.name == name:
            return field.type
    raise invalid(f"the table has no column {name!r}")


def applied(function: Function, value: Value) -> Value:
    """A column's value after the function.

    Raises: CONFIG_INVALID where the value has no such part.
    """
    try:
        result: Value = FUNCTIONS[function.name](value, *function.arguments)
    except (AttributeError, TypeError, ValueError, LookupError):
        raise invalid(f"{function.name} of {value!r} {function.arguments}") from None
    return result


def literal(form: Any, kind: str) -> Value:
    """A filter's value in a column's type: a text in which rows travel, or a number, truth value or null as such.

    Raises: CONFIG_INVALID.
    """
    family, takes = kind.partition("(")[0], {bool: ("boolean",), int: NUMBERS, float: ("float32", "float64")}
    try:
        if isinstance(form, str):
            return PARSERS.get(family, str)(form)
    except (ValueError, InvalidOperation):
        raise invalid(f"{form!r} is no {kind}") from None
    if form is None or family in takes.get(type(form), ()):
        result: Value = form
        return result
    raise invalid(f"{form!r} is no {kind}")


def invalid(detail: str) -> Rejection:
    """The refusal of a filter."""
    return Rejection(Reason.CONFIG_INVALID, "RD-012", "filter", detail)
