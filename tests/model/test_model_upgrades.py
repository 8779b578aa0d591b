"""Upgrade and downgrade: the steps, the properties, the timeline files, the history."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hudi_model.actions import Action, ClusteringGroup, CommitMetadata, IndexPlan, ReplacePlan, State
from hudi_model.creation import PACKAGE
from hudi_model.effects import PutProperties, perform
from hudi_model.history import history_instants
from hudi_model.merge_modes import merge_mode
from hudi_model.merge_rules import MODE_OF_PAYLOAD, PAYLOADS, MergeMode
from hudi_model.queries import read_snapshot
from hudi_model.rejection import Reason, Rejection, Unsupported
from hudi_model.services import clustering
from hudi_model.tables import ArchivedInstant, History, Table, open_table
from hudi_model.time import tick
from hudi_model.upgrades import change_version
from hypothesis import given
from hypothesis import strategies as st
from model_states import at, base, commit, entry, properties, rows, table

ONE = ("a", 1, "one")
PAYLOAD, MODE = "hoodie.compaction.payload.class", "hoodie.record.merge.mode"
MERGED = "hoodie.record.merge.property.hudi.conformance"
STRATEGY = "hoodie.record.merge.strategy.id"


def small(version: int, table_type: str = "COPY_ON_WRITE", **more: str) -> Table:
    """One row in a table of a version."""
    first = base(1, ONE)
    action = "commit" if table_type == "COPY_ON_WRITE" else "deltacommit"
    return table([commit(1, first, action=action, version=version)], [first], properties(version, table_type, **more))


def changed(found: Table, to: int, put_at: Mapping[str, object] | None = None) -> Table:
    return perform(found, change_version(found, to, at(50), put_at))  # type: ignore[arg-type]


def stated(found: Table) -> Mapping[str, str]:
    return open_table(found).configuration.properties


@given(st.sampled_from([4, 5, 6, 8, 9, 10]), st.integers(0, 12))
def test_a_table_goes_to_6_8_9_and_10_and_from_the_oldest_versions_to_6_only(version: int, to: int) -> None:
    """Any other way is refused; to stay is nothing to do."""
    found = small(version)
    if to not in (6, 8, 9, 10) or version < 6 < to:
        with pytest.raises(Rejection) as refused:
            change_version(found, to, at(50))
        assert refused.value.reason is Reason.CONFIG_INVALID
    else:
        after = changed(found, to)
        assert open_table(after).configuration.rules.version == to
        assert rows(read_snapshot(after)) == [ONE]
        assert change_version(after, to, at(60)) == ()


def test_completed_files_get_the_time_at_which_they_were_put() -> None:
    """Where storage does not tell, the moment after the request."""
    found = small(6)
    name = next(one.name for one in found.timeline if one.state is State.COMPLETED)
    times = [one.completed for one in changed(found, 8, {name: at(7)}).timeline if one.state is State.COMPLETED]
    assert times == [at(7)]
    assert [one.completed for one in changed(found, 8).timeline if one.completed] == [tick(1001)]
    assert not [one.completed for one in changed(changed(found, 8), 6).timeline if one.completed]


def test_a_plan_that_the_change_carries_out_completes_when_it_does() -> None:
    """However long ago it was requested: writes have completed since."""
    first, second = base(1, ONE), base(9, ("b", 1, "two"), file_id="f2")
    found = table(
        [commit(1, first, version=6), commit(9, second, version=6)], [first, second], properties(6, "COPY_ON_WRITE")
    )
    found = perform(found, clustering.schedule(found, at(5), {"hoodie.clustering.inline.max.commits": "1"}))
    put_at = {one.name: at(10) for one in found.timeline if one.state is State.COMPLETED and one.requested == at(9)}
    times = {one.requested: one.completed for one in changed(found, 8, put_at).timeline if one.completed}
    assert times[at(9)] == at(10)
    assert times[at(5)] == at(50)


def test_what_the_change_carries_out_completes_after_every_request_of_its_own() -> None:
    """A clustering that was planned before does not complete at the request of the rollback of a failed write."""
    first, failed = base(1, ONE), (entry(7, "commit", "REQUESTED"), entry(7, "commit", "INFLIGHT"))
    found = table([commit(1, first, version=6), failed], [first], properties(6, "COPY_ON_WRITE"))
    found = perform(found, clustering.schedule(found, at(5), {"hoodie.clustering.inline.max.commits": "1"}))
    done = [one for one in changed(found, 8, {}).timeline if one.completed]
    assert {one.action for one in done} >= {Action.ROLLBACK, Action.REPLACE_COMMIT}
    assert not {one.completed for one in done} & {one.requested for one in done}


def test_the_properties_are_put_between_the_new_files_and_the_end_of_the_old_ones() -> None:
    """So that at every moment one of the two timelines is whole."""
    found = small(6)
    effects = change_version(found, 8, at(50))
    put = next(number for number, one in enumerate(effects) if isinstance(one, PutProperties))
    before, after = perform(found, effects[:put]), perform(found, effects[: put + 1])
    assert (stated(before)["hoodie.table.version"], stated(after)["hoodie.table.version"]) == ("6", "8")
    assert rows(read_snapshot(before)) == rows(read_snapshot(after)) == [ONE]


@pytest.mark.parametrize("name", sorted(PAYLOADS))
def test_a_payload_class_comes_back_from_version_9_as_it_was(name: str) -> None:
    """Apache Hudi's issue HUDI-8401, for each class that the format gives up."""
    mode = MODE_OF_PAYLOAD.get(name, MergeMode.CUSTOM)
    own = ",".join(PAYLOADS[name].ordering)
    package = PACKAGE + ("debezium." if own else "")
    found = small(8, **{PAYLOAD.replace(".", "_"): package + name, MODE.replace(".", "_"): mode.value})
    newest = changed(found, 9)
    assert PAYLOAD not in stated(newest)
    assert stated(newest)["hoodie.table.legacy.payload.class"] == package + name
    assert merge_mode(open_table(newest).configuration) is PAYLOADS[name].mode
    back = stated(changed(newest, 8))
    assert (back[PAYLOAD], back[MODE]) == (package + name, mode.value)
    assert back["hoodie.table.precombine.field"] == (own or "ts")
    left = [one for one in back if "legacy" in one or "merge.property" in one or "partial.update" in one]
    assert left == []


