"""Change data capture: logged and derived changes, their images, and what is refused."""

from dataclasses import replace

import pytest
from hudi_model.actions import Action, CommitMetadata, Instant, State
from hudi_model.files import CdcBlock, CdcRecord, Damaged, LogFile, Record
from hudi_model.incremental import derived_changes, read_changes, with_images
from hudi_model.rejection import Reason, Rejection
from hudi_model.tables import Table
from hudi_model.time import tick
from hypothesis import given
from hypothesis import strategies as st
from test_model_incremental import DELETE, UPSERT, written

FEED = {"hoodie.table.cdc.enabled": "true"}
ROWS = st.dictionaries(st.sampled_from("abc"), st.sampled_from((tick(1), tick(2))))


def rows(commits: dict[str, str]) -> dict[str, Record]:
    return {key: Record({"_hoodie_record_key": key, "_hoodie_commit_time": at}) for key, at in commits.items()}


def changes_of(table: Table, begin: str = "0", end: str | None = None) -> list[tuple[str, str | None, str | None]]:
    """Operation and the notes of both images."""
    found = read_changes(table, begin, end).rows
    return [(row["op"], (row["before"] or {}).get("note"), (row["after"] or {}).get("note")) for row in found]


def test_every_write_records_its_changes():
    """A key that three writes touch has three changes."""
    table = written((UPSERT, "a", 1), (UPSERT, "a", 2), (DELETE, "a", 3), **FEED)
    assert changes_of(table) == [("i", None, "0"), ("u", "0", "1"), ("d", "1", None)]
    assert changes_of(table, tick(1), tick(11)) == [("u", "0", "1")]


def test_a_late_row_and_a_delete_of_nothing_are_no_changes():
    """What a write brought without effect is no change."""
    assert changes_of(written((UPSERT, "a", 5), (UPSERT, "a", 1), (DELETE, "b", 9), **FEED)) == [("i", None, "0")]


@given(ROWS, ROWS)
def test_derived_changes_lead_from_before_to_after(before: dict[str, str], after: dict[str, str]):
    """Keys come and go by the changes alone; rows of other writes are left alone."""
    write = Instant(tick(2), Action.COMMIT, State.COMPLETED, tick(3), CommitMetadata())
    found = {one.key: one.operation for one in derived_changes(write, rows(before), rows(after))}
    assert {key for key, operation in found.items() if operation == "d"} == before.keys() - after.keys()
    changed = {key for key, at in after.items() if at == tick(2) or key not in before}
    assert {key for key, operation in found.items() if operation != "d"} == changed
    assert all((found[key] == "u") == (key in before) for key in changed)


@given(st.sampled_from("iud"), st.booleans(), st.booleans())
def test_images_are_completed_as_the_operation_has_them(operation: str, has_before: bool, has_after: bool):
    """An insert has no row before and a delete none after, whatever lies there; a logged image stays."""
    logged, found = Record({"note": "logged"}), Record({"note": "found"})
    change = CdcRecord(operation, "k", logged if has_before else None, logged if has_after else None)
    whole = with_images(change, {"k": found}, {"k": found})
    assert whole.before == (None if operation == "i" else logged if has_before else found)
    assert whole.after == (None if operation == "d" else logged if has_after else found)


def with_log(table: Table, changes: tuple[CdcRecord, ...] | Damaged, *, stored: bool = True) -> Table:
    """The last write names a change log of its file group."""
    entry = max((one for one in table.timeline if one.state is State.COMPLETED), key=lambda one: one.requested)
    assert isinstance(entry.content, CommitMetadata)
    stat = entry.content.write_stats[0]
    name = f".{stat.file_id}_{entry.requested}.log.1_0-1-0.cdc"
    blocks = (CdcBlock(entry.requested, changes),)
    log = LogFile("", stat.file_id, entry.requested, 1, "0-1-0", cdc=True, name=name, blocks=blocks)
    content = replace(entry.content, write_stats=(replace(stat, change_logs=(name,)), *entry.content.write_stats[1:]))
    timeline = tuple(replace(one, content=content) if one is entry else one for one in table.timeline)
    return replace(table, timeline=timeline, log_files=(*table.log_files, log) if stored else table.log_files)


def test_a_change_log_speaks_for_its_file_group():
    """What is logged is not derived as well; missing images are looked up by key."""
    table = with_log(written((UPSERT, "a", 1), (UPSERT, "a", 2), **FEED), (CdcRecord("u", "a"),))
    assert changes_of(table) == [("i", None, "0"), ("u", "0", "1")]


def test_a_missing_change_log_is_refused():
    """A feed with a gap would pass for a whole one."""
    with pytest.raises(Rejection) as caught:
        read_changes(with_log(written((UPSERT, "a", 1), **FEED), (), stored=False), "0")
    assert caught.value.reason is Reason.LOG_FILE_MISSING


def test_a_damaged_change_log_is_refused():
    """The damage is reported with the reason it was found with."""
    damage = Damaged(Reason.LOG_CONTENT_CORRUPT, "CD-009", "f", "torn")
    with pytest.raises(Rejection) as caught:
        read_changes(with_log(written((UPSERT, "a", 1), **FEED), damage), "0")
    assert caught.value.reason is Reason.LOG_CONTENT_CORRUPT


def test_a_table_without_feed_is_refused():
    """Whoever has not enabled the feed gets none, though it could be derived."""
    with pytest.raises(Rejection) as caught:
        read_changes(written((UPSERT, "a", 1)), "0")
    assert caught.value.reason is Reason.CONFIG_INVALID


def test_a_range_among_archived_writes_is_refused():
    """Files from before the timeline show that changes are missing; a later begin needs none of them."""
    table = written((UPSERT, "a", 1), (UPSERT, "b", 1), (UPSERT, "c", 1), **FEED)
    active = replace(table, timeline=tuple(one for one in table.timeline if one.requested > tick(0)))
    with pytest.raises(Rejection) as caught:
        read_changes(active, "0")
    assert caught.value.reason is Reason.RANGE_NOT_RETAINED
    assert changes_of(active, tick(11)) == [("i", None, "2")]
