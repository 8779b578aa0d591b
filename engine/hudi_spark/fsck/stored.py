"""A table as far as it could be known: the timeline's contents, what of it counts, and the files in storage."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hudi_format.errors import FormatError
from hudi_format.names import is_partition_metafile
from hudi_format.storage import Storage
from hudi_format.storage.interface import FileStatus

from hudi_spark.fsck.timeline import CheckedHistory, Contents
from hudi_spark.fsck.violations import Violations, violation_of
from hudi_spark.table_state import (
    BaseFile,
    Commit,
    FileGroup,
    FileListing,
    GroupId,
    LogFile,
    TableConfiguration,
    Timeline,
    Visibility,
    list_file_groups,
    retried,
    undone_instants,
    visibility,
)

DataFile = BaseFile | LogFile


def files_of(group: FileGroup) -> list[DataFile]:
    """Base files and logs of a group."""
    return [*group.base_files, *group.log_files]


@dataclass(frozen=True, slots=True)
class Stored:
    """All files below a table's base, without those of `.hoodie`, by path."""

    files: Mapping[str, FileStatus]

    def partitions(self) -> frozenset[str]:
        """Folders that are marked as partitions."""
        places = (path.rpartition("/") for path in self.files)
        return frozenset(folder for folder, _, name in places if is_partition_metafile(name))

    def listing(self) -> FileListing:
        """The files of the folders that are partitions.

        Clauses: SL-002.
        """
        marked = self.partitions()
        places = (path.rpartition("/") for path in self.files)
        return FileListing(tuple((folder, name) for folder, _, name in places if folder in marked))


@dataclass(frozen=True, slots=True)
class TableState:
    """What could be known of a table: the timeline's contents, what of it counts, and the files in storage."""

    storage: Storage
    configuration: TableConfiguration
    contents: Contents
    history: CheckedHistory
    stored: Stored
    seen: Visibility
    groups: Mapping[GroupId, FileGroup] = field(repr=False)

    @property
    def commits(self) -> tuple[Commit, ...]:
        """The completed data actions on the timeline that could be read."""
        return self.contents.commits

    @property
    def whole(self) -> Timeline:
        """Active timeline and history, without services whose files could not be read."""
        return Timeline((*self.history.instants, *self.contents.readable.instants))

    def committed(self) -> Iterator[DataFile]:
        """The data files that count now, or counted at an earlier time: of older slices and replaced groups too.

        Of the base files of one instant and group, that which the commit names.

        Clauses: RD-002, TL-018.
        """
        named = self.named_bases()
        pending = {one.requested for one in self.contents.timeline.instants if one.was_compaction}
        for group in self.groups.values():
            bases = {one.name.instant: one for one in _named_last(group.base_files, named)}
            yield from (one for one in bases.values() if self.seen.sees(one.name.instant))
            yield from (one for one in group.log_files if self._counts(one, pending))

    def named_bases(self) -> frozenset[str]:
        """Paths of the base files that commits name."""
        return frozenset(path for commit in self.commits for path in commit.base_files().values())

    def _counts(self, log: LogFile, compactions: set[str]) -> bool:
        """Clauses: RD-002, RD-006, RD-008."""
        by_slice = not self.configuration.has_completion_times and not log.name.cdc
        return self.seen.sees(log.name.instant) or (by_slice and log.name.instant in compactions)


def _named_last(bases: list[BaseFile], named: frozenset[str]) -> list[BaseFile]:
    return sorted(bases, key=lambda one: (one.path in named, one.path))


def _listed(storage: Storage, violations: Violations) -> list[FileStatus]:
    """The files of a table; a link that leaves it is reported, and hides none that lies elsewhere.

    Clauses: SL-007.
    """
    skipped = [".hoodie"]
    while True:
        try:
            return storage.list_files(skip=tuple(skipped))
        except FormatError as error:
            violations.found.add(violation_of(error, ""))
            if error.file in {"", *skipped}:
                return []
            skipped.append(error.file)


def table_state(
    storage: Storage,
    configuration: TableConfiguration,
    contents: Contents,
    history: CheckedHistory,
    violations: Violations,
) -> TableState:
    """The state of a table with its files; where storage cannot be listed, without any.

    Clauses: RD-001, RD-002, SL-002, SL-003, SL-007.
    """
    stored = Stored({one.path: one for one in _listed(storage, violations)})
    timeline, readable = contents.timeline, contents.readable
    undone = undone_instants(storage, readable) - retried(storage, readable, history.instants)
    groups = list_file_groups(storage, stored.listing(), change_logs=True)
    seen = visibility(timeline, None, "requested", undone)
    return TableState(storage, configuration, contents, history, stored, seen, groups)
