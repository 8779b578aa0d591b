import itertools

import pytest
from hudi_model.actions import Action, CommitMetadata, Instant, RollbackMetadata, State, TimelineEntry
from hudi_model.rejection import Reason, Rejection
from hudi_model.timeline import (
    collapse,
    commit_metadata,
    completed_data,
    completion_time,
    is_committed,
    timeline_of,
    timeline_up_to,
)
from hudi_model_tools.transitions import is_legal_move, timeline_faults
from hypothesis import given
from hypothesis import strategies as st
from model_states import at, base, commit, completed_compaction, damaged, entry, failed, pending_compaction

STATES = st.sampled_from(State)
ENTRIES = st.lists(
    st.builds(
        entry,
        st.integers(1, 5),
        st.sampled_from(["deltacommit", "savepoint"]),
        st.sampled_from(["REQUESTED", "INFLIGHT"]),
    ),
    max_size=12,
)


def is_legal_history(action: Action, states: list[State]) -> bool:
    """Whether an action may go through these states in this order, from nothing."""
    return all(is_legal_move(action, *move) for move in zip([None, *states], states, strict=False))


def clauses(entries: tuple[TimelineEntry, ...]) -> set[str]:
    return {fault.clause for fault in timeline_faults(entries)}


@given(ENTRIES)
def test_the_current_state_is_the_highest_and_does_not_depend_on_the_listing(entries: list[TimelineEntry]) -> None:
    instants = collapse(entries)
    assert instants == collapse(list(reversed(entries)))
    assert len({(one.requested, one.action) for one in instants}) == len(instants)
    for one in instants:
        assert one.state == max(e.state for e in entries if (e.requested, e.action) == (one.requested, one.action))


@pytest.mark.parametrize(
    ("requested", "done"), [("compaction", "commit"), ("logcompaction", "deltacommit"), ("clustering", "replacecommit")]
)
def test_a_service_completes_under_the_name_of_the_commit_it_makes(requested: str, done: str) -> None:
    entries = (
        entry(1, requested, "REQUESTED"),
        entry(1, requested, "INFLIGHT"),
        entry(1, done, "COMPLETED", 2, CommitMetadata()),
    )
    assert [(one.action, one.state) for one in collapse(entries)] == [(Action(done), State.COMPLETED)]
    assert not timeline_faults(entries)
    assert "TL-006" in clauses((*entries[:2], entry(1, requested, "COMPLETED", 2, CommitMetadata())))


def test_a_savepoint_stands_beside_the_commit_that_it_keeps() -> None:
    entries = (*commit(1), entry(1, "savepoint", "INFLIGHT"), entry(1, "savepoint", "COMPLETED", 3))
    assert [one.action for one in collapse(entries)] == [Action.DELTA_COMMIT, Action.SAVEPOINT]
    assert not timeline_faults(entries)
    assert timeline_of((*entries, *commit(5))).start == at(5), "a kept write may stand before a gap"
    assert timeline_of(entries).start == at(1), "where all are kept, what is older than the last counts"


@given(st.sampled_from([one for one in Action if one is not Action.SAVEPOINT]), st.lists(STATES, max_size=6))
def test_a_legal_history_begins_requested_and_ends_at_its_first_completion(action: Action, states: list[State]) -> None:
    if is_legal_history(action, states) and states:
        assert states[0] is State.REQUESTED
        assert State.COMPLETED not in states[:-1]
        assert all(after - before <= 1 for before, after in itertools.pairwise(states))


@given(st.lists(st.sampled_from([State.REQUESTED, State.INFLIGHT]), max_size=5))
def test_retries_are_legal_any_number_of_times(tries: list[State]) -> None:
    states = [State.REQUESTED, State.INFLIGHT]
    for state in tries:
        states += [state] if state is State.INFLIGHT else [State.REQUESTED, State.INFLIGHT]
    assert is_legal_history(Action.COMPACTION, [*states, State.COMPLETED])


def test_moves_out_of_order_are_illegal() -> None:
    assert not is_legal_move(Action.COMMIT, None, State.INFLIGHT)
    assert not is_legal_move(Action.COMMIT, State.REQUESTED, State.COMPLETED)
    assert not is_legal_move(Action.COMMIT, State.COMPLETED, State.INFLIGHT)
    assert is_legal_move(Action.SAVEPOINT, None, State.INFLIGHT)
    assert not is_legal_move(Action.SAVEPOINT, None, State.REQUESTED)


