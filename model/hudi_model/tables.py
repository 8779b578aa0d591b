"""A table's state, the table that a question opens, and the view: which actions had happened at the read time."""

from dataclasses import dataclass, field, fields, replace
from enum import StrEnum

from hudi_model_tools.checks.finding import Evidence

from hudi_model.actions import IndexDefinition, Instant, TimelineEntry
from hudi_model.configuration import Configuration, Properties, configure, is_true, sound_properties
from hudi_model.files import BaseFile, Damaged, GroupId, LogFile, Marker, Schema
from hudi_model.history import History, entries_of_archived, history_instants, with_history
from hudi_model.rejection import Unsupported
from hudi_model.time import InstantTime, at_or_before
from hudi_model.timeline import (
    Timeline,
    commit_metadata,
    completed_data,
    entries_of_layout,
    timeline_of,
    timeline_up_to,
)


class Reading(StrEnum):
    """Whose answer a clause gives: that of the text, or that of the released reader."""

    RELEASED = "released"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Readings:
    """One reading for each clause that has two; as released unless told.

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

CHOICE_OF_CLAUSE = {
    "RD-007": "log_order",
    "RD-010": "time_travel",
    "MG-010": "mode_override",
    "MG-013": "delete_without_ordering",
    "IN-004": "incremental_merge",
    "PL-002": "overwriting_precombine",
    "SR-008": "saved_travel",
    "OW-035": "concurrent_overwrites",
}
"""Which choice each clause with two readings governs."""


def with_reading(readings: Readings, clause: str, reading: Reading) -> Readings:
    """The same readings with one clause read as told; clauses with one reading change nothing."""
    choice = CHOICE_OF_CLAUSE.get(clause)
    return replace(readings, **{choice: Reading(reading)}) if choice else readings


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

    Raises: NOT_A_TABLE, PROPERTIES_INVALID, CHECKSUM_MISMATCH, TABLE_VERSION_UNSUPPORTED, INSTANT_MALFORMED;
    unsupported `bootstrap`, `drop-partition-columns`.

    Clauses: PR-002, PR-004, VR-002, VR-006, TL-012, TL-016.
    """
    configuration = configure(sound_properties(table.properties, table.backup_properties))
    refuse_unread_layouts(configuration)
    for damaged in table.malformed:
        raise damaged.refusal()
    entries = entries_of_layout(table.timeline, configuration.timeline_layout)
    return OpenTable(configuration, timeline_of(entries), table)


def whole_timeline(table: Table) -> tuple[Instant, ...]:
    """The active timeline and its history, each action once in its highest state, by requested time.

    Raises: as `open_table`.

    Clauses: HS-008.
    """
    opened = open_table(table)
    rows = history_instants(table.history, opened.configuration.timeline_layout)
    return with_history(opened.timeline.instants, rows)


def unarchived(opened: OpenTable) -> OpenTable:
    """The table as if archival had left every action on its timeline: what the past was does not depend on archival.

    Raises: TIMELINE_FILE_CORRUPT where the history is damaged.

    Clauses: AR-001, HS-001, HS-008.
    """
    active = {(one.requested, one.action) for one in opened.timeline.instants}
    rows = history_instants(opened.state.history, opened.configuration.timeline_layout)
    past = [entry for one in rows if (one.requested, one.action) not in active for entry in entries_of_archived(one)]
    return replace(opened, timeline=timeline_of((*past, *opened.timeline.entries))) if past else opened


def refuse_unread_layouts(configuration: Configuration) -> None:
    """Nothing, unless rows need what the model does not hold yet.

    Raises: unsupported `bootstrap`, `drop-partition-columns`.
    """
    if configuration.properties.get("hoodie.bootstrap.base.path"):
        raise Unsupported("bootstrap")
    if is_true(configuration.properties, "hoodie.datasource.write.drop.partition.columns"):
        raise Unsupported("drop-partition-columns")


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
