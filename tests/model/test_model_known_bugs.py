"""Documented defects of real writers and services, played with the model's: the clause's answer, and what breaks it.

Readers' defects are golden cases; specs/known-bugs.toml says where each defect is shown.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hudi_conformance.corpus.mutants import MUTANTS, mutated
from hudi_model.actions import Action, IndexDefinition, State
from hudi_model.creation import create_table
from hudi_model.effects import perform
from hudi_model.files import Field, Record, Schema, Value
from hudi_model.metadata import rows_of, valid, view_of
from hudi_model.pruning import read_pruned
from hudi_model.queries import Selection, read_snapshot
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import Operation, Request
from hudi_model.services import clustering, indexing, rollback, savepoints
from hudi_model.services.savepoints import savepoint
from hudi_model.tables import Table
from hudi_model.time import tick
from hudi_model.upgrades import change_version
from hudi_model.writers import begin, stage, write
from hudi_model_tools.checks.metadata import metadata_differences
from service_tables import EAGER, SCHEMA, names, new_table, record, rows, scheduled, upsert

BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "8"}
ANYWHERE = {"hoodie.index.type": "RECORD_INDEX", "hoodie.record.index.update.partition.path": "true"}
INDEXED = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.bloom.filter.enable": "true",
}
TYPED = Schema(tuple(Field(name, "int64" if name == "ts" else "string") for name in ("id", "day", "ts", "note")))
BY_NOTE = IndexDefinition("secondary_index_note", "secondary_index", sources=("note",))
Scenario = Callable[[], None]
BREAKS: list[tuple[Scenario, str]] = []


def broken_by(*mutants: str) -> Callable[[Scenario], Scenario]:
    """The scenario goes wrong where the model has one of these defects."""

    def register(scenario: Scenario) -> Scenario:
        BREAKS.extend((scenario, name) for name in mutants)
        return scenario

    return register


def wrote(table: Table, operation: Operation, now: int, *members: Record, **settings: str) -> Table:
    """A write of whole records, complete at once."""
    return write(table, Request(operation, members, settings=settings), tick(now), tick(now + 5))


def indexed(table: Table, now: int, *definitions: IndexDefinition) -> Table:
    """With the indexes of `INDEXED`, and further ones, built."""
    table = perform(table, indexing.schedule(table, tick(now), INDEXED, definitions))
    return perform(table, indexing.execute(table, tick(now), tick(now + 5)))


def found(table: Table, form: Any) -> list[Value]:
    """The keys of the rows that a filter finds where indexes leave slices out; as many as without indexes."""
    pruned = sorted(str(row["id"]) for row in read_pruned(table, form).rows)
    assert pruned == sorted(str(row["id"]) for row in read_snapshot(table, selection=Selection(filter=form)).rows)
    return list(pruned)


def plain(**more: str) -> Table:
    """Without partitions."""
    return new_table(hoodie_table_partition_fields="", **more)


# Merging in writers


@broken_by("event-time-ignores-ordering")
def test_a_late_deletion_leaves_the_row_of_a_copy_on_write_table() -> None:
    """apache/hudi#19934: it competes by its ordering value as in a merge-on-read table."""
    table = upsert(new_table("COPY_ON_WRITE"), 10, ("a", "d1", 100, "kept"))
    late = Record({**record(("a", "d1", 50, "late")).values, "_hoodie_is_deleted": True})
    table = wrote(table, Operation.UPSERT, 20, late)
    assert rows(table) == [("a", "d1", 100, "kept")]
    assert [
        row["_hoodie_commit_time"] for row in read_snapshot(table, selection=Selection(meta_columns=True)).rows
    ] == [tick(10)]


@broken_by("payload-marker-ignored")
def test_of_an_insert_and_a_delete_in_one_batch_nothing_is_left() -> None:
    """apache/hudi#2084: rows of one batch are combined with regard to the marker of deletes."""
    schema = Schema((*SCHEMA.fields, Field("Op", "string")))
    stated = {"hoodie.compaction.payload.class": "org.apache.hudi.common.model.AWSDmsAvroPayload"}
    table = create_table({**new_table(version=6).properties, **stated}, schema)  # type: ignore[dict-item]
    both = (Record({**record(("k", "d1", ts, "x")).values, "Op": op}) for ts, op in ((1, "I"), (2, "D")))
    assert read_snapshot(wrote(table, Operation.UPSERT, 10, *both)).rows == ()


