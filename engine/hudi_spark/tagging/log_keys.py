"""Slices whose logs say something about keys: hold some that the base file lacks, or delete some that it has.

Writers that find keys in base files put new keys into base files only, and their commits say so: no inserts in logs.
Bucket indexes put them into logs, partial updates of new keys do, and of logs of archived commits nothing is known.
Where a log deleted a row, which a merger of one's own may do with any version, another group may hold its key by now.
"""

from typing import Final

from hudi_spark.merging.modes import merge_mode
from hudi_spark.state.slicing import FileSlice
from hudi_spark.tagging.buckets import bucket_of_file_id
from hudi_spark.writer_state import WriterState

_CUSTOM: Final = "CUSTOM"
_BUCKET_INDEX: Final = ".hoodie/.bucket_index"


def slices_to_merge(state: WriterState) -> frozenset[int]:
    """The numbers of the slices of which only the merged rows tell which keys live there.

    Clauses: OW-003, OW-020.
    """
    logged = {number: one for number, one in enumerate(state.slices) if one.log_files}
    if not logged:
        return frozenset()
    if merge_mode(state.configuration) == _CUSTOM or state.storage.exists(_BUCKET_INDEX):
        return frozenset(logged)
    updates = _logs_of_updates(state)
    return frozenset(number for number, one in logged.items() if not _only_updates(one, updates))


def _only_updates(one: FileSlice, updates: frozenset[str]) -> bool:
    if one.base_file is None or bucket_of_file_id(one.file_id) is not None:
        return False
    return all(path in updates for path in one.log_files)


def _logs_of_updates(state: WriterState) -> frozenset[str]:
    """Paths of log files with nothing but new versions of rows."""
    return frozenset(
        path
        for commit in state.snapshot.commits
        for (_, stat), (_, path, _) in zip(commit.stats(), commit.data_files(), strict=True)
        if stat.num_inserts == 0 and stat.num_deletes == 0
    )
