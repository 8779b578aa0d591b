from collections.abc import Iterable

import pytest
from hudi_model.files import FileGroup, LogFile
from hudi_model.queries import optimized_slices
from hudi_model.rejection import Reason, Rejection
from hudi_model.slicing import file_groups, snapshot_slices
from hudi_model.tables import RELEASED, TEXT, Readings, Table, View, open_table, view_at
from hypothesis import given
from hypothesis import strategies as st
from model_states import (
    GROUP,
    PARTITION,
    at,
    base,
    commit,
    completed_compaction,
    data,
    entry,
    failed,
    log,
    pending_compaction,
    properties,
    table,
)

V6 = properties(6)


def view(state: Table, read_time: float | None = None, readings: Readings = RELEASED) -> View:
    return view_at(open_table(state), None if read_time is None else at(read_time), readings)


def shape(slices: Iterable[object]) -> list[tuple[object, object, list[object]]]:
    """Base instant, instant of the base file, instants of the logs."""
    return [
        (one.base_instant, one.base_file and one.base_file.instant, [log.instant for log in one.log_files])  # type: ignore[attr-defined]
        for one in slices
    ]


def snapshot(state: Table, read_time: float | None = None, readings: Readings = RELEASED) -> list[object]:
    return list(shape(snapshot_slices(view(state, read_time, readings))))


WRITES = st.lists(
    st.tuples(st.integers(1, 40), st.integers(1, 20), st.sampled_from(["log", "base", "fail"])),
    min_size=1,
    max_size=8,
    unique_by=lambda write: write[0],
)


def played(writes: list[tuple[int, int, str]], version: int = 9) -> Table:
    """Overlapping writes to one file group: each makes a log or a base file, some never complete."""
    timeline, files = [], []
    for number, lasts, kind in writes:
        file = base(number) if kind == "base" else log(number, data(number))
        files.append(file)
        done = number + lasts + number / 100
        timeline.append(failed(number) if kind == "fail" else commit(number, file, completed=done, version=version))
    return table(timeline, files, properties(version))


def logs_of(groups: Iterable[FileGroup]) -> list[LogFile]:
    return [log for group in groups for one in group.slices for log in one.log_files]


@given(WRITES, st.sampled_from([6, 8, 9]))
def test_every_committed_log_is_in_exactly_one_slice_and_no_other_is(
    writes: list[tuple[int, int, str]], version: int
) -> None:
    found = logs_of(file_groups(view(played(writes, version))))
    assert sorted(log.instant for log in found) == sorted(at(number) for number, _, kind in writes if kind == "log")


@given(WRITES)
def test_slices_are_apart_in_time_and_begin_with_what_opened_them(writes: list[tuple[int, int, str]]) -> None:
    (group,) = file_groups(view(played(writes))) or (FileGroup(PARTITION, GROUP, ()),)
    instants = [one.base_instant for one in group.slices]
    assert instants == sorted(set(instants))
    for one in group.slices:
        assert one.base_file is None or one.base_file.instant == one.base_instant
        assert one.base_file or one.log_files


@given(WRITES)
def test_the_readings_differ_in_the_order_of_logs_and_in_nothing_else(writes: list[tuple[int, int, str]]) -> None:
    released, text = (snapshot(played(writes), None, readings) for readings in (RELEASED, TEXT))
    assert [(one, base, sorted(logs)) for one, base, logs in released] == [  # type: ignore[misc]
        (one, base, sorted(logs))
        for one, base, logs in text  # type: ignore[misc]
    ]


def test_a_log_joins_the_slice_that_was_requested_when_it_completed() -> None:
    first, late, compacted = base(1), log(2, data(2)), base(3)
    state = table(
        [commit(1, first), commit(2, late, completed=4), completed_compaction(3, compacted, 5)],
        [first, late, compacted],
    )
    assert snapshot(state) == [(at(3), at(3), [at(2)])]


