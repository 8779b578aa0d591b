"""The type of a column when rows bring another: as 1.1.1 decides, where no value changes and it is requested."""

from typing import Any

import pyarrow as pa
import pytest
from hudi_format.schemas import arrow_schema
from hudi_spark import HudiError
from hudi_spark.schema import FixedFields, writer_schema
from hudi_spark.testing import resolve

WIDEN = {"hoodie.schema.on.read.enable": "true"}


def decimal(precision: int, scale: int, size: int | None):
    digits = {"logicalType": "decimal", "precision": precision, "scale": scale}
    if size is None:
        return {"type": "bytes", **digits}
    return {"type": "fixed", "name": "fixed", "namespace": "hoodie.t.t_record.c", "size": size, **digits}


def struct(*fields: tuple[str, str]):
    inner = [{"name": name, "type": ["null", kind], "default": None} for name, kind in fields]
    return {"type": "record", "name": "c", "namespace": "hoodie.t.t_record", "fields": inner}


TYPES = {
    **{name: name for name in ("boolean", "int", "long", "float", "double", "string", "bytes")},
    "date": {"type": "int", "logicalType": "date"},
    "micros": {"type": "long", "logicalType": "timestamp-micros"},
    "local": {"type": "long", "logicalType": "local-timestamp-micros"},
    "d5_2": decimal(5, 2, 3),
    "d6_2": decimal(6, 2, 3),
    "d6_3": decimal(6, 3, 3),
    "d10_2": decimal(10, 2, 5),
    "d10_4": decimal(10, 4, 5),
    "d12_4": decimal(12, 4, 6),
    "b10_2": decimal(10, 2, None),
    "ints": {"type": "array", "items": ["null", "int"]},
    "longs": {"type": "array", "items": ["null", "long"]},
    "map_int": {"type": "map", "values": ["null", "int"]},
    "map_long": {"type": "map", "values": ["null", "long"]},
    "a_int": struct(("a", "int"), ("b", "string")),
    "a_long": struct(("a", "long"), ("b", "string")),
}
# What 1.1.1 answers for a column of the first type and rows of the others: the table's type stays, or the rows' wins.
# The latter only where it is requested, and where no value changes.
DECISIONS = """
int      stays: -                                   wins: long float double string
long     stays: int                                 wins: float double string
float    stays: int long                            wins: double string
double   stays: int long float                      wins: string
string   stays: int long float double bytes date d5_2 d6_2 d6_3 d10_2 d10_4 d12_4 b10_2  wins: -
bytes    stays: string                              wins: -
date     stays: string                              wins: -
d5_2     stays: int long float double string        wins: d6_2 d6_3
d6_2     stays: int long float double string d5_2   wins: -
d6_3     stays: int long float double string d5_2   wins: -
d10_2    stays: int long float double string d5_2 d6_2 b10_2  wins: -
d10_4    stays: int long float double string d5_2 d6_2 d6_3   wins: -
d12_4    stays: int long float double string d5_2 d6_2 d6_3 d10_2 d10_4 b10_2  wins: -
b10_2    stays: d5_2 d6_2 d10_2                     wins: -
ints     stays: -                                   wins: longs
longs    stays: ints                                wins: -
map_int  stays: -                                   wins: map_long
map_long stays: map_int                             wins: -
a_int    stays: -                                   wins: a_long
a_long   stays: a_int                               wins: -
"""


def decisions():
    found = {}
    for line in DECISIONS.strip().splitlines():
        name, rest = line.split(maxsplit=1)
        stays, wins = rest.removeprefix("stays:").split("wins:")
        found[name] = (set(stays.split()), set(wins.split()))
    return found


def record(kind: object, *, optional: bool = True):
    column = {"name": "c", "type": ["null", kind], "default": None} if optional else {"name": "c", "type": kind}
    fields = [{"name": "id", "type": "string"}, column]
    return {"type": "record", "name": "t_record", "namespace": "hoodie.t", "fields": fields}


NOTHING_FIXED = FixedFields()
LOSES = {"int": {"float"}, "long": {"float", "double"}}


@pytest.mark.parametrize("table", sorted(TYPES))
def test_types_meet_as_the_release_decides(table: str):
    """For every pair of types the column gets the one that 1.1.1 gives it, or the write is refused."""
    stays, wins = decisions().get(table, (set(), set()))
    lossless = wins - LOSES.get(table, set())
    for rows, kind in TYPES.items():
        incoming = arrow_schema(record(kind))
        if rows in stays | {table}:
            assert writer_schema(record(TYPES[table]), incoming, "t", resolve({})).avro == record(TYPES[table]), rows
            continue
        refused(record(TYPES[table]), incoming, resolve({}))
        if rows in lossless:
            assert writer_schema(record(TYPES[table]), incoming, "t", resolve(WIDEN)).avro == record(kind), rows
            refused(record(TYPES[table]), incoming, resolve(WIDEN), FixedFields(places=place_of(table)))
            refused(record(TYPES[table]), incoming, resolve(WIDEN), FixedFields(ordering=place_of(table)))
        else:
            refused(record(TYPES[table]), incoming, resolve(WIDEN))


def refused(table: dict[str, object], incoming: pa.Schema, options: Any, fixed: FixedFields = NOTHING_FIXED) -> None:
    with pytest.raises(HudiError, match=r"column 'c.*' is .* in the rows and .* in the table") as caught:
        writer_schema(table, incoming, "t", options, fixed)
    assert caught.value.reason == "SCHEMA_INCOMPATIBLE"
    assert caught.value.hint


def place_of(table: str) -> tuple[str]:
    """What of the column of a type changes: itself, or the part inside it."""
    inside = {"ints": "c.element", "map_int": "c.value", "a_int": "c.a"}
    return (inside.get(table, "c"),)


@pytest.mark.parametrize("rows", ["int", "long", "float", "double", "d5_2"])
def test_numbers_are_no_values_of_a_text_that_orders(rows: str):
    """As texts 9 follows 10; in any other column of text they are taken."""
    incoming = arrow_schema(record(TYPES[rows]))
    assert writer_schema(record("string"), incoming, "t", resolve({}), FixedFields(places=("c",))).avro == record(
        "string"
    )
    refused(record("string"), incoming, resolve(WIDEN), FixedFields(ordering=("c",)))
