"""What a check says of a metadata table: each index by its own clause, and nothing of what is only not known."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hudi_conformance.bridge import load
from hudi_conformance.runner.archive import unpacked_corpus
from hudi_conformance.verification.properties.histories import Shape
from hudi_model import metadata
from hudi_model.actions import CommitMetadata, IndexDefinition, WriteStat
from hudi_model.creation import create_table
from hudi_model.effects import CommitMetadataTable, perform
from hudi_model.files import Field, Record, Schema
from hudi_model.metadata import valid
from hudi_model.requests import Operation, Request
from hudi_model.slicing import snapshot_slices
from hudi_model.tables import Evidence, Table
from hudi_model.time import tick
from hudi_model.writers import write
from hudi_model_tools.checks.metadata import agrees, entry_violations, metadata_view, record_index_group
from hudi_model_tools.violations import violations

EVERY = {"hoodie.metadata.enable": "true", **dict.fromkeys(metadata.OPTIONAL, "true")}
NOTES = IndexDefinition("secondary_index_note", "secondary_index", "identity", ("note",))
LOWER = IndexDefinition("expr_index_note", "column_stats", "lower", ("note",))
Change = Callable[[Any], Any]


@pytest.fixture(scope="module")
def table() -> Table:
    """Two file groups, every index built, and a write that logged to all of them."""
    schema = Schema((Field("id", "string"), Field("note", "string"), Field("ts", "int64")))
    made = create_table(Shape(partitioned=False).properties(), schema)
    rows = tuple(Record({"id": f"k{one}", "note": f"N{one}", "ts": one}) for one in range(2))
    made = write(made, Request(Operation.INSERT, rows[:1]), tick(1), tick(2))
    made = perform(made, metadata.configured_effects(made, EVERY))
    built = metadata.with_indexes(made, [*valid(made).indexes, NOTES, LOWER])
    made = perform(made, (CommitMetadataTable(built), metadata.listing(made, [one.name for one in built.indexes])))
    return write(made, Request(Operation.INSERT, rows[1:]), tick(3), tick(4))


def changed(table: Table, partition: str, change: Change) -> Table:
    """The table with another content in the newest record of one partition of its metadata table."""
    assert table.metadata is not None

    def spoilt(block: Any) -> Any:
        records = [Record({**one.values, "content": change(one.values["content"])}) for one in block.records]
        return replace(block, records=tuple(records))

    def in_log(log: Any) -> Any:
        own = log.partition == partition
        return replace(log, blocks=tuple(map(spoilt, log.blocks))) if own else log

    logs = tuple(map(in_log, table.metadata.log_files))
    assert logs != table.metadata.log_files
    return replace(table, metadata=replace(table.metadata, log_files=logs))


def violations_of(table: Table) -> set[tuple[str, str]]:
    return {(one.clause, one.severity.value) for one in violations(table)}


@pytest.mark.parametrize(
    ("partition", "change", "clause"),
    [
        ("files", lambda names: {**names, "f_0-0-0_1.parquet": 7}, "MT-010"),
        ("files", dict.fromkeys, "MT-010"),
        ("column_stats", lambda found: ["", "", found[2], found[3]], "MT-011"),
        ("column_stats", lambda found: [*found[:2], found[2] + 1, found[3]], "MT-011"),
        ("bloom_filters", lambda _: [], "IX-010"),
        ("record_index", lambda _: ["", "elsewhere"], "IX-020"),
        ("expr_index_note", lambda found: ["a", "a", found[2], found[3]], "IX-040"),
        ("partition_stats", lambda found: [found[1], found[0], *found[2:]], "MT-014"),
    ],
)
def test_a_wrong_index_entry_is_reported_by_its_clause(
    table: Table, partition: str, change: Change, clause: str
) -> None:
    assert violations_of(table) == set()
    assert (clause, "error") in violations_of(changed(table, partition, change))
    assert {one for one, _ in violations_of(changed(table, partition, change))} == {clause}


def test_a_record_index_names_any_place_of_a_key_that_inserts_left_in_two() -> None:
    """Which one, who wrote it decides."""
    made = create_table(Shape(partitioned=False).properties(), Schema((Field("id", "string"), Field("ts", "int64"))))
    request = Request(Operation.INSERT, (Record({"id": "k", "ts": 1}),), settings=EVERY)
    made = write(write(made, request, tick(1), tick(2)), request, tick(3), tick(4))
    places = {one.file_id for one in made.base_files}
    other = changed(made, "record_index", lambda found: ["", *(places - {found[1]})])
    assert len(places) == 2
    assert "IX-020" not in {one for one, _ in violations_of(other)}
    assert "IX-020" in {one for one, _ in violations_of(changed(made, "record_index", lambda _: ["", "elsewhere"]))}


@pytest.mark.parametrize(("generation", "clauses"), [("00000000000000009", set()), ("00000000000000010", {"RD-018"})])
def test_a_log_of_an_index_that_was_made_anew_may_be_gone(generation: str, clauses: set[str]) -> None:
    """Version 6: a write logged to an index that was never whole, whose files went before it was made again."""
    schema = Schema((Field("id", "string"), Field("ts", "int64")))
    made = create_table(Shape(version=6, partitioned=False).properties(), schema)
    request = Request(Operation.INSERT, (Record({"id": "k", "ts": 1}),), settings={"hoodie.metadata.enable": "true"})
    made = write(write(made, request, tick(1), tick(2)), request, tick(3), tick(4))
    gone = WriteStat("files", "files-0001-0", f"files/.files-0001-0_{generation}.log.3_0-0-0")
    assert made.metadata is not None
    logged = (
        replace(one, content=replace(one.content, write_stats=(*one.content.write_stats, gone)))
        if one.requested == tick(3) and isinstance(one.content, CommitMetadata)
        else one
        for one in made.metadata.timeline
    )
    assert violations_of(made) == set()
    named = replace(made, metadata=replace(made.metadata, timeline=tuple(logged)))
    assert {one for one, _ in violations_of(named)} == clauses


def test_an_entry_of_a_row_that_is_not_there_is_reported(table: Table) -> None:
    """A secondary index holds no more than its keys say."""
    assert table.metadata is not None
    logs = tuple(one for one in table.metadata.log_files if one.partition != NOTES.name)
    assert violations_of(replace(table, metadata=replace(table.metadata, log_files=logs))) >= {("IX-031", "error")}


def test_the_metadata_table_has_an_action_before_it_completes(table: Table) -> None:
    """It lacks the newest but one, or has the newest too late."""
    third = write(table, Request(Operation.INSERT, (Record({"id": "k9", "note": "N9", "ts": 9}),)), tick(5), tick(6))
    assert third.metadata is not None
    kept = tuple(one for one in third.metadata.timeline if one.requested != tick(5))
    late = tuple(replace(one, completed=one.completed and tick(9)) for one in set(third.metadata.timeline) - set(kept))
    assert violations_of(third) == set()
    assert ("MT-003", "error") in violations_of(replace(third, metadata=replace(third.metadata, timeline=kept)))
    assert ("MT-004", "error") in violations_of(
        replace(third, metadata=replace(third.metadata, timeline=(*kept, *late)))
    )


def test_without_statistics_nothing_is_wrong(table: Table) -> None:
    """Absent statistics are unknown; what is listed must be there."""
    assert table.metadata is not None
    gone = {"column_stats", "partition_stats"}
    properties = {**(table.properties if isinstance(table.properties, dict) else {})}
    names = properties[metadata.BUILT].split(",")
    kept = replace(table, properties={**properties, metadata.BUILT: ",".join(one for one in names if one not in gone)})
    indexes = tuple(one for one in table.metadata.indexes if one.name not in gone)
    assert violations_of(replace(kept, metadata=replace(table.metadata, indexes=indexes))) == set()


@pytest.mark.parametrize(
    ("kind", "stored", "held", "agreed"),
    [
        ("column_stats", [1, 9, 0, 3], [1, 9, 0, 3], True),
        ("column_stats", [0, 9, 0, 3], [1, 9, 0, 3], False),
        ("column_stats", [False, False, 3, 3], [None, None, 3, 3], True),
        ("column_stats", [False, False, 2, 3], [None, None, 3, 3], False),
        ("partition_stats", [0, 10, 0, 5], [1, 9, 0, 3], True),
        ("partition_stats", [2, 9, 0, 3], [1, 9, 0, 3], False),
        ("bloom_filters", ["a", "b"], ["a"], True),
        ("bloom_filters", ["b"], ["a"], False),
        ("record_index", ["", "f"], ["", "f"], True),
        ("record_index", ["", "g"], ["", "f"], False),
    ],
)
def test_what_an_index_may_say(kind: str, stored: Any, held: Any, agreed: bool) -> None:
    """Bounds of nothing but nulls say nothing, those of a partition may be wide, a filter may say too much."""
    assert agrees(IndexDefinition(kind, kind), stored, held) is agreed


def test_each_partition_has_its_own_groups_of_a_partitioned_record_index() -> None:
    """The file ids have its path with Hive's signs; the absolute value of a signed hash chooses among them."""
    groups = [
        f"record-index-{prefix}000{number}-0" for prefix in ("", "city%3Da%2Fb-", "city%3Da-") for number in (0, 1)
    ]
    assert record_index_group("b", None, groups) == "record-index-0000-0"
    assert record_index_group("polygenelubricant", "city=a/b", groups) == "record-index-city%3Da%2Fb-0001-0"
    assert record_index_group("b", "city=c", groups) is None


