"""Which index of a table answers for which function of which column.

Clauses: IX-001, IX-040, IX-041.
"""

from collections.abc import Mapping
from typing import Any, Final

from hudi_adapter.filters import Column
from hudi_format.errors import FormatError
from hudi_format.storage import Storage
from hudi_format.table.index_definitions import (
    DEFINITIONS_FILE,
    DEFINITIONS_KEY,
    IndexDefinition,
    parse_index_definitions,
)

from hudi_spark.expressions.date_patterns import DEFAULT_PATTERN
from hudi_spark.expressions.functions import FUNCTIONS
from hudi_spark.pruning.situation import Situation, columns_in
from hudi_spark.state.configuration import TableConfiguration

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
    for column in columns_in(situation.asked.condition):
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
