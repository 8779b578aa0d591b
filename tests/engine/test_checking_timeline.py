"""Properties, timeline and history of tables that the engine wrote, each with one damage."""

from pathlib import Path

import pytest
from checked_reference import assert_alike
from checked_tables import (
    BASE,
    LOG,
    Damage,
    Damages,
    archived,
    archived_6,
    brought_back,
    clauses,
    clean_plan,
    completion_of,
    copied,
    cow,
    cut,
    emptied,
    instant_of,
    mor,
    oldest_archived,
    planned,
    put_action,
    renamed,
    replaced,
    requested_compaction,
    served,
    set_properties,
    some,
    timeline_of,
    with_byte,
)
from hudi_format.names import TimelineFileName

DAMAGED = Damages()
breaks = DAMAGED.breaks


@breaks("PR-002", of=cow)
def a_type_that_is_none(table: Path) -> None:
    replaced(table / ".hoodie/hoodie.properties", b"COPY_ON_WRITE", b"X")


@breaks("PR-002", of=cow)
def name_and_type_gone(table: Path) -> None:
    set_properties(table, table__name=None, table__type=None)


@breaks("PR-003", of=cow)
def another_checksum(table: Path) -> None:
    replaced(table / ".hoodie/hoodie.properties", b"table.checksum=", b"table.checksum=1")


@breaks("PR-001", of=cow)
def an_escape_that_is_none(table: Path) -> None:
    (table / ".hoodie/hoodie.properties").write_bytes(b"a=\\u00")


@breaks("PR-007", of=cow)
def a_layout_that_is_none(table: Path) -> None:
    set_properties(table, timeline__layout__version="3")


@breaks("MG-012", of=cow)
def a_mode_that_is_none(table: Path) -> None:
    set_properties(table, record__merge__mode="ANY")


@breaks("MG-016", of=cow)
def two_ways_of_merging(table: Path) -> None:
    set_properties(table, record__merge__strategy__id="ce9acb64-bde0-424c-9b91-f6ebba25356d")


@breaks("VR-002", of=cow)
def a_version_that_is_none(table: Path) -> None:
    set_properties(table, table__version="77")


@breaks("BF-010", of=cow)
def a_base_format_that_is_none(table: Path) -> None:
    set_properties(table, table__base__file__format="CSV")


@breaks("CD-008", of=cow)
def a_logging_mode_that_is_none(table: Path) -> None:
    set_properties(table, table__cdc__supplemental__logging__mode="ALL")


@breaks("TL-016", of=mor)
def letters_in_an_instant(table: Path) -> None:
    renamed(timeline_of(table, "*.deltacommit", 2), "2025", "x025")


@breaks("TL-016", of=mor)
def an_action_that_is_none(table: Path) -> None:
    renamed(timeline_of(table, "*.deltacommit", 2), "deltacommit", "teleport")


@breaks("TL-016", of=mor)
def a_folder_in_the_place_of_an_instant(table: Path) -> None:
    completed = timeline_of(table, "*.deltacommit", 2)
    completed.unlink()
    completed.mkdir()


@breaks("TL-016", of=mor)
def an_instant_that_is_a_link_to_itself(table: Path) -> None:
    completed = timeline_of(table, "*.deltacommit", 2)
    completed.unlink()
    completed.symlink_to(completed.name)


@breaks("OW-002", of=cow)
def a_write_that_others_build_on_is_pending_again(table: Path) -> None:
    timeline_of(table, "*_*.commit", 0).unlink()


@breaks("TL-012", of=mor)
def two_completions(table: Path) -> None:
    put_action(table, TimelineFileName(instant_of(table, 1), "deltacommit", "COMPLETED", "20250102000000000"))


@breaks("TL-012", of=mor)
def one_completion_time_of_two(table: Path) -> None:
    renamed(timeline_of(table, "*_*.deltacommit", 1), completion_of(table, 1), completion_of(table, 2))


@breaks("TL-011", of=mor)
def completed_before_requested(table: Path) -> None:
    renamed(timeline_of(table, "*_*.deltacommit", 0), "_2025", "_2024")


@breaks("TL-005", of=mor)
def two_actions_of_an_instant(table: Path) -> None:
    put_action(table, TimelineFileName(instant_of(table, 1), "rollback", "INFLIGHT"))


