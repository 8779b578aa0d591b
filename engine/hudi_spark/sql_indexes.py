"""The statements of indexes, by the grammar that Apache Hudi adds to Spark's: sqlglot has none for them."""

import re
from typing import TYPE_CHECKING, Final

from hudi_format.metadata.partitions import Partition, index_partitions, is_expression_index, is_secondary_index

from hudi_spark.metadata import indexes_of
from hudi_spark.options import refusal
from hudi_spark.procedures import outcome_frame
from hudi_spark.pruning.situation import index_definitions
from hudi_spark.sql_tables import DIALECT, SessionTables, Target, expressions, unsupported
from hudi_spark.table import session_storage
from hudi_spark.table_state import load_configuration

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_INDEXES: Final = "index_name string, col_name string, index_type string"
_RECORD_INDEX: Final = "record_index"
_KINDS: Final = ("secondary_index", "column_stats", "bloom_filters")
_NAME: Final = r"(?:`[^`]+`|[\w.]+)"
_TABLE: Final = r"(?:table\s+)?(?P<table>(?:\w+\.)?(?:`[^`]+`|\w+)|`[^`]+`\.`[^`]+`)"
_FLAGS: Final = re.IGNORECASE | re.DOTALL
_CREATE: Final = re.compile(
    rf"\s*create\s+index\s+(?P<exists>if\s+not\s+exists\s+)?(?P<name>{_NAME})\s+on\s+{_TABLE}"
    r"(?:\s+using\s+(?P<kind>\w+))?\s*\((?P<columns>[^()]*)\)(?:\s*options\s*\((?P<options>.*)\))?\s*;?\s*",
    _FLAGS,
)
_DROP: Final = re.compile(
    rf"\s*drop\s+index\s+(?P<exists>if\s+exists\s+)?(?P<name>{_NAME})\s+on\s+{_TABLE}\s*;?\s*", _FLAGS
)
_SHOW: Final = re.compile(rf"\s*show\s+indexes\s+(?:from|in)\s+{_TABLE}\s*;?\s*", _FLAGS)
_OPTION: Final = re.compile(r"""\s*['"`]?([\w.]+)['"`]?\s*=\s*(?:'([^']*)'|"([^"]*)"|([\w.+-]+))\s*(?:,|$)""")
_USAGE: Final = {
    "CREATE": "CREATE INDEX name ON table (column), or USING column_stats(column) OPTIONS (expr = 'lower')",
    "DROP": "DROP INDEX name ON table",
    "SHOW": "SHOW INDEXES FROM table",
}
_STATEMENT: Final = re.compile(r"\s*(?:(create|drop)\s+index|(show)\s+indexes)\b", re.IGNORECASE)


def index_statement(tables: SessionTables, text: str) -> "DataFrame | None":
    """What a statement of indexes answers; None for any other statement.

    An index of the record key is the table's own, `record_index`; without USING, one of another column is secondary.

    Raises:
        HudiError: CONFIG_INVALID for an index that the table cannot have, has, or does not have.
        UnsupportedFeature: a form that is not carried out.

    Clauses: IG-001, IX-001, IX-002, IX-003.

    """
    found = _STATEMENT.match(text)
    if found is None:
        return None
    verb = (found[1] or found[2]).upper()
    stated = {"CREATE": _CREATE, "DROP": _DROP, "SHOW": _SHOW}[verb].fullmatch(text)
    if stated is None:
        raise unsupported(f"{' '.join(text.split())[:60]!r}", f"write {_USAGE[verb]}")
    target = tables.target(expressions().to_table(stated["table"], dialect=DIALECT))
    if verb == "SHOW":
        return tables.spark.createDataFrame(_listed(tables, target), _INDEXES)
    name = _plain(stated["name"])
    if verb == "DROP":
        if not stated["exists"] or _has(tables, target, name):
            target.table.drop_index(name)
        return outcome_frame(tables.spark, "DROP_INDEX")
    columns = [target.column(_plain(one)) for one in stated["columns"].split(",")]
    kind, options = (stated["kind"] or "").lower(), _options(stated["options"] or "")
    if not kind and columns == list(target.keys) and name != _RECORD_INDEX:
        raise refusal(
            f"{', '.join(columns)} is the record key", f"its index is the table's own: name it {_RECORD_INDEX}"
        )
    if kind and kind not in _KINDS:
        raise unsupported(f"USING {kind}", f"say {', '.join(_KINDS)}")
    if name == _RECORD_INDEX and (kind or columns != list(target.keys)):
        raise refusal(f"{_RECORD_INDEX} is the name of the index of the record key", "take another name")
    if stated["exists"] and _has(tables, target, name):
        return outcome_frame(tables.spark, "CREATE_INDEX")
    function = _function(kind, options)
    made = target.table.create_index(name, columns, kind or "secondary_index", function, options)
    return outcome_frame(tables.spark, "CREATE_INDEX", made)


def _listed(tables: SessionTables, target: Target) -> list[tuple[str, str, str]]:
    """The indexes that the table's properties list, the list of files left out, with their columns and kinds."""
    storage = session_storage(tables.spark, target.named.path, None)
    configuration = load_configuration(storage)
    known = {one.name: one for one in index_definitions(storage, configuration)}
    rows = []
    for index in (one for one in indexes_of(configuration.properties) if one != Partition.FILES):
        own = known.get(index) if is_secondary_index(index) or is_expression_index(index) else None
        rows.append((index, ",".join(own.source_fields) if own else "", own.kind if own else index))
    return rows


def _has(tables: SessionTables, target: Target, name: str) -> bool:
    return any(index in index_partitions(name) for index, _, _ in _listed(tables, target))


def _plain(name: str) -> str:
    return name.strip().replace("`", "")


def _options(text: str) -> dict[str, str]:
    """Options by their names.

    Raises:
        HudiError: CONFIG_INVALID for text that is no list of them, or a name that is given twice.

    """
    found: dict[str, str] = {}
    place = 0
    while text[place:].strip():
        one = _OPTION.match(text, place)
        if one is None:
            raise refusal(f"OPTIONS has {text[place:].strip()[:40]!r}", "give name = 'value', separated by commas")
        if one[1] in found:
            raise refusal(f"the option {one[1]} is given twice", "say it once")
        found[one[1]] = next(value for value in one.groups()[1:] if value is not None)
        place = one.end()
    return found


def _function(kind: str, options: dict[str, str]) -> str:
    """The function of an index of its results, taken out of the options."""
    if "func" in options:
        raise refusal("func is no option of an index", "say expr: it was func before Apache Hudi 1.0")
    if kind in {"column_stats", "bloom_filters"} and "expr" not in options:
        raise refusal(f"an index USING {kind} has no expr", "give OPTIONS (expr = 'identity'), or another function")
    return options.pop("expr", "identity")
