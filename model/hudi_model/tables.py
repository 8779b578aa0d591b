"""A table's state: its properties, its timeline, its files; and the table that a question opens."""

from dataclasses import dataclass, field, replace

from hudi_model.actions import Instant, TimelineEntry
from hudi_model.checks.finding import Evidence
from hudi_model.configuration import Configuration, Properties, configure, is_true, sound_properties
from hudi_model.contents import IndexDefinition
from hudi_model.files import BaseFile, LogFile, Marker
from hudi_model.history import History, entries_of_archived, history_instants, with_history
from hudi_model.records import Damaged, Schema
from hudi_model.rejection import Unsupported
from hudi_model.time import InstantTime
from hudi_model.timeline import Timeline, entries_of_layout, timeline_of

__all__ = ["OpenTable", "Properties", "Table", "open_table", "unarchived", "whole_timeline"]


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
