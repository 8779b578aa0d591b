"""The metadata table: when it appears, what it lists, when it counts, how it is dropped."""

from dataclasses import replace

import pytest
from hudi_conformance.verification.properties.histories import Shape, Step, new_table, taken
from hudi_model import metadata, writers
from hudi_model.actions import Action, IndexDefinition, State
from hudi_model.effects import CommitMetadataTable, CreateInstant, PutProperties, perform
from hudi_model.files import Record
from hudi_model.merge_rules import MergeMode, MergeRule, Version
from hudi_model.merging import METADATA
from hudi_model.metadata import BUILT, built, rows_of, valid, view_of
from hudi_model.rejection import Rejection
from hudi_model.requests import Operation, Request
from hudi_model.services import cleaning, compaction, indexing
from hudi_model.tables import Table, open_table
from hudi_model.time import tick
from hudi_model_tools.checks.metadata import metadata_differences
from hudi_model_tools.violations import violations

KEPT = {"hoodie.metadata.enable": "true", "hoodie.index.type": "RECORD_INDEX"}
EAGER = {
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS",
    "hoodie.clean.fileversions.retained": "1",
}


def upsert(table: Table, first: int, key: str = "a", settings: dict[str, str] | None = None) -> Table:
    """The table after an upsert of one row."""
    step = Step(Operation.UPSERT, ({"id": key, "day": "d1", "ts": first, "note": "one"},), settings=settings or {})
    return taken(table, step, first)


def listed(table: Table) -> dict[str, list[str]]:
    """The files that the metadata table lists, by partition."""
    return {key: sorted(names) for key, names in rows_of(view_of(valid(table))).get("files", {}).items()}


def test_there_is_no_metadata_table_by_default() -> None:
    """Writers of small stories keep none."""
    assert upsert(new_table(Shape()), 1).metadata is None


@pytest.mark.parametrize("version", [6, 8, 9])
@pytest.mark.parametrize("partitioned", [True, False])
def test_files_are_listed_by_partition(version: int, *, partitioned: bool) -> None:
    """A partition by its path, none by a dot; the partitions under a key of their own."""
    table = upsert(new_table(Shape(version, partitioned=partitioned)), 1, settings=KEPT)
    name, where = table.base_files[0].name, "d1" if partitioned else "."
    assert listed(table) == {"__all_partitions__": [where], where: [name]}
    assert built(table) == {"files"}


@pytest.mark.parametrize(("version", "first"), [(6, "00000000000000010"), (9, "00000000000000000")])
def test_partitions_begin_before_everything(version: int, first: str) -> None:
    """The initial instants count up from one that depends on the version."""
    settings = {**KEPT, "hoodie.metadata.record.index.enable": "true"}
    table = upsert(new_table(Shape(version)), 1, settings=settings)
    assert table.metadata
    instants = sorted({one.requested for one in table.metadata.timeline})
    assert instants == [first, f"{int(first) + 1:017d}", tick(1)]
    assert violations(table.metadata) == ()


def test_each_action_commits_under_its_instant() -> None:
    """The deltacommit of the metadata table has the instant of the write, and completes no later."""
    table = upsert(upsert(new_table(Shape()), 1, settings=KEPT), 11)
    assert table.metadata
    done = [one for one in table.metadata.timeline if one.requested == tick(11) and one.state is State.COMPLETED]
    assert [(one.action, one.completed) for one in done] == [(Action.DELTA_COMMIT, tick(12))]


def test_a_pending_action_is_not_seen() -> None:
    """Between the two commits readers still find what was there before."""
    table = upsert(new_table(Shape()), 1, settings=KEPT)
    request = Request(Operation.UPSERT, (Record({"id": "b", "day": "d2", "ts": 1, "note": None}),))
    write, effects = writers.begin(table, request, tick(11))
    table = perform(table, effects)
    write, effects = writers.stage(table, write)
    table, before = perform(table, effects), listed(table)
    effects = writers.commit(table, write, tick(12))
    kinds = [type(one) for one in effects[:2]]
    assert kinds == [CommitMetadataTable, CreateInstant]
    assert listed(perform(table, effects[:1])) == before
    assert sorted(listed(perform(table, effects[:2]))) == ["__all_partitions__", "d1", "d2"]


def test_a_name_that_was_deleted_stays_deleted_until_it_meets_the_base_file() -> None:
    """Two lists merge name by name, and the mark of a deletion is no mere absence."""
    rule = MergeRule(MergeMode.CUSTOM, (), strategy=METADATA.strategy)
    base, gone, more = (
        Version("d1", Record({"key": "d1", "content": names}), None)
        for names in ({"x": 1, "y": 1}, {"x": None}, {"z": 2})
    )
    for merged in (
        METADATA.merge(rule, METADATA.merge(rule, base, gone), more),
        METADATA.merge(rule, base, METADATA.merge(rule, gone, more)),
    ):
        assert merged.record
        assert merged.record.values["content"] == {"x": None, "y": 1, "z": 2}


