"""What a write conflicts with, by mode and strategy; what it is told; and how it is done again."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hudi_format.storage import LocalStorage
from hudi_format.timeline.plans import InstantInfo, RollbackPlan, serialise_rollback_plan
from hudi_spark import HudiError, retry_on_conflict
from hudi_spark.testing import (
    InProcess,
    Instant,
    StartedWrite,
    TableServices,
    Timeline,
    WriteRequest,
    load_table,
    resolve,
)
from hudi_spark.write import Operation, refuse_conflicts, state_of_table
from hudi_spark.write.completing import refuse_not_inflight
from hudi_spark.write.conflicts import concurrency_of, conflict_rules
from written_tables import Written, rows

OPTIMISTIC = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}
NON_BLOCKING = {"hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL"}
BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
EARLY = {**OPTIMISTIC, "hoodie.write.concurrency.early.conflict.detection.enable": "true"}
STRATEGY = "hoodie.write.lock.conflict.resolution.strategy"
PREFER_WRITER = {STRATEGY: "org.apache.hudi.client.transaction.PreferWriterConflictResolutionStrategy"}


def begun(table: Written, given: Any, operation: str = "upsert", **more: Any) -> StartedWrite:
    """A write that is staged and not committed."""
    writer = table.writer(executor=InProcess())
    request = WriteRequest(operation, given, **more)
    started = writer.begin(request)
    started.stage(request)
    return started


@pytest.mark.parametrize("version", [6, 8, 9])
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_the_first_to_complete_wins(tmp_path: Path, table_type: str, version: int):
    """The refusal names the other commit and the file groups; nothing of the refused write is left."""
    table = Written(tmp_path / "table", table_type, version, configs=OPTIMISTIC)
    table.write("upsert", rows([1, 2]))
    first, second = begun(table, rows([1], 2, 2.0)), begun(table, rows([1, 2], 3, 3.0))
    elsewhere = begun(table, rows([2], 4, 4.0))
    done = first.commit()
    with pytest.raises(HudiError, match=f"{done.requested} changed the same file groups: north/") as caught:
        second.commit()
    assert (caught.value.reason, caught.value.clause) == ("WRITE_CONFLICT", "OW-005")
    elsewhere.commit()
    assert table.found() == [("k1", 2.0), ("k2", 4.0)]
    assert [one for one in table.files() if second.requested in one and "/metadata/" not in one] == []


@pytest.mark.parametrize("operation", ["insert_overwrite", "delete_partition"])
def test_what_replaces_file_groups_conflicts_with_their_updates(tmp_path: Path, operation: str):
    """Either way round; a file group that is opened meanwhile stays, and is in nobody's way."""
    table = Written(tmp_path / "table", configs={**OPTIMISTIC, "hoodie.parquet.small.file.limit": "0"})
    table.write("upsert", rows([1, 2]))
    given = {"given": None, "partitions": ("north",)} if operation == "delete_partition" else {"given": rows([3])}
    replacing = begun(table, operation=operation, **given)
    updating, opening = begun(table, rows([1], 2, 2.0)), begun(table, rows([5], 2, 2.0), "insert")
    opening.commit()
    replacing.commit()
    with pytest.raises(HudiError, match="OW-005"):
        updating.commit()
    again = begun(table, operation=operation, **given)
    table.write("upsert", rows([5], 7, 7.0))
    with pytest.raises(HudiError, match="OW-005"):
        again.commit()


@pytest.mark.parametrize("version", [8, 9])
def test_a_compaction_planned_since_conflicts_and_one_planned_before_does_not(tmp_path: Path, version: int):
    """Whether it waits or has completed; before version 8 none is planned beside a write that has begun."""
    table = Written(tmp_path / "table", "MERGE_ON_READ", version, configs=OPTIMISTIC)
    services = TableServices(table.writer())
    table.write("upsert", rows([1, 2]))
    table.write("upsert", rows([1, 2], 2, 2.0))
    due = {"hoodie.compact.inline.max.delta.commits": "1"}
    late = begun(table, rows([1], 3, 3.0))
    planned = services.schedule("compaction", due)
    assert planned is not None
    with pytest.raises(HudiError, match=f"{planned} is about to rewrite the same file groups") as caught:
        late.commit()
    assert caught.value.clause == "OW-006"
    after = begun(table, rows([1], 4, 4.0))
    services.execute(planned)
    after.commit()
    assert table.found() == [("k1", 4.0), ("k2", 2.0)]


