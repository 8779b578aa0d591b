"""Small tables that the engine itself writes, for the tests of writing."""

import copy
import shutil
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from hudi_format.storage import LocalStorage
from hudi_spark import TableDefinition, create_arrow, read_arrow
from hudi_spark.testing import (
    Effect,
    Hook,
    InlineServices,
    InProcess,
    SetClock,
    TableServices,
    TableWriter,
    TaskIdentity,
    WriteRequest,
)

SCHEMA = pa.schema([("id", pa.string()), ("region", pa.string()), ("ts", pa.int64()), ("price", pa.float64())])
NOW = "20250101000000000"


def rows(ids: Sequence[int], ts: int | None = 1, price: float = 1.0, schema: pa.Schema = SCHEMA) -> pa.Table:
    """A row for each number: keys k<n>, odd ones in the north."""
    values: Mapping[str, list[Any]] = {
        "id": [f"k{n}" for n in ids],
        "region": ["north" if n % 2 else "süd" for n in ids],
        "ts": [ts] * len(ids),
        "price": [price] * len(ids),
    }
    return pa.table({name: values[name] for name in schema.names}, schema=schema)


def fixed_identity(number: int) -> TaskIdentity:
    """The same task for every part: names and bytes of files repeat."""
    del number
    return TaskIdentity(0, 0, 0)


def random_file_id() -> str:
    """A file id as writers make it that take none from tests."""
    return f"{uuid.uuid4()}-0"


@dataclass
class CountedIds:
    """File ids that count."""

    given: int = 0

    def __call__(self) -> str:
        self.given += 1
        return f"{self.given:08d}-0000-4000-8000-000000000000-0"


@dataclass
class OnceBefore:
    """A hook that does something once: before an effect of a name comes up for the n-th time, the first by default."""

    name: str
    does: Callable[[], object]
    left: int = 1

    def before(self, effect: Effect) -> None:
        if effect.name == self.name:
            self.left -= 1
            if self.left == 0:
                self.does()

    def after(self, effect: Effect) -> None:
        """Nothing."""


@dataclass
class Written:
    """A table, and how it is written: with a clock that is set and file ids that count."""

    path: Path
    table_type: str = "COPY_ON_WRITE"
    version: int = 9
    ordering: tuple[str, ...] = ("ts",)
    partition_by: tuple[str, ...] = ("region",)
    configs: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        definition = TableDefinition(
            name="trips",
            schema=SCHEMA,
            table_type=self.table_type,
            table_version=self.version,
            record_key=("id",),
            partition_by=self.partition_by,
            ordering=self.ordering,
            configs=dict(self.properties),
        )
        create_arrow(self.path, definition)
        self.clock = SetClock(NOW)
        self.file_id = CountedIds()

    def writer(self, storage: Any = None, **more: Any) -> TableWriter:
        """Who writes to it."""
        executor = more.pop("executor", InProcess(fixed_identity))
        ids = more.pop("file_ids", self.file_id)
        held = storage or LocalStorage(self.path)
        return TableWriter(held, executor, dict(self.configs), clock=self.clock, file_ids=ids, **more)

    def write(self, operation: str, given: Any = None, **more: Any) -> Any:
        """One write."""
        return self.writer().write(WriteRequest(operation, given, **more))

    def write_and_serve(self, operation: str, given: Any = None, **more: Any) -> Any:
        """One write, and the services that its options request."""
        writer = self.writer(executor=InProcess(), lifecycle=InlineServices())
        return writer.write(WriteRequest(operation, given, **more))

    def services(
        self, hook: Hook | None = None, configs: Mapping[str, str] | None = None, **more: Any
    ) -> TableServices:
        """Its services, with further options; a hook sees their effects."""
        writer = self.writer(**({} if hook is None else {"hook": hook}), **more)
        return TableServices(replace(writer, configs={**writer.configs, **(configs or {})}))

    def copied(self, path: Path) -> "Written":
        """The same table in another place."""
        shutil.copytree(self.path, path)
        found = copy.copy(self)
        found.path, found.clock = path, SetClock(self.clock.now)
        return found

    def found(self, columns: Sequence[str] = ("id", "price")) -> list[tuple[Any, ...]]:
        """The rows of a snapshot, sorted."""
        table = read_arrow(self.path, columns=list(columns))
        return sorted(zip(*(table.column(name).to_pylist() for name in columns), strict=True), key=repr)

    def ids(self) -> list[str]:
        """The keys of a snapshot, sorted."""
        return [key for (key,) in self.found(("id",))]

    def files(self) -> list[str]:
        """Names of all files below the table, without those of Hadoop's checksums."""
        return sorted(str(path.relative_to(self.path)) for path in self.path.rglob("*") if path.is_file())