def test_a_log_that_completed_before_the_compaction_was_requested_is_in_its_base_file() -> None:
    first, early, compacted = base(1), log(2, data(2)), base(3)
    state = table(
        [commit(1, first), commit(2, early), completed_compaction(3, compacted, 5)], [first, early, compacted]
    )
    assert snapshot(state) == [(at(3), at(3), [])]


def test_a_version_6_log_stays_with_the_slice_it_names() -> None:
    first, compacted = base(1), base(3)
    old, new = log(1, data(2)), log(3, data(4))
    timeline = [commit(1, first, version=6), commit(2, version=6), commit(3, compacted, action="commit", version=6)]
    state = table([*timeline, commit(4, version=6)], [first, old, new, compacted], V6)
    assert snapshot(state) == [(at(3), at(3), [at(3)])]


def test_a_log_named_the_old_way_keeps_its_slice_after_an_upgrade() -> None:
    first, old, new = base(1), log(1, data(2)), log(3, data(3))
    state = table([commit(1, first), commit(2), commit(3, new)], [first, old, new])
    assert snapshot(state) == [(at(1), at(1), [at(1), at(3)])]


@pytest.mark.parametrize("version", [6, 9])
def test_a_slice_that_a_pending_compaction_opened_is_joined_with_the_one_before(version: int) -> None:
    first = base(1)
    before, after = (log(1, data(2)), log(3, data(4))) if version == 6 else (log(2, data(2)), log(4, data(4)))
    timeline = [commit(one, version=version) for one in (1, 2, 4)]
    state = table([*timeline, pending_compaction(3)], [first, before, after], properties(version))
    assert snapshot(state) == [(at(1), at(1), [before.instant, after.instant])]


def test_a_compaction_of_another_group_opens_no_slice_here() -> None:
    files = [base(1), log(2, data(2)), log(4, data(4))]
    state = table([commit(1), commit(2), pending_compaction(3, (PARTITION, "f2")), commit(4)], files)
    assert [one.base_instant for one in file_groups(view(state))[0].slices] == [at(1)]


def test_the_base_file_of_a_pending_compaction_does_not_count_and_the_older_one_is_read_optimized() -> None:
    files = [base(1), log(2, data(2)), base(3)]
    state = table([commit(1), commit(2), pending_compaction(3)], files)
    assert snapshot(state) == [(at(1), at(1), [at(2)])]
    assert shape(optimized_slices(view(state))) == [(at(1), at(1), [])]


def test_a_pending_compaction_without_a_plan_is_refused() -> None:
    state = table([commit(1), (entry(2, "compaction", "REQUESTED"),)], [base(1)])
    with pytest.raises(Rejection) as caught:
        snapshot(state)
    assert caught.value.reason is Reason.TIMELINE_FILE_CORRUPT


def test_an_uncommitted_base_file_opens_no_slice_and_draws_no_log() -> None:
    files = [base(1), base(2), log(3, data(3))]
    state = table([commit(1), failed(2), commit(3)], files)
    assert snapshot(state) == [(at(1), at(1), [at(3)])]


def test_a_group_whose_first_log_failed_shows_what_was_written_later() -> None:
    state = table([failed(1), commit(2)], [log(1, data(1)), log(2, data(2))])
    assert snapshot(state) == [(at(2), None, [at(2)])]


def test_a_base_file_written_by_a_deltacommit_opens_a_slice() -> None:
    files = [base(1), log(2, data(2)), base(3), log(4, data(4))]
    state = table([commit(number, file) for number, file in zip((1, 2, 3, 4), files, strict=True)], files)
    assert snapshot(state) == [(at(3), at(3), [at(4)])]


def test_of_two_base_files_of_one_write_the_one_that_the_commit_names_counts() -> None:
    good, leftover = base(1, writer="0-1-2"), base(1, writer="0-1-9")
    state = table([commit(1, good)], [good, leftover])
    assert snapshot_slices(view(state))[0].base_file is good


