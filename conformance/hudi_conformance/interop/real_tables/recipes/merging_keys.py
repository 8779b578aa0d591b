"""What versions of a record are found by: keys of all forms, positions in base files, indexes over partitions."""

from functools import partial
from typing import Any

from hudi_conformance.corpus.recipes_apache.catalogue import recipe
from hudi_conformance.corpus.recipes_apache.orders import deletes, order, orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, NOT_PARTITIONED
from hudi_conformance.interop.real_tables.recipes.merging import _QUERIED_ELSEWHERE
from hudi_conformance.interop.real_tables.writer import RealTable

_NESTED = (
    "id string, sub int, source struct<name string, place struct<ts bigint, part int>>, note string, amount double, "
    "day date, seen timestamp, price decimal(8,2), done boolean, _hoodie_is_deleted boolean"
)
_FIRST = "named_struct('name', '{0}', 'place', named_struct('ts', {1}L, 'part', {2}))"


def _nested_rows(table: RealTable, rows: list[tuple[str, int, int, str, bool]]) -> Any:
    """Rows of key, ordering value, key's second part, note, whether deleted."""
    chosen = " union all ".join(
        f"select '{key}' id, {sub} sub, {_FIRST.format(key, ts, sub)} source, '{note}' note, "
        f"cast({sub}.5 as double) amount, date '2024-02-2{sub}' day, "
        f"timestamp '2024-02-29 10:00:0{sub}' seen, cast({sub}.50 as decimal(8,2)) price, "
        f"{str(sub % 2 == 0).lower()} done, {str(deleted).lower()} _hoodie_is_deleted"
        for key, ts, sub, note, deleted in rows
    )
    return table.session.sql(chosen)


def _nested_history(table: RealTable, options: dict[str, str]) -> None:
    """Insert, updates on time and late with a flagged delete, a delete, and a row written again."""
    table.schema = _NESTED
    table.configure({**NOT_PARTITIONED, "hoodie.datasource.write.precombine.field": "source.place.ts", **options})
    keys = ["a", "b", "c", "d", "é,f:g", ""]
    table.write_frame(
        _nested_rows(table, [(key or "x y", 10, at, "first", False) for at, key in enumerate(keys)]), "insert"
    )
    table.write_frame(
        _nested_rows(
            table,
            [
                ("a", 20, 0, "second", False),
                ("b", 5, 1, "late", False),
                ("c", 30, 2, "gone", True),
                ("q", 5, 7, "new", False),
            ],
        ),
        "upsert",
    )
    table.write_frame(_nested_rows(table, [("d", 10, 3, "deleted", False)]), "delete")
    table.write_frame(_nested_rows(table, [("a", 15, 0, "late", False), ("é,f:g", 10, 4, "tie", False)]), "upsert")


_KEY = "hoodie.datasource.write.recordkey.field"
_COMPLEX = {"hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.ComplexKeyGenerator"}
_VIRTUAL = {"hoodie.populate.meta.fields": "false"}
_FORMS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "nested_ordering": (("1.0.2 v8", "1.1.1 v9"), {_KEY: "id"}),
    "nested_key": (("0.15.0 v6",), {_KEY: "source.name"}),
    "complex_nested_key": (("0.15.0 v6", "1.1.1 v9"), {_KEY: "id,source.place.part", **_COMPLEX}),
    "virtual_key": (("0.15.0 v6",), {_KEY: "id", **_VIRTUAL}),
    # Releases before 1.1 find no nested key in base files without meta fields.
    "virtual_nested_key": (("1.1.1 v9",), {_KEY: "source.name", **_VIRTUAL}),
    "virtual_complex_key": (("1.0.2 v8",), {_KEY: "id,sub", **_COMPLEX, **_VIRTUAL}),
    "virtual_typed_key": (("0.15.0 v6", "1.1.1 v9"), {_KEY: "sub,amount,day,seen,price,done", **_COMPLEX, **_VIRTUAL}),
    "typed_key": (("1.0.2 v8",), {_KEY: "sub,amount,day,seen,price,done", **_COMPLEX}),
    "virtual_timestamp_key": (("1.0.2 v8",), {_KEY: "seen", **_VIRTUAL}),
}

