"""What table services expect of each other and of writers, so that nobody blocks anybody for longer than a plan."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from hudi_model.actions import Action
from hudi_model.files import GroupId

REWRITING = frozenset({Action.COMPACTION, Action.LOG_COMPACTION, Action.CLUSTERING})
"""The services that read slices and write them anew."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A service beside others: whose file groups its plans leave out, and whether updates make it abort."""

    leaves_out: frozenset[Action] = frozenset()
    aborts_when_updated: bool = False


EXPECTATIONS = {
    Action.CLEAN: Expectation(),
    Action.CLUSTERING: Expectation(REWRITING, aborts_when_updated=True),
    Action.COMPACTION: Expectation(REWRITING),
    Action.LOG_COMPACTION: Expectation(REWRITING),
    Action.INDEXING: Expectation(),
}
"""The table of the text, and log compaction as released."""


def may_run_beside(service: Action, group: GroupId, pending: AbstractSet[tuple[Action, GroupId]]) -> bool:
    """Whether a service may plan a file group while others have plans pending on theirs.

    Clauses: CP-003, LC-002, CL-002, CN-006, IG-006.
    """
    return not any((action, group) in pending for action in EXPECTATIONS[service].leaves_out)


def needs_external_lock(writers: int, planners: int) -> bool:
    """Whether processes need a lock that all of them see: several writers do, or several that plan services.

    One planner beside one writer needs none: the service opens a slice, the writer logs, readers join the two.

    Clauses: CP-011, CP-012.
    """
    return writers > 1 or planners > 1
