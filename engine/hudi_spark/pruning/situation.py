"""What all means of pruning look at: the table's state, the filter, indexes, and what may be trusted.

Clauses: IX-001, IX-040, IX-041, IX-052, IX-053.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
from hudi_format.errors import FormatError
from hudi_format.names import BaseFileName, parse_data_file_name
from hudi_format.schemas import META_FIELDS
from hudi_format.storage import Storage
from hudi_format.table.index_definitions import (
    DEFINITIONS_FILE,
    DEFINITIONS_KEY,
    IndexDefinition,
    parse_index_definitions,
)

from hudi_spark.errors import UnsupportedFeature
from hudi_spark.filters import (
    DEFAULT_PATTERN,
    FUNCTIONS,
    And,
    Column,
    Comparison,
    Filter,
    Not,
    Or,
    apply,
    function_of,
    plain_values,
    scalar_of,
)
from hudi_spark.pruning.facts import UNKNOWN, Facts
from hudi_spark.schema import Origins
from hudi_spark.table_state import FileKey, FileSlice, MetadataTable, Snapshot, TableConfiguration

Source = Callable[[FileSlice, Column], Facts]
"""What one means knows of a column, or of a function of it, in the rows of a slice."""

_EQUALITIES: Final = ("=", "!=", "in")
_UTC = frozenset({"UTC", "GMT", "Z", "Etc/UTC", "+00:00"})


@dataclass(frozen=True, slots=True)
class PruningQuery:
    """A query as pruning sees it.

    `latest`: it reads the newest state, logs and all. `merges_own`: merging may make values that no file has.
    `zone`: the time zone in which the filter's functions are evaluated. `unmerged`: every version of a row is read.
    """

    condition: Filter
    schema: pa.Schema
    configs: Mapping[str, str]
    latest: bool
    merges_own: bool
    zone: str = "UTC"
    unmerged: bool = False
    _known: dict[int, Sequence[Any]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def values_of(self, one: Comparison) -> Sequence[Any]:
        """The values that a comparison of the filter compares with, as Python has them: several for a list."""
        # The filter holds its comparisons as long as it is looked at.
        if id(one) not in self._known:
            forms = one.value if one.operator == "in" else [one.value]
            plain = plain_values(forms, one.column, self.schema)
            self._known[id(one)] = forms if plain is not None else [self._value(form, one.column) for form in forms]
        return self._known[id(one)]

    def _value(self, form: Any, column: Column) -> Any:
        try:
            return scalar_of(form, column, self.schema).as_py()
        except ValueError:
            # Nanoseconds that Python cannot hold: a value that compares with nothing.
            return float("nan")

    def sought(self, column: Column) -> Sequence[Any]:
        """The values that the filter looks for in a column: those of equalities and of lists, without null."""
        found = [one for one in comparisons(self.condition) if one.column == column and one.operator in _EQUALITIES]
        values = dict.fromkeys(value for one in found for value in self.values_of(one))
        return [value for value in values if value is not None]


@dataclass(frozen=True, slots=True)
class Situation:
    """The table at the time of a query."""

    storage: Storage
    snapshot: Snapshot
    origins: Origins
    query: PruningQuery
    metadata: MetadataTable | None
    definitions: tuple[IndexDefinition, ...]

    def has(self, index: str) -> bool:
        """Whether the metadata table has an index that may be used."""
        return self.metadata is not None and index in self.metadata.partitions()

    def kind(self, column: Column) -> pa.DataType:
        """Type of a filter's column in the table, before its function."""
        return self.query.schema.field(column.name).type

    def is_zoned(self, column: Column) -> bool:
        """Whether a function's results depend on a time zone that is not that of the indexes."""
        kind = self.kind(column)
        free = pa.types.is_date32(kind) or (pa.types.is_timestamp(kind) and kind.tz is None)
        return function_of(column).zoned and not free and self.query.zone not in _UTC

    def speaks_of(self, one: FileSlice, column: Column) -> bool:
        """Whether what indexes say of files in this slice is what a query reads there.

        Clauses: IX-054, DM-021, DM-022.
        """
        configuration = self.snapshot.configuration
        if configuration.bootstrap_base is not None:
            return False
        if column.name in META_FIELDS:
            return configuration.populates_meta_fields and not one.log_files
        if configuration.partitions.columns_dropped and column.name in configuration.partition_by:
            return False
        if one.log_files and (self.query.merges_own or self.origins.ids is not None):
            return False
        return self._is_named(one, column)

    def _is_named(self, one: FileSlice, column: Column) -> bool:
        if self.origins.ids is None or one.base_file is None:
            return True
        name = parse_data_file_name(one.base_file.rpartition("/")[2])
        field = pa.schema([self.query.schema.field(column.name)])
        columns = self.origins.columns(one.partition, self.query.schema)
        return isinstance(name, BaseFileName) and columns.are_named(field, name.instant)


def file_keys(one: FileSlice) -> list[FileKey]:
    """The files of a slice as the metadata table knows them."""
    paths = [*([one.base_file] if one.base_file is not None else []), *one.log_files]
    return [(one.partition, path.rpartition("/")[2]) for path in paths]


