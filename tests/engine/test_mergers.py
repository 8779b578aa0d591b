"""Custom merging: which merger a table gets, what it is given, and that it reaches other processes."""

import pickle
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest
from engine_tables import TableBuilder, avro, row, tick
from hudi_format.log.blocks import HeaderKey
from hudi_format.log.content import data_block
from hudi_format.log.deletes import DeleteRecord
from hudi_spark import HudiError, read_arrow
from hudi_spark.merge import mergers as registry
from hudi_spark.merge.mergers import CarriedMerger, chosen_merger, merger_name
from hudi_spark.mergers import MergeContext, RowMerger, Versions, register

MINE = "0c9ab4d8-6f34-5a53-9d39-1d3f5f0a7c11"
LISTED = "hoodie.write.record.merge.custom.implementation.classes"
OLD_LISTED = "hoodie.datasource.write.record.merger.impls"


class Nameless:
    """Says nothing of the tables that it is for."""

    strategy_id = ""

    def merge(self, older: Versions, newer: Versions, context: MergeContext) -> Versions:  # noqa: ARG002
        return newer.completed_by(older)


class HighestPrice:
    """Keeps the highest price; the rest is the newer record's."""

    strategy_id = MINE

    def merge(self, older: Versions, newer: Versions, context: MergeContext) -> Versions:  # noqa: ARG002
        merged = newer.completed_by(older)
        return merged.with_column("price", pc.max_element_wise(older.column("price"), newer.column("price")))


class RaisesWhereLeftOut:
    """An update that leaves the price out raises it by one."""

    strategy_id = MINE

    def merge(self, older: Versions, newer: Versions, context: MergeContext) -> Versions:  # noqa: ARG002
        raised = pc.add(older.column("price"), 1.0)
        prices = pc.if_else(newer.sets("price"), newer.column("price"), raised)
        return newer.completed_by(older).with_column("price", prices)


class NotesTogether(RowMerger):
    """Joins the notes of all versions, record by record; a delete forgets them."""

    strategy_id = MINE

    def merge_rows(
        self, older: dict[str, Any] | None, newer: dict[str, Any] | None, context: MergeContext
    ) -> dict[str, Any] | None:
        if older is None or newer is None:
            return newer
        notes = [one.get("note") for one in (older, newer) if one.get("note")]
        return {**older, **newer, "note": context.properties.get("glue", "+").join(notes)}


class Foreign:
    strategy_id = "11111111-2222-5333-8444-555555555555"
    merge = HighestPrice.merge


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {})


def table(path: Path, *contents: Any, **properties: str) -> Path:
    """Three base rows, and each content in a log of its own: a row, a row of some columns, or the key of a delete."""
    custom = {"hoodie.record.merge.mode": "CUSTOM", "hoodie.record.merge.strategy.id": MINE, **properties}
    builder = TableBuilder(path, properties=custom)
    builder.commit(1, [builder.base_file(1, [row(key, 10, key, price=5.0) for key in "abc"])])
    for number, content in enumerate(contents, 1):
        at = 10 * number
        builder.commit(at, [builder.log_file(at, [_block(builder, at, content)])])
    return path


def _block(builder: TableBuilder, at: int, content: Any) -> bytes:
    if isinstance(content, str):
        return builder.deletes(at, DeleteRecord(content, "north", 0, "Int"))
    if "region" in content:
        return builder.data(at, [content])
    kinds = {field["name"]: field["type"] for field in builder.schema["fields"]}
    columns = [("_hoodie_record_key", ["null", "string"]), *((name, kinds[name]) for name in content)]
    values = {**content, "_hoodie_record_key": content["id"]}
    return data_block(tick(at), [values], avro(columns), {HeaderKey.IS_PARTIAL: "true"})


def rows_of(path: Path, **params: Any) -> list[tuple[Any, ...]]:
    return sorted(tuple(one.values()) for one in read_arrow(path, **params).to_pylist())