def test_writers_are_preferred_to_plans_that_wait(tmp_path: Path):
    """By PreferWriterConflictResolutionStrategy a plan made meanwhile is no conflict; its logs follow it."""
    table = Written(tmp_path / "table", "MERGE_ON_READ", 9, configs={**OPTIMISTIC, **PREFER_WRITER})
    table.write("upsert", rows([1, 2]))
    table.write("upsert", rows([1, 2], 2, 2.0))
    services = TableServices(table.writer())
    late = begun(table, rows([1], 3, 3.0))
    planned = services.schedule("compaction", {"hoodie.compact.inline.max.delta.commits": "1"})
    late.commit()
    assert planned is not None
    services.execute(planned)
    assert table.found() == [("k1", 3.0), ("k2", 2.0)]


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_two_that_open_one_bucket_conflict(tmp_path: Path, table_type: str):
    """Their file groups have different ids and one number."""
    table = Written(tmp_path / "table", table_type, 9, configs={**OPTIMISTIC, **BUCKETS})
    first, second = begun(table, rows([1, 3, 5, 7]), "insert"), begun(table, rows([9, 11, 13, 15]), "insert")
    first.commit()
    with pytest.raises(HudiError, match="OW-005"):
        second.commit()


def test_an_unknown_strategy_is_refused(tmp_path: Path):
    """CONFIG_INVALID names those that there are, and nothing is written."""
    table = Written(tmp_path / "table", configs={STRATEGY: "com.example.Mine"})
    with pytest.raises(HudiError, match="PreferWriter") as caught:
        table.write("upsert", rows([1]))
    assert caught.value.reason == "CONFIG_INVALID"
    assert table.ids() == []


@pytest.mark.parametrize(
    ("strategy", "plans_count", "by_bucket"),
    [
        ("SimpleConcurrentFileWritesConflictResolutionStrategy", True, False),
        ("BucketIndexConcurrentFileWrites", True, True),
        ("org.apache.hudi.client.transaction.PreferWriterConflictResolutionStrategy", False, False),
    ],
)
def test_a_strategy_says_whether_plans_and_buckets_count(strategy: str, plans_count: object, by_bucket: object):
    """File groups of one bucket are one where the strategy or the index says so."""
    options = resolve({STRATEGY: strategy})
    rules = conflict_rules(options, by_bucket=False)
    assert (rules.plans_count, rules.by_bucket) == (plans_count, by_bucket)
    assert conflict_rules(options, by_bucket=True).by_bucket


def test_file_groups_of_one_bucket_are_one_and_those_of_two_are_two():
    """Within a partition: the first eight characters of a file id tell."""
    rules = conflict_rules(resolve({}), by_bucket=True)
    own = rules.key(("north", "00000001-aaaa-0"))
    assert rules.key(("north", "00000001-bbbb-0")) == own
    assert own not in {rules.key(("north", "00000000-aaaa-0")), rules.key(("south", "00000001-aaaa-0"))}


@pytest.mark.parametrize(("engine", "by_bucket"), [("SIMPLE", True), ("CONSISTENT_HASHING", False)])
def test_only_file_groups_of_simple_buckets_are_one_by_their_number(tmp_path: Path, engine: str, by_bucket: object):
    """Those of a consistent hash ring have ids as others have."""
    configs = {**OPTIMISTIC, **BUCKETS, "hoodie.index.bucket.engine": engine}
    work = Written(tmp_path / "table", "MERGE_ON_READ", configs=configs).writer().work()
    state = state_of_table(work.storage, work.snapshot(), work.options)
    assert concurrency_of(state, Operation("upsert", "UPSERT")).rules.by_bucket == by_bucket


