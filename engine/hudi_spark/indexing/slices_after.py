"""The files of the current slices of partitions, as they will be once an action has completed."""

from collections.abc import Iterable

from hudi_format.names import BaseFileName, LogFileName, parse_data_file_name

from hudi_spark.indexing.file_lists import data_file
from hudi_spark.indexing.index import FinishedWrite
from hudi_spark.state.commits import GroupId
from hudi_spark.state.slicing import FileSlice, completion_times
from hudi_spark.writer_state import WriterState


def names_of_slices(slices: Iterable[FileSlice]) -> dict[str, tuple[str, ...]]:
    """By partition the names of the files of its slices."""
    found: dict[str, tuple[str, ...]] = {}
    for one in slices:
        paths = (*([one.base_file] if one.base_file else []), *one.log_files)
        found[one.partition] = (*found.get(one.partition, ()), *(path.rpartition("/")[2] for path in paths))
    return found


def files_after(state: WriterState, write: FinishedWrite) -> dict[str, tuple[str, ...]]:
    """The files that a snapshot reads after an action, of each partition that it touches; none where it empties one.

    A log that a compaction may have left out stays: bounds over more files than there are hold as well.

    Clauses: MT-014, RD-003, RD-004, RD-005.
    """
    touched = {*(one.stat.partition_path or "" for one in write.written), *write.replaced, *write.emptied}
    replaced = {(partition, file_id) for partition, file_ids in write.replaced.items() for file_id in file_ids}
    groups: dict[GroupId, list[str]] = {
        (one.partition, one.file_id): list(names_of_slices([one]).get(one.partition, ()))
        for one in state.slices
        if one.partition in touched and (one.partition, one.file_id) not in replaced
    }
    completions = completion_times(state.snapshot.timeline)
    for one in write.written:
        named = data_file(one.stat)
        if named is None:
            continue
        name, parsed = named
        within = groups.setdefault((one.stat.partition_path or "", parsed.file_id), [])
        if isinstance(parsed, BaseFileName):
            within[:] = [log for log in within if _follows(log, parsed, completions)]
        within.append(name)
    found: dict[str, tuple[str, ...]] = dict.fromkeys(touched, ())
    for (partition, _), names in groups.items():
        found[partition] = (*found[partition], *names)
    return found


def _follows(name: str, base: BaseFileName, completions: dict[str, str]) -> bool:
    """Whether a file of a slice is a log over a new base file."""
    parsed = parse_data_file_name(name)
    if not isinstance(parsed, LogFileName):
        return False
    return completions.get(parsed.instant, parsed.instant) >= base.instant
