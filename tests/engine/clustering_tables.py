"""Small tables whose rows lie in several files of each partition, and what clustering them leaves."""

from pathlib import Path
from typing import Any

import pyarrow as pa
from hudi_format.storage import LocalStorage
from hudi_format.timeline.plan_values import ClusteringPlan
from hudi_format.timeline.plans import parse_requested_replace
from hudi_spark import read_arrow
from hudi_spark.testing import (
    Hook,
    InProcess,
    Instant,
    Outcome,
    TableServices,
    Timeline,
    load_table,
    validate_metadata_table,
)
from written_tables import Written, rows

SERVICE = "clustering"
SEPARATE_FILES = {"hoodie.parquet.small.file.limit": "0", "hoodie.clean.automatic": "false"}


def clusterable(path: Path, table_type: str = "COPY_ON_WRITE", version: int = 9, **configs: str) -> Written:
    """A table of two partitions with two files each, updated and deleted rows among them; `__` for a dot."""
    given = {key.replace("__", "."): value for key, value in configs.items()}
    table = Written(path, table_type, version, configs={**SEPARATE_FILES, **given})
    table.write("insert", rows(range(20)))
    table.write("insert", rows(range(20, 40), ts=2, price=2.0))
    table.write("upsert", rows(range(10, 30, 3), ts=3, price=3.0))
    table.write("delete", rows([0, 1, 25], ts=4))
    return table


def schedule(table: Written, **configs: str) -> str | None:
    """The time of a plan."""
    return services(table).schedule(SERVICE, _named(configs))


def execute(table: Written, requested: str | None, **configs: str) -> Outcome:
    """A plan carried out."""
    assert requested is not None
    return services(table).execute(requested, _named(configs))


def cluster(table: Written, **configs: str) -> Outcome | None:
    """Whatever waits, then a plan of its own."""
    return services(table).run(SERVICE, _named(configs))


def _named(configs: dict[str, str]) -> dict[str, str]:
    return {key.replace("__", "."): value for key, value in configs.items()}


def services(table: Written, hook: Hook | None = None) -> TableServices:
    """Its services, by tasks whose files have names of their own; a hook sees their effects."""
    return table.services(hook, executor=InProcess())


def stored(table: Written) -> list[dict[str, Any]]:
    """The rows of a snapshot with what they say of their write, but for the names of their files."""
    found: pa.Table = read_arrow(table.path, meta_columns=True).drop_columns(["_hoodie_file_name"])
    return sorted(found.to_pylist(), key=lambda row: row["_hoodie_record_key"])


def timeline(table: Written) -> Timeline:
    """The active timeline."""
    return load_table(LocalStorage(table.path))[1]


def pending(table: Written) -> list[Instant]:
    """What has not completed."""
    return [one for one in timeline(table).instants if not one.is_completed]


def plan(table: Written, requested: str | None) -> ClusteringPlan:
    """The plan of a pending clustering."""
    instant = next(one for one in timeline(table).instants if one.requested == requested)
    name = instant.files["REQUESTED"]
    found = parse_requested_replace((table.path / name).read_bytes(), name).clustering_plan
    assert found is not None
    return found


def findings(table: Written) -> tuple[Any, ...]:
    """What the metadata table says wrongly."""
    return validate_metadata_table(LocalStorage(table.path), InProcess())


def data_files(table: Written) -> list[str]:
    """Paths of base files and logs."""
    names = (name for name in table.files() if not name.startswith(".hoodie"))
    return [name for name in names if ".parquet" in name or ".log." in name]
