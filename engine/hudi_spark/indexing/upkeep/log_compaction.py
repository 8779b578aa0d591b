"""Log compaction of the metadata table: the logs of a file group become one, over the same base file."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.log.blocks import HeaderKey
from hudi_format.metadata.codec import metadata_schema_text
from hudi_format.metadata.columns import columns_block, columns_delete_block
from hudi_format.names import LogFileName
from hudi_format.timeline.commit_metadata import WriteStat

from hudi_spark.effects.helper import Effects
from hudi_spark.files.written import WRITTEN_SCHEMA, WrittenFile, from_rows, to_rows
from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.indexing.group_places import group_places, metadata_groups
from hudi_spark.indexing.groups import GroupFiles, Place
from hudi_spark.indexing.upkeep.merging import GroupMerging, Merged
from hudi_spark.indexing.upkeep.own_table import OwnTable
from hudi_spark.indexing.upkeep.plans import commit_content, plan_bytes, plan_of, stat_of
from hudi_spark.state.slicing import FileSlice

_ENABLE: Final = "hoodie.metadata.log.compaction.enable"
_THRESHOLD: Final = "hoodie.metadata.log.compaction.blocks.threshold"
_SUFFIX: Final = "005"


def compact_logs_when_due(own: OwnTable) -> bool:
    """Compact logs where options ask for it, enough deltacommits have come, and groups have many logs; whether it did.

    Clauses: MT-015, CP-001, LF-019.
    """
    least = own.options.number(_THRESHOLD)
    since = min(own.since(own.last("compaction")), own.since(own.last("logcompaction")))
    if not own.options.flag(_ENABLE) or since < least:
        return False
    found, visibility = own.slices()
    slices = tuple(one for one in found if len(one.log_files) >= least)
    newest = max((one.requested for one in own.timeline.completed("deltacommit")), default="")
    instant = own.now() if own.layout.has_completion_times else f"{newest}{_SUFFIX}"
    if not slices or any(one.requested == instant for one in own.timeline.instants):
        return False
    own.begin(instant, "logcompaction", plan_bytes(plan_of(own, slices, of_logs=True)))
    storage = own.inside.storage
    places = group_places(storage, own.timeline, own.layout, metadata_groups(storage), instant)
    merging = GroupMerging(storage, visibility, own.layout.release, only_logs=True)
    work = _Compacting(
        own.inside, merging, instant, {key: place for each in places.values() for key, place in each.items()}
    )
    written = own.executor.tasks(list(slices), work, WRITTEN_SCHEMA).gathered()
    stats = tuple(one.stat for one in from_rows(written))
    for partition in sorted({one.partition for one in slices}):
        GroupFiles(own.inside, own.layout, partition, instant, places[partition]).remove_strays(stats)
    own.again().complete(instant, "deltacommit", commit_content(own, "LOG_COMPACT", stats))
    return True


@dataclass(frozen=True, slots=True)
class _Compacting:
    """Writes the one log of a slice; what tasks run. Nothing for a group whose logs say nothing.

    `places`: by file id where the next log of each group goes.
    """

    inside: Effects
    merging: GroupMerging
    instant: str
    places: Mapping[str, Place]

    def __call__(self, one: FileSlice, identity: TaskIdentity) -> pa.Table:
        merged = self.merging.merged(one)
        if not merged.entries.num_rows:
            return to_rows(())
        place = self.places[one.file_id]
        name = str(LogFileName(one.file_id, place.instant, place.version, identity.write_token))
        data = b"".join(self._blocks(one.partition, merged))
        self.inside.put_log_file(self.instant, one.partition, name, data)
        read = sum(self.inside.storage.size(path) for path in one.log_files)
        stat = stat_of(one, merged, name, len(data), read)
        return to_rows((WrittenFile(_of_log(stat, place, name)),))

    def _blocks(self, partition: str, merged: Merged) -> list[bytes]:
        """Clauses: LF-019."""
        header = {HeaderKey.COMPACTED_BLOCK_TIMES: ",".join(merged.instants)}
        valid = merged.entries["value"].is_valid()
        kept, gone = merged.entries.filter(valid), merged.entries.filter(pc.invert(valid))
        blocks = []
        if kept.num_rows:
            blocks.append(columns_block(self.instant, kept["key"], kept["value"], merged.release, header))
        if gone.num_rows:
            stated = {**header, HeaderKey.SCHEMA: metadata_schema_text(merged.release)}
            blocks.append(columns_delete_block(self.instant, partition, gone["key"], stated))
        return blocks


def _of_log(stat: WriteStat, place: Place, name: str) -> WriteStat:
    """Clauses: TL-019, TL-020."""
    files = (*place.logs, name)
    return replace(
        stat, prev_base_file=None, log_version=place.version, log_offset=0, base_file=place.base_file, log_files=files
    )
