"""Strategies: a logical type and values of it."""

import datetime as dt
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

_NAMES = st.from_regex(r"[a-zé_][a-z0-9_]{0,5}", fullmatch=True)
_FLOATS32 = st.floats(width=32)


def _millis(moment: dt.datetime) -> dt.datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _time_millis(time: dt.time) -> dt.time:
    return time.replace(microsecond=time.microsecond // 1000 * 1000, fold=0)


_LOCAL = st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1)).map(  # noqa: DTZ001 - local on purpose
    lambda moment: moment.replace(fold=0)
)
_INSTANTS = _LOCAL.map(lambda moment: moment.replace(tzinfo=dt.timezone.utc))
PRIMITIVE_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "boolean": st.booleans(),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "float32": _FLOATS32,
    "float64": st.floats(),
    "string": st.text(st.characters(exclude_categories=["Cs"])),
    "binary": st.binary(max_size=12),
    "date": st.dates(),
    "time-millis": st.times().map(_time_millis),
    "time-micros": st.times().map(lambda time: time.replace(fold=0)),
    "timestamp-millis": _INSTANTS.map(_millis),
    "timestamp-micros": _INSTANTS,
    "local-timestamp-millis": _LOCAL.map(_millis),
    "local-timestamp-micros": _LOCAL,
}
Typed = tuple[str, st.SearchStrategy[Any]]


def _decimal(sizes: tuple[int, int]) -> Typed:
    precision, scale = max(sizes), min(sizes)
    bound = 10**precision - 1
    return (
        f"decimal({precision},{scale})",
        st.integers(-bound, bound).map(lambda units: Decimal(units).scaleb(-scale)),
    )


def _nullable(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), values)


def _struct(fields: dict[str, Typed]) -> Typed:
    inner = ",".join(f"{name}:{field[0]}" for name, field in fields.items())
    return f"struct<{inner}>", st.fixed_dictionaries({name: _nullable(field[1]) for name, field in fields.items()})


def _nested(children: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    return st.one_of(
        children.map(lambda child: (f"list<{child[0]}>", st.lists(_nullable(child[1]), max_size=3))),
        children.map(
            lambda child: (
                f"map<string,{child[0]}>",
                st.dictionaries(PRIMITIVE_VALUES["string"], _nullable(child[1]), max_size=3),
            )
        ),
        st.dictionaries(_NAMES, children, min_size=1, max_size=3).map(_struct),
    )


TYPES: st.SearchStrategy[Typed] = st.recursive(
    st.one_of(
        st.sampled_from(list(PRIMITIVE_VALUES.items())),
        # Python's decimal arithmetic is exact to 28 digits by default.
        st.tuples(st.integers(1, 28), st.integers(0, 28)).filter(lambda sizes: max(sizes) > 0).map(_decimal),
    ),
    _nested,
    max_leaves=4,
)


@st.composite
def typed_value(draw: st.DrawFn) -> tuple[str, Any]:
    """A logical type and a value of it, or null."""
    name, values = draw(TYPES)
    return name, draw(_nullable(values))


@st.composite
def rows_parts(draw: st.DrawFn) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[Any, ...], ...]]:
    """A schema and rows of it."""
    columns = draw(st.dictionaries(_NAMES, TYPES, min_size=1, max_size=4))
    row = st.tuples(*(_nullable(values) for _, values in columns.values()))
    schema = tuple((name, logical) for name, (logical, _) in columns.items())
    return schema, tuple(draw(st.lists(row, max_size=4)))
