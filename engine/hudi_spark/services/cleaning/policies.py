"""Which slices of a file group a policy lets go, and the instant from which on it keeps them.

latest commits    the slices from the N-th last write on, and the last one before it
latest hours      the same from the first write on that is not older
latest versions   the newest N slices
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from hudi_adapter.reasons import Reason

from hudi_spark.clock import instant_text
from hudi_spark.errors import HudiError
from hudi_spark.options.resolving import Options
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.timeline import DATA_ACTIONS, Instant, Timeline

BY_COMMITS: Final = "KEEP_LATEST_COMMITS"
BY_HOURS: Final = "KEEP_LATEST_BY_HOURS"
BY_VERSIONS: Final = "KEEP_LATEST_FILE_VERSIONS"
_PENDING_WRITES: Final = (*DATA_ACTIONS, "compaction", "clustering")


@dataclass(frozen=True, slots=True)
class Policy:
    """What is kept.

    Clauses: CN-002, CN-003, CN-004.
    """

    name: str = BY_COMMITS
    commits: int = 10
    hours: int = 24
    versions: int = 3


def policy_of(options: Options) -> Policy:
    """The policy that options ask for.

    Clauses: CN-001.
    """
    return Policy(
        options.text("hoodie.clean.policy"),
        options.number("hoodie.clean.commits.retained"),
        options.number("hoodie.clean.hours.retained"),
        options.number("hoodie.clean.fileversions.retained"),
    )


def completed_writes(timeline: Timeline) -> tuple[Instant, ...]:
    """Completed commits, deltacommits and replacecommits by requested time."""
    return tuple(sorted(timeline.completed_data(), key=lambda one: one.requested))


def earliest_to_retain(timeline: Timeline, policy: Policy, now: str) -> Instant | None:
    """The write from which on a policy keeps slices; None where it retains all, or counts versions instead.

    `now`: the instant that hours are counted back from.

    Raises:
        HudiError: INSTANT_MALFORMED for a time to count back from that is none.

    Clauses: CN-002, CN-003, CN-004.

    """
    writes = completed_writes(timeline)
    if policy.name == BY_HOURS:
        oldest = hours_before(now, policy.hours)
        return next((one for one in writes if one.requested >= oldest), None)
    if policy.name == BY_COMMITS and len(writes) > policy.commits:
        return _not_past_pending(timeline, writes, writes[len(writes) - policy.commits])
    return None


def _not_past_pending(timeline: Timeline, writes: Sequence[Instant], chosen: Instant) -> Instant | None:
    """Clauses: CN-002."""
    waiting = (one for one in timeline.instants if not one.is_completed and one.action in _PENDING_WRITES)
    first = min((one.requested for one in waiting), default=None)
    if first is None or chosen.requested <= first:
        return chosen
    return max((one for one in writes if one.requested < first), key=lambda one: one.requested, default=None)


def hours_before(instant: str, hours: int) -> str:
    """An instant some hours earlier, in 17 digits.

    Raises:
        HudiError: INSTANT_MALFORMED.

    Clauses: TM-001.

    """
    try:
        moment = datetime.strptime(instant[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError as error:
        message = f"{instant} is no time of a day"
        hint = "count commits or file versions instead of hours"
        raise HudiError(Reason.INSTANT_MALFORMED, "TM-001", message, hint=hint) from error
    milliseconds = int((instant + "000")[14:17])
    return instant_text(moment + timedelta(milliseconds=milliseconds) - timedelta(hours=hours))


def superseded(slices: Sequence[FileSlice], earliest: str) -> tuple[FileSlice, ...]:
    """Of a group's slices, oldest first, those that no query from an instant on reads, nor the newest.

    Clauses: CN-001, CN-002, CN-003.
    """
    return tuple([one for one in slices if one.base_instant < earliest][:-1])


def beyond_versions(slices: Sequence[FileSlice], versions: int) -> tuple[FileSlice, ...]:
    """Of a group's slices, oldest first, all but the newest few.

    Clauses: CN-001, CN-004.
    """
    return tuple(slices[: max(len(slices) - versions, 0)])
