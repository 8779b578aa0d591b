"""hudi-rs as an adapter: `python -m hudi_conformance.adapters.hudi_rs`, over its Python package `hudi`."""

import os
import time
from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Any

import pyarrow as pa
from hudi_adapter.protocol import Adapter, Answer, Implementation, Request, RowsAnswer, Unsupported, ValueAnswer
from hudi_adapter.reasons import Reason
from hudi_adapter.serving import serve

from hudi_conformance.adapters.python_packages import NativeErrors, selected

FEATURES = (
    "table-version-6",
    "table-version-8",
    "table-version-9",
    "cow",
    "mor",
    "log-avro",
    "log-delete",
    "log-rollback",
    "base-parquet",
    "merge-commit-time",
    "merge-event-time",
    "time-travel",
    "read-optimized",
    "projection",
    "meta-columns",
    "incremental",
)
_READ_OPTIMIZED = "hoodie.read.use.read_optimized.mode"
# What its errors say, in the order in which they are tried.
ERRORS = NativeErrors(
    unsupported=(
        (r"Only support table version.*Found: [45]\b", "table-version-before-6"),
        (r"Multiple ordering fields", "several-ordering-fields"),
        (r"[Uu]nsupported payload|payload.*not supported|merges with a merger of its own", "payload"),
        (r"needs its own merger", "merge-custom"),
        (r"derives record keys only from", "virtual-keys-of-this-type"),
        (r"schema-on-read .* is not supported", "schema-on-read"),
        (r"drop\.partition\.columns` is disabled", "drop-partition-columns"),
        (r"Config value '(?:ORC|HFILE)' is not supported", "base-orc"),
        (r"(?:not|un)supported|not (?:yet )?implemented|not yet supported", "not-in-hudi-rs"),
    ),
    refused=(
        (
            r"hoodie\.properties.*(?:not found|No such file)|(?:not found|No such file).*hoodie\.properties",
            Reason.NOT_A_TABLE,
        ),
        (r"Table version|table version|HoodieTableVersion", Reason.TABLE_VERSION_UNSUPPORTED),
        (r"[Cc]hecksum", Reason.CHECKSUM_MISMATCH),
        (r"Config (?:error|not found|value)|property", Reason.PROPERTIES_INVALID),
        (r"[Ii]nstant|timestamp", Reason.INSTANT_MALFORMED),
        (r"[Tt]imeline|[Cc]ommit metadata", Reason.TIMELINE_FILE_CORRUPT),
        (r"ParquetError|Parquet error|Invalid Parquet file", Reason.BASE_FILE_CORRUPT),
        (r"(?:not found|No such file).*\.parquet|\.parquet.*(?:not found|No such file)", Reason.BASE_FILE_MISSING),
        (
            r"failed to fill whole buffer|Invalid block type|[Ll]og (?:block|file|format)|Avro|avro",
            Reason.LOG_CONTENT_CORRUPT,
        ),
    ),
)


def read_snapshot(request: Request) -> Answer:
    """Rows of the latest completed state."""
    return _read(request)


def read_as_of(request: Request) -> Answer:
    """Rows as of an instant."""
    return _read(request, _as_of(request.params["instant"]))


def read_optimized(request: Request) -> Answer:
    """Rows of base files only."""
    return _read(request, _as_of(request.params.get("as_of")), {_READ_OPTIMIZED: "true"})


def read_incremental(request: Request) -> Answer:
    """Rows changed after `begin` and up to `end`."""
    from hudi import HudiQueryType  # noqa: PLC0415  an optional package

    def chosen(options: Any) -> Any:
        begin, end = str(request.params.get("begin", "")), request.params.get("end")
        options = options.with_query_type(HudiQueryType.Incremental)
        if begin not in {"0", "earliest"}:
            options = options.with_start_timestamp(begin)
        return options if end is None else options.with_end_timestamp(str(end))

    return _read(request, chosen)


def list_file_slices(request: Request) -> Answer:
    """The slices a snapshot reads."""
    from hudi import HudiReadOptions, HudiTable  # noqa: PLC0415  an optional package

    options = HudiReadOptions()
    if request.params.get("as_of") is not None:
        options = options.with_as_of_timestamp(str(request.params["as_of"]))
    found = [_slice(one) for one in HudiTable(str(request.table)).get_file_slices(options)]
    return ValueAnswer(sorted(found, key=lambda entry: (entry["partition"], entry["file_id"])))


def _slice(one: Any) -> dict[str, Any]:
    return {
        "partition": one.partition_path,
        "file_id": one.file_id,
        "base_instant": one.creation_instant_time,
        "base_file": one.base_file_name or None,
        "log_files": list(one.log_file_names),
    }


def _as_of(instant: Any) -> Callable[[Any], Any]:
    return lambda options: options if instant is None else options.with_as_of_timestamp(str(instant))


def _read(
    request: Request,
    bounded: Callable[[Any], Any] = lambda options: options,
    options: Mapping[str, str] | None = None,
) -> Answer:
    from hudi import HudiReadOptions, HudiTable  # noqa: PLC0415  an optional package

    if request.params.get("filter") is not None:
        raise Unsupported("filter")
    configs = {str(key): str(value) for key, value in (request.params.get("configs") or {}).items()}
    chosen = bounded(HudiReadOptions()).with_hudi_options({**configs, **(options or {})})
    table = HudiTable(str(request.table))
    batches = list(table.read(chosen))
    rows = pa.Table.from_batches(batches) if batches else table.get_schema_with_meta_fields().empty_table()
    return RowsAnswer(selected(rows, request.params))


def adapter() -> Adapter:
    """The adapter of the installed package."""
    os.environ["TZ"] = "UTC"
    time.tzset()
    operations = {
        "read_snapshot": ERRORS.guarded(read_snapshot),
        "read_as_of": ERRORS.guarded(read_as_of),
        "read_optimized": ERRORS.guarded(read_optimized),
        "read_incremental": ERRORS.guarded(read_incremental),
        "list_file_slices": ERRORS.guarded(list_file_slices),
    }
    return Adapter(Implementation("hudi-rs", metadata.version("hudi"), "rust"), FEATURES, operations)


if __name__ == "__main__":
    serve(adapter())
