"""Payload classes: tables of each class that has a meaning of its own, in each version."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from hudi_model.creation import version_9_properties
from hudi_model.files import Field, Schema
from hudi_model.merge_rules import PAYLOADS, PartialUpdate

from hudi_conformance.corpus.golden.layout import Layout, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import Row, fleet, rides, second

_BY_PAYLOAD = "00000000-0000-0000-0000-000000000000"
_SENTINEL = "__debezium_unavailable_value"
_PLAIN = (Field("id", "string"), Field("ts", "int64"), Field("name", "string"), Field("price", "string"))
_CHANGE = (
    Field("_change_operation_type", "string"),
    Field("_event_lsn", "int64"),
    Field("_event_seq", "string"),
    Field("_event_bin_file", "string"),
    Field("_event_pos", "int64"),
)


@dataclass(frozen=True, slots=True)
class _Kind:
    """A payload class with the columns its tables need, and the mutants that its snapshot kills."""

    payload: str
    columns: tuple[Field, ...]
    ordering: str
    clauses: str
    kills: str
    kills_9: str

    def layout(self, version: int) -> Layout:
        """A table of this class as the releases of the version leave it."""
        package = "org.apache.hudi.common.model." + ("debezium." if "Debezium" in self.payload else "")
        named = {"hoodie.compaction.payload.class": package + self.payload}
        custom = {"hoodie.record.merge.mode": "CUSTOM", "hoodie.record.merge.strategy.id": _BY_PAYLOAD}
        stated: dict[int, dict[str, str]] = {
            6: named,
            8: {**named, **custom},
            9: version_9_properties(self.payload, self.ordering),
        }
        return merge_on_read(
            version,
            ordering=(self.ordering,),
            schema=Schema(self.columns),
            partition_by=None,
            groups_per_partition=1,
            properties=stated[version],
        )


def _row(  # noqa: PLR0917 - a row in the order of its columns
    kind: _Kind, key: str, place: int | None, name: str | None, price: str | None, operation: str | None = None
) -> Row:
    """A row at a place of its source: as ordering value, as sequence number and as place in a file.

    Its body is its price in bytes, and like the name unavailable where that is.
    """
    body = _SENTINEL if name == _SENTINEL else price
    values: Row = {
        "id": key,
        "ts": place,
        "name": name,
        "price": price,
        "Op": operation,
        "_change_operation_type": operation,
        "_event_lsn": place,
        "_event_seq": None if place is None else f"001.{place}",
        "_event_bin_file": "bin.001",
        "_event_pos": place,
        "body": body and body.encode(),
    }
    return {field.name: values[field.name] for field in kind.columns if field.name in values}


def _write(table: GoldenTable, payload: str) -> None:
    kind = _KINDS[payload]

    def rows(
        *members: tuple[str, int, str | None, str | None] | tuple[str, int, str | None, str | None, str],
    ) -> list[Row]:
        return [_row(kind, *member) for member in members]

    def gone(place: int) -> tuple[str | int, ...] | int:
        ordering = table.layout.properties.get("hoodie.table.ordering.fields") or kind.ordering
        names = {"_event_seq": f"001.{place}", "_event_bin_file": "bin.001"}
        values = tuple(names.get(name, place) for name in ordering.split(","))
        return values if len(values) > 1 else values[0]  # type: ignore[return-value]

    first = [(key, 10, f"{key} first", None if key == "b" else "10") for key in "abcdefghij"]
    # What a first load brings has no place in the log of the source.
    loaded = [_row(kind, "l", None, "l loaded", "1")] if table.version <= 8 and kind.ordering != "ts" else []
    table.insert(second(1), rows(*first) + loaded)
    second_batch = rows(
        ("a", 20, None, "20"),
        ("b", 5, None, "5"),
        ("c", 20, _SENTINEL, "20"),
        ("g", 20, "g second", None),
    )
    if table.version <= 8:
        second_batch += rows(("h", 20, "h second", "20", "d"), ("i", 20, "i second", "20", "D"))
        second_batch += rows(("l", 5, "l second", "5")) if loaded else []
    table.upsert(second(2), second_batch, deletes={("", "d"): gone(20), ("", "e"): gone(5), ("", "j"): gone(20)})
    third = rows(
        ("c", 15, "c third", _SENTINEL),
        ("g", 15, None, "15"),
        ("e", 7, "e third", None),
        ("i", 15, "i third", None),
        ("j", 15, "j third", None),
        ("k", 30, "k third", None),
    )
    table.upsert(second(3), third)
    table.delete(second(4), "", "f")
    table.upsert(second(5), rows(("f", 5, None, "5"), ("k", 30, None, "tie")))
    _add_queries(table, kind)


_LISTED = (
    _Kind(
        "OverwriteNonDefaultsWithLatestAvroPayload",
        _PLAIN,
        "ts",
        "PL-003",
        "defaults-overwrite payload-by-event-time",
        "defaults-overwrite partial-update-mode-ignored",
    ),
    _Kind(
        "PartialUpdateAvroPayload",
        _PLAIN,
        "ts",
        "PL-004 PL-009",
        "defaults-overwrite late-partial-dropped payload-tombstones-compete payload-by-commit-time",
        "defaults-overwrite late-partial-dropped partial-update-mode-ignored",
    ),
    _Kind(
        "AWSDmsAvroPayload",
        (*_PLAIN, Field("Op", "string")),
        "ts",
        "PL-006",
        "payload-by-event-time payload-marker-ignored payload-marker-exact",
        "deletes-ignored mode-always-event-time",
    ),
    _Kind(
        "PostgresDebeziumAvroPayload",
        (*_PLAIN, *_CHANGE[:2], Field("body", "binary")),
        "_event_lsn",
        "PL-007 PL-009",
        "payload-by-commit-time payload-marker-ignored payload-marker-exact unavailable-leaks payload-late-fills",
        "unavailable-leaks late-partial-dropped",
    ),
    _Kind(
        "MySqlDebeziumAvroPayload",
        (*_PLAIN, _CHANGE[0], *_CHANGE[2:]),
        "_event_seq",
        "PL-008 PL-009",
        "sequence-as-text payload-by-commit-time payload-marker-ignored",
        "event-time-ignores-ordering first-ordering-field-only",
    ),
)


_FILLING = {PartialUpdate.IGNORE_DEFAULTS: "MG-023", PartialUpdate.FILL_UNAVAILABLE: "MG-024"}
_KINDS = {kind.payload: kind for kind in _LISTED}


def _add_queries(table: GoldenTable, kind: _Kind) -> None:
    version_9 = table.version > 8
    clauses, kills = kind.clauses, kind.kills
    if version_9:
        filling = _FILLING.get(PAYLOADS[kind.payload].partial_update, "")
        clauses, kills = f"{kind.clauses.split()[0]} PL-010 {filling}".strip(), kind.kills_9
    table.snapshot("snapshot", "rows merge as the payload class has it", f"{clauses} MG-018 MG-013", kills)
    table.snapshot(
        "meta-columns",
        "each row has the meta fields of its winner, or of what came late",
        f"{clauses} MF-001 MG-013",
        kills.split()[0],
        meta_columns=True,
    )
    table.snapshot(
        "names",
        "leaving out every column that decides changes no row",
        f"{clauses} RD-012 MG-013",
        kills.split()[0],
        columns=["name"],
    )
    half = 0 if table.version == 6 else 0.5
    # Its places before version 9 have two readings, and so has the range: an answer may depend on one of them.
    if version_9 or kind.payload != "MySqlDebeziumAvroPayload":
        table.incremental(
            second(1 + half),
            second(3 + half),
            "range",
            "what completes each other is answered whole, as of the end of the range",
            "IN-001 IN-004 MG-013",
            "range-begin-ignored",
        )
    mode = PAYLOADS[kind.payload].mode.value if version_9 else "CUSTOM"
    other = "mode-always-commit-time" if "EVENT" in mode or mode == "CUSTOM" else "mode-always-event-time"
    table.info("table-info", f"the merge mode is {mode}", "MG-001 MG-009" if table.version == 6 else "MG-012", other)


def _each_version(payload: str) -> Callable[[Callable[[GoldenTable], None]], Callable[[GoldenTable], None]]:
    """Register a recipe for tables of versions 6, 8 and 9."""
    word = payload.removesuffix("AvroPayload").lower().replace("debezium", "_debezium")
    titles = {version: f"{payload} in version {version}" for version in (6, 8, 9)}
    layout = _KINDS[payload].layout
    return golden(f"v9/mor_payload_{word}", titles[9], layout, ("payload",), also=(6, 8), titles=titles)


@_each_version("OverwriteNonDefaultsWithLatestAvroPayload")
def overwrite_non_defaults(table: GoldenTable) -> None:
    """Updates of some columns, late ones, tombstones on time and late, and rows written again."""
    _write(table, "OverwriteNonDefaultsWithLatestAvroPayload")


@_each_version("PartialUpdateAvroPayload")
def partial_update(table: GoldenTable) -> None:
    """Updates of some columns, late ones, tombstones on time and late, and rows written again."""
    _write(table, "PartialUpdateAvroPayload")


@_each_version("AWSDmsAvroPayload")
def aws_dms(table: GoldenTable) -> None:
    """Updates, tombstones, rows whose Op says D and one that says d, and rows written again."""
    _write(table, "AWSDmsAvroPayload")


@_each_version("PostgresDebeziumAvroPayload")
def postgres_debezium(table: GoldenTable) -> None:
    """Updates with the unavailable value, late ones, tombstones and rows that mark deletes, and rows written again."""
    _write(table, "PostgresDebeziumAvroPayload")


@_each_version("MySqlDebeziumAvroPayload")
def mysql_debezium(table: GoldenTable) -> None:
    """Updates at places of a binary log that numbers and texts order differently, deletes, and rows written again."""
    _write(table, "MySqlDebeziumAvroPayload")


@golden(
    "v9/mor_delete_marker",
    "The column that marks deletes in a table of version 9",
    _KINDS["PostgresDebeziumAvroPayload"].layout(9),
    ("payload",),
)
def delete_marker(table: GoldenTable) -> None:
    """Log records whose column holds the marker, on time and late, its other case, and null."""
    kind = _KINDS["PostgresDebeziumAvroPayload"]
    table.insert(second(1), [_row(kind, key, 10, f"{key} first", "10", "r") for key in "abcde"])
    marked = [("a", 20, "d"), ("b", 5, "d"), ("c", 20, "D"), ("d", 20, None)]
    table.upsert(second(2), [_row(kind, key, place, "second", "20", marker) for key, place, marker in marked])
    table.snapshot(
        "snapshot",
        "the exact marker deletes where it wins",
        "MG-008 PL-010",
        "payload-marker-any-case deleted-flag-ignored",
    )
    table.snapshot(
        "names",
        "so does one in a column that is not requested, whatever marker a reader names",
        "MG-008 PL-010 RD-012",
        "payload-marker-any-case",
        columns=["name", "id"],
        configs={"hoodie.payload.delete.marker": "r"},
    )


_FLAGGED = Field("_hoodie_is_deleted", "boolean")


def _flagged(payload: str) -> _Kind:
    kind = _KINDS[payload]
    return replace(kind, columns=(*kind.columns, _FLAGGED))


def _write_flagged(table: GoldenTable, payload: str) -> None:
    kind = _KINDS[payload]

    def at(place: int, name: str, operation: str = "u", *, gone: bool = False) -> Row:
        return {**_row(kind, name[0], place, name, "1", operation), _FLAGGED.name: gone}

    table.insert(second(1), [at(10, f"{key} first") for key in "abcdefgh"])
    on_time = [at(20, "a gone", gone=True), at(20, "b gone", "d"), at(20, "e gone", gone=True), at(20, "f gone", "d")]
    late = [at(5, "c gone", gone=True), at(5, "d gone", "d")]
    table.upsert(second(2), [*on_time, *late, at(20, "g second"), at(20, "h second")])
    table.upsert(second(3), [at(15, "e late"), at(15, "f late"), at(15, "g gone", gone=True), at(15, "h gone", "d")])
    table.snapshot(
        "snapshot",
        "a mark of either kind deletes where its place is the latest, and no newer row else",
        f"PL-009 {kind.clauses.split()[0]}",
        "flagged-captures-never-compete payload-marker-ignored deleted-flag-ignored",
        # Else Apache Hudi is not asked for the flag, and reads none (its finding payload-columns-not-read).
        meta_columns=True,
    )


@golden(
    "v8/mor_payload_postgres_flagged",
    "Both marks of deletes in a PostgreSQL change capture",
    _flagged("PostgresDebeziumAvroPayload").layout(8),
    ("payload",),
)
def postgres_flagged(table: GoldenTable) -> None:
    """Log records that bear the flag or the column's marker, on time and late, and late rows after them."""
    _write_flagged(table, "PostgresDebeziumAvroPayload")