for _label, (_releases, _options) in _FORMS.items():
    _virtual = "virtual" in _label
    recipe(
        f"merging_keys/{_label}",
        on=_releases,
        features=("key-forms", *(("virtual-keys",) if _virtual else ())),
        without=_QUERIED_ELSEWHERE if not _virtual else (*_QUERIED_ELSEWHERE[1:], "snapshot_meta"),
    )(partial(_nested_history, options=_options))


@recipe(
    "merging_keys/positions",
    on=("1.1.1 v8", "1.2.0 v9"),
    features=("record-positions", "log-delete"),
    without=_QUERIED_ELSEWHERE,
)
def positions(table: RealTable) -> None:
    """Updates and deletes whose blocks name the rows of the base file; then a compaction, and the same again."""
    table.configure({**EVENT_TIME, "hoodie.write.record.positions": "true"})
    table.write(orders(range(12), 100, "first"), "insert")
    table.upsert([*orders((0, 1, 7), 200, "update"), *orders((2,), 50, "late"), *deletes((3,), 300)])
    table.delete(orders((5,), 400, "delete"))
    table.schedule_compaction()
    table.upsert(orders((8, 9), 500, "behind the plan"))
    table.compact()
    table.upsert([*orders((1, 5, 6, 11), 500, "last"), *deletes((4,), 600)])


@recipe(
    "merging_keys/moved_between_partitions",
    on=("0.15.0 v6", "1.1.1 v9"),
    types=("cow", "mor"),
    features=("global-index", "log-delete"),
    without=_QUERIED_ELSEWHERE,
)
def moved(table: RealTable) -> None:
    """Rows whose partition changes under a global index, once and back again, one of them late; and a delete there."""
    table.configure(
        {
            **EVENT_TIME,
            "hoodie.index.type": "GLOBAL_SIMPLE",
            "hoodie.simple.index.update.partition.path": "true",
            "hoodie.global.simple.index.parallelism": "2",
        }
    )
    table.write(orders(range(8), 100, "first"), "insert")
    moved_on = [order(number, 200, f"moved {number}")._replace(region="ost") for number in (0, 1, 2)]
    table.upsert([*moved_on, order(3, 50, "late")._replace(region="ost")])
    table.upsert([order(0, 300, "back"), order(1, 300, "on")._replace(region="süd")])
    table.delete([order(2, 400, "gone")._replace(region="ost")])


@recipe("merging_keys/two_ordering_fields", on=("1.2.0 v9",), features=("log-delete",), without=_QUERIED_ELSEWHERE)
def two_ordering_fields(table: RealTable) -> None:
    """The first decides, the second where the first are equal; ties, late rows and flagged deletes in both."""
    table.configure({"hoodie.datasource.write.precombine.field": "ts,amount"})
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([order(0, 100, "same"), order(1, 99, "late"), *deletes((2, 4), 100), *deletes((5,), 99)])
    table.upsert([order(2, 100, "after"), order(4, 90, "late"), order(6, 101, "on time")])


@recipe(
    "merging_keys/delete_marker",
    on=("0.15.0 v6", "1.1.1 v8", "1.1.1 v9"),
    features=("delete-marker", "log-delete"),
    without=_QUERIED_ELSEWHERE,
)
def delete_marker(table: RealTable) -> None:
    """Records that a column's text deletes: as the marker is spelled, in another case, late, and written again."""
    table.configure(
        {
            **EVENT_TIME,
            "hoodie.payload.delete.field": "note",
            "hoodie.payload.delete.marker": "gone",
            "hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
        }
    )
    table.write(orders(range(8), 100, "first"), "insert")
    gone = [order(number, 200, "gone") for number in (0, 1)]
    table.upsert([*gone, order(3, 50, "gone"), order(4, 200, "GONE"), order(6, 100, "gone")])
    table.upsert([order(0, 150, "late"), order(1, 300, "again")])
