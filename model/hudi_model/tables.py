"""A table's state, and the table as one question sees it.

`Table` is everything that storage holds. `OpenTable` has sound properties and a timeline. `View` adds the read time:
which actions had happened, on the axis of the reading. `Readings` names the clauses that have two.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from hudi_model.actions import Action, Content, IndexDefinition, Instant, TimelineEntry
from hudi_model.configuration import Configuration, Properties, configure, valid_properties
from hudi_model.files import BaseFile, Damaged, GroupId, LogFile, Marker, Schema, SchemaVersion, SourceFile
from hudi_model.rejection import StrEnum
from hudi_model.time import InstantTime, at_or_before
from hudi_model.timeline import (
    DATA_ACTIONS,
    Timeline,
    commit_metadata,
    completed_data,
    entries_of_layout,
    timeline_of,
    timeline_up_to,
)


@dataclass(frozen=True, slots=True)
class ArchivedInstant:
    """One completed action in the history: what it did, and the plan it had."""

    requested: InstantTime
    completed: InstantTime | None
    action: Action
    metadata: Content
    plan: Content = None


@dataclass(frozen=True, slots=True)
class HistoryFile:
    """One file of the history, its instants by requested time; level 0 holds the youngest."""

    name: str
    level: int
    instants: tuple[ArchivedInstant, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The files that make up the history as of one version of it."""

    version: int
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class History:
    """Files and manifests in storage, and the version that readers follow; None where no version file is there.

    Before version 8 the archived log is one sequence of instants and needs no manifest.
    """

    files: tuple[HistoryFile, ...] = ()
    manifests: tuple[Manifest, ...] = ()
    current: int | None = None
    archived_log: tuple[ArchivedInstant, ...] = ()
    unreadable: tuple[Damaged, ...] = ()
    """Files that do not parse; each matters only once a reader follows a name to it."""


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """The versions of the schema that a commit left in `.hoodie/.schema`."""

    instant: InstantTime
    versions: tuple[SchemaVersion, ...] | Damaged


@dataclass(frozen=True, slots=True)
class HashRing:
    """Which file group of a partition has which keys: of each the greatest hash, and how its file id begins."""

    partition: str
    instant: InstantTime
    nodes: tuple[tuple[int, str], ...] | Damaged
    is_signed: bool = False
    """Whether a file beside it says that the resize which made it has completed."""


@dataclass(frozen=True, slots=True)
class BucketRules:
    """How many buckets partitions have: by the first pattern in a partition's path, else the default."""

    default: int
    expressions: str = ""
    kind: str = "regex"
    instant: InstantTime | None = None
    """From when on the table keeps them; None for those of a writer."""


