"""Changes of a table's schema: requested, or because incoming rows have other columns.

A column inside another is named by its path: `s.a` in a struct, `l.element.a` in a list of structs, `m.value` for the
values of a map. A column keeps its id whatever its name, type or place becomes; a new one gets an id never used before.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hudi_format.compat import StrEnum
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

from hudi_spark.errors import HudiError, Reason, suggested
from hudi_spark.schema.column_types import NOTHING, loses_nothing, may_become, reorders

EVOLVES: Final = "hoodie.schema.on.read.enable"
"""The option by which a write asks that columns may be widened."""

_CLAUSE: Final = "DM-003"
_MISSING_HINT: Final = (
    "give the column, or set hoodie.write.set.null.for.missing.columns to write nulls,"
    " or hoodie.datasource.write.schema.allow.auto.evolution.column.drop to drop it"
)


class Missing(StrEnum):
    """What becomes of a column that the rows lack."""

    REFUSED = "refused"
    NULL = "null"
    """It stays, and is nullable from now on."""
    KEPT = "kept"
    """It stays as it is."""
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Reconciling:
    """How columns of rows meet those of a table: what becomes of missing ones, and of types that differ.

    `types`: the type of a column from the table's and the rows', None to refuse. `evolves`: whether a column may get a
    wider type at all. `fixed`: the fields that keep theirs in any case, keys, partitions and ordering fields;
    `ordering`: the last of these.
    """

    missing: Missing
    types: Callable[[PrimitiveType, PrimitiveType], PrimitiveType | None]
    evolves: bool = False
    fixed: frozenset[str] = frozenset()
    ordering: frozenset[str] = frozenset()

    def columns(
        self, table: Sequence[InternalField], rows: Sequence[InternalField], place: str = ""
    ) -> tuple[InternalField, ...]:
        """The table's columns in their order, then the new ones.

        Raises:
            HudiError: SCHEMA_INCOMPATIBLE, with the column's name and both types.

        Clauses: DM-003, DM-004, DM-005.

        """
        refuse_doubles(rows, place)
        brought = {column.name: column for column in rows}
        known = {column.name for column in table}
        kept = (self._column(column, brought.get(column.name), rows, place) for column in table)
        new = (_new(column, table, place) for column in rows if column.name not in known)
        return (*(column for column in kept if column is not None), *new)

    def _column(
        self, table: InternalField, rows: InternalField | None, others: Sequence[InternalField], place: str
    ) -> InternalField | None:
        if rows is None:
            return self._missing(table, others, place)
        kind = self._type(table.type, rows.type, f"{place}{table.name}")
        return replace(table, optional=table.optional or rows.optional, type=kind)

    def _missing(self, table: InternalField, others: Sequence[InternalField], place: str) -> InternalField | None:
        alike = [column.name for column in others if column.name.casefold() == table.name.casefold()]
        if alike:
            raise _of_case(f"{place}{alike[0]}", f"{place}{table.name}")
        if self.missing is Missing.DROPPED:
            return None
        if self.missing is Missing.REFUSED:
            message = f"the rows lack column {place + table.name!r}, {type_text(table.type)} in the table"
            raise HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, message, hint=_MISSING_HINT)
        return replace(table, optional=True) if self.missing is Missing.NULL else table

    def _type(self, table: ColumnType, rows: ColumnType, place: str) -> ColumnType:
        if isinstance(table, RecordType) and isinstance(rows, RecordType):
            return RecordType(self.columns(table.fields, rows.fields, f"{place}."))
        if isinstance(table, ArrayType) and isinstance(rows, ArrayType):
            element = self._type(table.element, rows.element, f"{place}.element")
            return replace(table, element=element, element_optional=table.element_optional or rows.element_optional)
        if isinstance(table, MapType) and isinstance(rows, MapType):
            value = self._type(table.value, rows.value, f"{place}.value")
            return replace(table, value=value, value_optional=table.value_optional or rows.value_optional)
        if rows == NOTHING:
            return table
        if isinstance(table, PrimitiveType) and isinstance(rows, PrimitiveType):
            kind = self.types(table, rows)
            if kind is not None:
                self._refuse_another(table, rows, kind, place)
                return kind
        raise _of_types(table, rows, place, "cast the column to the table's type")

    def _refuse_another(self, table: PrimitiveType, rows: PrimitiveType, kind: PrimitiveType, place: str) -> None:
        """Clauses: DM-005."""
        if place in self.ordering and reorders(table, rows):
            raise _of_types(
                table, rows, place, "cast the ordering column to the table's type: texts have another order"
            )
        if kind == table:
            return
        if place in self.fixed:
            hint = "cast the column to the table's type: keys, partitions and ordering columns keep theirs"
        elif not loses_nothing(table, kind):
            hint = "cast the column to the table's type: the table's values would change in the other"
        elif not self.evolves:
            hint = f"cast the column to the table's type, or set {EVOLVES} to widen the table's column"
        else:
            return
        raise _of_types(table, rows, place, hint)


def refuse_doubles(columns: Sequence[InternalField], place: str = "") -> None:
    """Nothing when no two columns have one name, whatever its case.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE.

    """
    seen: dict[str, str] = {}
    for column in columns:
        other = seen.get(column.name.casefold())
        if other == column.name:
            message = f"column {place + other!r} stands there twice"
            raise HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, message, hint="rename one of them")
        if other is not None:
            raise _of_case(f"{place}{column.name}", f"{place}{other}")
        seen[column.name.casefold()] = column.name


def refuse_nothing(column: InternalField, place: str = "") -> InternalField:
    """A new column whose every part has a type.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for one that holds nothing but nulls.

    """
    for where, kind in _parts(column.type, f"{place}{column.name}"):
        if kind == NOTHING:
            hint = "cast the column to a type, or leave it out"
            raise HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, f"column {where!r} has type null", hint=hint)
    return column


def type_text(kind: ColumnType) -> str:
    """A type in a message."""
    if isinstance(kind, RecordType):
        return "struct<" + ", ".join(f"{field.name}: {type_text(field.type)}" for field in kind.fields) + ">"
    if isinstance(kind, ArrayType):
        return f"list<{type_text(kind.element)}>"
    if isinstance(kind, MapType):
        return f"map<{type_text(kind.value)}>"
    return f"decimal({kind.precision}, {kind.scale})" if kind.name.startswith("decimal") else kind.name


def _of_types(table: ColumnType, rows: ColumnType, place: str, hint: str) -> HudiError:
    message = f"column {place!r} is {type_text(rows)} in the rows and {type_text(table)} in the table"
    return HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-005", message, hint=hint)


def described_changes(before: Sequence[InternalField], after: Sequence[InternalField], place: str = "") -> list[str]:
    """What differs between the columns of a table before and after a write, a text for each column or part of one.

    Clauses: DM-005.
    """
    old, new = {column.name: column for column in before}, {column.name: column for column in after}
    found = []
    for name, column in old.items():
        if name not in new:
            found.append(f"column {place}{name} dropped")
            continue
        found += _changed_type(column.type, new[name].type, f"{place}{name}")
        if new[name].optional and not column.optional:
            found.append(f"column {place}{name} nullable")
    added = (column for name, column in new.items() if name not in old)
    return [*found, *(f"column {place}{column.name} added, {type_text(column.type)}" for column in added)]


def _changed_type(before: ColumnType, after: ColumnType, place: str) -> list[str]:
    if isinstance(before, RecordType) and isinstance(after, RecordType):
        return described_changes(before.fields, after.fields, f"{place}.")
    if isinstance(before, ArrayType) and isinstance(after, ArrayType):
        return _changed_type(before.element, after.element, f"{place}.element")
    if isinstance(before, MapType) and isinstance(after, MapType):
        return _changed_type(before.value, after.value, f"{place}.value")
    one, other = type_text(before), type_text(after)
    return [] if one == other else [f"column {place} from {one} to {other}"]


def _new(column: InternalField, table: Sequence[InternalField], place: str) -> InternalField:
    alike = [one.name for one in table if one.name.casefold() == column.name.casefold()]
    if alike:
        raise _of_case(f"{place}{column.name}", f"{place}{alike[0]}")
    if not column.optional:
        message = f"column {place + column.name!r} is new and required, and older rows have no value of it"
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, message, hint="make the column nullable")
    return refuse_nothing(column, place)


def _parts(kind: ColumnType, place: str) -> list[tuple[str, ColumnType]]:
    if isinstance(kind, RecordType):
        return [part for field in kind.fields for part in _parts(field.type, f"{place}.{field.name}")]
    if isinstance(kind, ArrayType):
        return _parts(kind.element, f"{place}.element")
    if isinstance(kind, MapType):
        return _parts(kind.value, f"{place}.value")
    return [(place, kind)]


def _of_case(found: str, known: str) -> HudiError:
    message = f"columns {found!r} and {known!r} differ in nothing but case"
    return HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, message, hint=f"write it {known!r}")


Siblings = tuple[InternalField, ...]
Edit = Callable[[Siblings, int], Siblings]

_CHANGE_CLAUSE: Final = "DM-021"
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
    hint = suggested(column.rpartition(".")[2], names, f"there are {', '.join(names) or 'no columns inside it'}")
    return _refused(f"there is no column {column!r}", hint)


def _refused(message: str, hint: str) -> HudiError:
    return HudiError(Reason.SCHEMA_INCOMPATIBLE, _CHANGE_CLAUSE, message, hint=hint)
