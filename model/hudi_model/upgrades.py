"""Upgrade and downgrade between versions 6, 8, 9 and the draft 10: the same rows in the way of another version.

no failed writes, no logs ─ new timeline files beside the old ones ─ properties: the other version ─ old ones gone
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate, pairwise, repeat

import hudi_model.effects as durable
from hudi_model.actions import Action, State, TimelineEntry
from hudi_model.configuration import (
    META_FIELDS_MODE,
    POPULATED,
    mode_of_meta_fields,
    property_names,
    property_value,
    timeline_layout,
    with_meta_fields,
)
from hudi_model.creation import (
    LAYOUT,
    LAYOUT_2,
    MODE,
    OLD_ORDERING,
    ORDERING,
    PACKAGE,
    PARTITION,
    PAYLOAD,
    STRATEGY,
    version_9_properties,
)
from hudi_model.effects import Effect, Effects, generate_shared, perform, timeline_file_name
from hudi_model.history import history_file, history_instants
from hudi_model.merge_rules import (
    BY_PAYLOAD,
    COMMIT_TIME,
    DEFAULT,
    DELETE_FIELD,
    DELETE_MARKER,
    EVENT_TIME,
    LATEST,
    MODE_OF_PAYLOAD,
    PAYLOADS,
    STRATEGY_OF_MODE,
    UNAVAILABLE,
    MergeMode,
    payload_name,
)
from hudi_model.rejection import Reason, Rejection
from hudi_model.services import clustering, compaction, log_compaction, rollback
from hudi_model.services.savepoints import dropped_metadata
from hudi_model.tables import Manifest, Table, open_table
from hudi_model.time import InstantTime

V6, V8, V9, V10 = STEPS = 6, 8, 9, 10
INITIAL = "hoodie.table.initial.version"
STORAGE_LAYOUT = "hoodie.table.storage.layout"
LEGACY_PAYLOAD = "hoodie.table.legacy.payload.class"
ONLY_IN_9 = ("hoodie.table.partial.update.mode", DELETE_FIELD, DELETE_MARKER, UNAVAILABLE)
"""What stands for payload classes; other properties of merging are a merger's own, and stay."""


def change_version(table: Table, to: int, now: InstantTime, put_at: Mapping[str, InstantTime] | None = None) -> Effects:
    """An upgrade or a downgrade; until the properties are put the table has its old version, from then on the new one.

    `put_at` states when timeline files were put, by name: before version 8 nothing else says when an action completed.

    Raises: CONFIG_INVALID where no steps lead there, or where custom merging names no payload class.

    Clauses: VR-004, VR-005, VR-006, VR-010.
    """
    version = open_table(table).configuration.rules.version
    if to not in STEPS or version < V6 < to:
        raise Rejection(Reason.CONFIG_INVALID, "VR-004", "hoodie.write.table.version", f"from {version} to {to}")
    refuse_native_feed(table, to)
    effects = list(before_change(table, version, to, now))
    settled = perform(table, effects)
    properties = step_by_step(dict(open_table(settled).configuration.properties), version, to)
    layout = timeline_layout(properties)
    put = {**(put_at or {}), **put_meanwhile(table, settled, now)}
    entries = [in_layout(settled, one, layout, put) for one in settled.timeline]
    names, known = {one.name for one in entries}, {one.name for one in settled.timeline}
    effects += [durable.CreateInstant(one) for one in entries if one.name not in known]
    if to != version:
        effects += [*moved_history(settled, layout), durable.PutProperties(properties)]
    return (*effects, *(durable.DeleteInstant(one.name) for one in settled.timeline if one.name not in names))


def before_change(table: Table, version: int, to: int, now: InstantTime) -> Effects:
    """What is done before the version changes. [Draft, v10] From 9 to 10 nothing is: logs and plans of 9 are read on.

    Clauses: VR-005, NL-020.
    """
    if (version, to) == (V9, V10):
        return dropped_metadata(table)
    return settle(table, now) if to != version else ()


