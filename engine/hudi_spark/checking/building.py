"""Indexes that are being built: each action that completes meanwhile logs to them as well."""

from collections.abc import Iterator
from typing import Final

from hudi_format.metadata.partitions import Partition, is_expression_index, is_secondary_index
from hudi_format.names import parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.timeline.commit_metadata import WriteStat
from hudi_format.timeline.plans import IndexPlan

from hudi_spark.checking.stored import TableState
from hudi_spark.checking.violations import Violations
from hudi_spark.indexing.table_state import BUILDING_KEY, indexes_of
from hudi_spark.metadata.subfolder import METADATA_FOLDER, subfolder
from hudi_spark.state.commits import commit_of
from hudi_spark.state.snapshots import load_table
from hudi_spark.state.timeline import NO_TIME, Instant, Timeline

_DATA: Final = ("commit", "deltacommit", "replacecommit")


def check_building(state: TableState, violations: Violations) -> None:
    """Each write that completed since an index is open to be logged to has logged to it, where it changed it.

    Before version 8 nothing tells what completed before the index was opened.

    Clauses: IG-003.
    """
    names = tuple(_being_built(state)) if state.configuration.has_completion_times else ()
    if not names:
        return
    inside = subfolder(state.storage, METADATA_FOLDER)
    refused = Violations()
    with refused.noting():
        _, timeline = load_table(inside)
        logged = {one.requested: _partitions(inside, one) for one in timeline.completed_data()}
        for name in names:
            _check(state, name, _opened(inside, timeline, name), logged, violations)


def _being_built(state: TableState) -> Iterator[str]:
    """What properties and the plan of an indexing that is at work name; a mark alone is that of a dead attempt.

    Clauses: IG-001, IG-003, IG-005.
    """
    properties = state.configuration.properties
    marked = set(indexes_of(properties, BUILDING_KEY)) - set(indexes_of(properties))
    for instant, plan in state.contents.pending(IndexPlan).items():
        if instant.state == "INFLIGHT":
            planned = (info.metadata_partition_path or "" for info in plan.index_partition_infos)
            yield from (name for name in planned if name in marked)


def _opened(inside: Storage, timeline: Timeline, name: str) -> str | None:
    """When the first deltacommit of an index completed; None where it has no file yet, or no time of the clock.

    Clauses: MT-009, MT-021.
    """
    names = (parse_data_file_name(one.path.rpartition("/")[2]) for one in inside.list_files(name))
    first = min((one.instant for one in names if one is not None), default=None)
    completed = next((one.completed for one in timeline.instants if one.requested == first), None)
    return completed if completed and not completed.startswith(NO_TIME) else None


def _partitions(inside: Storage, instant: Instant) -> frozenset[str]:
    return frozenset(stat.partition_path or "" for stat in commit_of(inside, instant).metadata.write_stats)


def _check(
    state: TableState, name: str, opened: str | None, logged: dict[str, frozenset[str]], violations: Violations
) -> None:
    for commit in state.commits if opened is not None else ():
        one = commit.instant
        since = one.action in _DATA and one.completed is not None and opened is not None and one.completed > opened
        changes = any(_changes(name, stat) for stat in commit.metadata.write_stats)
        if since and changes and name not in logged.get(one.requested, frozenset()):
            violations.error("IG-003", one.file, f"the action logged nothing to {name}, which is being built")


def _changes(name: str, stat: WriteStat) -> bool:
    """Whether what a write did to one file surely has entries in an index.

    Clauses: MT-011, MT-013, IX-010, IX-021.
    """
    is_base = not (stat.path or "").rpartition("/")[2].startswith(".")
    if name == Partition.RECORD_INDEX:
        return is_base and stat.prev_commit == "null" and bool(stat.num_inserts)
    if is_secondary_index(name):
        return False
    if name == Partition.BLOOM_FILTERS or is_expression_index(name):
        return is_base
    return (stat.num_writes or 0) > (stat.num_deletes or 0)