def test_file_groups_of_a_clustering_are_no_buckets(tmp_path: Path):
    """A write to a group whose id begins as theirs does is in nobody's way; one to a group of theirs is."""
    table = Written(tmp_path / "table", configs={"hoodie.parquet.small.file.limit": "0"})
    numbers = iter(range(9))
    writer = table.writer(file_ids=lambda: f"00000000-0000-4000-8000-{next(numbers):012d}-0")
    writer.write(WriteRequest("insert", rows([1])))
    began_with = writer.work().snapshot()
    planned = frozenset((one.partition, one.file_id) for one in began_with.slices)
    writer.write(WriteRequest("insert", rows([3])))
    storage = LocalStorage(table.path)
    refuse_conflicts(storage, began_with, load_table(storage)[1], planned)
    writer.write(WriteRequest("upsert", rows([1], 2, 2.0)))
    with pytest.raises(HudiError, match="OW-005"):
        refuse_conflicts(storage, began_with, load_table(storage)[1], planned)


def test_a_log_compaction_planned_since_conflicts_and_one_planned_before_does_not(tmp_path: Path):
    """As of compactions: whether it waits or has completed."""
    table = Written(tmp_path / "table", "MERGE_ON_READ", 9, configs=OPTIMISTIC)
    services = TableServices(table.writer())
    for n in (1, 2, 3):
        table.write("upsert", rows([1], n, float(n)))
    due = {"hoodie.log.compaction.blocks.threshold": "2"}
    late, later = begun(table, rows([1], 4, 4.0)), begun(table, rows([1], 5, 5.0))
    planned = services.schedule("logcompaction", due)
    assert planned is not None
    with pytest.raises(HudiError, match=f"logcompaction {planned} is about to rewrite") as caught:
        late.commit()
    assert caught.value.clause == "OW-006"
    after = begun(table, rows([1], 6, 6.0))
    services.execute(planned)
    with pytest.raises(HudiError, match=f"{planned} changed the same file groups") as caught:
        later.commit()
    assert caught.value.clause == "OW-006"
    after.commit()
    assert table.found() == [("k1", 6.0)]


def test_markers_of_another_living_write_end_a_write_early(tmp_path: Path):
    """Before it has files, where the other has announced its own; not where the other is over."""
    table = Written(tmp_path / "table", configs=EARLY)
    table.write("upsert", rows([1, 2]))
    first = begun(table, rows([1], 2, 2.0))
    with pytest.raises(HudiError, match=f"{first.requested}, which is under way") as caught:
        table.write("upsert", rows([1], 3, 3.0))
    assert (caught.value.reason, caught.value.clause) == ("WRITE_CONFLICT", "MK-006")
    table.write("upsert", rows([2], 3, 3.0))
    first.abort()
    table.write("upsert", rows([1], 4, 4.0))
    assert table.found() == [("k1", 4.0), ("k2", 3.0)]


def test_markers_of_a_dead_write_end_none_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It is still pending, and nobody goes on with it."""
    table = Written(tmp_path / "table", configs=EARLY)
    table.write("upsert", rows([1, 2]))
    begun(table, rows([1], 2, 2.0))
    monkeypatch.setattr("hudi_spark.write.conflicts.is_alive", lambda *_: False)
    table.write("upsert", rows([1], 3, 3.0))
    assert table.found() == [("k1", 3.0), ("k2", 1.0)]


def test_of_two_writes_whose_markers_are_all_there_the_later_one_ends_early(tmp_path: Path):
    """Before its own markers are there a write gives way to whoever has some, earlier or later."""
    table = Written(tmp_path / "table", configs=OPTIMISTIC)
    table.write("upsert", rows([1, 2]))
    one, two = (WriteRequest("upsert", rows([n], 2, 2.0)) for n in (1, 2))
    unseeing = table.writer(executor=InProcess())
    table.configs = EARLY
    seeing = table.writer(executor=InProcess())
    unstaged, first, second = seeing.begin(one), unseeing.begin(one), seeing.begin(one)
    second.stage(one)
    first.stage(one)
    for late in (lambda: unstaged.stage(one), second.commit):
        with pytest.raises(HudiError, match=f"{first.requested}, which is under way"):
            late()
    earlier, later = seeing.begin(two), unseeing.begin(two)
    earlier.stage(two)
    later.stage(two)
    earlier.commit()
    first.commit()
    assert table.found() == [("k1", 2.0), ("k2", 2.0)]


def test_what_a_completed_write_left_behind_ends_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Its markers may outlive it for a moment, and its heart may still beat."""
    monkeypatch.setattr("hudi_spark.write.conflicts.is_alive", lambda *_: True)
    table = Written(tmp_path / "table", configs=EARLY)
    table.write("upsert", rows([1, 2]))
    first = begun(table, rows([1], 2, 2.0))
    contents = {path: path.read_bytes() for path in (table.path / ".hoodie" / ".temp").rglob("*") if path.is_file()}
    first.commit()
    for path, data in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    table.write("upsert", rows([1], 3, 3.0))
    assert contents
    assert table.found() == [("k1", 3.0), ("k2", 1.0)]


