"""Tables whose logs wait for a compaction, and what is asked of them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hudi_format.storage import LocalStorage
from hudi_format.timeline.commit_metadata import CommitMetadata, parse_commit_metadata
from hudi_format.timeline.plans import CompactionPlan, parse_compaction_plan
from hudi_spark import read_arrow
from hudi_spark.testing import Effect, Instant, load_table
from written_tables import Written, rows

NOW = {"hoodie.compact.inline.max.delta.commits": "1"}
VERSIONS = (6, 8, 9)
META = ("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key")


def logged(path: Path, version: int, **more: Any) -> Written:
    """A table with rows in two partitions; updated, deleted and added to in logs and base files."""
    configs = {"hoodie.parquet.small.file.limit": "0", "hoodie.metadata.enable": "false", **more.pop("configs", {})}
    table = Written(path, "MERGE_ON_READ", version, configs=configs, **more)
    table.write("insert", rows(range(6)))
    table.write("upsert", rows((0, 1, 7), ts=2, price=2.0))
    table.write("delete", rows((2, 3), ts=3))
    table.write("upsert", rows((4, 5), ts=0, price=9.0))
    return table


def whole(table: Written) -> list[str]:
    """Every row with its meta fields but the name of its file, which compaction changes."""
    answer = read_arrow(table.path, meta_columns=True)
    return sorted(map(repr, answer.drop_columns(["_hoodie_file_name"]).to_pylist()))


def instants(table: Written) -> tuple[Instant, ...]:
    return load_table(LocalStorage(table.path))[1].instants


def committed(table: Written, requested: str) -> CommitMetadata:
    (found,) = (one for one in instants(table) if one.requested == requested)
    return parse_commit_metadata((table.path / found.file).read_bytes(), found.file)


def rewritten(table: Written, requested: str, partition: str) -> Path:
    """The base file that a compaction wrote in a partition."""
    (found,) = (one for one in committed(table, requested).write_stats if one.partition_path == partition)
    return table.path / (found.path or "")


def plan_of(table: Written, requested: str) -> CompactionPlan:
    """The plan of a compaction, or of a log compaction."""
    name = instant_of(table, requested).files["REQUESTED"]
    return parse_compaction_plan((table.path / name).read_bytes(), name)


def instant_of(table: Written, requested: str) -> Instant:
    return next(one for one in instants(table) if one.requested == requested)


@dataclass
class Meanwhile:
    """Does something after the first effect of a name."""

    name: str
    does: Callable[[], None]
    done: bool = False

    def before(self, effect: Effect) -> None:
        del effect

    def after(self, effect: Effect) -> None:
        if effect.name == self.name and not self.done:
            self.done = True
            self.does()
