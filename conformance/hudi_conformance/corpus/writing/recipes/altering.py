"""Columns that are added, renamed, dropped, moved and widened by an action of their own, and what follows it."""

from typing import Any, Final

from hudi_model.files import Field, Schema, Value

from hudi_conformance.corpus.golden.rides import RIDES, ride
from hudi_conformance.corpus.writing.recipes.archivals import COUNTING_VERSIONS
from hudi_conformance.corpus.writing.recipes.cleanings import ALL_LOOKED_AT, VERSIONS
from hudi_conformance.corpus.writing.recipes.clusterings import DUE as CLUSTERING_DUE
from hudi_conformance.corpus.writing.recipes.compactions import DUE as COMPACTION_DUE
from hudi_conformance.corpus.writing.recipes.kept_indexes import indexed
from hudi_conformance.corpus.writing.recipes.single_writes import with_rides
from hudi_conformance.corpus.writing.recipes.typed_tables import KEPT
from hudi_conformance.corpus.writing.recipes.versions import to_the_other_version
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import COW, MOR, shapes
from hudi_conformance.corpus.writing.steps import Done, WritingCase, only

_REFUSED: Final = "SCHEMA_INCOMPATIBLE"
_SHAPES: Final = shapes((6, 9))


def _altered(case: WritingCase, *changes: dict[str, Any], reject: str | None = None) -> Done:
    return case.service("alter_schema", changes=list(changes), reject=reject)


def _schema(*columns: tuple[str, str]) -> Schema:
    """Some columns of rides by their names, others by name and type, in this order."""
    return Schema(tuple(Field(name, kind) for name, kind in columns))


def _columns(**renamed: str) -> tuple[tuple[str, str], ...]:
    return tuple((renamed.get(one.name, one.name), one.type) for one in RIDES.fields)


@writing("altering/added", _SHAPES, "DM-020 DM-021 DM-003 DM-004", "alterations-are-passed-over")
def added(case: WritingCase) -> None:
    """A column is added in the middle, then one at the end, and rows bring both.

    Given rides of two cities, some updated.
    When a column is added after the key and another last, and an update brings both.
    Then rows that nobody wrote since have nulls there, the columns stand where they were put, and what was before is as
    it was.
    """
    first = with_rides(case)
    gate = {"change": "add", "column": "gate", "type": "string", "after": RIDES.fields[0].name}
    change = _altered(case, gate, {"change": "add", "column": "seats", "type": "int"})
    case.state()
    case.info()
    names = _columns()
    grown = _schema(names[0], ("gate", "string"), *names[1:], ("seats", "int32"))
    written = case.write("upsert", [ride("r01", 30, gate="é", seats=4), ride("r03", 30)], schema=grown)
    case.state()
    case.filtered(["gate", "is_null"])
    case.past(first, change, written)


@writing("altering/renamed", _SHAPES, "DM-020 DM-021 DM-004", "columns-by-name renamed-columns-are-new")
def renamed(case: WritingCase) -> None:
    """A column has another name, and its values under it, wherever they lie.

    Given rides of two cities, some updated.
    When the rider's column is renamed and an update brings the new name; then logs are compacted, files clustered, the
    latter by a plan that is carried out when the column has been renamed once more.
    Then every row has its rider under the new name, also between two services; as of a time before, that of the plan
    too, and in a range that ends before, under the name of that time; and still when all but the last writes have been
    archived, and the table has gone to another version.
    """
    first = with_rides(case)
    change = _altered(case, {"change": "rename", "column": "rider", "to": "guest"})
    case.state()
    case.filtered(["guest", "is_not_null"])
    named = _schema(*_columns(rider="guest"))
    written = case.write("upsert", [ride("r01", 30, guest="new"), ride("r04", 30, guest=None)], schema=named)
    case.snapshot()
    if case.is_mor:
        case.run("compaction", COMPACTION_DUE)
        case.snapshot()
    planned = case.schedule("clustering", CLUSTERING_DUE)
    _altered(case, {"change": "rename", "column": "guest", "to": "driver"})
    case.execute(planned, CLUSTERING_DUE)
    case.state()
    case.past(first, change, written)
    case.as_of(planned)
    case.run("clean", {**VERSIONS, **ALL_LOOKED_AT})
    newest = _schema(*_columns(rider="driver"))
    for ts in (60, 70, 80):
        case.write("upsert", [ride("r01", ts, driver="newest")], schema=newest)
    case.service("archive", COUNTING_VERSIONS)
    case.timeline()
    to_the_other_version(case)
    case.snapshot()


_FEEDS: Final = shapes((6, 9), (COW,), properties={"hoodie.table.cdc.enabled": "true"}, label="feed")


