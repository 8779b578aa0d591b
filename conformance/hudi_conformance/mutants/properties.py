"""Rules of the properties and of table versions, broken."""

from collections.abc import Mapping
from typing import Any

from hudi_model.tables import Properties
from hudi_model.versions import OVERLAYS, Overlay

from hudi_conformance.mutants.registry import Function, mutant

_GUESSED = {"hoodie.table.name": "guessed", "hoodie.table.type": "MERGE_ON_READ", "hoodie.table.version": "9"}


@mutant(
    "properties-never-refused",
    "SL-001 PR-002",
    "Missing or unreadable properties are guessed.",
    "configuration.sound_properties",
)
def _properties_never_refused(_: Function) -> Function:
    def guess(main: Properties, backup: Properties) -> Mapping[str, str]:
        found = next((one for one in (main, backup) if isinstance(one, Mapping)), {})
        return {**_GUESSED, **found}

    return guess


@mutant("checksum-not-verified", "PR-003", "The checksum is not looked at.", "configuration.checksum_fault")
def _checksum_not_verified(_: Function) -> Function:
    return lambda _properties: None


@mutant("backup-ignored", "PR-004", "The backup never stands in.", "configuration.sound_properties")
def _backup_ignored(original: Function) -> Function:
    return lambda main, _backup: original(main, None)


@mutant("unknown-version-accepted", "VR-002", "An unknown version is read as the newest.", "versions.overlay")
def _unknown_version_accepted(_: Function) -> Function:
    def newest(version: int) -> Overlay:
        return OVERLAYS.get(version, OVERLAYS[max(OVERLAYS)])

    return newest


@mutant("old-property-names-ignored", "PR-006", "Only new property names are known.", "configuration.property_value")
def _old_property_names_ignored(original: Function) -> Function:
    def new_name_only(properties: Mapping[str, str], name: str) -> Any:
        return original({name: properties[name]} if name in properties else {}, name)

    return new_name_only


@mutant("first-ordering-field-only", "MG-007", "Further ordering fields are ignored.", "configuration.property_names")
def _first_ordering_field_only(original: Function) -> Function:
    def first(properties: Mapping[str, str], name: str) -> tuple[str, ...]:
        names: tuple[str, ...] = original(properties, name)
        return names[:1] if name == "hoodie.table.ordering.fields" else names

    return first