@golden(
    "v6/mor_payload_mysql_flagged",
    "Both marks of deletes in a MySQL change capture",
    _flagged("MySqlDebeziumAvroPayload").layout(6),
    ("payload",),
)
def mysql_flagged(table: GoldenTable) -> None:
    """Log records that bear the flag or the column's marker, on time and late, and late rows after them."""
    _write_flagged(table, "MySqlDebeziumAvroPayload")


_EXAMPLE = {
    6: {"hoodie.compaction.payload.class": "org.apache.hudi.common.model.PartialUpdateAvroPayload"},
    9: version_9_properties("PartialUpdateAvroPayload", "ts"),
}


@golden(
    "v9/mor_partial_update_example",
    "The example of the text for PartialUpdateAvroPayload, in version 9",
    merge_on_read(9, schema=Schema(_PLAIN), partition_by=None, groups_per_partition=1, properties=_EXAMPLE[9]),
    ("payload",),
)
@golden(
    "v6/mor_partial_update_example",
    "The example of the text for PartialUpdateAvroPayload, in version 6",
    merge_on_read(6, schema=Schema(_PLAIN), partition_by=None, groups_per_partition=1, properties=_EXAMPLE[6]),
    ("payload",),
)
def example(table: GoldenTable) -> None:
    """A name with ordering value 2 is stored, a price with ordering value 1 arrives."""
    table.insert(second(1), [{"id": "1", "ts": 2, "name": "name_1", "price": None}])
    table.upsert(second(2), [{"id": "1", "ts": 1, "name": None, "price": "price_1"}])
    table.snapshot(
        "snapshot", "the stored row stands, with the price that came late", "PL-004 MG-025", "late-partial-dropped"
    )


