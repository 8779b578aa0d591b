"""Partial updates: log blocks that hold some of the columns."""

from collections.abc import Iterable
from decimal import Decimal

from hudi_model.files import Block, DataBlock, Schema
from hudi_model.time import InstantTime

from hudi_conformance.corpus.golden.groups import Group
from hudi_conformance.corpus.golden.layout import merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import KEYS, RIDES, Row, city_of, fleet, rides, second

_LATE = "late and filling"


def _changed(key: str, **columns: object) -> Row:
    """A row that says what some columns hold."""
    return {"id": key, "city": city_of(key), **columns}  # type: ignore[dict-item]


def update(table: GoldenTable, at: InstantTime, rows: Iterable[Row], *columns: str) -> None:
    """A deltacommit of marked blocks whose schema has these columns alone, as an assignment by SQL leaves them."""
    spread: dict[Group, list[Row]] = {}
    for row in rows:
        spread.setdefault(table.home(row), []).append(row)
    schema = Schema(tuple(field for field in table.schema.fields if field.name in columns))
    blocks: dict[Group, list[Block]] = {
        group: [DataBlock(at, table.data_block(group, at, members).records, partial=True, schema=schema)]
        for group, members in spread.items()
    }
    table.append(at, blocks)


def _write(table: GoldenTable) -> None:
    oslo, lima = KEYS["oslo"], KEYS["lima"]
    table.insert(second(1), fleet(10))
    first = [_changed(key, ts=20, rider="renamed") for key in (oslo[0], oslo[1], lima[0], lima[1])]
    update(table, second(2), first, "ts", "rider")
    fares = [
        _changed(oslo[0], ts=30, fare=Decimal("1.50")),
        _changed(oslo[1], ts=15, fare=Decimal("2.50")),
        _changed(oslo[2], ts=5, fare=Decimal("3.50")),
        _changed(lima[1], ts=30, fare=None),
        _changed(lima[4], ts=40, fare=Decimal("4.50")),
    ]
    update(table, second(3), fares, "fare", "ts")
    table.upsert(second(4), rides(25, (lima[0],), rider="whole again"), deletes={("lima", lima[2]): 50})
    late = [_changed(lima[1], ts=22, rider=_LATE, paid=True)]
    update(table, second(5), late, "ts", "rider", "paid")


def _add_queries(table: GoldenTable, late: str) -> None:
    table.query(
        "read_unmerged",
        "unmerged-without-partition",
        "an update has null for the columns that it leaves out, that of its partition among them",
        "RD-019 MG-021",
        "unmerged-without-partial",
        filter=["city", "is_null"],
    )
    table.snapshot(
        "snapshot",
        "each column is that of the version that says what it holds: " + late,
        "MG-021 MG-025 MG-013 LF-025",
        "partial-as-whole partial-null-unset",
    )
    table.snapshot(
        "projection",
        "the columns that a question requests change no side that supplies them",
        "MG-021 MG-025 MG-013 RD-012",
        "partial-as-whole",
        columns=["fare", "rider"],
    )
    table.snapshot(
        "filter",
        "a filter sees the merged rows",
        "MG-021 MG-013 RD-012",
        "partial-as-whole filter-before-merge",
        filter=["and", ["rider", "=", "renamed"], ["fare", "is_not_null"]],
    )
    table.as_of(
        second(2.7), "as-of-first", "riders are renamed, everything else stands", "MG-021 RD-010", "partial-as-whole"
    )
    table.snapshot(
        "meta-columns",
        "a merged row has the meta fields of the winner",
        "MG-025 MF-001",
        "late-partial-wins",
        meta_columns=True,
        columns=["id", "ts"],
    )


@golden(
    "v9/mor_partial_updates",
    "Partial updates under event time",
    merge_on_read(9),
    ("partial-update",),
    also=(8,),
    titles={8: "Partial updates in version 8"},
)
def partial_updates(table: GoldenTable) -> None:
    """Assignments of one or two columns: in turn, late, of null, and over a whole record."""
    _write(table)
    _add_queries(table, "of late data the columns that the winner does not set")


@golden(
    "v9/mor_partial_updates_commit_time",
    "Partial updates under commit time",
    merge_on_read(9, ordering=(), merge_mode="COMMIT_TIME_ORDERING"),
    ("partial-update",),
)
def partial_updates_commit_time(table: GoldenTable) -> None:
    """The assignments of the event time table, in a table without ordering fields."""
    _write(table)
    table.snapshot(
        "snapshot",
        "each column is the last one that was written",
        "MG-021 MG-025 MG-002",
        "partial-as-whole partial-null-unset",
    )
    table.snapshot("projection", "so is a column requested alone", "MG-021", "partial-null-unset", columns=["fare"])


@golden("v9/mor_partial_and_deletes", "Partial updates around deletes", merge_on_read(9), ("partial-update",))
def partial_and_deletes(table: GoldenTable) -> None:
    """Rides deleted with and without ordering value, before and after assignments; a marked block of whole rows."""
    oslo = KEYS["oslo"]
    table.insert(second(1), fleet(10))
    table.upsert(second(2), deletes={("oslo", oslo[0]): 20, ("oslo", oslo[1]): 5})
    table.delete(second(3), "oslo", oslo[2])
    again = [_changed(key, ts=30, rider="assigned") for key in oslo[:4]]
    update(table, second(4), again, "ts", "rider")
    table.upsert(second(5), deletes={("oslo", oslo[3]): 40})
    update(table, second(6), rides(15, KEYS["lima"][:1]), *(field.name for field in RIDES.fields))
    table.snapshot(
        "snapshot",
        "a delete gives no value, and a delete that wins takes the row",
        "MG-025 MG-022 MG-006 MG-013",
        "partial-as-whole deletes-ignored",
    )
    table.as_of(second(4.7), "as-of", "the last delete is not there yet", "MG-025 MG-013", "partial-as-whole")


@golden(
    "v9/mor_partial_new_key", "Partial updates of keys that are new", merge_on_read(9), ("partial-update",), also=(8,)
)
def partial_new_key(table: GoldenTable) -> None:
    """Assignments to two keys that no base file has, one of them twice, the later written being the older."""
    table.insert(second(1), fleet(10))
    added = [_changed("added@lima", ts=40, fare=Decimal("5.50")), _changed("new@lima", ts=20, fare=None)]
    update(table, second(2), added, "fare", "ts")
    update(table, second(3), [_changed("added@lima", ts=7, rider="early", paid=None)], "ts", "rider", "paid")
    table.snapshot(
        "snapshot",
        "columns that no version sets are null, and late data fills what it can",
        "MG-022 MG-025",
        "partial-as-whole late-partial-dropped",
    )


@golden(
    "v9/bad_partial_update_mode",
    "A partial update mode that no release has",
    merge_on_read(9, properties={"hoodie.table.partial.update.mode": "IGNORE_MARKERS"}),
    ("partial-update",),
)
def bad_partial_update_mode(table: GoldenTable) -> None:
    """The name under which an RFC has what was released as another mode."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01",)))
    table.snapshot("snapshot", "an unknown mode is refused", "MG-026", "partial-update-mode-ignored")
