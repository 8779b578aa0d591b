"""Compaction: what a snapshot reads stays the same, whoever writes meanwhile, and whoever dies over it."""

import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from compaction_tables import (
    NOW,
    VERSIONS,
    Meanwhile,
    committed,
    instant_of,
    instants,
    logged,
    plan_of,
    rewritten,
    whole,
)
from hudi_spark import DamagedLogWarning, HudiError, read_arrow, read_changes
from hudi_spark.testing import Effect, InProcess, TableActions, WriteRequest
from written_tables import Written, rows


@pytest.mark.parametrize("version", VERSIONS)
def test_rows_stay_and_logs_become_base_files(tmp_path: Path, version: int):
    """Rows keep commit time, number and key; no slice has logs; the commit says so in the form of Apache Hudi's."""
    table = logged(tmp_path, version, configs={"hoodie.metadata.enable": "true"})
    before = whole(table)
    outcome = table.services().run("compaction", NOW)
    assert outcome is not None
    assert (outcome.action, outcome.operation) == ("commit", "COMPACT")
    assert whole(table) == before
    assert [one.log_files for one in table.writer().work().snapshot().slices if one.log_files] == []
    commit = committed(table, outcome.requested)
    assert (commit.compacted, set(commit.extra)) == (True, {"schema"})
    south = next(one for one in commit.write_stats if one.partition_path == "süd")
    assert (south.num_writes, south.num_deletes, south.num_update_writes, south.num_inserts) == (2, 1, 1, 0)
    assert (south.total_log_files_compacted, south.total_log_blocks, south.total_updated_records_compacted) == (3, 3, 3)
    assert (south.prev_base_file is None) == (version == 6)
    assert TableActions(table.writer()).validate_metadata() == ()


@pytest.mark.parametrize(
    ("service", "params"),
    [
        ("compaction", NOW),
        ("logcompaction", {"hoodie.log.compaction.blocks.threshold": "1"}),
        ("clustering", {}),
        (
            "clustering",
            {
                "hoodie.clustering.plan.strategy.sort.columns": "id",
                "hoodie.clustering.plan.strategy.target.file.max.bytes": "1",
                "hoodie.clustering.plan.strategy.small.file.limit": "1000000000",
            },
        ),
    ],
)
def test_what_a_service_reads_over_for_good_is_named(tmp_path: Path, service: str, params: dict[str, str]):
    """A torn block is read over as by any reader; afterwards no file shows that something stood there."""
    table = logged(tmp_path, 9)
    torn = min(tmp_path.glob("north/.*.log.*"))
    torn.write_bytes(torn.read_bytes()[:-5])
    with pytest.warns(DamagedLogWarning, match=torn.name):
        before = whole(table)
    with pytest.warns(DamagedLogWarning, match=torn.name):
        outcome = table.services().run(service, params)
    assert outcome is not None
    assert [(one.file, one.offset) for one in outcome.skipped] == [(str(torn.relative_to(tmp_path)), 0)]
    assert torn.name in str(outcome)
    assert sum(one.total_corrupt_log_block or 0 for one in committed(table, outcome.requested).write_stats) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error" if service != "logcompaction" else "ignore")
        assert read_arrow(tmp_path).num_rows == len(before)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_row_of_a_new_base_file_names_it(tmp_path: Path, version: int):
    """Also the rows that no log touched."""
    table = logged(tmp_path, version)
    table.services().run("compaction", NOW)
    answer = read_arrow(tmp_path, columns=["_hoodie_file_name"], meta_columns=True)
    names = set(answer.column("_hoodie_file_name").to_pylist())
    assert names == {one.base_file.rpartition("/")[2] for one in table.writer().work().snapshot().slices}


@pytest.mark.parametrize("version", VERSIONS)
def test_writes_go_on_beside_a_pending_compaction(tmp_path: Path, version: int):
    """What is written after the plan stands above the new base file; the plan does not take it up."""
    table = logged(tmp_path, version)
    plan = table.services().schedule("compaction", NOW)
    assert plan is not None
    table.write("upsert", rows((0, 4, 8), ts=5, price=5.0))
    before = whole(table)
    table.services().execute(plan)
    assert whole(table) == before
    stored = pq.read_table(rewritten(table, plan, "süd")).column("price").to_pylist()
    assert sorted(stored) == [1.0, 2.0]
    table.write("upsert", rows((0, 2), ts=6, price=6.0))
    later = whole(table)
    table.services().run("compaction", NOW)
    assert whole(table) == later


@pytest.mark.parametrize("version", VERSIONS)
def test_a_write_may_span_a_whole_compaction(tmp_path: Path, version: int):
    """Begun before the compaction is carried out and completed after it, it loses nothing and is not in its way."""
    table = logged(tmp_path, version)
    plan = table.services().schedule("compaction", NOW)
    given = WriteRequest("upsert", rows((0, 1), ts=7, price=7.0))
    started = table.writer().begin(given)
    started.stage(given)
    assert plan is not None
    table.services().execute(plan)
    started.commit()
    assert {("k0", 7.0), ("k1", 7.0)} <= set(table.found())


@pytest.mark.parametrize("version", [8, 9])
def test_a_write_that_is_inflight_when_a_plan_is_made_goes_above_it(tmp_path: Path, version: int):
    """Its log has the older instant, completes later, and belongs to the slice that the plan opens."""
    table = logged(tmp_path, version)
    given = WriteRequest("upsert", rows((9, 11), ts=7, price=7.0), configs={"hoodie.parquet.small.file.limit": "0"})
    started = table.writer().begin(given)
    started.stage(given)
    plan = table.services().schedule("compaction", NOW)
    assert plan is not None
    started.commit()
    before = whole(table)
    table.services().execute(plan)
    assert whole(table) == before


