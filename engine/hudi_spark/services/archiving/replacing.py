"""Replacecommits that stay: only they tell that files of what they replaced do not count.

Clauses: AR-007.
"""

from collections.abc import Iterator

from hudi_format.names import parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.timeline.plans import CleanerPlan, parse_cleaner_plan

from hudi_spark.services.cleaning.partitions import SAVEPOINTS
from hudi_spark.services.cleaning.policies import BY_VERSIONS
from hudi_spark.state.commits import GroupId, commit_of
from hudi_spark.state.timeline import Instant, Timeline


def oldest_replacing(storage: Storage, timeline: Timeline, policy: str) -> str | None:
    """The first replacecommit that stays: one that the last clean had not dealt with, or whose files are still there.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a plan or a replacecommit does not parse.

    Clauses: AR-007.

    """
    replacing = [one for one in timeline.instants if one.action in ("replacecommit", "clustering")]
    if not replacing:
        return None
    since = _dealt_with(storage, timeline, policy)
    undone = [one.requested for one in replacing if one.requested >= since]
    dealt = [one for one in replacing if one.is_completed and one.requested < since]
    return min((*undone, *_with_files(storage, dealt)), default=None)


def _dealt_with(storage: Storage, timeline: Timeline, policy: str) -> str:
    """Up to which time the last completed clean dealt with replacecommits; nothing without one.

    Clauses: AR-007.
    """
    cleans = timeline.completed("clean")
    if not cleans:
        return ""
    plan = _plan(storage, cleans[-1])
    earliest = plan.earliest_instant_to_retain.timestamp if plan.earliest_instant_to_retain else ""
    if not earliest:
        # Where versions are counted, every group goes that had been replaced when the clean began.
        return cleans[-1].requested
    return _saved_replacing(timeline, plan, earliest) if policy != BY_VERSIONS else earliest


def _plan(storage: Storage, clean: Instant) -> CleanerPlan:
    file = clean.files.get("REQUESTED", "")
    data = storage.read(file) if file else b""
    return parse_cleaner_plan(data, file) if data else CleanerPlan()


def _saved_replacing(timeline: Timeline, plan: CleanerPlan, earliest: str) -> str:
    """The first savepoint that the clean knew of, where a replacecommit followed it that the clean would deal with.

    Clauses: AR-007.
    """
    saved = min((one for one in (plan.extra_metadata or {}).get(SAVEPOINTS, "").split(",") if one), default="")
    replaced = (one.requested for one in timeline.completed("replacecommit"))
    return saved if saved and any(saved <= one <= earliest for one in replaced) else earliest


def _with_files(storage: Storage, replacing: list[Instant]) -> Iterator[str]:
    """Clauses: AR-007."""
    for one in replacing:
        groups = commit_of(storage, one).replaced_groups()
        if groups & _stored_groups(storage, {partition for partition, _ in groups}):
            yield one.requested


def _stored_groups(storage: Storage, partitions: set[str]) -> frozenset[GroupId]:
    found: set[GroupId] = set()
    for partition in partitions:
        for status in storage.list_files(partition, recursive=False):
            name = parse_data_file_name(status.path.rpartition("/")[2])
            if name is not None:
                found.add((partition, name.file_id))
    return frozenset(found)
