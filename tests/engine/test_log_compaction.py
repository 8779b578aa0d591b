"""Log compaction: the blocks of a slice in one log file, which stand for what they replace and for nothing else."""

import math
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hudi_format.log.blocks import HeaderKey, RawBlock, read_blocks
from hudi_format.storage import LocalStorage
from hudi_format.timeline.commit_metadata import parse_commit_metadata
from hudi_format.timeline.plans import parse_compaction_plan, serialise_compaction_plan
from hudi_spark import HudiError, TableDefinition, create_arrow, read_arrow, services_arrow, write_arrow
from hudi_spark.testing import Instant, TableActions, WriteRequest, load_table
from hypothesis import given, settings
from hypothesis import strategies as st
from written_tables import Written, rows

NOW = {"hoodie.log.compaction.blocks.threshold": "2"}
COMPACT = {"hoodie.compact.inline.max.delta.commits": "1"}
VERSIONS = (6, 8, 9)
QUIET = {"hoodie.parquet.small.file.limit": "0", "hoodie.metadata.enable": "false"}


def logged(path: Path, version: int = 9, **more: Any) -> Written:
    """One partition whose slice has rows, updates, deletes with and without ordering values, and a new key."""
    table = Written(path, "MERGE_ON_READ", version, **{"configs": QUIET, "partition_by": (), **more})
    table.write("insert", rows(range(6)))
    table.write("upsert", rows((0, 1, 2), ts=4, price=4.0))
    table.write("delete", rows((1, 3), ts=5))
    table.write("upsert", rows((0, 3), ts=2, price=2.0))
    return table


def whole(table: Written) -> list[str]:
    return sorted(map(repr, read_arrow(table.path, meta_columns=True).to_pylist()))


def instants(table: Written) -> tuple[Instant, ...]:
    return load_table(LocalStorage(table.path))[1].instants


def compacted_blocks(table: Written) -> list[RawBlock]:
    logs = sorted(table.path.glob("**/.*.log.*"))
    logs = [one for one in logs if ".hoodie" not in one.relative_to(table.path).parts]
    blocks = [block for path in logs for block in read_blocks(path.read_bytes(), path.name)]
    return [one for one in blocks if isinstance(one, RawBlock) and HeaderKey.COMPACTED_BLOCK_TIMES in one.header]


@pytest.mark.parametrize("version", VERSIONS)
def test_answers_stay_and_the_new_blocks_stand_for_the_old_ones(tmp_path: Path, version: int):
    """Rows keep what they say of their write; deletes stay deletes, since the base file below is not merged."""
    table = logged(tmp_path, version)
    before = whole(table)
    outcome = table.services().run("logcompaction", NOW)
    assert outcome is not None
    assert (outcome.action, outcome.operation) == ("deltacommit", "LOG_COMPACT")
    assert whole(table) == before
    blocks = compacted_blocks(table)
    writes = [one.requested for one in instants(table) if one.requested != outcome.requested]
    assert [one.type.name for one in blocks] == ["AVRO_DATA", "DELETE"]
    for one in blocks:
        assert one.header[HeaderKey.COMPACTED_BLOCK_TIMES] == ",".join(reversed(writes[1:]))
        assert one.header[HeaderKey.INSTANT_TIME] == outcome.requested
    (instant,) = (one for one in instants(table) if one.requested == outcome.requested)
    commit = parse_commit_metadata((tmp_path / instant.file).read_bytes(), instant.file)
    (stat,) = commit.write_stats
    assert (commit.compacted, stat.total_log_files_compacted, stat.total_log_blocks) == (True, 3, 3)
    name = (stat.path or "").rpartition("/")[2]
    assert (f"_{outcome.requested}.log.1_" in name) == (version >= 8)
    assert (".log.4_" in name) == (version == 6)


def test_indexes_hear_of_the_new_log(tmp_path: Path):
    """The metadata table lists it."""
    table = logged(tmp_path, configs={"hoodie.parquet.small.file.limit": "0"})
    table.services().run("logcompaction", NOW)
    assert TableActions(table.writer()).validate_metadata() == ()


