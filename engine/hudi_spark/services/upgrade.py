"""A table changes its version: 6, 8, 9 and back, step by step, under its lock.

settled          failed writes rolled back, plans carried out, logs compacted
between layouts  all timeline files in the new folder -> the history -> properties -> the old files go
8 and 9          indexes that the other does not know go -> properties

Clauses: VR-005, VR-009, SR-001, VR-011, MT-007, IX-004.
"""

import itertools
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from hudi_format.metadata.partitions import Partition
from hudi_format.names import LogFileName, TimelineFileName, parse_data_file_name
from hudi_format.storage import LocalStorage, Storage
from hudi_format.table.table_properties import BACKUP_FILE, repair_properties
from hudi_format.timeline.plans import parse_savepoint_metadata

from hudi_spark.concurrency import Effects
from hudi_spark.errors import HudiError, Reason
from hudi_spark.keys import CLASSES, generator_type
from hudi_spark.merge import BY_PAYLOAD, PARTIAL_UPDATES, PAYLOAD_MODES, PROPERTY, STRATEGIES, MergeMode, payload_name
from hudi_spark.metadata import (
    BUILDING_KEY,
    MetadataLayout,
    delete_index,
    drop_metadata_table,
    indexes_of,
    list_indexes,
    read_definitions,
    update_properties,
    write_definitions,
)
from hudi_spark.services import running
from hudi_spark.services.restore import after_restores
from hudi_spark.services.rollback import POLICY, roll_back_failed_writes
from hudi_spark.services.rollback_planning import is_service_plan
from hudi_spark.services.upgrade_timeline import (
    MovedFile,
    archived_states,
    doubled_schemas,
    history_rows,
    modified_ms_of,
    moved_schemas,
    moved_timeline,
    new_path,
    put_archived_log,
    put_history,
    timeline_names,
)
from hudi_spark.table_state import (
    METADATA_FOLDER,
    PROPERTIES_FILE,
    WRITE_ACTIONS,
    Instant,
    TableConfiguration,
    Timeline,
    list_file_groups,
    load_configuration,
)
from hudi_spark.write import PAYLOAD_OF_MODE, STRATEGY_OF_MODE, TRANSLATED, TableWork

Changes = dict[str, str | None]
"""New values by key, None for a key that goes."""

_VERSION: Final = "hoodie.table.version"
_MODE: Final = "hoodie.record.merge.mode"
_STRATEGY: Final = "hoodie.record.merge.strategy.id"
_PAYLOAD: Final = "hoodie.compaction.payload.class"
_LEGACY: Final = "hoodie.table.legacy.payload.class"
_ORDERING: Final = "hoodie.table.ordering.fields"
_PRECOMBINE: Final = "hoodie.table.precombine.field"
_GENERATOR_CLASS: Final = "hoodie.table.keygenerator.class"
_GENERATOR_TYPE: Final = "hoodie.table.keygenerator.type"
_BOOTSTRAP_CLASS: Final = "hoodie.bootstrap.index.class"
_BOOTSTRAP_TYPE: Final = "hoodie.bootstrap.index.type"
_BOOTSTRAP_CLASSES: Final = {
    "HFILE": "org.apache.hudi.common.bootstrap.index.hfile.HFileBootstrapIndex",
    "NO_OP": "org.apache.hudi.common.bootstrap.index.NoOpBootstrapIndex",
}
_DEFAULT_PAYLOAD: Final = PAYLOAD_OF_MODE["EVENT_TIME_ORDERING"]
_SEQUENCE_OF_MYSQL: Final = "_event_seq"
_MYSQL: Final = "MySqlDebeziumAvroPayload"
# What 6 has no key for; a new table's archive lies where the history was.
_ONLY_NEWER: Final = (
    _MODE,
    _STRATEGY,
    "hoodie.timeline.path",
    "hoodie.timeline.history.path",
    "hoodie.table.multiple.base.file.formats.enable",
    "hoodie.table.format",
    _GENERATOR_TYPE,
    _BOOTSTRAP_TYPE,
)


def step_changes(properties: Mapping[str, str], old: int, new: int) -> Changes:
    """The changes of one step: 6 to 8, 8 to 9, 9 to 8 or 8 to 6.

    Raises:
        HudiError: CONFIG_INVALID for what the lower version cannot say.

    Clauses: VR-004, VR-007, VR-008, VR-009.

    """
    changes = _STEPS[old, new](properties)
    return {**changes, _VERSION: str(new)}