class TestChoosing:
    def test_the_first_in_the_list_that_has_the_tables_id(self):
        known = (HighestPrice(), NotesTogether(), Foreign())
        for merger in known:
            register(merger)
        listed = ", ".join(["org.example.JavaMerger", *map(merger_name, reversed(known))])
        assert isinstance(chosen_merger(MINE, {LISTED: listed}), NotesTogether)
        assert isinstance(chosen_merger(MINE, {OLD_LISTED: listed}), NotesTogether)

    def test_without_a_list_the_first_that_was_registered(self):
        for merger in (Foreign(), HighestPrice(), NotesTogether()):
            register(merger)
        assert isinstance(chosen_merger(MINE, {}), HighestPrice)

    @pytest.mark.parametrize("configs", [{}, {LISTED: "org.example.JavaMerger"}])
    def test_where_none_fits_the_table_is_refused(self, configs: dict[str, str]):
        """A merger that is not in the list does not count, whatever id it has."""
        register(Foreign() if not configs else HighestPrice())
        with pytest.raises(HudiError) as caught:
            chosen_merger(MINE, configs)
        assert caught.value.reason == "MERGER_UNKNOWN"

    def test_a_merger_has_an_id(self):
        with pytest.raises(HudiError, match="strategy_id"):
            register(Nameless())


class TestMerging:
    def test_versions_in_logs_and_base_row_make_one_row(self, tmp_path: Path):
        """A column that the merger looks at need not be requested."""
        register(HighestPrice())
        path = table(tmp_path, row("a", 5, "second", price=9.0), row("a", 7, "third", price=7.0), row("d", 1, "new"))
        params = ["id", "note", "price"]
        assert rows_of(path, columns=params) == [
            ("a", "third", 9.0),
            ("b", "b", 5.0),
            ("c", "c", 5.0),
            ("d", "new", None),
        ]
        assert rows_of(path, columns=["note"], filter=["price", ">", 8.0]) == [("third",)]

    def test_a_partial_update_states_the_columns_that_it_sets(self, tmp_path: Path):
        register(HighestPrice())
        path = table(tmp_path, {"id": "a", "note": "renamed"}, {"id": "b", "price": 4.0}, {"id": "d", "note": "new"})
        assert rows_of(path, columns=["id", "note", "price"]) == [
            ("a", "renamed", 5.0),
            ("b", "b", 5.0),
            ("c", "c", 5.0),
            ("d", "new", None),
        ]

    def test_a_column_that_the_merger_fills_in_counts_as_set_from_then_on(self, tmp_path: Path):
        """The base row, which the versions in the logs meet last, does not change it again."""
        register(RaisesWhereLeftOut())
        path = table(tmp_path, {"id": "a", "price": 8.0}, {"id": "a", "note": "raised"}, {"id": "b", "note": "raised"})
        assert rows_of(path, columns=["id", "note", "price"]) == [
            ("a", "raised", 9.0),
            ("b", "raised", 6.0),
            ("c", "c", 5.0),
        ]

    def test_record_by_record(self, tmp_path: Path):
        """What the table keeps for its merger comes without the prefix."""
        register(NotesTogether())
        glue = {"hoodie.record.merge.property.glue": "/"}
        path = table(tmp_path, row("a", 5, "x"), {"id": "a", "note": "y"}, "b", row("b", 6, "again"), "c", **glue)
        assert rows_of(path, columns=["id", "note"]) == [("a", "a/x/y"), ("b", "b/again")]

    def test_nothing_else_merges_such_a_table(self, tmp_path: Path):
        path = table(tmp_path, row("a", 5, "x"))
        with pytest.raises(HudiError) as caught:
            read_arrow(path)
        assert caught.value.reason == "MERGER_UNKNOWN"
        assert len(rows_of(path, read_optimized=True)) == 3


def test_a_merger_of_a_notebook_reaches_other_processes():
    """Its class goes along, since the worker has no module to import it from."""

    class Local(HighestPrice):
        strategy_id = "local"

    carried = CarriedMerger(Local(), MergeContext({"a": "b"}, ("ts",)))
    found = pickle.loads(pickle.dumps(carried))  # noqa: S301 - our own bytes
    assert (found.merger.strategy_id, found.context) == ("local", carried.context)
