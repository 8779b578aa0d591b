from pathlib import Path
from typing import Final

import pyarrow as pa
import pytest
from engine_tables import TableBuilder
from hudi_format.storage import open_storage
from hudi_spark import HudiError, UnsupportedFeature
from hudi_spark.merge import MergeRule, key_rule, merge_mode, merge_rule
from hudi_spark.testing import load_configuration

MODEL = "org.apache.hudi.common.model."
MODE = "hoodie.record.merge.mode"
PAYLOAD = "hoodie.compaction.payload.class"
STRATEGY = "hoodie.record.merge.strategy.id"
ORDERING = "hoodie.table.ordering.fields"
EVENT: Final = "EVENT_TIME_ORDERING"
COMMIT: Final = "COMMIT_TIME_ORDERING"


def configuration(path: Path, version: int, properties: dict[str, str]):
    builder = TableBuilder(path, version)
    del builder.properties[MODE], builder.properties[ORDERING]
    builder.properties.update(properties)
    builder.write_properties()
    return load_configuration(open_storage(path))


@pytest.mark.parametrize(
    ("version", "properties", "mode"),
    [
        (6, {}, COMMIT),
        (6, {ORDERING: "ts"}, EVENT),
        (6, {PAYLOAD: MODEL + "OverwriteWithLatestAvroPayload", ORDERING: "ts"}, COMMIT),
        (6, {PAYLOAD: MODEL + "DefaultHoodieRecordPayload"}, EVENT),
        (6, {PAYLOAD: MODEL + "DefaultHoodieRecordPayload", MODE: COMMIT}, EVENT),
        (8, {}, COMMIT),
        (8, {ORDERING: "ts"}, EVENT),
        (8, {ORDERING: "ts", MODE: COMMIT}, COMMIT),
        (8, {MODE: "CUSTOM", PAYLOAD: MODEL + "EventTimeAvroPayload"}, "CUSTOM"),
        (8, {STRATEGY: "ce9acb64-bde0-424c-9b91-f6ebba25356d", ORDERING: "ts"}, COMMIT),
        (9, {MODE: EVENT, "hoodie.table.legacy.payload.class": MODEL + "OverwriteWithLatestAvroPayload"}, EVENT),
        (9, {MODE: "CUSTOM"}, "CUSTOM"),
    ],
)
def test_the_merge_mode_is_inferred(tmp_path: Path, version: int, properties: dict[str, str], mode: str):
    assert merge_mode(configuration(tmp_path, version, properties)) == mode


def test_ordering_values_are_compared_by_event_time_alone_and_deletes_end_before_the_base_row():
    """Commit time looks at none, whatever fields the table names; a delete hides the base row in the text only."""
    by_event, by_commit = MergeRule(EVENT, ("ts",)), MergeRule(COMMIT, ("ts",))
    assert (by_event.compares_event_time, by_event.reads_ordering) == (True, True)
    assert (by_commit.compares_event_time, by_commit.reads_ordering) == (False, False)
    assert not MergeRule(EVENT, ()).compares_event_time
    assert not by_event.deletes_reach_base


def test_a_custom_mode_with_a_known_payload_merges_as_the_payload_does(tmp_path: Path):
    properties = {MODE: "CUSTOM", PAYLOAD: MODEL + "EventTimeAvroPayload"}
    assert merge_rule(configuration(tmp_path, 8, properties)).mode == EVENT


def test_the_old_strategy_key_of_version_6_says_nothing(tmp_path: Path):
    """Version 6 writes the id of the event time strategy for every table."""
    old = {"hoodie.compaction.record.merger.strategy": "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"}
    assert merge_mode(configuration(tmp_path, 6, old)) == COMMIT


@pytest.mark.parametrize(
    ("payload", "mode", "unset"),
    [
        ("OverwriteNonDefaultsWithLatestAvroPayload", COMMIT, "defaults"),
        ("PartialUpdateAvroPayload", EVENT, "nulls"),
        ("AWSDmsAvroPayload", COMMIT, None),
        ("debezium.PostgresDebeziumAvroPayload", EVENT, "unavailable"),
        ("debezium.MySqlDebeziumAvroPayload", EVENT, None),
        ("HoodieJsonPayload", COMMIT, None),
    ],
)
@pytest.mark.parametrize("version", [6, 8])
def test_before_version_9_a_payload_class_is_a_rule(
    tmp_path: Path, version: int, payload: str, mode: str, unset: str | None
):
    properties = {MODE: "CUSTOM", PAYLOAD: MODEL + payload, ORDERING: "ts"}
    rule = merge_rule(configuration(tmp_path, version, properties))
    assert (rule.mode, rule.completion and rule.completion.unset) == (mode, unset)


