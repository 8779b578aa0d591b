"""Types of drawn columns, and the values of each: few enough to collide, unusual enough to matter."""

import datetime as dt
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from hudi_conformance.corpus.table_shapes import COLUMNS, Columns, TableShape
from hudi_conformance.interop.fuzzing.seeds import Choices

_DAY: Final = dt.date(2024, 2, 29)
_MOMENT: Final = dt.datetime(2024, 2, 29, 23, 59, 59, 1000, tzinfo=dt.timezone.utc)
KEY_TYPES: Final = (
    "string",
    "string",
    "int32",
    "int64",
    "date",
    "decimal(10,2)",
    "timestamp-micros",
    "float64",
    "float32",
)
PARTITION_TYPES: Final = ("string", "string", "int32", "int64", "date", "boolean", "decimal(10,2)", "float64")
ORDERING_TYPES: Final = (
    "int64",
    "int32",
    "float64",
    "float64",
    "decimal(10,2)",
    "decimal(10,2)",
    "timestamp-micros",
    "timestamp-millis",
    "date",
    "string",
)
FARE_TYPES: Final = ("float64", "float32", "decimal(10,2)", "decimal(38,10)", "decimal(18,0)", "int64", "int32")
NOTE_TYPES: Final = (
    "string",
    "binary",
    "date",
    "time-micros",
    "timestamp-micros",
    "local-timestamp-micros",
    "list<int64>",
    "map<string,int64>",
    "struct<a:int32,b:string>",
)
_WORDS: Final = (
    "r1",
    "__empty__",
    "ř2",
    "木3",
    "r4:a",
    "r5,b",
    "r6/c",
    "50%",
    "__null__",
    "id:r1",
    " r9 ",
    "R1",
    "5e8d5a6c-9df2-4a2d-8b4e-3a6f1c2d7e90",
)
_PLACES: Final = ("oslo", "são paulo", "lima", "a b", "Oslo", "1", "__null__")
_ENCODED_PLACES: Final = ("oslo", "a/b", "50%", "x=y", "c:d", "são paulo", "%2F", "[q]?")
_IN_PATHS_ENCODED: Final = frozenset("\"#%'*/:=?[\\]^{\x7f") | frozenset(map(chr, range(0x20)))
_VALUES: Final[Mapping[str, Sequence[Any]]] = {
    "boolean": (True, False),
    "int32": (1, 0, -1, 10, 2, 2**31 - 1, -(2**31)),
    "int64": (1, 0, -1, 10, 2, 2**53 + 1, 2**63 - 1, -(2**63)),
    "float32": (0.0, 0.5, -0.5, 1.25, -0.0, 3.0, math.nan, -math.inf),
    "float64": (0.0, 0.25, -0.25, 0.75, 1.5, -1.5, 2.0, 1e-9, 1e300, -0.0, math.nan, math.inf),
    "decimal(10,2)": tuple(map(Decimal, ("0.00", "0.25", "0.75", "-0.25", "-1.00", "1.00", "99999999.99"))),
    "decimal(18,0)": tuple(map(Decimal, ("0", "9", "10", "-1", "999999999999999999"))),
    "decimal(38,10)": tuple(map(Decimal, ("0.0000000000", "0.0000000001", "-1.5000000000", "12345678901234567890.5"))),
    "string": ("", "n", "ночь", "N", "null", "a,b", "9", "10"),
    "binary": (b"", b"\x00", b"\xff\x00", b"n"),
    "date": tuple(_DAY + dt.timedelta(days=days) for days in (0, 1, -1, 365, -20000)),
    "time-micros": (dt.time(0), dt.time(23, 59, 59, 999999), dt.time(12, 0, 0, 1)),
    "timestamp-micros": tuple(_MOMENT + dt.timedelta(microseconds=one) for one in (0, 1, -1, 999, 10**9)),
    "timestamp-millis": tuple(_MOMENT + dt.timedelta(milliseconds=one) for one in (0, 1, -1, 999, 10**6)),
    "local-timestamp-micros": tuple(
        _MOMENT.replace(tzinfo=None) + dt.timedelta(microseconds=one) for one in (0, 1, 10**9)
    ),
    "list<int64>": ([], [1], [1, None], [2, 1]),
    "map<string,int64>": ({}, {"a": 1}, {"a": None, "ř": -1}),
    "struct<a:int32,b:string>": ({"a": 1, "b": "x"}, {"a": None, "b": "ř"}, {"a": -1, "b": None}),
}
_KEYS: Final[Mapping[str, Sequence[Any]]] = {
    "string": _WORDS,
    # Zeroes and not-a-number are left out: which of them are one key nothing settles.
    "float32": (0.0, 0.5, -1.25, 16777216.0, 9765625.0),
    "float64": (0.0, 0.25, -1.5, 1e-3, 1e-9, 1e7, 1e300, 123456789.0, 0.1),
}
_UNUSED: Final[Mapping[str, Callable[[int], Any]]] = {
    "string": lambda number: f"u{number}",
    "int32": lambda number: 100 + number,
    "int64": lambda number: 100 + number,
    "float32": lambda number: 100.5 + number,
    "float64": lambda number: 100.5 + number,
    "date": lambda number: dt.date(2030, 1, 1) + dt.timedelta(days=number),
    "decimal(10,2)": lambda number: Decimal(1000 + number) / 4 + Decimal("0.00"),
    "timestamp-micros": lambda number: _MOMENT + dt.timedelta(days=30, microseconds=number),
    "timestamp-millis": lambda number: _MOMENT + dt.timedelta(days=30, milliseconds=number),
}