@writing("altering/dropped_and_added", (*_SHAPES, *_FEEDS), "DM-020 DM-021 CD-002", "columns-by-name")
def dropped_and_added(case: WritingCase) -> None:
    """A column that is dropped and added again shows none of its old values.

    Given rides of two cities, some updated.
    When the riders' column is dropped, an update comes without it, and a column of the same name is added; in the end
    another column, which an update filled beside that one, gets the name when that one has been dropped.
    Then riders are null but where they were written since; as of a time before they are as they were. Rows, and the
    images of a change feed, have in each column what was written to it, not to others of its name.
    """
    feed = bool(case.shape.label)
    if feed:
        case.schema = only(RIDES, ("id", "city", "ts", "rider", "paid", "ratio"))
    left = tuple((one.name, one.type) for one in case.schema.fields if one.name != "rider")
    first = with_rides(case)
    if feed:
        case.write("upsert", [ride("r01", 20, rider="logged"), ride("r11", 20, rider="logged")])
    _altered(case, {"change": "drop", "column": "rider"})
    case.snapshot()
    case.write("upsert", [ride("r01", 30)], schema=_schema(*left))
    case.state()
    _altered(case, {"change": "add", "column": "rider", "type": "string"})
    case.snapshot()
    written = case.write("upsert", [ride("r11", 40, rider="new")], schema=_schema(*left, ("rider", "string")))
    case.state()
    case.filtered(["rider", "=", "new"])
    case.past(first, written)
    if feed:
        case.changes(None)
    _altered(case, {"change": "add", "column": "guest", "type": "string"})
    both = _schema(*left, ("rider", "string"), ("guest", "string"))
    case.write("upsert", [ride("r01", 50, rider="old", guest="é")], schema=both)
    _altered(case, {"change": "drop", "column": "rider"})
    _altered(case, {"change": "rename", "column": "guest", "to": "rider"})
    case.snapshot()
    if feed:
        case.changes(None)


_NUMBERS: Final = ("seats", "int32"), ("share", "float32"), ("number", "string")
_MORE: Final = ("grams", "float64"), ("tons", "float32"), ("since", "string"), ("metres", "int64")
_SEATS: Final = _schema(*_columns(), *_NUMBERS, *_MORE)
# Java writes no exponent from a thousandth to below ten millions, and two digits at least.
_GRAMS: Final = (9999999.0, 1e7, 0.001, 0.0009, -123456.75, 1.5e300, -1e-10, 5e-324, -0.0, None)
_TONS: Final = (1e7, 9999999.0, 0.0009, 0.001, 0.1, -3e38, 2.0**-149, 1e-40, None, 0.0)


@writing("altering/retyped", _SHAPES, "DM-020 DM-021 DM-004", "any-type-is-given no-wider-type-is-given")
def retyped(case: WritingCase) -> None:
    """A column gets a type that holds its values, and no narrower one.

    Given rides with short integers, longs, floats and texts, some of them updated; among the longs is one that no
    double is, among the floats the greatest and least that have no exponent as text, and the least of all; among the
    texts days whose months have one digit.
    When these become longs, doubles, texts, decimals and days, one of them under another name, decimals get more
    digits, and updates bring what only those hold; then a long is to be short.
    Then what was there has the types and names of now, as Java converts it, and the last change is refused.
    """
    case.schema = _SEATS
    case.create()
    weights = enumerate(zip(_GRAMS, _TONS, strict=True))
    weighed = [ride(f"r2{place}", 1, grams=grams, tons=tons, share=tons) for place, (grams, tons) in weights]
    rides = [
        ride("r01", 1, seats=4, share=0.1, number="1.25", since="2024-2-8", metres=2**53 + 1),
        ride("r02", 1, number="2.345", since="2024-12-1", metres=2**53 + 1),
        ride("r03", 1, number="-0.005"),
        ride("r11", 1, seats=None, number="7", since="2024-02-28", metres=-7),
    ]
    case.write("insert", [*rides, *weighed])
    again = [{**row, "ts": 2} for row in weighed[::2]]
    first = case.write("upsert", [ride("r11", 2, seats=7, share=-0.0, number="2.5", since="2023-1-31"), *again])
    wider = {"seats": "long", "share": "double", "number": "decimal(9, 2)", "grams": "string", "tons": "string"}
    wider |= {"since": "date", "fare": "decimal(20, 4)", "metres": "double"}
    retypings = ({"change": "type", "column": name, "type": kind} for name, kind in wider.items())
    change = _altered(case, *retypings, {"change": "rename", "column": "share", "to": "part"})
    case.state()
    case.info()
    _altered(case, {"change": "type", "column": "seats", "type": "int"}, reject=_REFUSED)
    numbers = ("seats", "int64"), ("part", "float64"), ("number", "decimal(9,2)")
    others = ("grams", "string"), ("tons", "string"), ("since", "date"), ("metres", "float64")
    columns = ((name, "decimal(20,4)" if name == "fare" else kind) for name, kind in _columns())
    types = _schema(*columns, *numbers, *others)
    case.write("upsert", [ride("r01", 3, seats=2**40, part=0.25, number=None, grams="light", metres=0.5)], schema=types)
    if case.is_mor:
        case.run("compaction", COMPACTION_DUE)
    case.state()
    case.past(first, change)