def applied(properties: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """The properties with changes made."""
    return {key: value for key, value in {**properties, **changes}.items() if value is not None}


def _six_to_eight(properties: Mapping[str, str]) -> Changes:
    """Clauses: VR-007, PR-007."""
    generator = properties.get(_GENERATOR_CLASS, "").strip()
    index = properties.get(_BOOTSTRAP_CLASS, "").strip()
    kinds = {name: kind for kind, name in _BOOTSTRAP_CLASSES.items()}
    return {
        "hoodie.timeline.layout.version": "2",
        "hoodie.timeline.path": "timeline",
        "hoodie.timeline.history.path": "history",
        "hoodie.table.initial.version": properties.get("hoodie.table.initial.version") or "6",
        **({_GENERATOR_TYPE: generator_type(generator)} if generator else {}),
        **({_BOOTSTRAP_TYPE: kinds.get(index, "HFILE")} if index else {}),
        **_stated_merging(properties),
    }


def _stated_merging(properties: Mapping[str, str]) -> Changes:
    """Mode, strategy id and payload class; a copy-on-write table of 0.15 without class orders by its ordering fields.

    Clauses: VR-007.
    """
    payload = properties.get(_PAYLOAD, "").strip()
    if payload and payload_name(payload) not in PAYLOAD_MODES:
        return {_PAYLOAD: payload, _MODE: "CUSTOM", _STRATEGY: BY_PAYLOAD}
    on_read = properties.get("hoodie.table.type", "").strip() == "MERGE_ON_READ"
    ordered = bool(_ordering(properties))
    event = payload == _DEFAULT_PAYLOAD or (ordered and (on_read or not payload))
    mode: MergeMode = "EVENT_TIME_ORDERING" if event else "COMMIT_TIME_ORDERING"
    return {_PAYLOAD: PAYLOAD_OF_MODE[mode], _MODE: mode, _STRATEGY: STRATEGY_OF_MODE[mode]}


def _eight_to_nine(properties: Mapping[str, str]) -> Changes:
    """Clauses: VR-008, PL-010."""
    payload = properties.get(_PAYLOAD, "").strip()
    changes: Changes = {}
    if properties.get(_MODE, "").strip() != "CUSTOM":
        changes[_STRATEGY] = None
    if _ordering(properties):
        changes |= {_ORDERING: _ordering(properties), _PRECOMBINE: None}
    meant = TRANSLATED.get(payload)
    if meant is None or _names_merger(properties):
        return changes
    changes |= {_LEGACY: payload, _PAYLOAD: None, _MODE: meant.mode, _STRATEGY: None}
    changes |= {PROPERTY + key: value for key, value in (meant.merge_properties or {}).items()}
    if meant.partial:
        changes[PARTIAL_UPDATES] = meant.partial
    if meant.ordering:
        changes |= {_ORDERING: meant.ordering, _PRECOMBINE: None}
    return changes


def _nine_to_eight(properties: Mapping[str, str]) -> Changes:
    """The released downgrade leaves the delete properties of Debezium payloads behind; here they go, too.

    Clauses: VR-008.
    """
    legacy = properties.get(_LEGACY, "").strip()
    changes: Changes = {PARTIAL_UPDATES: None}
    meant = TRANSLATED.get(legacy)
    if _partial(properties) and (meant is None or meant.partial != _partial(properties)):
        raise _unsayable(
            f"{PARTIAL_UPDATES} is {_partial(properties)}, which version 8 says by payload classes only",
            f"set {PARTIAL_UPDATES} to NONE in the table's properties, where that is what is wanted",
        )
    built = _built_mode(properties)
    if built is not None:
        changes[_STRATEGY] = STRATEGY_OF_MODE[built]
    if _ordering(properties):
        changes |= {_PRECOMBINE: _ordering(properties), _ORDERING: None}
    if meant is not None:
        changes |= _payload_again(legacy, properties)
    return changes


def _payload_again(legacy: str, properties: Mapping[str, str]) -> Changes:
    """Clauses: VR-008."""
    changes: Changes = {_LEGACY: None, _PAYLOAD: legacy}
    meant = TRANSLATED[legacy]
    for key, value in (meant.merge_properties or {}).items():
        if properties.get(PROPERTY + key) == value:
            changes[PROPERTY + key] = None
    if payload_name(legacy) not in PAYLOAD_MODES:
        changes |= {_MODE: "CUSTOM", _STRATEGY: BY_PAYLOAD}
    if payload_name(legacy) == _MYSQL:
        changes |= {_PRECOMBINE: _SEQUENCE_OF_MYSQL, _ORDERING: None}
    return changes


def _eight_to_six(properties: Mapping[str, str]) -> Changes:
    """Clauses: VR-007, VR-009, PR-007."""
    changes: Changes = dict.fromkeys(_ONLY_NEWER)
    changes |= {"hoodie.timeline.layout.version": "1", "hoodie.archivelog.folder": "archived"}
    payload, custom = properties.get(_PAYLOAD, "").strip(), properties.get(_MODE, "").strip() == "CUSTOM"
    if _names_merger(properties) or (custom and not payload):
        raise _unsayable(
            f"the table merges by its own merger {properties.get(_STRATEGY, '')!r}, which version 6 cannot name",
            "keep the table at version 8, or write it anew with a payload class",
        )
    default: MergeMode = "EVENT_TIME_ORDERING" if _ordering(properties) else "COMMIT_TIME_ORDERING"
    changes[_PAYLOAD] = payload or PAYLOAD_OF_MODE[_built_mode(properties) or default]
    if _ordering(properties):
        changes |= {_PRECOMBINE: _ordering(properties), _ORDERING: None}
    fields = properties.get("hoodie.table.partition.fields", "")
    if ":" in fields:
        changes["hoodie.table.partition.fields"] = ",".join(one.strip().partition(":")[0] for one in fields.split(","))
    changes[_GENERATOR_CLASS] = properties.get(_GENERATOR_CLASS) or CLASSES.get(properties.get(_GENERATOR_TYPE, ""))
    kind = properties.get(_BOOTSTRAP_TYPE, "").strip()
    changes[_BOOTSTRAP_CLASS] = properties.get(_BOOTSTRAP_CLASS) or _BOOTSTRAP_CLASSES.get(kind)
    return changes


def _ordering(properties: Mapping[str, str]) -> str:
    return properties.get(_ORDERING, "").strip() or properties.get(_PRECOMBINE, "").strip()


def _built_mode(properties: Mapping[str, str]) -> MergeMode | None:
    """The mode, where it is one of the two that need no merger."""
    return next((mode for mode in PAYLOAD_OF_MODE if mode == properties.get(_MODE, "").strip()), None)


def _partial(properties: Mapping[str, str]) -> str:
    found = properties.get(PARTIAL_UPDATES, "").strip()
    return "" if found == "NONE" else found


def _names_merger(properties: Mapping[str, str]) -> bool:
    named = properties.get(_STRATEGY, "").strip()
    custom = properties.get(_MODE, "").strip() == "CUSTOM"
    return custom and named not in ("", BY_PAYLOAD, *STRATEGIES)


def _unsayable(message: str, hint: str) -> HudiError:
    return HudiError(Reason.CONFIG_INVALID, "VR-009", message, hint=hint)


_STEPS: Final = {
    (6, 8): _six_to_eight,
    (8, 9): _eight_to_nine,
    (9, 8): _nine_to_eight,
    (8, 6): _eight_to_six,
}


def refuse_saved_logs(storage: Storage, timeline: Timeline) -> None:
    """Nothing where no savepoint keeps a log that is named after its write and follows a base file.

    Version 6 takes such a log for a slice of its own: a restore to the savepoint would lose the rows below it.

    Raises:
        HudiError: CONFIG_INVALID naming the savepoint.

    Clauses: VR-009, SL-005, RD-004.

    """
    groups = list_file_groups(storage)
    for one in timeline.completed("savepoint"):
        saved = parse_savepoint_metadata(storage.read(one.file), one.file)
        for partition, kept in saved.partition_metadata.items():
            for name in kept.savepoint_data_file:
                log = parse_data_file_name(name)
                if not isinstance(log, LogFileName) or log.cdc or (partition, log.file_id) not in groups:
                    continue
                bases = [base.name.instant for base in groups[partition, log.file_id].base_files]
                if log.instant not in bases and any(base < log.instant for base in bases):
                    message = f"the savepoint {one.requested} keeps logs, which version 6 would read without their rows"
                    hint = "delete the savepoint, or make one of the newest write after compacting the table"
                    raise HudiError(Reason.CONFIG_INVALID, "VR-009", message, one.file, hint=hint)


_COMPACTION: Final = "compaction"
# Whatever is in logs, however little, and in one plan.
_WHOLE: Final[Mapping[str, str]] = {
    "hoodie.compact.inline.max.delta.commits": "0",
    "hoodie.compact.inline.trigger.strategy": "NUM_COMMITS",
    "hoodie.compaction.strategy": "org.apache.hudi.table.action.compact.strategy.UnBoundedCompactionStrategy",
}
_UNRESTING: Final = (*WRITE_ACTIONS, "rollback", "restore")


def settle(work: TableWork) -> None:
    """Failed writes are rolled back, whatever the policy; restores and rollbacks finished.

    Then plans are carried out, and logs compacted.

    Raises:
        HudiError: what rollback, the plans' services and compaction refuse.

    Clauses: VR-005, RB-001, RB-004, SR-006.

    """
    after_restores(work)
    roll_back_failed_writes(replace(work, options=work.options.with_values({POLICY: "EAGER"})), "EAGER")
    for one in _plans(work):
        running.execute(work, one.requested)
    if _has_logs(work):
        whole = replace(work, options=work.options.with_values(_WHOLE))
        requested = running.schedule(whole, _COMPACTION)
        if requested is not None:
            running.execute(whole, requested)


def refuse_unsettled(work: TableWork) -> None:
    """Nothing where the table is at rest; asked under the lock.

    Raises:
        HudiError: WRITE_CONFLICT naming what is at work.

    Clauses: VR-005.

    """
    timeline = work.snapshot().timeline
    pending = [f"{one.action} {one.requested}" for one in timeline.instants if _is_unresting(one)]
    if pending:
        message = f"while the version changes nothing may be pending, and there is {', '.join(pending)}"
        raise HudiError(Reason.WRITE_CONFLICT, "VR-005", message, hint="end it, or wait for it, and try again")
    if _has_logs(work):
        message = "another writer appended logs while they were compacted"
        raise HudiError(Reason.WRITE_CONFLICT, "VR-005", message, hint="stop the writers, and try again")


def _plans(work: TableWork) -> tuple[Instant, ...]:
    """What services planned and nobody has finished."""
    timeline = work.snapshot().timeline
    pending = (one for action in WRITE_ACTIONS for one in timeline.pending(action))
    return tuple(sorted((one for one in pending if is_service_plan(work.storage, one)), key=_by_time))


def _by_time(instant: Instant) -> str:
    return instant.requested


def _is_unresting(instant: Instant) -> bool:
    return not instant.is_completed and instant.action in _UNRESTING


def _has_logs(work: TableWork) -> bool:
    return any(one.log_files for one in work.snapshot().slices)


_FIRST: Final = "V1"


def drop_indexes(effects: Effects) -> None:
    """The metadata table goes, and what was said of its indexes: from one layout to the other they are built anew.

    Clauses: VR-011, MT-007.
    """
    _define(effects, ())
    drop_metadata_table(effects)


def raise_indexes(effects: Effects) -> None:
    """From 8 to 9 the metadata table stays; its indexes have a version from now on, the first.

    One that is not defined, and would be taken for an index of the second, goes.

    Clauses: VR-011, IX-004.
    """
    configuration = load_configuration(effects.storage)
    known = read_definitions(effects.storage, configuration.properties)
    stated = {name: replace(one, version=one.version or _FIRST) for name, one in known.items()}
    if stated:
        write_definitions(effects, configuration.properties, stated)
    _drop_newer(effects, MetadataLayout(9))
    _set_version(effects, 9)


def lower_indexes(effects: Effects) -> None:
    """From 9 to 8 the metadata table stays, without the indexes whose version 8 does not know.

    Clauses: VR-011, IX-004, MT-007.
    """
    _drop_newer(effects, MetadataLayout(9))
    _set_version(effects, 8)


def _drop_newer(effects: Effects, layout: MetadataLayout) -> None:
    """The indexes of the second version go, and those that are not whole: properties, definitions, folders.

    Clauses: IX-004, MT-007.
    """
    configuration = load_configuration(effects.storage)
    known = read_definitions(effects.storage, configuration.properties)
    whole, building = (indexes_of(configuration.properties, key) for key in (_WHOLE_KEY, BUILDING_KEY))
    newer = [one for one in (*whole, *building) if layout.index_version(one, known) != _FIRST]
    if Partition.FILES in whole:
        list_indexes(effects, [one for one in whole if one not in newer])
    _define(effects, tuple(name for name in known if name not in newer and name in whole))
    for partition in (*newer, *building):
        delete_index(effects.inside(METADATA_FOLDER), partition)


def _define(effects: Effects, kept: tuple[str, ...]) -> None:
    """The definitions of other indexes go."""
    configuration = load_configuration(effects.storage)
    known = read_definitions(effects.storage, configuration.properties)
    if set(known) != set(kept):
        write_definitions(effects, configuration.properties, {name: known[name] for name in kept})


def _set_version(effects: Effects, version: int) -> None:
    """The metadata table has the version; an attempt that stopped may have left it at another than its table's."""
    if not _has_metadata_table(effects.storage):
        return
    inside = effects.inside(METADATA_FOLDER)
    if load_configuration(inside.storage).version != version:
        update_properties(inside, {"hoodie.table.version": str(version)})


def _has_metadata_table(storage: Storage) -> bool:
    return storage.exists(f"{METADATA_FOLDER}/{PROPERTIES_FILE}")


_WHOLE_KEY: Final = "hoodie.table.metadata.partitions"


VERSIONS: Final = (6, 8, 9)
_HOLDER: Final = "version"
_ATTEMPTS: Final = 3


def change_version(work: TableWork, version: int, *, upgrade: bool) -> bool:
    """The table has the version from now on; False where it had it, and only leftovers of an earlier attempt went.

    Raises:
        HudiError: CONFIG_INVALID for a version that is no upgrade or downgrade of the table's, and for what the lower
            version cannot say, before any change; WRITE_CONFLICT while another writer is at work; LOCK_UNAVAILABLE.

    Clauses: VR-004, VR-005, VR-006, VR-009, VR-010, VR-011.

    """
    way = _checked_way(work, version, upgrade=upgrade)
    for step in way:
        _settled_step(work, step)
    with work.lock(_HOLDER):
        _remove_leftovers(work.effects)
        _set_version(work.effects, load_configuration(work.storage).version)
    return bool(way)


def _checked_way(work: TableWork, version: int, *, upgrade: bool) -> tuple[tuple[int, int], ...]:
    """The steps from the table's version to another; each is known to be possible.

    Clauses: VR-004, VR-009.
    """
    with work.lock(_HOLDER):
        if work.storage.exists(BACKUP_FILE):
            repair_properties(work.storage)
        configuration = load_configuration(work.storage)
        way = way_between(configuration.version, version, upgrade=upgrade)
        properties: Mapping[str, str] = configuration.properties
        for old, new in way:
            properties = applied(properties, step_changes(properties, old, new))
        snapshot = work.snapshot()
        if (8, 6) in way:
            refuse_saved_logs(work.storage, snapshot.timeline)
    return way


def way_between(old: int, new: int, *, upgrade: bool) -> tuple[tuple[int, int], ...]:
    """The steps from one version to another; none where they are the same.

    Raises:
        HudiError: CONFIG_INVALID.

    Clauses: VR-004, VR-021.

    """
    if new not in VERSIONS:
        hint = f"choose one of {', '.join(map(str, VERSIONS))}"
        raise HudiError(Reason.CONFIG_INVALID, "VR-004", f"table version {new} is not written", hint=hint)
    if old not in VERSIONS:
        hint = "let Apache Hudi 0.15 write to it once, which brings it to version 6"
        raise HudiError(Reason.CONFIG_INVALID, "VR-004", f"a table of version {old} is not upgraded here", hint=hint)
    if old != new and (new > old) != upgrade:
        wanted, other = ("an upgrade", "downgrade") if upgrade else ("a downgrade", "upgrade")
        message = f"from version {old} to {new} is not {wanted}"
        raise HudiError(Reason.CONFIG_INVALID, "VR-004", message, hint=f"request the {other}")
    passed = [one for one in sorted(VERSIONS, reverse=new < old) if min(old, new) <= one <= max(old, new)]
    return tuple(itertools.pairwise(passed))


def _settled_step(work: TableWork, step: tuple[int, int]) -> None:
    """One step, on a table that nobody else is at work on.

    Clauses: VR-005.
    """
    for attempt in range(_ATTEMPTS):
        settle(work)
        with work.lock(_HOLDER):
            try:
                refuse_unsettled(work)
            except HudiError:
                if attempt + 1 == _ATTEMPTS:
                    raise
                continue
            _remove_leftovers(work.effects)
            _step(work.effects, *step)
            return


def _step(effects: Effects, old: int, new: int) -> None:
    configuration = load_configuration(effects.storage)
    changes = step_changes(configuration.properties, old, new)
    if {old, new} == {6, 8}:
        _between_layouts(effects, configuration, changes)
        return
    (raise_indexes if new > old else lower_indexes)(effects)
    update_properties(effects, changes)


def _between_layouts(effects: Effects, old: TableConfiguration, changes: Mapping[str, str | None]) -> None:
    """Until the properties are put the table is the old one, by the old files; from then on the new one.

    Clauses: VR-006, VR-010, VR-011.
    """
    new = _other_layout(old, changes)
    moved = moved_timeline(effects.storage, old, new)
    schemas = moved_schemas(effects.storage, old, new, moved)
    archive = _Archive(effects, old, new)
    archive.check()
    drop_indexes(effects)
    _put_timeline(effects, new, moved)
    for one in schemas:
        effects.put_index_file(one.new, one.content)
    archive.put()
    update_properties(effects, changes)
    _remove_leftovers(effects)


@dataclass(slots=True)
class _Archive:
    """What is archived, in the form of the other layout: read whole before anything changes."""

    effects: Effects
    old: TableConfiguration
    new: TableConfiguration

    def check(self) -> None:
        (history_rows if self.new.timeline_layout == 2 else archived_states)(self.effects.storage, self.old)

    def put(self) -> None:
        """Clauses: VR-010."""
        if self.new.timeline_layout == 2:
            put_history(self.effects, self.new, history_rows(self.effects.storage, self.old))
        else:
            put_archived_log(self.effects, archived_states(self.effects.storage, self.old))


def _other_layout(old: TableConfiguration, changes: Mapping[str, str | None]) -> TableConfiguration:
    newer = old.timeline_layout == 1
    return replace(
        old,
        version=int(changes["hoodie.table.version"] or 0),
        timeline_layout=2 if newer else 1,
        timeline_folder=".hoodie/timeline" if newer else ".hoodie",
        properties=applied(old.properties, changes),
    )


def _put_timeline(effects: Effects, new: TableConfiguration, moved: Iterable[MovedFile]) -> None:
    """All files in the new folder; what an earlier attempt put there and is no more, or other now, goes.

    Clauses: VR-006.
    """
    wanted = {new_path(new, one): one for one in moved}
    there = {status.path: name for status, name in timeline_names(effects.storage, new)}
    for path, name in there.items():
        if path not in wanted or effects.storage.read(path) != wanted[path].content:
            effects.delete_instant(new, name)
    for path, one in wanted.items():
        if not effects.storage.exists(path):
            effects.create_instant(new, one.name, one.content)
        _date(effects, new, path, one)


def _date(effects: Effects, new: TableConfiguration, path: str, moved: MovedFile) -> None:
    """Before version 8 a completed file's own time states when its action completed; object stores cannot set it.

    Clauses: VR-006.
    """
    if new.timeline_layout == 1 and moved.completed and isinstance(effects.storage, LocalStorage):
        nanoseconds = modified_ms_of(moved.completed, new) * 1_000_000
        os.utime(effects.storage.resolve(path), ns=(nanoseconds, nanoseconds))


def _remove_leftovers(effects: Effects) -> None:
    """The timeline of the other layout goes: the old one of a change that is done, or a new one of none that was.

    Clauses: VR-004, VR-006.
    """
    configuration = load_configuration(effects.storage)
    other = _other_layout(configuration, {"hoodie.table.version": "6" if configuration.has_completion_times else "8"})
    for name in sorted((name for _, name in timeline_names(effects.storage, other)), key=_completed_last):
        effects.delete_instant(other, name)
    for path in doubled_schemas(effects.storage, configuration):
        effects.delete_properties(path)


def _completed_last(name: TimelineFileName) -> tuple[bool, str]:
    return name.state == "COMPLETED", name.requested
