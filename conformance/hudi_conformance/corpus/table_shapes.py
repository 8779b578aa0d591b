"""A sequence of writes as a value: the table's shape, and the steps; written down as JSON, repeated from it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from hudi_adapter.rows import Rows

COLUMNS = (
    ("id", "string"),
    ("number", "int64"),
    ("kind", "string"),
    ("city", "string"),
    ("ts", "int64"),
    ("fare", "float64"),
    ("note", "string"),
)
SMALL_FILE_LIMIT = "hoodie.parquet.small.file.limit"
"""Zero in every case: where a new key goes, and so what is in base files alone, must not depend on sizes of files."""
_PAYLOADS = {
    "COMMIT_TIME_ORDERING": "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload",
    "EVENT_TIME_ORDERING": "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
}
_AVRO = {"string": "string", "int64": "long", "float64": "double", "int32": "int", "boolean": "boolean"}


@dataclass(frozen=True, slots=True)
class TableShape:
    """What a table is made with, and the settings that go with every write.

    `fields`: the columns of the key, of the partition and of the ordering. `label`: what tells the shape from others of
    its type and version.
    """

    version: int
    table_type: str
    record_key: tuple[str, ...] = ("id",)
    partition_by: tuple[str, ...] = ()
    ordering: tuple[str, ...] = ()
    merge_mode: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    configs: Mapping[str, str] = field(default_factory=dict)
    label: str = ""

    @property
    def has_completion_times(self) -> bool:
        """Whether ranges are bounded by completion times, not by requested ones."""
        return self.version >= 8

    def create_params(self, schema: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The parameters of `create_table`; the columns are those of drawn rows unless told."""
        made = {
            "name": "rides",
            "schema": json.dumps(schema or avro_schema(COLUMNS)),
            "table_type": self.table_type,
            "table_version": self.version,
            "record_key": list(self.record_key),
            "partition_by": list(self.partition_by),
            "ordering": list(self.ordering),
            "properties": dict(self.properties),
        }
        if self.merge_mode and self.version < 8:
            # Such tables merge by a payload class; it is that of the mode.
            payload = {"hoodie.compaction.payload.class": _PAYLOADS[self.merge_mode]}
            return {**made, "properties": {**payload, **self.properties}}
        return {**made, "merge_mode": self.merge_mode} if self.merge_mode else made


@dataclass(frozen=True, slots=True)
class Step:
    """One write: its rows with their columns, or partitions, or a filter; settings of its own. Or a table service.

    `target`: the step (from 1) that a service is about.
    """

    operation: str
    columns: tuple[tuple[str, str], ...] = ()
    rows: tuple[tuple[Any, ...], ...] | None = None
    partitions: tuple[str, ...] = ()
    filter: Any = None
    configs: Mapping[str, str] = field(default_factory=dict)
    target: int = 0

    def input(self) -> Rows | None:
        """The rows as protocol rows; None where the write brings none."""
        return None if self.rows is None else Rows(self.columns, self.rows)

    def params(self, shape: TableShape) -> dict[str, Any]:
        """The parameters of `write`, beside the rows."""
        asked: dict[str, Any] = {"operation": self.operation, "configs": {**shape.configs, **self.configs}}
        if self.partitions:
            asked["partitions"] = list(self.partitions)
        if self.filter is not None:
            asked["filter"] = self.filter
        return asked


@dataclass(frozen=True, slots=True)
class WriteCase:
    """A table's shape and the writes to it, in order."""

    shape: TableShape
    steps: tuple[Step, ...]

    def to_json(self) -> str:
        """A few lines: one for the shape, one for each step."""
        shape = {key: value for key, value in asdict(self.shape).items() if value}
        steps = [
            {key: value for key, value in asdict(step).items() if value or key == "operation"} for step in self.steps
        ]
        lines = ",\n".join(f"  {_line(step)}" for step in steps)
        return f'{{"shape": {_line(shape)},\n "steps": [\n{lines}\n]}}\n'

    @classmethod
    def from_json(cls, text: str) -> "WriteCase":
        """The case that `to_json` wrote down."""
        entry = json.loads(text)
        lists = ("record_key", "partition_by", "ordering")
        shape: dict[str, Any] = {key: tuple(one) if key in lists else one for key, one in entry["shape"].items()}
        return cls(TableShape(**shape), tuple(_step(one) for one in entry["steps"]))


def avro_schema(columns: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """The columns as an Avro record, each of them nullable."""
    fields = [{"name": name, "type": ["null", _AVRO[kind]], "default": None} for name, kind in columns]
    return {"type": "record", "name": "rides_record", "namespace": "hoodie.rides", "fields": fields}


def _step(entry: Mapping[str, Any]) -> Step:
    tuples = {name: tuple(map(tuple, entry[name])) for name in ("columns", "rows") if name in entry}
    return Step(**{**entry, **tuples, "partitions": tuple(entry.get("partitions", ()))})


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