@golden(
    "v8/mor_event_time_payload_custom",
    "EventTimeAvroPayload beside custom merging, as release 1.0 leaves it",
    merge_on_read(
        8,
        schema=Schema(_PLAIN),
        partition_by=None,
        groups_per_partition=1,
        properties={
            "hoodie.record.merge.mode": "CUSTOM",
            "hoodie.record.merge.strategy.id": _BY_PAYLOAD,
            "hoodie.compaction.payload.class": "org.apache.hudi.common.model.EventTimeAvroPayload",
        },
    ),
    ("payload",),
)
def event_time_custom(table: GoldenTable) -> None:
    """A late row, a late tombstone, and one that is on time."""
    table.insert(second(1), [{"id": key, "ts": 10, "name": key, "price": "10"} for key in "abc"])
    late: list[Row] = [{"id": "a", "ts": 5, "name": "late", "price": "5"}]
    table.upsert(second(2), late, deletes={("", "b"): 5, ("", "c"): 20})
    table.snapshot(
        "snapshot", "the class means event time", "PL-005", "event-time-ignores-ordering payload-by-commit-time"
    )


_EVENT_TIME_PAYLOAD = "org.apache.hudi.common.model.EventTimeAvroPayload"


@golden(
    "v9/mor_event_time_payload",
    "EventTimeAvroPayload, which version 9 gives up for event time",
    merge_on_read(9, properties={"hoodie.table.legacy.payload.class": _EVENT_TIME_PAYLOAD}),
    ("payload",),
)
def event_time_payload(table: GoldenTable) -> None:
    """A late ride and one that is on time."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), [*rides(5, ("r01",), rider="late"), *rides(20, ("r02",))])
    table.snapshot("snapshot", "the class means event time", "PL-005", "event-time-ignores-ordering")


_EXPRESSIONS = "org.apache.spark.sql.hudi.command.payload.ExpressionPayload"


@golden(
    "v8/bad_expression_payload",
    "A table that names the payload class of a statement",
    merge_on_read(
        8,
        properties={
            "hoodie.record.merge.mode": "CUSTOM",
            "hoodie.record.merge.strategy.id": _BY_PAYLOAD,
            "hoodie.compaction.payload.class": _EXPRESSIONS,
        },
    ),
    ("payload",),
    also=(9,),
)
@golden(
    "v6/bad_expression_payload",
    "A table that names the payload class of a statement",
    merge_on_read(6, properties={"hoodie.compaction.payload.class": _EXPRESSIONS}),
    ("payload",),
)
def bad_expression_payload(table: GoldenTable) -> None:
    """A class whose assignments no table holds."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01",)))
    table.snapshot("snapshot", "logs cannot be merged by it", "PL-011 MG-001", "unknown-merger-overwrites")
