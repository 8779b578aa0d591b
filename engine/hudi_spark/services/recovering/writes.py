"""The writes that a table's files are of, as completed actions.

Clauses: SL-004, SL-005, RD-005, TL-018, TL-019.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from hudi_format.names import LogFileName
from hudi_format.timeline.commit_metadata import NO_PREVIOUS_COMMIT, CommitMetadata, WriteStat
from hudi_format.timeline.plan_values import CompactionOperation, CompactionPlan

from hudi_spark.clock import next_instant
from hudi_spark.services.recovering.asked import KnownOfTable, Unknown, refused
from hudi_spark.services.recovering.found_files import FoundFile, FoundTable
from hudi_spark.services.recovering.log_names import base_instants, bases_of, is_named_after_slice, logs_of
from hudi_spark.services.upgrading.completion_times import instant_of
from hudi_spark.state.configuration import TableConfiguration

_COMPACT: Final = "COMPACT"
_CLAUSE: Final = "RD-005"


@dataclass(frozen=True, slots=True)
class RecoveredWrite:
    """A write; `action` is its completed name, `requested_as` what it was requested as.

    `completed` is None before version 8, and for one that did not complete.
    """

    requested: str
    action: str
    requested_as: str
    metadata: CommitMetadata = field(repr=False)
    completed: str | None = None
    is_pending: bool = False


@dataclass(frozen=True, slots=True)
class RecoveredWrites:
    """All writes by requested time; compactions that later logs of version 6 show to be pending; what is unknown."""

    writes: tuple[RecoveredWrite, ...]
    compactions: Mapping[str, CompactionPlan]
    unknown: tuple[Unknown, ...]


def recovered_writes(found: FoundTable, configuration: TableConfiguration, known: KnownOfTable) -> RecoveredWrites:
    """What the files say of the writes that they are of.

    Raises:
        HudiError: CONFIG_INVALID where only a guess would tell which slice a log belongs to.

    Clauses: SL-004, SL-005, RD-005.

    """
    stats = _stats(found, configuration)
    compacting = _compacting(found, configuration)
    times, unknown = _completion_times(found, configuration, known, sorted(stats))
    writes = []
    for requested in sorted(stats):
        pending = requested in known.uncommitted
        metadata = CommitMetadata(_COMPACT if requested in compacting else "UPSERT", False, tuple(stats[requested]))
        compacts = requested in compacting
        action = "commit" if compacts or configuration.table_type == "COPY_ON_WRITE" else "deltacommit"
        writes.append(
            RecoveredWrite(
                requested,
                action,
                "compaction" if compacts else action,
                replace(metadata, compacted=compacts),
                None if pending else times.get(requested),
                is_pending=pending,
            )
        )
    pending_plans = {} if configuration.has_completion_times else _pending_compactions(found)
    return RecoveredWrites(tuple(writes), pending_plans, unknown)


def _stats(found: FoundTable, configuration: TableConfiguration) -> dict[str, list[WriteStat]]:
    """What each write wrote; a log whose blocks are of several writes is a file of each."""
    stats: dict[str, list[WriteStat]] = {}
    for one in found.files:
        is_log = isinstance(one.name, LogFileName)
        named = not is_log or (configuration.has_completion_times and not one.instants)
        for requested in (one.name.instant,) if named else one.instants:
            stats.setdefault(requested, []).append(_stat(one))
    return stats


def _stat(one: FoundFile) -> WriteStat:
    stat = WriteStat(
        file_id=one.name.file_id,
        path=one.path,
        prev_commit=NO_PREVIOUS_COMMIT,
        num_writes=one.rows,
        num_inserts=one.rows,
        num_update_writes=0,
        num_deletes=0,
        total_write_bytes=one.size,
        total_write_errors=0,
        partition_path=one.partition,
        file_size_in_bytes=one.size,
    )
    if not isinstance(one.name, LogFileName):
        return stat
    logs = (str(one.name),)
    return replace(stat, prev_commit=one.name.instant, log_version=one.name.version, log_offset=0, log_files=logs)


def _compacting(found: FoundTable, configuration: TableConfiguration) -> frozenset[str]:
    """The writes of base files only, of which one at least comes upon logs: compactions."""
    if configuration.table_type == "COPY_ON_WRITE":
        return frozenset()
    of_bases = {one.name.instant for files in found.groups().values() for one in bases_of(files)}
    of_logs = {instant for files in found.groups().values() for one in logs_of(files) for instant in one.instants}
    upon = {
        base.name.instant
        for files in found.groups().values()
        for base in bases_of(files)
        if any(one.name.instant < base.name.instant for one in files)
    }
    return frozenset((of_bases & upon) - of_logs)


def _pending_compactions(found: FoundTable) -> dict[str, CompactionPlan]:
    """Before version 8 logs that come upon a base file under a later name are in a slice that a compaction opened.

    Clauses: CP-003, RD-005.
    """
    operations: dict[str, list[CompactionOperation]] = {}
    for (partition, file_id), files in found.groups().items():
        bases = base_instants(files)
        for instant in sorted({one.name.instant for one in logs_of(files)} - set(bases)):
            before = [base for base in bases if base < instant]
            if before and instant > bases[-1]:
                operations.setdefault(instant, []).append(_operation(partition, file_id, before[-1], files))
    return {instant: CompactionPlan(tuple(each), {}) for instant, each in operations.items()}


def _operation(partition: str, file_id: str, base: str, files: Iterable[FoundFile]) -> CompactionOperation:
    data = next(str(one.name) for one in bases_of(files) if one.name.instant == base)
    logs = tuple(str(one.name) for one in logs_of(files) if one.name.instant == base)
    return CompactionOperation(base, logs, data, file_id, partition, {})


def _completion_times(
    found: FoundTable, configuration: TableConfiguration, known: KnownOfTable, writes: Iterable[str]
) -> tuple[dict[str, str], tuple[Unknown, ...]]:
    """A completion time for each write from version 8 on: as told, else right after its request.

    A log belongs to the slice of the last base file before its write completed. That a base file came after the write
    began says nothing yet; that its rows are among those of the base file does.

    Raises:
        HudiError: CONFIG_INVALID naming the writes that may have completed after a compaction that began after them.

    Clauses: RD-005.

    """
    if not configuration.has_completion_times:
        return {}, ()
    late, doubtful = _overtaken(found, known)
    if doubtful and not known.guess:
        raise refused(
            f"it cannot be told whether {', '.join(sorted(doubtful))} completed before the base file that came next",
            "tell completion_times of these writes, or guess=True to believe the times of files",
            _CLAUSE,
        )
    times: dict[str, str] = {}
    taken: set[str] = set()
    for requested in writes:
        modified = instant_of(late[requested], configuration) if requested in late else ""
        time = known.completion_times.get(requested) or max(modified, next_instant(requested))
        while time in taken:
            time = next_instant(time)
        times[requested] = time
        taken.add(time)
    guessed = tuple(Unknown(_CLAUSE, "completed, by its files' times, after a compaction", one) for one in sorted(late))
    return times, guessed


def _overtaken(found: FoundTable, known: KnownOfTable) -> tuple[dict[str, int], frozenset[str]]:
    """The writes whose logs may belong to a later base file: with the times of those that were written after it."""
    late: dict[str, int] = {}
    doubtful: set[str] = set()
    merged = {(one, base.name.instant) for base in bases_of(found.files) for one in base.instants}
    for files in found.groups().values():
        for log in logs_of(files):
            after = next((one for one in bases_of(files) if one.name.instant > log.name.instant), None)
            requested = log.name.instant
            if after is None or is_named_after_slice(log, files) or requested in known.completion_times:
                continue
            if (requested, after.name.instant) in merged or requested in known.uncommitted:
                continue
            doubtful.add(requested)
            if log.modified_ms > after.modified_ms:
                late[requested] = max(late.get(requested, 0), log.modified_ms)
    return late, frozenset(doubtful)
