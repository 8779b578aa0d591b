"""What an adapter's author writes against: requests in, answers or typed refusals out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from hudi_adapter.reasons import Reason
from hudi_adapter.rows import Rows

if TYPE_CHECKING:
    import pyarrow as pa

PROTOCOL_VERSION = 1
READING_OPS = (
    "read_snapshot",
    "read_as_of",
    "read_optimized",
    "read_unmerged",
    "read_incremental",
    "read_changes",
    "list_timeline",
    "list_file_slices",
    "table_info",
    "check_table",
)
WRITING_OPS = (
    "create_table",
    "write",
    "begin_write",
    "stage_write",
    "commit_write",
    "abort_write",
    "schedule",
    "execute",
    "service",
)
OPS = (*READING_OPS, *WRITING_OPS)
"""All that an adapter may be asked."""


@dataclass(frozen=True)
class Implementation:
    """Who answers."""

    name: str
    version: str
    language: str = "python"


@dataclass(frozen=True)
class Request:
    """One question about one table; `table` is a fresh copy, `out_dir` an empty folder of this request.

    `location` is `table` as it was sent: for a table in an object store its URI, which is no path.
    """

    op: str
    table: Path
    params: Mapping[str, Any]
    out_dir: Path
    limit_s: float
    location: str = ""


@dataclass(frozen=True)
class AnswerWarning:
    """Something that the format lets a reader skip and report: a torn log block, for instance."""

    clause: str
    message: str
    file: str | None = None
    offset: int | None = None


@dataclass(frozen=True)
class RowsAnswer:
    """Rows: logical rows, an Arrow table, or the name of a file already written below `out_dir`."""

    rows: Rows | pa.Table | str
    warnings: tuple[AnswerWarning, ...] = ()


@dataclass(frozen=True)
class ValueAnswer:
    """A JSON value, for the ops that answer one."""

    value: Any
    warnings: tuple[AnswerWarning, ...] = ()


Answer = Union[RowsAnswer, ValueAnswer]
Operation = Callable[[Request], Answer]


class Rejected(Exception):  # noqa: N818 - the protocol's word
    """The table or the request is refused, for one of the reasons all implementations share."""

    def __init__(self, reason: Reason | str, message: str, native: str = "") -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = Reason(reason)
        self.message = message
        self.native = native


class Unsupported(Exception):  # noqa: N818 - the protocol's word
    """The implementation does not have this feature (or op) yet."""

    def __init__(self, feature: str) -> None:
        super().__init__(feature)
        self.feature = feature


def _nothing() -> None:
    """Neither opening nor closing is needed."""


@dataclass(frozen=True)
class Adapter:
    """What `serve` runs: the implementation's name, its features and one function for each op it has.

    `on_start` runs before the `start` message is answered (a Spark session, say), `on_stop` at the end.
    """

    implementation: Implementation
    features: tuple[str, ...]
    operations: Mapping[str, Operation]
    on_start: Callable[[], None] = field(default=_nothing)
    on_stop: Callable[[], None] = field(default=_nothing)
