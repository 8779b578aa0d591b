"""Rules of the properties and of table versions, broken."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hudi_model.configuration import OVERLAYS, Configuration, Overlay, Properties

from hudi_conformance.corpus.mutants.registry import Function, mutant

_GUESSED = {"hoodie.table.name": "guessed", "hoodie.table.type": "MERGE_ON_READ", "hoodie.table.version": "9"}


@mutant(
    "properties-never-refused",
    "SL-001 PR-002",
    "Missing or unreadable properties are guessed.",
    "configuration.valid_properties",
)
def _properties_never_refused(_: Function) -> Function:
    def guess(main: Properties, backup: Properties) -> Mapping[str, str]:
        found = next((one for one in (main, backup) if isinstance(one, Mapping)), {})
        return {**_GUESSED, **found}

    return guess


@mutant("checksum-not-verified", "PR-003", "The checksum is not looked at.", "configuration.checksum_fault")
def _checksum_not_verified(_: Function) -> Function:
    return lambda _properties: None


@mutant("backup-ignored", "PR-004", "The backup never stands in.", "configuration.valid_properties")
def _backup_ignored(original: Function) -> Function:
    return lambda main, _backup: original(main, None)


@mutant("unknown-version-accepted", "VR-002", "An unknown version is read as the newest.", "configuration.overlay")
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


@mutant(
    "absent-means-nothing", "PR-005", "What the properties leave out has no default.", "configuration.property_value"
)
def _absent_means_nothing(_: Function) -> Function:
    return lambda properties, name: properties.get(name, "")


@mutant(
    "one-timeline-folder",
    "PR-007",
    "The timeline lies in the folder `timeline`, whatever the properties say.",
    "hudi_model.effects.timeline_folder",
)
def _one_timeline_folder(original: Function) -> Function:
    return lambda properties: original({**properties, "hoodie.timeline.path": "timeline"})


@mutant(
    "database-is-no-name",
    "PR-020",
    "A table has the name of its properties, and the database is no part of what distinguishes it from others.",
    "configuration.checksum_fault",
)
def _database_is_no_name(original: Function) -> Function:
    return lambda properties: original({**properties, "hoodie.database.name": ""})


@mutant(
    "key-columns-in-order-of-names",
    "PR-021",
    "Key and partition columns come in the order of their names.",
    "configuration.property_names",
)
def _key_columns_in_order_of_names(original: Function) -> Function:
    return lambda properties, name: tuple(sorted(original(properties, name)))


@mutant(
    "escapes-stay",
    "PR-001",
    "A backslash in the properties is what it is.",
    "hudi_format.table.properties._unescape",
)
def _escapes_stay(_: Function) -> Function:
    return lambda text, _file, _offset: text


@mutant(
    "keys-are-a-setting",
    "PR-022",
    "Key, partition and ordering columns are settings of the reader.",
    "configuration.configure",
)
def _keys_are_a_setting(original: Function) -> Function:
    def bare(properties: Mapping[str, str]) -> Configuration:
        found: Configuration = original(properties)
        return replace(found, record_key=(), partition_by=(), ordering=())

    return bare


@mutant("version-seven-is-read", "VR-021", "Version 7 is read by the rules of version 8.", "configuration.overlay")
def _version_seven_is_read(original: Function) -> Function:
    def newer(version: int) -> Overlay:
        found: Overlay = original(8 if version == 7 else version)
        return found

    return newer
