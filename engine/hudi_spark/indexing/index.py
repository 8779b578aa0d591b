"""What an index of the metadata table is to a writer: when it is asked for, how it begins, how actions change it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

import pyarrow as pa
from hudi_format.metadata.records import MetadataRecord
from hudi_format.storage import Storage
from hudi_format.table.index_definitions import IndexDefinition

from hudi_spark.files.written import WrittenFile
from hudi_spark.flows.flow import Executor, Flow
from hudi_spark.metadata.table import MetadataTable
from hudi_spark.writer_state import WriterState

ENTRIES: Final = pa.schema([("file_id", pa.string()), ("key", pa.string()), ("value", pa.binary())])
"""Entries of an index as rows: their file group, their key, the bytes of their record (null: the key is deleted)."""


@dataclass(frozen=True, slots=True)
class FinishedWrite:
    """An action all of whose files are written and which has not completed.

    `deleted`: by partition the names of files that a clean or a rollback removed. `replaced`: by partition the file
    groups that the action takes out of the table. `rolled_back`: the action that a rollback undoes.
    `emptied`: the partitions that a clean removed whole.

    Clauses: MT-003, MT-005.
    """

    requested: str
    action: str
    operation: str
    written: tuple[WrittenFile, ...] = ()
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    deleted: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    rolled_back: str | None = None
    emptied: tuple[str, ...] = ()


NO_WRITE: Final = FinishedWrite("", "", "")
"""Where nothing is written."""


@dataclass(frozen=True, slots=True)
class IndexChanges:
    """What an action adds to an index and takes from it.

    Few entries are given as values, and go to their groups by their keys' hash. Many are a flow of `ENTRIES`, which
    know their groups; an entry that is there wins over one of the same key that is not (`entries.settled`).
    `opened`: file ids of groups that begin with this action, before its entries are written.

    Clauses: MT-002, MT-017, IX-022.
    """

    records: tuple[MetadataRecord, ...] = ()
    deleted: tuple[str, ...] = ()
    entries: Flow | None = None
    opened: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewIndex:
    """An index at its beginning: its file groups, and what it holds of everything that has completed.

    `definition`: what `index.json` says of it, None where it is not listed there.

    Clauses: MT-009, MT-017, IX-001.
    """

    file_ids: tuple[str, ...]
    content: IndexChanges
    definition: IndexDefinition | None = None


@dataclass(frozen=True, slots=True)
class Keeping:
    """What those who keep indexes know: the table before the action, its metadata table, and who runs their tasks.

    `metadata`: as a reader sees it before the action, None while it is being made. `groups`: by index the file ids of
    its groups. `definitions`: by name what `index.json` says. `write`: the action itself, whose files an index that
    begins leaves out.

    Clauses: MT-005.
    """

    state: WriterState
    executor: Executor
    metadata: MetadataTable | None
    groups: Mapping[str, tuple[str, ...]] = field(hash=False)
    definitions: Mapping[str, IndexDefinition] = field(hash=False)
    write: FinishedWrite = NO_WRITE

    @property
    def storage(self) -> Storage:
        """Where the table lies."""
        return self.state.storage


class Index(Protocol):
    """One kind of index."""

    def holds(self, partition: str) -> bool:
        """Whether a partition of the metadata table is of this kind."""

    def wanted(self, keeping: Keeping) -> tuple[str, ...]:
        """The partitions of this kind that the options ask for, and those that have a definition."""

    def dropped(self, keeping: Keeping, partition: str) -> bool:
        """Whether the options say that a partition of this kind, which is there, shall go."""

    def begin(self, keeping: Keeping, partition: str) -> NewIndex:
        """The index of everything that had completed before the action, whose own files are left out."""

    def changes(self, keeping: Keeping, partition: str, write: FinishedWrite) -> IndexChanges:
        """What the action changes in the index."""