@dataclass(frozen=True, slots=True)
class DatedPartitions:
    """Partitions of dates: what a table states, the type of their column, and the folders of its values."""

    properties: Mapping[str, str]
    kind: str
    folders: Mapping[Any, str]

    @property
    def name(self) -> str:
        """What distinguishes it from others."""
        return self.properties.get(f"{_TIMED}.timestamp.type", "slashes")

    @property
    def parted_by_slashes(self) -> bool:
        """Whether each dash of a folder is a slash."""
        return _SLASHED in self.properties

    def stated(self, version: int) -> Mapping[str, str]:
        """The properties of a table of a version, which names the key generator by its class or its type."""
        if self.parted_by_slashes:
            return self.properties
        name, value = _GENERATORS[version >= _TYPES_OF_GENERATORS_SINCE]
        return {name: value, **self.properties}


_TYPES_OF_GENERATORS_SINCE: Final = 8
_GENERATORS: Final = {
    True: ("hoodie.table.keygenerator.type", "TIMESTAMP"),
    False: ("hoodie.table.keygenerator.class", "org.apache.hudi.keygen.TimestampBasedKeyGenerator"),
}
_TIMED: Final = "hoodie.keygen.timebased"
_SLASHED: Final = "hoodie.datasource.write.slash.separated.date.partitioning"
_LEAP_DAY: Final = 19_782
_DAYS: Final = ("2024-02-29", "2024-03-01", "1970-01-01", "1969-12-31")
_HOUR_MS: Final = 3_600_000
DATED: Final = (
    DatedPartitions({_SLASHED: "true"}, "date", {dt.date.fromisoformat(one): one for one in _DAYS} | {None: ""}),
    DatedPartitions({_SLASHED: "true"}, "string", {one: one for one in (*_DAYS, "2024", "")} | {None: ""}),
    DatedPartitions(
        {
            f"{_TIMED}.timestamp.type": "DATE_STRING",
            f"{_TIMED}.input.dateformat": "yyyy-MM-dd",
            f"{_TIMED}.output.dateformat": "yyyy/MM/dd",
        },
        "string",
        {one: one.replace("-", "/") for one in _DAYS} | {None: "1970/01/01"},
    ),
    DatedPartitions(
        {f"{_TIMED}.timestamp.type": "EPOCHMILLISECONDS", f"{_TIMED}.output.dateformat": "yyyy-MM-dd HH"},
        "int64",
        {
            (_LEAP_DAY * 24 + 1) * _HOUR_MS: "2024-02-29 01",
            (_LEAP_DAY * 24 + 2) * _HOUR_MS - 1: "2024-02-29 01",
            0: "1970-01-01 00",
            -1: "1969-12-31 23",
            None: "1970-01-01 00",
        },
    ),
    DatedPartitions(
        {
            f"{_TIMED}.timestamp.type": "UNIX_TIMESTAMP",
            f"{_TIMED}.output.dateformat": "yyyyMMdd",
            f"{_TIMED}.timezone": "GMT+8:00",
        },
        "int64",
        {
            _LEAP_DAY * 86_400 + 57_599: "20240229",
            _LEAP_DAY * 86_400 + 57_600: "20240301",
            -28_801: "19691231",
            None: "19700101",
        },
    ),
    DatedPartitions(
        {
            f"{_TIMED}.timestamp.type": "SCALAR",
            f"{_TIMED}.timestamp.scalar.time.unit": "DAYS",
            f"{_TIMED}.output.dateformat": "yyyy/MM/dd",
        },
        "int32",
        {_LEAP_DAY: "2024/02/29", _LEAP_DAY + 1: "2024/03/01", -1: "1969/12/31", None: "1970/01/02"},
    ),
)
"""Days that slashes part into folders, and what key generators by timestamp make of texts and of numbers."""


