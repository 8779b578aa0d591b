"""Rules of the bytes of base files, broken: their columns, and what an HFile or an empty meta column means."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
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


@mutant(
    "first-row-group-only",
    "BF-001",
    "Of a Parquet file the first group of rows is read.",
    "hudi_format.base.parquet_bytes.read_rows",
)
def _first_row_group_only(original: Function) -> Function:
    def first_group(opened: Any, *given: Any) -> pa.Table:
        rows: pa.Table = original(opened, *given)
        return rows.slice(0, opened.metadata.row_group(0).num_rows if opened.metadata.num_row_groups else 0)

    return first_group


@mutant(
    "far-moments-wrap",
    "BF-001",
    "A moment of 96 bits becomes a number of nanoseconds, which far years exceed.",
    "hudi_format.base.parquet_bytes.read_rows",
)
def _far_moments_wrap(original: Function) -> Function:
    def wrapped(opened: Any, *given: Any) -> pa.Table:
        rows: pa.Table = original(opened, *given)
        leaves = [opened.schema.column(at) for at in range(len(opened.schema))]
        old = {one.path for one in leaves if one.physical_type == "INT96"}
        for number, name in enumerate(rows.column_names):
            if name in old:
                rows = rows.set_column(number, rows.field(number), _by_nanoseconds(rows.column(number)))
        return rows

    return wrapped


def _by_nanoseconds(moments: pa.ChunkedArray) -> pa.ChunkedArray:
    whole = [None if one is None else one * 1000 for one in moments.cast(pa.int64()).to_pylist()]
    cut = [None if one is None else (one + 2**63) % 2**64 - 2**63 for one in whole]
    return pa.chunked_array([pc.divide(pa.array(cut, pa.int64()), 1000).cast(moments.type)])