def test_the_metadata_tables_payload_merges_no_data_table(tmp_path: Path):
    properties = {MODE: "CUSTOM", PAYLOAD: "org.apache.hudi.metadata.HoodieMetadataPayload"}
    with pytest.raises(UnsupportedFeature) as caught:
        merge_rule(configuration(tmp_path, 8, properties))
    assert caught.value.feature == "payload-HoodieMetadataPayload"


@pytest.mark.parametrize(
    ("mode", "unset"), [("NONE", None), ("IGNORE_DEFAULTS", "defaults"), ("FILL_UNAVAILABLE", "unavailable")]
)
def test_a_partial_update_mode_says_what_a_winner_leaves_out(tmp_path: Path, mode: str, unset: str | None):
    properties = {MODE: EVENT, "hoodie.table.partial.update.mode": mode}
    completion = merge_rule(configuration(tmp_path, 9, properties)).completion
    assert (completion and completion.unset) == unset


def test_an_unknown_partial_update_mode_is_refused(tmp_path: Path):
    """Sources before and after 1.1 have other names, and an unknown one may mean other rows."""
    properties = {MODE: EVENT, "hoodie.table.partial.update.mode": "KEEP_VALUES"}
    with pytest.raises(HudiError) as caught:
        merge_rule(configuration(tmp_path, 9, properties))
    assert caught.value.reason == "PROPERTIES_INVALID"


@pytest.mark.parametrize(
    "properties",
    [
        {MODE: "CUSTOM"},
        {MODE: "CUSTOM", PAYLOAD: "com.example.MyPayload"},
        {MODE: "CUSTOM", STRATEGY: "00000000-0000-0000-0000-000000000000"},
        {MODE: "CUSTOM", STRATEGY: "6f1d3f7e-7d5c-5d2b-9f58-0d8a7f1c2b3e"},
    ],
)
def test_an_unknown_merger_is_refused(tmp_path: Path, properties: dict[str, str]):
    with pytest.raises(HudiError) as caught:
        merge_rule(configuration(tmp_path, 8, properties))
    assert caught.value.reason == "MERGER_UNKNOWN"


def test_the_delete_marker_comes_from_the_table_before_the_request(tmp_path: Path):
    prefix = "hoodie.record.merge.property.hoodie.payload.delete."
    properties = {MODE: COMMIT, prefix + "field": "Op", prefix + "marker": "D"}
    settings = {"hoodie.payload.delete.field": "op", "hoodie.payload.delete.marker": "x"}
    rule = merge_rule(configuration(tmp_path, 9, properties), settings)
    assert (rule.delete_field, rule.delete_marker) == ("Op", "D")


def test_defaults_are_merged_where_the_mode_requires_them(tmp_path: Path):
    """A column that holds its default takes the loser's value; other modes have no use for defaults."""
    ignoring = configuration(tmp_path / "a", 9, {MODE: EVENT, "hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"})
    completion = merge_rule(ignoring, defaults={"name": "none"}).completion
    assert completion is not None
    assert completion.defaults == (("name", "none"),)
    assert merge_rule(configuration(tmp_path / "b", 9, {MODE: EVENT}), defaults={"name": "none"}).completion is None


@pytest.mark.parametrize(
    ("version", "fields", "generator", "named"),
    [
        (9, "id", "SIMPLE", False),
        (9, "id", "COMPLEX", True),
        (8, "id", "COMPLEX", False),
        (8, "id", "GLOBAL_DELETE", True),
        (9, "id,region", "SIMPLE", True),
        (8, "id,region", "COMPLEX", True),
    ],
)
def test_keys_that_are_not_stored_are_named_as_the_writer_named_them(
    tmp_path: Path, version: int, fields: str, generator: str, named: object
):
    """Several fields always, a single one by some key generators."""
    virtual = {"hoodie.populate.meta.fields": "false", "hoodie.table.keygenerator.type": generator}
    rule = key_rule(configuration(tmp_path, version, {**virtual, "hoodie.table.recordkey.fields": fields}))
    assert (rule.fields, rule.named) == (tuple(fields.split(",")), named)
    row = pa.table({"id": ["a"], "region": ["b"]})
    parts = [f"{field}:{value}" for field, value in zip(rule.fields, "ab", strict=False)]
    assert rule.keys(row).to_pylist() == [",".join(parts) if named else "a"]
