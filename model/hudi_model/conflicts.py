"""Optimistic concurrency: what completed since a write began, and whether the write may still commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hudi_model.actions import Instant
from hudi_model.files import GroupId
from hudi_model.rejection import Reason, Rejection
from hudi_model.settings import concurrency_mode
from hudi_model.tables import Table, open_table
from hudi_model.timeline import commit_metadata, completed_data

if TYPE_CHECKING:
    from hudi_model.writers import Write


def refuse_conflicts(table: Table, write: Write) -> None:
    """Nothing, unless what completed since the write began wrote or replaced a file group that the write touches.

    Raises: WRITE_CONFLICT.

    Clauses: OW-004, OW-005.
    """
    if concurrency_mode(write.request.settings) != "OPTIMISTIC_CONCURRENCY_CONTROL":
        return
    mine = touched_groups_of(write)
    for other in concurrent_set(table, write):
        shared = mine & touched_groups(other)
        if shared:
            detail = f"{other.requested}.{other.action} wrote {sorted(shared)} too"
            raise Rejection(Reason.WRITE_CONFLICT, "OW-005", f"{write.requested}.{write.action}", detail)


def concurrent_set(table: Table, write: Write) -> tuple[Instant, ...]:
    """The data actions that completed since the write began.

    Clauses: OW-004.
    """
    done = completed_data(open_table(table).timeline)
    return tuple(one for one in done if one.requested not in write.seen)


def touched_groups(instant: Instant) -> frozenset[GroupId]:
    """The file groups that a completed action wrote or replaced."""
    metadata = commit_metadata(instant)
    return metadata.replaced | {(stat.partition, stat.file_id) for stat in metadata.write_stats}


def touched_groups_of(write: Write) -> frozenset[GroupId]:
    """The file groups that a write is about to write or replace."""
    assert write.metadata
    return write.metadata.replaced | {(stat.partition, stat.file_id) for stat in write.metadata.write_stats}
