"""What is said of pending plans by the one that listed the timeline before one of them was taken away."""

from pathlib import Path
from typing import Final

import pytest
from hudi_format.storage import LocalStorage
from hudi_spark import HudiError
from hudi_spark.table_state.pending_plans import (
    groups_in_pending_plans,
    is_clustering,
    pending_clusterings,
    pending_compactions,
    pending_log_compactions,
)
from hudi_spark.testing import load_table
from written_tables import Written, rows

_PLANS: Final = {
    "compaction": {"hoodie.compact.inline.max.delta.commits": "1"},
    "clustering": {"hoodie.clustering.inline.max.commits": "1", "hoodie.clustering.async.max.commits": "1"},
}


@pytest.mark.parametrize("service", _PLANS)
def test_a_plan_that_was_taken_away_is_not_pending(tmp_path: Path, service: str):
    """Who listed the timeline before goes on; where slices depend on what became of the plan, it is a conflict."""
    table = Written(tmp_path / "table", "MERGE_ON_READ" if service == "compaction" else "COPY_ON_WRITE")
    for ts in (1, 2):
        table.write("upsert", rows([1], ts=ts))
    requested = table.services().schedule(service, _PLANS[service])
    assert requested is not None
    storage = LocalStorage(table.path)
    _, timeline = load_table(storage)
    assert groups_in_pending_plans(storage, timeline)
    table.services().rollback(requested, unschedule=True)
    assert not groups_in_pending_plans(storage, timeline)
    assert not pending_clusterings(storage, timeline)
    assert not pending_log_compactions(storage, timeline)
    assert not any(is_clustering(storage, one) for one in timeline.instants)
    if service == "compaction":
        with pytest.raises(HudiError) as caught:
            pending_compactions(storage, timeline)
        assert caught.value.reason == "WRITE_CONFLICT"
