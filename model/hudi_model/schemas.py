"""The table's columns at the read time, and stored rows brought to them."""

import datetime as dt
from collections.abc import Iterable

from hudi_model.actions import Instant
from hudi_model.files import META_FIELDS, Field, Record, Schema, Value
from hudi_model.rejection import Reason, Rejection, Unsupported
from hudi_model.tables import View, visible_commits
from hudi_model.timeline import commit_metadata, completed_data

HIDDEN = frozenset({*META_FIELDS, "_hoodie_operation"})
"""What a stored schema may name and a table's own columns do not have."""

KEEPS_SCHEMA = frozenset({"COMPACT", "LOG_COMPACT", "CLUSTER", "INDEX"})
"""Operations that rewrite rows; the schema they carry is the one they were planned with."""

EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - local timestamps have no zone, and instants get theirs


def table_schema(view: View) -> Schema:
    """The columns of a table at the read time: those of the newest commit that brings a schema.

    As of a time before every commit they are those of today.
    Without any such commit the schema given at creation holds, and without that there are no columns.

    Raises: TIMELINE_FILE_CORRUPT; unsupported `schema-evolution`.

    Clauses: DM-003.
    """
    commits = visible_commits(view) or completed_data(view.table.timeline)
    stating = [one for one in commits if commit_metadata(one).schema is not None]
    schema_writes = [one for one in stating if commit_metadata(one).operation not in KEEPS_SCHEMA]
    for newest in (schema_writes or stating)[-1:]:
        return schema_of(newest)
    created = view.table.state.create_schema
    return without_meta_fields(created) if created else Schema(())


def schema_of(commit: Instant) -> Schema:
    """The columns that a commit states.

    Raises: unsupported `schema-evolution` where columns are known by id.

    Clauses: DM-003, MF-002.
    """
    metadata = commit_metadata(commit)
    if (metadata.extra or {}).get("latest_schema"):
        raise Unsupported("schema-evolution")
    return without_meta_fields(metadata.schema or Schema(()))


def without_meta_fields(schema: Schema) -> Schema:
    """A schema's own columns.

    Clauses: MF-001, MF-002.
    """
    return Schema(tuple(field for field in schema.fields if field.name not in HIDDEN))


def conform(records: Iterable[Record], schema: Schema, where: str) -> tuple[Record, ...]:
    """Stored rows with the table's columns: null for what a file lacks, beside the meta fields as they are.

    Raises: SCHEMA_INCOMPATIBLE.

    Clauses: DM-004.
    """
    return tuple(conform_record(record, schema, where) for record in records)


def conform_record(record: Record, schema: Schema, where: str) -> Record:
    """One stored row with the table's columns.

    Raises: SCHEMA_INCOMPATIBLE.

    Clauses: DM-004.
    """
    values = {name: value for name, value in record.values.items() if name in HIDDEN}
    for field in schema.fields:
        values[field.name] = promote(record.values.get(field.name), field, where)
    return Record(values)


def promote(value: Value, field: Field, where: str) -> Value:
    """A stored value in the table's type: an integer may stand where the table has grown to a float or to text.

    Raises: SCHEMA_INCOMPATIBLE where the table's type cannot hold the value; unsupported `schema-evolution` for a float
    where the table has text, since its digits depend on the width in which it was stored.

    Clauses: DM-004.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and field.type in ("float32", "float64"):
        return float(value)  # type: ignore[arg-type]
    if is_number and field.type == "string":
        if isinstance(value, float):
            raise Unsupported("schema-evolution")
        return str(value)
    wrong = isinstance(value, float) and field.type in ("int32", "int64")
    if wrong or (isinstance(value, str) and field.type in ("int32", "int64", "float32", "float64", "boolean")):
        detail = f"column {field.name!r} holds {value!r}, the table has {field.type}"
        raise Rejection(Reason.SCHEMA_INCOMPATIBLE, "DM-004", where, detail)
    return value


def logical_of_physical(value: Value, kind: str) -> Value:
    """The instant, local timestamp or date for which a plain number stands in a column of this type.

    A number beyond what the type holds, and every other value, stays as it is.

    Clauses: LF-017, MG-006.
    """
    unit = {"date": "days", "millis": "milliseconds", "micros": "microseconds"}.get(kind.rpartition("-")[2])
    if unit is None or kind.startswith("time-") or not isinstance(value, int) or isinstance(value, bool):
        return value
    try:
        moment = EPOCH + dt.timedelta(**{unit: value})
    except OverflowError:
        return value
    if kind == "date":
        return moment.date()
    return moment if kind.startswith("local-") else moment.replace(tzinfo=dt.UTC)
