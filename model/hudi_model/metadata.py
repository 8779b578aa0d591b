"""The metadata table: a table of its own that lists and indexes another, committed before each action of it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import hudi_model.effects as durable
from hudi_model.actions import Action, CommitMetadata, IndexDefinition, State, TimelineEntry, WriteStat
from hudi_model.configuration import property_names
from hudi_model.creation import KEY, MODE, TYPE, VERSION, create_table
from hudi_model.effects import CreateInstant, Effects, base_file_name, generate_shared, perform, timeline_file_name
from hudi_model.files import BaseFile, Field, LogFile, Record, Schema
from hudi_model.history import full_timeline
from hudi_model.indexes import Contents, contents, instants_of
from hudi_model.merge_rules import Version
from hudi_model.reading import read_slice
from hudi_model.requests import setting, switch
from hudi_model.slicing import path_of, snapshot_slices
from hudi_model.staging import Change, log_file
from hudi_model.tables import RELEASED, Readings, Table, View, open_table, view_at
from hudi_model.time import MILLISECONDS_DIGITS, InstantTime

SCHEMA = Schema((Field("key", "string"), Field("content", "struct")))
FOLDER = ".hoodie/metadata"
BUILT, BUILDING = "hoodie.table.metadata.partitions", "hoodie.table.metadata.partitions.inflight"
OPTIONAL = {
    "hoodie.metadata.index.bloom.filter.enable": "bloom_filters",
    "hoodie.metadata.index.column.stats.enable": "column_stats",
    "hoodie.metadata.index.partition.stats.enable": "partition_stats",
    "hoodie.metadata.record.index.enable": "record_index",
}
"""The settings that request more than the list of files."""
STATISTICS = ("column_stats", "partition_stats")
"""The kinds of indexes that hold bounds."""
FILES, BEFORE_ALL, BY_NO_TASK = IndexDefinition("files", "files"), "00000000", "0-0-0"
"""What every metadata table holds, how the instants begin at which indexes are built, and their write token."""
MOST_INITIAL = 500
"""No metadata table is given more indexes: where nothing has completed, they complete at the numbers behind it."""


def with_metadata(table: Table, effects: Effects) -> Effects:
    """The effects of an action, and before its completed file the commit of the metadata table.

    Clauses: MT-003, MT-004.
    """
    done = (one for one in effects if isinstance(one, CreateInstant) and one.entry.state is State.COMPLETED)
    final = next(done, None)
    if table.metadata is None or final is None:
        return effects
    before, after = effects[: effects.index(final)], effects[effects.index(final) :]
    return (*before, durable.CommitMetadataTable(next_metadata(perform(table, before), final.entry)), *after)


def next_metadata(table: Table, entry: TimelineEntry) -> Table:
    """The metadata table as it is once an action completes: one more deltacommit, of the same instant.

    Clauses: IG-003, MT-003, MT-005, MT-006.
    """
    metadata, after, staged = valid(table), view_of(perform(table, (CreateInstant(entry),))), []
    view = view_of(metadata)
    found, stored = {one.partition: one for one in snapshot_slices(view)}, rows_of(view)
    for index in logged_to(table, metadata):
        changed = difference(stored.get(index.name, {}), contents(index, after)).items()
        rows = ((key, None if value is None else Record({"key": key, "content": value})) for key, value in changed)
        versions = tuple(Version(key, row, None) for key, row in rows)
        change = Change((index.name, found[index.name].file_id), found[index.name], versions)
        staged += [one] if (one := log_file(view, change, SCHEMA, entry.requested)) else []
    puts = tuple(durable.PutLogFile(one.file) for one in staged if isinstance(one.file, LogFile))
    stats = tuple(one.stat for one in staged)
    return perform(metadata, (*puts, *deltacommit(entry.requested, entry.completed, stats)))


def logged_to(table: Table, metadata: Table) -> tuple[IndexDefinition, ...]:
    """The indexes that a writer keeps: those that readers may use, and those that are being built meanwhile.

    Clauses: IG-003, MT-007.
    """
    properties = open_table(table).configuration.properties
    names = {*property_names(properties, BUILT), *property_names(properties, BUILDING)}
    return tuple(one for one in metadata.indexes if one.name in names)


def deltacommit(requested: InstantTime, completed: InstantTime | None, stats: tuple[WriteStat, ...]) -> Effects:
    """The timeline files of a deltacommit, from the first to the last. [Modified in v8] The last says when."""
    action, layout = Action.DELTA_COMMIT, 1 if completed is None else 2
    states = ((State.REQUESTED, None, None), (State.INFLIGHT, None, None))
    done = (State.COMPLETED, completed, CommitMetadata(write_stats=stats, schema=SCHEMA))
    names = ((*one, timeline_file_name(requested, action, *one[:2], layout)) for one in (*states, done))
    return tuple(CreateInstant(TimelineEntry(requested, action, *one)) for one in names)


def difference(stored: Contents, held: Contents) -> dict[str, Any]:
    """What brings an index from what is stored to what it is to hold; None takes a key away, or a file off a list.

    Clauses: MT-005, MT-008, IX-021, IX-031.
    """
    changed = {key: held.get(key) for key in {**stored, **held} if stored.get(key) != held.get(key)}
    for key, value in changed.items():
        if isinstance(stored.get(key, value), dict):
            old, new = stored.get(key) or {}, value or {}
            changed[key] = {name: new.get(name) for name in {**old, **new} if old.get(name) != new.get(name)}
    return changed


def view_of(table: Table, readings: Readings = RELEASED) -> View:
    """A table in its latest state."""
    return view_at(open_table(table), None, readings)


def rows_of(view: View) -> dict[str, dict[str, Any]]:
    """What a metadata table holds, by partition and key, but for the files that a list says are gone.

    Clauses: MT-002, MT-008.
    """
    found = dict[str, dict[str, Any]]()
    for one in snapshot_slices(view):
        for stored in read_slice(view, one, SCHEMA):
            value: Any = stored.values["content"]
            if isinstance(value, dict):
                value = {name: size for name, size in value.items() if size is not None}
            if value != {}:
                found.setdefault(one.partition, {})[str(stored.values["key"])] = value
    return found


def valid(table: Table) -> Table:
    """The metadata table without the deltacommits of actions that have not completed on the data timeline.

    Clauses: MT-001, MT-006.
    """
    configuration = open_table(table).configuration
    properties = {
        "hoodie.table.name": f"{configuration.name}_metadata",
        VERSION: str(configuration.rules.version), TYPE: "MERGE_ON_READ", MODE: "CUSTOM", KEY: "key",
        "hoodie.table.base.file.format": "HFILE", "hoodie.populate.meta.fields": "false",
        "hoodie.compaction.payload.class": "org.apache.hudi.metadata.HoodieMetadataPayload",
    }  # fmt: skip
    metadata = table.metadata or create_table(properties, SCHEMA)
    done = {one.requested for one in full_timeline(table) if one.state is State.COMPLETED}
    done |= {one.requested for one in metadata.timeline if one.action is not Action.DELTA_COMMIT}
    gone = {one.requested for one in metadata.timeline if not is_own(one.requested)} - done
    timeline = tuple(one for one in metadata.timeline if one.requested not in gone)
    logs = (one for one in metadata.log_files if not instants_of(one) & gone)
    return replace(metadata, timeline=timeline, log_files=tuple(logs))


def is_own(requested: InstantTime) -> bool:
    """Whether an instant is the metadata table's own: an initial one, or with three digits behind an action's.

    Clauses: MT-006, MT-021.
    """
    return requested.startswith(BEFORE_ALL) or len(requested) > MILLISECONDS_DIGITS


def with_indexes(table: Table, indexes: Iterable[IndexDefinition]) -> Table:
    """The metadata table with indexes built anew, of all that has completed, at instants before every other.

    They complete right after the last action, one after the other: what came before is known to be in them.

    Clauses: MT-009, IX-002, TL-024.
    """
    metadata, layout = valid(table), open_table(table).configuration.rules.timeline_layout
    for index in indexes:
        metadata = without_index(metadata, index.name)
        number = len({one.requested for one in metadata.timeline if one.requested.startswith(BEFORE_ALL)})
        instant = InstantTime(f"{number + (10 if layout == 1 else 0):017d}")
        group = index.name, f"{index.name.replace('column', 'col')}-0000-0".replace("_", "-")
        name = base_file_name(group[1], BY_NO_TASK, instant, "hfile")
        held = sorted(contents(index, view_of(table)).items())
        records = tuple(Record({"key": key, "content": value}) for key, value in held)
        file = BaseFile(*group, BY_NO_TASK, instant, "hfile", name, records)
        ended = after_all(table, metadata) if layout == 2 else None
        done = deltacommit(instant, ended, (WriteStat(*group, path_of(file)),))
        metadata = perform(metadata, (durable.PutBaseFile(file), *done))
        metadata = replace(metadata, indexes=(*metadata.indexes, index))
    return metadata


def after_all(table: Table, metadata: Table) -> InstantTime:
    """The moment after all that has completed on either timeline; before every action where nothing has.

    Clauses: TM-003, TL-024.
    """
    times = [one.completed for one in full_timeline(table)] + [one.completed for one in metadata.timeline]
    last = max(filter(None, times), default=InstantTime(f"{MOST_INITIAL:017d}"))
    return InstantTime(f"{int(last) + 1:017d}") if last.startswith(BEFORE_ALL) else generate_shared(last, last)


def without_index(metadata: Table, name: str) -> Table:
    """A metadata table whose index of a name is gone."""
    bases = tuple(one for one in metadata.base_files if one.partition != name)
    logs = tuple(one for one in metadata.log_files if one.partition != name)
    kept = tuple(one for one in metadata.indexes if one.name != name)
    return replace(metadata, base_files=bases, log_files=logs, indexes=kept)


def built(table: Table) -> frozenset[str]:
    """The indexes that readers may use: none unless the list of files is one of them.

    Clauses: MT-007.
    """
    names = frozenset(property_names(open_table(table).configuration.properties, BUILT))
    return names if table.metadata and FILES.name in names else frozenset()


def wanted(settings: Mapping[str, str]) -> tuple[IndexDefinition, ...]:
    """The indexes that settings request."""
    return tuple(IndexDefinition(name, name) for key, name in sorted(OPTIONAL.items()) if switch(settings, key))


def configured_effects(table: Table, settings: Mapping[str, str]) -> Effects:
    """The metadata table is made, and may be used then, or is dropped, where a writer says so; else it is kept.

    Clauses: MT-004, MT-007, MT-009.
    """
    enabled = setting(settings, "hoodie.metadata.enable").lower()
    if enabled == "true" and not built(table):
        indexes = (FILES, *wanted(settings))
        return durable.CommitMetadataTable(with_indexes(table, indexes)), listing(table, (one.name for one in indexes))
    return drop(table, built(table)) if enabled == "false" and table.metadata else ()


def drop(table: Table, names: Iterable[str]) -> Effects:
    """Readers stop using indexes, then they go; without the list of files nothing is left.

    Clauses: MT-007, MT-009.
    """
    kept, metadata = built(table) - {*names}, table.metadata if FILES.name in built(table) - {*names} else None
    for name in names if metadata else ():
        metadata = without_index(metadata, name) if metadata else None
    return listing(table, kept if metadata else ()), durable.CommitMetadataTable(metadata)


def listing(table: Table, names: Iterable[str]) -> durable.PutProperties:
    """The property that shows readers which indexes they may use."""
    return durable.PutProperties({**open_table(table).configuration.properties, BUILT: ",".join(sorted(names))})
