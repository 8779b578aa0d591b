"""What properties and definitions of indexes say, against the columns and the version of the table."""

from collections.abc import Iterator

from hudi_model.configuration import is_true
from hudi_model.origins import DROPPED
from hudi_model.rejection import Rejection, Unsupported
from hudi_model.schemas import table_schema
from hudi_model.tables import Evidence, View

from hudi_model_tools.checks.finding import Violation, error
from hudi_model_tools.checks.properties import PROPERTIES

TYPED = 9
WITH_TYPES = ("column_stats", "partition_stats", "expr_index_", "secondary_index_")
"""[New in v9] The indexes whose statistics say the type of their values, by how their names begin."""


def definition_violations(view: View, evidence: Evidence) -> Iterator[Violation]:
    """Fields that are no columns, columns that are there twice, and indexes of another version.

    Clauses: IX-004, OW-032.
    """
    yield from field_violations(view)
    for name, version in sorted(evidence.index_versions.items()):
        if version not in versions_of(name, view, evidence):
            yield error("IX-004", name, f"the index has version {version}")


def field_violations(view: View) -> Iterator[Violation]:
    """Key, partition and ordering fields that are none of the table's columns, and columns of one name.

    Clauses: OW-032.
    """
    try:
        columns = [one.name for one in table_schema(view).fields]
    except (Rejection, Unsupported):
        # A schema that does not parse is reported on its own.
        return
    for name in sorted({one for one in columns if columns.count(one) > 1}):
        yield error("OW-032", PROPERTIES, f"two columns are named {name}")
    configuration = view.configuration
    dropped = is_true(configuration.properties, DROPPED)
    partitions = () if dropped else configuration.partition_by
    for field in (*configuration.record_key, *partitions, *configuration.ordering) if columns else ():
        name = field.partition(":")[0].partition(".")[0].strip()
        if name not in columns:
            yield error("OW-032", PROPERTIES, f"the field {name} is no column")


def versions_of(name: str, view: View, evidence: Evidence) -> tuple[str, ...]:
    """The versions that an index may have. [Modified in v9] One that came from version 8 keeps the older.

    Also a table that was made in version 9 may have been in version 8 since: what its statistics state decides.

    Clauses: IX-004.
    """
    if view.configuration.rules.version < TYPED or not name.startswith(WITH_TYPES):
        return ("V1",)
    return ("V2",) if name in evidence.typed_indexes else ("V1", "V2")
