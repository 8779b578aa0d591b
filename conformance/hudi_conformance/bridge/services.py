"""The protocol's table services, by name, as functions of the model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from hudi_model import evolution, metadata, upgrades
from hudi_model.actions import Action, IndexDefinition, Instant, ReplacePlan, State
from hudi_model.effects import Effects, generate_shared, perform
from hudi_model.evolution import ColumnChange
from hudi_model.queries import query_instant
from hudi_model.rejection import Reason, Rejection, Unsupported
from hudi_model.services import (
    archival,
    cleaning,
    clustering,
    compaction,
    indexing,
    log_compaction,
    rollback,
    savepoints,
    time_to_live,
)
from hudi_model.tables import Table, open_table
from hudi_model.time import InstantTime
from hudi_model.timeline import completed_data
from hudi_model_tools import recovery

from hudi_conformance.bridge.metadata_forms import arguments_of
from hudi_conformance.bridge.schemas import column_of_word, model_schema

Params = Mapping[str, Any]
Settings = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Call:
    """A service to run on a table: what was asked, and the instants it may use."""

    table: Table
    params: Params
    settings: Settings
    requested: InstantTime
    completed: InstantTime
    put_at: Mapping[str, InstantTime]
    """When each timeline file was put: all that states a completion before version 8."""

    def instant(self, *names: str) -> InstantTime | None:
        """The instant that the request names, under the first of these names that it has."""
        given = next((self.params[name] for name in names if self.params.get(name)), None)
        return query_instant(str(given)) if given is not None else None


Service = Callable[[Call], Effects]

PLANNED: Mapping[str, ModuleType] = {
    "compaction": compaction,
    "logcompaction": log_compaction,
    "clustering": clustering,
    "clean": cleaning,
    "indexing": indexing,
}
"""The services that are planned first; their modules, since a broken model is one whose functions are others."""

AFTER_WRITES: Mapping[str, tuple[str, str]] = {
    "clean": ("hoodie.clean.automatic", ""),
    "archive": ("hoodie.archive.automatic", ""),
    "compaction": ("hoodie.compact.inline", "hoodie.compact.schedule.inline"),
    "clustering": ("hoodie.clustering.inline", "hoodie.clustering.schedule.inline"),
}
"""The services that a write may run after itself, in this order: the settings to run and only to plan them."""

CARRIED_OUT: Mapping[Action, ModuleType] = {
    Action.COMPACTION: compaction,
    Action.LOG_COMPACTION: log_compaction,
    Action.CLUSTERING: clustering,
    Action.REPLACE_COMMIT: clustering,
    Action.CLEAN: cleaning,
    Action.INDEXING: indexing,
    Action.ROLLBACK: rollback,
    Action.RESTORE: savepoints,
}


def schedule_plan(service: str, table: Table, requested: InstantTime, settings: Settings) -> Effects:
    """What plans a service; nothing where there is nothing to do.

    Raises:
        Unsupported: no service of this name.

    """
    if service not in PLANNED:
        raise Unsupported(f"schedule-{service}")
    planned: Effects = PLANNED[service].schedule(table, requested, settings)
    return planned


def execute_plan(table: Table, requested: InstantTime, completed: InstantTime) -> Effects:
    """What carries out the plan of an instant.

    Raises:
        Rejection: INSTANT_NOT_FOUND where no plan of this instant waits.

    """
    for one in _waiting(table):
        if one.requested == requested:
            done: Effects = CARRIED_OUT[one.action].execute(table, requested, completed)
            return done
    raise Rejection(Reason.INSTANT_NOT_FOUND, "TL-003", requested, "no plan of this instant waits")


def waiting_plans(service: str, table: Table) -> list[InstantTime]:
    """The plans of a service that wait, oldest first."""
    return [one.requested for one in _waiting(table) if CARRIED_OUT[one.action] is PLANNED[service]]


def _waiting(table: Table) -> list[Instant]:
    instants = open_table(table).timeline.instants
    return [one for one in instants if one.state < State.COMPLETED and _is_plan(table, one)]


def _is_plan(table: Table, instant: Instant) -> bool:
    if instant.action is not Action.REPLACE_COMMIT:
        return instant.action in CARRIED_OUT
    contents = (one.content for one in table.timeline if one.requested == instant.requested)
    return any(isinstance(content, ReplacePlan) and content.groups for content in contents)


def _archive(call: Call) -> Effects:
    return archival.archive(call.table, call.settings)


def _savepoint(call: Call) -> Effects:
    writes = [one.requested for one in completed_data(open_table(call.table).timeline)]
    instant = call.instant("instant", "requested") or (writes[-1] if writes else call.requested)
    return savepoints.savepoint(call.table, instant, call.requested, str(call.params.get("comment", "")))


def _delete_savepoint(call: Call) -> Effects:
    return savepoints.delete_savepoint(call.table, call.instant("instant", "requested") or call.requested)


def _restore(call: Call) -> Effects:
    target = call.instant("to", "instant", "savepoint") or call.requested
    return savepoints.restore(call.table, target, call.requested, call.completed, call.settings)


def _rollback(call: Call) -> Effects:
    """Of the write that is named, or of all that have failed, newest first; one that waits is taken up."""
    target = call.instant("instant", "target")
    if target:
        return rollback.roll_back(call.table, target, call.requested, call.completed, call.settings)
    table, requested, completed = call.table, call.requested, call.completed
    effects: Effects = ()
    for one in rollback.failed_writes(table, requested, call.settings):
        done = rollback.roll_back(table, one, requested, completed, call.settings)
        table, effects = perform(table, done), (*effects, *done)
        requested = generate_shared(completed, completed)
        completed = generate_shared(requested, requested)
    return effects


def _time_to_live(call: Call) -> Effects:
    planned = time_to_live.schedule(call.table, call.requested, call.settings)
    if not planned:
        return ()
    done = time_to_live.execute(perform(call.table, planned), call.requested, call.completed, call.settings)
    return (*planned, *done)


_OF_THE_TABLE = frozenset(metadata.OPTIONAL.values())
"""The indexes that have the name of their kind; others are named by who makes them."""


def _create_index(call: Call) -> Effects:
    """An index planned and built at once.

    Raises: CONFIG_INVALID for an index that is there.
    """
    definition = _definition(call)
    planned = indexing.schedule(call.table, call.requested, {}, (definition,))
    if not planned:
        raise Rejection(Reason.CONFIG_INVALID, "IG-001", definition.name, "the table has this index, or no write")
    return (*planned, *indexing.execute(perform(call.table, planned), call.requested, call.completed))


def _drop_index(call: Call) -> Effects:
    """An index taken away; no action stands for it.

    Raises: CONFIG_INVALID for one that is not there.
    """
    wanted, built = str(call.params.get("index")), metadata.built(call.table)
    found = next((one for one in (wanted, *map("{}_{}".format, _PREFIXES, [wanted] * 2)) if one in built), None)
    if found is None:
        raise Rejection(Reason.CONFIG_INVALID, "IX-002", wanted, "the table has no such index")
    return metadata.drop(call.table, [found])


_PREFIXES = ("secondary_index", "expr_index")


def _definition(call: Call) -> IndexDefinition:
    """The index that a request describes."""
    name, kind = str(call.params.get("index")), str(call.params.get("kind", _PREFIXES[0]))
    columns = tuple(map(str, call.params.get("columns") or ()))
    if name in _OF_THE_TABLE:
        return IndexDefinition(name, name, sources=columns)
    prefix = _PREFIXES[0] if kind == _PREFIXES[0] else _PREFIXES[1]
    function = str(call.params.get("function", "identity"))
    options = {str(key): str(value) for key, value in (call.params.get("index_options") or {}).items()}
    return IndexDefinition(f"{prefix}_{name}", kind, function, columns, arguments=arguments_of(function, options))


def _change_version(call: Call) -> Effects:
    version = str(call.params.get("to", call.params.get("table_version", call.params.get("version"))))
    if not version.isdecimal():
        raise Rejection(Reason.CONFIG_INVALID, "VR-004", "to", f"{version!r} is no table version")
    return upgrades.change_version(call.table, int(version), call.requested, call.put_at)


def _recover(call: Call) -> Effects:
    if call.table.create_schema is None:
        raise Rejection(Reason.SCHEMA_INCOMPATIBLE, "DM-003", "hoodie.properties", "the columns are not known")
    return recovery.recover(call.table, call.table.create_schema)


def _alter_schema(call: Call) -> Effects:
    return evolution.alter(call.table, map(_change, call.params.get("changes") or ()), call.requested, call.completed)


_CHANGES = ("add", "drop", "rename", "type", "move")
_SIDES = ("after", "before")


def _change(stated: Mapping[str, Any]) -> ColumnChange:
    """A change of a column as the protocol states it: a type is a word, or Avro."""
    kind, path = str(stated.get("change")), tuple(str(stated.get("column")).split("."))
    if kind not in _CHANGES:
        raise Unsupported(f"alter-schema-{kind}")
    column = None
    if "type" in stated and isinstance(stated["type"], str):
        column = column_of_word(path[-1], stated["type"])
    elif "type" in stated:
        field = {"name": path[-1], "type": ["null", stated["type"]]}
        column = model_schema({"type": "record", "name": "change", "fields": [field]}).fields[0]
    side = next((one for one in ("first", *_SIDES) if stated.get(one)), "first" if kind == "move" else "")
    return ColumnChange(kind, path, column, str(stated.get("to", "")), (side, str(stated.get(side, ""))))


SERVICES: Mapping[str, Service] = {
    "alter_schema": _alter_schema,
    "archive": _archive,
    "savepoint": _savepoint,
    "delete_savepoint": _delete_savepoint,
    "restore": _restore,
    "rollback": _rollback,
    "time_to_live": _time_to_live,
    "upgrade": _change_version,
    "downgrade": _change_version,
    "recover": _recover,
    "create_index": _create_index,
    "drop_index": _drop_index,
}
