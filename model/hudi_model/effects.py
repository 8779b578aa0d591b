"""The durable effects: each changes storage at once and whole, and nothing else does.

Every operation of a writer or a table service is a sequence of these. A process may die between any two.
The names are those of specs/effects.toml in snake case.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias, TypeVar

from hudi_model.actions import TimelineEntry
from hudi_model.files import BaseFile, LogFile, Marker
from hudi_model.history import ArchivedInstant, HistoryFile, Manifest
from hudi_model.tables import Table
from hudi_model.time import InstantTime

PARTITION_METAFILE = ".hoodie_partition_metadata"
"""The file that makes a folder a partition; without it the folder is none."""

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
class BeatHeart(Effect):
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
        case BeatHeart(instant, moment):
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
