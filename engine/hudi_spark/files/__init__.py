"""The files that a write makes: base files, logs, change logs, their statistics, and the history."""

from hudi_spark.files.base import (
    BaseFileBytes,
    BaseFileForm,
    BloomSettings,
    ChangeForm,
    base_file,
    base_file_form,
    change_form,
    empty_meta_fields,
    rolled_base_file,
    write_changes,
)
from hudi_spark.files.history import HistorySizes, archive_actions, finish_interrupted
from hudi_spark.files.logs import LogForm, LogGroup, LogRows, WrittenLog, log_form, opened_slices, write_log
from hudi_spark.files.statistics import (
    IndexedColumn,
    base_file_statistics,
    has_bounds,
    indexed_columns,
    indexed_meta_fields,
    no_rows_statistics,
    rows_statistics,
    type_at,
)
from hudi_spark.files.written import WRITTEN_SCHEMA, Place, WrittenFile, from_rows, to_rows

__all__ = [
    "WRITTEN_SCHEMA",
    "BaseFileBytes",
    "BaseFileForm",
    "BloomSettings",
    "ChangeForm",
    "HistorySizes",
    "IndexedColumn",
    "LogForm",
    "LogGroup",
    "LogRows",
    "Place",
    "WrittenFile",
    "WrittenLog",
    "archive_actions",
    "base_file",
    "base_file_form",
    "base_file_statistics",
    "change_form",
    "empty_meta_fields",
    "finish_interrupted",
    "from_rows",
    "has_bounds",
    "indexed_columns",
    "indexed_meta_fields",
    "log_form",
    "no_rows_statistics",
    "opened_slices",
    "rolled_base_file",
    "rows_statistics",
    "to_rows",
    "type_at",
    "write_changes",
    "write_log",
]
