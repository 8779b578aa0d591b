"""Which indexes a metadata table has, and what it takes to read each of them."""

from collections.abc import Iterator, Mapping

from hudi_format.errors import FormatError
from hudi_format.metadata.partitions import Partition, is_expression_index, is_secondary_index
from hudi_format.storage import Storage
from hudi_format.table import index_definitions
from hudi_format.table.index_definitions import DEFINITIONS_FILE, DEFINITIONS_KEY, parse_index_definitions
from hudi_model.actions import IndexDefinition
from hudi_model.configuration import valid_properties
from hudi_model.files import META_FIELDS
from hudi_model.filters import FUNCTIONS
from hudi_model.indexes import filter_of_file
from hudi_model.metadata import view_of
from hudi_model.rejection import Rejection, Unsupported
from hudi_model.tables import Table

from hudi_conformance.bridge.metadata_entries import IndexForm
from hudi_conformance.bridge.metadata_loading import indexed_columns, listed_files
from hudi_conformance.bridge.metadata_names import hashed_names, schemas_of

_FIXED = frozenset(Partition)
_EXPRESSIONS = ("column_stats", "bloom_filters")
_PARTITIONED = "isPartitioned"
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("date_format", "from_unixtime", "unix_timestamp", "to_date", "to_timestamp"), ("format",)),
    **dict.fromkeys(("date_add", "date_sub"), ("days",)),
    **dict.fromkeys(("trim", "ltrim", "rtrim"), ("trimString",)),
    "substring": ("pos", "len"),
    "regexp_replace": ("pattern", "replacement"),
    "regexp_extract": ("pattern", "idx"),
}
"""The options of a definition that hold a function's arguments, in their order."""
_NUMBERS = frozenset({"days", "pos", "len", "idx"})


def index_forms(
    storage: Storage, inner: Storage, table: Table
) -> tuple[dict[str, IndexForm], tuple[IndexDefinition, ...]]:
    """The forms of the indexes in a metadata table's folder, and their definitions; unknown ones are passed over."""
    defined = {one.name: one for one in _definitions(storage, table)}
    folders = sorted(name.rpartition("/")[2] for name in inner.list_folders())
    if Partition.COLUMN_STATS in folders and Partition.COLUMN_STATS not in defined:
        defined |= {str(Partition.COLUMN_STATS): _undefined_statistics(inner)}
    indexes = [one for name in folders if (one := _index(name, defined))]
    columns = (column for one in defined.values() for column in one.source_fields)
    names = hashed_names(table, listed_files(inner), columns)
    types = {field.name: field.type for schema in schemas_of(table) for field in schema.fields}
    types |= dict.fromkeys(META_FIELDS, "string")
    forms = {
        one.name: IndexForm(one.name, names, types, one.function, one.is_partitioned, _values(one, table))
        for one in indexes
    }
    return forms, tuple(indexes)


def _definitions(storage: Storage, table: Table) -> tuple[index_definitions.IndexDefinition, ...]:
    try:
        path = valid_properties(table.properties, table.backup_properties).get(DEFINITIONS_KEY, "") or DEFINITIONS_FILE
        return parse_index_definitions(storage.read(path), path)
    except (FormatError, Rejection, FileNotFoundError, IsADirectoryError):
        return ()


def _index(name: str, defined: Mapping[str, index_definitions.IndexDefinition]) -> IndexDefinition | None:
    """The model's definition of an index; None for one that it does not know, or whose definition is gone."""
    known = defined.get(Partition.COLUMN_STATS if name == Partition.PARTITION_STATS else name)
    sources = known.source_fields if known else ()
    if name in _FIXED:
        is_partitioned = (
            name == Partition.RECORD_INDEX and known is not None and known.options.get(_PARTITIONED) == "true"
        )
        sources = () if name in (Partition.BLOOM_FILTERS, Partition.RECORD_INDEX, Partition.FILES) else sources
        return IndexDefinition(name, name, "identity", sources, is_partitioned)
    if known and is_secondary_index(name):
        return IndexDefinition(name, "secondary_index", "identity", sources)
    function = (known.function or "identity").lower() if known else ""
    if known and is_expression_index(name) and known.kind in _EXPRESSIONS and function in FUNCTIONS:
        return IndexDefinition(name, known.kind, function, sources, arguments=arguments_of(function, known.options))
    return None


def arguments_of(function: str, options: Mapping[str, str]) -> tuple[str | int, ...]:
    """What a definition's options hand to its function beside the column."""
    given = ((name, options[name]) for name in _OPTIONS.get(function, ()) if name in options)
    return tuple(int(text) if name in _NUMBERS else text for name, text in given)


def options_of(index: IndexDefinition) -> Mapping[str, str]:
    """The options that hold the arguments of an index's function."""
    return dict(zip(_OPTIONS.get(index.function, ()), map(str, index.arguments), strict=False))


def _undefined_statistics(inner: Storage) -> index_definitions.IndexDefinition:
    """What a definition would say where a version has none: the columns that there are statistics of."""
    name = str(Partition.COLUMN_STATS)
    return index_definitions.IndexDefinition(name, name, name, indexed_columns(inner), {})


def _values(index: IndexDefinition, table: Table) -> dict[str, list[str]] | None:
    """What stands in each base file of a table that an index of bloom filters is asked for; None for other indexes."""
    if index.kind != "bloom_filters":
        return None
    try:
        return dict(_held(index, table))
    except (Rejection, Unsupported):
        return None


def _held(index: IndexDefinition, table: Table) -> Iterator[tuple[str, list[str]]]:
    view = view_of(table)
    for file in table.base_files:
        yield from filter_of_file(index, view, file)
