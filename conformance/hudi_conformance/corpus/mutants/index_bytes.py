"""Rules of the bytes of the metadata table, broken: HFiles, keys, records, the bounds of statistics."""

import datetime as dt
from typing import Any

from hudi_format.hfile.blocks import Codec
from hudi_format.metadata.wrapped_values import ValueType, Wrapped

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant(
    "hfiles-are-never-packed",
    "MT-024",
    "The blocks of an HFile are read as they lie there, whatever its trailer says.",
    "hudi_format.hfile.reader.read_block",
)
def _hfiles_are_never_packed(original: Function) -> Function:
    return lambda source, offset, end, _codec, origin: original(source, offset, end, Codec.NONE, origin)


@mutant(
    "column-names-hashed-in-capitals",
    "MT-012",
    "The name of a column is hashed in capital letters.",
    "hudi_format.hashing.column_index_id",
)
def _column_names_hashed_in_capitals(original: Function) -> Function:
    return lambda name: original(name.upper())


@mutant(
    "record-key-from-its-own-field",
    "MT-018",
    "The key of a record is that of its own field.",
    "hudi_format.metadata.codec.metadata_record",
)
def _record_key_from_its_own_field(original: Function) -> Function:
    return lambda raw, _key: original(raw, "")


@mutant(
    "bounds-of-dates-unread",
    "MT-023",
    "Of the wrappers of bounds those of dates say nothing.",
    "hudi_format.metadata.wrapped_values.plain_value",
)
def _bounds_of_dates_unread(original: Function) -> Function:
    def known(wrapped: Wrapped | None, kind: ValueType | None = None) -> Any:
        value = original(wrapped, kind)
        return None if isinstance(value, dt.date) and not isinstance(value, dt.datetime) else value

    return known


@mutant(
    "statistics-of-one-version",
    "IX-004",
    "The type that stands beside bounds from index version V2 on is not looked at.",
    "hudi_format.metadata.wrapped_values.plain_value",
)
def _statistics_of_one_version(original: Function) -> Function:
    return lambda wrapped, _kind=None: original(wrapped)


@mutant(
    "functional-indexes-by-their-old-name",
    "IX-003",
    "The name of an index of an expression begins with `func_index_`.",
    "hudi_format.metadata.partitions.is_expression_index",
)
def _functional_indexes_by_their_old_name(_: Function) -> Function:
    return lambda partition: partition.startswith("func_index_")


@mutant(
    "file-ids-without-number",
    "IX-023",
    "The number behind the UUID of a file id is not read.",
    "hudi_format.metadata.records.file_id_of",
)
def _file_ids_without_number(original: Function) -> Function:
    return lambda high, low, _index: original(high, low, -1)
