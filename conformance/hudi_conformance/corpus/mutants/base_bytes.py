"""Rules of the bytes of base files, broken: their columns, and what an HFile or an empty meta column means."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
from hudi_model.configuration import Configuration
from hudi_model.files import META_FIELDS, BaseFile, Record
from hudi_model.tables import Footer, OpenTable
from hudi_model_tools.checks.finding import Violation

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant(
    "local-timestamps-are-instants",
    "BF-001",
    "A timestamp of a base file is an instant, whatever the file says.",
    "hudi_format.base.files.read_base_file",
)
def _local_timestamps_are_instants(original: Function) -> Function:
    def moment(kind: pa.DataType) -> pa.DataType:
        return pa.timestamp(kind.unit, "UTC") if pa.types.is_timestamp(kind) and kind.tz is None else kind

    def instants(*given: Any, **named: Any) -> pa.Table:
        rows: pa.Table = original(*given, **named)
        return rows.cast(pa.schema([field.with_type(moment(field.type)) for field in rows.schema]))

    return instants


@mutant(
    "empty-meta-columns-are-keys",
    "BF-003 DM-002",
    "The meta column of the key is the key also where a table does not fill it.",
    "keys.key_of",
)
def _empty_meta_columns_are_keys(_: Function) -> Function:
    def stored(record: Record, _configuration: Configuration, _where: str) -> str:
        return str(record.values.get("_hoodie_record_key") or "")

    return stored


@mutant(
    "meta-columns-come-last",
    "MF-001 BF-001",
    "The meta columns are looked for behind the table's own.",
    "hudi_model_tools.checks.files.footer_violations",
)
def _meta_columns_come_last(original: Function) -> Function:
    def turned(table: OpenTable, file: BaseFile, footer: Footer) -> Iterator[Violation]:
        count = len(META_FIELDS)
        found = replace(footer, columns=(*footer.columns[-count:], *footer.columns[:-count]))
        yield from original(table, file, found)

    return turned


@mutant(
    "hfile-rows-without-meta-fields",
    "BF-013",
    "The rows of an HFile leave their meta fields to its keys.",
    "hudi_format.base.files.read_hfile_base",
)
def _hfile_rows_without_meta_fields(original: Function) -> Function:
    def bare(*given: Any, **named: Any) -> pa.Table:
        rows: pa.Table = original(*given, **named)
        return rows.drop_columns([name for name in rows.column_names if name in META_FIELDS])

    return bare
