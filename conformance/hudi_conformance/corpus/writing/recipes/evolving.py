"""Rows whose columns have other types than the table's."""

from dataclasses import replace
from typing import Final

from hudi_model.files import Field, Schema

from hudi_conformance.corpus.golden.rides import RIDES, Row, ride
from hudi_conformance.corpus.writing.recipes.compactions import DUE as COMPACTION_DUE
from hudi_conformance.corpus.writing.recipes.single_writes import COMPLETING, with_rides
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import MOR, PARQUET_LOGS, shapes
from hudi_conformance.corpus.writing.steps import WritingCase

_EVOLVING = {"hoodie.schema.on.read.enable": "true"}
_REFUSED = "SCHEMA_INCOMPATIBLE"
_SEATS = Schema(
    (
        *RIDES.fields,
        *(Field("seats", "int32"), Field("metres", "int64"), Field("share", "float32")),
    )
)


def _with(schema: Schema, name: str, kind: str) -> Schema:
    """A schema in which one column has another type."""
    return Schema(tuple(replace(one, type=kind) if one.name == name else one for one in schema.fields))


@writing("evolving/text_for_a_number_that_orders", shapes(), "DM-005", "columns-take-any-type")
def text_for_a_number_that_orders(case: WritingCase) -> None:
    """Texts are not taken for the numbers of an ordering field: as text 9 would beat 10.

    Given rides ordered by a number.
    When an upsert brings the number as text, without a word and with evolution requested.
    Then it is refused both times, and the table is as it was.
    """
    with_rides(case)
    late = [ride("r01", 9, rider="late", ratio=1.5)]
    texts = [{**row, "ts": str(row["ts"])} for row in late]
    case.write("upsert", texts, schema=_with(RIDES, "ts", "string"), reject=_REFUSED)
    case.write("upsert", texts, schema=_with(RIDES, "ts", "string"), configs=_EVOLVING, reject=_REFUSED)
    case.write("upsert", late)
    case.state()


@writing("evolving/number_for_a_text_that_orders", shapes(versions=(9,)), "DM-005", "numbers-become-texts")
def number_for_a_text_that_orders(case: WritingCase) -> None:
    """Numbers are not taken for the text of an ordering field.

    Given rides ordered by a text.
    When an upsert brings numbers.
    Then it is refused, and the table is as it was.
    """
    case.schema = _with(RIDES, "ts", "string")
    case.create()
    case.write("insert", [{**ride(key, 1), "ts": "10"} for key in ("r01", "r11", "año-15")])
    case.write("upsert", [ride("r01", 9)], schema=RIDES, reject=_REFUSED)
    case.state()


@writing(
    "evolving/widened_on_request",
    (*shapes(), *shapes((9,), (MOR,), configs=PARQUET_LOGS, label="parquet_logs")),
    "DM-005 DM-003 DM-004",
    "evolution-without-request evolution-is-ignored wider-types-lose-values",
)
def widened_on_request(case: WritingCase) -> None:
    """A column gets the wider type that rows bring where that is requested and no value changes.

    Given rides with columns of short integers, of long ones and of floats, one of them updated.
    When upserts bring longs and doubles in these, without requesting evolution and requesting it; then doubles for the
    floats beside a new column in the middle, all in another order.
    Then only what keeps every value is taken, where it is requested, what was there has the wider types, and columns
    keep their order and their values.
    """
    case.schema = _SEATS
    case.create()
    case.write("insert", [ride("r01", 1, seats=4, metres=2**53 + 1, share=0.1), ride("r11", 1, seats=None, metres=7)])
    first = case.write("upsert", [ride("r11", 2, seats=7, metres=None, share=-0.0)])
    wide = [ride("r01", 2, seats=2**40, metres=9, share=0.1), ride("r02", 2, seats=-1, metres=None)]
    longs = _with(_SEATS, "seats", "int64")
    case.write("upsert", wide, schema=longs, reject=_REFUSED)
    doubles = [ride("r01", 2, seats=4, metres=0.5)]
    case.write("upsert", doubles, schema=_with(_SEATS, "metres", "float64"), configs=_EVOLVING, reject=_REFUSED)
    case.snapshot()
    case.write("upsert", wide, schema=longs, configs=_EVOLVING)
    case.state()
    wider = _with(longs, "share", "float64").fields[::-1]
    mixed = Schema((*wider[:5], Field("gate", "string"), *wider[5:]))
    more = [ride("r11", 4, share=0.1, gate="é"), ride("r03", 4, seats=2**33, gate=None)]
    case.write("upsert", more, schema=mixed, configs=_EVOLVING)
    case.state()
    case.info()
    case.as_of(first)
    if case.is_mor:
        case.run("compaction", COMPACTION_DUE)
        case.snapshot()


_FILLING: Final = {"hoodie.write.set.null.for.missing.columns": "true"}


