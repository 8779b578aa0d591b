"""Rules of what is given up, restored, or brought to another version, broken."""

from collections.abc import Mapping
from dataclasses import replace

from hudi_model import creation, upgrades
from hudi_model.actions import Action
from hudi_model.creation import PACKAGE
from hudi_model.effects import DeleteInstant, Effects
from hudi_model.merge_rules import DEFAULT, MergeMode
from hudi_model.rejection import Rejection
from hudi_model.requests import Write
from hudi_model.tables import OpenTable, Table
from hudi_model.time import InstantTime

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant("abort-keeps-the-instant", "OW-009", "A write that was given up stays on the timeline.", "writers.abort")
def _abort_keeps_the_instant(original: Function) -> Function:
    def staying(table: Table, write: Write) -> Effects:
        return tuple(one for one in original(table, write) if not isinstance(one, DeleteInstant))

    return staying


@mutant(
    "restore-keeps-what-came-since",
    "SR-005 SR-009",
    "A restore undoes nothing but the newest.",
    "services.savepoints.instants_after",
)
def _restore_keeps_what_came_since(original: Function) -> Function:
    def first_only(opened: OpenTable, savepoint: InstantTime) -> tuple[InstantTime, ...]:
        return tuple(original(opened, savepoint)[1:])

    return first_only


@mutant(
    "later-savepoints-are-undone", "SR-004", "A restore goes past a later savepoint.", "services.savepoints.schedule"
)
def _later_savepoints_are_undone(original: Function) -> Function:
    def past_all(table: Table, requested: InstantTime, settings: Mapping[str, str], savepoint: InstantTime) -> Effects:
        kept = tuple(one for one in table.timeline if one.action is not Action.SAVEPOINT or one.requested == savepoint)
        effects: Effects = original(replace(table, timeline=kept), requested, settings, savepoint)
        return effects

    return past_all


@mutant(
    "logs-stay-logs", "VR-005", "A table changes its version with its logs and plans as they are.", "upgrades.settle"
)
def _logs_stay_logs(_: Function) -> Function:
    return lambda _table, _now: ()


@mutant(
    "properties-are-not-restated",
    "VR-007 VR-008",
    "A table of another version says how it merges as it did before.",
    "upgrades.restated",
)
def _properties_are_not_restated(original: Function) -> Function:
    def as_it_was(properties: dict[str, str], version: int, to: int) -> dict[str, str]:
        made: dict[str, str] = original(properties, version, to)
        kept = (creation.MODE, creation.PAYLOAD, creation.STRATEGY, upgrades.LEGACY_PAYLOAD)
        changed = {name: text for name, text in made.items() if name not in kept}
        return {**changed, **{name: properties[name] for name in kept if name in properties}}

    return as_it_was


@mutant(
    "any-step-is-a-step", "VR-004", "A change of version that leads nowhere does nothing.", "upgrades.change_version"
)
def _any_step_is_a_step(original: Function) -> Function:
    def lenient(table: Table, to: int, now: InstantTime, put_at: Mapping[str, InstantTime] | None = None) -> Effects:
        try:
            effects: Effects = original(table, to, now, put_at)
        except Rejection:
            return ()
        return effects

    return lenient


@mutant("new-tables-merge-by-event-time", "OW-031", "A new table merges by event time.", "creation.released_properties")
def _new_tables_merge_by_event_time(original: Function) -> Function:
    def by_event_time(stated: Mapping[str, str]) -> dict[str, str]:
        without_payload = {name: text for name, text in stated.items() if name != creation.PAYLOAD}
        made: dict[str, str] = original({**without_payload, creation.MODE: MergeMode.EVENT_TIME_ORDERING.value})
        return made

    return by_event_time


@mutant("version-stays", "VR-004 VR-006", "A change of version changes nothing.", "upgrades.change_version")
def _version_stays(_: Function) -> Function:
    return lambda _table, _to, _now, _put_at=None: ()


@mutant(
    "custom-merging-becomes-version-6",
    "VR-009",
    "Custom merging without a payload class is merging by event time in version 6.",
    "upgrades.payload_in_6",
)
def _custom_merging_becomes_version_6(_: Function) -> Function:
    return lambda _properties, payload: payload or PACKAGE + DEFAULT


@mutant(
    "new-tables-infer-commit-time",
    "MG-015",
    "A new table that states no mode merges by commit time, ordering columns or not.",
    "creation.released_properties",
)
def _new_tables_infer_commit_time(original: Function) -> Function:
    def inferred(stated: Mapping[str, str]) -> dict[str, str]:
        made: dict[str, str] = original({creation.MODE: MergeMode.COMMIT_TIME_ORDERING.value, **stated})
        return made

    return inferred


@mutant(
    "event-time-payload-is-custom",
    "PL-005 MG-015",
    "A new table with the event time payload states custom merging.",
    "creation.released_properties",
)
def _event_time_payload_is_custom(original: Function) -> Function:
    def custom(stated: Mapping[str, str]) -> dict[str, str]:
        made: dict[str, str] = original(stated)
        named = made.get(creation.PAYLOAD, "").endswith("EventTimeAvroPayload") and creation.MODE in made
        return {**made, creation.MODE: MergeMode.CUSTOM.value} if named else made

    return custom
