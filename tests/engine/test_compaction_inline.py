"""Compactions that writers run, and what random steps of writes and services leave."""

from pathlib import Path
from typing import Any

import pyarrow as pa
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
    rewritten,
    whole,
)
from hudi_format.storage import LocalStorage
from hudi_format.table.table_properties import update_properties
from hudi_spark import ServiceWarning, read_arrow
from hudi_spark.testing import InlineServices, InProcess
from hypothesis import given, settings
from hypothesis import strategies as st
from written_tables import Written, rows

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
    plan = table.services().schedule("compaction", NOW)
    table.write_and_serve("upsert", rows((1,), ts=9, price=9.0))
    assert instant_of(table, plan or "").is_completed
    assert table.found() == [("k0", 9.0), ("k1", 9.0)]


def test_a_compaction_merges_whatever_option_reads_have(tmp_path: Path):
    """Apache Hudi 1.1.1 writes each version as a row where a writer has the option of its readers."""
    unmerged = {"hoodie.datasource.merge.type": "skip_merge", "hoodie.compact.inline.max.delta.commits": "2"}
    table = Written(tmp_path, "MERGE_ON_READ", 9, configs={**INLINE, **unmerged})
    for number in range(2):
        table.write_and_serve("upsert", rows((0, 1), ts=number, price=float(number)))
    assert _commits(table) == 1
    assert read_arrow(tmp_path, configs={"hoodie.datasource.merge.type": "skip_merge"}).num_rows == 2
    assert table.found() == [("k0", 1.0), ("k1", 1.0)]


def test_a_write_leaves_a_plan_to_who_carries_it_out(tmp_path: Path):
    """A compaction beside it is no error of a writer that compacts inline."""
    table = logged(tmp_path, 9, configs={"hoodie.compact.inline": "true", **NOW})
    plan = table.services().schedule("compaction")
    assert plan is not None

    def other() -> None:
        table.write_and_serve("upsert", rows((0,), ts=9, price=9.0))

    table.services(executor=InProcess(), hook=Meanwhile("put_base_file", other)).execute(plan)
    assert ("k0", 9.0) in table.found()
    assert instant_of(table, plan).is_completed


def _commits(table: Written) -> int:
    return sum(one.action == "commit" for one in instants(table))


def test_a_write_may_only_plan(tmp_path: Path):
    """One plan at a time."""
    configs = {"hoodie.compact.schedule.inline": "true", **NOW}
    table = Written(tmp_path, "MERGE_ON_READ", configs={**configs, **QUIET})
    for number in range(4):
        table.write_and_serve("upsert", rows((0, 1), ts=number))
    assert [one.state for one in instants(table) if one.action == "compaction"] == ["REQUESTED"]


def test_services_that_fail_are_part_of_the_outcome(tmp_path: Path):
    """The write stands: an error would make its caller write again, and so would conflicts that are tried again."""
    strategy = {"hoodie.compaction.strategy": "DayBasedCompactionStrategy", "hoodie.compact.inline": "true", **NOW}
    table = Written(tmp_path, "MERGE_ON_READ", configs={**strategy, **QUIET})
    table.write("insert", rows((0,), price=1.0))
    for price, configs in ((2.0, {}), (3.0, {"hoodie.fail.writes.on.inline.table.service.exception": "true"})):
        with pytest.warns(ServiceWarning, match="the action stands"):
            done = table.write_and_serve("upsert", rows((0,), ts=int(price), price=price), configs=configs)
        assert [(one.step, one.reason) for one in done.failures] == [("compaction", "CONFIG_INVALID")]
        assert "is no day" in str(done)
        assert table.found() == [("k0", price)]
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
        plan = table.services().schedule("compaction")
        waiting.extend([plan] if plan else [])
    elif name == "execute":
        if waiting:
            table.services().execute(waiting.pop())
    else:
        table.services().run(name)
        waiting[:] = [one for one in waiting if not instant_of(table, one).is_completed]


def test_columns_that_came_later_are_in_the_new_file(tmp_path: Path):
    """The base file has the schema of the plan's time; older rows have nothing in the new column."""
    table = logged(tmp_path, 9)
    wider = rows((0, 8), ts=5, price=5.0).append_column("note", pa.array(["né", None]))
    table.write("upsert", wider)
    plan = table.services().schedule("compaction", NOW)
    last = rows((1,), ts=6).append_column("note", pa.array(["x"])).append_column("more", pa.array([1]))
    table.write("upsert", last)
    assert plan is not None
    outcome = table.services().execute(plan)
    assert "note" in pq.read_schema(rewritten(table, plan, "süd")).names
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
    before = [one for one in instants(table) if one.is_completed]
    plan = table.services().schedule("compaction", NOW)
    assert plan is not None
    table.write("upsert", rows((0,), ts=9, price=9.0))
    found = table.found()
    for one in before:
        for name in one.files.values():
            (tmp_path / name).unlink()
    update_properties(LocalStorage(tmp_path), {"hoodie.table.create.schema": None})
    table.services().execute(plan)
    names = pq.read_schema(rewritten(table, plan, "süd")).names
    assert [name for name in names if not name.startswith("_hoodie")] == ["id", "region", "ts", "price"]
    assert table.found() == found