def columns_in(condition: Filter) -> tuple[Column, ...]:
    """The columns of a filter with their functions, each once."""
    return tuple(dict.fromkeys(comparison.column for comparison in comparisons(condition)))


def comparisons(condition: Filter) -> Iterable[Comparison]:
    """The comparisons of a filter."""
    match condition:
        case And(parts) | Or(parts):
            for part in parts:
                yield from comparisons(part)
        case Not(part):
            yield from comparisons(part)
        case Comparison():
            yield condition


_EXPRESSION_PREFIX: Final = "expr_index_"
# What stands for an argument that is not given.
_DEFAULTS: Final[Mapping[str, tuple[Any, ...]]] = {
    "from_unixtime": (DEFAULT_PATTERN,),
    "unix_timestamp": (DEFAULT_PATTERN,),
    "substring": (1, 2**31 - 1),
    **dict.fromkeys(("trim", "ltrim", "rtrim"), (" ",)),
    "regexp_extract": ("", 1),
}


def index_definitions(storage: Storage, configuration: TableConfiguration) -> tuple[IndexDefinition, ...]:
    """The definitions of a table's indexes; none where they cannot be read, as without them none is used.

    Clauses: IX-001.
    """
    file = configuration.properties.get(DEFINITIONS_KEY, "").strip() or DEFINITIONS_FILE
    try:
        return parse_index_definitions(storage.read(file), file)
    except (OSError, FormatError, ValueError):
        return ()


def expression_indexes(situation: Situation, kind: str) -> dict[Column, str]:
    """The index of each function in the filter that has one of this kind.

    Clauses: IX-040.
    """
    usable = [one for one in situation.definitions if one.kind == kind and situation.has(one.name)]
    found = {}
    for column in columns_in(situation.query.condition):
        names = [one.name for one in usable if one.name.startswith(_EXPRESSION_PREFIX) and is_of(one, column)]
        if names and not situation.is_zoned(column):
            found[column] = names[0]
    return found


def is_of(definition: IndexDefinition, column: Column) -> bool:
    """Whether an index holds the results of a filter's function of its column, arguments and all.

    Clauses: IX-040, IX-041.
    """
    own = column_of_definition(definition)
    if own is None or (own.name, own.function) != (column.name, column.function):
        return False
    return _whole(own.function, own.arguments) == _whole(column.function, column.arguments)


def column_of_definition(definition: IndexDefinition) -> Column | None:
    """The function of a column that an index is of; None where it is not of one column, or the function unknown.

    Clauses: IX-040, IX-041.
    """
    function = (definition.function or "identity").lower()
    given = _arguments(definition, function) if function in FUNCTIONS else None
    if given is None or len(definition.source_fields) != 1:
        return None
    return Column(definition.source_fields[0], function, given)


def _arguments(definition: IndexDefinition, function: str) -> tuple[Any, ...] | None:
    """The arguments in the definition's options; None where one is no number that should be."""
    known = FUNCTIONS[function]
    texts = [definition.options.get(name) for name in known.options]
    present = [text for text in texts if text is not None]
    if texts[: len(present)] != present:
        return None
    try:
        return tuple(kind(text) for kind, text in zip(known.arguments, present, strict=False))
    except ValueError:
        return None


def _whole(function: str, given: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*given, *_DEFAULTS.get(function, ())[len(given) :])


def text_of(value: Any) -> str | None:
    """How keys of records and of secondary indexes spell a value; None where it is not sure."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def derived_facts(column: Column, facts: Sequence[Facts], situation: Situation) -> list[Facts]:
    """Facts of a function's results, slice by slice, from those of the column itself.

    A function of the bounds bounds its results where it grows with the column, or the column has one value.
    """
    kind = situation.kind(column)
    grows = function_of(column).grows and not pa.types.is_string(kind)
    usable = [one.maximum is not None and (grows or one.is_only(one.maximum)) for one in facts]
    usable = [is_so and one.minimum is not None for is_so, one in zip(usable, facts, strict=True)]
    if situation.is_zoned(column) or not any(usable):
        return [UNKNOWN] * len(facts)
    least = _results(column, [one.minimum if is_so else None for is_so, one in zip(usable, facts, strict=True)], kind)
    greatest = _results(
        column, [one.maximum if is_so else None for is_so, one in zip(usable, facts, strict=True)], kind
    )
    return [_fact(*each) for each in zip(facts, least, greatest, strict=True)]


def _results(column: Column, values: Sequence[Any], kind: pa.DataType) -> Sequence[Any]:
    try:
        return list(apply(column, pa.chunked_array([pa.array(values, kind)])).to_pylist())
    except (UnsupportedFeature, pa.ArrowException, ValueError, OverflowError):
        return [None] * len(values)


def _fact(facts: Facts, least: Any, greatest: Any) -> Facts:
    """A text's function may make null of a value: then nothing is known."""
    if least is None or greatest is None:
        return UNKNOWN
    return Facts(least, greatest, facts.nulls, facts.values, unordered=False)
