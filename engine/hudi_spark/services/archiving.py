"""Archival: which completed actions may leave the active timeline, and their move to the history.

The oldest writes, without a gap, up to the first one that somebody may still ask the timeline for; with them go the
cleans and rollbacks before the last of them.

Clauses: AR-009, AR-007, AR-001, AR-003, AR-004, AR-005, AR-006, AR-008, AR-012, AR-002, AR-010, AR-011, AR-013.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from hudi_format.names import parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.table.markers import MARKERS_FOLDER

from hudi_spark.concurrency import joined
from hudi_spark.errors import HudiError, Reason
from hudi_spark.files import HistorySizes, archive_actions, finish_interrupted
from hudi_spark.options import Options
from hudi_spark.services.cleaning_planning import (
    completed_writes,
    earliest_to_retain,
    policy_of,
)
from hudi_spark.services.restore import finish_restores
from hudi_spark.services.rollback_planning import RESTORE
from hudi_spark.table_state import (
    METADATA_FOLDER,
    PARTITIONS_KEY,
    WRITE_ACTIONS,
    GroupId,
    Instant,
    TableConfiguration,
    Timeline,
    commit_of,
    load_configuration,
    load_table,
    load_timeline,
    stored_files,
    subfolder,
    undone_instants,
    undone_writes,
)
from hudi_spark.write import TableWork


def oldest_with_leftovers(
    storage: Storage, configuration: TableConfiguration, timeline: Timeline, actions: Iterable[Instant]
) -> str | None:
    """The first rollback among actions of whose undone writes storage holds a file; of a retried write files count.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a rollback does not parse.

    Clauses: AR-009.

    """
    undone = {one.requested: undone_instants(storage, Timeline((one,))) for one in actions if one.action == "rollback"}
    if not any(undone.values()):
        return None
    completed = {one.requested for one in timeline.completed_data()}
    left = (_instants_of_files(storage) & undone_writes(storage, configuration, timeline)) - completed
    return min((requested for requested, writes in undone.items() if writes & left), default=None)


def _instants_of_files(storage: Storage) -> frozenset[str]:
    named = (parse_data_file_name(name) for _, name in stored_files(storage).files)
    return frozenset(one.instant for one in named if one is not None)


def oldest_replacing(storage: Storage, timeline: Timeline) -> str | None:
    """The first replacecommit that stays: storage holds a file of a group that it replaced.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a replacecommit does not parse.

    Clauses: AR-007.

    """
    for one in timeline.completed("replacecommit"):
        groups = commit_of(storage, one).replaced_groups()
        if groups & _stored_groups(storage, {partition for partition, _ in groups}):
            return one.requested
    return None


def _stored_groups(storage: Storage, partitions: set[str]) -> frozenset[GroupId]:
    found: set[GroupId] = set()
    for partition in partitions:
        for status in storage.list_files(partition, recursive=False):
            name = parse_data_file_name(status.path.rpartition("/")[2])
            if name is not None:
                found.add((partition, name.file_id))
    return frozenset(found)


MOST: Final = "hoodie.keep.max.commits"
LEAST: Final = "hoodie.keep.min.commits"
_COUNTED_TRIGGERS: Final = ("NUM_COMMITS", "NUM_AND_TIME")
_FOLLOWING: Final = ("clean", "rollback")


def actions_to_archive(
    storage: Storage, configuration: TableConfiguration, timeline: Timeline, options: Options
) -> tuple[Instant, ...]:
    """The completed actions that leave now, by requested time; none while there are not too many.

    Raises:
        HudiError: CONFIG_INVALID where the most is not more than the least.
        FormatError: TIMELINE_FILE_CORRUPT when a file that decides does not parse.

    Clauses: AR-003, AR-004, AR-005, AR-006, AR-007, AR-008, AR-009, AR-012.

    """
    least, most = _limits(timeline, options)
    writes = completed_writes(timeline)
    if len(writes) <= most or _is_never_compacted(storage, configuration):
        return ()
    stays = min(_bounds(storage, configuration, timeline, options), default=None)
    beyond = options.flag("hoodie.archive.beyond.savepoint")
    saved = {one.requested for one in timeline.completed("savepoint")}
    free = [one for one in writes if stays is None or one.requested < stays]
    free = [one for one in free if _is_unsaved(one.requested, saved, beyond=beyond)]
    leaving = free[: len(writes) - least]
    followers = _followers(timeline, leaving)
    kept = oldest_with_leftovers(storage, configuration, timeline, followers)
    following = [one for one in followers if kept is None or one.requested < kept]
    return tuple(sorted((*leaving, *following), key=lambda one: one.requested))


def refuse_bad_limits(options: Options) -> None:
    """Nothing where the most is more than the least.

    Raises:
        HudiError: CONFIG_INVALID.

    Clauses: AR-003.

    """
    least, most = options.number(LEAST), options.number(MOST)
    if most <= least:
        message = f"{MOST} is {most}, and {LEAST} is {least}"
        raise HudiError(Reason.CONFIG_INVALID, "AR-003", message, hint=f"make {MOST} greater than {LEAST}")


def _limits(timeline: Timeline, options: Options) -> tuple[int, int]:
    """How many writes stay, and with how many more archival begins; what the cleaner retains stays, and one before.

    Clauses: AR-003.
    """
    refuse_bad_limits(options)
    least, most = options.number(LEAST), options.number(MOST)
    writes = completed_writes(timeline)
    if not writes:
        return least, most
    earliest = earliest_to_retain(timeline, policy_of(options), writes[-1].requested)
    if earliest is None:
        return least, most
    retained = sum(1 for one in writes if one.requested > earliest.requested) + 2
    return (least, most) if least >= retained else (retained, retained + most - least)


def _is_unsaved(requested: str, saved: set[str], *, beyond: bool) -> bool:
    """Clauses: AR-006."""
    return requested not in saved if beyond else requested < min(saved, default="~")


def _followers(timeline: Timeline, leaving: list[Instant]) -> list[Instant]:
    """Clauses: AR-004."""
    if not leaving:
        return []
    last = leaving[-1].requested
    return [one for action in _FOLLOWING for one in timeline.completed(action) if one.requested < last]


def _bounds(storage: Storage, configuration: TableConfiguration, timeline: Timeline, options: Options) -> Iterator[str]:
    """Requested times of writes that stay, and with them all later ones."""
    found = (
        _before_pending(timeline),
        _for_compaction(configuration, timeline, options),
        oldest_replacing(storage, timeline),
        _after_metadata_compaction(storage, configuration, timeline),
    )
    return (one for one in found if one is not None)


def _before_pending(timeline: Timeline) -> str | None:
    """Clauses: AR-005."""
    waiting = (one for one in timeline.instants if not one.is_completed and one.action in WRITE_ACTIONS)
    first = min((one.requested for one in waiting), default=None)
    if first is None:
        return None
    before = (one.requested for one in completed_writes(timeline) if one.requested < first)
    return max(before, default=first)


def _for_compaction(configuration: TableConfiguration, timeline: Timeline, options: Options) -> str | None:
    """Clauses: AR-012."""
    by_count = options.text("hoodie.compact.inline.trigger.strategy") in _COUNTED_TRIGGERS
    if configuration.table_type != "MERGE_ON_READ" or not by_count:
        return None
    compactions = timeline.completed("commit")
    last = compactions[-1].requested if compactions else ""
    after = [one.requested for one in timeline.instants if one.action == "deltacommit" and _is_after(one, last)]
    wanted = max(1, options.number("hoodie.compact.inline.max.delta.commits"))
    if len(after) < wanted:
        return last or min(after, default=None)
    return sorted(after)[len(after) - wanted]


def _is_after(delta: Instant, compaction: str) -> bool:
    """Whether a deltacommit counts towards the next compaction: by its completion, where that is known."""
    return delta.at("completed") > compaction


def _metadata_compaction(storage: Storage) -> str | None:
    """When the metadata table's last compaction was requested."""
    _, timeline = load_table(subfolder(storage, METADATA_FOLDER))
    done = sorted(one.requested for one in timeline.completed_data() if one.action in ("commit", "replacecommit"))
    return done[-1] if done else None


