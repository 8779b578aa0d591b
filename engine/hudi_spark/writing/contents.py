"""What the timeline's files of a write hold.

Clauses: TL-014, TL-019, TL-020, TL-033, OW-017.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hudi_format.timeline.commit_metadata import (
    NO_PREVIOUS_COMMIT,
    CommitMetadata,
    WriteStat,
    serialise_avro,
    serialise_json,
)
from hudi_format.timeline.plans import RequestedReplace, serialise_requested_replace

from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.writing.routing import Routes, Target

REPLACE = "replacecommit"

_NOTHING = WriteStat(
    num_writes=0,
    num_deletes=0,
    num_update_writes=0,
    num_inserts=0,
    total_write_bytes=0,
    total_write_errors=0,
    total_log_records=0,
    total_updated_records_compacted=0,
    total_log_blocks=0,
    total_corrupt_log_block=0,
    total_rollback_blocks=0,
    file_size_in_bytes=0,
    total_log_files_compacted=0,
    total_log_size_compacted=0,
)


def requested_content(action: str) -> bytes:
    """What the requested file of a write holds: nothing, or a plan without a word.

    Clauses: TL-033.
    """
    if action != REPLACE:
        return b""
    return serialise_requested_replace(RequestedReplace(None, None, None, None))


def metadata_content(configuration: TableConfiguration, action: str, metadata: CommitMetadata) -> bytes:
    """A commit's metadata in the form of the table's version; completed replacecommits have one field more.

    Clauses: TL-019, TL-020.
    """
    if not configuration.has_completion_times:
        return serialise_json(metadata)
    return serialise_avro(metadata, replace=action == REPLACE)


def inflight_content(configuration: TableConfiguration, operation: str, routes: Routes) -> bytes:
    """What a write is about to do: for each partition its new rows, for each group its updates.

    Clauses: TL-033.
    """
    metadata = CommitMetadata(operation, write_stats=tuple(_expected(routes)))
    # Also an overwrite says beforehand what any commit would.
    return metadata_content(configuration, "commit", metadata)


def _expected(routes: Routes) -> Iterable[WriteStat]:
    by_partition: dict[str, list[Target]] = {}
    for target in routes.targets:
        by_partition.setdefault(target.partition, []).append(target)
    for partition, targets in sorted(by_partition.items()):
        inserts = sum(one.inserts for one in targets)
        yield replace(
            _NOTHING, file_id="", prev_commit=NO_PREVIOUS_COMMIT, partition_path=partition, num_inserts=inserts
        )
        for one in targets:
            if one.slice is not None and one.updates:
                yield replace(
                    _NOTHING,
                    file_id=one.file_id,
                    prev_commit=one.slice.base_instant,
                    partition_path=partition,
                    num_update_writes=one.updates,
                )


def completed_metadata(
    operation: str, stats: tuple[WriteStat, ...], replaced: Mapping[str, tuple[str, ...]], extra: Mapping[str, str]
) -> CommitMetadata:
    """What a write did.

    Clauses: TL-019, OW-017, OW-018.
    """
    return CommitMetadata(operation, write_stats=stats, replaced_file_ids=replaced, extra=extra)
