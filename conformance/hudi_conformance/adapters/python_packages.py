"""What adapters over a reader's Python package share: which columns are answered, and what the reader's errors mean."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from hudi_adapter.protocol import Answer, Operation, Rejected, Request, Unsupported
from hudi_adapter.reasons import Reason

from hudi_conformance.apache.hudi_views import META_FIELDS

_KEPT_TEXT = 4000


@dataclass(frozen=True, slots=True)
class NativeErrors:
    """What the errors of a reader say, as patterns in the order in which they are tried.

    `unsupported` ends in the feature that it lacks, `refused` in the reason of a refusal.
    """

    unsupported: tuple[tuple[str, str], ...]
    refused: tuple[tuple[str, Reason], ...]

    def refusal(self, text: str) -> Rejected | Unsupported | None:
        """The refusal that an error's text amounts to; None when it says nothing we know."""
        for pattern, feature in self.unsupported:
            if re.search(pattern, text):
                return Unsupported(feature)
        for pattern, reason in self.refused:
            if re.search(pattern, text):
                return Rejected(reason, text.splitlines()[0], native=text[:_KEPT_TEXT])
        return None

    def guarded(self, operation: Operation) -> Operation:
        """The operation, with the reader's errors as refusals where they are any."""

        def run(request: Request) -> Answer:
            try:
                return operation(request)
            except (Rejected, Unsupported):
                raise
            except BaseException as error:
                # A Rust panic arrives as an exception that is no Exception; whatever ends the process does so still.
                if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                    raise
                text = f"{type(error).__name__}: {error}"
                raise self.refusal(text) or RuntimeError(text) from error

        return run


def selected(rows: pa.Table, params: Mapping[str, Any]) -> pa.Table:
    """The columns that a request names: without meta fields unless it wants them."""
    with_meta = bool(params.get("meta_columns", False))
    columns = params.get("columns")
    names = [name for name in rows.column_names if with_meta or not name.startswith("_hoodie_")]
    if columns is not None:
        meta = [name for name in names if name in META_FIELDS and name not in columns]
        names = [*meta, *(name for name in rows.column_names if name in columns)]
    return rows.select(names)