def _has_metadata_table(configuration: TableConfiguration) -> bool:
    return bool(configuration.properties.get(PARTITIONS_KEY, "").strip())


def _is_never_compacted(storage: Storage, configuration: TableConfiguration) -> bool:
    """Clauses: AR-008."""
    return _has_metadata_table(configuration) and _metadata_compaction(storage) is None


def _after_metadata_compaction(storage: Storage, configuration: TableConfiguration, timeline: Timeline) -> str | None:
    """Clauses: AR-008."""
    last = _metadata_compaction(storage) if _has_metadata_table(configuration) else None
    if last is None:
        return None
    later = (one.requested for one in completed_writes(timeline) if one.at("completed") >= last)
    return min(later, default=None)


ARCHIVE: Final = "archive"


def archive(work: TableWork) -> tuple[str, ...]:
    """The oldest completed actions move to the history, where there are too many; answers their requested times.

    What an interrupted archival left is finished first, and so is a restore: it needs the write that it goes back to.

    Raises:
        HudiError: LOCK_UNAVAILABLE; CONFIG_INVALID; TIMELINE_FILE_CORRUPT for a history that lacks what it names.
        FormatError: TIMELINE_FILE_CORRUPT when a file of the timeline or the history does not parse.

    Clauses: AR-001, AR-002, AR-009, AR-013, SR-006.

    """
    with work.lock(ARCHIVE):
        configuration = load_configuration(work.storage)
        timeline = load_timeline(work.storage, configuration)
        if timeline.pending(RESTORE):
            finish_restores(work)
            timeline = load_timeline(work.storage, configuration)
        if finish_interrupted(work.effects, configuration, timeline):
            timeline = load_timeline(work.storage, configuration)
        leaving = actions_to_archive(work.storage, configuration, timeline, work.options)
        for one in leaving:
            if work.storage.exists(joined(MARKERS_FOLDER, one.requested)):
                work.effects.delete_markers(one.requested)
        if leaving:
            archive_actions(work.effects, configuration, leaving, _sizes(work.options))
    return tuple(one.requested for one in leaving)


def _sizes(options: Options) -> HistorySizes:
    """Clauses: HS-009, HS-010."""
    return HistorySizes(
        options.number("hoodie.timeline.compaction.batch.size"), options.number("hoodie.commits.archival.batch")
    )