@dataclass(frozen=True, slots=True)
class Footer:
    """What the end of a base file says of it. `excluded_keys` are keys in it that its own filter denies."""

    rows: int
    columns: tuple[str, ...]
    least_key: str | None = None
    greatest_key: str | None = None
    excluded_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What storage shows of a table beside its state. Places are relative to the table."""

    unplaced: frozenset[str] = frozenset()
    """Files that are named like one with rows or changes, in folders that are no partition."""
    footers: Mapping[str, Footer] = field(default_factory=dict)
    depths: Mapping[str, int] = field(default_factory=dict)
    """How deep below the table each partition says that it lies."""
    damages: tuple[Damaged, ...] = ()
    """Files beside the timeline and the data that do not parse, and what blocks say of themselves that is not so."""
    definitions: tuple[IndexDefinition, ...] | None = None
    """The indexes that the file of definitions has; None where there is no such file."""
    index_versions: Mapping[str, str] = field(default_factory=dict)
    """The version that each definition of an index has."""
    typed_indexes: frozenset[str] = frozenset()
    """The indexes whose statistics say the type of their values."""
    deep: bool = False
    """Whether rows were read, and not only what files say of themselves."""


class Reading(StrEnum):
    """Whose answer a clause gives: that of the text, or that of the released reader."""

    RELEASED = "released"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Readings:
    """One reading for each clause that has two; as released by default.

    Clauses: RD-007, RD-010, MG-010, MG-013, IN-004, PL-002, SR-008, OW-035.
    """

    log_order: Reading = Reading.RELEASED
    time_travel: Reading = Reading.RELEASED
    mode_override: Reading = Reading.RELEASED
    delete_without_ordering: Reading = Reading.RELEASED
    incremental_merge: Reading = Reading.RELEASED
    overwriting_precombine: Reading = Reading.RELEASED
    saved_travel: Reading = Reading.RELEASED
    concurrent_overwrites: Reading = Reading.RELEASED


RELEASED = Readings()
TEXT = Readings(*(Reading.TEXT for _ in fields(Readings)))


@dataclass(frozen=True, slots=True)
class Table:
    """Everything storage holds of one table. `malformed` are timeline names that do not parse."""

    properties: Properties
    backup_properties: Properties
    timeline: tuple[TimelineEntry, ...]
    base_files: tuple[BaseFile, ...]
    log_files: tuple[LogFile, ...]
    malformed: tuple[Damaged, ...] = ()
    create_schema: Schema | None = None
    """What `hoodie.table.create.schema` says, for tables without commits."""
    history: History = field(default_factory=History)
    """What archival moved off the timeline."""
    partitions: frozenset[str] = frozenset()
    """The folders that hold a partition metafile."""
    markers: frozenset[Marker] = frozenset()
    heartbeats: frozenset[tuple[InstantTime, InstantTime]] = frozenset()
    """Writes that may still be alive, and when each last said so."""
    metadata: "Table | None" = None
    """The metadata table, a table of its own."""
    indexes: tuple[IndexDefinition, ...] = ()
    """Of a metadata table: the definitions of its indexes."""
    schema_files: tuple[SchemaFile, ...] = field(default=(), compare=False)
    """The history of the columns, where they have ids."""
    sources: tuple[SourceFile, ...] | Damaged = field(default=(), compare=False)
    """The files that a bootstrapped table has its first rows from."""
    rings: tuple[HashRing, ...] = ()
    bucket_rules: tuple[BucketRules | Damaged, ...] = ()
    evidence: Evidence = field(default_factory=Evidence, compare=False, repr=False)
    """What storage shows beside the state, for a check."""


@dataclass(frozen=True, slots=True)
class OpenTable:
    """A table whose properties and timeline are sound, as questions use it."""

    configuration: Configuration
    timeline: Timeline
    state: Table


def open_table(table: Table) -> OpenTable:
    """The table as questions use it.

    Raises: NOT_A_TABLE, PROPERTIES_INVALID, CHECKSUM_MISMATCH, TABLE_VERSION_UNSUPPORTED, INSTANT_MALFORMED.

    Clauses: PR-002, PR-004, VR-002, VR-006, TL-012, TL-016.
    """
    configuration = configure(valid_properties(table.properties, table.backup_properties))
    for damaged in table.malformed:
        raise damaged.refusal()
    entries = entries_of_layout(table.timeline, configuration.timeline_layout)
    past = (*table.history.archived_log, *(row for file in table.history.files for row in file.instants))
    archived = frozenset(one.requested for one in past if one.action in DATA_ACTIONS)
    return OpenTable(configuration, replace(timeline_of(entries), archived=archived), table)


@dataclass(frozen=True, slots=True)
class View:
    """A table as one question sees it.

    `timeline` is what had happened at the read time, on the axis of the question's reading.
    `limit` cuts slices and blocks by requested time, None where the timeline has been cut already.
    """

    table: OpenTable
    timeline: Timeline
    read_time: InstantTime | None
    limit: InstantTime | None
    readings: Readings

    @property
    def configuration(self) -> Configuration:
        """The table's settings."""
        return self.table.configuration


def view_at(table: OpenTable, read_time: InstantTime | None, readings: Readings) -> View:
    """The latest state, or the state as of a time: by requested time as released, by completion time in the text.

    Clauses: RD-001, RD-010.
    """
    if read_time is None:
        return View(table, table.timeline, None, None, readings)
    if readings.time_travel is Reading.TEXT:
        return View(table, timeline_up_to(table.timeline, read_time), read_time, None, readings)
    return View(table, table.timeline, read_time, read_time, readings)


def is_within(view: View, instant: InstantTime) -> bool:
    """Whether a requested time is not after the question's limit."""
    return view.limit is None or at_or_before(instant, view.limit)


def visible_commits(view: View) -> tuple[Instant, ...]:
    """The completed data actions that the question sees, in the order in which they took effect.

    Clauses: RD-001, RD-010.
    """
    return tuple(one for one in completed_data(view.timeline) if is_within(view, one.requested))


def replaced_groups(view: View) -> frozenset[GroupId]:
    """The file groups that a visible replacecommit took out of the table.

    Raises: TIMELINE_FILE_CORRUPT.

    Clauses: RD-003, TL-027.
    """
    return frozenset(group for one in visible_commits(view) for group in commit_metadata(one).replaced)