# Buckets and keys


def test_a_complex_generator_does_not_spell_keys_anew() -> None:
    """apache/hudi#9936, apache/hudi#13650: the same key would be another one; the write is refused."""
    table = upsert(new_table(), 10, ("a", "d1", 1, "bare"))
    named = replace(table, properties={**table.properties, "hoodie.table.keygenerator.type": "COMPLEX"})  # type: ignore[dict-item]
    with pytest.raises(Rejection) as refused:
        upsert(named, 20, ("a", "d1", 2, "named"))
    assert (refused.value.reason, refused.value.clause) == (Reason.CONFIG_INVALID, "DM-030")
    fresh = upsert(new_table(hoodie_table_keygenerator_type="COMPLEX"), 10, ("a", "d1", 1, "named"))
    assert rows(upsert(fresh, 20, ("a", "d1", 2, "named"))) == [("a", "d1", 2, "named")]


@pytest.mark.parametrize("kind", ["SIMPLE", "GLOBAL_SIMPLE"])
def test_a_partial_update_that_does_not_say_its_partition_is_refused(kind: str) -> None:
    """apache/hudi#19610: else the row would go to the partition of null."""
    table = upsert(new_table(), 10, ("a", "d1", 1, "one"))
    with pytest.raises(Rejection) as refused:
        wrote(table, Operation.PARTIAL_UPDATE, 20, Record({"id": "a", "ts": 2}), **{"hoodie.index.type": kind})
    assert (refused.value.reason, refused.value.clause) == (Reason.CONFIG_INVALID, "OW-025")


# Indexes


def moved() -> Table:
    """A row moved from one partition to another whose file group two writes made, with every index built."""
    table = upsert(new_table(), 10, ("k", "p1", 1, "x"), ("a", "p1", 1, "y"))
    table = indexed(upsert(table, 20, ("b", "p1", 1, "z"), ("a", "p1", 2, "y")), 30, BY_NOTE)
    return wrote(table, Operation.UPSERT, 40, record(("k", "p2", 2, "x")), **ANYWHERE)


@broken_by("moved-row-stays-too", "global-index-by-partition")
def test_a_row_that_moves_is_in_its_new_partition_alone() -> None:
    """apache/hudi#11256, apache/hudi#9114: by row, by the record index, and to the write after it."""
    table = moved()
    assert [row for row in rows(table) if row[0] == "k"] == [("k", "p2", 2, "x")]
    assert metadata_differences(table) == ()
    assert rows_of(view_of(valid(table)))["record_index"]["k"][0] == "p2"
    table = wrote(table, Operation.UPSERT, 50, record(("k", "p2", 3, "x")), **ANYWHERE)
    assert [row for row in rows(table) if row[0] == "k"] == [("k", "p2", 3, "x")]


@broken_by("delete-wins-over-put")
def test_the_secondary_index_finds_a_row_that_moved() -> None:
    """apache/hudi#14090: the value that the row keeps is indexed still."""
    table = moved()
    assert found(table, ["note", "=", "x"]) == ["k"]
    assert metadata_differences(table) == ()


@broken_by("index-of-incoming-rows")
def test_a_row_that_loses_changes_no_index() -> None:
    """apache/hudi#12525: indexes hold what merging leaves."""
    table = indexed(upsert(new_table(), 10, ("k", "p1", 10, "x")), 20, BY_NOTE)
    table = upsert(table, 30, ("k", "p1", 5, "y"))
    assert (found(table, ["note", "=", "x"]), found(table, ["note", "=", "y"])) == (["k"], [])
    assert set(rows_of(view_of(valid(table)))[BY_NOTE.name]) == {"x$k"}


@broken_by("stale-entries-kept")
def test_an_overwrite_takes_its_rows_out_of_the_secondary_index() -> None:
    """apache/hudi#12280: the values of replaced rows are no longer indexed."""
    table = indexed(upsert(new_table(), 10, ("k", "p1", 1, "old"), ("l", "p2", 1, "other")), 20, BY_NOTE)
    table = wrote(table, Operation.INSERT_OVERWRITE, 30, record(("m", "p1", 1, "new")))
    assert (found(table, ["note", "=", "old"]), found(table, ["note", "=", "new"])) == ([], ["m"])
    assert set(rows_of(view_of(valid(table)))[BY_NOTE.name]) == {"other$l", "new$m"}