_STOPS: Final = ("stops", "list<struct<at:int32,share:float32>>")
_LEGS: Final = ("legs", "list<struct<at:int32>>")
_GATES: Final = ("gates", "map<string,struct<at:int32>>")
_PLACE: Final = _schema(*_columns(), ("place", "struct<name:string,height:int32>"), _STOPS, _LEGS, _GATES)


@writing("altering/inside_columns", _SHAPES, "DM-020 DM-021", "columns-by-name")
def inside_columns(case: WritingCase) -> None:
    """Parts of a struct, and of the structs of a list and of a map, are added, renamed and widened.

    Given rides with a struct, lists of structs and a map of structs, one of them updated.
    When a part of the struct is renamed and another gets its name, one is added before them, parts of one list become
    long and double, one of them under another name, one is added there, a part of the map's values gets another name,
    and all are updated.
    Then what was there is found in its parts.
    """
    case.schema = _PLACE
    case.create()
    others = [ride("r11", 1, place=None, stops=[]), ride("r02", 1, gates={}), ride("r03", 1)]
    case.write("insert", [_at("r01", 1), *others])
    first = case.write("upsert", [_at("r11", 2)])
    change = _altered(
        case,
        {"change": "rename", "column": "place.name", "to": "title"},
        {"change": "rename", "column": "place.height", "to": "name"},
        {"change": "add", "column": "place.floor", "type": "int", "first": True},
        {"change": "type", "column": "stops.element.at", "type": "long"},
        {"change": "rename", "column": "stops.element.at", "to": "minute"},
        {"change": "type", "column": "stops.element.share", "type": "double"},
        {"change": "add", "column": "stops.element.note", "type": "string"},
        {"change": "rename", "column": "gates.value.at", "to": "minute"},
    )
    case.state()
    _altered(case, {"change": "drop", "column": "stops.element"}, reject=_REFUSED)
    place = "struct<floor:int32,title:string,name:int32>"
    stops = "list<struct<minute:int64,share:float64,note:string>>"
    gates = ("gates", "map<string,struct<minute:int32>>")
    inner = _schema(*_columns(), ("place", place), ("stops", stops), _LEGS, gates)
    now: Value = [{"minute": 2**40, "share": 0.1, "note": "é"}]
    place_now: Value = {"floor": -1, "title": "ñ", "name": None}
    rows = [ride("r01", 3, place=place_now, stops=now, legs=[{"at": 3}], gates={"é": {"minute": 3}})]
    case.write("upsert", rows, schema=inner)
    if case.is_mor:
        case.run("compaction", COMPACTION_DUE)
    case.state()
    case.past(first, change)


def _at(key: str, ts: int) -> dict[str, Any]:
    return ride(
        key,
        ts,
        place={"name": f"place {ts}", "height": ts},
        stops=[{"at": ts, "share": 0.1}, {"at": None, "share": None}],
        legs=[{"at": ts}],
        gates={"": {"at": ts}, "b": None},
    )


_ORDERED_INSIDE: Final = shapes((9,), (COW,), ordering=("place.height",), label="ordered_inside")


@writing("altering/refused", (*_SHAPES, *_ORDERED_INSIDE), "DM-021 DM-005", "needed-columns-go")
def refused(case: WritingCase) -> None:
    """What keys, partitions and order are made of stays, no two columns have one name, and none unknown is changed.

    Given rides of two cities; or rides that are ordered by a part of a struct.
    When the key, the partition and the ordering field are to be dropped or renamed or become text, a column is added or
    renamed to the name of another, and one that is not there is to be renamed; or the struct and its part are.
    Then all are refused, and the table is as it was.
    """
    if case.shape.label:
        case.schema = _PLACE
        case.create()
        case.write("insert", [_at("r01", 10), _at("r11", 10)])
        for name in ("place", "place.height"):
            _altered(case, {"change": "drop", "column": name}, reject=_REFUSED)
            _altered(case, {"change": "rename", "column": name, "to": "other"}, reject=_REFUSED)
        case.write("upsert", [_at("r01", 5), _at("r11", 20)])
        case.state()
        return
    with_rides(case)
    for name in ("id", "city", "ts"):
        _altered(case, {"change": "drop", "column": name}, reject=_REFUSED)
        _altered(case, {"change": "rename", "column": name, "to": "other"}, reject=_REFUSED)
    _altered(case, {"change": "type", "column": "ts", "type": "string"}, reject=_REFUSED)
    _altered(case, {"change": "add", "column": "Rider", "type": "string"}, reject=_REFUSED)
    _altered(case, {"change": "rename", "column": "rider", "to": "fare"}, reject=_REFUSED)
    _altered(case, {"change": "rename", "column": "guest", "to": "other"}, reject=_REFUSED)
    case.state()


