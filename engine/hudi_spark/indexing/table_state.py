"""What the data table says of its metadata table: the properties that list indexes, and the indexes' definitions."""

from collections.abc import Iterable, Mapping
from typing import Final

from hudi_format.storage import Storage
from hudi_format.table.index_definitions import (
    DEFINITIONS_FILE,
    DEFINITIONS_KEY,
    IndexDefinition,
    parse_index_definitions,
    serialise_index_definitions,
)
from hudi_format.table.properties import serialise_properties
from hudi_format.table.table_properties import (
    BACKUP_FILE,
    PROPERTIES_FILE,
    parse_checked_properties,
    repair_properties,
    with_checksum,
)

from hudi_spark.effects.helper import Effects
from hudi_spark.metadata.table import PARTITIONS_KEY

BUILDING_KEY: Final = f"{PARTITIONS_KEY}.inflight"


def indexes_of(properties: Mapping[str, str], key: str = PARTITIONS_KEY) -> tuple[str, ...]:
    """The indexes that a table's properties list as whole, or as being built.

    Clauses: MT-007.
    """
    return tuple(sorted({part.strip() for part in properties.get(key, "").split(",") if part.strip()}))


def list_indexes(
    effects: Effects, whole: Iterable[str], building: Iterable[str] = (), definitions_path: str | None = None
) -> bool:
    """The data table's properties list these indexes from now on, keys without any empty; whether that is a change.

    Clauses: MT-007, PR-008.
    """
    changes: dict[str, str | None] = {PARTITIONS_KEY: ",".join(sorted(whole)), BUILDING_KEY: ",".join(sorted(building))}
    if definitions_path is not None:
        changes[DEFINITIONS_KEY] = definitions_path
    return update_properties(effects, changes)


def update_properties(effects: Effects, changes: Mapping[str, str | None]) -> bool:
    """Set properties of a table and, where the value is None, remove them; the caller holds the lock.

    Nothing happens, and False comes back, where they are as asked for. An update that stopped is repaired first.

    Clauses: PR-008.
    """
    storage = effects.storage
    if storage.exists(BACKUP_FILE):
        repair_properties(storage)
    old = storage.read(PROPERTIES_FILE)
    before = parse_checked_properties(old, PROPERTIES_FILE)
    after = {key: value for key, value in {**before, **changes}.items() if value is not None}
    if after == before:
        return False
    effects.put_properties(BACKUP_FILE, old)
    effects.put_properties(PROPERTIES_FILE, serialise_properties(with_checksum(after)))
    effects.delete_properties(BACKUP_FILE)
    return True


def read_definitions(storage: Storage, properties: Mapping[str, str]) -> dict[str, IndexDefinition]:
    """The definitions of a table's indexes by name; none where there is no such file.

    Raises:
        FormatError: PROPERTIES_INVALID when the file is none.

    Clauses: IX-001, IX-004.

    """
    path = properties.get(DEFINITIONS_KEY, "").strip() or DEFINITIONS_FILE
    if not storage.exists(path):
        return {}
    return {one.name: one for one in parse_index_definitions(storage.read(path), path)}


def write_definitions(
    effects: Effects, properties: Mapping[str, str], definitions: Mapping[str, IndexDefinition]
) -> str:
    """Write the definitions of a table's indexes; the path, which the properties are to name.

    Each with its version, also in tables of version 8: 1.0.2 passes over it, 1.1.1 fails to write without.

    Clauses: IX-001, IX-004.
    """
    path = properties.get(DEFINITIONS_KEY, "").strip() or DEFINITIONS_FILE
    ordered = [definitions[name] for name in sorted(definitions)]
    effects.put_index_file(path, serialise_index_definitions(ordered))
    return path