def refuse_native_feed(table: Table, to: int) -> None:
    """Nothing, unless a version would be left that alone reads native logs of the change feed. [Draft, v10]

    Raises: CONFIG_INVALID.

    Clauses: NL-022.
    """
    for log in (one for one in table.log_files if one.native == "cdc" and to < V10):
        raise Rejection(Reason.CONFIG_INVALID, "NL-022", log.name, f"version {to} cannot read it")


def put_meanwhile(table: Table, settled: Table, now: InstantTime) -> dict[str, InstantTime]:
    """When the completed files were put that the change itself has brought, whenever their actions were requested.

    Clauses: VR-005, VR-006.
    """
    known, put = {one.name for one in table.timeline}, dict[str, InstantTime]()
    new = [one for one in settled.timeline if one.name not in known and one.state is State.COMPLETED]
    last = max((one.requested for one in new), default=now)
    for one in sorted(new, key=lambda entry: entry.requested):
        put[one.name] = last = now if now > last else generate_shared(last, last)
    return put


def settle(table: Table, now: InstantTime) -> Effects:
    """Failed writes are rolled back, plans carried out, logs compacted: each version has rules of its own for logs.

    The metadata table goes; a writer of the new version makes it anew.

    Clauses: VR-005, VR-011.
    """
    every = {"hoodie.clean.failed.writes.policy": "EAGER", "hoodie.compact.inline.max.delta.commits": "0"}
    times = accumulate(repeat(now), lambda last, _: generate_shared(last, last))
    services = {Action.COMPACTION: compaction.execute, Action.LOG_COMPACTION: log_compaction.execute}
    effects: list[Effect] = []
    for failed in rollback.failed_writes(table, now, every):
        effects += rollback.roll_back(perform(table, effects), failed, next(times), next(times), every)
    for one in open_table(table).timeline.instants:
        if one.state is not State.COMPLETED and rollback.has_plan(table, one.requested):
            execute = services.get(one.action, clustering.execute)
            effects += execute(perform(table, effects), one.requested, next(times))
    if open_table(table).configuration.merge_on_read:
        requested = next(times)
        effects += (planned := compaction.schedule(perform(table, effects), requested, every))
        effects += compaction.execute(perform(table, effects), requested, next(times)) if planned else ()
    return (*effects, *dropped_metadata(table))


def in_layout(table: Table, entry: TimelineEntry, layout: int, put_at: Mapping[str, InstantTime]) -> TimelineEntry:
    """A timeline file as another layout has it. [Modified in v8] Completion times are in names; clusterings say so.

    Clauses: VR-006, TL-006, TL-007, TL-008.
    """
    action, completed = entry.action, None
    if entry.state is State.COMPLETED and layout == 2:
        completed = entry.completed or put_at.get(entry.name) or generate_shared(entry.requested, entry.requested)
    elif action in (Action.CLUSTERING, Action.REPLACE_COMMIT) and rollback.has_plan(table, entry.requested):
        action = Action.CLUSTERING if layout == 2 and entry.state < State.COMPLETED else Action.REPLACE_COMMIT
    name = timeline_file_name(entry.requested, action, entry.state, completed, layout)
    return replace(entry, action=action, completed=completed, name=name)


def moved_history(table: Table, layout: int) -> Effects:
    """The archived actions, once more in the form of the new layout; the old form stays and is not read again.

    Clauses: VR-010.
    """
    rows = history_instants(table.history, 3 - layout)
    if layout == 1:
        return (durable.AppendArchivedLog(tuple(one for one in rows if one not in table.history.archived_log)),)
    with_completion = (
        replace(one, completed=one.completed or generate_shared(one.requested, one.requested)) for one in rows
    )
    files = (history_file(with_completion, 0),) if rows else ()
    version = max((one.version for one in table.history.manifests), default=0) + 1
    manifest = durable.PutManifest(Manifest(version, tuple(one.name for one in files)))
    return (*map(durable.PutHistoryFile, files), manifest, durable.SwapVersion(version))


