"""Table services on a table under construction: compaction, replacement, clean, savepoint, rollback."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hudi_model.actions import (
    Action,
    CleanMetadata,
    CleanPlan,
    ClusteringGroup,
    CommitMetadata,
    CompactionOperation,
    CompactionPlan,
    ReplacePlan,
    RollbackMetadata,
    RollbackPlan,
    SavepointMetadata,
    State,
)
from hudi_model.effects import perform
from hudi_model.files import META_FIELDS, BaseFile, Block, DataBlock, LogFile, Record, Records, RollbackBlock
from hudi_model.queries import Selection, read_snapshot
from hudi_model.services.archival import archive
from hudi_model.tables import Readings
from hudi_model.time import InstantTime

from hudi_conformance.corpus.golden.groups import Group
from hudi_conformance.corpus.golden.operations import Operations
from hudi_conformance.corpus.golden.rides import Row
from hudi_conformance.corpus.golden.writer import Written, later


@dataclass(slots=True)
class Services(Operations):
    """Writes, and what runs beside them."""

    def schedule_compaction(
        self, at: InstantTime, groups: Iterable[Group], state: State = State.INFLIGHT
    ) -> CompactionPlan:
        """A compaction that is requested, or also started; later logs open the slice at its instant."""
        plan = CompactionPlan(tuple(self._operation(group) for group in sorted(groups)))
        self.enter(Action.COMPACTION, State.REQUESTED, at, content=plan)
        if state is State.INFLIGHT:
            self.enter(Action.COMPACTION, State.INFLIGHT, at)
        self.slice_instants.update(dict.fromkeys(groups, at))
        return plan

    def compact(self, at: InstantTime, groups: Sequence[Group], done: InstantTime | None = None) -> Written:
        """A compaction from request to commit: its base files hold what a snapshot reads."""
        written = self.compacted_files(at, groups)
        self.schedule_compaction(at, groups)
        self.complete_compaction(at, written, done)
        return written

    def compacted_files(self, at: InstantTime, groups: Sequence[Group]) -> Written:
        """The base files that a compaction of these groups writes now."""
        merged = self.merged()
        written = Written()
        for group in groups:
            written += self.base_file(group, at, merged.get(group, []))
            self.rows[group] = {str(row.values["_hoodie_record_key"]): row for row in merged.get(group, [])}
        return written

    def complete_compaction(self, at: InstantTime, written: Written, done: InstantTime | None = None) -> None:
        """The commit that a scheduled compaction becomes."""
        self.place(written)
        self.complete(Action.COMMIT, at, self.commit_metadata("COMPACT", written, compacted=True), done)

    def replace_groups(  # noqa: PLR0917 - recipes name all but the first two
        self,
        at: InstantTime,
        rows: Iterable[Row],
        replaced: Sequence[Group],
        done: InstantTime | None = None,
        state: State = State.COMPLETED,
        operation: str = "INSERT_OVERWRITE",
        first_number: int = 7,
        plan: ReplacePlan | None = None,
    ) -> Written:
        """New groups instead of old ones; the old files stay until they are cleaned. `plan`: what was requested."""
        written = Written()
        for number, (partition, members) in enumerate(sorted(self._by_partition(rows).items())):
            group = self.homes.group(partition, first_number + number)
            self.homes.move(partition, map(self.layout.key, members), group)
            written += self._rewritten(group, at, members, ())
        self.place(written)
        usual = ReplacePlan("CLUSTER" if operation == "CLUSTER" else "")
        self.begin(self._replacing(operation), at, plan or usual)
        if state is State.COMPLETED:
            content = self.commit_metadata(operation, written, replaced=replaced)
            self.complete(Action.REPLACE_COMMIT, at, content, done)
        return written

    def merged(self) -> dict[Group, list[Record]]:
        """What a snapshot of the table reads now, by group, meta fields included."""
        answer = read_snapshot(self.state(), Readings(), selection=Selection(meta_columns=True))
        merged: dict[Group, list[Record]] = {}
        for row in answer.rows:
            partition, key = str(row["_hoodie_partition_path"]), str(row["_hoodie_record_key"])
            merged.setdefault(self.homes.of(partition, key), []).append(Record(row))
        return merged

    def clustering_plan(self, groups: Sequence[Group]) -> ReplacePlan:
        """A plan that makes one new group of some."""
        return ReplacePlan("CLUSTER", (ClusteringGroup(tuple(map(self._operation, groups)), 1),))

    def savepoint(self, saved: InstantTime, at: InstantTime) -> None:
        """A savepoint of an earlier instant, made at another time; it has no requested file."""
        self.begin(Action.SAVEPOINT, saved)
        bases = {(file.partition, file.name) for file in self.base_files if file.instant <= saved}
        logs = {(file.partition, file.name) for file in self.log_files if file.instant <= saved}
        kept = SavepointMetadata(frozenset(bases | logs))
        self.complete(Action.SAVEPOINT, saved, kept, later(at))

    def clean(self, at: InstantTime, retain: InstantTime, *again: InstantTime, completes: bool = True) -> None:
        """A clean that removes the base files which no question from `retain` on needs; one may die after that.

        `again`: cleans that were planned beside it, of the same files, and carried out after it.
        """
        gone = {(file.partition, file.name) for file in self.base_files if self._superseded(file, retain)}
        self.base_files = [file for file in self.base_files if (file.partition, file.name) not in gone]
        plan = CleanPlan(retain, frozenset(gone))
        for instant in (at, *again):
            self.begin(Action.CLEAN, instant, plan, plan)
            if completes:
                self.complete(Action.CLEAN, instant, CleanMetadata(retain, frozenset(gone)))

    def roll_back(self, at: InstantTime, target: InstantTime, *, blocks: bool = True) -> None:
        """Undo a write: its instant goes, and its files, or in version 6 a command block disowns its log blocks.

        A version 6 rollback may leave out the command blocks.
        """
        touched = [file for file in self.log_files if _holds(file, target)]
        gone = {(file.partition, file.name) for file in self.base_files if file.instant == target}
        self.base_files = [file for file in self.base_files if file.instant != target]
        if self.layout.version <= 6:
            for group in sorted({Group(file.partition, file.file_id) for file in touched if blocks}):
                self.place(self.log_file(group, at, RollbackBlock(at, target), token="1-0-1"))  # noqa: S106
        else:
            gone |= {(file.partition, file.name) for file in touched}
            self.log_files = [file for file in self.log_files if file not in touched]
        self.forget(target)
        self.begin(Action.ROLLBACK, at, RollbackPlan(target, self.data_action, frozenset(gone)))
        self.complete(Action.ROLLBACK, at, RollbackMetadata((target,), frozenset(gone)))

    def archive(self, keep: int, batch: int = 10) -> None:
        """An archival that leaves `keep` writes on the timeline; full levels of `batch` files are merged.

        No compaction counts deltacommits there, so that none of them stays for one.
        """
        limits = {"hoodie.keep.min.commits": keep, "hoodie.keep.max.commits": keep}
        named = {
            **{name: str(value) for name, value in limits.items()},
            "hoodie.timeline.compaction.batch.size": str(batch),
            "hoodie.compact.inline.trigger.strategy": "TIME_ELAPSED",
        }
        after = perform(self.state(), archive(self.state(), named))
        self.timeline, self.history = list(after.timeline), after.history

    def log_compact(
        self, at: InstantTime, group: Group, sources: Sequence[InstantTime], named: InstantTime | None = None
    ) -> None:
        """A log compaction of one group: its block names the instants, newest first, whose blocks it merges.

        `named`: what its log bears in place of its own instant.
        """
        logs = tuple(file.name for file in self.log_files if _of(file, group) and file.instant in sources)
        operation = CompactionOperation(group.partition, group.file_id, self.slice_instants[group], None, logs)
        merged = [*self._log_records(group, sources)]
        block = DataBlock(at, tuple(merged), compacted_instants=tuple(sources), schema=self.schema)
        written = self.log_file(group, named or at, block)
        self.place(written)
        self.begin(Action.LOG_COMPACTION, at, CompactionPlan((operation,)))
        self.complete(Action.DELTA_COMMIT, at, self.commit_metadata("LOG_COMPACT", written))

    def without_meta_values(self) -> None:
        """Empty the meta columns of all records so far, as tables without them are written."""
        self.base_files = [replace(file, records=_emptied(file.records)) for file in self.base_files]
        self.log_files = [replace(file, blocks=tuple(map(_emptied_block, _blocks(file)))) for file in self.log_files]

    def redirect(self, at: InstantTime, prefix: str) -> None:
        """Let the write stats of a completed instant name files elsewhere."""
        for index, entry in enumerate(self.timeline):
            if entry.requested == at and isinstance(entry.content, CommitMetadata):
                stats = tuple(replace(stat, path=f"{prefix}{stat.path}") for stat in entry.content.write_stats)
                self.timeline[index] = replace(entry, content=replace(entry.content, write_stats=stats))

    def _log_records(self, group: Group, sources: Sequence[InstantTime]) -> Iterable[Record]:
        """Of each key the newest record among the data blocks of these instants."""
        newest: dict[str, Record] = {}
        for file in self.log_files:
            for block in file.blocks if _of(file, group) and isinstance(file.blocks, tuple) else ():
                if isinstance(block, DataBlock) and block.instant in sources and isinstance(block.records, tuple):
                    newest.update({str(one.values["_hoodie_record_key"]): one for one in block.records})
        return newest.values()

    def _superseded(self, file: BaseFile, retain: InstantTime) -> bool:
        newer = [
            other.instant
            for other in self.base_files
            if (other.partition, other.file_id) == (file.partition, file.file_id) and other.instant > file.instant
        ]
        return any(instant <= retain for instant in newer)

    def _replacing(self, operation: str) -> Action:
        clusters = operation == "CLUSTER" and self.layout.timeline_layout == 2
        return Action.CLUSTERING if clusters else Action.REPLACE_COMMIT

    def _operation(self, group: Group) -> CompactionOperation:
        base = [file for file in self.base_files if (file.partition, file.file_id) == (group.partition, group.file_id)]
        newest = max(base, key=lambda file: file.instant, default=None)
        since = newest.instant if newest else InstantTime("")
        logs = [file for file in self.log_files if _of(file, group) and file.instant >= since]
        start = newest.instant if newest else min(file.instant for file in logs)
        names = tuple(file.name for file in logs)
        return CompactionOperation(group.partition, group.file_id, start, newest.name if newest else None, names)


def _blocks(file: LogFile) -> tuple[Block, ...]:
    return file.blocks if isinstance(file.blocks, tuple) else ()


def _emptied_block(block: Block) -> Block:
    return replace(block, records=_emptied(block.records)) if isinstance(block, DataBlock) else block


def _emptied(records: Records) -> Records:
    if not isinstance(records, tuple):
        return records
    return tuple(Record({**record.values, **dict.fromkeys(META_FIELDS, "")}) for record in records)


def _holds(file: LogFile, instant: InstantTime) -> bool:
    blocks = file.blocks if isinstance(file.blocks, tuple) else ()
    return any(getattr(block, "instant", None) == instant for block in blocks)


def _of(file: LogFile, group: Group) -> bool:
    return (file.partition, file.file_id) == (group.partition, group.file_id)
