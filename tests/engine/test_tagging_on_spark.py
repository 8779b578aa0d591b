"""Tagging on Spark gives every row the tags that it has in this process."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engine_tables import row
from hudi_spark.testing import OnSpark
from tagging_tables import KEY, PATH, incoming, state_of, tags
from test_tagging_buckets import BUCKETS, KEYS, RING, bucketed
from test_tagging_global import FIRST, SECOND, moving, two_partitions, with_record_index

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*unclosed <socket:pytest.PytestUnraisableExceptionWarning"),
]
INCOMING = [(key, path, row(key, ts)) for key, path, ts in (("a", "south", 11), ("b", "south", 9), ("c", "south", 1))]
NEW = [("d", "x", row("d", 1)), ("e", "north", row("e", 1))]


@pytest.fixture(scope="module", autouse=True)
def few_parts(spark: Any) -> None:
    """Shuffles into two parts are enough to part what must come together."""
    spark.conf.set("spark.sql.shuffle.partitions", "2")


def in_order(found: pa.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = found.to_pylist()
    return sorted(rows, key=str)


@pytest.mark.parametrize("index", ["SIMPLE", "BLOOM", "GLOBAL_SIMPLE", "GLOBAL_BLOOM", "RECORD_INDEX"])
def test_indexes_answer_as_in_this_process(spark: Any, tmp_path: Path, index: str):
    builder = two_partitions(tmp_path, "MERGE_ON_READ")
    builder.commit(3, [builder.log_file(3, [builder.data(3, [row("e", 5)])], group=FIRST)])
    places = {"a": ("north", FIRST), "b": ("north", FIRST), "c": ("south", SECOND), "e": ("north", FIRST)}
    with_record_index(builder, places, commits=(1, 3))
    options = moving(index, moves=True) if index not in ("SIMPLE", "BLOOM") else {}
    state = state_of(tmp_path, index, **options)
    rows_in = incoming(state, [*INCOMING, *NEW])
    found = tags(rows_in, state, OnSpark(spark))
    assert in_order(found) == in_order(tags(rows_in, state))
    assert found.num_rows


def test_buckets_and_rings_answer_as_in_this_process(spark: Any, tmp_path: Path):
    bucketed(tmp_path)
    state = state_of(tmp_path, "BUCKET", hoodie__bucket__index__num__buckets=str(BUCKETS))
    rows_in = incoming(state, [(key, path, row(key, 2)) for key in KEYS for path in ("north", "west")])
    assert in_order(tags(rows_in, state, OnSpark(spark))) == in_order(tags(rows_in, state))
    state = state_of(tmp_path, "BUCKET", **RING)
    found = tags(rows_in, state, OnSpark(spark))
    assert in_order(found.select([KEY, PATH, "_tag_file_id"])) == in_order(
        tags(rows_in, state).select([KEY, PATH, "_tag_file_id"])
    )