@breaks("TL-006", of=mor)
def completed_as_something_else(table: Path) -> None:
    renamed(timeline_of(table, "*_*.deltacommit", 1), "deltacommit", "commit")


@breaks("TL-003", of=mor)
def never_requested(table: Path) -> None:
    timeline_of(table, "*.requested", 1).unlink()


@breaks("TL-003", of=mor)
def never_inflight(table: Path) -> None:
    timeline_of(table, "*.inflight", 1).unlink()


@breaks(of=cow)
def a_savepoint_of_nothing(table: Path) -> None:
    put_action(table, TimelineFileName("20250101000000999", "savepoint", "INFLIGHT"))


@breaks("TL-015", of=mor)
def a_commit_without_content(table: Path) -> None:
    emptied(timeline_of(table, "*_*.deltacommit", 1))


@breaks("TL-020", of=mor)
def a_commit_that_breaks_off(table: Path) -> None:
    cut(timeline_of(table, "*_*.deltacommit", 1), 300)


@breaks("TL-014", of=mor)
def a_commit_that_is_text(table: Path) -> None:
    timeline_of(table, "*_*.deltacommit", 1).write_text("done")


@breaks("TL-014", of=mor)
def a_request_that_is_text(table: Path) -> None:
    timeline_of(table, "*.requested", 1).write_text("done")


@breaks("TL-033", of=served)
def a_clean_without_result(table: Path) -> None:
    emptied(timeline_of(table, "*_*.clean"))


@breaks("TL-014", of=planned)
def a_plan_that_breaks_off(table: Path) -> None:
    cut(timeline_of(table, "*.compaction.requested"))


@breaks("RD-008", of=planned)
def a_plan_that_is_gone(table: Path) -> None:
    emptied(timeline_of(table, "*.compaction.requested"))


@breaks("CP-003", of=planned)
def a_group_in_two_plans(table: Path) -> None:
    requested_compaction(table, "20250101000009000")


@breaks("CP-005", "RD-018", "SR-002", of=planned)
def a_planned_log_is_gone(table: Path) -> None:
    some(table, LOG).unlink()


@breaks("CP-005", "RD-011", "SR-002", of=planned)
def a_planned_base_file_is_gone(table: Path) -> None:
    some(table, BASE).unlink()


@breaks("CP-005", of=planned)
def a_planned_write_has_not_completed(table: Path) -> None:
    timeline_of(table, "*_*.deltacommit", 1).unlink()


@breaks("CN-006", of=cow)
def two_cleans_wait(table: Path) -> None:
    for n in (7, 8):
        put_action(table, TimelineFileName(f"2025010100000{n}000", "clean", "REQUESTED"), clean_plan())


@breaks("CN-012", "SA-001", of=served)
def a_cleaned_file_is_there(table: Path) -> None:
    brought_back(table)


@breaks("HS-004", of=archived)
def a_file_of_the_history_is_gone(table: Path) -> None:
    timeline_of(table, "history/*.parquet").unlink()


@breaks("TL-030", of=archived)
def a_file_of_the_history_is_cut(table: Path) -> None:
    cut(timeline_of(table, "history/*.parquet"))


@breaks("HS-004", of=archived)
def a_manifest_is_gone(table: Path) -> None:
    timeline_of(table, "history/manifest_*", -1).unlink()


@breaks("TL-031", of=archived)
def a_manifest_is_cut(table: Path) -> None:
    cut(timeline_of(table, "history/manifest_*", -1))


@breaks("TL-031", of=archived)
def a_version_file_without_number(table: Path) -> None:
    (table / ".hoodie/timeline/history/_version_").write_text("newest")


@breaks("TL-032", of=archived_6)
def an_archived_log_that_does_not_decode(table: Path) -> None:
    with_byte(some(table, ".hoodie/archived/.commits*"), -30, 255)


@breaks("AR-011", of=archived)
def an_archived_action_is_pending(table: Path) -> None:
    put_action(table, TimelineFileName(oldest_archived(table), "commit", "REQUESTED"))


@pytest.mark.slow
@pytest.mark.parametrize("one", DAMAGED.cases, ids=str)
def test_a_damage_is_named_by_its_clause_alone_and_as_the_model_names_it(one: Damage, tmp_path: Path):
    table = copied(one.make, tmp_path)
    one.break_(table)
    assert {clause for clause, _ in clauses(table)} == one.clauses
    assert_alike(str(one), table)
