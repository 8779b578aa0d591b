"""The metadata table of a table under construction: its indexes, its own services, and what it may get wrong."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hudi_model.actions import Action, CommitMetadata, Content, IndexDefinition, IndexPlan, State
from hudi_model.effects import CommitMetadataTable
from hudi_model.files import Block, DataBlock, Record, Records
from hudi_model.metadata import BEFORE_ALL, BUILDING, BUILT, FILES, with_indexes, without_index
from hudi_model.services.indexing import compact, last_without_gap
from hudi_model.tables import Table, open_table
from hudi_model.time import InstantTime

from hudi_conformance.bridge.file_names import timeline_file_name
from hudi_conformance.corpus.golden.writer import TableWriter, later

Change = Callable[[str, Any], Any]
"""What an entry is to hold, by its key and what it holds; None takes it away."""


@dataclass(slots=True)
class Indexing(TableWriter):
    """Indexes come and go here; what actions make of them is the writer's."""

    def keep_indexes(self, *indexes: IndexDefinition) -> None:
        """From now on a metadata table holds these indexes, built of what there is, and the list of files."""
        before = self.metadata.indexes if self.metadata else ()
        new = indexes if before else (FILES, *indexes)
        self.metadata = self._timed(with_indexes(self.state(), new))
        self.list_indexes(one.name for one in (*before, *new))
        if self.layout.version > 6:
            self.properties["hoodie.table.index.defs.path"] = ".hoodie/.index_defs/index.json"

    def build_indexes(self, at: InstantTime, *indexes: IndexDefinition) -> None:
        """Indexes that an indexing action has begun to build and has not ended: writers log to them."""
        names = tuple(one.name for one in indexes)
        plan = IndexPlan(names, last_without_gap(open_table(self.state())) or at, indexes)
        self.enter(Action.INDEXING, State.REQUESTED, at, content=plan)
        self.enter(Action.INDEXING, State.INFLIGHT, at)
        self.properties[BUILDING] = ",".join(sorted(names))
        self.metadata = self._timed(with_indexes(self.state(), indexes))

    def _timed(self, metadata: Table) -> Table:
        """Initial commits complete after all that the table has done so far, each at a time of its own."""
        last = max(one.completed or one.requested for one in self.timeline)
        known = {one.requested for one in self.metadata.timeline} if self.metadata else set[InstantTime]()
        timeline = []
        for place, entry in enumerate(metadata.timeline):
            is_new = entry.requested.startswith(BEFORE_ALL) and entry.requested not in known
            done = later(last, 1 + place) if is_new and entry.completed else entry.completed
            name = timeline_file_name(entry.requested, entry.action, entry.state, done, self.layout.timeline_layout)
            timeline.append(replace(entry, completed=done, name=name))
        return replace(metadata, timeline=tuple(timeline))

    def drop_index(self, name: str) -> None:
        """Readers stop using an index, then it goes."""
        metadata = self._metadata()
        self.metadata = without_index(metadata, name)
        self.list_indexes(one.name for one in self.metadata.indexes)

    def list_indexes(self, names: Iterable[str]) -> None:
        """What readers may use, as the properties say."""
        self.properties[BUILT] = ",".join(sorted(set(names)))

    def compact_metadata(self, at: InstantTime, done: InstantTime) -> None:
        """The metadata table is compacted."""
        settings = {"hoodie.compact.inline.max.delta.commits": "1"}
        (effect,) = compact(self.state(), at, done, settings)
        if not isinstance(effect, CommitMetadataTable):
            raise TypeError(f"{effect} is no commit of the metadata table")
        self.metadata = effect.table

    def forget_metadata_of(self, instant: InstantTime) -> None:
        """The deltacommit of an action is gone, and its logs."""
        metadata = self._metadata()
        timeline = tuple(one for one in metadata.timeline if one.requested != instant)
        logs = tuple(one for one in metadata.log_files if one.instant != instant)
        self.metadata = replace(metadata, timeline=timeline, log_files=logs)

    def without_logs_of(self, index: str, instant: InstantTime) -> None:
        """An index lacks what one action changed, though the deltacommit is there."""
        metadata = self._metadata()
        logs = tuple(one for one in metadata.log_files if (one.partition, one.instant) != (index, instant))
        kept = [one for one in metadata.timeline if one.requested != instant]
        changed = [
            replace(one, content=_without_stats(one.content, index))
            for one in metadata.timeline
            if one.requested == instant
        ]
        self.metadata = replace(metadata, timeline=(*kept, *changed), log_files=logs)

    def restate_metadata(self, properties: dict[str, str]) -> None:
        """The metadata table's own properties say something else."""
        metadata = self._metadata()
        stated = metadata.properties if isinstance(metadata.properties, Mapping) else {}
        self.metadata = replace(metadata, properties={**stated, **properties})

    def renumber_group(self, index: str, old: int, new: int) -> None:
        """A group of an index bears another number, in its file ids as in what names them."""
        metadata = self._metadata()

        def named(one: str) -> str:
            return one.replace(f"-{old:04}-0", f"-{new:04}-0", 1)

        bases = tuple(
            replace(one, file_id=named(one.file_id), name=named(one.name)) if one.partition == index else one
            for one in metadata.base_files
        )
        timeline = tuple(replace(one, content=_restated(one.content, index, named)) for one in metadata.timeline)
        self.metadata = replace(metadata, base_files=bases, timeline=timeline)

    def tamper(self, index: str, change: Change) -> None:
        """Entries of an index say what is not so."""
        metadata = self._metadata()
        bases = tuple(
            replace(one, records=_changed(one.records, change)) if one.partition == index else one
            for one in metadata.base_files
        )
        logs = tuple(
            replace(one, blocks=tuple(_changed_blocks(one.blocks, change))) if one.partition == index else one
            for one in metadata.log_files
        )
        self.metadata = replace(metadata, base_files=bases, log_files=logs)

    def _metadata(self) -> Table:
        if self.metadata is None:
            raise ValueError(f"{self.table_id} has no metadata table")
        return self.metadata


def _without_stats(content: Content, index: str) -> Content:
    if not isinstance(content, CommitMetadata):
        return content
    return replace(content, write_stats=tuple(one for one in content.write_stats if one.partition != index))


def _restated(content: Content, index: str, named: Callable[[str], str]) -> Content:
    """Commit metadata with other file ids of an index."""
    if not isinstance(content, CommitMetadata):
        return content
    stats = (
        replace(one, file_id=named(one.file_id), path=named(one.path or "")) if one.partition == index else one
        for one in content.write_stats
    )
    return replace(content, write_stats=tuple(stats))


def _changed_blocks(blocks: Any, change: Change) -> Iterator[Block]:
    for block in blocks:
        yield replace(block, records=_changed(block.records, change)) if isinstance(block, DataBlock) else block


def _changed(records: Records, change: Change) -> tuple[Record, ...]:
    found = []
    for record in records if isinstance(records, tuple) else ():
        key = str(record.values["key"])
        content = change(key, record.values["content"])
        found += [] if content is None else [Record({"key": key, "content": content})]
    return tuple(found)
