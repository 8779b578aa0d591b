"""The table's columns at the read time, and those of a file: by name, or by ids that columns keep."""

import datetime as dt
from dataclasses import replace

from hudi_model.actions import Instant
from hudi_model.files import HIDDEN, Schema, SchemaVersion, Value, valid_records
from hudi_model.tables import OpenTable, View, visible_commits
from hudi_model.time import InstantTime
from hudi_model.timeline import commit_metadata, completed_data, is_committed

KEEPS_SCHEMA = frozenset({"COMPACT", "LOG_COMPACT", "CLUSTER", "INDEX"})
"""Operations that rewrite rows; the schema they carry is the one they were planned with."""

EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - local timestamps have no zone, and instants get theirs


def table_schema(view: View) -> Schema:
    """The columns of a table at the read time: those of the commit that was requested last of those with a schema.

    As of a time before every commit they are those of today.
    Without any such commit the schema given at creation holds, and without that there are no columns.

    Raises: TIMELINE_FILE_CORRUPT.

    Clauses: DM-003.
    """
    commits = visible_commits(view) or completed_data(view.table.timeline)
    stating = [one for one in commits if commit_metadata(one).schema is not None]
    schema_writes = [one for one in stating if commit_metadata(one).operation not in KEEPS_SCHEMA]
    if stating:
        return schema_of(max(schema_writes or stating, key=lambda one: one.requested))
    created = view.table.state.create_schema
    return without_meta_fields(created) if created else Schema(())


def schema_of(commit: Instant) -> Schema:
    """The columns that a commit states, with their ids where it states those.

    Clauses: DM-003, DM-021, MF-002.
    """
    metadata = commit_metadata(commit)
    schema = without_meta_fields(metadata.schema or Schema(()))
    return with_ids(schema, metadata.identified.schema) if metadata.identified else schema


def with_ids(schema: Schema, known: Schema) -> Schema:
    """Columns with the ids of the known ones of the same names, their parts likewise; what is not known has none.

    Clauses: DM-021.
    """
    named, fields = {one.name: one for one in known.fields}, []
    for field in schema.fields:
        same = named.get(field.name)
        parts = with_ids(Schema(field.parts), Schema(same.parts)).fields if same else field.parts
        fields.append(replace(field, id=same.id, parts=parts) if same else field)
    return Schema(tuple(fields))


def versions_by_id(table: OpenTable) -> tuple[SchemaVersion, ...]:
    """Every known version of a table's columns with ids, oldest first: those of commits, and of the newest history.

    What a commit that did not complete left counts nothing.

    Raises: SCHEMA_INCOMPATIBLE.

    Clauses: DM-020, DM-021.
    """
    stated = [one.identified for one in map(commit_metadata, completed_data(table.timeline)) if one.identified]
    if not stated:
        return ()
    files = [one for one in table.state.schema_files if is_committed(table.timeline, one.instant)]
    newest = max(files, key=lambda one: one.instant, default=None)
    every = valid_records(newest.versions if newest else ())
    kept = [one for one in every if is_committed(table.timeline, InstantTime(str(one.number))) or one.number == 0]
    versions = {one.number: one for one in (*kept, *stated)}
    return tuple(versions[number] for number in sorted(versions))


def columns_as_of(table: OpenTable, instant: InstantTime) -> Schema | None:
    """The columns with the ids that they had for the write of an instant; None where columns have no ids.

    They are those that its commit states, or the newest known ones that are not newer; the oldest where none is so old.

    Raises: SCHEMA_INCOMPATIBLE.

    Clauses: DM-021.
    """
    versions = versions_by_id(table)
    commits = (one for one in completed_data(table.timeline) if one.requested == instant)
    stated = [one.identified for one in map(commit_metadata, commits) if one.identified]
    older = [one for one in versions if one.number <= int(instant)]
    return (stated or older or versions[:1])[-1].schema if versions else None


def stored_columns(table: OpenTable, own: Schema | None, instant: InstantTime) -> Schema | None:
    """The columns of a file or a block of an instant, with the ids that they had then.

    Raises: SCHEMA_INCOMPATIBLE.

    Clauses: DM-021.
    """
    then = columns_as_of(table, instant)
    return with_ids(own, then) if own and then else own or then


def without_meta_fields(schema: Schema) -> Schema:
    """A schema's own columns.

    Clauses: MF-001, MF-002.
    """
    return Schema(tuple(field for field in schema.fields if field.name not in HIDDEN))


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
    return moment if kind.startswith("local-") else moment.replace(tzinfo=dt.timezone.utc)
