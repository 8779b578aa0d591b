"""A table under construction: what recipes write with. Every file it makes is a value of the model."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from hudi_format.names import NativeKind
from hudi_model.actions import Action, CommitMetadata, Content, State, TimelineEntry, WriteStat
from hudi_model.configuration import DRAFT
from hudi_model.files import BaseFile, Block, DataBlock, Delete, DeleteBlock, LogFile, Ordering, Record, Schema
from hudi_model.metadata import next_metadata
from hudi_model.tables import BucketRules, HashRing, History, Table
from hudi_model.time import InstantTime

from hudi_conformance.bridge.file_names import base_file_name, log_file_name, native_log_name, timeline_file_name
from hudi_conformance.corpus.golden.groups import Group, Homes
from hudi_conformance.corpus.golden.layout import Layout
from hudi_conformance.corpus.golden.rides import Row

_TOKEN = "0-1-0"  # noqa: S105 - a write token: task partition, stage, attempt
NATIVE_ROWS: Final[NativeKind] = "log"
NATIVE_DELETES: Final[NativeKind] = "deletes"
HALF_A_SECOND = 500
INDEXED = (Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT, Action.CLEAN, Action.ROLLBACK)
"""The actions that commit to the metadata table."""


@dataclass(frozen=True, slots=True)
class Written:
    """The files of one write, before they are on the timeline."""

    base_files: tuple[BaseFile, ...] = ()
    log_files: tuple[LogFile, ...] = ()

    def __add__(self, other: "Written") -> "Written":
        return Written(self.base_files + other.base_files, self.log_files + other.log_files)


@dataclass(slots=True)
class TableWriter:
    """The state so far. Single files and instants are placed here; whole writes stand in the subclasses."""

    table_id: str
    layout: Layout
    homes: Homes = field(init=False)
    timeline: list[TimelineEntry] = field(default_factory=list)
    base_files: list[BaseFile] = field(default_factory=list)
    log_files: list[LogFile] = field(default_factory=list)
    history: History = field(default_factory=History)
    properties: dict[str, str] = field(init=False)
    schema: Schema = field(init=False)
    # Per group: the instant that logs of a version 6 slice are named after.
    slice_instants: dict[Group, InstantTime] = field(default_factory=dict)
    log_versions: Counter[tuple[Group, InstantTime]] = field(default_factory=Counter)
    metadata: Table | None = None
    rings: list[HashRing] = field(default_factory=list)
    bucket_rules: list[BucketRules] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.homes = Homes(self.table_id, self.layout.groups_per_partition)
        self.properties = self.layout.table_properties(self.name)
        self.schema = self.layout.schema

    @property
    def name(self) -> str:
        """The table's name: its id with the slash made a word, unless the layout gives one."""
        return self.layout.name or self.table_id.replace("/", "_")

    def state(self) -> Table:
        """The table as a value."""
        files = tuple(self.base_files), tuple(self.log_files)
        table = Table(self.properties, None, tuple(self.timeline), *files, history=self.history, metadata=self.metadata)
        return replace(table, rings=tuple(self.rings), bucket_rules=tuple(self.bucket_rules))

    # Files

    def base_file(self, group: Group, at: InstantTime, rows: Iterable[Row | Record], token: str = _TOKEN) -> Written:
        """A base file of a group; records keep the commit time they bring, rows get this one's."""
        name = base_file_name(group.file_id, token, at)
        records = tuple(
            self._kept(row, name) if isinstance(row, Record) else self.record(row, at, number, name)
            for number, row in enumerate(rows)
        )
        self.slice_instants[group] = at
        return Written((BaseFile(group.partition, group.file_id, token, at, "parquet", name, records),))

    def log_file(self, group: Group, at: InstantTime, *blocks: Block, token: str = _TOKEN) -> Written:
        """A log file of a group, or a native log for each block where the version has them."""
        if self.layout.version >= DRAFT:
            return Written((), tuple(self._native_logs(group, at, blocks, token)))
        return self.inline_log(group, at, *blocks, token=token)

    def inline_log(self, group: Group, at: InstantTime, *blocks: Block, token: str = _TOKEN) -> Written:
        """A log file of blocks: named after the slice in version 6, after the instant later."""
        named = self.slice_instants.setdefault(group, at) if self.layout.version <= 6 else at
        self.log_versions[group, named] += 1
        version = self.log_versions[group, named]
        name = log_file_name(group.file_id, named, version, token)
        return Written(
            (), (LogFile(group.partition, group.file_id, named, version, token, cdc=False, name=name, blocks=blocks),)
        )

    def _native_logs(self, group: Group, at: InstantTime, blocks: Iterable[Block], token: str) -> Iterator[LogFile]:
        """A native log for each block; deletes share the version of the rows before them."""
        paired = False
        for block in blocks:
            is_delete = isinstance(block, DeleteBlock)
            self.log_versions[group, at] += not (is_delete and paired)
            paired = not is_delete
            version, kind = self.log_versions[group, at], NATIVE_DELETES if is_delete else NATIVE_ROWS
            name = native_log_name(group.file_id, at, version, token, kind)
            place = group.partition, group.file_id, at, version, token
            yield LogFile(*place, cdc=False, name=name, blocks=(block,), native=kind)

    def data_block(self, group: Group, at: InstantTime, rows: Iterable[Row]) -> DataBlock:
        """A data block; like Apache Hudi's, its records name the file id where base files name the file."""
        records = tuple(self.record(row, at, number, group.file_id) for number, row in enumerate(rows))
        return DataBlock(at, records, schema=self.schema)

    def delete_block(self, group: Group, at: InstantTime, keys: Mapping[str, Ordering] | Iterable[str]) -> DeleteBlock:
        """A delete block; keys given without ordering value carry the integer 0, as the delete operation writes."""
        orderings = keys if isinstance(keys, Mapping) else dict.fromkeys(keys, 0)
        return DeleteBlock(at, tuple(Delete(key, group.partition, value) for key, value in orderings.items()))

    def record(self, row: Row, at: InstantTime, number: int, file_name: str) -> Record:
        """A row with its meta fields."""
        meta = {
            "_hoodie_commit_time": at,
            "_hoodie_commit_seqno": f"{at}_0_{number}",
            "_hoodie_record_key": self.layout.key(row),
            "_hoodie_partition_path": self.layout.partition(row),
            "_hoodie_file_name": file_name,
        }
        return Record({**meta, **row})

    def _kept(self, record: Record, file_name: str) -> Record:
        return Record({**record.values, "_hoodie_file_name": file_name})

    def group(self, partition: str, number: int = 0) -> Group:
        """The n-th file group of a partition, by the partition column's value."""
        return self.homes.group(self.layout.partition_path(partition) if self.layout.partition_by else "", number)

    def home(self, row: Row) -> Group:
        """The group a row's key lives in."""
        return self.homes.of(self.layout.partition(row), self.layout.key(row))

    # Timeline

    def begin(self, action: Action, at: InstantTime, requested: Content = None, inflight: Content = None) -> None:
        """An action as it is started: its requested and its inflight file."""
        if action is not Action.SAVEPOINT:
            self.enter(action, State.REQUESTED, at, content=requested)
        self.enter(action, State.INFLIGHT, at, content=inflight)

    def enter(
        self,
        action: Action,
        state: State,
        at: InstantTime,
        done: InstantTime | None = None,
        content: Content = None,
    ) -> None:
        """One timeline file."""
        self.timeline.append(self._entry(action, state, at, done, content))

    def complete(self, action: Action, at: InstantTime, content: Content, done: InstantTime | None = None) -> None:
        """The completed file of an action, half a second after its request by default; before it the metadata's."""
        self.commit_metadata_first(action, at, content, done)
        self.enter(action, State.COMPLETED, at, done or later(at), content)

    def commit_metadata_first(
        self, action: Action, at: InstantTime, content: Content, done: InstantTime | None = None
    ) -> None:
        """What an action that is about to complete commits to the metadata table, a millisecond before it does."""
        if self.metadata is not None and action in INDEXED:
            entry = self._entry(action, State.COMPLETED, at, later(done or later(at), -1), content)
            self.metadata = next_metadata(self.state(), entry)

    def _entry(
        self, action: Action, state: State, at: InstantTime, done: InstantTime | None, content: Content
    ) -> TimelineEntry:
        """Under layout 1 names hold no completion time."""
        completed = done if self.layout.timeline_layout == 2 and state is State.COMPLETED else None
        name = timeline_file_name(at, action, state, completed, self.layout.timeline_layout)
        return TimelineEntry(at, action, state, completed, content, name)

    def place(self, written: Written) -> None:
        """Put files into storage, whatever the timeline says of them."""
        self.base_files += written.base_files
        self.log_files += written.log_files

    def commit_metadata(
        self, operation: str, written: Written, *, compacted: bool = False, replaced: Sequence[Group] = ()
    ) -> CommitMetadata:
        """What a commit says of the files it wrote."""
        return CommitMetadata(
            operation=operation,
            compacted=compacted,
            write_stats=tuple(map(_base_stat, written.base_files)) + tuple(map(self._log_stat, written.log_files)),
            replaced=frozenset((group.partition, group.file_id) for group in replaced),
            schema=self.schema,
            extra={},
        )

    def _log_stat(self, file: LogFile) -> WriteStat:
        blocks = file.blocks if isinstance(file.blocks, tuple) else ()
        writes = sum(
            len(block.records) for block in blocks if isinstance(block, DataBlock) and isinstance(block.records, tuple)
        )
        deletes = sum(
            len(block.deletes)
            for block in blocks
            if isinstance(block, DeleteBlock) and isinstance(block.deletes, tuple)
        )
        return WriteStat(
            file.partition, file.file_id, data_path(file), file.instant, writes=writes, updates=writes, deletes=deletes
        )


def later(at: InstantTime, milliseconds: int = HALF_A_SECOND) -> InstantTime:
    """The instant some milliseconds after another of the same minute."""
    return InstantTime(str(int(at) + milliseconds))


def _base_stat(file: BaseFile) -> WriteStat:
    rows = len(file.records) if isinstance(file.records, tuple) else 0
    return WriteStat(file.partition, file.file_id, data_path(file), "null", writes=rows, inserts=rows)


def data_path(file: BaseFile | LogFile) -> str:
    """A file relative to the table: partition and name."""
    return f"{file.partition}/{file.name}" if file.partition else file.name