def dated_partitions(shape: TableShape) -> DatedPartitions | None:
    """How a table's partitions are made of dates, where they are."""
    kind = dict(shape.columns)[shape.partition_by[0]] if len(shape.partition_by) == 1 else ""
    stated = shape.properties.items()
    return next((one for one in DATED if one.kind == kind and one.properties.items() <= stated), None)


def drawn_columns(choices: Choices) -> Columns:
    """The columns of a table, each of a type that fits its part."""
    types = {
        "id": choices.one(KEY_TYPES),
        "number": choices.one(("int64", "int32")),
        "city": choices.one(PARTITION_TYPES),
        "ts": choices.one(ORDERING_TYPES),
        "fare": choices.one(FARE_TYPES),
        "note": choices.one(NOTE_TYPES),
    }
    return tuple((name, types.get(name, kind)) for name, kind in COLUMNS)


def row_values(shape: TableShape) -> dict[str, Sequence[Any]]:
    """The values of the columns of a table.

    Keys are texts that hold what keys of several fields and paths are put together with; without encoding no partition
    value is one that a folder cannot be named after.
    """
    types = dict(shape.columns)
    encoded = shape.properties.get("hoodie.datasource.write.partitionpath.urlencode") == "true"
    places = _ENCODED_PLACES if encoded else _PLACES
    dated = dated_partitions(shape)
    return {
        "id": _KEYS.get(types["id"]) or _VALUES[types["id"]],
        "city": (
            tuple(dated.folders)
            if dated
            else (*(places if types["city"] == "string" else _VALUES[types["city"]][:5]), None)
        ),
        "ts": (*_VALUES[types["ts"]], None),
        # Parts of keys, of paths and of the order of versions, too.
        "kind": ("x", "y", "", None),
        "fare": (None, *_VALUES[types["fare"]]),
        "note": (None, *_VALUES[types["note"]]),
    }


def unused_key(kind: str, number: int) -> Any:
    """A key that no drawn row has by itself; another one for every number."""
    return _UNUSED[kind](number)


def folder_text(value: Any, *, encoded: bool) -> str:
    """The folder of a partition value (DM-031, DM-032)."""
    text = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
    text = text or "__HIVE_DEFAULT_PARTITION__"
    return "".join(f"%{ord(one):02X}" if one in _IN_PATHS_ENCODED else one for one in text) if encoded else text
