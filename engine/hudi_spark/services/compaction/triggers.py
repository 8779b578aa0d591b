"""Whether a compaction is due: by deltacommits, by time, or by both.

Clauses: CP-008, LC-008.
"""

from collections.abc import Callable, Mapping
from typing import Final

from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError
from hudi_spark.indexing.instants import milliseconds_of
from hudi_spark.options.resolving import Options
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.pending_plans import COMPACTION
from hudi_spark.state.timeline import Instant, Timeline

_MOST_COMMITS: Final = "hoodie.compact.inline.max.delta.commits"
_MOST_SECONDS: Final = "hoodie.compact.inline.max.delta.seconds"
_STRATEGY: Final = "hoodie.compact.inline.trigger.strategy"
_COMMIT, _DELTACOMMIT = "commit", "deltacommit"

ALWAYS: Final[Mapping[str, str]] = {_MOST_COMMITS: "0", _STRATEGY: "NUM_COMMITS"}
"""Options by which a compaction is due at any time."""

Trigger = Callable[[Callable[[], bool], Callable[[], bool]], bool]
"""Asks whether enough was written, and whether enough time has gone by."""

_TRIGGERS: Final[Mapping[str, Trigger]] = {
    "NUM_COMMITS": lambda many, _: many(),
    "NUM_COMMITS_AFTER_LAST_REQUEST": lambda many, _: many(),
    "TIME_ELAPSED": lambda _, late: late(),
    "NUM_AND_TIME": lambda many, late: many() and late(),
    "NUM_OR_TIME": lambda many, late: many() or late(),
}


def is_due(timeline: Timeline, configuration: TableConfiguration, options: Options, now: Callable[[], str]) -> bool:
    """Whether a compaction is to be planned, as the options' trigger says; never before the first deltacommit.

    `now`: the time that the plan would get, asked for only where it counts.

    Raises:
        HudiError: CONFIG_INVALID for an unknown trigger.

    Clauses: CP-008.

    """
    name = options.text(_STRATEGY).upper()
    if name not in _TRIGGERS:
        hint = f"use one of {', '.join(_TRIGGERS)}"
        raise HudiError(Reason.CONFIG_INVALID, "CP-008", f"{_STRATEGY} {name!r} is no trigger", hint=hint)
    last = last_of(timeline, pending=name == "NUM_COMMITS_AFTER_LAST_REQUEST")
    written = deltacommits_since(timeline, last)
    first = last or (written[0] if written else None)
    if first is None:
        return False

    def many() -> bool:
        return len(written) >= options.number(_MOST_COMMITS)

    def late() -> bool:
        elapsed = milliseconds_of(now(), configuration) - milliseconds_of(first.requested, configuration)
        return elapsed >= 1000 * options.number(_MOST_SECONDS)

    return _TRIGGERS[name](many, late)


def last_of(timeline: Timeline, *, pending: bool = False) -> Instant | None:
    """The compaction that was requested last among the completed ones; among all of them where `pending` is true."""
    wanted = {_COMMIT, COMPACTION} if pending else {_COMMIT}
    found = [one for one in timeline.instants if one.action in wanted and (pending or one.is_completed)]
    return found[-1] if found else None


def deltacommits_since(timeline: Timeline, last: Instant | None) -> list[Instant]:
    """The deltacommits that completed after another action was requested, or all.

    Before version 8 they were requested after it.

    Clauses: CP-008.
    """
    done = [one for one in timeline.completed_data() if one.action == _DELTACOMMIT]
    return [one for one in done if last is None or (one != last and one.at("completed") > last.requested)]