@pytest.mark.parametrize(
    ("table_type", "payload", "ordering", "mode"),
    [
        ("MERGE_ON_READ", "OverwriteWithLatestAvroPayload", "ts", MergeMode.EVENT_TIME_ORDERING),
        ("MERGE_ON_READ", "OverwriteWithLatestAvroPayload", "", MergeMode.COMMIT_TIME_ORDERING),
        ("MERGE_ON_READ", "DefaultHoodieRecordPayload", "", MergeMode.EVENT_TIME_ORDERING),
        ("MERGE_ON_READ", "AWSDmsAvroPayload", "ts", MergeMode.CUSTOM),
        ("COPY_ON_WRITE", "", "ts", MergeMode.EVENT_TIME_ORDERING),
        ("COPY_ON_WRITE", "DefaultHoodieRecordPayload", "ts", MergeMode.EVENT_TIME_ORDERING),
    ],
)
def test_the_mode_that_a_table_of_version_6_gets(table_type: str, payload: str, ordering: str, mode: MergeMode) -> None:
    """Apache Hudi's issues HUDI-8521 and HUDI-8942: whatever strategy id version 6 had."""
    more = {PAYLOAD.replace(".", "_"): PACKAGE + payload if payload else "", "hoodie_table_ordering_fields": ordering}
    found = stated(changed(small(6, table_type, **more), 8))
    assert found[MODE] == mode.value
    if mode is MergeMode.CUSTOM:
        assert found[PAYLOAD] == PACKAGE + payload


def test_properties_of_a_merger_stay() -> None:
    """Its properties stand beside its id in version 8, too."""
    own = {STRATEGY: "2e073cb4-ac99-573a-986a-1e30a8c39b14", MODE: "CUSTOM", f"{MERGED}.columns": "number"}
    assert stated(changed(small(9, **own), 8)).items() >= own.items()


def test_types_of_partition_fields_do_not_reach_version_6() -> None:
    """Apache Hudi's issue HUDI-8729."""
    found = small(8, hoodie_table_partition_fields="day:SIMPLE,hour:TIMESTAMP")
    assert stated(changed(found, 6))["hoodie.table.partition.fields"] == "day,hour"
    assert stated(changed(found, 9))["hoodie.table.partition.fields"] == "day:SIMPLE,hour:TIMESTAMP"


