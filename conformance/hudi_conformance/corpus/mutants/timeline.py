"""Rules of the timeline, broken."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from hudi_model.actions import Action, CommitMetadata, Content, Instant, State, TimelineEntry
from hudi_model.rejection import Rejection
from hudi_model.time import SECONDS_DIGITS, InstantTime
from hudi_model.timeline import Timeline, entries_by_action

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant("lowest-state-rules", "TL-004", "An action stands in the lowest state recorded.", "timeline.collapse")
def _lowest_state_rules(_: Function) -> Function:
    def lowest(entries: Iterable[TimelineEntry]) -> tuple[Instant, ...]:
        found = (min(group, key=lambda entry: entry.state) for group in entries_by_action(entries))
        return tuple(Instant(one.requested, one.action, one.state, one.completed, one.content) for one in found)

    return lowest


@mutant(
    "one-action-an-instant",
    "TL-010 TL-005",
    "A savepoint hides the write whose instant it shares.",
    "timeline.entries_by_action",
)
def _one_action_an_instant(_: Function) -> Function:
    def by_instant(entries: Iterable[TimelineEntry]) -> tuple[tuple[TimelineEntry, ...], ...]:
        found: dict[InstantTime, list[TimelineEntry]] = {}
        for entry in entries:
            found.setdefault(entry.requested, []).append(entry)
        return tuple(tuple(found[key]) for key in sorted(found))

    return by_instant


@mutant(
    "cleans-hide-writes", "TL-005 HS-008", "A clean and a write of one instant are one action.", "timeline.identity"
)
def _cleans_hide_writes(_: Function) -> Function:
    return lambda requested, action: (requested, action if action is Action.SAVEPOINT else "")


@mutant(
    "two-completions-accepted",
    "TL-012",
    "Of two completions of one instant the first is taken.",
    "timeline.refuse_second_completion",
)
def _two_completions_accepted(_: Function) -> Function:
    return lambda _group: None


@mutant(
    "before-first-active-uncommitted",
    "TL-018",
    "Files older than the first active instant are not read.",
    "timeline.is_committed",
)
def _before_first_active_uncommitted(_: Function) -> Function:
    def on_timeline(timeline: Timeline, requested: InstantTime) -> bool:
        return any(one.requested == requested and one.state is State.COMPLETED for one in timeline.instants)

    return on_timeline


@mutant(
    "first-completed-begins-the-timeline",
    "TL-018",
    "What is older than the first completed write counts, though it is pending.",
    "timeline.is_committed",
)
def _first_completed_begins_the_timeline(original: Function) -> Function:
    def before_the_first(timeline: Timeline, requested: InstantTime) -> bool:
        done = (one.requested for one in timeline.instants if one.state is State.COMPLETED)
        return requested < min(done, default=requested) or bool(original(timeline, requested))

    return before_the_first


@mutant("inflight-counts-as-committed", "TL-002 RD-002", "An inflight write counts.", "timeline.is_committed")
def _inflight_counts_as_committed(original: Function) -> Function:
    def has_started(timeline: Timeline, requested: InstantTime) -> bool:
        inflight = any(one.requested == requested and one.state is State.INFLIGHT for one in timeline.instants)
        return inflight or bool(original(timeline, requested))

    return has_started


@mutant(
    "absent-instant-committed", "TL-017 RD-002", "A write that is not on the timeline counts.", "timeline.is_committed"
)
def _absent_instant_committed(original: Function) -> Function:
    def absent(timeline: Timeline, requested: InstantTime) -> bool:
        known = any(one.requested == requested for one in timeline.instants)
        return not known or bool(original(timeline, requested))

    return absent


@mutant("empty-commit-accepted", "TL-015", "An empty completed file is a commit of nothing.", "timeline.valid_content")
def _empty_commit_accepted(original: Function) -> Function:
    def nothing(instant: Instant) -> Content:
        found: Content = original(instant)
        return CommitMetadata() if found is None else found

    return nothing


@mutant("damaged-commit-accepted", "TL-015", "A commit that does not parse wrote nothing.", "timeline.commit_metadata")
def _damaged_commit_accepted(_: Function) -> Function:
    return lambda instant: instant.content if isinstance(instant.content, CommitMetadata) else CommitMetadata()


@mutant("rollback-forgotten-after-archival", "TL-017", "Old instants that were undone count.", "timeline.rolled_back")
def _rollback_forgotten(_: Function) -> Function:
    return lambda _timeline: frozenset()


@mutant(
    "retried-writes-stay-undone",
    "TL-017",
    "A write that was tried again after a rollback no longer counts once it is archived.",
    "timeline.rolled_back",
)
def _retried_writes_stay_undone(original: Function) -> Function:
    return lambda timeline: original(replace(timeline, archived=frozenset()))


@mutant("seconds-begin", "TM-002", "An instant of 14 digits is the first millisecond of its second.", "time.widen")
def _seconds_begin(_: Function) -> Function:
    return lambda instant: InstantTime(f"{instant}000" if len(instant) == SECONDS_DIGITS else instant)


@mutant("instants-as-numbers", "TM-001", "Instants compare by the numbers that their digits are.", "time.compare")
def _instants_as_numbers(_: Function) -> Function:
    return lambda left, right: (int(left) > int(right)) - (int(left) < int(right))


@mutant(
    "completed-before-its-request",
    "TL-011",
    "An action may complete before it was requested.",
    "hudi_model_tools.transitions.action_faults",
)
def _completed_before_its_request(original: Function) -> Function:
    def tolerant(group: tuple[TimelineEntry, ...]) -> Iterator[Rejection]:
        return (one for one in original(group) if one.clause != "TL-011")

    return tolerant
