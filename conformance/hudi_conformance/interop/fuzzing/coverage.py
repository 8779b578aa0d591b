"""What the histories of a run had: values of each dimension, and pairs of values of two dimensions."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hudi_conformance.corpus.table_shapes import COLUMNS, Step, TableShape, WriteCase
from hudi_conformance.interop.fuzzing.column_values import dated_partitions
from hudi_conformance.interop.fuzzing.service_steps import FAILED_WRITES, INLINE, METADATA, is_service
from hudi_conformance.interop.fuzzing.strategies import COUNTER, LEFT_OUT, MERGER, PAYLOAD, WIDENED

_COMPLEX = "composite: "
Value = tuple[str, str]


@dataclass(slots=True)
class Coverage:
    """How many histories had each value, and each two values of different dimensions."""

    values: Counter[Value] = field(default_factory=Counter)
    pairs: Counter[tuple[Value, Value]] = field(default_factory=Counter)

    def add(self, case: WriteCase) -> None:
        """Count one history."""
        found = sorted(set(values_of(case)))
        self.values.update(found)
        self.pairs.update(pair for pair in itertools.combinations(found, 2) if pair[0][0] != pair[1][0])

    def lines(self) -> Iterator[str]:
        """A line for each dimension with the count of each value, and one for pairs."""
        dimensions = self._by_dimension()
        for name, counts in dimensions.items():
            yield f"{name} ({len(counts)}): " + ", ".join(f"{value} {count}" for value, count in counts)
        possible = sum(len(one) * len(two) for one, two in itertools.combinations(dimensions.values(), 2))
        yield f"pairs of values: {len(self.pairs)} of {possible}; some of the others cannot go together"

    def _by_dimension(self) -> Mapping[str, Sequence[tuple[str, int]]]:
        found = defaultdict[str, list[tuple[str, int]]](list)
        for (name, value), count in sorted(self.values.items()):
            found[name].append((value, count))
        return found


def values_of(case: WriteCase) -> Iterator[Value]:
    """The values of each dimension that a history has; it may have several operations and services."""
    shape = case.shape
    types, configs, properties = dict(shape.columns), shape.configs, shape.properties
    yield "table version", str(shape.version)
    yield "table type", shape.table_type
    yield "key type", _typed(shape.record_key, types)
    yield "partition type", _typed(shape.partition_by, types)
    yield "ordering type", _typed(shape.ordering, types)
    yield "merge mode", _merging(shape)
    yield "index", configs.get("hoodie.index.bucket.engine") or configs.get("hoodie.index.type") or "default"
    yield "metadata table", "on" if configs.get(METADATA) == "true" else "off"
    for key, name in _METADATA.items():
        if configs.get(key, "false") != "false":
            yield "metadata index", name
    yield "log format", configs.get("hoodie.logfile.data.block.format", "avro")
    yield "change feed", properties.get("hoodie.table.cdc.supplemental.logging.mode", "off").upper()
    yield "meta fields", "off" if properties.get("hoodie.populate.meta.fields") == "false" else "on"
    yield (
        "partition style",
        ", ".join(name for key, name in _STYLES.items() if properties.get(key) == "true") or "plain",
    )
    dated = dated_partitions(shape)
    yield "partitions of dates", dated.name if dated else "none"
    for name, _ in COLUMNS[-2:]:
        yield "other columns", types[name]
    for name in sorted({*_OPTIONS} & configs.keys()):
        yield "write option", f"{name.removeprefix('hoodie.')} {configs[name]}"
    for name in (one for one in INLINE if configs.get(one) == "true"):
        yield "service of writers", name.removeprefix("hoodie.")
    yield "failed writes", configs.get(FAILED_WRITES, "EAGER")
    for step in case.steps:
        yield from _of_step(step)


def _of_step(step: Step) -> Iterator[Value]:
    if step.phases:
        yield "interruption", f"{step.phases[-1]}, {'process dies' if step.crashes else 'completed later'}"
    yield ("service" if is_service(step) else "operation"), step.operation
    if step.parameters:
        altered = [one["change"] for one in step.parameters.get("changes", ())]
        yield "index or column changed", f"{step.operation} {step.parameters.get('index') or altered[0]}"
    for key in _POLICIES:
        if key in step.configs:
            yield "service policy", f"{key.rpartition('.')[2]} {step.configs[key]}"


_METADATA = {
    "hoodie.metadata.index.column.stats.enable": "column stats",
    "hoodie.metadata.index.bloom.filter.enable": "bloom filters",
    "hoodie.metadata.record.index.enable": "record index",
    "hoodie.metadata.index.secondary.column": "secondary index",
}
_STYLES = {
    "hoodie.datasource.write.hive_style_partitioning": "hive",
    "hoodie.datasource.write.partitionpath.urlencode": "encoded",
}
_OPTIONS = (
    "hoodie.archive.beyond.savepoint",
    "hoodie.bloom.index.update.partition.path",
    "hoodie.combine.before.delete",
    "hoodie.combine.before.insert",
    "hoodie.combine.before.upsert",
    "hoodie.datasource.insert.dup.policy",
    "hoodie.merge.allow.duplicate.on.inserts",
    "hoodie.metadata.index.partition.stats.enable",
    "hoodie.record.index.update.partition.path",
    "hoodie.rollback.using.markers",
    WIDENED,
    LEFT_OUT,
    "hoodie.simple.index.update.partition.path",
)
_MERGERS = {COUNTER: "counter"}
_POLICIES = ("hoodie.clean.policy", "hoodie.clustering.plan.strategy.sort.columns")


def _merging(shape: TableShape) -> str:
    payload, merger = (shape.properties.get(name, "") for name in (PAYLOAD, MERGER))
    return payload.rpartition(".")[2] or _MERGERS.get(merger) or shape.merge_mode or "inferred"


def _typed(names: Sequence[str], types: Mapping[str, str]) -> str:
    kinds = ", ".join(types[name] for name in names)
    return f"{_COMPLEX}{kinds}" if len(names) > 1 else kinds or "none"
