"""The schemas that a table had: from its commits, and from the files that keep them for columns with ids."""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Final

from hudi_format.storage import Storage
from hudi_format.table.internal_schema import (
    LATEST_SCHEMA_KEY,
    InternalSchema,
    parse_internal_schema,
    parse_schema_history,
)

from hudi_spark.schemas.columns import stating_commit
from hudi_spark.schemas.table_columns import ColumnIds
from hudi_spark.state.commits import Commit
from hudi_spark.state.snapshots import Snapshot

SCHEMA_FOLDER: Final = ".hoodie/.schema"
_COMPLETED: Final = ".schemacommit"


def column_ids(storage: Storage, snapshot: Snapshot) -> ColumnIds | None:
    """The schemas of a table whose columns have ids; None where columns are known by their names.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE when one of them does not parse.

    Clauses: DM-003, DM-021.

    """
    newest = stating_commit(snapshot.commits)
    text = None if newest is None else newest.metadata.extra.get(LATEST_SCHEMA_KEY)
    if newest is None or not text:
        return None
    stated = _stated(snapshot.commits)
    kept = {schema.schema_id: schema for schema in _kept(storage, snapshot)}
    kept.update((schema.schema_id, schema) for schema in stated.values())
    current = parse_internal_schema(text, newest.instant.file)
    by_commit = {instant: schema.schema_id for instant, schema in stated.items()}
    return ColumnIds(current, tuple(kept[number] for number in sorted(kept)), by_commit)


def _stated(commits: Iterable[Commit]) -> Mapping[str, InternalSchema]:
    """The schema that each commit says it was written with; many repeat the same text."""
    parsed: dict[str, InternalSchema] = {}
    found: dict[str, InternalSchema] = {}
    for commit in commits:
        text = commit.metadata.extra.get(LATEST_SCHEMA_KEY)
        if text:
            parsed.setdefault(text, parse_internal_schema(text, commit.instant.file))
            found[commit.instant.requested] = parsed[text]
    return found


def _kept(storage: Storage, snapshot: Snapshot) -> tuple[InternalSchema, ...]:
    """The schemas in the newest file of a commit that completed; one that did not is no part of the history.

    Clauses: DM-020, DM-021.
    """
    completed = {one.requested for one in snapshot.timeline.instants if one.is_completed}
    first = min((one.requested for one in snapshot.timeline.instants), default="")
    files = {_instant(status.path): status.path for status in storage.list_files(SCHEMA_FOLDER, recursive=False)}
    valid = [instant for instant in files if instant and (instant in completed or instant < first)]
    if not valid:
        return ()
    path = files[max(valid)]
    schemas = parse_schema_history(storage.read(path), path)
    numbers = {int(instant) for instant in completed}
    return tuple(one for one in schemas if one.schema_id in numbers or one.schema_id < int(first))


def _instant(path: str) -> str:
    """The instant of a completed file of the history, else empty."""
    stem, dot, end = PurePosixPath(path).name.partition(".")
    instant = stem.partition("_")[0]
    return instant if f"{dot}{end}" == _COMPLETED and instant.isdecimal() else ""
