"""Compaction: what a snapshot reads stays the same, whoever writes meanwhile, and whoever dies over it."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hudi_format.storage import LocalStorage
from hudi_format.timeline.commit_metadata import CommitMetadata, parse_commit_metadata
from hudi_spark import HudiError, read_arrow, read_changes
from hudi_spark.effects.hooks import Effect
from hudi_spark.flows.in_process import InProcess
from hudi_spark.schemas.columns import snapshot_schema
from hudi_spark.services.compaction.planned_slices import snapshot_of_plan
from hudi_spark.services.lifecycle import InlineServices, ServiceWarning
from hudi_spark.services.pending import compaction_plan_of
from hudi_spark.services.table_services import TableServices
from hudi_spark.state.snapshots import load_table
from hudi_spark.state.timeline import Instant
from hudi_spark.writing.actions import TableActions
from hudi_spark.writing.requests import WriteRequest
from hypothesis import given, settings
from hypothesis import strategies as st
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


def services(table: Written, **more: Any) -> TableServices:
    return TableServices(table.writer(**more))


def whole(table: Written) -> list[str]:
    """Every row with its meta fields but the name of its file, which compaction changes."""
    answer = read_arrow(table.path, meta_columns=True)
    return sorted(map(repr, answer.drop_columns(["_hoodie_file_name"]).to_pylist()))


def instants(table: Written) -> tuple[Instant, ...]:
    return load_table(LocalStorage(table.path))[1].instants


def committed(table: Written, requested: str) -> CommitMetadata:
    (found,) = (one for one in instants(table) if one.requested == requested)
    return parse_commit_metadata((table.path / found.file).read_bytes(), found.file)


@pytest.mark.parametrize("version", VERSIONS)
def test_rows_stay_and_logs_become_base_files(tmp_path: Path, version: int):
    """Rows keep commit time, number and key; no slice has logs; the commit says so in the form of Apache Hudi's."""
    table = logged(tmp_path, version, configs={"hoodie.metadata.enable": "true"})
    before = whole(table)
    outcome = services(table).run("compaction", NOW)
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


@pytest.mark.parametrize("version", VERSIONS)
def test_every_row_of_a_new_base_file_names_it(tmp_path: Path, version: int):
    """Also the rows that no log touched."""
    table = logged(tmp_path, version)
    services(table).run("compaction", NOW)
    answer = read_arrow(tmp_path, columns=["_hoodie_file_name"], meta_columns=True)
    names = set(answer.column("_hoodie_file_name").to_pylist())
    assert names == {one.base_file.rpartition("/")[2] for one in table.writer().work().snapshot().slices}


@pytest.mark.parametrize("version", VERSIONS)
def test_writes_go_on_beside_a_pending_compaction(tmp_path: Path, version: int):
    """What is written after the plan stands above the new base file; the plan does not take it up."""
    table = logged(tmp_path, version)
    plan = services(table).schedule("compaction", NOW)
    assert plan is not None
    table.write("upsert", rows((0, 4, 8), ts=5, price=5.0))
    before = whole(table)
    services(table).execute(plan)
    assert whole(table) == before
    stored = pq.read_table(_rewritten(table, plan, "süd")).column("price").to_pylist()
    assert sorted(stored) == [1.0, 2.0]
    table.write("upsert", rows((0, 2), ts=6, price=6.0))
    later = whole(table)
    services(table).run("compaction", NOW)
    assert whole(table) == later


def _rewritten(table: Written, requested: str, partition: str) -> Path:
    """The base file that a compaction wrote in a partition."""
    (found,) = (one for one in committed(table, requested).write_stats if one.partition_path == partition)
    return table.path / (found.path or "")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_write_may_span_a_whole_compaction(tmp_path: Path, version: int):
    """Begun before the compaction is carried out and completed after it, it loses nothing and is not in its way."""
    table = logged(tmp_path, version)
    plan = services(table).schedule("compaction", NOW)
    given = WriteRequest("upsert", rows((0, 1), ts=7, price=7.0))
    begun = table.writer().begin(given)
    begun.stage(given)
    assert plan is not None
    services(table).execute(plan)
    begun.commit()
    assert {("k0", 7.0), ("k1", 7.0)} <= set(table.found())


