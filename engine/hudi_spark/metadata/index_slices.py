"""The file slices of a metadata table, index by index: one that lost files does not take the others with it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hudi_format.names import parse_data_file_name
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError
from hudi_spark.readings import RELEASED
from hudi_spark.state.commits import Commit, GroupId, commit_of
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.listing import FileListing, stored_files
from hudi_spark.state.slicing import FileSlice, list_file_groups
from hudi_spark.state.snapshots import Snapshot, snapshot_at
from hudi_spark.state.timeline import Timeline, Visibility


@dataclass(frozen=True, slots=True)
class IndexSlices:
    """The slices of the indexes that are whole, and why others are not."""

    slices: tuple[FileSlice, ...]
    visibility: Visibility
    refused: Mapping[str, str] = field(default_factory=dict, hash=False)

    def of(self, index: str) -> tuple[FileSlice, ...]:
        """The slices of one index."""
        return tuple(one for one in self.slices if one.partition == index)


def slices_of_indexes(
    storage: Storage,
    table: tuple[TableConfiguration, Timeline],
    indexes: Iterable[str],
    files: FileListing | None = None,
) -> IndexSlices:
    """The slices of some indexes of a metadata table; `files`: those in its storage, listed after its timeline.

    Raises:
        HudiError: no index is whole.
        FormatError: what a file of the timeline breaks.

    Clauses: MT-001, MT-007, MT-017.

    """
    wanted, listing = frozenset(indexes), files or stored_files(storage)
    groups = frozenset(group for group in list_file_groups(storage, listing) if group[0] in wanted)
    try:
        found = _snapshot(storage, table, groups, listing)
    except HudiError:
        # Some index lacks files, perhaps one that was dropped and built anew; each is looked at by itself.
        return _one_by_one(storage, table, groups, listing)
    return _without_lost_groups(IndexSlices(found.slices, found.visibility), found.commits, groups)


def _without_lost_groups(found: IndexSlices, commits: Iterable[Commit], groups: frozenset[GroupId]) -> IndexSlices:
    """The same without indexes of which commits name a group that has no file left: keys would be sought elsewhere.

    Clauses: MT-017.
    """
    indexes = {index for index, _ in groups}
    named = {group for commit in commits for group in commit.base_files()}
    named |= {group for commit in commits for group, _, _ in commit.log_files()}
    lost = {index: f"the file group {file_id} is gone" for index, file_id in sorted(named - groups) if index in indexes}
    kept = tuple(one for one in found.slices if one.partition not in lost)
    return IndexSlices(kept, found.visibility, {**found.refused, **lost})


def _one_by_one(
    storage: Storage, table: tuple[TableConfiguration, Timeline], groups: frozenset[GroupId], listing: FileListing
) -> IndexSlices:
    found: list[IndexSlices] = []
    refused: dict[str, HudiError] = {}
    for index in sorted({index for index, _ in groups}):
        within = frozenset(group for group in groups if group[0] == index)
        try:
            snapshot = _snapshot(storage, _since_begun(storage, table, index, listing), within, listing)
        except HudiError as error:
            refused[index] = error
        else:
            each = IndexSlices(snapshot.slices, snapshot.visibility)
            found.append(_without_lost_groups(each, snapshot.commits, within))
    if not found:
        raise next(iter(refused.values()))
    slices = tuple(one for each in found for one in each.slices)
    why = {index: str(error) for index, error in refused.items()}
    why |= {index: lost for each in found for index, lost in each.refused.items()}
    # The one that began first has seen all the others' actions.
    widest = max(found, key=lambda each: len(each.visibility.visible))
    return IndexSlices(slices, widest.visibility, why)


def _since_begun(
    storage: Storage, table: tuple[TableConfiguration, Timeline], index: str, listing: FileListing
) -> tuple[TableConfiguration, Timeline]:
    """The table without what completed before the index began: that wrote to one of its name that was dropped.

    A later index may have begun by the same instant, once that had left the timeline: it tells of itself alone.

    Clauses: MT-009, MT-017, IX-002.
    """
    configuration, timeline = table
    names = (parse_data_file_name(name) for partition, name in listing.files if partition == index)
    first = min((name.instant for name in names if name is not None), default="")
    begun = next((one for one in timeline.instants if one.requested == first and one.completed is not None), None)
    if begun is None or begun.completed is None:
        return table
    told = {stat.partition_path for stat in commit_of(storage, begun).metadata.write_stats}
    if told and index not in told:
        return table
    since = begun.completed
    return configuration, Timeline(tuple(one for one in timeline.instants if (one.completed or since) >= since))


def _snapshot(
    storage: Storage, table: tuple[TableConfiguration, Timeline], groups: frozenset[GroupId], listing: FileListing
) -> Snapshot:
    return snapshot_at(storage, table, RELEASED, None, "requested", groups, listing=listing)