def test_a_skipped_state_is_a_fault_except_at_the_archived_end() -> None:
    later = (*commit(1), *commit(3)[2:])
    assert clauses(later) == {"TL-003"}
    assert not clauses(commit(1)[2:])


def test_completing_before_the_request_is_a_fault() -> None:
    assert clauses(commit(2, completed=1)) == {"TL-011"}
    assert clauses(commit(2, completed=2)) == {"TL-011"}


def test_two_actions_at_one_instant_or_one_completion_time_are_faults() -> None:
    assert "TL-005" in clauses((*commit(1), *commit(3), entry(3, "rollback", "REQUESTED")))
    assert clauses((*commit(1, completed=5), *commit(2, completed=5))) == {"TL-012"}


def test_a_clean_may_have_the_instant_of_a_write() -> None:
    states = tuple(entry(3, "clean", state) for state in ("REQUESTED", "INFLIGHT", "COMPLETED"))
    found = timeline_of((*commit(1), *states, *commit(3)))
    assert [(one.requested, one.action) for one in found.instants[1:]] == [
        (at(3), Action.DELTA_COMMIT),
        (at(3), Action.CLEAN),
    ]
    assert not clauses((*commit(1), *states, *commit(3)))


def test_an_instant_that_completed_twice_is_refused() -> None:
    twice = (*commit(1, completed=2), *commit(1, completed=3)[2:])
    with pytest.raises(Rejection) as caught:
        timeline_of(twice)
    assert (caught.value.reason, caught.value.clause) == (Reason.INSTANT_MALFORMED, "TL-012")
    assert "TL-012" in clauses(twice)


def test_actions_take_effect_in_completion_order_from_version_8_and_by_request_before() -> None:
    overlapping = timeline_of((*commit(1, completed=4), *commit(2, completed=3)))
    assert [one.requested for one in completed_data(overlapping)] == [at(2), at(1)]
    old = timeline_of((*commit(1, version=6), *commit(2, version=6)))
    assert [one.requested for one in completed_data(old)] == [at(1), at(2)]
    assert completion_time(overlapping, at(1)) == at(4)
    assert completion_time(old, at(1)) == at(1)


def test_only_completed_writes_are_committed() -> None:
    timeline = timeline_of((*commit(2), *failed(3), *pending_compaction(4)))
    assert is_committed(timeline, at(2))
    assert not is_committed(timeline, at(3))
    assert not is_committed(timeline, at(4))
    assert not is_committed(timeline, at(9)), "later than everything and on no timeline"


def test_what_is_older_than_the_timeline_counts_unless_a_rollback_undid_it() -> None:
    undone = entry(3, "rollback", "COMPLETED", 3.5, RollbackMetadata((at(0.5),)))
    timeline = timeline_of((*commit(2), undone))
    assert is_committed(timeline, at(1))
    assert not is_committed(timeline, at(0.5))


def test_a_pending_write_older_than_every_completed_one_does_not_count() -> None:
    timeline = timeline_of((*failed(1), *commit(2)))
    assert not is_committed(timeline, at(1))


def test_a_compaction_that_was_rolled_back_and_tried_again_counts() -> None:
    undone = entry(3, "rollback", "COMPLETED", 3.5, RollbackMetadata((at(2),)))
    timeline = timeline_of((*commit(1), *completed_compaction(2, base(2), 5), undone))
    assert is_committed(timeline, at(2))


@pytest.mark.parametrize("content", [None, damaged(Reason.TIMELINE_FILE_CORRUPT, "TL-014")])
def test_a_completed_commit_without_sound_content_is_refused(content: object) -> None:
    instant = Instant(at(1), Action.COMMIT, State.COMPLETED, at(2), content)  # type: ignore[arg-type]
    with pytest.raises(Rejection) as caught:
        commit_metadata(instant)
    assert caught.value.reason is Reason.TIMELINE_FILE_CORRUPT


def test_a_past_timeline_knows_a_later_completion_as_pending() -> None:
    timeline = timeline_of((*commit(1), *completed_compaction(2, base(2), 6), *commit(7)))
    past = timeline_up_to(timeline, at(4))
    assert [(one.requested, one.action, one.state) for one in past.instants] == [
        (at(1), Action.DELTA_COMMIT, State.COMPLETED),
        (at(2), Action.COMPACTION, State.INFLIGHT),
    ]
