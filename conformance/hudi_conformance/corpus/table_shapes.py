"""A sequence of writes as a value: the table's shape, and the steps; written down as JSON, repeated from it."""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from hudi_adapter.rows import Rows
from hudi_adapter.values import decode_value, encode_value
from hudi_model.files import Field, Schema

from hudi_conformance.bridge.schemas import avro_schema

Columns = tuple[tuple[str, str], ...]
COLUMNS: Columns = (
    ("id", "string"),
    ("number", "int64"),
    ("kind", "string"),
    ("city", "string"),
    ("ts", "int64"),
    ("fare", "float64"),
    ("note", "string"),
)
MARK = ("_hoodie_is_deleted", "boolean")
"""A column by which rows delete their keys (MG-008)."""
SMALL_FILE_LIMIT = "hoodie.parquet.small.file.limit"
"""Zero in every case: where a new key goes, and so what is in base files alone, must not depend on sizes of files."""
_PAYLOADS = {
    "COMMIT_TIME_ORDERING": "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload",
    "EVENT_TIME_ORDERING": "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
}
_TABLE = "rides"
VERSION_CHANGES = ("upgrade", "downgrade")
"""Services that give a table another version, which stands behind the word."""


@dataclass(frozen=True, slots=True)
class TableShape:
    """What a table is made with, and the settings that go with every write.

    `columns`: name and logical type of each. `record_key`, `partition_by`, `ordering`: names of columns. `required`:
    columns that may not be null; the schema of a table that has some states null last in the others, without a default.
    `label`: what distinguishes the shape from others of its type and version.
    """

    version: int
    table_type: str
    record_key: tuple[str, ...] = ("id",)
    partition_by: tuple[str, ...] = ()
    ordering: tuple[str, ...] = ()
    merge_mode: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    configs: Mapping[str, str] = field(default_factory=dict)
    columns: Columns = COLUMNS
    required: tuple[str, ...] = ()
    label: str = ""

    @property
    def has_completion_times(self) -> bool:
        """Whether ranges are bounded by completion times, not by requested ones."""
        return self.version >= 8

    @property
    def has_global_index(self) -> bool:
        """Whether writers find a key in any partition."""
        index = _index_of(self.configs)
        return index.startswith("GLOBAL") or index == "RECORD_INDEX"

    @property
    def keeps_places(self) -> bool:
        """Whether a global index leaves a row in the partition where its key is, whatever the row says itself."""
        index = _index_of(self.configs).removeprefix("GLOBAL_").partition("_")[0].lower()
        usual = "false" if index == "record" else "true"
        moves = self.configs.get(f"hoodie.{index}.index.update.partition.path", usual)
        return self.has_global_index and moves == "false"

    def create_params(self, schema: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The parameters of `create_table`; `schema` in place of that of the columns."""
        made = {
            "name": _TABLE,
            "schema": json.dumps(_requiring(schema or avro_of(self.columns), self.required)),
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


def _index_of(configs: Mapping[str, str]) -> str:
    return configs.get("hoodie.index.type", "")


@dataclass(frozen=True, slots=True)
class Step:
    """One write: its rows with their columns, or partitions, or a filter; settings of its own. Or a table service.

    `target`: the step (from 1) that a service is about; `parameters`: what else it is given. `phases`: how far a write
    goes that does not complete in its step, begun or staged; `crashes`: its process ends there, where it would wait for
    a later step.
    """

    operation: str
    columns: tuple[tuple[str, str], ...] = ()
    rows: tuple[tuple[Any, ...], ...] | None = None
    partitions: tuple[str, ...] = ()
    filter: Any = None
    configs: Mapping[str, str] = field(default_factory=dict)
    target: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    phases: tuple[str, ...] = ()
    crashes: bool = False

    def input(self) -> Rows | None:
        """The rows as protocol rows; None where the write brings none."""
        return None if self.rows is None else Rows(self.columns, self.rows)

    def params(self, shape: TableShape) -> dict[str, Any]:
        """The parameters of `write`, beside the rows."""
        built: dict[str, Any] = {"operation": self.operation, "configs": {**shape.configs, **self.configs}}
        if self.partitions:
            built["partitions"] = list(self.partitions)
        if self.filter is not None:
            built["filter"] = self.filter
        return built


@dataclass(frozen=True, slots=True)
class WriteCase:
    """A table's shape and the writes to it, in order."""

    shape: TableShape
    steps: tuple[Step, ...]

    def changed_version(self, steps: int) -> int:
        """Which of these steps gave the table another version last; 0 where none did."""
        words = (step.operation.partition(" ")[0] for step in self.steps[:steps])
        return max((number for number, word in enumerate(words, start=1) if word in VERSION_CHANGES), default=0)

    def shape_after(self, steps: int) -> TableShape:
        """The table's shape after these steps, some of which may give it another version."""
        changed = self.changed_version(steps)
        version = self.steps[changed - 1].operation.partition(" ")[2] if changed else self.shape.version
        return replace(self.shape, version=int(version))

    def to_json(self) -> str:
        """A few lines: one for the shape, one for each step."""
        shape = {key: value for key, value in asdict(self.shape).items() if value}
        if self.shape.columns == COLUMNS:
            del shape["columns"]
        steps = [_entry(step) for step in self.steps]
        lines = ",\n".join(f"  {_line(step)}" for step in steps)
        return f'{{"shape": {_line(shape)},\n "steps": [\n{lines}\n]}}\n'

    @classmethod
    def from_json(cls, text: str) -> "WriteCase":
        """The case that `to_json` wrote down."""
        entry = json.loads(text)
        lists = ("record_key", "partition_by", "ordering", "required")
        shape: dict[str, Any] = {key: tuple(one) if key in lists else one for key, one in entry["shape"].items()}
        if "columns" in shape:
            shape["columns"] = _pairs(shape["columns"])
        return cls(TableShape(**shape), tuple(_step(one) for one in entry["steps"]))


def _requiring(schema: Mapping[str, Any], required: Collection[str]) -> Mapping[str, Any]:
    """The schema with these columns required and null last in the others; as it is where none is required."""
    return {**schema, "fields": [_stated(one, required) for one in schema["fields"]]} if required else schema


def _stated(field: Mapping[str, Any], required: Collection[str]) -> dict[str, Any]:
    _, kind = field["type"]
    return {"name": field["name"], "type": kind if field["name"] in required else [kind, "null"]}


def avro_of(columns: Columns) -> dict[str, Any]:
    """The columns as an Avro record, each of them nullable."""
    return avro_schema(Schema(tuple(Field(name, kind) for name, kind in columns)), _TABLE)


def _entry(step: Step) -> dict[str, Any]:
    """A step with its rows in the JSON form of their logical types."""
    entry = {key: value for key, value in asdict(step).items() if value or key == "operation"}
    if step.rows:
        entry["rows"] = [
            [encode_value(value, kind) for value, (_, kind) in zip(row, step.columns, strict=True)] for row in step.rows
        ]
    return entry


def _step(entry: Mapping[str, Any]) -> Step:
    columns = _pairs(entry.get("columns", ()))
    names = ("partitions", "phases")
    tuples: dict[str, Any] = {"columns": columns, **{name: tuple(entry.get(name, ())) for name in names}}
    if "rows" in entry:
        tuples["rows"] = tuple(
            tuple(decode_value(form, kind) for form, (_, kind) in zip(row, columns, strict=True))
            for row in entry["rows"]
        )
    return Step(**{**entry, **tuples})


def _pairs(listed: Any) -> Columns:
    return tuple((str(name), str(kind)) for name, kind in listed)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
