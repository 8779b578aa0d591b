"""Whole tables with one file damaged: the answer is right, refused with a reason, or comes with a warning."""

from pathlib import Path

import pytest
from damaged_tables import attempt

SEEDS = range(24)
TABLES = (
    "v6/apache_cow_upserts",
    "v6/apache_mor_event_time",
    "v8/apache_mor_compacted",
    "v8/mor_event_time_late_data",
    "v9/apache_mor_event_time",
    "v9/apache_mor_log_compaction",
    "v9/cow_upserts",
    "v9/mor_archived",
)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_never_go_missing_without_a_word(seed: int, tmp_path: Path):
    """Nor does any exception get out but the engine's own; `make soak` tries more seeds on every table."""
    damage, outcome = attempt(seed, TABLES, tmp_path)
    assert outcome.reported != "different" or not damage.must_show, damage
