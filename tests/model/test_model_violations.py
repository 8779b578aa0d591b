from collections.abc import Iterable
from dataclasses import replace

import pytest
from hudi_model.actions import TimelineEntry
from hudi_model.files import BaseFile, CorruptBlock, DataBlock, LogFile, UnsupportedContent
from hudi_model.rejection import Reason, Rejection
from hudi_model.tables import Table
from hudi_model_tools.violations import Violation, violations
from model_states import at, base, commit, damaged, data, entry, failed, log, properties, table, with_records


def broken(
    timeline: Iterable[tuple[TimelineEntry, ...]], files: Iterable[BaseFile | LogFile] = (), **settings: str
) -> set[tuple[str, str]]:
    return found_in(table(timeline, files, {**properties(), **{f"hoodie.{key}": one for key, one in settings.items()}}))


def found_in(state: Table) -> set[tuple[str, str]]:
    return {(one.clause, one.severity.value) for one in violations(state)}


def test_a_sound_table_with_leftovers_of_failed_writes_has_no_violation() -> None:
    first = base(1, ("a", 1, "x"))
    leftovers = [base(2), log(3, data(3)), log(9, data(9), file_id="f9")]
    assert not broken([commit(1, first), failed(2)], [first, *leftovers])


def test_a_folder_without_properties_is_no_table_to_check() -> None:
    with pytest.raises(Rejection) as caught:
        violations(replace(table([]), properties=None))
    assert caught.value.reason is Reason.NOT_A_TABLE


def test_a_broken_file_is_an_error_and_a_warning_where_the_backup_stands_in() -> None:
    state = replace(table([]), properties={**properties(), "hoodie.table.checksum": "1"})
    assert found_in(state) == {("PR-003", "error")}
    assert found_in(replace(state, backup_properties=properties())) == {("PR-003", "warning"), ("PR-008", "warning")}


def test_an_unknown_version_is_an_error() -> None:
    assert found_in(table([], settings=properties(11))) == {("VR-002", "error")}


@pytest.mark.parametrize(
    ("clause", "timeline"),
    [
        ("TL-003", [commit(1), commit(2)[2:]]),
        ("TL-005", [commit(1), commit(2), (entry(2, "rollback", "REQUESTED"),)]),
        ("TL-011", [commit(2, completed=1)]),
        ("TL-012", [commit(1, completed=2), commit(1, completed=3)[2:]]),
        ("TL-012", [commit(1, completed=5), commit(2, completed=5)]),
        ("TL-015", [(*commit(1)[:2], entry(1, "deltacommit", "COMPLETED", 2))]),
        ("TL-033", [commit(1), (*failed(2, "clean"), entry(2, "clean", "COMPLETED", 3))]),
        ("RD-011", [commit(1, base(1))]),
    ],
)
def test_each_fault_of_a_timeline_is_reported_by_its_clause(
    clause: str, timeline: list[tuple[TimelineEntry, ...]]
) -> None:
    assert broken(timeline) == {(clause, "error")}


def test_a_malformed_name_is_an_error() -> None:
    bad = replace(table([]), malformed=(damaged(Reason.INSTANT_MALFORMED, "TL-016"),))
    assert found_in(bad) == {("TL-016", "error")}


def test_damage_in_a_timeline_file_is_an_error_unless_the_file_is_never_read() -> None:
    damage = damaged(Reason.TIMELINE_FILE_CORRUPT, "TL-014")
    inflight = [commit(1), (entry(2, "deltacommit", "REQUESTED"), entry(2, "deltacommit", "INFLIGHT", content=damage))]
    assert broken(inflight) == {("TL-014", "warning")}
    assert broken([(*commit(1)[:2], entry(1, "deltacommit", "COMPLETED", 2, damage))]) == {("TL-014", "error")}


def test_every_damaged_piece_is_reported_and_not_only_the_first() -> None:
    bad_base = with_records(base(1), damaged(Reason.BASE_FILE_CORRUPT, "BF-004"))
    bad_block = DataBlock(at(2), damaged(Reason.LOG_CONTENT_CORRUPT, "LF-013"))
    files = [bad_base, log(2, bad_block, CorruptBlock(3, 4))]
    assert broken([commit(1), commit(2)], files) == {("BF-004", "error"), ("LF-013", "error"), ("LF-010", "warning")}


def test_content_of_an_unread_kind_is_no_violation() -> None:
    assert not broken([commit(1)], [with_records(base(1), UnsupportedContent("base-orc", "a file"))])


def test_a_mode_that_is_none_is_reported() -> None:
    assert broken([commit(1)], **{"record.merge.mode": "LATEST"}) == {("MG-012", "error")}


def test_a_violation_says_where_it_is() -> None:
    (found,) = violations(table([commit(1, base(1))]))
    assert isinstance(found, Violation)
    assert base(1).name in found.where
