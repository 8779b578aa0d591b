"""The table's properties and what an absent one means; and what each table version changes of the rules."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from hudi_model.files import Damaged
from hudi_model.rejection import Reason, Rejection, Unsupported


@dataclass(frozen=True, slots=True)
class Overlay:
    """The rules that depend on the table version."""

    version: int
    timeline_layout: int
    """1: files beside `hoodie.properties`. [Modified in v8] 2: files in a folder of their own."""
    logs_name_their_slice: bool
    """True: a log's name holds the base instant of its slice. [Modified in v8] False: its own commit's instant."""
    blocks_decide_commit: bool
    """True: names do not tell the commit, only blocks do. [Modified in v8] False: names do."""
    mode_is_persisted: bool
    """[New in v8] The merge mode stands in the properties; before, the payload class decides."""
    native_logs: bool = False
    """[Draft, v10] A log is a whole file of the format of base files, in place of blocks."""


V6 = Overlay(6, 1, logs_name_their_slice=True, blocks_decide_commit=True, mode_is_persisted=False)
V8 = Overlay(8, 2, logs_name_their_slice=False, blocks_decide_commit=False, mode_is_persisted=True)

DRAFT = 10
"""The version that no release writes: its rules are those of 9, but for what drafts say."""

OVERLAYS = {
    4: replace(V6, version=4),
    5: replace(V6, version=5),
    6: V6,
    8: V8,
    9: replace(V8, version=9),
    DRAFT: replace(V8, version=DRAFT, native_logs=True),
}
"""Versions 4 and 5 are read as 6 is: they differ in what writers keep beside the timeline."""

NO_RULES = {7: "no release left a table of it: it stands between two steps of an upgrade"}
"""Why other versions have no rules; the older ones are those before the first text, 1 to 3."""


def is_read(version: int, reader: int = DRAFT) -> bool:
    """Whether a reader that was made for a version reads a table of another: it does if the table's is no newer.

    Clauses: VR-001, VR-003, VR-020, VR-021.
    """
    return version in OVERLAYS and version <= reader


def overlay(version: int) -> Overlay:
    """The rules of a table version.

    Raises: TABLE_VERSION_UNSUPPORTED.

    Clauses: VR-001, VR-002, VR-020.
    """
    if is_read(version):
        return OVERLAYS[version]
    reason = NO_RULES.get(version, "newer than any known" if version > max(OVERLAYS) else "older than the first text")
    detail = f"table version {version} is none of {sorted(OVERLAYS)}: {reason}"
    raise Rejection(Reason.TABLE_VERSION_UNSUPPORTED, "VR-002", "hoodie.properties", detail)


Properties: TypeAlias = Mapping[str, str] | Damaged | None
"""None stands for an absent file."""

REQUIRED = ("hoodie.table.name", "hoodie.table.type", "hoodie.table.version")
TABLE_TYPES = ("COPY_ON_WRITE", "MERGE_ON_READ")
POPULATED, META_FIELDS_MODE = "hoodie.populate.meta.fields", "hoodie.meta.fields.mode"

DEFAULTS = {
    "hoodie.database.name": "",
    "hoodie.table.base.file.format": "PARQUET",
    "hoodie.populate.meta.fields": "true",
    "hoodie.table.cdc.enabled": "false",
    "hoodie.table.timeline.timezone": "LOCAL",
    "hoodie.timeline.path": "timeline",
    "hoodie.timeline.history.path": "history",
    "hoodie.datasource.write.drop.partition.columns": "false",
    "hoodie.datasource.write.hive_style_partitioning": "false",
    "hoodie.datasource.write.partitionpath.urlencode": "false",
}
"""What a property means where the file leaves it out."""

OLDER_NAMES = {"hoodie.table.ordering.fields": ("hoodie.table.precombine.field",)}
"""Where the new name is absent, an old one is read."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """A table's settings as a reader needs them, defaults and old names resolved."""

    name: str
    table_type: str
    rules: Overlay
    timeline_layout: int
    record_key: tuple[str, ...]
    partition_by: tuple[str, ...]
    ordering: tuple[str, ...]
    properties: Mapping[str, str]

    @property
    def merge_on_read(self) -> bool:
        """Whether slices may hold log files."""
        return self.table_type == "MERGE_ON_READ"


def property_value(properties: Mapping[str, str], name: str) -> str:
    """A property by its current name, else by an older one, else its default, else the empty text.

    Clauses: PR-005, PR-006.
    """
    for candidate in (name, *OLDER_NAMES.get(name, ())):
        if properties.get(candidate):
            return properties[candidate]
    return DEFAULTS.get(name, "")


def property_names(properties: Mapping[str, str], name: str) -> tuple[str, ...]:
    """A property that lists columns; a key generator's mark after a colon is no part of the column.

    Clauses: PR-006, PR-021.
    """
    parts = (part.strip().partition(":")[0] for part in property_value(properties, name).split(","))
    return tuple(part for part in parts if part)