@broken_by("record-index-for-any-column")
def test_only_the_key_is_looked_up_in_the_record_index() -> None:
    """apache/hudi#10955: a list of values of another column is no list of keys."""
    table = indexed(upsert(new_table(), 10, ("k", "p1", 1, "a1"), ("l", "p2", 1, "a2"), ("m", "p3", 1, "a3")), 20)
    assert found(table, ["note", "in", ["a1", "a2"]]) == ["k", "l"]


@broken_by("unknown-part-is-false")
def test_a_column_without_statistics_may_hold_anything() -> None:
    """apache/hudi#10389, apache/hudi#12636: also as one side of an alternative."""
    table = create_table(new_table().properties, TYPED)  # type: ignore[arg-type]
    table = upsert(table, 10, ("k", "p1", 1, "red"), ("l", "p2", 2, "red"), ("m", "p3", 3, "blue"))
    table = perform(
        table,
        indexing.schedule(
            table, tick(20), {}, (IndexDefinition("column_stats", "column_stats", sources=("ts", "day")),)
        ),
    )
    table = perform(table, indexing.execute(table, tick(20), tick(25)))
    assert found(table, ["and", ["ts", "=", 1], ["note", "=", "red"]]) == ["k"]
    assert found(table, ["and", ["or", ["ts", "=", 1], ["note", "=", "blue"]], ["day", "!=", "p2"]]) == ["k", "m"]


@broken_by("unknown-is-all-null")
def test_absent_statistics_are_unknown() -> None:
    """apache/hudi#18755: a file whose values have no statistics is not one of nulls."""
    schema = Schema((*TYPED.fields, Field("score", "float64")))
    table = create_table(new_table().properties, schema)  # type: ignore[arg-type]
    members = (
        Record({**record((key, "p1", 1, "x")).values, "score": score})
        for key, score in (("k", 1.5), ("l", float("nan")))
    )
    table = indexed(wrote(table, Operation.UPSERT, 10, *members), 20)
    assert not any(key.startswith("score|") for key in rows_of(view_of(valid(table)))["column_stats"])
    assert found(table, ["score", "=", 1.5]) == ["k"]
    assert found(table, ["score", "is_not_null"]) == ["k", "l"]


@broken_by("unpartitioned-without-name")
def test_a_table_without_partitions_is_listed_and_filtered() -> None:
    """hudi-rs#505, apache/hudi#6113: its partition is a dot, and names of its files are whole."""
    table = indexed(upsert(plain(), 10, ("k", "", 1, "x")), 20)
    held = rows_of(view_of(valid(table)))
    name = table.base_files[0].name
    assert held["files"] == {"__all_partitions__": {".": 0}, ".": {name: 0}}
    assert held["bloom_filters"] == {f".|{name}": ["k"]}
    assert found(table, ["id", "=", "k"]) == ["k"]


@broken_by("bootstrap-lists-last-write")
def test_a_metadata_table_that_is_made_anew_lists_every_file() -> None:
    """apache/hudi#7533: not only those of the write that made it."""
    table = upsert(new_table(), 10, ("k", "p1", 1, "x"), **INDEXED)
    table = upsert(table, 20, ("l", "p2", 1, "x"), hoodie_metadata_enable="false")
    assert table.metadata is None
    listed = rows_of(view_of(valid(indexed(table, 30))))["files"]
    assert {name for part in ("p1", "p2") for name in listed[part]} == names(table)


@broken_by("rollback-logs-unlisted")
def test_a_rollback_records_its_logs_in_the_metadata_table() -> None:
    """apache/hudi#11187: of version 6 tables the failed log and the command's log are there, and listed."""
    table = upsert(new_table(version=6), 10, ("k", "p1", 1, "x"), **INDEXED)
    started_write, effects = begin(table, Request(Operation.UPSERT, (record(("k", "p1", 2, "failed")),)), tick(20))
    table = perform(table, effects)
    table = perform(table, stage(table, started_write)[1])
    planned = rollback.schedule(table, tick(30), {}, tick(20))
    table = perform(table, planned)
    table = perform(table, rollback.execute(table, tick(30), tick(30))[:2])
    table = perform(table, rollback.execute(table, tick(30), tick(35)))
    table = upsert(table, 40, ("k", "p1", 3, "after"), **INDEXED)
    assert names(table) <= set(rows_of(view_of(valid(table)))["files"]["p1"])
    assert rows(table) == [("k", "p1", 3, "after")]


