"""The file groups that a metadata table has, and where the next log file of each goes."""

from collections.abc import Iterable, Mapping

from hudi_format.storage import Storage

from hudi_spark.indexing.groups import Place
from hudi_spark.indexing.layout import MetadataLayout
from hudi_spark.state.commits import GroupId
from hudi_spark.state.pending_plans import pending_compactions
from hudi_spark.state.slicing import BaseFile, FileGroup, LogFile, list_file_groups
from hudi_spark.state.timeline import Timeline, visibility

Groups = Mapping[GroupId, FileGroup]
"""The files of each group, by partition and file id."""


def metadata_groups(inside: Storage) -> Groups:
    """The file groups of a metadata table, as its storage has them.

    Clauses: MT-017.
    """
    return list_file_groups(inside)


def file_ids_of(groups: Groups, partition: str) -> tuple[str, ...]:
    """The file ids of one index, in order.

    Clauses: MT-017.
    """
    return tuple(sorted(file_id for within, file_id in groups if within == partition))


def group_places(
    inside: Storage, timeline: Timeline, layout: MetadataLayout, groups: Groups, instant: str
) -> dict[str, dict[str, Place]]:
    """Where a deltacommit's log of each group goes, by index and file id.

    From version 8 on a log is named after its deltacommit. Before, after the slice that it joins: the newest that
    has a base file or a pending compaction, else the group's first.

    Clauses: SL-005, MT-017, RD-005.
    """
    found: dict[str, dict[str, Place]] = {}
    pending = {} if layout.has_completion_times else pending_compactions(inside, timeline)
    seen = visibility(timeline, None, "requested")
    for id_, group in groups.items():
        partition, file_id = id_
        bases = [one for one in group.base_files if seen.sees(one.name.instant)]
        if layout.has_completion_times:
            place = Place(instant, _next_version(group.log_files, instant))
        else:
            place = _in_slice(bases, group.log_files, pending.get(id_, ()))
        found.setdefault(partition, {})[file_id] = place
    return found


def _in_slice(bases: list[BaseFile], logs: list[LogFile], pending: Iterable[str]) -> Place:
    opened = [one.name.instant for one in bases] + list(pending)
    instant = max(opened or [one.name.instant for one in logs])
    within = sorted((one for one in logs if one.name.instant == instant), key=lambda one: one.name.version)
    base = next((str(one.name) for one in bases if one.name.instant == instant), "")
    return Place(instant, _next_version(logs, instant), base, tuple(str(one.name) for one in within))


def _next_version(logs: Iterable[LogFile], instant: str) -> int:
    return max((one.name.version for one in logs if one.name.instant == instant), default=0) + 1
