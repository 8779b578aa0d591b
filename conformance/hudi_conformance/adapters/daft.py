"""Daft as an adapter: `python -m hudi_conformance.adapters.daft`, over `daft.read_hudi` of its Python package.

Daft reads snapshots of copy-on-write tables of versions 5 and 6; what else is asked it says it does not support.
"""

import os
import time
from importlib import metadata
from typing import Any

from hudi_adapter.arrow_types import logical_type
from hudi_adapter.filters import And, Comparison, Filter, Not, Or, parse_filter
from hudi_adapter.protocol import Adapter, Answer, Implementation, Request, RowsAnswer, Unsupported
from hudi_adapter.reasons import Reason
from hudi_adapter.serving import serve
from hudi_adapter.values import decode_value

from hudi_conformance.adapters.python_packages import NativeErrors, selected
from hudi_conformance.apache.spark_filters import OPERATORS

FEATURES = (
    "table-version-5",
    "table-version-6",
    "cow",
    "base-parquet",
    "filter",
    "projection",
    "meta-columns",
)
# What its errors say, in the order in which they are tried.
ERRORS = NativeErrors(
    unsupported=(
        (r"Only support COPY_ON_WRITE table", "mor"),
        (r"Only support table version 5 and 6", "table-version-other-than-5-and-6"),
        (r"Only support timeline layout version 1", "timeline-layout-other-than-1"),
        (r"drop\.partition\.columns` is disabled", "drop-partition-columns"),
    ),
    refused=(
        (r"(?s)No such file.*hoodie\.properties|hoodie\.properties.*(?:No such file|[Nn]ot found)", Reason.NOT_A_TABLE),
        (r"Missing required table config|KeyError: 'hoodie\.", Reason.PROPERTIES_INVALID),
        (r"JSONDecodeError", Reason.TIMELINE_FILE_CORRUPT),
        (r"(?s)(?:No such file|not found).*\.parquet|\.parquet.*(?:No such file|not found)", Reason.BASE_FILE_MISSING),
        (
            r"(?s)Parquet magic bytes|Parquet file size is \d+ bytes|[Pp]arquet.*(?:corrupt|footer)",
            Reason.BASE_FILE_CORRUPT,
        ),
    ),
)


def read_snapshot(request: Request) -> Answer:
    """Rows of the latest completed state."""
    import daft  # noqa: PLC0415  an optional package, slow to import

    frame = daft.read_hudi(str(request.table))
    if request.params.get("filter") is not None:
        frame = frame.where(_condition(frame, parse_filter(request.params["filter"])))
    return RowsAnswer(selected(frame.to_arrow(), request.params))


def _condition(frame: Any, condition: Filter) -> Any:
    """The filter as an expression over the frame's columns."""
    match condition:
        case And(parts):
            first, *others = (_condition(frame, part) for part in parts)
            for other in others:
                first = first & other
            return first
        case Or(parts):
            first, *others = (_condition(frame, part) for part in parts)
            for other in others:
                first = first | other
            return first
        case Not(part):
            return ~_condition(frame, part)
        case Comparison():
            return _comparison(frame, condition)


def _comparison(frame: Any, condition: Comparison) -> Any:
    column = _column(condition)
    if condition.operator == "is_null":
        return column.is_null()
    if condition.operator == "is_not_null":
        return column.not_null()
    if condition.operator == "in":
        return column.is_in([_literal(frame, condition, value) for value in condition.value])
    return OPERATORS[condition.operator](column, _literal(frame, condition, condition.value))


def _column(condition: Comparison) -> Any:
    import daft  # noqa: PLC0415

    column, function = daft.col(condition.column.name), condition.column.function
    if function == "identity":
        return column
    if condition.column.arguments or not hasattr(column, function):
        raise Unsupported(f"filter-function-{function}")
    return getattr(column, function)()


def _literal(frame: Any, condition: Comparison, value: Any) -> Any:
    """The value in Python's words; under a function, or where it is no text, as it stands in JSON."""
    import daft  # noqa: PLC0415

    if condition.column.function != "identity" or not isinstance(value, str):
        return daft.lit(value)
    kind = frame.schema().to_pyarrow_schema().field(condition.column.name).type
    return daft.lit(decode_value(value, logical_type(kind)))


def adapter() -> Adapter:
    """The adapter of the installed package."""
    os.environ.update(TZ="UTC", DAFT_PROGRESS_BAR="0", DAFT_ANALYTICS_ENABLED="0", DO_NOT_TRACK="true")
    time.tzset()
    operations = {"read_snapshot": ERRORS.guarded(read_snapshot)}
    return Adapter(Implementation("daft", metadata.version("daft"), "rust"), FEATURES, operations)


if __name__ == "__main__":
    serve(adapter())
