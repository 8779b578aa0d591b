"""The steps from version to version as functions of properties."""

import pytest
from hudi_spark.services.upgrade import applied, step_changes
from hudi_spark.write.creation import TRANSLATED


@pytest.mark.parametrize("payload", TRANSLATED)
def test_the_properties_of_a_payload_come_back(payload: str) -> None:
    """From 8 to 9 a payload class becomes what it amounts to; the downgrade restores what was."""
    custom = {
        "hoodie.record.merge.mode": "CUSTOM",
        "hoodie.record.merge.strategy.id": "0" * 8 + "-0000" * 3 + "-" + "0" * 12,
    }
    plain = {"Default": ("EVENT_TIME_ORDERING", "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5")}
    plain["OverwriteWithLatest"] = ("COMMIT_TIME_ORDERING", "ce9acb64-bde0-424c-9b91-f6ebba25356d")
    plain["EventTime"] = plain["Default"]
    name = payload.rpartition(".")[2]
    named = next((value for key, value in plain.items() if name.startswith(key)), None)
    merging = custom if named is None else dict(zip(custom, named, strict=True))
    ordering = "_event_seq" if "MySql" in payload else "_event_lsn" if "Postgres" in payload else "ts"
    old = {
        "hoodie.table.version": "8",
        "hoodie.compaction.payload.class": payload,
        "hoodie.table.precombine.field": ordering,
        **merging,
    }
    new = applied(old, step_changes(old, 8, 9))
    assert new["hoodie.table.legacy.payload.class"] == payload
    assert new["hoodie.record.merge.mode"] == TRANSLATED[payload].mode
    assert "hoodie.compaction.payload.class" not in new
    assert applied(new, step_changes(new, 9, 8)) == old