def is_true(properties: Mapping[str, str], name: str) -> bool:
    """A property that is a switch."""
    return property_value(properties, name).lower() == "true"


def properties_fault(properties: Properties) -> Rejection | None:
    """What keeps a properties file from describing a table, or None.

    Clauses: PR-002, PR-003.
    """
    where = "hoodie.properties"
    if properties is None:
        return Rejection(Reason.NOT_A_TABLE, "SL-001", where, "there is no such file")
    if isinstance(properties, Damaged):
        return properties.refusal()
    missing = [name for name in REQUIRED if not properties.get(name)]
    kind, version = properties.get("hoodie.table.type"), properties.get("hoodie.table.version", "")
    faults = {
        f"missing {', '.join(missing)}": bool(missing),
        f"unknown table type {kind!r}": kind not in TABLE_TYPES,
        f"version {version!r} is no number": not (version.isascii() and version.isdigit() and len(version) < 10),
    }
    for detail in (detail for detail, is_wrong in faults.items() if is_wrong):
        return Rejection(Reason.PROPERTIES_INVALID, "PR-002", where, detail)
    return checksum_fault(properties)


def checksum_fault(properties: Mapping[str, str]) -> Rejection | None:
    """Whether the stored checksum belongs to another database and table name; an absent one is accepted.

    Clauses: PR-003, PR-020.
    """
    stored = properties.get("hoodie.table.checksum")
    guarded = f"{property_value(properties, 'hoodie.database.name')}.{properties['hoodie.table.name']}"
    computed = str(zlib.crc32(guarded.encode()))
    if stored is None or stored == computed:
        return None
    detail = f"checksum {stored} is not {computed}, that of {guarded!r}"
    return Rejection(Reason.CHECKSUM_MISMATCH, "PR-003", "hoodie.properties", detail)


def valid_properties(main: Properties, backup: Properties) -> Mapping[str, str]:
    """The main file's properties; those of the backup where the main file is missing or broken.

    Raises: NOT_A_TABLE, PROPERTIES_INVALID, CHECKSUM_MISMATCH.

    Clauses: PR-002, PR-004.
    """
    for one in (main, backup):
        if isinstance(one, Mapping) and properties_fault(one) is None:
            return one
    fault = properties_fault(backup if main is None else main)
    raise fault or Rejection(Reason.NOT_A_TABLE, "SL-001", "hoodie.properties", "there is no such file")


def configure(properties: Mapping[str, str]) -> Configuration:
    """The settings that sound properties amount to.

    Raises: TABLE_VERSION_UNSUPPORTED, PROPERTIES_INVALID.

    Clauses: PR-005, PR-006, PR-007, PR-022.
    """
    properties = with_meta_fields(properties)
    return Configuration(
        name=properties["hoodie.table.name"],
        table_type=properties["hoodie.table.type"],
        rules=overlay(int(properties["hoodie.table.version"])),
        timeline_layout=timeline_layout(properties),
        record_key=property_names(properties, "hoodie.table.recordkey.fields"),
        partition_by=property_names(properties, "hoodie.table.partition.fields"),
        ordering=property_names(properties, "hoodie.table.ordering.fields"),
        properties=properties,
    )


def with_meta_fields(properties: Mapping[str, str]) -> Mapping[str, str]:
    """[Draft, v10] The switch of meta fields as their mode says; where no mode is stated the switch itself decides.

    Raises: unsupported `meta-fields-mode` for a mode that keeps some of them.

    Clauses: NL-015.
    """
    mode = properties.get(META_FIELDS_MODE, "") if int(properties["hoodie.table.version"]) >= DRAFT else ""
    if mode not in ("", "ALL", "NONE"):
        raise Unsupported("meta-fields-mode")
    return {**properties, POPULATED: str(mode == "ALL").lower()} if mode else properties


def mode_of_meta_fields(stated: Mapping[str, str]) -> dict[str, str]:
    """[Draft, v10] Which meta fields a table keeps, all or none, by the switch of earlier versions.

    Clauses: NL-015, NL-020.
    """
    return {META_FIELDS_MODE: "ALL" if is_true(stated, POPULATED) else "NONE"}


def timeline_layout(properties: Mapping[str, str]) -> int:
    """The timeline layout, 1 or 2: as the properties say, else as the table version has it.

    Raises: PROPERTIES_INVALID for any other layout.

    Clauses: PR-007.
    """
    stated = properties.get("hoodie.timeline.layout.version", "")
    if stated not in ("", "1", "2"):
        detail = f"timeline layout {stated!r} is none of 1, 2"
        raise Rejection(Reason.PROPERTIES_INVALID, "PR-007", "hoodie.properties", detail)
    return int(stated) if stated else overlay(int(properties["hoodie.table.version"])).timeline_layout
