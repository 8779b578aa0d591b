"""What a clean leaves in place whatever its policy says: what savepoints keep, and what pending plans read.

Clauses: CN-005, CN-008.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hudi_format.storage import Storage
from hudi_format.timeline.plans import CompactionOperation, parse_savepoint_metadata

from hudi_spark.state.commits import GroupId, completed_bytes
from hudi_spark.state.pending_plans import COMPACTION, LOG_COMPACTION, clustering_plan, compaction_plan
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Needed:
    """What others need.

    `names`: files of savepoints and of pending plans. `planned`: by file group the base instant of the slice from
    which on a pending compaction or log compaction needs all. `savepoints`: times of the savepoints.

    Clauses: CN-005, CN-008.
    """

    names: frozenset[str] = frozenset()
    planned: Mapping[GroupId, str] = field(default_factory=dict)
    savepoints: tuple[str, ...] = ()

    def holds(self, one: FileSlice) -> bool:
        """Whether a slice has to stay for a savepoint, or for a clustering that waits."""
        paths = (*([one.base_file] if one.base_file else []), *one.log_files)
        return any(path.rpartition("/")[2] in self.names for path in paths)

    def plans(self, one: FileSlice) -> bool:
        """Whether a slice is the one that a pending compaction reads, or a newer one."""
        base = self.planned.get((one.partition, one.file_id))
        return base is not None and one.base_instant >= base


def needed_by_others(storage: Storage, timeline: Timeline) -> Needed:
    """What savepoints and pending plans need of a table.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a savepoint or a plan does not parse; PATH_ESCAPES_TABLE.

    Clauses: CN-005, CN-008.

    """
    operations = tuple(_operations(storage, timeline))
    planned: dict[GroupId, str] = {}
    for one in operations:
        group, base = (one.partition_path or "", one.file_id or ""), one.base_instant_time or ""
        planned[group] = min(planned.get(group, base), base)
    read = (name for one in operations for name in (one.data_file_path, *one.delta_file_paths) if name)
    savepoints = tuple(sorted(one.requested for one in timeline.completed("savepoint")))
    names = {*_saved(storage, timeline), *_clustered(storage, timeline), *(name.rpartition("/")[2] for name in read)}
    return Needed(frozenset(names), planned, savepoints)


def _operations(storage: Storage, timeline: Timeline) -> Iterator[CompactionOperation]:
    for one in (*timeline.pending(COMPACTION), *timeline.pending(LOG_COMPACTION)):
        yield from compaction_plan(storage, one).operations


def _saved(storage: Storage, timeline: Timeline) -> Iterator[str]:
    """Clauses: CN-008."""
    for one in timeline.completed("savepoint"):
        kept = parse_savepoint_metadata(completed_bytes(storage, one), one.file)
        for partition in kept.partition_metadata.values():
            yield from (name.rpartition("/")[2] for name in partition.savepoint_data_file)


def _clustered(storage: Storage, timeline: Timeline) -> Iterator[str]:
    """Clauses: CN-005."""
    pending = (one for one in timeline.instants if not one.is_completed)
    plans = (plan for one in pending if (plan := clustering_plan(storage, one)) is not None)
    for one in (one for plan in plans for group in plan.input_groups for one in group.slices):
        yield from (path.rpartition("/")[2] for path in (one.data_file_path, *one.delta_file_paths) if path)
