"""What completed cleans, rollbacks and restores took away: instants and files."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeVar

from hudi_adapter.reasons import Reason
from hudi_format.errors import FormatError, UnsupportedFormat
from hudi_format.storage import Storage
from hudi_format.timeline.plans import (
    CleanMetadata,
    RestoreMetadata,
    RollbackMetadata,
    parse_clean_metadata,
    parse_cleaner_plan,
    parse_restore_metadata,
    parse_rollback_metadata,
)

from hudi_spark.errors import HudiError
from hudi_spark.state.commits import completed_bytes
from hudi_spark.state.timeline import Timeline

_T = TypeVar("_T")


def undone_instants(storage: Storage, timeline: Timeline) -> frozenset[str]:
    """Instants that completed rollbacks and restores took off the timeline.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when one of them does not parse.

    Clauses: TL-017.

    """
    undone: set[str] = set()
    for rollback in _rollbacks(storage, timeline):
        undone.update(rollback.commits_rollback)
    for restore in _restores(storage, timeline):
        undone.update(restore.instants_to_rollback)
    return frozenset(undone)


def _rollbacks(storage: Storage, timeline: Timeline) -> Iterator[RollbackMetadata]:
    """Completed rollbacks, those within restores among them."""
    yield from (rollback for _, rollback in _results(storage, timeline, "rollback", parse_rollback_metadata))
    for restore in _restores(storage, timeline):
        for rollbacks in restore.hoodie_restore_metadata.values():
            yield from rollbacks


def _restores(storage: Storage, timeline: Timeline) -> Iterator[RestoreMetadata]:
    return (restore for _, restore in _results(storage, timeline, "restore", parse_restore_metadata))


def _cleans(storage: Storage, timeline: Timeline) -> Iterator[tuple[str, CleanMetadata]]:
    return _results(storage, timeline, "clean", parse_clean_metadata)


def _results(
    storage: Storage, timeline: Timeline, action: str, parse: Callable[[bytes, str], _T]
) -> Iterator[tuple[str, _T]]:
    """File and content of the completed actions of a name; only data actions must have content.

    Clauses: TL-014, TL-015.
    """
    for instant in timeline.completed(action):
        if instant.archived is not None and not isinstance(instant.archived.content, bytes | None):
            yield instant.file, instant.archived.content
            continue
        data = completed_bytes(storage, instant)
        if data:
            yield instant.file, parse(data, instant.file)


def refuse_cleaned(storage: Storage, timeline: Timeline, as_of: str | None) -> None:
    """Nothing when a completed clean kept what a query, now or as of a time, needs.

    Raises:
        HudiError: RANGE_NOT_RETAINED for a time before the earliest instant that a clean retained.
        FormatError: TIMELINE_FILE_CORRUPT when a clean does not parse.

    Clauses: RD-014.

    """
    for file, clean in _cleans(storage, timeline):
        earliest = clean.earliest_commit_to_retain
        if earliest and as_of is not None and as_of < earliest:
            message = f"as of {as_of} is not retained: a clean kept what is needed from {earliest} on"
            hint = f"ask for {earliest} or later"
            raise HudiError(Reason.RANGE_NOT_RETAINED, "RD-014", message, file, hint=hint)


def is_cleaned(storage: Storage, timeline: Timeline, path: str) -> bool:
    """Whether a completed clean says that it deleted a data file.

    Clauses: RD-011, RD-014.
    """
    return any(
        _deletes(partition, deleted.success_delete_files, path)
        for _, clean in _cleans(storage, timeline)
        for partition, deleted in clean.partition_metadata.items()
    )


def cleaned_paths(storage: Storage, timeline: Timeline) -> frozenset[str]:
    """Every data file that completed cleans say they deleted.

    Clauses: RD-011, CD-006.
    """
    return frozenset(
        _path(partition, name)
        for _, clean in _cleans(storage, timeline)
        for partition, deleted in clean.partition_metadata.items()
        for name in deleted.success_delete_files
    )


def planned_paths(storage: Storage, timeline: Timeline) -> frozenset[str]:
    """Every data file that the plans of pending cleans name; a plan that cannot be read names none.

    Clauses: RD-014, CN-009.
    """
    found: set[str] = set()
    for one in timeline.pending("clean"):
        for state in ("REQUESTED", "INFLIGHT"):
            if (file := one.files.get(state)) is not None:
                with suppress(FormatError, UnsupportedFormat):
                    plan = parse_cleaner_plan(storage.read(file), file)
                    named = plan.file_paths_to_be_deleted_per_partition or {}
                    for partition, infos in named.items():
                        found.update(_path(partition, info.file_path or "") for info in infos)
                    break
    return frozenset(found)


def is_undone(storage: Storage, timeline: Timeline, path: str) -> bool:
    """Whether a completed rollback or restore says that it deleted a data file.

    Clauses: RD-011.
    """
    return any(
        _deletes(partition, deleted.success_delete_files, path)
        for rollback in _rollbacks(storage, timeline)
        for partition, deleted in rollback.partition_metadata.items()
    )


def undone_paths(storage: Storage, timeline: Timeline) -> frozenset[str]:
    """Every data file that completed rollbacks and restores say they deleted.

    Clauses: RD-011.
    """
    return frozenset(
        _path(partition, name)
        for rollback in _rollbacks(storage, timeline)
        for partition, deleted in rollback.partition_metadata.items()
        for name in deleted.success_delete_files
    )


def _path(partition: str, name: str) -> str:
    """The path in the table of a deleted file, given by name or by whole path."""
    own = name.rpartition("/")[2]
    return f"{partition}/{own}" if partition else own


def _deletes(partition: str, names: tuple[str, ...], path: str) -> bool:
    """Whether a list of deleted files, by name or by whole path, holds a path of the table."""
    folder, _, name = path.rpartition("/")
    return partition == folder and any(deleted.rpartition("/")[2] == name for deleted in names)