@writing(
    "evolving/left_out",
    (*shapes((6, 9)), *shapes((9,), properties=COMPLETING, label="completing")),
    "DM-005 DM-004",
    "left-out-columns-are-null",
)
def left_out(case: WritingCase) -> None:
    """A column that rows leave out is refused, unless nulls are requested in its place.

    Given rides of two cities, in some tables completed by what older versions hold where newer ones have nulls.
    When an insert, an upsert and an overwrite bring rides without riders and fares, whose other columns stand in
    another order, without a word and requesting nulls in their place; at last a new column comes beside the others.
    Then all are refused without a word; otherwise the rides have nulls there, their other values in place, the rides
    that nobody wrote keep theirs, and the table has its columns in their order. Where versions complete each other an
    update without columns leaves the values that were there.
    """
    first = with_rides(case)
    lacking = Schema(tuple(one for one in RIDES.fields[::-1] if one.name not in {"rider", "fare"}))
    for operation in ("insert", "upsert", "insert_overwrite"):
        case.write(operation, [ride("r01", 20), ride("r03", 20)], schema=lacking, reject=_REFUSED)
    case.write("insert", [ride("r03", 20), ride("r13", 20)], schema=lacking, configs=_FILLING)
    second = case.write("upsert", [ride("r01", 30), ride("r12", 30)], schema=lacking, configs=_FILLING)
    case.state()
    case.filtered(["rider", "is_null"])
    grown = Schema((*lacking.fields[:2], Field("gate", "string"), *lacking.fields[2:]))
    case.write("upsert", [ride("r11", 40, gate="é")], schema=grown, configs=_FILLING)
    if case.is_mor:
        case.run("compaction", COMPACTION_DUE)
    case.write("insert_overwrite", [ride("r02", 5, gate=None)], schema=grown, configs=_FILLING)
    case.state()
    case.info()
    case.past(first, second)


@writing("evolving/fixed_columns", shapes(versions=(6, 9)), "DM-005", "keys-are-widened")
def fixed_columns(case: WritingCase) -> None:
    """Columns of keys, partitions and ordering keep their types, whatever is requested.

    Given rides whose number, zone and ordering value are short integers.
    When upserts bring each of them as longs, with evolution requested.
    Then all are refused, and the table is as it was.
    """
    case.schema = Schema(
        (Field("number", "int32"), Field("zone", "int32"), Field("ts", "int32"), Field("rider", "string"))
    )
    case.create(record_key=["number"], partition_by=["zone"])
    case.write(
        "insert", [{"number": 1, "zone": 7, "ts": 5, "rider": "a"}, {"number": 2, "zone": 8, "ts": 5, "rider": "ñ"}]
    )
    changed: list[Row] = [{"number": 1, "zone": 7, "ts": 6, "rider": "b"}]
    for column in ("number", "zone", "ts"):
        case.write("upsert", changed, schema=_with(case.schema, column, "int64"), configs=_EVOLVING, reject=_REFUSED)
    case.state()


_INSIDE = Schema(
    (
        *RIDES.fields,
        Field("place", "struct<name:string,height:int32>"),
        Field("stops", "list<struct<at:int32,note:string>>"),
        Field("counts", "map<string,int32>"),
    )
)
_WIDER_INSIDE = Schema(
    (
        *RIDES.fields,
        Field("place", "struct<name:string,height:int64>"),
        Field("stops", "list<struct<at:int64,note:string>>"),
        Field("counts", "map<string,int64>"),
    )
)


def _inside(key: str, ts: int, number: int) -> Row:
    return ride(
        key,
        ts,
        place={"name": f"place {number}", "height": number},
        stops=[{"at": number, "note": None}, {"at": None, "note": "é"}],
        counts={"a": number, "": None},
    )


@writing(
    "evolving/inside_columns",
    (*shapes((6, 9)), *shapes((9,), (MOR,), configs=PARQUET_LOGS, label="parquet_logs")),
    "DM-005 DM-004",
    "columns-take-any-type",
)
def inside_columns(case: WritingCase) -> None:
    """Parts of structs, lists and maps take narrower values as columns do, and no others.

    Given rides with a struct, a list of structs and a map of longs, one of them updated.
    When upserts bring short integers in their place, and texts in the place of a part.
    Then the short ones become longs, and the texts are refused.
    """
    case.schema = _WIDER_INSIDE
    case.create()
    empty = ride("r02", 1, place=None, stops=[], counts={})
    case.write("insert", [_inside("r01", 1, 2**40), _inside("r11", 1, -7), empty])
    first = case.write("upsert", [_inside("r11", 2, 8), _inside("r12", 2, -1)], schema=_INSIDE)
    case.snapshot()
    texts = [ride("r01", 3, place={"name": "a", "height": "high"}, stops=None, counts=None)]
    place = "struct<name:string,height:string>"
    case.write("upsert", texts, schema=_with(_WIDER_INSIDE, "place", place), reject=_REFUSED)
    case.write("upsert", [_inside("r02", 3, 5)], schema=_INSIDE)
    case.state()
    case.as_of(first)
    if case.is_mor:
        case.run("compaction", COMPACTION_DUE)
        case.snapshot()
