"""Long histories of one writer: at no moment does a check find anything, with defaults and with services at work."""

import random
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Final

import pytest
from hudi_spark import TableDefinition, check_table, create_arrow, write_arrow
from written_tables import SCHEMA, rows

_WRITES: Final = 30
_SOON: Final = {
    "hoodie.keep.min.commits": "3",
    "hoodie.keep.max.commits": "5",
    "hoodie.clean.commits.retained": "2",
}
_SETTINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "defaults": {},
    "cleaned and archived soon": _SOON,
    "one version kept": {
        **_SOON,
        "hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS",
        "hoodie.clean.fileversions.retained": "1",
    },
    "compacted": {
        **_SOON,
        "hoodie.compact.inline": "true",
        "hoodie.compact.inline.max.delta.commits": "2",
        "hoodie.metadata.compact.max.delta.commits": "2",
    },
    "clustered": {**_SOON, "hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "2"},
    "indexed": {
        **_SOON,
        "hoodie.metadata.record.index.enable": "true",
        "hoodie.metadata.index.column.stats.enable": "true",
        "hoodie.metadata.index.bloom.filter.enable": "true",
        "hoodie.metadata.compact.max.delta.commits": "2",
    },
    "without metadata table": {**_SOON, "hoodie.metadata.enable": "false"},
}
_OPERATIONS: Final = ("upsert", "upsert", "upsert", "insert", "delete", "bulk_insert", "insert_overwrite")


_HISTORIES: Final = [
    pytest.param(settings, kind, version, marks=() if (settings, version) == ("defaults", 9) else pytest.mark.slow)
    for settings, kind, version in product(_SETTINGS, ("COPY_ON_WRITE", "MERGE_ON_READ"), (6, 8, 9))
]


@pytest.mark.slow
@pytest.mark.parametrize(("settings", "kind", "version"), _HISTORIES)
def test_a_check_finds_nothing_in_the_history_of_a_single_writer(
    settings: str, kind: str, version: int, tmp_path: Path
) -> None:
    """Neither error nor warning; rows are read now and then, as they take the longest."""
    source = random.Random(f"{settings} {kind} {version}")  # noqa: S311 - a history, not secrets
    table = tmp_path / "table"
    definition = TableDefinition(
        name="trips",
        schema=SCHEMA,
        table_type=kind,
        table_version=version,
        record_key=("id",),
        partition_by=("region",),
        ordering=("ts",),
    )
    create_arrow(table, definition)
    written = list[str]()
    for number in range(_WRITES):
        written.append("upsert" if settings == "defaults" else source.choice(_OPERATIONS))
        first = 100 * number if written[-1] in {"insert", "bulk_insert"} else 0
        keys = [first + key for key in source.sample(range(8), 3)]
        write_arrow(table, rows(keys, ts=number), written[-1], configs=_SETTINGS[settings])
        if number % 3 == 0 or number == _WRITES - 1:
            found = check_table(table, deep=number % 9 == 0)
            assert found == (), f"after {written}"
