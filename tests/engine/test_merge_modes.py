from pathlib import Path

import pytest
from engine_tables import TableBuilder
from hudi_format.storage import open_storage
from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.merging.modes import merge_mode, merge_rule, refuse_unbuilt_merging
from hudi_spark.state.configuration import load_configuration

MODEL = "org.apache.hudi.common.model."
MODE = "hoodie.record.merge.mode"
PAYLOAD = "hoodie.compaction.payload.class"
STRATEGY = "hoodie.record.merge.strategy.id"
ORDERING = "hoodie.table.ordering.fields"
EVENT, COMMIT = "EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"


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


def test_a_custom_mode_with_a_known_payload_merges_as_the_payload_does(tmp_path: Path):
    properties = {MODE: "CUSTOM", PAYLOAD: MODEL + "EventTimeAvroPayload"}
    found = configuration(tmp_path, 8, properties)
    refuse_unbuilt_merging(found)
    assert merge_rule(found).mode == EVENT


def test_the_old_strategy_key_of_version_6_says_nothing(tmp_path: Path):
    """Version 6 writes the id of the event time strategy for every table."""
    old = {"hoodie.compaction.record.merger.strategy": "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"}
    assert merge_mode(configuration(tmp_path, 6, old)) == COMMIT


def test_a_payload_that_is_not_built_is_named(tmp_path: Path):
    properties = {MODE: "CUSTOM", PAYLOAD: MODEL + "PartialUpdateAvroPayload"}
    with pytest.raises(UnsupportedFeature) as caught:
        refuse_unbuilt_merging(configuration(tmp_path, 8, properties))
    assert caught.value.feature == "payload-PartialUpdateAvroPayload"


def test_a_partial_update_mode_is_named(tmp_path: Path):
    properties = {MODE: EVENT, "hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}
    with pytest.raises(UnsupportedFeature) as caught:
        refuse_unbuilt_merging(configuration(tmp_path, 9, properties))
    assert caught.value.feature == "partial-update"


@pytest.mark.parametrize("properties", [{MODE: "CUSTOM"}, {MODE: "CUSTOM", PAYLOAD: "com.example.MyPayload"}])
def test_an_unknown_merger_is_refused(tmp_path: Path, properties: dict[str, str]):
    with pytest.raises(HudiError) as caught:
        refuse_unbuilt_merging(configuration(tmp_path, 8, properties))
    assert caught.value.reason == "MERGER_UNKNOWN"


def test_the_delete_marker_comes_from_the_table_before_the_request(tmp_path: Path):
    prefix = "hoodie.record.merge.property.hoodie.payload.delete."
    properties = {MODE: COMMIT, prefix + "field": "Op", prefix + "marker": "D"}
    asked = {"hoodie.payload.delete.field": "op", "hoodie.payload.delete.marker": "x"}
    rule = merge_rule(configuration(tmp_path, 9, properties), asked)
    assert (rule.delete_field, rule.delete_marker) == ("Op", "D")