@pytest.mark.parametrize("version", [8, 9])
def test_a_write_that_is_inflight_when_a_plan_is_made_goes_above_it(tmp_path: Path, version: int):
    """Its log has the older instant, completes later, and belongs to the slice that the plan opens."""
    table = logged(tmp_path, version)
    given = WriteRequest("upsert", rows((9, 11), ts=7, price=7.0), configs={"hoodie.parquet.small.file.limit": "0"})
    begun = table.writer().begin(given)
    begun.stage(given)
    plan = services(table).schedule("compaction", NOW)
    assert plan is not None
    begun.commit()
    before = whole(table)
    services(table).execute(plan)
    assert whole(table) == before


def test_version_6_plans_nothing_beside_a_write(tmp_path: Path):
    """Its log would be named after the slice that the plan closes."""
    table = logged(tmp_path, 6)
    begun = table.writer().begin(WriteRequest("upsert", rows((1,), ts=7)))
    assert services(table).schedule("compaction", NOW) is None
    begun.abort()
    assert services(table).schedule("compaction", NOW) is not None


@pytest.mark.parametrize("version", VERSIONS)
def test_a_slice_without_a_row_left_gets_an_empty_file(tmp_path: Path, version: int):
    """Without it the rows before would come back."""
    table = logged(tmp_path, version)
    table.write("delete", rows(range(12), ts=9))
    assert table.ids() == []
    services(table).run("compaction", NOW)
    assert table.ids() == []
    assert read_arrow(tmp_path, read_optimized=True).num_rows == 0


@pytest.mark.parametrize("version", [8, 9])
def test_a_compaction_logs_what_changed_and_changes_nothing(tmp_path: Path, version: int):
    """The change log beside the new base file holds the net changes; a change feed over all is as before."""
    table = logged(tmp_path, version, properties={"hoodie.table.cdc.enabled": "true"})
    before = _changes(tmp_path)
    outcome = services(table).run("compaction", NOW)
    assert outcome is not None
    assert [set(one.cdc_stats or {}) != set() for one in outcome.written if one.num_update_writes] == [True, True]
    assert _changes(tmp_path) == before


def _changes(path: Path) -> list[str]:
    return sorted(map(repr, read_changes(path, "000").to_pylist()))


def test_virtual_keys_and_nested_folders(tmp_path: Path):
    """Keys that rows do not store find each other, and files lie where they lay."""
    table = logged(tmp_path, 9, properties={"hoodie.populate.meta.fields": "false"})
    before = table.found()
    services(table).run("compaction", NOW)
    assert table.found() == before


def test_copy_on_write_tables_are_refused(tmp_path: Path):
    """They have no logs."""
    table = Written(tmp_path)
    table.write("insert", rows(range(3)))
    with pytest.raises(HudiError, match="only merge-on-read tables") as refused:
        services(table).run("compaction", NOW)
    assert refused.value.reason == "CONFIG_INVALID"


@pytest.mark.parametrize(("ending", "reason"), [(".parquet", "BASE_FILE_MISSING"), (".log.", "LOG_FILE_MISSING")])
def test_a_vanished_file_fails_the_plan_and_damages_nothing(tmp_path: Path, ending: str, reason: str):
    """The plan waits as before, nothing is left of the attempt; with the file back it is carried out."""
    table = logged(tmp_path, 9)
    plan = services(table).schedule("compaction", NOW)
    assert plan is not None
    operation = compaction_plan_of(LocalStorage(tmp_path), _instant(table, plan)).operations[0]
    names = (operation.data_file_path or "", *operation.delta_file_paths)
    lost = tmp_path / (operation.partition_path or "") / next(one for one in names if ending in one)
    kept = lost.read_bytes()
    lost.unlink()
    # The table itself is asked no more; only the tasks look for the file.
    before = table.files()
    with pytest.raises(HudiError) as refused:
        services(table).execute(plan)
    assert refused.value.reason == reason
    assert table.files() == before
    lost.write_bytes(kept)
    services(table).execute(plan)
    assert [one for one in instants(table) if not one.is_completed] == []


