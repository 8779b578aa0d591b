"""Plain writes on a table under construction, as the operations of Apache Hudi leave them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hudi_model.actions import Action, State
from hudi_model.files import BaseFile, Block, Ordering, Record
from hudi_model.time import InstantTime

from hudi_conformance.corpus.golden.groups import Group
from hudi_conformance.corpus.golden.indexing import Indexing
from hudi_conformance.corpus.golden.rides import Row
from hudi_conformance.corpus.golden.writer import Written


@dataclass(slots=True)
class Operations(Indexing):
    """Inserts, upserts and deletes. `state` says how far each came."""

    rows: dict[Group, dict[str, Record]] = field(default_factory=dict)

    @property
    def data_action(self) -> Action:
        """The action of a plain write."""
        return Action.DELTA_COMMIT if self.layout.merge_on_read else Action.COMMIT

    def finish(
        self,
        at: InstantTime,
        written: Written,
        operation: str,
        done: InstantTime | None = None,
        state: State = State.COMPLETED,
    ) -> None:
        """Put a plain write's files into storage and its instant on the timeline, as far as it came."""
        self.place(written)
        action = self.data_action
        if state is State.REQUESTED:
            self.enter(action, State.REQUESTED, at)
            return
        self.begin(action, at)
        if state is State.COMPLETED:
            self.complete(action, at, self.commit_metadata(operation, written), done)

    def insert(
        self, at: InstantTime, rows: Iterable[Row], done: InstantTime | None = None, state: State = State.COMPLETED
    ) -> Written:
        """Rows with new keys, into base files of the groups they are given."""
        written = Written()
        for group, members in self._by_group(rows).items():
            written += self._rewritten(group, at, members, ())
        self.finish(at, written, "INSERT", done, state)
        return written

    def upsert(  # noqa: PLR0917 - recipes name all but the first two
        self,
        at: InstantTime,
        rows: Iterable[Row] = (),
        done: InstantTime | None = None,
        state: State = State.COMPLETED,
        deletes: Mapping[tuple[str, str], Ordering] | None = None,
        operation: str = "UPSERT",
    ) -> Written:
        """Rows and deletes of known keys: log blocks on merge-on-read, rewritten base files on copy-on-write.

        `deletes` maps (partition value, key) to the ordering value that the tombstone carries.
        """
        data = self._by_group(rows)
        deleted = self._deletes_by_group(deletes or {})
        written = Written()
        for group in sorted(data.keys() | deleted.keys()):
            members, keys = data.get(group, ()), deleted.get(group, {})
            if self.layout.merge_on_read:
                written += self.log_file(group, at, *self._blocks(group, at, members, keys))
            else:
                written += self._rewritten(group, at, members, keys)
        self.finish(at, written, operation, done, state)
        return written

    def delete(self, at: InstantTime, city: str, *keys: str, done: InstantTime | None = None) -> Written:
        """The delete operation: tombstones without ordering value, or rewritten base files."""
        return self.upsert(at, (), done, deletes={(city, key): 0 for key in keys}, operation="DELETE")

    def append(
        self,
        at: InstantTime,
        blocks: Mapping[Group, Sequence[Block]],
        done: InstantTime | None = None,
        state: State = State.COMPLETED,
        token: str = "1-2-0",  # noqa: S107 - a write token
    ) -> Written:
        """A deltacommit of log files with the blocks given."""
        written = Written()
        for group, members in blocks.items():
            written += self.log_file(group, at, *members, token=token)
        self.finish(at, written, "UPSERT", done, state)
        return written

    def forget(self, *instants: InstantTime) -> None:
        """Take all files of these instants off the active timeline, as archival and rollback do."""
        self.timeline = [entry for entry in self.timeline if entry.requested not in instants]

    def _blocks(
        self, group: Group, at: InstantTime, rows: Sequence[Row], deletes: Mapping[str, Ordering]
    ) -> list[Block]:
        data = [self.data_block(group, at, rows)] if rows else []
        return [*data, *([self.delete_block(group, at, deletes)] if deletes else [])]

    def _rewritten(self, group: Group, at: InstantTime, rows: Sequence[Row], deletes: Iterable[str]) -> Written:
        fresh = self.base_file(group, at, rows).base_files[0]
        added = {str(record.values["_hoodie_record_key"]): record for record in _records(fresh)}
        kept = {**self.rows.get(group, {}), **added}
        self.rows[group] = {key: record for key, record in kept.items() if key not in set(deletes)}
        return self.base_file(group, at, self.rows[group].values())

    def _by_group(self, rows: Iterable[Row]) -> dict[Group, list[Row]]:
        return self.homes.spread((self.layout.partition(row), self.layout.key(row), row) for row in rows)

    def _by_partition(self, rows: Iterable[Row]) -> dict[str, list[Row]]:
        partitions: dict[str, list[Row]] = {}
        for row in rows:
            partitions.setdefault(self.layout.partition(row), []).append(row)
        return partitions

    def _deletes_by_group(self, deletes: Mapping[tuple[str, str], Ordering]) -> dict[Group, dict[str, Ordering]]:
        deleted: dict[Group, dict[str, Ordering]] = {}
        for (value, key), ordering in deletes.items():
            partition = self.layout.partition_path(value) if self.layout.partition_by else ""
            deleted.setdefault(self.homes.of(partition, key), {})[key] = ordering
        return deleted


def _records(file: BaseFile) -> tuple[Record, ...]:
    return file.records if isinstance(file.records, tuple) else ()