@pytest.mark.parametrize(
    "name", ["v6/apache_mor_keys", "v9/apache_mor_keys", "v9/apache_mor_keys_of_partitions", "v9/bad_secondary_index"]
)
def test_entries_lie_in_the_groups_of_their_keys(name: str) -> None:
    """In those of tables that Apache Hudi wrote; one golden table has keys in a second group."""
    made = load(unpacked_corpus() / name / "table")
    assert made.metadata is not None
    view = metadata_view(made, made.metadata)
    (index,) = (one for one in made.metadata.indexes if one.kind == "record_index")
    found = list(entry_violations(index, view, snapshot_slices(view)))
    assert {one.clause for one in found} == ({"IX-020"} if "bad" in name else set())


@pytest.mark.parametrize(("typed", "clauses"), [(frozenset({LOWER.name}), ["IX-004"]), (frozenset(), [])])
def test_an_index_of_the_first_version_states_no_types(table: Table, typed: frozenset[str], clauses: list[str]) -> None:
    """Also a table that was made in version 9 may have been in version 8: what statistics state decides."""
    shown = Evidence(index_versions={LOWER.name: "V1"}, typed_indexes=typed)
    found = violations(replace(table, evidence=shown))

    assert [one.clause for one in found if one.where == LOWER.name] == clauses