def _instant(table: Written, requested: str) -> Instant:
    return next(one for one in instants(table) if one.requested == requested)


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
            services(table, hook=stop).run(service)
        assert whole(table) == before
        services(table).run(service)
        assert whole(table) == before
        assert [one for one in instants(table) if not one.is_completed] == []
        done = [one.requested for one in instants(table)]
        assert [one for one in table.files() if ".temp" in one and one.split("/")[2] not in done] == []
        if stop.seen < number:
            break
        number += 4


def test_who_comes_second_to_a_plan_is_refused(tmp_path: Path):
    """While the first one is at work, whose heart beats."""
    table = logged(tmp_path, 9)
    before = whole(table)
    plan = services(table).schedule("compaction", NOW)
    assert plan is not None
    refused: list[str] = []

    def other() -> None:
        with pytest.raises(HudiError) as error:
            services(table, executor=InProcess()).execute(plan)
        refused.append(error.value.reason)

    services(table, executor=InProcess(), hook=_Meanwhile("put_base_file", other)).execute(plan)
    assert refused == ["WRITE_CONFLICT"]
    assert whole(table) == before
    assert _instant(table, plan).is_completed


@dataclass
class _Meanwhile:
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


QUIET = {"hoodie.metadata.enable": "false", "hoodie.parquet.small.file.limit": "0"}
INLINE = {**QUIET, "hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "3"}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_write_compacts_where_that_is_due(tmp_path: Path, version: int):
    """After the third deltacommit, and plans that wait before anything else."""
    table = Written(tmp_path, "MERGE_ON_READ", version, configs=INLINE)
    for number in range(4):
        table.write_and_serve("upsert", rows((0, 1), ts=number, price=float(number)))
        assert _commits(table) == (number >= 2)
    table.write("upsert", rows((0,), ts=9, price=9.0))
    plan = services(table).schedule("compaction", NOW)
    table.write_and_serve("upsert", rows((1,), ts=9, price=9.0))
    assert _instant(table, plan or "").is_completed
    assert table.found() == [("k0", 9.0), ("k1", 9.0)]


def test_a_write_leaves_a_plan_to_who_carries_it_out(tmp_path: Path):
    """A compaction beside it is no error of a writer that compacts inline."""
    table = logged(tmp_path, 9, configs={"hoodie.compact.inline": "true", **NOW})
    plan = services(table).schedule("compaction")
    assert plan is not None

    def other() -> None:
        table.write_and_serve("upsert", rows((0,), ts=9, price=9.0))

    services(table, executor=InProcess(), hook=_Meanwhile("put_base_file", other)).execute(plan)
    assert ("k0", 9.0) in table.found()
    assert _instant(table, plan).is_completed


def _commits(table: Written) -> int:
    return sum(one.action == "commit" for one in instants(table))


def test_a_write_may_only_plan(tmp_path: Path):
    """One plan at a time."""
    configs = {"hoodie.compact.schedule.inline": "true", **NOW}
    table = Written(tmp_path, "MERGE_ON_READ", configs={**configs, **QUIET})
    for number in range(4):
        table.write_and_serve("upsert", rows((0, 1), ts=number))
    assert [one.state for one in instants(table) if one.action == "compaction"] == ["REQUESTED"]


def test_services_that_fail_are_errors_or_warnings(tmp_path: Path):
    """The write stands either way."""
    strategy = {"hoodie.compaction.strategy": "DayBasedCompactionStrategy", "hoodie.compact.inline": "true", **NOW}
    table = Written(tmp_path, "MERGE_ON_READ", configs={**strategy, **QUIET})
    table.write("insert", rows((0,), price=1.0))
    with pytest.raises(HudiError, match="is no day"):
        table.write_and_serve("upsert", rows((0,), ts=2, price=2.0))
    assert table.found() == [("k0", 2.0)]
    quiet = {"hoodie.fail.writes.on.inline.table.service.exception": "false"}
    with pytest.warns(ServiceWarning, match="which stands"):
        table.write_and_serve("upsert", rows((0,), ts=3, price=3.0), configs=quiet)
    off = {"hoodie.table.services.enabled": "false"}
    table.write_and_serve("upsert", rows((0,), ts=4, price=4.0), configs=off)
    assert table.found() == [("k0", 4.0)]


STEP = st.tuples(
    st.sampled_from(["upsert", "delete", "compaction", "logcompaction", "schedule", "execute"]),
    st.sets(st.integers(0, 5), min_size=1, max_size=4),
    st.integers(0, 6),
)


@settings(max_examples=6, deadline=None)
@given(version=st.sampled_from(VERSIONS), steps=st.lists(STEP, min_size=3, max_size=8))
def test_no_service_changes_an_answer(tmp_path_factory: pytest.TempPathFactory, version: int, steps: list[Any]):
    """Whatever is written, planned, and carried out in whichever order."""
    configs = {**QUIET, **NOW}
    configs["hoodie.log.compaction.blocks.threshold"] = "1"
    table = Written(tmp_path_factory.mktemp("table"), "MERGE_ON_READ", version, configs=configs)
    table.write("insert", rows(range(4)))
    waiting: list[str] = []
    for name, keys, ts in steps:
        if name in {"upsert", "delete"}:
            table.write(name, rows(sorted(keys), ts=ts, price=float(ts)))
            continue
        before = whole(table)
        _serve(table, name, waiting)
        assert whole(table) == before


def _serve(table: Written, name: str, waiting: list[str]) -> None:
    if name == "schedule":
        plan = services(table).schedule("compaction")
        waiting.extend([plan] if plan else [])
    elif name == "execute":
        if waiting:
            services(table).execute(waiting.pop())
    else:
        services(table).run(name)
        waiting[:] = [one for one in waiting if not _instant(table, one).is_completed]


def test_columns_that_came_later_are_in_the_new_file(tmp_path: Path):
    """The base file has the schema of the plan's time; older rows have nothing in the new column."""
    table = logged(tmp_path, 9)
    wider = rows((0, 8), ts=5, price=5.0).append_column("note", pa.array(["né", None]))
    table.write("upsert", wider)
    plan = services(table).schedule("compaction", NOW)
    last = rows((1,), ts=6).append_column("note", pa.array(["x"])).append_column("more", pa.array([1]))
    table.write("upsert", last)
    assert plan is not None
    outcome = services(table).execute(plan)
    assert "note" in pq.read_schema(_rewritten(table, plan, "süd")).names
    assert "more" not in committed(table, outcome.requested).extra["schema"]
    assert "more" in read_arrow(tmp_path).column_names
    assert table.found(("id", "note"))[:2] == [("k0", "né"), ("k1", "x")]


def test_services_of_a_table_without_spark(tmp_path: Path):
    """`services_arrow` runs them by name, and the lifecycle of writes is the usual one."""
    from hudi_spark import services_arrow  # noqa: PLC0415 - what a user imports

    table = logged(tmp_path, 9)
    before = table.found()
    found = services_arrow(tmp_path, configs=NOW)
    assert isinstance(found.writer.lifecycle, InlineServices)
    assert str(found.run("compaction")).startswith("COMPACT ")
    assert found.run("compaction") is None
    assert table.found() == before


def test_a_plan_outlives_the_commits_that_it_was_made_on(tmp_path: Path):
    """Archival may take all that stated the schema of its time: no column is lost over that."""
    table = logged(tmp_path, 9)
    plan = services(table).schedule("compaction", NOW)
    assert plan is not None
    snapshot = table.writer().work().snapshot()
    content = compaction_plan_of(LocalStorage(tmp_path), _instant(table, plan))
    planned = snapshot_of_plan(snapshot, content, "00000000000000001")
    assert planned.visibility.visible == frozenset()
    assert snapshot_schema(LocalStorage(tmp_path), planned).names == ["id", "region", "ts", "price"]