@pytest.mark.parametrize("version", VERSIONS)
def test_writes_and_compactions_go_on(tmp_path: Path, version: int):
    """Above the compacted log, which a compaction takes up like any other."""
    table = logged(tmp_path, version)
    plan = table.services().schedule("logcompaction", NOW)
    assert plan is not None
    table.write("upsert", rows((0, 2, 5), ts=7, price=7.0))
    before = whole(table)
    table.services().execute(plan)
    assert whole(table) == before
    table.write("delete", rows((5,), ts=8))
    before = table.found()
    table.services().run("logcompaction", NOW)
    assert table.found() == before
    table.services().run("compaction", COMPACT)
    assert table.found() == before


@pytest.mark.parametrize("version", [8, 9])
def test_nothing_is_planned_while_a_block_may_come_between(tmp_path: Path, version: int):
    """A write that began before the newest log and completes after the plan would lose to older values."""
    table = logged(tmp_path, version)
    started = table.writer().begin(WriteRequest("upsert", rows((2,), ts=9)))
    table.write("upsert", rows((0,), ts=9, price=9.0))
    assert table.services().schedule("logcompaction", NOW) is None
    started.abort()
    assert table.services().schedule("logcompaction", NOW) is not None


def test_version_6_plans_beside_a_pending_write(tmp_path: Path):
    """Logs there are merged by the versions in their names: one that is written later lies on top."""
    table = logged(tmp_path, 6)
    table.writer().begin(WriteRequest("upsert", rows((2,), ts=9)))
    table.write("upsert", rows((0,), ts=9, price=9.0))
    assert table.services().schedule("logcompaction", NOW) is not None


def test_version_6_plans_no_log_that_goes_where_its_write_aborts(tmp_path: Path):
    """The plan could not be carried out then, and every later one would wait for it."""
    table = logged(tmp_path, 6)
    request = WriteRequest("upsert", rows((2,), ts=9))
    started = table.writer().begin(request)
    started.stage(request)
    assert table.services().schedule("logcompaction", NOW) is None
    started.abort()
    before = whole(table)
    assert table.services().run("logcompaction", NOW) is not None
    assert whole(table) == before


def test_a_compaction_that_was_planned_meanwhile_wins(tmp_path: Path):
    """Apache Hudi plans one over a pending log compaction; the log would stand above newer rows of its base file."""
    table = logged(tmp_path)
    plan = table.services().schedule("logcompaction", NOW)
    assert plan is not None
    timeline = tmp_path / ".hoodie" / "timeline"
    later = f"{int(plan) + 1}"
    content = (timeline / f"{plan}.logcompaction.requested").read_bytes()
    (timeline / f"{later}.compaction.requested").write_bytes(content)
    before = whole(table)
    with pytest.raises(HudiError) as refused:
        table.services().execute(plan)
    assert (refused.value.reason, refused.value.clause) == ("WRITE_CONFLICT", "LC-002")
    assert whole(table) == before
    assert compacted_blocks(table) == []


def test_deletes_stay_though_a_plan_names_no_base_instant(tmp_path: Path):
    """A schema of plans allows null there; the rows of the base file are deleted all the same."""
    table = logged(tmp_path)
    before = table.found()
    plan = table.services().schedule("logcompaction", NOW)
    (file,) = (tmp_path / ".hoodie" / "timeline").glob("*.logcompaction.requested")
    planned = parse_compaction_plan(file.read_bytes(), file.name)
    unnamed = tuple(replace(one, base_instant_time=None) for one in planned.operations)
    file.write_bytes(serialise_compaction_plan(replace(planned, operations=unnamed)))

    table.services().execute(plan or "")

    assert table.found() == before


def test_it_is_planned_whenever_a_slice_has_enough(tmp_path: Path):
    """Who asks for one gets it, however few writes came since the last."""
    table = logged(tmp_path)
    assert table.services().schedule("logcompaction", {"hoodie.log.compaction.blocks.threshold": "5"}) is None
    assert table.services().run("logcompaction", {"hoodie.log.compaction.blocks.threshold": "3"}) is not None
    table.write("upsert", rows((0,), ts=9))
    before = whole(table)
    assert table.services().run("logcompaction", {"hoodie.log.compaction.blocks.threshold": "3"}) is not None
    assert whole(table) == before


