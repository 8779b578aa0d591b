import pytest
from hudi_model.configuration import configure
from hudi_model.conflicts import write_mode
from hudi_model.merge_modes import merge_mode, merge_rule
from hudi_model.merge_rules import MergeMode
from hudi_model.rejection import Reason, Rejection
from hudi_model.tables import RELEASED, TEXT
from model_states import properties

EVENT_ID = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
COMMIT_ID = "ce9acb64-bde0-424c-9b91-f6ebba25356d"
PACKAGE = "org.apache.hudi.common.model."


def mode(version: int, payload: str = "", persisted: str = "", strategy: str = "", ordering: str = "ts") -> MergeMode:
    return merge_mode(configure(settings(version, payload, persisted, strategy, ordering)))


def settings(
    version: int, payload: str = "", persisted: str = "", strategy: str = "", ordering: str = "ts"
) -> dict[str, str]:
    return properties(
        version,
        hoodie_compaction_payload_class=PACKAGE + payload if payload else "",
        hoodie_record_merge_mode=persisted.replace("_", "%"),
        hoodie_record_merge_strategy_id=strategy,
        hoodie_table_ordering_fields=ordering,
    ) | ({"hoodie.record.merge.mode": persisted} if persisted else {})


@pytest.mark.parametrize("version", [6, 8, 9])
def test_without_anything_stated_ordering_fields_decide(version: int) -> None:
    assert mode(version) is MergeMode.EVENT_TIME_ORDERING
    assert mode(version, ordering="") is MergeMode.COMMIT_TIME_ORDERING


def test_in_version_6_the_payload_class_decides_over_mode_strategy_and_ordering_field() -> None:
    assert mode(6, "OverwriteWithLatestAvroPayload", strategy=EVENT_ID) is MergeMode.COMMIT_TIME_ORDERING
    assert mode(6, "DefaultHoodieRecordPayload", ordering="") is MergeMode.EVENT_TIME_ORDERING
    assert mode(6, "OverwriteWithLatestAvroPayload", "EVENT_TIME_ORDERING") is MergeMode.COMMIT_TIME_ORDERING
    assert mode(6, "PartialUpdateAvroPayload") is MergeMode.CUSTOM


def test_version_6_writes_the_event_time_id_under_its_own_key_and_it_says_nothing() -> None:
    found = {**settings(6, ordering=""), "hoodie.compaction.record.merger.strategy": EVENT_ID}
    assert merge_mode(configure(found)) is MergeMode.COMMIT_TIME_ORDERING


@pytest.mark.parametrize("version", [8, 9])
def test_from_version_8_on_the_persisted_mode_decides(version: int) -> None:
    assert mode(version, "DefaultHoodieRecordPayload", "COMMIT_TIME_ORDERING") is MergeMode.COMMIT_TIME_ORDERING
    assert mode(version, strategy=COMMIT_ID) is MergeMode.COMMIT_TIME_ORDERING
    assert mode(version, "OverwriteWithLatestAvroPayload") is MergeMode.COMMIT_TIME_ORDERING


def test_a_mode_that_is_none_is_refused() -> None:
    with pytest.raises(Rejection) as caught:
        mode(9, persisted="LATEST")
    assert caught.value.reason is Reason.PROPERTIES_INVALID


def test_a_merger_or_a_payload_that_nobody_knows_is_refused() -> None:
    for found in (settings(8, "MyPayload", "CUSTOM"), settings(9, persisted="CUSTOM", strategy="my-id")):
        with pytest.raises(Rejection) as caught:
            merge_rule(configure(found))
        assert caught.value.reason is Reason.MERGER_UNKNOWN


def test_a_partial_update_mode_that_no_release_has_is_refused() -> None:
    with pytest.raises(Rejection) as caught:
        merge_rule(configure({**settings(9), "hoodie.table.partial.update.mode": "KEEP_VALUES"}))
    assert caught.value.reason is Reason.PROPERTIES_INVALID


def test_a_writer_may_override_the_mode_in_the_text_and_not_as_released() -> None:
    table = configure(settings(9, persisted="EVENT_TIME_ORDERING"))
    assert write_mode(table, MergeMode.COMMIT_TIME_ORDERING, TEXT) is MergeMode.COMMIT_TIME_ORDERING
    assert write_mode(table, None, RELEASED) is MergeMode.EVENT_TIME_ORDERING
    with pytest.raises(Rejection) as caught:
        write_mode(table, MergeMode.COMMIT_TIME_ORDERING, RELEASED)
    assert caught.value.reason is Reason.CONFIG_INVALID
