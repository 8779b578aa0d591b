"""Record keys and other fields by name: a column, a place in a struct, or rebuilt from the key fields."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.errors import HudiError, Reason
from hudi_spark.schema import key_text
from hudi_spark.table_state import PROPERTIES_FILE, TableConfiguration


def column_of(name: str, schema: pa.Schema) -> str | None:
    """The column that holds a field, or None where the table has no such field."""
    if schema.get_field_index(name) >= 0:
        return name
    column, *inner = name.split(".")
    if column not in schema.names or _inner_type(schema.field(column).type, inner) is None:
        return None
    return column


def columns_of(names: Iterable[str], schema: pa.Schema) -> tuple[str, ...]:
    """The columns that hold fields, each once."""
    found = (column_of(name, schema) for name in names)
    return tuple(dict.fromkeys(name for name in found if name is not None))


def field_type(name: str, schema: pa.Schema) -> pa.DataType:
    """The type of a field that the table has.

    Raises:
        HudiError: PROPERTIES_INVALID for any other.

    Clauses: OW-032.

    """
    if schema.get_field_index(name) >= 0:
        return schema.field(name).type
    column, *inner = name.split(".")
    if column not in schema.names:
        raise _unknown(name)
    return _inner_type(schema.field(column).type, inner)


def field_values(table: pa.Table, name: str) -> pa.ChunkedArray:
    """The values of a field that the table has; null where a struct on the way is null.

    Raises:
        HudiError: PROPERTIES_INVALID for any other.

    Clauses: OW-032.

    """
    if name in table.column_names:
        return table.column(name)
    column, *inner = name.split(".")
    if column not in table.column_names:
        raise _unknown(name)
    return pc.struct_field(table.column(column), inner)


def _unknown(name: str) -> HudiError:
    hint = "let hoodie.properties name fields of the table's schema"
    return HudiError(Reason.PROPERTIES_INVALID, "OW-032", f"the table's field {name} is no column", hint=hint)


def _inner_type(kind: pa.DataType, names: list[str]) -> pa.DataType | None:
    for name in names:
        if not pa.types.is_struct(kind) or kind.get_field_index(name) < 0:
            return None
        kind = kind.field(name).type
    return kind


RECORD_KEY: Final = "_hoodie_record_key"

NULL_PART: Final = "__null__"
EMPTY_PART: Final = "__empty__"
_NAMED_FROM: Final = 9


@dataclass(frozen=True, slots=True)
class KeyRule:
    """How a row's record key is found.

    `fields` is empty when the key stands in `_hoodie_record_key`.
    `named` says that each part of a key is written `field:value`, `moments` that timestamps are written as such and not
    as their number.

    Clauses: DM-001, DM-002.
    """

    fields: tuple[str, ...] = ()
    named: bool = False
    moments: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that hold the key."""
        return self.fields or (RECORD_KEY,)

    def keys(self, table: pa.Table) -> pa.ChunkedArray:
        """The record key of each row, as text.

        Clauses: DM-002.
        """
        if not self.fields:
            return table.column(RECORD_KEY)
        if not self.named:
            return key_text(field_values(table, self.fields[0]), moments=self.moments)
        parts = [self._part(field, field_values(table, field)) for field in self.fields]
        return parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, ",")

    def stored_keys(self, table: pa.Table, file: str) -> pa.ChunkedArray:
        """The same of rows that are to be found by their keys, those of a base file.

        Raises:
            HudiError: KEY_MISSING for a row without one: a newer version of its record would stand beside it.

        Clauses: DM-001, DM-002.

        """
        found = self.keys(table)
        if found.null_count:
            message = f"{found.null_count} rows have no record key, and cannot be merged with newer ones"
            hint = "restore the file from a copy, or find out which writer made it"
            raise HudiError(Reason.KEY_MISSING, "DM-001", message, file, hint=hint)
        return found

    def _part(self, field: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
        text = key_text(column, moments=self.moments)
        filled = pc.fill_null(pc.if_else(pc.equal(text, ""), EMPTY_PART, text), NULL_PART)
        return pc.binary_join_element_wise(f"{field}:", filled, "")

    def stored(self, keys: pa.Array) -> pa.Array:
        """Keys of a delete block in the form of `keys`: writers differ on naming a single field.

        Clauses: DM-002.
        """
        if len(self.fields) != 1:
            return keys
        prefix = f"{self.fields[0]}:"
        named = pc.starts_with(keys, prefix)
        if self.named:
            return pc.if_else(named, keys, pc.binary_join_element_wise(prefix, keys, ""))
        return pc.if_else(named, pc.utf8_slice_codeunits(keys, len(prefix)), keys)


def key_rule(configuration: TableConfiguration) -> KeyRule:
    """How the record keys of a table are found.

    Raises:
        HudiError: KEY_MISSING when the table stores no keys and names no key fields.

    Clauses: DM-002.

    """
    if configuration.populates_meta_fields:
        return KeyRule()
    if not configuration.record_key:
        message = "the table stores no record keys and hoodie.table.recordkey.fields is empty"
        raise HudiError(Reason.KEY_MISSING, "DM-002", message, PROPERTIES_FILE, hint="name the record key fields")
    named = len(configuration.record_key) > 1 or names_single_field(configuration)
    return KeyRule(configuration.record_key, named)


def names_single_field(configuration: TableConfiguration) -> bool:
    """Whether a key of one field is written `field:value`, as far as the properties tell.

    A complex generator does so in version 9; before, releases differ, and the bare value is taken. A global one always
    does.

    Clauses: DM-002, DM-030.
    """
    generator = configuration.key_generator
    return generator.startswith("GLOBAL") or (generator.startswith("COMPLEX") and configuration.version >= _NAMED_FROM)
