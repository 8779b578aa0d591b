"""Keys and paths of rows that Apache Hudi wrote.

`apache_keys/rows.parquet` holds the rows, `vectors.json` what Apache Hudi 1.1.1 (a few: 0.15.0) made of them when they
were inserted: for each table its properties, the options beside them, and the key and path of each row.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hudi_format.storage import LocalStorage
from hudi_format.table.properties import serialise_properties
from hudi_spark.keys import key_generator
from hudi_spark.testing import TaskIdentity, load_configuration, resolve

FOLDER = Path(__file__).parent / "apache_keys"
VECTORS: Mapping[str, Mapping[str, Any]] = json.loads((FOLDER / "vectors.json").read_text("utf-8"))
ROWS = pq.read_table(FOLDER / "rows.parquet")


def configuration_of(folder: Path, properties: Mapping[str, str]) -> Any:
    """The configuration of a table with these properties."""
    (folder / ".hoodie").mkdir(exist_ok=True)
    named = {"hoodie.table.name": "t", "hoodie.timeline.layout.version": "2", **properties}
    (folder / ".hoodie" / "hoodie.properties").write_bytes(serialise_properties(named))
    return load_configuration(LocalStorage(folder))


@pytest.mark.parametrize("name", sorted(VECTORS))
def test_keys_and_paths_are_those_of_apache_hudi(name: str, tmp_path: Path):
    """Every key generator, type of field, pattern and zone gives the texts that a released writer gave."""
    vector = VECTORS[name]
    generator = key_generator(configuration_of(tmp_path, vector["properties"]), resolve(vector["options"]))
    rows = ROWS.take(vector["rows"]) if "rows" in vector else ROWS
    keys = rows["id"].to_pylist() if vector["keys"] == ["<id>"] else vector["keys"]
    paths = vector["paths"] * len(rows) if len(vector["paths"]) == 1 else vector["paths"]
    assert generator.keys(rows, TaskIdentity(0, 0, 0), "20260101000000000").to_pylist() == keys
    assert generator.partition_paths(rows).to_pylist() == paths
