"""Base files, log files and their blocks, file slices and file groups."""

from dataclasses import dataclass, field
from typing import TypeAlias

from hudi_model.records import Damaged, Deletes, Record, Records, Schema, UnsupportedContent
from hudi_model.time import InstantTime


@dataclass(frozen=True, slots=True)
class BaseFile:
    """One version of a file group, as a whole file. `instant` is the one in its name."""

    partition: str
    file_id: str
    write_token: str
    instant: InstantTime
    extension: str
    name: str
    records: Records
    size: int = field(default=0, compare=False)
    """Bytes in storage, where it lies in one."""


@dataclass(frozen=True, slots=True)
class DataBlock:
    """Records written or updated at an instant, in their written order."""

    instant: InstantTime
    records: Records
    partial: bool = False
    compacted_instants: tuple[InstantTime, ...] = ()
    schema: Schema | None = None


@dataclass(frozen=True, slots=True)
class DeleteBlock:
    """Tombstones written at an instant."""

    instant: InstantTime
    deletes: Deletes
    compacted_instants: tuple[InstantTime, ...] = ()


@dataclass(frozen=True, slots=True)
class RollbackBlock:
    """A command: forget what `target` wrote before here."""

    instant: InstantTime
    target: InstantTime


@dataclass(frozen=True, slots=True)
class CorruptBlock:
    """Bytes that are no block: torn or garbage, skipped up to the next magic."""

    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class CdcRecord:
    """One change of the change feed: insert, update or delete, with as many images as the logging mode keeps."""

    operation: str
    key: str
    before: Record | None = None
    after: Record | None = None


@dataclass(frozen=True, slots=True)
class CdcBlock:
    """The changes that a write logged for the change feed."""

    instant: InstantTime
    changes: tuple[CdcRecord, ...] | Damaged | UnsupportedContent


@dataclass(frozen=True, slots=True)
class Marker:
    """A file that announces a data file before it is written. `kind` is CREATE, MERGE or APPEND."""

    instant: InstantTime
    partition: str
    name: str
    kind: str


GroupId: TypeAlias = tuple[str, str]
"""Partition and file id."""

Block: TypeAlias = DataBlock | DeleteBlock | RollbackBlock | CdcBlock | CorruptBlock


@dataclass(frozen=True, slots=True)
class LogFile:
    """One log file. `instant` is the one in its name, `version` counts rolls."""

    partition: str
    file_id: str
    instant: InstantTime
    version: int
    write_token: str
    cdc: bool
    name: str
    blocks: tuple[Block, ...] | Damaged
    size: int = field(default=0, compare=False)
    """Bytes in storage, where it lies in one."""


@dataclass(frozen=True, slots=True)
class FileSlice:
    """A base file, or none, and the log files to merge onto it, in merge order."""

    partition: str
    file_id: str
    base_instant: InstantTime
    base_file: BaseFile | None
    log_files: tuple[LogFile, ...]


@dataclass(frozen=True, slots=True)
class FileGroup:
    """All slices of one file id in one partition, oldest first."""

    partition: str
    file_id: str
    slices: tuple[FileSlice, ...]