def test_a_replaced_group_is_hidden_from_its_replacement_on_and_not_before() -> None:
    old, new = base(1), base(3, file_id="f2")
    replacing = commit(3, new, action="replacecommit", replaced=[(PARTITION, GROUP)])
    state = table([commit(1, old), replacing], [old, new])
    assert snapshot(state) == [(at(3), at(3), [])]
    assert snapshot(state, 2) == [(at(1), at(1), [])]


def test_a_pending_clustering_replaces_nothing() -> None:
    old, new = base(1), base(3, file_id="f2")
    state = table([commit(1, old), failed(3, "clustering")], [old, new])
    assert snapshot(state) == [(at(1), at(1), [])]


def test_the_same_file_id_in_two_partitions_is_two_groups() -> None:
    here, there = base(1), base(1, partition="day=2")
    replacing = commit(2, action="replacecommit", replaced=[("day=2", GROUP)])
    state = table([commit(1, here, there), replacing], [here, there])
    assert [one.partition for one in snapshot_slices(view(state))] == [PARTITION]


def test_change_logs_belong_to_no_slice_and_displace_no_log() -> None:
    state = table([commit(1), commit(2)], [base(1), log(2, data(2)), log(2, cdc=True)])
    assert snapshot(state) == [(at(1), at(1), [at(2)])]


def test_a_copy_on_write_table_reads_base_files_only() -> None:
    state = table([commit(1), commit(2)], [base(1), log(2, data(2))], properties(table_type="COPY_ON_WRITE"))
    assert snapshot(state) == [(at(1), at(1), [])]


def test_logs_order_by_request_as_released_and_by_completion_in_the_text() -> None:
    files = [base(1), log(2, data(2)), log(3, data(3))]
    state = table([commit(1), commit(2, completed=6), commit(3, completed=5)], files)
    assert snapshot(state) == [(at(1), at(1), [at(2), at(3)])]
    assert snapshot(state, None, TEXT) == [(at(1), at(1), [at(3), at(2)])]


def test_log_versions_order_as_numbers_and_write_tokens_as_texts() -> None:
    logs = [log(2, version=10), log(2, version=9, writer="0-9-0"), log(2, version=9, writer="0-10-0")]
    state = table([commit(1), commit(2)], [base(1), *logs])
    (found,) = snapshot_slices(view(state))
    assert [(one.version, one.write_token) for one in found.log_files] == [(9, "0-10-0"), (9, "0-9-0"), (10, "0-0-0")]


def test_as_of_sees_what_was_requested_as_released_and_what_was_completed_in_the_text() -> None:
    files = [base(1), log(2, data(2)), log(3, data(3))]
    state = table([commit(1), commit(2, completed=6), commit(3, completed=4)], files)
    assert snapshot(state, 2.5) == [(at(1), at(1), [at(2)])]
    assert snapshot(state, 5, TEXT) == [(at(1), at(1), [at(3)])]
    assert snapshot(state, 5) == [(at(1), at(1), [at(2), at(3)])]


def test_as_of_a_time_within_a_compaction_reads_the_slice_before_it() -> None:
    first, early, compacted = base(1), log(2, data(2)), base(3)
    state = table(
        [commit(1, first), commit(2, early), completed_compaction(3, compacted, 5)], [first, early, compacted]
    )
    assert snapshot(state, 4, TEXT) == [(at(1), at(1), [at(2)])]
    assert snapshot(state, 4) == [(at(3), at(3), [])]


@given(WRITES)
def test_as_of_the_end_of_time_is_the_snapshot(writes: list[tuple[int, int, str]]) -> None:
    state = played(writes)
    for readings in (RELEASED, TEXT):
        assert snapshot(state, 1000, readings) == snapshot(state, None, readings)


@given(WRITES)
def test_a_read_optimized_query_reads_committed_base_files_and_no_logs(writes: list[tuple[int, int, str]]) -> None:
    committed = [at(number) for number, _, kind in writes if kind == "base"]
    found = shape(optimized_slices(view(played(writes))))
    assert found == ([(max(committed), max(committed), [])] if committed else [])
