"""One index of the metadata table: its file groups, and which of them a key has to be looked for in."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hudi_format.metadata.partitions import data_partition_of_id, file_group_of_id, file_group_of_key
from hudi_format.metadata.records import MetadataRecord

from hudi_spark.metadata.group_reading import GroupReader, Wanted


@dataclass(frozen=True, slots=True)
class IndexPartition:
    """The file groups of an index; a partitioned record index has a series of them for each partition.

    Clauses: MT-017, IX-022.
    """

    groups: tuple[GroupReader, ...]

    def is_whole(self) -> bool:
        """Whether no group is missing: they are numbered from 0, and the number of them says where a key lies.

        A group of another name makes that unknown.

        Clauses: MT-017.
        """
        try:
            found = self._series().values()
        except ValueError:
            return False
        return all(sorted(series) == list(range(len(series))) for series in found)

    def records(self, wanted: Wanted) -> dict[str, MetadataRecord]:
        """The records asked for, of all groups."""
        return {key: record for group in self.groups for key, record in group.records(wanted).items()}

    def get(self, keys: Iterable[str]) -> Mapping[str, MetadataRecord]:
        """The records of keys, by key."""
        return {record.key: record for record in self.each(keys)}

    def each(self, keys: Iterable[str]) -> Iterator[MetadataRecord]:
        """The records of keys, each from the group of the key; several of one key where the index is partitioned.

        Clauses: MT-017, IX-022.
        """
        wanted = frozenset(keys)
        for series in self._series().values():
            for group, within in _routed(wanted, len(series)).items():
                yield from series[group].records(Wanted(keys=within)).values()

    def starting_with(self, prefixes: tuple[str, ...]) -> Mapping[str, MetadataRecord]:
        """The records whose keys begin with one of the prefixes, by key; any group may hold some.

        Clauses: MT-017, IX-030.
        """
        return self.records(Wanted(prefixes=prefixes)) if prefixes else {}

    def _series(self) -> dict[str | None, dict[int, GroupReader]]:
        """The groups by number, for each partition that they are for."""
        series: dict[str | None, dict[int, GroupReader]] = {}
        for group in self.groups:
            file_id = group.slice.file_id
            within = data_partition_of_id(file_id) if group.slice.partition == "record_index" else None
            series.setdefault(within, {})[file_group_of_id(file_id)[0]] = group
        return series


def _routed(keys: frozenset[str], groups: int) -> dict[int, frozenset[str]]:
    routed: dict[int, set[str]] = {}
    for key in keys:
        routed.setdefault(file_group_of_key(key, groups), set()).add(key)
    return {group: frozenset(within) for group, within in routed.items()}
