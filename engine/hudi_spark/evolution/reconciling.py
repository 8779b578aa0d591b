"""A table's columns and those of rows as one schema: column by column, at every depth."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from hudi_adapter.reasons import Reason
from hudi_format.table.internal_schema import (
    ArrayType,
    ColumnType,
    InternalField,
    MapType,
    PrimitiveType,
    RecordType,
)

from hudi_spark.errors import HudiError
from hudi_spark.evolution.arrow_types import NOTHING

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

    `types`: the type of a column from the table's and the rows', None to refuse.
    """

    missing: Missing
    types: Callable[[PrimitiveType, PrimitiveType], PrimitiveType | None]

    def columns(
        self, table: Sequence[InternalField], rows: Sequence[InternalField], place: str = ""
    ) -> tuple[InternalField, ...]:
        """The table's columns in their order, then the new ones.

        Raises:
            HudiError: SCHEMA_INCOMPATIBLE, with the column's name and both types.

        Clauses: DM-003, DM-004.

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
                return kind
        message = f"column {place!r} is {type_text(rows)} in the rows and {type_text(table)} in the table"
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, message, hint="cast the column to the table's type")


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
