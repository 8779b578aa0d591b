"""Rows that an upsert brings marked as deleted: they compete by their ordering values, also by zero of any type."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from hudi_model.files import Field, Schema, Value
from hudi_model.merging import GREATER_OF_TWO

from hudi_conformance.corpus.golden.rides import RIDES, Row, ride
from hudi_conformance.corpus.table_shapes import TableShape
from hudi_conformance.corpus.writing.recipes.log_compactions import DUE
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import ALONE, AND_DRAFT, COW, MOR, NON_BLOCKING, shapes
from hudi_conformance.corpus.writing.steps import WritingCase, only

_MARK: Final = "_hoodie_is_deleted"
_MARKED: Final = Schema((*RIDES.fields, Field(_MARK, "boolean")))
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
_LOW: Final[Mapping[str, Value]] = {"ts": 0, "rider": "", "fare": Decimal("0.00"), "seen": _EPOCH, "ratio": 0.0}
_HIGH: Final[Mapping[str, Value]] = {
    "ts": 5,
    "rider": "e",
    "fare": Decimal("5.00"),
    "seen": _EPOCH + dt.timedelta(microseconds=5),
    "ratio": 5.0,
}
_GREATER: Final = {
    "hoodie.record.merge.strategy.id": GREATER_OF_TWO.strategy,
    "hoodie.record.merge.property.hudi.conformance.columns": "ratio",
}
"""A merger by a column that is no ordering field: a delete has no value of it, and loses."""
_KILLS: Final = "marked-rows-lose-their-ordering"
_ZERO: Final = "zeroes-of-deletes-are-none"
_COMPACTED: Final = "log_compacted"
_UNCOMBINED: Final = "uncombined"
_ALONE_UNCOMBINED: Final = {**ALONE, "hoodie.combine.before.upsert": "false"}
"""A writer whose rows keep their ordering values though it does not combine them."""


def _row(key: str, ordering: Mapping[str, Value], paid: bool | None, mark: bool | None = None) -> dict[str, Value]:
    return {**ride(key, 0), **ordering, "paid": paid, _MARK: mark}


def marked_and_again(case: WritingCase) -> None:
    """Rows marked as deleted compete by their ordering values.

    Given rides, some of them with the least ordering value of its type.
    When an upsert marks some as deleted, in time and late, and the next brings two of them again, in time and late; in
    some tables a log compaction rewrites the marks before, and where writers do not combine their rows another late row
    follows.
    Then those that were deleted late and brought again in time stand, and the others that were deleted are gone; where
    a merger compares a column that is no ordering field, none is, nor among the rows of one write.
    """
    case.schema = _MARKED
    case.create()
    both = (("r01", _HIGH), ("r02", _LOW), ("r03", _HIGH), ("r04", _LOW), ("r11", _HIGH))
    case.write("insert", [_row(key, ordering, True) for key, ordering in both])
    gone = (("r01", _HIGH), ("r03", _LOW), ("r04", _LOW), ("r11", _HIGH))
    case.write("upsert", [_row(key, ordering, None, True) for key, ordering in gone])
    case.snapshot()
    if case.shape.label == _COMPACTED:
        case.write("upsert", [_row("r02", _HIGH, None, True)])
        case.run("logcompaction", DUE)
    case.write("upsert", [_row(key, _LOW, False) for key in ("r04", "r11")])
    case.snapshot()
    if case.shape.label == _UNCOMBINED:
        case.write("upsert", [_row("r03", _LOW, False), _row("r04", _HIGH, True)])
        case.snapshot()
    case.shows_draft("NL-004 NL-005", "native-deletes-without-ordering")
    if case.shape.properties == _GREATER:
        late = [_row("r05", _HIGH, None, True), _row("r05", _LOW, True)]
        case.write("upsert", [*late, _row("r02", _HIGH, True), _row("r02", _HIGH, None, True)])
        case.write("delete", [_row("r03", _HIGH, True)])
        case.snapshot()


writing(
    "deletes/marked_rows",
    (*shapes((6, 8, 9), (COW,)), *shapes((6, 9), (COW,), _ALONE_UNCOMBINED, label=_UNCOMBINED)),
    "OW-013 MG-006 MG-008 MG-018",
    "deleted-flag-ignored late-deletes-win-in-base-files",
)(marked_and_again)
for _field, _kills in {
    "ts": f"{_KILLS} {_ZERO}",
    "rider": _KILLS,
    "fare": _KILLS,
    "seen": _KILLS,
    "ratio": _KILLS,
}.items():
    _of_one = (
        *shapes(versions=AND_DRAFT if _field == "ts" else (6, 9), types=(MOR,), ordering=(_field,)),
        *shapes(versions=(9,), types=(MOR,), ordering=(_field,), label=_COMPACTED),
        *(shapes((6, 9), (MOR,), _ALONE_UNCOMBINED, label=_UNCOMBINED) if _field == "ts" else ()),
    )
    writing(f"deletes/marked_rows_by_{_field}", _of_one, "LF-017 OW-013 MG-006", _kills)(marked_and_again)
writing(
    "deletes/marked_rows_by_two_fields",
    shapes(versions=(8, 9), types=(MOR,), ordering=("ts", "rider")),
    "LF-017 OW-013 MG-006 MG-007",
    _KILLS,
)(marked_and_again)
writing(
    "deletes/marked_rows",
    shapes(versions=(8, 9), types=(COW, MOR), merge_mode=None, properties=_GREATER, label="greater_ratio"),
    "RM-008 RM-011 OW-013 MG-018",
    "tombstones-compete-by-position",
)(marked_and_again)


_BUCKET: Final = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "1"}


@writing(
    "deletes/marked_in_new_buckets",
    (
        *shapes(versions=(6, 8, 9), types=(MOR,)),
        *shapes(versions=(8, 9), types=(MOR,), configs=NON_BLOCKING, label="shared"),
    ),
    "OW-013 OW-016 MG-008",
    "deleted-flag-ignored",
)
def marked_in_new_buckets(case: WritingCase) -> None:
    """A row marked as deleted whose key is not there, in a bucket that is not there either, leaves nothing behind.

    Given a table whose keys go to buckets, without rows.
    When an upsert brings a ride and marks others as deleted, one of them alone in its city, and the next brings those
    again with lesser ordering values; where writers do not block, the second begins before the first is there, and a
    delete of a ride of another new bucket comes before one that brings it.
    Then all of them stand; where writers do not block, the marks beat the lesser rows, and the delete leaves nothing.
    """
    case.schema = _MARKED
    case.create()
    marks = [_row(key, _HIGH, None, True) for key in ("r02", "r11")]
    marked = [_row("r01", _HIGH, True), *marks]
    again = [_row(key, _LOW, False) for key in ("r02", "r11")]
    if case.shape.label:
        for txn, rows in (("marks", marked), ("rides", again)):
            case.begin(txn, "upsert", rows, configs=_BUCKET)
            case.stage(txn)
        case.commit("rides")
        case.commit("marks")
        case.write("delete", [_row("a@rome", _HIGH, None)], configs=_BUCKET)
        case.write("upsert", [_row("a@rome", _LOW, False)], configs=_BUCKET)
        case.state()
    else:
        case.write("upsert", marked, configs=_BUCKET)
        case.snapshot()
        case.write("upsert", again, configs=_BUCKET)
    case.snapshot()


@writing(
    "deletes/partial_beside_marks",
    shapes(versions=(8, 9), configs={**ALONE, "hoodie.write.record.positions": "true"}),
    "OW-025 OW-013 LF-017",
    "partial-columns-by-place",
)
def partial_beside_marks(case: WritingCase) -> None:
    """A partial update need not bring the column that marks deletes.

    Given rides with that column, and logs with positions where there are logs.
    When some columns of two rides are changed, an upsert marks one of these as deleted, and another is changed.
    Then the changed columns are new, the others as they were, and the marked ride is gone.
    """
    case.schema = _MARKED
    case.create()
    case.write("insert", [_row(key, _HIGH, True, mark=False) for key in ("r01", "r02", "r03")])
    few = only(_MARKED, ("id", "city", "ts", "ratio"))
    case.write("partial_update", [ride("r01", 20, ratio=0.5), ride("r02", 20, ratio=0.25)], schema=few)
    case.snapshot()
    case.write("upsert", [{**ride("r02", 30), _MARK: True}])
    case.write("partial_update", [ride("r03", 30, ratio=0.75)], schema=few)
    case.snapshot()


_CAPTURED: Final = Schema(
    (
        *_MARKED.fields,
        Field("_event_lsn", "int64"),
        Field("_change_operation_type", "string"),
        Field("photo", "binary"),
    ),
)
_UNAVAILABLE: Final = "__debezium_unavailable_value"
_POSTGRES: Final = {
    "hoodie.compaction.payload.class": "org.apache.hudi.common.model.debezium.PostgresDebeziumAvroPayload"
}


def _captures(*versions: int, kind: str) -> tuple[TableShape, ...]:
    return shapes(versions, (kind,), ordering=("_event_lsn",), merge_mode=None, properties=_POSTGRES)


def _change(key: str, place: int, kind: str = "u", *, mark: bool = False) -> dict[str, Value]:
    photo = f"photo of {key}".encode()
    return {
        **ride(key, place),
        _MARK: mark,
        "_event_lsn": place,
        "_change_operation_type": kind,
        "photo": photo,
    }


def marked_captures(case: WritingCase) -> None:
    """A change capture that marks a delete late, by the flag or by the column, meets a newer row.

    Given rides of a PostgreSQL change capture.
    When an upsert brings deletes of both kinds, in time and late, and a late delete by key; in a table
    of version 9 one more brings rides whose riders and photos are unavailable.
    Then a copy-on-write table and one made in version 9 keep the rows whose marks came late, a merge-on-read table of
    version 8 logs those marks as tombstones, which remove the rows, and the delete by key removes its row; the rides
    keep their riders and photos.
    """
    case.schema = _CAPTURED
    case.create()
    case.write("insert", [_change(key, 10) for key in ("r01", "r02", "r03", "r04", "r11", "año-15")])
    marks = [("r01", 20, "u", True), ("r02", 20, "d", False), ("r03", 5, "u", True), ("r04", 5, "d", False)]
    case.write("upsert", [_change(key, place, kind, mark=mark) for key, place, kind, mark in marks])
    case.write("delete", [_change("r11", 5)])
    if case.shape.version > 8:
        lacks: dict[str, Value] = {"rider": _UNAVAILABLE, "photo": _UNAVAILABLE.encode()}
        case.write("upsert", [*({**_change(key, 20), **lacks} for key in ("r03", "año-15")), _change("new", 20)])
    case.snapshot()


writing("deletes/marked_captures", _captures(8, kind=COW), "PL-009 PL-007 OW-013", "flagged-captures-never-compete")(
    marked_captures
)
writing(
    "deletes/marked_captures",
    shapes((9,), ordering=("_event_lsn",), merge_mode=None, properties=_POSTGRES, label="created"),
    "PL-010 MG-008 OW-013",
    "tagging-sees-nothing",
)(marked_captures)
writing("deletes/marked_captures_logged", _captures(8, kind=MOR), "PL-009 OW-013", "payload-tombstones-compete")(
    marked_captures
)


_MIGRATED: Final = Schema((*RIDES.fields, Field("Op", "string")))
_AWS: Final = {"hoodie.compaction.payload.class": "org.apache.hudi.common.model.AWSDmsAvroPayload"}
_FEED: Final = {"hoodie.table.cdc.enabled": "true"}


def marked_in_a_batch(case: WritingCase) -> None:
    """A delete competes with the rows of its own write.

    Given rides of a migration by AWS, whose column `Op` marks deletes.
    When one upsert brings inserts, updates and deletes of the same keys, known and new ones, the delete last of all.
    Then those keys are gone, and the rows that come alone stand; a change feed has what changed for readers.
    """
    case.schema = _MIGRATED
    case.create()
    case.write("insert", [{**ride(key, 10), "Op": "I"} for key in ("r01", "r02", "r11")])
    deleted = (("r01", 20, "U"), ("r01", 21, "D"), ("r03", 20, "I"), ("r03", 21, "D"))
    # A change log is there for the update beside it, whether it has the delete or not.
    batch = (*deleted, ("r12", 20, "I"), ("r11", 20, "U"), ("r02", 20, "U"))
    case.write("upsert", [{**ride(key, ts), "Op": op} for key, ts, op in batch])
    case.snapshot()
    case.write("upsert", [{**ride(key, 30), "Op": "I"} for key in ("r03", "r01")])
    case.snapshot()
    if case.shape.label:
        case.changes(None)


writing(
    "deletes/marked_in_a_batch",
    (
        *shapes((6, 8), (COW,), merge_mode=None, properties=_AWS),
        *shapes((6, 9), (MOR,), merge_mode=None, properties=_AWS),
        *shapes((8,), (COW,), merge_mode=None, properties={**_AWS, **_FEED}, label="feed"),
        *shapes((9,), (MOR,), merge_mode=None, properties={**_AWS, **_FEED}, label="feed"),
    ),
    "PL-006 OW-019 MG-017",
    "deletes-lose-within-a-batch",
)(marked_in_a_batch)


def again_in_a_batch(case: WritingCase) -> None:
    """A row that follows a delete of its key in the same write is completed from nothing.

    Given rides of a table whose null values mean "as it was", and a column that marks rows as deleted.
    When one upsert brings a delete and then a row of its key, a row and then its delete, for a known and a new key.
    Then the rows that follow stand as they came, without the mark or a value of the delete, a known one completed from
    the row that was there; the rows that deletes follow are gone.
    """
    case.schema = _MARKED
    case.create()
    case.write("insert", [_row(key, {"ts": 10, "ratio": 1.0}, True) for key in ("r01", "r02", "r11")])
    gone: Row = {"ts": 20, "rider": "deleted", "ratio": 9.0}
    back: Row = {"ts": 21, "rider": "back", "ratio": None}
    batch = [_row(key, gone, None, True) for key in ("r01", "r03")] + [_row(key, back, None) for key in ("r01", "r03")]
    last: Row = {"ts": 22, "rider": "deleted"}
    batch += [row for key in ("r02", "r04") for row in (_row(key, back, True), _row(key, last, None, True))]
    case.write("upsert", batch)
    case.snapshot()


for _payload in ("PartialUpdateAvroPayload", "OverwriteNonDefaultsWithLatestAvroPayload"):
    _properties = {"hoodie.compaction.payload.class": f"org.apache.hudi.common.model.{_payload}"}
    writing(
        f"deletes/again_in_a_batch_of_{_payload.partition('Avro')[0].lower()}",
        shapes((9,), (COW, MOR), merge_mode=None, properties=_properties),
        "OW-019 MG-023 MG-025 MG-017",
        "deletes-complete-rows",
    )(again_in_a_batch)
