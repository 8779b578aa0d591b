"""Custom merging: what a merger is given and answers, which mergers there are, and which one a table has."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.errors import HudiError, Reason
from hudi_spark.schema import one_chunk
from hudi_spark.table_state import PROPERTIES_FILE

IMPLEMENTATIONS: Final = (
    "hoodie.write.record.merge.custom.implementation.classes",
    "hoodie.datasource.write.record.merger.impls",
)


@dataclass(frozen=True, slots=True)
class Versions:
    """One version each of many records: line i of two `Versions` that meet belongs to one record.

    `rows`: the table's columns, meta fields first; null throughout where `known` is false.
    `known`: whether the columns are there; a tombstone has none.
    `deleted`: whether the version deletes its record. It may know columns all the same.
    `ordering`: the ordering fields, null where the version has no ordering value.
    `unset`: of columns that some version leaves out (partial updates), the lines that do.

    Clauses: RM-001, RM-003, RM-004, RM-005, RM-006.
    """

    rows: pa.Table
    known: pa.Array
    deleted: pa.Array
    ordering: pa.Table
    unset: Mapping[str, pa.Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.known)

    def column(self, name: str) -> pa.Array:
        """A column, null where a version does not know or does not set it."""
        return one_chunk(self.rows.column(name))

    def sets(self, name: str) -> pa.Array:
        """For each line whether the version says what a column holds."""
        return pc.and_not(self.known, self.unset[name]) if name in self.unset else self.known

    def with_column(self, name: str, values: pa.Array) -> "Versions":
        """The same with other values in a column, which is then set in every known line."""
        index = self.rows.schema.get_field_index(name)
        unset = {other: lines for other, lines in self.unset.items() if other != name}
        return replace(self, rows=self.rows.set_column(index, self.rows.schema.field(index), values), unset=unset)

    def with_deleted(self, deleted: pa.Array) -> "Versions":
        """The same, with other lines that delete their record."""
        return replace(self, deleted=deleted)

    def completed_by(self, other: "Versions") -> "Versions":
        """The same with the other's columns wherever this does not set them.

        Clauses: RM-005, RM-006.
        """
        names = self.rows.column_names
        columns = [pc.if_else(self.sets(name), self.column(name), other.column(name)) for name in names]
        unset = {
            name: pc.and_(pc.invert(self.sets(name)), pc.invert(other.sets(name)))
            for name in {**self.unset, **other.unset}
        }
        rows = pa.Table.from_arrays(columns, schema=self.rows.schema)
        return replace(self, rows=rows, known=pc.or_(self.known, other.known), unset=unset)

    def chosen_over(self, other: "Versions", these: pa.Array) -> "Versions":
        """In the lines of `these` this version as it is, in all others the other one."""
        names = {**self.unset, **other.unset}
        return Versions(
            rows=_chosen(these, self.rows, other.rows),
            known=pc.if_else(these, self.known, other.known),
            deleted=pc.if_else(these, self.deleted, other.deleted),
            ordering=_chosen(these, self.ordering, other.ordering),
            unset={name: pc.if_else(these, _unset(self, name), _unset(other, name)) for name in names},
        )


@dataclass(frozen=True, slots=True)
class MergeContext:
    """What a table states its merger.

    `properties`: those under `hoodie.record.merge.property.`, without that prefix. `ordering`: the ordering fields.

    Clauses: RM-011.
    """

    properties: Mapping[str, str]
    ordering: tuple[str, ...]


class Merger(Protocol):
    """Makes one version of two, for many records at once.

    Clauses: RM-001, RM-002, RM-012.
    """

    strategy_id: str

    def merge(self, older: Versions, newer: Versions, context: MergeContext) -> Versions:
        """For each line the version that stands for both. It must not matter which two of three are merged first."""


class RowMerger(ABC):
    """Base class of mergers that look at one record at a time: easier to write, slower to run."""

    strategy_id: str = ""

    @abstractmethod
    def merge_rows(
        self, older: dict[str, Any] | None, newer: dict[str, Any] | None, context: MergeContext
    ) -> dict[str, Any] | None:
        """The merged row of two; None, as an argument or an answer, is a deleted record.

        Of a partial update the columns that it does not set are not in the row.
        """

    def merge(self, older: Versions, newer: Versions, context: MergeContext) -> Versions:
        """The same for all lines."""
        pairs = zip(_records(older), _records(newer), strict=True)
        merged = [self.merge_rows(first, second, context) for first, second in pairs]
        completed = newer.completed_by(older)
        return Versions(
            rows=pa.Table.from_pylist([row or {} for row in merged], newer.rows.schema),
            known=pa.array([row is not None for row in merged], pa.bool_()),
            deleted=pa.array([row is None for row in merged], pa.bool_()),
            ordering=newer.ordering,
            unset={
                name: pa.array([row is not None and name not in row for row in merged], pa.bool_())
                for name in completed.unset
            },
        )


@dataclass(frozen=True, slots=True)
class CarriedMerger:
    """A merger and its context on their way to the tasks.

    Spark's workers may not have the module that defines it (a notebook's `__main__`), so its class goes along.
    """

    merger: Merger
    context: MergeContext

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            from pyspark import cloudpickle  # noqa: PLC0415 - pyspark is optional
        except ImportError:
            return CarriedMerger, (self.merger, self.context)
        return _unpacked, (cloudpickle.dumps((self.merger, self.context)),)


_registered: dict[str, Merger] = {}


def register(merger: Merger) -> None:
    """Let tables whose strategy id is the merger's be read with it.

    A merger of the same class that was registered before is replaced.

    Raises:
        HudiError: CONFIG_INVALID for a merger without strategy id.

    Clauses: RM-002.

    """
    if not merger.strategy_id:
        raise HudiError(Reason.CONFIG_INVALID, "RM-002", f"{merger_name(merger)} has no strategy_id")
    _registered[merger_name(merger)] = merger


def merger_name(merger: Merger) -> str:
    """The name by which a list of implementations means a merger: module and class."""
    return f"{type(merger).__module__}.{type(merger).__qualname__}"


def chosen_merger(strategy_id: str, configs: Mapping[str, str]) -> Merger:
    """The first merger that is listed, or else registered, and has a table's strategy id.

    Names in the list that are not registered here belong to other engines, and are passed over.

    Raises:
        HudiError: MERGER_UNKNOWN when none fits.

    Clauses: RM-002.

    """
    text = next((configs[key] for key in IMPLEMENTATIONS if configs.get(key, "").strip()), "")
    listed = [name.strip() for name in text.split(",") if name.strip()]
    names = [name for name in listed if name in _registered] if listed else list(_registered)
    for name in names:
        if _registered[name].strategy_id == strategy_id:
            return _registered[name]
    tried = ", ".join(listed or names) or "none"
    message = f"no merger has the strategy id {strategy_id}; considered: {tried}"
    hint = "register one with hudi_spark.mergers.register"
    raise HudiError(Reason.MERGER_UNKNOWN, "RM-002", message, PROPERTIES_FILE, hint=hint)


def _unpacked(packed: bytes) -> CarriedMerger:
    from pyspark import cloudpickle  # noqa: PLC0415 - pyspark is optional

    return CarriedMerger(*cloudpickle.loads(packed))


def _records(versions: Versions) -> list[dict[str, Any] | None]:
    rows: list[dict[str, Any] | None] = versions.rows.to_pylist()
    present = pc.and_not(versions.known, versions.deleted).to_pylist()
    records = [row if there else None for row, there in zip(rows, present, strict=True)]
    for name, lines in versions.unset.items():
        for record, left_out in zip(records, lines.to_pylist(), strict=True):
            if left_out and record is not None:
                del record[name]
    return records


def _chosen(these: pa.Array, first: pa.Table, second: pa.Table) -> pa.Table:
    columns = [
        pc.if_else(these, one_chunk(one), one_chunk(other))
        for one, other in zip(first.columns, second.columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=first.schema)


def _unset(versions: Versions, name: str) -> pa.Array:
    return versions.unset.get(name, pa.repeat(pa.scalar(value=False), len(versions)))