def test_what_has_completed_ends_a_write_early_where_that_is_asked_for(tmp_path: Path):
    """Else it is refused under the lock, when its files are written."""
    asked = {**EARLY, "hoodie.write.concurrency.early.conflict.check.commit.conflict": "true"}
    for configs, step in ((asked, "stage"), (EARLY, "commit")):
        table = Written(tmp_path / step, configs=configs)
        table.write("upsert", rows([1, 2]))
        request = WriteRequest("upsert", rows([1], 2, 2.0))
        started = table.writer(executor=InProcess()).begin(request)
        table.write("upsert", rows([1], 3, 3.0))
        steps = {"stage": lambda one=started, what=request: one.stage(what), "commit": started.commit}
        if step == "commit":
            started.stage(request)
        with pytest.raises(HudiError, match="OW-005"):
            steps[step]()


def test_a_write_that_somebody_rolls_back_does_not_complete(tmp_path: Path):
    """The rollback is named; it is in nobody else's way."""
    table = Written(tmp_path / "table", configs=OPTIMISTIC)
    table.write("upsert", rows([1, 2]))
    undone, other = begun(table, rows([1], 2, 2.0)), begun(table, rows([2], 3, 3.0))
    plan = serialise_rollback_plan(RollbackPlan(InstantInfo(undone.requested, "commit")))
    later = str(int(other.requested) + 1)
    (tmp_path / "table" / ".hoodie" / "timeline" / f"{later}.rollback.requested").write_bytes(plan)
    other.commit()
    with pytest.raises(HudiError, match=f"{undone.requested} is being rolled back by {later}") as caught:
        undone.commit()
    assert (caught.value.reason, caught.value.clause) == ("WRITE_CONFLICT", "OW-008")


@pytest.mark.parametrize("version", [8, 9])
def test_non_blocking_writers_meet_in_one_bucket(tmp_path: Path, version: int):
    """They log to one file group of a fixed id, neither is refused, and the greatest ordering value is there."""
    table = Written(tmp_path / "table", "MERGE_ON_READ", version, configs={**NON_BLOCKING, **BUCKETS})
    first, second = begun(table, rows([1, 3], 5, 5.0)), begun(table, rows([1, 5], 4, 4.0))
    third = begun(table, rows([3], 9, 9.0))
    for one in (second, third, first):
        one.commit()
    assert table.found() == [("k1", 5.0), ("k3", 9.0), ("k5", 4.0)]
    logs = [one.rpartition("/")[2] for one in table.files() if ".log." in one and one.startswith("north")]
    assert {name[1:38] for name in logs} <= {f"{n:08d}-0000-0000-0000-000000000000-0"[:37] for n in range(2)}
    assert not [one for one in table.files() if one.startswith("north") and one.endswith(".parquet")]