def test_a_restore_to_before_the_metadata_tables_compaction_gives_the_saved_rows() -> None:
    """apache/hudi#13691: the metadata table knows nothing of what was undone."""
    table = upsert(new_table(), 10, ("k", "p1", 1, "saved"), **INDEXED)
    table = perform(table, savepoint(table, tick(10), tick(18)))
    for number in range(2, 6):
        table = upsert(table, 10 * number, ("k", "p1", number, "later"), (f"n{number}", "p2", 1, "later"), **INDEXED)
    table = perform(table, indexing.compact(table, tick(60), tick(65), EAGER))
    table = perform(table, savepoints.schedule(table, tick(70), {}, tick(10)))
    table = perform(table, savepoints.execute(table, tick(70), tick(75)))
    assert rows(table) == [("k", "p1", 1, "saved")]
    table = upsert(table, 80, ("o", "p2", 1, "after"), **INDEXED)
    assert found(table, ["id", "in", ["k", "n2", "o"]]) == ["k", "o"]


# Services


@broken_by("pending-clustering-not-seen")
def test_of_a_clustering_and_the_deletion_of_its_partition_one_is_refused() -> None:
    """apache/hudi#9472: both would bring the deleted rows back."""
    table = scheduled(upsert(new_table("COPY_ON_WRITE"), 10, ("a", "p", 1, "x")), clustering, 20)
    with pytest.raises(Rejection) as refused:
        write(table, Request(Operation.DELETE_PARTITION, partitions=("p",)), tick(30), tick(35))
    assert refused.value.reason is Reason.WRITE_CONFLICT
    table = perform(table, clustering.execute(table, tick(20), tick(45)))
    assert rows(table) == [("a", "p", 1, "x")]
    assert rows(write(table, Request(Operation.DELETE_PARTITION, partitions=("p",)), tick(50), tick(55))) == []


# Versions


@broken_by("tagging-sees-nothing")
def test_keys_are_found_again_after_an_upgrade() -> None:
    """apache/hudi#10407: an upsert of the same keys by a newer release updates them."""
    for table_type in ("COPY_ON_WRITE", "MERGE_ON_READ"):
        table = upsert(new_table(table_type, version=6), 10, ("a", "p1", 1, "x"), ("b", "p2", 1, "x"))
        for value, version in ((2, 8), (3, 9)):
            table = perform(table, change_version(table, version, tick(100 * value)))
            table = upsert(table, 100 * value + 50, ("a", "p1", value, "new"), ("b", "p2", value, "new"))
        assert rows(table) == [("a", "p1", 3, "new"), ("b", "p2", 3, "new")]


@pytest.mark.parametrize("to", [8, 9])
def test_a_strategy_id_that_contradicts_the_payload_class_is_no_obstacle_in_version_6(to: int) -> None:
    """apache/hudi#12743: there the class alone decides; such a table is written and upgraded."""
    stated = {
        "hoodie.compaction.payload.class": "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload",
        "hoodie.compaction.record.merger.strategy": "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5",
    }
    start = new_table(version=6)
    table = replace(start, properties={**start.properties, **stated})  # type: ignore[dict-item]
    table = upsert(upsert(table, 10, ("a", "p", 9, "x")), 20, ("a", "p", 5, "later"))
    assert rows(table) == [("a", "p", 5, "later")]
    table = perform(table, change_version(table, to, tick(100)))
    assert rows(table) == [("a", "p", 5, "later")]
    assert table.properties["hoodie.record.merge.mode"] == "EVENT_TIME_ORDERING"  # type: ignore[index]


def test_a_table_that_was_indexed_goes_back_to_version_6() -> None:
    """apache/hudi#13908: the action has a name in both layouts."""
    table = indexed(upsert(new_table(), 10, ("a", "p", 1, "x")), 20)
    table = perform(table, change_version(table, 6, tick(100)))
    assert Action.INDEXING in {one.action for one in table.timeline if one.state is State.COMPLETED}
    assert rows(table) == [("a", "p", 1, "x")]


@pytest.mark.parametrize(("scenario", "name"), BREAKS, ids=[f"{name}-{one.__name__}" for one, name in BREAKS])
def test_each_scenario_shows_its_defect(scenario: Scenario, name: str) -> None:
    """A scenario that a model with the defect passes would show nothing."""
    with mutated(MUTANTS[name]), pytest.raises((AssertionError, Rejection, KeyError, pytest.fail.Exception)):
        scenario()
