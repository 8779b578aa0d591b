"""Upgrade and downgrade between versions 6, 8 and 9: the same rows, told in the way of another version.

no failed writes, no logs ─ new timeline files beside the old ones ─ properties: the other version ─ old ones gone
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import accumulate, repeat

from hudi_model.actions import Action, State, TimelineEntry
from hudi_model.configuration import property_names, property_value, timeline_layout
from hudi_model.effects import (
    AppendArchivedLog,
    CommitMetadataTable,
    CreateInstant,
    DeleteInstant,
    Effect,
    Effects,
    PutHistoryFile,
    PutManifest,
    PutProperties,
    SwapVersion,
    perform,
)
from hudi_model.history import Manifest, history_file, history_instants
from hudi_model.merge_rules import MergeMode
from hudi_model.names import timeline_file_name
from hudi_model.payloads import (
    BY_PAYLOAD,
    LATEST,
    MODE_OF_PAYLOAD,
    PACKAGE,
    PAYLOADS,
    STRATEGY_OF_MODE,
    payload_name,
    version_9_properties,
)
from hudi_model.rejection import Reason, Rejection
from hudi_model.services import clustering, compaction, log_compaction, rollback
from hudi_model.tables import Table, open_table
from hudi_model.time import InstantTime, generate_shared

STEPS = (4, 5, 6, 8, 9)
"""The versions in their order: a table goes through all that lie between, and before 6 no further than to 6."""

LAYOUT_2 = {
    "hoodie.timeline.layout.version": "2",
    "hoodie.timeline.path": "timeline",
    "hoodie.timeline.history.path": "history",
}
METADATA = ("hoodie.table.metadata.partitions", "hoodie.table.metadata.partitions.inflight")
MODE, STRATEGY = "hoodie.record.merge.mode", "hoodie.record.merge.strategy.id"
PAYLOAD, LEGACY_PAYLOAD = "hoodie.compaction.payload.class", "hoodie.table.legacy.payload.class"
ORDERING, OLD_ORDERING = "hoodie.table.ordering.fields", "hoodie.table.precombine.field"
PARTITION_FIELDS, PARTIAL_UPDATE = "hoodie.table.partition.fields", "hoodie.table.partial.update.mode"
DEFAULT = "DefaultHoodieRecordPayload"
PAYLOAD_OF_MODE = {MergeMode.EVENT_TIME_ORDERING: DEFAULT, MergeMode.COMMIT_TIME_ORDERING: LATEST}


def change_version(table: Table, to: int, now: InstantTime, put_at: Mapping[str, InstantTime] | None = None) -> Effects:
    """An upgrade or a downgrade; until the properties are put the table has its old version, from then on the new one.

    `put_at` tells when timeline files were put, by name: before version 8 nothing else says when an action completed.

    Raises: CONFIG_INVALID where no steps lead there, or where custom merging names no payload class.

    Clauses: VR-004, VR-005, VR-006, VR-010.
    """
    version = open_table(table).configuration.rules.version
    if to not in STEPS[2:] or version < STEPS[2] < to:
        raise Rejection(Reason.CONFIG_INVALID, "VR-004", "hoodie.write.table.version", f"from {version} to {to}")
    effects = list(settle(table, now)) if to != version else []
    settled = perform(table, effects)
    properties = step_by_step(dict(open_table(settled).configuration.properties), version, to)
    layout = timeline_layout(properties)
    entries = [in_layout(settled, one, layout, put_at or {}) for one in settled.timeline]
    names, known = {one.name for one in entries}, {one.name for one in settled.timeline}
    effects += [CreateInstant(one) for one in entries if one.name not in known]
    if to != version:
        effects += [*moved_history(settled, layout), PutProperties(properties)]
    return (*effects, *(DeleteInstant(one.name) for one in settled.timeline if one.name not in names))


def settle(table: Table, now: InstantTime) -> Effects:
    """Failed writes are rolled back, plans carried out, logs compacted: each version has rules of its own for logs.

    The metadata table goes; a writer of the new version makes it anew.

    Clauses: VR-005, VR-011.
    """
    every = {"hoodie.clean.failed.writes.policy": "EAGER", "hoodie.compact.inline.max.delta.commits": "0"}
    times = accumulate(repeat(now), lambda last, _: generate_shared(last, last))
    effects: list[Effect] = []
    for one in rollback.failed_writes(table, now, every):
        effects += rollback.roll_back(perform(table, effects), one, next(times), next(times), every)
    for one, execute in pending_services(table):
        effects += execute(perform(table, effects), one, next(times))
    if open_table(table).configuration.merge_on_read:
        requested = next(times)
        effects += (planned := compaction.schedule(perform(table, effects), requested, every))
        effects += compaction.execute(perform(table, effects), requested, next(times)) if planned else ()
    if table.metadata is not None:
        plain = {
            name: value for name, value in open_table(table).configuration.properties.items() if name not in METADATA
        }
        effects += [PutProperties(plain), CommitMetadataTable(None)]
    return tuple(effects)


def pending_services(table: Table) -> tuple[tuple[InstantTime, Callable[..., Effects]], ...]:
    """The services that are planned and not done, each with what carries it out.

    Clauses: VR-005.
    """
    services = {Action.COMPACTION: compaction.execute, Action.LOG_COMPACTION: log_compaction.execute}
    waiting = (one for one in open_table(table).timeline.instants if one.state is not State.COMPLETED)
    planned = (one for one in waiting if rollback.has_plan(table, one.requested))
    return tuple((one.requested, services.get(one.action, clustering.execute)) for one in planned)


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
        return (AppendArchivedLog(tuple(one for one in rows if one not in table.history.archived_log)),)
    told = (replace(one, completed=one.completed or generate_shared(one.requested, one.requested)) for one in rows)
    files = (history_file(told, 0),) if rows else ()
    version = max((one.version for one in table.history.manifests), default=0) + 1
    manifest = Manifest(version, tuple(one.name for one in files))
    return (*(PutHistoryFile(one) for one in files), PutManifest(manifest), SwapVersion(version))


def step_by_step(properties: dict[str, str], version: int, to: int) -> dict[str, str]:
    """The properties after every step between two versions; the metadata table's part in them is over.

    Raises: CONFIG_INVALID.

    Clauses: VR-004, VR-007, VR-008, VR-009.
    """
    while version != to:
        nearer = STEPS[STEPS.index(version) + (1 if to > version else -1)]
        match version, nearer:
            case 6, 8:
                properties = from_6_to_8(properties)
            case 8, 9:
                properties = from_8_to_9(properties)
            case 9, 8:
                properties = from_9_to_8(properties)
            case 8, 6:
                properties = from_8_to_6(properties)
        version = nearer
    return {**without(properties, *METADATA), "hoodie.table.version": str(to)}


def without(properties: dict[str, str], *names: str) -> dict[str, str]:
    """The properties but some; a name that ends in a dot stands for all that begin so."""
    prefixes = tuple(name for name in names if name.endswith("."))
    return {name: value for name, value in properties.items() if not (name in names or name.startswith(prefixes))}


def from_6_to_8(properties: dict[str, str]) -> dict[str, str]:
    """[New in v8] The mode is stated. Merge-on-read goes by event time wherever there are ordering fields.

    Clauses: VR-007.
    """
    payload, ordering = payload_name(properties), property_value(properties, ORDERING)
    on_read, is_default = properties["hoodie.table.type"] == "MERGE_ON_READ", payload == DEFAULT
    mode = MergeMode.EVENT_TIME_ORDERING if is_default or (on_read and ordering) else MergeMode.COMMIT_TIME_ORDERING
    merging = {MODE: mode.value, STRATEGY: STRATEGY_OF_MODE[mode], PAYLOAD: PACKAGE + PAYLOAD_OF_MODE[mode]}
    if payload and payload not in MODE_OF_PAYLOAD:
        merging = {MODE: MergeMode.CUSTOM.value, STRATEGY: BY_PAYLOAD}
    return {**properties, **LAYOUT_2, **merging}


def from_8_to_9(properties: dict[str, str]) -> dict[str, str]:
    """[New in v9] A payload class that the format gives up becomes what it amounts to.

    Clauses: VR-008, PL-010.
    """
    payload, ordering = payload_name(properties), property_value(properties, ORDERING)
    rest = without(properties, OLD_ORDERING)
    named = {ORDERING: ordering} if ordering else {}
    if payload in PAYLOADS:
        return {**without(rest, PAYLOAD, STRATEGY), **version_9_properties(payload, ordering)}
    return {**without(rest, *(() if rest.get(MODE) == MergeMode.CUSTOM else (STRATEGY,))), **named}


def from_9_to_8(properties: dict[str, str]) -> dict[str, str]:
    """The payload class comes back, and what stood for it goes.

    Clauses: VR-008.
    """
    legacy = properties.get(LEGACY_PAYLOAD, "")
    payload = legacy.rpartition(".")[2]
    ordering = ",".join(PAYLOADS[payload].ordering if payload in PAYLOADS else ()) or property_value(
        properties, ORDERING
    )
    custom = {MODE: MergeMode.CUSTOM.value, STRATEGY: BY_PAYLOAD} if payload not in {"", *MODE_OF_PAYLOAD} else {}
    named = {name: value for name, value in ((OLD_ORDERING, ordering), (PAYLOAD, legacy)) if value}
    rest = without(properties, ORDERING, LEGACY_PAYLOAD, PARTIAL_UPDATE, "hoodie.record.merge.property.")
    return {**rest, **named, **custom}


def from_8_to_6(properties: dict[str, str]) -> dict[str, str]:
    """What version 8 states goes: the payload class decides again, partition fields lose their types.

    Raises: CONFIG_INVALID where custom merging names no payload class.

    Clauses: VR-007, VR-009.
    """
    mode = MergeMode(properties.get(MODE, MergeMode.EVENT_TIME_ORDERING))
    payload = properties.get(PAYLOAD) or (PACKAGE + PAYLOAD_OF_MODE[mode] if mode in PAYLOAD_OF_MODE else "")
    if not payload:
        raise Rejection(
            Reason.CONFIG_INVALID, "VR-009", PAYLOAD, "custom merging needs a payload class before version 8"
        )
    fields = ",".join(property_names(properties, PARTITION_FIELDS))
    layout = {"hoodie.timeline.layout.version": "1"}
    return {**without(properties, MODE, STRATEGY), **layout, PAYLOAD: payload, PARTITION_FIELDS: fields}