def test_custom_merging_without_a_payload_class_does_not_reach_version_6() -> None:
    """Version 6 has no other way to say it."""
    found = small(8, **{MODE.replace(".", "_"): "CUSTOM", STRATEGY.replace(".", "_"): "an-id"})
    with pytest.raises(Rejection) as refused:
        change_version(found, 6, at(50))
    assert refused.value.reason is Reason.CONFIG_INVALID
    after = stated(changed(found, 9))
    assert (after[MODE], after[STRATEGY]) == ("CUSTOM", "an-id")


def test_every_action_has_a_name_in_both_layouts() -> None:
    """Apache Hudi's issue 13908: a downgrade failed on indexing."""
    found = small(9)
    actions = [one for one in Action if one not in (Action.COMPACTION, Action.LOG_COMPACTION, Action.CLUSTERING)]
    others = tuple(
        entry(10 + number, one, "COMPLETED", 30 + number, IndexPlan((), at(1)) if one is Action.INDEXING else None)
        for number, one in enumerate(actions)
        if one not in (Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT)
    )
    found = Table(found.properties, None, (*found.timeline, *others), found.base_files, ())
    back = changed(changed(found, 6), 9)
    known = {(one.requested, one.action, one.state) for one in found.timeline}
    assert {(one.requested, one.action, one.state) for one in back.timeline} == known


def test_the_request_of_a_clustering_changes_its_name() -> None:
    """Also where the clustering has completed: its files have the names of the version throughout."""
    found, group = small(9), ClusteringGroup(())
    clustering = (
        entry(2, "clustering", "REQUESTED", content=ReplacePlan("cluster", (group,))),
        entry(2, "clustering", "INFLIGHT"),
        entry(2, "replacecommit", "COMPLETED", 3, CommitMetadata("CLUSTER")),
    )
    found = Table(found.properties, None, (*found.timeline, *clustering), found.base_files, ())
    lower = changed(found, 6)
    assert [one.action for one in lower.timeline if one.requested == at(2)] == [Action.REPLACE_COMMIT] * 3
    upper = [one for one in changed(lower, 9).timeline if one.requested == at(2)]
    assert {(one.action, one.state) for one in upper} == {(one.action, one.state) for one in clustering}


def test_archived_actions_come_along_both_ways() -> None:
    """Apache Hudi's issue HUDI-9263."""
    rows_ = tuple(ArchivedInstant(at(number / 10), None, Action.COMMIT, None) for number in (1, 2))
    found = small(6)
    found = Table(found.properties, None, found.timeline, found.base_files, (), history=History(archived_log=rows_))
    upper = changed(found, 9)
    assert [one.requested for one in history_instants(upper.history, 2)] == [at(0.1), at(0.2)]
    assert all(one.completed for one in history_instants(upper.history, 2))
    lower = changed(upper, 6)
    assert {one.requested for one in history_instants(lower.history, 1)} == {at(0.1), at(0.2)}


def test_the_metadata_table_is_dropped_after_the_properties_have_let_go_of_it() -> None:
    """No reader is sent to a table that is not there."""
    found = small(8, hoodie_table_metadata_partitions="files")
    found = Table(found.properties, None, found.timeline, found.base_files, (), metadata=small(8))
    effects = change_version(found, 9, at(50))
    assert isinstance(effects[0], PutProperties)
    after = perform(found, effects)
    assert after.metadata is None
    assert "hoodie.table.metadata.partitions" not in stated(after)


def test_a_mode_that_keeps_some_meta_fields_is_not_decided() -> None:
    found = small(10)
    some = {**dict(found.properties or {}), "hoodie.meta.fields.mode": "COMMIT_TIME_ONLY"}  # type: ignore[arg-type]
    with pytest.raises(Unsupported):
        open_table(replace(found, properties=some))


@given(st.sampled_from(["true", "false"]))
def test_the_switch_of_meta_fields_comes_back_from_version_10(switch: str) -> None:
    found = small(9)
    found = replace(found, properties={**dict(found.properties or {}), "hoodie.populate.meta.fields": switch})  # type: ignore[arg-type]
    there = changed(found, 10)
    assert stated(there)["hoodie.meta.fields.mode"] == ("ALL" if switch == "true" else "NONE")
    back = stated(changed(there, 9))
    assert back["hoodie.populate.meta.fields"] == switch
    assert "hoodie.meta.fields.mode" not in back
