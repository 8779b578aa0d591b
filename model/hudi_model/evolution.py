"""What becomes of a table's columns: by the rows of a write, and by an alteration, which brings none."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count

import hudi_model.effects as durable
from hudi_model.actions import Action, CommitMetadata, State
from hudi_model.configuration import Configuration
from hudi_model.effects import Effects, entry
from hudi_model.files import HIDDEN, META_FIELDS, Field, Schema, SchemaVersion
from hudi_model.metadata import with_metadata
from hudi_model.rejection import Reason, Rejection, Unsupported
from hudi_model.schemas import table_schema, versions_by_id, with_ids
from hudi_model.tables import RELEASED, SchemaFile, Table, View, open_table, view_at
from hudi_model.time import InstantTime

WIDENS = {"int32": ("int64", "float64", "string"), "int64": ("string",), "float32": ("float64", "string")} | {
    "float64": ("string",)
}
"""What a column may become without a change of its values."""

WIDTHS = ("int32", "int64", "float32", "float64")

NUMBERS = ("int32", "int64", "float32", "float64", "string", "decimal")
BECOMES = {one: NUMBERS[place + 1 :] for place, one in enumerate(NUMBERS[:4])} | {
    **dict.fromkeys(("decimal", "date", "binary"), ("string",)),
    "string": ("date", "decimal", "binary"),
}
"""What types a column may be given by an alteration; a decimal also one of more digits on both sides of the point."""


def written_schema(configuration: Configuration, own: Schema, given: Schema, *, evolves: bool, fills: bool) -> Schema:
    """The table's columns after a write of rows with the given ones: in their order, then the new ones.

    Raises: SCHEMA_INCOMPATIBLE for a column of another type, unless evolution is requested and no value changes, and
    for one that is not given, unless nulls are to fill it; as `taken`.

    Clauses: DM-003, DM-005.
    """
    brought = {one.name: one for one in given.fields if one.name not in HIDDEN}
    known = {one.name for one in own.fields}
    columns = (written_field(configuration, one, brought.get(one.name), evolves, fills) for one in own.fields)
    return Schema((*columns, *(one for one in brought.values() if one.name not in known)))


def written_field(configuration: Configuration, own: Field, given: Field | None, evolves: bool, fills: bool) -> Field:
    """A column of the table after a write.

    Raises: SCHEMA_INCOMPATIBLE; KEY_MISSING for one that keys are made of; unsupported `schema-evolution`.

    Clauses: DM-002, DM-005.
    """
    keyed = {one.partition(".")[0] for one in (*configuration.record_key, *configuration.partition_by)}
    if given is None and own.name in keyed:
        raise Rejection(Reason.KEY_MISSING, "DM-002", own.name, "the rows have no such column")
    if fills if given is None else taken(configuration, own, given):
        return own
    if given and evolves and not is_fixed(configuration, own) and given.type in WIDENS.get(own.type, ()):
        return given
    raise Rejection(Reason.SCHEMA_INCOMPATIBLE, "DM-005", own.name, f"is {own.type}, not {given and given.type}")


def taken(configuration: Configuration, own: Field, given: Field) -> bool:
    """Whether the column's type holds the values as they are: of the same family, or of narrower numbers; so its parts.

    Raises: unsupported `schema-evolution` for numbers that become text, and for decimals of other digits.

    Clauses: DM-005.
    """
    if own.parts and given.parts and own.type.partition("<")[0] == given.type.partition("<")[0]:
        known = {one.name: one for one in own.parts}
        return all(one.name in known and taken(configuration, known[one.name], one) for one in given.parts)
    if own.type in WIDTHS and given.type in WIDTHS:
        return WIDTHS.index(given.type) <= WIDTHS.index(own.type)
    if own.type == "string" and given.type in WIDTHS and own.name not in configuration.ordering:
        raise Unsupported("schema-evolution")
    if own.type != given.type and family_of(own) == family_of(given) == "decimal":
        raise Unsupported("schema-evolution")
    return family_of(own) == family_of(given)


def is_fixed(configuration: Configuration, column: Field) -> bool:
    """Whether keys, partition paths or the order of versions depend on a column.

    Clauses: DM-005.
    """
    return column.name in (*configuration.record_key, *configuration.partition_by, *configuration.ordering)


def family_of(column: Field) -> str:
    """A type without its digits and without its unit.

    Clauses: DM-005.
    """
    return column.type.partition("(")[0].removesuffix("-millis").removesuffix("-micros")


def continued(view: View, schema: Schema, requested: InstantTime) -> SchemaVersion | None:
    """The columns after a write where these have ids: a new version only with a new column or type.

    Clauses: DM-020, DM-021.
    """
    known, own = versions_by_id(view.table), table_schema(view)
    if not known or schema == own:
        return known[-1] if known else None
    ids = count(known[-1].highest + 1)
    return SchemaVersion(int(requested), with_new_ids(with_ids(schema, own), ids), next(ids))


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """What becomes of the column of a path: add, drop, rename, type, move; `place`: first, after or before one."""

    kind: str
    path: tuple[str, ...]
    column: Field | None = None
    to: str = ""
    place: tuple[str, str] = ("", "")


def alter(table: Table, changes: Iterable[ColumnChange], requested: InstantTime, completed: InstantTime) -> Effects:
    """A commit of other columns and of no row: files keep what they hold, and are read by the columns' ids.

    Raises: SCHEMA_INCOMPATIBLE.

    Clauses: DM-020, DM-021.
    """
    view = view_at(open_table(table), None, RELEASED)
    versions = altered(view, changes, requested)
    action = Action.DELTA_COMMIT if view.configuration.merge_on_read else Action.COMMIT
    metadata = CommitMetadata("ALTER_SCHEMA", False, (), frozenset(), versions[-1].schema, {}, versions[-1])
    states = (entry(table, requested, action, one) for one in (State.REQUESTED, State.INFLIGHT))
    done = entry(table, requested, action, State.COMPLETED, metadata, completed)
    return (*states, durable.PutSchemaFile(SchemaFile(requested, versions)), *with_metadata(table, (done,)))


def altered(view: View, changes: Iterable[ColumnChange], requested: InstantTime) -> tuple[SchemaVersion, ...]:
    """All versions of a table's columns after changes, the new one last; the first has ids after the meta fields'.

    Raises: SCHEMA_INCOMPATIBLE.

    Clauses: DM-020, DM-021.
    """
    own, known = table_schema(view), versions_by_id(view.table)
    if not known:
        ids = count(len(META_FIELDS))
        own = with_new_ids(own, ids)
        known = (SchemaVersion(0, own, next(ids)),)
    ids = count(known[-1].highest + 1)
    for one in changes:
        refuse_needed(view, one)
        own = Schema(edited(own.fields, one.path, one, ids))
    if [(one, one.id) for one in own.fields] == [(one, one.id) for one in known[-1].schema.fields]:
        raise Rejection(Reason.SCHEMA_INCOMPATIBLE, "DM-021", "changes", "they change nothing")
    return (*known, SchemaVersion(int(requested), own, next(ids)))


def with_new_ids(schema: Schema, ids: Iterator[int]) -> Schema:
    """Columns of which those without an id get the next; keys of a map have one, too.

    Clauses: DM-021.
    """
    fields = []
    for field in schema.fields:
        own = next(ids) if field.id is None else field.id
        if field.id is None and field.type.startswith("map<"):
            next(ids)
        fields.append(replace(field, id=own, parts=with_new_ids(Schema(field.parts), ids).fields))
    return Schema(tuple(fields))


def refuse_needed(view: View, change: ColumnChange) -> None:
    """Nothing, unless what keys, partition paths or the order of versions are made of would go or become text.

    Columns of secondary and expression indexes keep their names, those of secondary ones their types.

    Raises: SCHEMA_INCOMPATIBLE.

    Clauses: DM-021.
    """
    name, kind, configuration = ".".join(change.path), change.column and change.column.type, view.configuration
    needed = (*configuration.record_key, *configuration.partition_by, *configuration.ordering)
    metadata, goes = view.table.state.metadata, change.kind in {"drop", "rename"}
    changes = goes or (change.kind == "type" and kind not in {"int64", "float64"})
    if changes and any(f"{one}.".startswith(f"{name}.") for one in needed):
        raise unfit(change, "the table needs it as it is")
    for index in metadata.indexes if metadata else ():
        changes = goes or (change.kind == "type" and index.kind == "secondary_index")
        if changes and "_index_" in index.name and any(f"{one}.".startswith(f"{name}.") for one in index.sources):
            raise unfit(change, f"{index.name} is of it")


def unfit(change: ColumnChange, why: str) -> Rejection:
    """What a change is refused with that cannot be made."""
    return Rejection(Reason.SCHEMA_INCOMPATIBLE, "DM-021", ".".join(change.path), f"{change.kind}: {why}")


def edited(
    fields: tuple[Field, ...], path: tuple[str, ...], change: ColumnChange, ids: Iterator[int]
) -> tuple[Field, ...]:
    """Columns, or parts of one, after a change of one of them: it keeps its id, and a new one has an id of its own.

    Raises: SCHEMA_INCOMPATIBLE for a column that is not there, or is there already, and for values that do not fit.

    Clauses: DM-021.
    """
    names, taken = [one.name for one in fields], {one.name.casefold() for one in fields}
    place = names.index(path[0]) if path[0] in names else -1
    if place < 0 and (len(path) > 1 or change.kind != "add"):
        raise unfit(change, f"there is no {path[0]!r}")
    if len(path) > 1:
        parts = edited(fields[place].parts, path[1:], change, ids)
        return (*fields[:place], with_parts(fields[place], parts, change), *fields[place + 1 :])
    others = fields[:place] + fields[place + 1 :] if place >= 0 else fields
    match change:
        case ColumnChange("drop") if others:
            return others
        case ColumnChange("add", column=Field() as column) if path[0].casefold() not in taken:
            return placed(others, with_new_ids(Schema((column,)), ids).fields[0], change)
        case ColumnChange("move"):
            return placed(others, fields[place], change)
        case ColumnChange("rename", to=name) if name.casefold() not in taken:
            return (*fields[:place], replace(fields[place], name=name), *fields[place + 1 :])
        case ColumnChange("type", column=Field() as column) if may_become(fields[place], column):
            return (*fields[:place], replace(fields[place], type=column.type), *fields[place + 1 :])
    raise unfit(change, f"of {names}")


def placed(others: tuple[Field, ...], column: Field, change: ColumnChange) -> tuple[Field, ...]:
    """A column among its siblings: first, or beside one of them; last where nothing says where.

    Raises: SCHEMA_INCOMPATIBLE.

    Clauses: DM-021.
    """
    beside = {("before", one.name): at for at, one in enumerate(others)}
    beside |= {("after", one.name): at + 1 for at, one in enumerate(others)}
    at = beside.get(change.place, {"first": 0, "": len(others)}.get(change.place[0]))
    if at is None:
        raise unfit(change, f"there is no {change.place[1]!r}")
    return (*others[:at], column, *others[at:])


def with_parts(column: Field, parts: tuple[Field, ...], change: ColumnChange) -> Field:
    """A struct with other fields, a list or a map with another kind of value.

    Raises: SCHEMA_INCOMPATIBLE where the one part of a list or a map would go or be joined.

    Clauses: DM-021.
    """
    kind = column.type.partition("<")[0]
    if kind != "struct" and [one.name for one in parts] != [one.name for one in column.parts]:
        raise unfit(change, f"{column.name!r} is a {kind}")
    inner = ",".join(f"{one.name}:{one.type}" if kind == "struct" else one.type for one in parts)
    return replace(column, type=f"{kind}<{'string,' * (kind == 'map')}{inner}>", parts=parts)


def may_become(own: Field, wanted: Field) -> bool:
    """Whether a column may be given a type.

    Clauses: DM-021.
    """
    old, new = (one.type.partition("(")[0] for one in (own, wanted))
    if old == new == "decimal":
        digits = [[int(one) for one in kind.type[8:-1].split(",")] for kind in (own, wanted)]
        return digits[0][1] <= digits[1][1] and digits[0][0] - digits[0][1] <= digits[1][0] - digits[1][1]
    return own.type == wanted.type or new in BECOMES.get(old, ())