@pytest.mark.parametrize(
    ("table_type", "version", "configs", "operation", "words"),
    [
        ("COPY_ON_WRITE", 9, BUCKETS, "upsert", "copy-on-write"),
        ("MERGE_ON_READ", 6, BUCKETS, "upsert", "version 6"),
        ("MERGE_ON_READ", 9, {}, "upsert", "this index"),
        ("MERGE_ON_READ", 9, BUCKETS, "insert_overwrite", "insert_overwrite"),
    ],
)
def test_non_blocking_writers_need_logs_and_buckets(  # noqa: PLR0917 - the columns of the table above
    tmp_path: Path, table_type: str, version: int, configs: Mapping[str, str], operation: str, words: str
):
    """Elsewhere they are refused, with the reason, before anything is written."""
    table = Written(tmp_path / "table", table_type, version, configs={**NON_BLOCKING, **configs})
    before = table.files()
    with pytest.raises(HudiError, match=words) as caught:
        table.write(operation, rows([1]))
    assert (caught.value.reason, caught.value.clause) == ("CONFIG_INVALID", "SW-001")
    assert table.files() == before


def test_non_blocking_bulk_inserts_look_for_conflicts(tmp_path: Path):
    """They write base files, of which a bucket has one."""
    table = Written(tmp_path / "table", "MERGE_ON_READ", 9, configs={**NON_BLOCKING, **BUCKETS})
    first = begun(table, rows([1, 3]), "bulk_insert")
    second = begun(table, rows([1, 3], 2, 2.0), "bulk_insert")
    first.commit()
    with pytest.raises(HudiError, match="WRITE_CONFLICT"):
        second.commit()


def test_a_write_is_done_again_after_a_conflict(tmp_path: Path):
    """By the function and by the option; pauses grow up to a bound; other refusals are told at once."""
    table = Written(tmp_path / "table", configs=OPTIMISTIC)
    table.write("upsert", rows([1]))
    pauses: list[float] = []

    def write() -> Any:
        late = begun(table, rows([1], 3, 3.0))
        if len(pauses) < 2:
            table.write("upsert", rows([1], 2, 2.0))
        return late.commit()

    outcome = retry_on_conflict(write, attempts=3, pause=1.0, longest_pause=1.5, sleep=pauses.append)
    assert outcome.operation == "UPSERT"
    assert 0.5 <= pauses[0] <= 1.0
    assert 0.75 <= pauses[1] <= 1.5
    with pytest.raises(HudiError, match="CONFIG_INVALID"):
        retry_on_conflict(lambda: table.write("nonsense", rows([1])), sleep=pauses.append)
    with pytest.raises(ValueError, match="at least one"):
        retry_on_conflict(write, attempts=0)
    assert len(pauses) == 2


def test_the_option_to_do_a_write_again(tmp_path: Path):
    """hoodie.write.num.retries.on.conflict.failures is how many more attempts there are."""
    table = Written(tmp_path / "table", configs={**EARLY, "hoodie.write.num.retries.on.conflict.failures": "1"})
    table.write("upsert", rows([1]))
    other = begun(table, rows([1], 2, 2.0))
    seen: list[str] = []

    class Ending:
        """The other write ends with the refusal of this one."""

        def before(self, effect: Any) -> None:
            if effect.name == "delete_instant" and not seen:
                seen.append(effect.name)
                other.abort()

        def after(self, effect: Any) -> None:
            """Nothing."""

    table.writer(LocalStorage(table.path), hook=Ending()).write(WriteRequest("upsert", rows([1], 3, 3.0)))
    assert table.found() == [("k1", 3.0)]


def test_a_write_whose_request_is_gone_does_not_complete():
    """It was rolled back before it went inflight: its process was slow, and its inflight file came afterwards."""
    time = "20250101000000005"
    slow = Instant(time, "commit", "INFLIGHT", None, {"INFLIGHT": f"{time}.inflight"})
    whole = replace(slow, files={**slow.files, "REQUESTED": f"{time}.commit.requested"})
    with pytest.raises(HudiError, match="OW-008"):
        refuse_not_inflight(Timeline((slow,)), time, "commit")
    refuse_not_inflight(Timeline((whole,)), time, "commit")
