"""The durable effects: each changes storage at once and whole, and nothing else does; and how writers name files.

Every operation of a writer or a table service is a sequence of these. A process may die between any two.
The names are those of specs/effects.toml in snake case.

Clauses: SL-004, SL-005, TL-007, TL-008, TL-009.
"""

import datetime as dt
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias, TypeVar

from hudi_model.actions import Action, Content, State, TimelineEntry
from hudi_model.configuration import property_value, timeline_layout
from hudi_model.files import NATIVE_LOG, BaseFile, LogFile, Marker
from hudi_model.tables import ArchivedInstant, HashRing, HistoryFile, Manifest, SchemaFile, Table, open_table
from hudi_model.time import InstantTime, instant_of, moment_of

PARTITION_METAFILE = ".hoodie_partition_metadata"
"""The file that makes a folder a partition; without it the folder is none."""

FILE_IDS = uuid.UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")
"""Where file ids come from: released writers draw them at random, the model derives them so that it is pure."""

SHARED_TAIL = "-0000-0000-0000-000000000000-"
"""What follows the bucket in a file id, before its last number, where writers do not wait for each other."""

FIRST_ATTEMPT = "0-1-0"
"""A write token: task partition, stage, attempt."""

DATA_FILE = re.compile(
    r"[^._/][^_/]*_\d+-\d+-\d+_\d+\.(parquet|orc|hfile|lance)|\.[^._/]+_\d+\.log\.\d+(_\d+-\d+-\d+)?(\.cdc)?"
    rf"|{NATIVE_LOG.pattern}",
    re.ASCII,
)
"""What base and log files are called, native logs among them."""


Item = TypeVar("Item")


class Effect:
    """One change of storage."""

    __slots__ = ()


Effects: TypeAlias = tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class CreateInstant(Effect):
    """A file of the active timeline appears, whole."""

    entry: TimelineEntry


@dataclass(frozen=True, slots=True)
class DeleteInstant(Effect):
    """A file of the active timeline disappears."""

    name: str


@dataclass(frozen=True, slots=True)
class PutMarker(Effect):
    """A marker announces a data file."""

    marker: Marker


@dataclass(frozen=True, slots=True)
class DeleteMarkers(Effect):
    """The markers of one write disappear."""

    instant: InstantTime


@dataclass(frozen=True, slots=True)
class PutBaseFile(Effect):
    """A base file appears, whole."""

    file: BaseFile


@dataclass(frozen=True, slots=True)
class PutLogFile(Effect):
    """A log file appears, or grows by blocks: a file of the same partition and name is replaced."""

    file: LogFile


@dataclass(frozen=True, slots=True)
class PutPartitionMetafile(Effect):
    """A folder becomes a partition."""

    partition: str


@dataclass(frozen=True, slots=True)
class DeleteDataFile(Effect):
    """A base file, a log file or a partition's metafile disappears; one that is gone already stays gone."""

    partition: str
    name: str


@dataclass(frozen=True, slots=True)
class CommitMetadataTable(Effect):
    """The metadata table takes its next state; None drops it."""

    table: Table | None


@dataclass(frozen=True, slots=True)
class PutHistoryFile(Effect):
    """A file of the history appears, not yet named by a manifest."""

    file: HistoryFile


@dataclass(frozen=True, slots=True)
class AppendArchivedLog(Effect):
    """Before version 8: the archived log grows by a block of actions."""

    rows: tuple[ArchivedInstant, ...]


@dataclass(frozen=True, slots=True)
class DeleteHistoryFile(Effect):
    """A manifest of the history that is not current disappears, or a file that none in use names."""

    name: str


@dataclass(frozen=True, slots=True)
class PutManifest(Effect):
    """A manifest of the history appears, not yet current."""

    manifest: Manifest


@dataclass(frozen=True, slots=True)
class SwapVersion(Effect):
    """The history's version file names another manifest."""

    version: int


@dataclass(frozen=True, slots=True)
class PutProperties(Effect):
    """The table's properties are replaced."""

    properties: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PutHashRing(Effect):
    """The first ring of a partition appears."""

    ring: HashRing


@dataclass(frozen=True, slots=True)
class PutSchemaFile(Effect):
    """The versions of the table's columns appear, those of a commit that has not completed among them."""

    file: SchemaFile


@dataclass(frozen=True, slots=True)
class WriteHeartbeat(Effect):
    """The heartbeat of a write is renewed; with no moment it stops for good."""

    instant: InstantTime
    moment: InstantTime | None


def perform(table: Table, effects: Iterable[Effect]) -> Table:
    """The table after effects, in their order.

    Clauses: SA-001, SA-002, SA-003.
    """
    return reduce(apply, effects, table)