@writing("altering/moved", _SHAPES, "DM-020 DM-021", "places-are-ignored")
def moved(case: WritingCase) -> None:
    """Columns stand elsewhere, and have their values there.

    Given rides of two cities, some updated.
    When a column is moved to the front, one before another, none after one that is not there, and an update comes in
    the old order.
    Then the table has its columns in the new order, and every value in its column.
    """
    first = with_rides(case)
    moves = ({"change": "move", "column": "fare", "first": True}, {"change": "move", "column": "rider", "before": "ts"})
    _altered(case, {"change": "move", "column": "fare", "after": "guest"}, reject=_REFUSED)
    _altered(case, *moves)
    case.info()
    case.state()
    case.write("upsert", [ride("r01", 30, rider="late", fare=None)])
    case.info()
    case.state()
    case.as_of(first)


@writing("altering/undone", _SHAPES, "DM-020 DM-021 SR-004", "ids-end-with-the-next-write")
def undone(case: WritingCase) -> None:
    """A restore to before an alteration brings the names of then back.

    Given rides with a savepoint.
    When a column is renamed, an update brings the new name, and the table is restored.
    Then the column has its old name and values, and an update and another alteration go on from there; in version 9
    also when the version has changed: by the old name another column comes, and has values of its own.
    """
    with_rides(case)
    saved = case.service("savepoint")
    _altered(case, {"change": "rename", "column": "rider", "to": "guest"})
    case.write("upsert", [ride("r01", 30, guest="new")], schema=_schema(*_columns(rider="guest")))
    case.snapshot()
    case.service("restore", to=saved.requested)
    case.info()
    case.state()
    case.write("upsert", [ride("r11", 40, rider="old name")])
    _altered(case, {"change": "rename", "column": "rider", "to": "driver"})
    case.state()
    if case.shape.version == 9:
        case.shows("VR-006", "version-stays")
        to_the_other_version(case)
        case.snapshot()
        _altered(case, {"change": "add", "column": "rider", "type": "string"})
        both = _schema(*_columns(rider="driver"), ("rider", "string"))
        case.write("upsert", [ride("r01", 50, driver="é", rider="new")], schema=both)
        case.snapshot()
        case.info()


@writing("altering/pending_compaction", shapes((6, 9), (MOR,)), "DM-020 DM-021 CP-004", "columns-by-name")
def pending_compaction(case: WritingCase) -> None:
    """A compaction that was planned before an alteration and is carried out after it loses no value.

    Given rides of which one was updated, with a planned compaction.
    When a column is renamed, an update brings the new name, and the plan is carried out.
    Then every row has its rider under the new name before and after.
    """
    with_rides(case)
    case.write("upsert", [ride("r11", 20, rider="before")])
    plan = case.schedule("compaction", COMPACTION_DUE)
    _altered(case, {"change": "rename", "column": "rider", "to": "guest"})
    case.write("upsert", [ride("r01", 30, guest="new")], schema=_schema(*_columns(rider="guest")))
    case.snapshot()
    case.execute(plan, COMPACTION_DUE)
    case.state()


@writing("altering/indexed", shapes((9,), configs=KEPT), "DM-021 IX-001", "indexed-columns-go")
def indexed_columns(case: WritingCase) -> None:
    """A column that an index is of keeps its name, and for a secondary index its type, until the index is dropped.

    Given rides with a secondary index and an expression index of their riders.
    When the riders' column is to be dropped, renamed and retyped; then the secondary index is dropped, the column is to
    be renamed again; then the other index is dropped, too, and the column renamed.
    Then all but the last are refused, and a column of no index is renamed at once.
    """
    indexed(case)
    renamed_rider = {"change": "rename", "column": "rider", "to": "guest"}
    _altered(case, {"change": "drop", "column": "rider"}, reject=_REFUSED)
    _altered(case, renamed_rider, reject=_REFUSED)
    _altered(case, {"change": "type", "column": "rider", "type": "binary"}, reject=_REFUSED)
    _altered(case, {"change": "rename", "column": "ratio", "to": "share"})
    case.service("drop_index", index="rider")
    _altered(case, renamed_rider, reject=_REFUSED)
    case.service("drop_index", index="low")
    _altered(case, renamed_rider)
    case.info()
    case.state()