def test_partial_updates_are_left_to_a_compaction(tmp_path: Path):
    """They need the row below to become one."""
    table = logged(tmp_path)
    table.write("partial_update", pa.table({"id": ["k0"], "ts": [9], "price": [9.0]}))
    before = table.found()
    assert table.services().schedule("logcompaction", NOW) is None
    table.services().run("compaction", COMPACT)
    assert table.found() == before


def test_a_write_compacts_logs_where_that_is_due(tmp_path: Path):
    """As its option asks: after enough writes since the last time, not after each."""
    inline = {**QUIET, "hoodie.log.compaction.inline": "true", **NOW}
    table = Written(tmp_path, "MERGE_ON_READ", configs=inline, partition_by=())
    done = []
    for number in range(6):
        table.write_and_serve("upsert", rows((0, 1), ts=number, price=float(number)))
        done.append(sum(".logcompaction." in " ".join(one.files.values()) for one in instants(table)))
    assert done == [0, 0, 1, 1, 2, 2]
    assert table.found() == [("k0", 5.0), ("k1", 5.0)]


DAY = date(2024, 2, 29)
ORDERINGS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "int": (pa.int64(), [-3, 0, 1, 1, 7]),
    "double": (pa.float64(), [-1.5, -0.0, 0.0, 2.5, math.nan]),
    "float": (pa.float32(), [-1.5, -0.0, 0.0, 2.5, 3.5]),
    "boolean": (pa.bool_(), [False, False, True, True, True]),
    "day": (pa.date32(), [DAY + timedelta(days=number) for number in range(5)]),
    "text": (pa.string(), ["", "a", "b", "é", "z"]),
    "decimal": (pa.decimal128(9, 2), [Decimal(number) / 4 for number in range(5)]),
    "nested": (
        pa.struct([("at", pa.int64()), ("by", pa.string())]),
        [{"at": number, "by": "é"} for number in range(5)],
    ),
}
DELETED = "_hoodie_is_deleted"
CHANGE = st.tuples(st.sets(st.integers(0, 3), min_size=1), st.integers(0, 4), st.booleans())


@settings(max_examples=5, deadline=None)
@given(
    version=st.sampled_from(VERSIONS),
    kind=st.sampled_from(sorted(ORDERINGS)),
    changes=st.lists(CHANGE, min_size=3, max_size=5),
)
def test_the_winner_before_compaction_wins_after_it(
    tmp_path_factory: pytest.TempPathFactory, version: int, kind: str, changes: list[Any]
):
    """By ordering values of any type, deletes that have one among them, and against what is written later."""
    paths = [tmp_path_factory.mktemp(name) for name in ("compacted", "plain")]
    for path in paths:
        ordering = "ts.at" if kind == "nested" else "ts"
        create_arrow(path, TableDefinition("t", _schema(kind), "MERGE_ON_READ", version, ("id",), (), (ordering,)))
        for number, change in enumerate([({0, 1, 2}, 1, False), *changes]):
            if number == len(changes) and path == paths[0]:
                services_arrow(path, configs={"hoodie.log.compaction.blocks.threshold": "1", **QUIET}).run(
                    "logcompaction"
                )
            write_arrow(path, _changed(kind, *change), "upsert", configs=QUIET)
    found = [sorted(map(repr, read_arrow(path).to_pylist())) for path in paths]
    assert found[0] == found[1]


def _schema(kind: str) -> pa.Schema:
    return pa.schema([("id", pa.string()), ("ts", ORDERINGS[kind][0]), ("n", pa.int64()), (DELETED, pa.bool_())])


def _changed(kind: str, keys: set[int], at: int, deleted: object) -> pa.Table:
    values = ORDERINGS[kind][1]
    found = [{"id": f"k{n}", "ts": values[at], "n": at, DELETED: deleted} for n in sorted(keys)]
    return pa.Table.from_pylist(found, _schema(kind))