def test_version_6_plans_nothing_beside_a_write(tmp_path: Path):
    """Its log would be named after the slice that the plan closes."""
    table = logged(tmp_path, 6)
    started = table.writer().begin(WriteRequest("upsert", rows((1,), ts=7)))
    assert table.services().schedule("compaction", NOW) is None
    started.abort()
    assert table.services().schedule("compaction", NOW) is not None


@pytest.mark.parametrize("version", VERSIONS)
def test_a_slice_without_a_row_left_gets_an_empty_file(tmp_path: Path, version: int):
    """Without it the rows before would come back."""
    table = logged(tmp_path, version)
    table.write("delete", rows(range(12), ts=9))
    assert table.ids() == []
    table.services().run("compaction", NOW)
    assert table.ids() == []
    assert read_arrow(tmp_path, read_optimized=True).num_rows == 0


@pytest.mark.parametrize("version", [8, 9])
def test_a_compaction_logs_what_changed_and_changes_nothing(tmp_path: Path, version: int):
    """The change log beside the new base file holds the net changes; a change feed over all is as before."""
    table = logged(tmp_path, version, properties={"hoodie.table.cdc.enabled": "true"})
    before = _changes(tmp_path)
    outcome = table.services().run("compaction", NOW)
    assert outcome is not None
    assert [set(one.cdc_stats or {}) != set() for one in outcome.written if one.num_update_writes] == [True, True]
    assert _changes(tmp_path) == before


def _changes(path: Path) -> list[str]:
    return sorted(map(repr, read_changes(path, "000").to_pylist()))


def test_virtual_keys_and_nested_folders(tmp_path: Path):
    """Keys that rows do not store find each other, and files lie where they lay."""
    table = logged(tmp_path, 9, properties={"hoodie.populate.meta.fields": "false"})
    before = table.found()
    table.services().run("compaction", NOW)
    assert table.found() == before


def test_copy_on_write_tables_are_refused(tmp_path: Path):
    """They have no logs."""
    table = Written(tmp_path)
    table.write("insert", rows(range(3)))
    with pytest.raises(HudiError, match="only merge-on-read tables") as refused:
        table.services().run("compaction", NOW)
    assert refused.value.reason == "CONFIG_INVALID"


@pytest.mark.parametrize(("ending", "reason"), [(".parquet", "BASE_FILE_MISSING"), (".log.", "LOG_FILE_MISSING")])
def test_a_vanished_file_fails_the_plan_and_damages_nothing(tmp_path: Path, ending: str, reason: str):
    """The plan waits as before, nothing is left of the attempt; with the file back it is carried out."""
    table = logged(tmp_path, 9)
    plan = table.services().schedule("compaction", NOW)
    assert plan is not None
    operation = plan_of(table, plan).operations[0]
    names = (operation.data_file_path or "", *operation.delta_file_paths)
    lost = tmp_path / (operation.partition_path or "") / next(one for one in names if ending in one)
    kept = lost.read_bytes()
    lost.unlink()
    # The table itself is asked no more; only the tasks look for the file.
    before = table.files()
    with pytest.raises(HudiError) as refused:
        table.services().execute(plan)
    assert refused.value.reason == reason
    assert table.files() == before
    lost.write_bytes(kept)
    table.services().execute(plan)
    assert [one for one in instants(table) if not one.is_completed] == []


@dataclass
class StopAt:
    """Ends the work, as a death does, before the effect of a number; what runs meanwhile does not count."""

    number: int
    seen: int = 0

    def before(self, effect: Effect) -> None:
        del effect
        if self.seen >= self.number:
            raise Death
        self.seen += 1

    def after(self, effect: Effect) -> None:
        del effect


class Death(BaseException):
    """Nothing more happens: also what would clean up ends here."""


@pytest.mark.slow
@pytest.mark.parametrize(("service", "version"), [("compaction", 6), ("compaction", 9), ("logcompaction", 8)])
def test_a_death_before_any_effect_is_made_good(tmp_path: Path, service: str, version: int):
    """Whatever is left, the table answers the same, and running the service again completes it and leaves nothing."""
    configs = {**NOW, "hoodie.log.compaction.blocks.threshold": "2"}
    number = 0
    while True:
        table = logged(tmp_path / str(number), version, configs=configs)
        before = whole(table)
        stop = StopAt(number)
        with suppress(Death):
            table.services(hook=stop).run(service)
        assert whole(table) == before
        table.services().run(service)
        assert whole(table) == before
        assert [one for one in instants(table) if not one.is_completed] == []
        done = [one.requested for one in instants(table)]
        assert [one for one in table.files() if ".temp" in one and one.split("/")[2] not in done] == []
        if stop.seen < number:
            break
        number += 4


def test_who_comes_second_to_a_plan_is_refused(tmp_path: Path):
    """While the first one is at work, whose heartbeat is live."""
    table = logged(tmp_path, 9)
    before = whole(table)
    plan = table.services().schedule("compaction", NOW)
    assert plan is not None
    refused: list[str] = []

    def other() -> None:
        with pytest.raises(HudiError) as error:
            table.services(executor=InProcess()).execute(plan)
        refused.append(error.value.reason)

    table.services(executor=InProcess(), hook=Meanwhile("put_base_file", other)).execute(plan)
    assert refused == ["WRITE_CONFLICT"]
    assert whole(table) == before
    assert instant_of(table, plan).is_completed
