"""Changes of a table's schema, and the columns with ids that they lead to.

A column inside another is named by its path: `s.a` in a struct, `l.element.a` in a list of structs, `m.value` for the
values of a map. A column keeps its id whatever its name, type or place becomes; a new one gets an id never used before.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum
from typing import Final

from hudi_adapter.reasons import Reason
from hudi_format.schemas import META_FIELDS
from hudi_format.table.internal_schema import (
    ArrayType,
    ColumnType,
    InternalField,
    InternalSchema,
    MapType,
    PrimitiveType,
    RecordType,
)

from hudi_spark.errors import HudiError
from hudi_spark.evolution.reconciling import type_text
from hudi_spark.evolution.rules import may_become

Siblings = tuple[InternalField, ...]
Edit = Callable[[Siblings, int], Siblings]

_CLAUSE: Final = "DM-021"
# Changes of type under which keys, partition paths and the order of values stay.
_SAME_KEYS: Final = frozenset({("int", "long"), ("float", "double")})


class Place(StrEnum):
    """Where a column goes among its siblings."""

    FIRST = "first"
    AFTER = "after"
    BEFORE = "before"


@dataclass(frozen=True, slots=True)
class Position:
    """A place among siblings; `reference` is the name of the sibling, without its path."""

    place: Place
    reference: str = ""


@dataclass(frozen=True, slots=True)
class AddColumn:
    """A new column, nullable; at the end of its siblings where no position is given."""

    column: str
    type: ColumnType
    doc: str | None = None
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class DropColumn:
    """A column disappears; one of its name that is added later shows none of its values."""

    column: str


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """A column has another name, `to`, without a path, and the same values."""

    column: str
    to: str


@dataclass(frozen=True, slots=True)
class ChangeType:
    """A column has a wider type."""

    column: str
    type: ColumnType


@dataclass(frozen=True, slots=True)
class MoveColumn:
    """A column stands elsewhere among its siblings."""

    column: str
    position: Position


@dataclass(frozen=True, slots=True)
class MakeNullable:
    """A required column takes nulls from now on."""

    column: str


@dataclass(frozen=True, slots=True)
class Describe:
    """A column has another comment."""

    column: str
    doc: str


SchemaChange = AddColumn | DropColumn | RenameColumn | ChangeType | MoveColumn | MakeNullable | Describe


def changed(
    schema: InternalSchema, changes: Sequence[SchemaChange], schema_id: int, needed: Collection[str] = ()
) -> InternalSchema:
    """The schema after changes, one after the other.

    `needed`: columns that the table's keys, partitions or order need; they keep their names and, but for an int that
    becomes a long or a float a double, their types.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for an unknown or doubled column, a narrower type, a needed column.

    Clauses: DM-020, DM-021.

    """
    for change in changes:
        schema = _applied(schema, change, needed)
    return replace(schema, schema_id=schema_id)


def numbered(kind: ColumnType, next_id: int) -> tuple[ColumnType, int]:
    """A type whose parts have ids from `next_id` on, and the id after them; fields before what lies inside them."""
    if isinstance(kind, RecordType):
        first, next_id = next_id, next_id + len(kind.fields)
        fields = []
        for place, field in enumerate(kind.fields):
            inner, next_id = numbered(field.type, next_id)
            fields.append(replace(field, id=first + place, type=inner))
        return RecordType(tuple(fields)), next_id
    if isinstance(kind, ArrayType):
        inner, after = numbered(kind.element, next_id + 1)
        return replace(kind, element_id=next_id, element=inner), after
    if isinstance(kind, MapType):
        inner, after = numbered(kind.value, next_id + 2)
        return replace(kind, key_id=next_id, value_id=next_id + 1, value=inner), after
    return kind, next_id


def _applied(schema: InternalSchema, change: SchemaChange, needed: Collection[str]) -> InternalSchema:
    path = tuple(change.column.split("."))
    if path[0] in META_FIELDS:
        raise _refused(f"{change.column!r} is a meta field", "meta fields stay as they are")
    if isinstance(change, AddColumn):
        return _added(schema, change, path)
    holders = [name for name in needed if name == change.column or name.startswith(f"{change.column}.")]
    if holders and isinstance(change, DropColumn | RenameColumn):
        hint = "write the rows to a new table instead"
        raise _refused(f"{change.column!r} makes the table's keys, partitions or order", hint)
    edit = _edit_of(change, needed=bool(holders))
    return replace(schema, fields=_edited(schema.fields, path, edit, change.column))


def _edit_of(change: SchemaChange, *, needed: bool) -> Edit:
    match change:
        case DropColumn():
            return _dropping(change)
        case RenameColumn():
            return lambda siblings, index: _renamed(siblings, index, change)
        case ChangeType():
            return lambda siblings, index: _put(siblings, index, _retyped(siblings[index], change, needed=needed))
        case MoveColumn():
            return lambda siblings, index: _moved(siblings, index, change)
        case MakeNullable():
            return lambda siblings, index: _put(siblings, index, replace(siblings[index], optional=True))
        case Describe():
            return lambda siblings, index: _put(siblings, index, replace(siblings[index], doc=change.doc))
    raise TypeError(f"{change!r} edits no column")


def _edited(fields: Siblings, path: Sequence[str], edit: Edit, column: str) -> Siblings:
    index = _index(fields, path[0], column)
    if len(path) == 1:
        return edit(fields, index)
    field = fields[index]
    return _put(fields, index, replace(field, type=_edited_inside(field.type, path[1:], edit, column)))


def _edited_inside(kind: ColumnType, path: Sequence[str], edit: Edit, column: str) -> ColumnType:
    """The element of a list and the values of a map are edited as if each were the one field of a struct."""
    if isinstance(kind, RecordType):
        return RecordType(_edited(kind.fields, path, edit, column))
    if isinstance(kind, ArrayType):
        element = InternalField(kind.element_id, "element", kind.element_optional, kind.element)
        after = _only(_edited((element,), path, edit, column), element, column)
        return replace(kind, element=after.type, element_optional=after.optional)
    if isinstance(kind, MapType):
        value = InternalField(kind.value_id, "value", kind.value_optional, kind.value)
        after = _only(_edited((value,), path, edit, column), value, column)
        return replace(kind, value=after.type, value_optional=after.optional)
    raise _unknown(column, ())


def _only(after: Siblings, before: InternalField, column: str) -> InternalField:
    if len(after) != 1 or after[0].name != before.name:
        raise _refused(f"{column!r} is a part of a list or map", "drop or rename the whole column")
    return after[0]


def _added(schema: InternalSchema, change: AddColumn, path: tuple[str, ...]) -> InternalSchema:
    column_id = schema.max_column_id + 1
    kind, after = numbered(change.type, column_id + 1)
    field = InternalField(column_id, path[-1], optional=True, type=kind, doc=change.doc)

    def adding(siblings: Siblings) -> Siblings:
        _refuse_taken(siblings, path[-1], change.column)
        position = change.position or Position(Place.AFTER, siblings[-1].name)
        return _placed(siblings, field, position)

    def adding_inside(siblings: Siblings, index: int) -> Siblings:
        parent = siblings[index]
        if not isinstance(parent.type, RecordType):
            hint = "a list of structs has its fields in its element, a map in its value"
            raise _refused(f"{'.'.join(path[:-1])!r} is {type_text(parent.type)}, no struct", hint)
        return _put(siblings, index, replace(parent, type=RecordType(adding(parent.type.fields))))

    fields = schema.fields
    fields = adding(fields) if len(path) == 1 else _edited(fields, path[:-1], adding_inside, change.column)
    return replace(schema, fields=fields, max_column_id=after - 1)


def _dropping(change: DropColumn) -> Edit:
    def edit(siblings: Siblings, index: int) -> Siblings:
        left = siblings[:index] + siblings[index + 1 :]
        if not [field for field in left if field.name not in META_FIELDS]:
            raise _refused(f"{change.column!r} is the only column left", "keep a column, or drop the whole struct")
        return left

    return edit


def _renamed(siblings: Siblings, index: int, change: RenameColumn) -> Siblings:
    others = siblings[:index] + siblings[index + 1 :]
    _refuse_taken(others, change.to, change.to)
    return _put(siblings, index, replace(siblings[index], name=change.to))


def _retyped(field: InternalField, change: ChangeType, *, needed: bool) -> InternalField:
    found, wanted = field.type, change.type
    if isinstance(found, PrimitiveType) and isinstance(wanted, PrimitiveType) and may_become(found, wanted):
        if needed and found != wanted and (found.name, wanted.name) not in _SAME_KEYS:
            hint = "write the rows to a new table instead"
            raise _refused(f"{change.column!r} makes the table's keys, partitions or order, in its type", hint)
        return replace(field, type=wanted)
    hint = "add a column of the type, and drop this one"
    raise _refused(f"{change.column!r} is {type_text(found)} and cannot become {type_text(wanted)}", hint)


def _moved(siblings: Siblings, index: int, change: MoveColumn) -> Siblings:
    others = siblings[:index] + siblings[index + 1 :]
    if change.position.reference == siblings[index].name or not others:
        raise _refused(f"{change.column!r} cannot stand beside itself", "name another column")
    return _placed(others, siblings[index], change.position)


def _placed(siblings: Siblings, field: InternalField, position: Position) -> Siblings:
    if position.place is Place.FIRST:
        index = sum(one.name in META_FIELDS for one in siblings)
    else:
        found = _index(siblings, position.reference, position.reference)
        if siblings[found].name in META_FIELDS:
            raise _refused(f"{position.reference!r} is a meta field", "place the column first")
        index = found + (position.place is Place.AFTER)
    return (*siblings[:index], field, *siblings[index:])


def _put(siblings: Siblings, index: int, field: InternalField) -> Siblings:
    return (*siblings[:index], field, *siblings[index + 1 :])


def _index(siblings: Siblings, name: str, column: str) -> int:
    names = [field.name for field in siblings]
    if name not in names:
        raise _unknown(column, names)
    return names.index(name)


def _refuse_taken(siblings: Siblings, name: str, column: str) -> None:
    if any(field.name.casefold() == name.casefold() for field in siblings):
        raise _refused(f"there is a column {column!r} already, whatever its case", "choose another name")


def _unknown(column: str, names: Sequence[str]) -> HudiError:
    near = get_close_matches(column.rpartition(".")[2], names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names) or 'no columns inside it'}"
    return _refused(f"there is no column {column!r}", hint)


def _refused(message: str, hint: str) -> HudiError:
    return HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, message, hint=hint)
