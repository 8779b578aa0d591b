"""What becomes of the metadata table and its indexes when their table changes its version.

Clauses: VR-011, MT-007, IX-004.
"""

from dataclasses import replace
from typing import Final

from hudi_format.metadata.partitions import Partition
from hudi_format.storage import Storage

from hudi_spark.effects.helper import Effects
from hudi_spark.indexing.layout import MetadataLayout
from hudi_spark.indexing.opening import delete_index
from hudi_spark.indexing.table_state import (
    BUILDING_KEY,
    indexes_of,
    list_indexes,
    read_definitions,
    update_properties,
    write_definitions,
)
from hudi_spark.indexing.updating import drop_metadata_table
from hudi_spark.metadata.subfolder import METADATA_FOLDER
from hudi_spark.state.configuration import PROPERTIES_FILE, load_configuration

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
    if _has_metadata_table(effects.storage):
        update_properties(effects.inside(METADATA_FOLDER), {"hoodie.table.version": str(version)})


def _has_metadata_table(storage: Storage) -> bool:
    return storage.exists(f"{METADATA_FOLDER}/{PROPERTIES_FILE}")


_WHOLE_KEY: Final = "hoodie.table.metadata.partitions"
