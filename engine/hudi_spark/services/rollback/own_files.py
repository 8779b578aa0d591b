"""Which files an action put into storage: as its markers announce, or as a listing shows.

Base files and logs that bear the action's instant are its own and go whole. Before table version 8 a log bears the
instant of its slice: where the action only added blocks to a slice, a command takes these back.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from hudi_format.errors import FormatError
from hudi_format.log.blocks import HeaderKey, RawBlock, read_blocks
from hudi_format.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_format.storage import FileStatus, Storage
from hudi_format.timeline.commit_metadata import parse_commit_metadata

from hudi_spark.committing.reconciling import announced
from hudi_spark.effects.helper import joined
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.timeline import Instant


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that an action is to blame for; `goes`: all of it is the action's, else a command takes its part back.

    Clauses: RB-006, RB-007.
    """

    partition: str
    name: BaseFileName | LogFileName
    size: int
    goes: bool


@dataclass(frozen=True, slots=True)
class Search:
    """Looks for the files of one action.

    `restoring`: a compaction is undone with every log that bears its instant, else these belong to later writes.

    Clauses: RB-006, RB-008, SR-007.
    """

    storage: Storage
    configuration: TableConfiguration
    target: Instant
    restoring: bool = False

    def announced(self) -> tuple[OwnFile, ...] | None:
        """What the action's markers announce and storage holds; None where there is none, or one cannot be used.

        A listing finds the same files, so that a marker which does not parse, or names a file that is not the table's
        own, keeps nobody from taking the write back.

        Clauses: MK-001, MK-003, RB-006.
        """
        try:
            markers = announced(self.storage, self.target.requested)
        except FormatError:
            return None
        if not markers:
            return None
        wanted = {(one.partition, one.name.data_file) for one in markers}
        found: list[OwnFile] = []
        for partition in sorted({within for within, _ in wanted}):
            stored = self.storage.list_files(partition, recursive=False)
            names = {name for within, name in wanted if within == partition}
            found += self._of_markers(names, _data_files(stored))
        return tuple(found)

    def listed(self, stored: Iterable[FileStatus] | None = None) -> tuple[OwnFile, ...]:
        """What bears the action's instant among all files of the table.

        Clauses: RB-006, RB-007, SR-007.
        """
        statuses = self.storage.list_files(skip=(".hoodie",)) if stored is None else stored
        files = tuple(_data_files(statuses))
        own = [replace(one, goes=True) for one in files if self._is_whole(one.name)]
        if self._appends:
            partitions = self._partitions()
            logs = (one for one in files if self._is_older_log(one.name))
            within = (one for one in logs if partitions is None or one.partition in partitions)
            own += [one for one in within if self._has_blocks(one)]
        return tuple(own)

    def _of_markers(self, names: set[str], stored: Iterable[OwnFile]) -> Iterator[OwnFile]:
        # Releases before 0.14 name the base file, not the log, in the marker of an append.
        parsed = (parse_data_file_name(name) for name in names)
        bases = {(one.file_id, one.instant) for one in parsed if isinstance(one, BaseFileName)}
        for one in stored:
            named = str(one.name) in names
            if (named and self._is_whole(one.name)) or self._is_change_log(one.name):
                yield replace(one, goes=True)
            elif named and self._is_older_log(one.name):
                yield one
            elif (one.name.file_id, one.name.instant) in bases and self._is_older_log(one.name):
                yield from [one] if self._has_blocks(one) else []

    def _is_whole(self, name: BaseFileName | LogFileName) -> bool:
        """Whether all of a file is the action's."""
        if name.instant != self.target.requested:
            return False
        later_writes = self.target.was_compaction and not self.target.is_completed and not self.restoring
        return not (isinstance(name, LogFileName) and later_writes)

    def _is_change_log(self, name: BaseFileName | LogFileName) -> bool:
        """Whether a file is a change log of the action; not every release announces these."""
        return isinstance(name, LogFileName) and name.cdc and name.instant == self.target.requested

    def _is_older_log(self, name: BaseFileName | LogFileName) -> bool:
        return isinstance(name, LogFileName) and not name.cdc and name.instant != self.target.requested

    @property
    def _appends(self) -> bool:
        """Whether the action can have added blocks to slices of others."""
        configuration = self.configuration
        older = not configuration.has_completion_times and configuration.table_type == "MERGE_ON_READ"
        return older and not self.target.was_compaction

    def _partitions(self) -> frozenset[str] | None:
        """The partitions that the action said it would change; None where it says nothing.

        Clauses: TL-033.
        """
        file = self.target.files.get("COMPLETED") or self.target.files.get("INFLIGHT")
        data = b"" if file is None else self.storage.read(file)
        if not data or file is None:
            return None
        try:
            stats = parse_commit_metadata(data, file).write_stats
        except FormatError:
            return None
        return frozenset(one.partition_path or "" for one in stats) or None

    def _has_blocks(self, log: OwnFile) -> bool:
        """Whether blocks of a log are the action's."""
        path = joined(log.partition, str(log.name))
        blocks = (one for one in read_blocks(self.storage.read(path), path) if isinstance(one, RawBlock))
        return any(one.header.get(HeaderKey.INSTANT_TIME) == self.target.requested for one in blocks)


def _data_files(stored: Iterable[FileStatus]) -> Iterator[OwnFile]:
    """The base and log files among stored ones."""
    for status in stored:
        partition, _, file = status.path.rpartition("/")
        name = parse_data_file_name(file)
        if name is not None:
            yield OwnFile(partition, name, status.size, goes=False)