def apply(table: Table, effect: Effect) -> Table:  # noqa: C901, PLR0911, PLR0912 - a case for each
    """The table after one effect.

    Clauses: SA-001, SA-002, SA-004.
    """
    history = table.history
    match effect:
        case CreateInstant(entry):
            return replace(table, timeline=(*without(table.timeline, name=entry.name), entry))
        case DeleteInstant(name):
            return replace(table, timeline=without(table.timeline, name=name))
        case PutMarker(marker):
            return replace(table, markers=table.markers | {marker})
        case DeleteMarkers(instant):
            return replace(table, markers=frozenset(without(table.markers, instant=instant)))
        case PutBaseFile(file):
            others = without(table.base_files, partition=file.partition, name=file.name)
            return replace(table, base_files=(*others, file))
        case PutLogFile(file):
            logs = without(table.log_files, partition=file.partition, name=file.name)
            return replace(table, log_files=(*logs, file))
        case PutPartitionMetafile(partition):
            return replace(table, partitions=table.partitions | {partition})
        case DeleteDataFile(partition, name):
            bases = without(table.base_files, partition=partition, name=name)
            logs = without(table.log_files, partition=partition, name=name)
            gone = {partition} if name == PARTITION_METAFILE else set()
            return replace(table, base_files=bases, log_files=logs, partitions=table.partitions - gone)
        case CommitMetadataTable(metadata):
            return replace(table, metadata=metadata)
        case PutProperties(properties):
            return replace(table, properties=properties)
        case PutHashRing(ring):
            rings = without(table.rings, partition=ring.partition, instant=ring.instant)
            return replace(table, rings=(*rings, ring))
        case PutSchemaFile(file):
            return replace(table, schema_files=(*table.schema_files, file))
        case WriteHeartbeat(instant, moment):
            beats = frozenset(one for one in table.heartbeats if one[0] != instant)
            return replace(table, heartbeats=beats | {(instant, moment)} if moment else beats)
        case PutHistoryFile(file):
            return replace(table, history=replace(history, files=(*without(history.files, name=file.name), file)))
        case AppendArchivedLog(rows):
            return replace(table, history=replace(history, archived_log=(*history.archived_log, *rows)))
        case DeleteHistoryFile(name):
            manifests = tuple(one for one in history.manifests if f"manifest_{one.version}" != name)
            files = without(history.files, name=name)
            return replace(table, history=replace(history, files=files, manifests=manifests))
        case PutManifest(manifest):
            manifests = (*without(history.manifests, version=manifest.version), manifest)
            return replace(table, history=replace(history, manifests=manifests))
        case SwapVersion(version):
            return replace(table, history=replace(history, current=version))
    return table


def without(items: Iterable[Item], **known: object) -> tuple[Item, ...]:
    """The items but the one of which this is known."""
    return tuple(one for one in items if any(getattr(one, name) != value for name, value in known.items()))


def new_file_id(*parts: object) -> str:
    """A file id that nothing else has which is named by other parts: a UUID and the number of the file in its task."""
    return f"{uuid.uuid5(FILE_IDS, '/'.join(map(str, parts)))}-0"


def base_file_name(file_id: str, write_token: str, instant: InstantTime, extension: str = "parquet") -> str:
    """The name of a base file.

    Clauses: SL-004.
    """
    return f"{file_id}_{write_token}_{instant}.{extension}"


def log_file_name(file_id: str, instant: InstantTime, version: int, write_token: str, *, cdc: bool = False) -> str:
    """The name of a log file.

    Clauses: SL-005.
    """
    return f".{file_id}_{instant}.log.{version}_{write_token}{'.cdc' if cdc else ''}"


def native_log_name(file_id: str, instant: InstantTime, version: int, write_token: str, kind: str) -> str:
    """[Draft, v10] The name of a native log, which says what it holds: log, deletes or cdc.

    Clauses: NL-001.
    """
    return f"{file_id}_{write_token}_{instant}_{version}.{kind}.parquet"


def timeline_file_name(
    requested: InstantTime, action: Action, state: State, completed: InstantTime | None, layout: int
) -> str:
    """The name of a timeline file. [Modified in v8] Completed ones hold the completion time (layout 2).

    Clauses: TL-007, TL-008, TL-009.
    """
    if state is State.COMPLETED:
        return f"{requested}_{completed}.{action}" if layout == 2 else f"{requested}.{action}"
    if state is State.INFLIGHT and action is Action.COMMIT:
        return f"{requested}.inflight"
    return f"{requested}.{action}.{state.name.lower()}"


def timeline_folder(properties: Mapping[str, str]) -> str:
    """Where the timeline's files lie, relative to the table. [Modified in v8] A folder of its own.

    Clauses: PR-007.
    """
    own = f"/{property_value(properties, 'hoodie.timeline.path')}" if timeline_layout(properties) == 2 else ""
    return f".hoodie{own}"


def entry(  # noqa: PLR0917 - the parts of one file, in the order of its name
    table: Table,
    requested: InstantTime,
    action: Action,
    state: State,
    content: Content = None,
    completed: InstantTime | None = None,
) -> CreateInstant:
    """A timeline file. [Modified in v8] A completed one's name says when.

    Clauses: TL-003, TL-007, TL-009.
    """
    layout = open_table(table).configuration.timeline_layout
    known = completed if layout == 2 else None
    name = timeline_file_name(requested, action, state, known, layout)
    return CreateInstant(TimelineEntry(requested, action, state, known, content, name))


def forget(table: Table, target: InstantTime, *, keep_plan: bool = False) -> Effects:
    """The entries of an action go, the highest state first, so that it counts no more from the first of them on.

    Clauses: RB-008, RB-009.
    """
    lowest = State.INFLIGHT if keep_plan else State.REQUESTED
    return tuple(DeleteInstant(one.name) for one in entries_of(table, target) if one.state >= lowest)


def entries_of(table: Table, requested: InstantTime) -> list[TimelineEntry]:
    """The timeline files of an action, the highest state first; a savepoint, or a clean beside a write, is another."""
    own = [one for one in table.timeline if one.requested == requested and one.action is not Action.SAVEPOINT]
    return sorted([one for one in own if one.action is not Action.CLEAN] or own, key=lambda one: -one.state)


def generate_shared(last: InstantTime | None, now: InstantTime) -> InstantTime:
    """The next time of one generator that all processes share: its clock, pushed past the last time it gave.

    Clauses: TM-003.
    """
    if last is None or last < now:
        return now
    return instant_of(moment_of(last) + dt.timedelta(milliseconds=1))
