"""Compaction of the metadata table: the logs of all its file groups go into new base files.

version 6       after the last deltacommit, and not while an action before that one is pending on the data table
version 8 on    now, or before the first action that has come to the metadata table and not to the data table
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import pyarrow as pa
from hudi_adapter.reasons import Reason
from hudi_format.metadata.columns import columns_base_file
from hudi_format.names import BaseFileName

from hudi_spark.clock import instant_text, milliseconds_of
from hudi_spark.effects.helper import Effects
from hudi_spark.errors import HudiError
from hudi_spark.files.written import WRITTEN_SCHEMA, WrittenFile, from_rows, to_rows
from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.indexing.groups import GroupFiles
from hudi_spark.indexing.upkeep.merging import GroupMerging
from hudi_spark.indexing.upkeep.own_table import OwnTable
from hudi_spark.indexing.upkeep.plans import commit_content, log_name, plan_bytes, plan_of, planned_slices, stat_of
from hudi_spark.state.slicing import FileSlice, completion_times
from hudi_spark.state.timeline import Instant

_DELTACOMMITS: Final = "hoodie.metadata.compact.max.delta.commits"
_MOST_WAITING: Final = "hoodie.metadata.max.deltacommits.when_pending"
_SUFFIX: Final = "001"


def compact_when_due(own: OwnTable) -> bool:
    """Compact where enough deltacommits have come since the last time, and nothing pending forbids it; whether it did.

    Raises:
        HudiError: LIMIT_EXCEEDED before version 8, when an action has been pending for too many deltacommits.
        FormatError: a file of the metadata table that is broken.

    Clauses: MT-015, CP-001.

    """
    last = own.last("compaction")
    if own.since(last) < own.options.number(_DELTACOMMITS):
        return False
    instant = _instant(own, last)
    slices = () if instant is None else _slices(own, instant)
    if instant is None or not slices:
        return False
    own.begin(instant, "compaction", plan_bytes(plan_of(own, slices, of_logs=False)))
    _carry_out(own.again(), instant, slices)
    return True


def finish_compaction(own: OwnTable, pending: Instant) -> None:
    """A compaction that is pending, since whoever began it died, is carried out by its plan.

    Clauses: CP-002, MT-015.
    """
    if pending.state == "REQUESTED":
        own.put(pending.requested, "compaction", "INFLIGHT", b"")
    _carry_out(own, pending.requested, planned_slices(own, pending))


def _instant(own: OwnTable, last: str) -> str | None:
    """The time of a compaction now, None where there can be none.

    Clauses: MT-015.
    """
    return _newer_instant(own, last) if own.layout.has_completion_times else _older_instant(own, last)


def _newer_instant(own: OwnTable, last: str) -> str | None:
    """What a dead writer told the metadata table and did not complete must stay in logs: it is going to be undone."""
    here = {one.requested for one in own.timeline.instants if one.is_completed}
    undone = [one.requested for one in own.data.pending() if one.requested in here]
    if not undone:
        return own.now()
    before = _previous(min(undone))
    known = {one.requested for one in own.timeline.instants}
    return before if before > last and before not in known else None


def _previous(instant: str) -> str:
    """The instant one millisecond earlier."""
    return instant_text(datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=milliseconds_of(instant) - 1))


def _older_instant(own: OwnTable, last: str) -> str | None:
    newest = max((one.requested for one in own.timeline.completed("deltacommit")), default="")
    waiting = [one.requested for one in own.data.pending() if one.requested <= newest]
    if waiting:
        most = own.options.number(_MOST_WAITING)
        if own.since(last) > most:
            message = f"over {most} deltacommits of the metadata table wait for {min(waiting)}, which is pending"
            hint = f"complete or roll back {min(waiting)}, or raise {_MOST_WAITING}"
            raise HudiError(Reason.LIMIT_EXCEEDED, "MT-015", message, hint=hint)
        return None
    instant = f"{newest}{_SUFFIX}"
    return None if any(one.requested == instant for one in own.timeline.instants) else instant


def _slices(own: OwnTable, instant: str) -> tuple[FileSlice, ...]:
    """The slices that have logs, and of these, from version 8 on, those that completed before the compaction.

    Clauses: CP-001, RD-005.
    """
    slices, _ = own.slices()
    if own.layout.has_completion_times:
        times = completion_times(own.timeline)
        slices = tuple(_until(one, instant, times) for one in slices)
    return tuple(one for one in slices if one.log_files and one.base_instant < instant)


def _until(one: FileSlice, instant: str, completions: Mapping[str, str]) -> FileSlice:
    logs = (path for path in one.log_files if _completion(path, completions) < instant)
    return FileSlice(one.partition, one.file_id, one.base_instant, one.base_file, tuple(logs))


def _completion(path: str, completions: Mapping[str, str]) -> str:
    requested = log_name(path).instant
    return completions.get(requested, requested)


def _carry_out(own: OwnTable, instant: str, slices: tuple[FileSlice, ...]) -> None:
    """Base files by tasks; what others wrote for the same instant goes.

    Clauses: CP-002, MK-004.
    """
    _, visibility = own.slices()
    merging = GroupMerging(own.inside.storage, visibility, own.layout.release)
    work = _Compacting(own.inside, merging, instant)
    written = own.executor.tasks(list(slices), work, WRITTEN_SCHEMA).gathered()
    stats = tuple(one.stat for one in from_rows(written))
    for partition in sorted({one.partition for one in slices}):
        GroupFiles(own.inside, own.layout, partition, instant).remove_strays(stats)
    own.complete(instant, "commit", commit_content(own, "COMPACT", stats))


@dataclass(frozen=True, slots=True)
class _Compacting:
    """Writes the base file of a slice; what tasks run. A group that holds nothing, and has no base file, gets none."""

    inside: Effects
    merging: GroupMerging
    instant: str

    def __call__(self, one: FileSlice, identity: TaskIdentity) -> pa.Table:
        merged = self.merging.merged(one)
        if not merged.entries.num_rows and one.base_file is None:
            return to_rows(())
        name = str(BaseFileName(one.file_id, identity.write_token, self.instant, "hfile"))
        data = columns_base_file(merged.entries["key"], merged.entries["value"], merged.release)
        self.inside.put_base_file(self.instant, one.partition, name, data)
        read = sum(self.inside.storage.size(path) for path in one.log_files)
        stat = stat_of(one, merged, name, len(data), read)
        return to_rows((WrittenFile(stat),))
