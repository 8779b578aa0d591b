"""What a clean is going to delete: every file by name, and the partitions of which nothing is left.

Clauses: CN-001, CN-005, CN-007, CN-009, CN-010, CN-011, CN-016.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hudi_format.names import parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.timeline.plans import ActionInstant, CleanerPlan, CleanFileInfo

from hudi_spark.options.resolving import Options
from hudi_spark.services.cleaning.needed import needed_by_others
from hudi_spark.services.cleaning.partitions import SAVEPOINTS, changed_partitions, last_clean
from hudi_spark.services.cleaning.policies import BY_VERSIONS, completed_writes, earliest_to_retain, policy_of
from hudi_spark.services.cleaning.selecting import Cleaning, doomed_files
from hudi_spark.state.listing import FileListing, stored_files
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Instant, Timeline

Doomed = Mapping[str, tuple[str, ...]]
"""By partition the paths of the files to delete."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What there is to plan with: a table, the options, and the time."""

    storage: Storage
    snapshot: Snapshot
    options: Options
    now: str


def is_due(asked: Planned) -> bool:
    """Whether enough writes have completed since those that the last clean knew of.

    Clauses: CN-009.
    """
    last = last_clean(asked.storage, asked.snapshot.timeline)
    since = "" if last is None else last.last_completed_commit_timestamp
    writes = (one for one in completed_writes(asked.snapshot.timeline) if one.requested > since)
    return sum(1 for _ in writes) >= asked.options.number("hoodie.clean.trigger.max.commits")


def retains_less_than_all(timeline: Timeline, options: Options, now: str) -> bool:
    """Whether a policy lets anything go, by the timeline alone: without that nothing else needs to be read.

    Clauses: CN-002, CN-003, CN-004.
    """
    policy = policy_of(options)
    return policy.name == BY_VERSIONS or earliest_to_retain(timeline, policy, now) is not None


def cleaner_plan(asked: Planned) -> CleanerPlan | None:
    """The plan of a clean; None where nothing is to go.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a file of the timeline does not parse.

    Clauses: CN-001, CN-009, CN-011, CN-015.

    """
    if not retains_less_than_all(asked.snapshot.timeline, asked.options, asked.now):
        return None
    policy = policy_of(asked.options)
    earliest = earliest_to_retain(asked.snapshot.timeline, policy, asked.now)
    needed = needed_by_others(asked.storage, asked.snapshot.timeline)
    cleaning = Cleaning(asked.storage, asked.snapshot, policy, earliest, needed)
    listing = _listing(asked, cleaning)
    doomed = doomed_files(cleaning, listing)
    return _plan(asked, cleaning, doomed, _emptied(listing, doomed)) if doomed else None


def _listing(asked: Planned, cleaning: Cleaning) -> FileListing:
    """The files of the partitions to look at, as storage has them.

    Clauses: CN-015.
    """
    storage, timeline, earliest = asked.storage, asked.snapshot.timeline, cleaning.earliest
    if earliest is None or not asked.options.flag("hoodie.clean.incremental.enabled"):
        return stored_files(storage)
    last = last_clean(storage, timeline)
    chosen = changed_partitions(timeline, asked.snapshot.commits, last, earliest, cleaning.needed)
    if chosen is None or not asked.snapshot.configuration.partition_by:
        return stored_files(storage)
    return FileListing(tuple(pair for partition in sorted(chosen) for pair in _files_in(storage, partition)))


def _files_in(storage: Storage, partition: str) -> Iterator[tuple[str, str]]:
    found = storage.list_files(partition, recursive=False)
    return ((partition, status.path.rpartition("/")[2]) for status in found)


def _emptied(listing: FileListing, doomed: Doomed) -> tuple[str, ...]:
    """Partitions of which the clean leaves no data file; the folder of a table without partitions is none.

    Clauses: CN-011.
    """
    going = {path for paths in doomed.values() for path in paths}
    staying = {
        partition
        for partition, name in listing.files
        if parse_data_file_name(name) is not None and f"{partition}/{name}" not in going
    }
    return tuple(sorted(partition for partition in doomed if partition and partition not in staying))


def _plan(asked: Planned, cleaning: Cleaning, doomed: Doomed, emptied: tuple[str, ...]) -> CleanerPlan:
    """Clauses: CN-009."""
    writes = completed_writes(asked.snapshot.timeline)
    savepoints = cleaning.needed.savepoints if asked.snapshot.configuration.partition_by else ()
    return CleanerPlan(
        earliest_instant_to_retain=_named(cleaning.earliest),
        last_completed_commit_timestamp=writes[-1].requested if writes else "",
        policy=cleaning.policy.name,
        file_paths_to_be_deleted_per_partition={
            partition: tuple(CleanFileInfo(f"{asked.storage.base}/{path}", False) for path in paths)
            for partition, paths in sorted(doomed.items())
        },
        partitions_to_be_deleted=emptied,
        extra_metadata={SAVEPOINTS: ",".join(savepoints)} if savepoints else {},
    )


def _named(instant: Instant | None) -> ActionInstant | None:
    return None if instant is None else ActionInstant(instant.requested, instant.action, instant.state)