def step_by_step(properties: dict[str, str], version: int, to: int) -> dict[str, str]:
    """The properties after every step between two versions; before 6 no step changes how a table is described.

    Raises: CONFIG_INVALID.

    Clauses: VR-004.
    """
    between = (one for one in STEPS if min(version, to) <= one <= max(version, to))
    for here, there in pairwise(sorted(between, reverse=to < version)):
        properties = (restated_draft if V10 in (here, there) else restated)(properties, here, there)
    return {**properties, "hoodie.table.version": str(to)}


def without(properties: dict[str, str], *names: str) -> dict[str, str]:
    """The properties but some."""
    return {name: value for name, value in properties.items() if name not in names}


def restated_draft(properties: dict[str, str], _: int, to: int) -> dict[str, str]:
    """[Draft, v10] Which meta fields are kept, as the next version says it; 9 has no mode and no storage layout.

    Clauses: NL-020, NL-021.
    """
    if to == V10:
        return {**properties, **mode_of_meta_fields(properties)}
    kept = with_meta_fields({**properties, "hoodie.table.version": str(V10)})
    return without({**properties, POPULATED: property_value(kept, POPULATED)}, META_FIELDS_MODE, STORAGE_LAYOUT)


def restated(properties: dict[str, str], version: int, to: int) -> dict[str, str]:
    """How a table merges, as the next version says it: by payload class, by mode, by what a class amounts to.

    Raises: CONFIG_INVALID where custom merging has no payload class, which version 6 needs.

    Clauses: VR-007, VR-008, VR-009, PL-010.
    """
    stated = properties.get(PAYLOAD) or properties.get(LEGACY_PAYLOAD, "")
    payload = payload_in_8(properties) if version == V6 else stated
    name, ordering = payload.rpartition(".")[2], property_value(properties, ORDERING)
    if version == V9 and name in PAYLOADS:
        ordering = ",".join(PAYLOADS[name].ordering) or ordering
    rest = without(properties, PAYLOAD, LEGACY_PAYLOAD, ORDERING, OLD_ORDERING, *(ONLY_IN_9 if version == V9 else ()))
    if to == V9 and name in PAYLOADS:
        return {**without(rest, STRATEGY), **version_9_properties(name, ordering)}
    rest |= {ORDERING if to == V9 else OLD_ORDERING: ordering} if ordering else {}
    if to == V6:
        rest = without(rest, MODE, STRATEGY, *LAYOUT_2)
        fields = ",".join(property_names(properties, PARTITION))
        return {**rest, LAYOUT: "1", PARTITION: fields, PAYLOAD: payload_in_6(properties, payload)}
    mode = MODE_OF_PAYLOAD.get(name, MergeMode.CUSTOM)
    named = {PAYLOAD: payload, MODE: mode.value, STRATEGY: STRATEGY_OF_MODE.get(mode, BY_PAYLOAD)} if payload else {}
    first = {INITIAL: rest.get(INITIAL, str(V6)), **LAYOUT_2} if version == V6 else {}
    return {**rest, **named, **first}


def payload_in_8(properties: dict[str, str]) -> str:
    """The payload class of a table that leaves version 6: with ordering fields by event time on read, or without class.

    Clauses: VR-007.
    """
    name, ordering = payload_name(properties), property_value(properties, ORDERING)
    if name and name not in MODE_OF_PAYLOAD:
        return properties[PAYLOAD]
    orders = not name or properties["hoodie.table.type"] == "MERGE_ON_READ"
    by_event_time = name == DEFAULT or (ordering and orders)
    return PACKAGE + (DEFAULT if by_event_time else LATEST)


def payload_in_6(properties: dict[str, str], payload: str) -> str:
    """The payload class that decides again in version 6: the one stated, else that of the mode.

    Raises: CONFIG_INVALID.

    Clauses: VR-009.
    """
    of_mode = {EVENT_TIME: DEFAULT, COMMIT_TIME: LATEST}.get(MergeMode(properties.get(MODE, EVENT_TIME)))
    if not payload and not of_mode:
        raise Rejection(Reason.CONFIG_INVALID, "VR-009", PAYLOAD, "custom merging needs a payload class")
    return payload or PACKAGE + (of_mode or "")
