"""What a table says of its columns and of its indexes."""

from typing import Final

from hudi_format.metadata.partitions import Partition, is_expression_index, is_secondary_index

from hudi_spark.checking.stored import TableState
from hudi_spark.checking.violations import Violations
from hudi_spark.indexing.table_state import read_definitions
from hudi_spark.schemas.columns import table_schema
from hudi_spark.state.configuration import PROPERTIES_FILE

_INITIAL_VERSION: Final = "hoodie.table.initial.version"
_FIRST_WITH_TYPES: Final = 9


def check_definition(state: TableState, violations: Violations) -> None:
    """Key, partition and ordering fields are columns, each column is there once, and indexes have versions that exist.

    Clauses: IX-004, OW-032.
    """
    _check_fields(state, violations)
    _check_indexes(state, violations)


def _check_fields(state: TableState, violations: Violations) -> None:
    """Clauses: OW-032."""
    configuration, names = state.configuration, list[str]()
    # A schema that does not parse is told where it stands.
    with Violations().noting():
        names = table_schema(state.commits, configuration).names
    for name in sorted({one for one in names if names.count(one) > 1}):
        violations.error("OW-032", PROPERTIES_FILE, f"two columns have the name {name}")
    placed = () if configuration.partitions.columns_dropped else configuration.partition_by
    for field in (*configuration.record_key, *placed, *configuration.ordering):
        column = field.partition(":")[0].partition(".")[0].strip()
        if names and column not in names:
            violations.error("OW-032", PROPERTIES_FILE, f"{column} is to be a field of the table, and is no column")


def _check_indexes(state: TableState, violations: Violations) -> None:
    """Clauses: IX-004."""
    configuration = state.configuration
    with Violations().noting():
        for name, one in read_definitions(state.storage, configuration.properties).items():
            typed = name in {Partition.COLUMN_STATS, Partition.PARTITION_STATS}
            typed = typed or is_expression_index(name) or is_secondary_index(name)
            is_new = configuration.properties.get(_INITIAL_VERSION, "").strip() == str(_FIRST_WITH_TYPES)
            if configuration.version < _FIRST_WITH_TYPES or not typed:
                wanted = {"V1"}
            else:
                wanted = {"V2"} if is_new else {"V1", "V2"}
            if one.version not in wanted:
                violations.error("IX-004", name, f"version {one.version} is none of such an index in this table")