def test_dropped_where_a_writer_says_so() -> None:
    """First the property lets go, then the table is gone; a later write that asks makes it anew, of everything."""
    table = upsert(upsert(new_table(Shape()), 1, settings=KEPT), 11)
    before = listed(table)
    effects = metadata.configured_effects(table, {"hoodie.metadata.enable": "false"})
    assert [type(one) for one in effects] == [PutProperties, CommitMetadataTable]
    assert built(perform(table, effects[:1])) == frozenset()
    table = perform(table, effects)
    assert table.metadata is None
    assert listed(perform(table, metadata.configured_effects(table, KEPT))) == before


def test_a_folder_that_is_not_listed_is_not_used() -> None:
    """Without `files` among the built partitions nothing is."""
    table = upsert(new_table(Shape()), 1, settings=KEPT)
    assert isinstance(table.properties, dict)
    table = replace(table, properties={**table.properties, BUILT: "record_index"})
    assert built(table) == frozenset()


def test_one_index_is_dropped_alone() -> None:
    """The others stay."""
    settings = {**KEPT, "hoodie.metadata.record.index.enable": "true"}
    table = upsert(new_table(Shape()), 1, settings=settings)
    table = perform(table, metadata.drop(table, ["record_index"]))
    assert built(table) == {"files"}
    assert sorted(rows_of(view_of(valid(table)))) == ["files"]


def test_compaction_of_the_metadata_table() -> None:
    """Its logs become base files, and it says the same."""
    table = upsert(upsert(new_table(Shape()), 1, settings=KEPT), 11)
    before = listed(table)
    table = perform(table, indexing.compact(table, tick(21), tick(22), EAGER))
    assert table.metadata
    assert [one.action for one in table.metadata.timeline if one.requested == tick(21)][-1] is Action.COMMIT
    assert max(one.instant for one in table.metadata.base_files) == tick(21)
    assert listed(table) == before


def test_there_is_nothing_to_compact_without_it() -> None:
    """A table without metadata table, or with one that has too few commits."""
    table = upsert(new_table(Shape()), 1)
    assert indexing.compact(table, tick(21), tick(22), EAGER) == ()
    table = upsert(new_table(Shape()), 1, settings=KEPT)
    assert indexing.compact(table, tick(21), tick(22), {}) == ()


def test_a_wrong_entry_is_a_violation() -> None:
    """A listed file that is not there breaks the rule, unless a clean is removing it."""
    table = upsert(new_table(Shape()), 1, settings=KEPT)
    assert violations(table) == ()
    table = upsert(upsert(table, 11), 21)
    table = perform(table, compaction.schedule(table, tick(31), EAGER))
    table = perform(table, compaction.execute(table, tick(31), tick(32)))
    table = perform(table, cleaning.schedule(table, tick(41), EAGER))
    stopped = perform(table, cleaning.execute(table, tick(41), tick(42))[:2])
    assert len(stopped.base_files) + len(stopped.log_files) < len(table.base_files) + len(table.log_files)
    assert violations(stopped) == ()
    done = perform(stopped, cleaning.execute(stopped, tick(41), tick(42)))
    assert violations(done) == ()
    lost = replace(done, metadata=table.metadata, log_files=())
    assert {one.clause for one in violations(lost)} >= {"MT-010"}


def test_an_index_of_its_own_name_is_defined_by_the_plan() -> None:
    """What the name does not say stands in the plan's definitions; a table without metadata table gets the list too."""
    table = upsert(new_table(Shape()), 1)
    index = IndexDefinition("secondary_index_note", "secondary_index", "identity", ("note",))
    table = perform(
        table, indexing.schedule(table, tick(11), {"hoodie.metadata.record.index.enable": "true"}, (index,))
    )
    table = perform(table, indexing.execute(table, tick(11), tick(12)))
    assert built(table) == {"files", "record_index", "secondary_index_note"}
    assert rows_of(view_of(valid(table)))["secondary_index_note"] == {"one$a": ""}
    assert metadata_differences(table) == ()
    assert open_table(table).configuration.properties[metadata.BUILDING] == ""


def test_a_secondary_index_without_a_record_index_is_refused() -> None:
    """IX-032: readers could not follow it to a row."""
    index = IndexDefinition("secondary_index_note", "secondary_index", "identity", ("note",))
    with pytest.raises(Rejection, match="IX-032"):
        indexing.schedule(upsert(new_table(Shape()), 1), tick(11), {}, (index,))
