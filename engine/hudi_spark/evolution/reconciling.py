"""A table's columns and those of rows as one schema: column by column, at every depth."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from hudi_adapter.reasons import Reason
from hudi_format.table.internal_schema import ArrayType, ColumnType, InternalField, MapType, PrimitiveType, RecordType

from hudi_spark.errors import HudiError
from hudi_spark.evolution.arrow_types import NOTHING
from hudi_spark.evolution.rules import loses_nothing, reorders

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
        other = seen.setdefault(column.name.casefold(), column.name)
        if other == column.name and sum(one.name == other for one in columns) > 1:
            message = f"column {place + other!r} stands there twice"
            raise HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, message, hint="rename one of them")
        if other != column.name:
            raise _of_case(f"{place}{column.name}", f"{place}{other}")


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
