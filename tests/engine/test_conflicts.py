"""What a write conflicts with, by mode and strategy; its message; and how it is done again."""

import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hudi_format.hashing import bucket_id
from hudi_format.storage import LocalStorage
from hudi_format.table.hash_ring import RINGS_FOLDER, HashRing, RingNode, serialise_hash_ring
from hudi_format.timeline.plans import InstantInfo, RollbackPlan, serialise_rollback_plan
from hudi_spark import HudiError, retry_on_conflict
from hudi_spark.testing import (
    InProcess,
    StartedWrite,
    TableServices,
    WriteRequest,
    load_table,
)
from written_tables import OnceBefore, Written, rows

OPTIMISTIC = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}
NON_BLOCKING = {"hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL"}
BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
EARLY = {**OPTIMISTIC, "hoodie.write.concurrency.early.conflict.detection.enable": "true"}
STRATEGY = "hoodie.write.lock.conflict.resolution.strategy"
PREFER_WRITER = {STRATEGY: "org.apache.hudi.client.transaction.PreferWriterConflictResolutionStrategy"}


def started_write(
    table: Written, given: Any, operation: str = "upsert", file_id: str | None = None, **more: Any
) -> StartedWrite:
    """A write that is staged and not committed; the file group that it opens has an id where one is given."""
    ids = {} if file_id is None else {"file_ids": lambda: file_id}
    writer = table.writer(executor=InProcess(), **ids)
    request = WriteRequest(operation, given, **more)
    started = writer.begin(request)
    started.stage(request)
    return started


def is_refused(started: StartedWrite) -> bool:
    """Whether a write conflicts with what completed, or was planned, since it began."""
    try:
        started.commit()
    except HudiError as error:
        if error.reason != "WRITE_CONFLICT":
            raise
        return True
    return False


@pytest.mark.parametrize("version", [6, 8, 9])
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_the_first_to_complete_wins(tmp_path: Path, table_type: str, version: int):
    """The refusal names the other commit and the file groups; nothing of the refused write is left."""
    table = Written(tmp_path / "table", table_type, version, configs=OPTIMISTIC)
    table.write("upsert", rows([1, 2]))
    first, second = started_write(table, rows([1], 2, 2.0)), started_write(table, rows([1, 2], 3, 3.0))
    elsewhere = started_write(table, rows([2], 4, 4.0))
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
    replacing = started_write(table, operation=operation, **given)
    updating, opening = started_write(table, rows([1], 2, 2.0)), started_write(table, rows([5], 2, 2.0), "insert")
    opening.commit()
    replacing.commit()
    with pytest.raises(HudiError, match="OW-005"):
        updating.commit()
    again = started_write(table, operation=operation, **given)
    table.write("upsert", rows([5], 7, 7.0))
    with pytest.raises(HudiError, match="OW-005"):
        again.commit()


@pytest.mark.parametrize(
    ("first", "second", "elsewhere", "refused"),
    [
        ("insert_overwrite", "insert_overwrite", False, True),
        ("insert_overwrite", "insert_overwrite", True, False),
        ("insert_overwrite_table", "insert_overwrite_table", True, True),
        ("insert_overwrite", "insert_overwrite_table", True, False),
        ("insert_overwrite", "insert_overwrite_table", False, True),
        ("insert_overwrite", "insert", False, False),
        ("insert_overwrite", "delete_partition", False, False),
    ],
)
def test_two_overwrites_of_one_place_conflict_also_where_it_was_empty(
    tmp_path: Path, first: str, second: str, elsewhere: bool, refused: bool
):
    """They share no file group: the place is the partition, or for two of the table the table. Clause OW-035."""
    table = Written(tmp_path / "table", configs=OPTIMISTIC)
    given = {"given": None, "partitions": ("north",)} if second == "delete_partition" else {"given": rows([1])}
    later = started_write(table, operation=second, **given)
    table.write(first, rows([2 if elsewhere else 3]))
    assert is_refused(later) == refused


def test_a_write_goes_on_without_the_logs_of_one_that_gave_up(tmp_path: Path):
    """Before version 8 a listing has the logs of writes that have not completed; what has completed still counts."""
    table = Written(tmp_path / "table", "MERGE_ON_READ", 6, configs={**OPTIMISTIC, "hoodie.metadata.enable": "false"})
    table.write("upsert", rows([1, 2, 3]))
    table.write("upsert", rows([1], 2, 2.0))
    table.write("delete", rows([3], 3))
    giving_up = started_write(table, rows([2], 4, 4.0))
    request = WriteRequest("upsert", rows([1, 3], 5, 5.0))
    going_on = table.writer(executor=InProcess()).begin(request)
    giving_up.abort()
    going_on.stage(request)
    going_on.commit()
    assert table.found() == [("k1", 5.0), ("k2", 1.0), ("k3", 5.0)]


@pytest.mark.parametrize("version", [8, 9])
def test_a_compaction_planned_since_conflicts_and_one_planned_before_does_not(tmp_path: Path, version: int):
    """Whether it waits or has completed; before version 8 none is planned beside a write that has begun."""
    table = Written(tmp_path / "table", "MERGE_ON_READ", version, configs=OPTIMISTIC)
    services = TableServices(table.writer())
    table.write("upsert", rows([1, 2]))
    table.write("upsert", rows([1, 2], 2, 2.0))
    due = {"hoodie.compact.inline.max.delta.commits": "1"}
    late = started_write(table, rows([1], 3, 3.0))
    planned = services.schedule("compaction", due)
    assert planned is not None
    with pytest.raises(HudiError, match=f"{planned} is about to rewrite the same file groups") as caught:
        late.commit()
    assert caught.value.clause == "OW-006"
    after = started_write(table, rows([1], 4, 4.0))
    services.execute(planned)
    after.commit()
    assert table.found() == [("k1", 4.0), ("k2", 2.0)]


def test_writers_are_preferred_to_plans_that_wait(tmp_path: Path):
    """By PreferWriterConflictResolutionStrategy a plan made meanwhile is no conflict; its logs follow it."""
    table = Written(tmp_path / "table", "MERGE_ON_READ", 9, configs={**OPTIMISTIC, **PREFER_WRITER})
    table.write("upsert", rows([1, 2]))
    table.write("upsert", rows([1, 2], 2, 2.0))
    services = TableServices(table.writer())
    late = started_write(table, rows([1], 3, 3.0))
    planned = services.schedule("compaction", {"hoodie.compact.inline.max.delta.commits": "1"})
    late.commit()
    assert planned is not None
    services.execute(planned)
    assert table.found() == [("k1", 3.0), ("k2", 2.0)]


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_two_that_open_one_bucket_conflict(tmp_path: Path, table_type: str):
    """Their file groups have different ids and one number."""
    table = Written(tmp_path / "table", table_type, 9, configs={**OPTIMISTIC, **BUCKETS})
    first, second = (
        started_write(table, rows([1, 3, 5, 7]), "insert"),
        started_write(table, rows([9, 11, 13, 15]), "insert"),
    )
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
def test_a_strategy_says_whether_plans_and_buckets_count(
    tmp_path: Path, strategy: str, plans_count: object, by_bucket: object
):
    """File groups of one bucket are one where the strategy or the index says so."""
    configs = {**OPTIMISTIC, STRATEGY: strategy}
    table = Written(tmp_path / "plans", "MERGE_ON_READ", configs=configs)
    table.write("upsert", rows([1, 2]))
    table.write("upsert", rows([1, 2], 2, 2.0))
    late = started_write(table, rows([1], 3, 3.0))
    assert TableServices(table.writer()).schedule("compaction", {"hoodie.compact.inline.max.delta.commits": "1"})
    assert is_refused(late) == plans_count
    assert are_one(tmp_path / "groups", strategy, (1, "00000001-aaaa-0"), (3, "00000001-bbbb-0")) == by_bucket
    buckets = Written(tmp_path / "buckets", "MERGE_ON_READ", configs={**configs, **BUCKETS})
    first, second = (
        started_write(buckets, rows([1, 3, 5, 7]), "insert"),
        started_write(buckets, rows([9, 11, 13, 15]), "insert"),
    )
    first.commit()
    assert is_refused(second)


def are_one(folder: Path, strategy: str, first: tuple[int, str], second: tuple[int, str]) -> bool:
    """Whether two writes conflict of which each opens a file group, given as the number of a row and the group's id."""
    table = Written(folder, configs={**OPTIMISTIC, STRATEGY: strategy})
    one, other = (started_write(table, rows([number]), "insert", file_id) for number, file_id in (first, second))
    one.commit()
    return is_refused(other)


def test_file_groups_of_one_bucket_are_one_and_those_of_two_are_two(tmp_path: Path):
    """Within a partition: the first eight characters of a file id tell."""
    strategy, own = "BucketIndexConcurrentFileWrites", (1, "00000001-aaaa-0")
    assert are_one(tmp_path / "one", strategy, own, (3, "00000001-bbbb-0"))
    assert not are_one(tmp_path / "two", strategy, own, (3, "00000000-aaaa-0"))
    assert not are_one(tmp_path / "elsewhere", strategy, own, (2, "00000001-aaaa-0"))


@pytest.mark.parametrize(("engine", "by_bucket"), [("SIMPLE", True), ("CONSISTENT_HASHING", False)])
def test_only_file_groups_of_simple_buckets_are_one_by_their_number(tmp_path: Path, engine: str, by_bucket: object):
    """Those of a consistent hash ring have ids as others have."""
    configs = {**OPTIMISTIC, **BUCKETS, "hoodie.index.bucket.engine": engine}
    table = Written(tmp_path / "table", "MERGE_ON_READ", configs=configs)
    nodes = (RingNode(2**30, "20202020-0000"), RingNode(2**31 - 1, "20202020-0001"))
    ring = HashRing("north", "00000000000000", 2, 0, nodes)
    path = table.path / RINGS_FOLDER / "north" / "00000000000000.hashing_meta"
    path.parent.mkdir(parents=True)
    path.write_bytes(serialise_hash_ring(ring))
    numbers = range(1, 99, 2)
    one, other = (next(n for n in numbers if ring.node_of(f"k{n}") is node) for node in nodes)
    same_bucket = next(n for n in numbers if n != one and bucket_id([f"k{n}"], 2) == bucket_id([f"k{one}"], 2))
    first = started_write(table, rows([one]), "insert")
    second = started_write(table, rows([same_bucket if by_bucket else other]), "insert")
    first.commit()
    assert is_refused(second) == by_bucket
    logs = {name.rpartition("/")[2][1:9] for name in table.files() if ".log." in name and name.startswith("north")}
    assert by_bucket or logs == {"20202020"}


def test_file_groups_of_a_clustering_are_no_buckets(tmp_path: Path):
    """A write to a group whose id begins as theirs does is in nobody's way; one to a group of theirs is."""
    configs = {
        **OPTIMISTIC,
        STRATEGY: "BucketIndexConcurrentFileWrites",
        "hoodie.parquet.small.file.limit": "0",
        "hoodie.clustering.updates.strategy": "SparkAllowUpdateStrategy",
    }
    for operation, given, refused in (("insert", rows([5]), False), ("upsert", rows([1], 2, 2.0), True)):
        table = Written(tmp_path / operation, configs=configs)
        numbers = iter(range(9))
        ids = {"file_ids": lambda numbers=numbers: f"00000000-0000-4000-8000-{next(numbers):012d}-0"}
        writer = table.writer(**ids)
        for number in (1, 3):
            writer.write(WriteRequest("insert", rows([number])))
        planned = TableServices(writer).schedule("clustering")
        assert planned is not None
        hook = OnceBefore("put_base_file", partial(writer.write, WriteRequest(operation, given)))
        services = TableServices(table.writer(hook=hook, **ids))
        if refused:
            with pytest.raises(HudiError, match="OW-005"):
                services.execute(planned)
        else:
            assert services.execute(planned).operation == "CLUSTER"
        assert hook.left <= 0


def test_a_log_compaction_conflicts_where_it_was_planned_since_or_has_completed(tmp_path: Path):
    """Unlike a compaction it is a write like others once it has completed, whenever it was planned."""
    table = Written(tmp_path / "table", "MERGE_ON_READ", 9, configs=OPTIMISTIC)
    services = TableServices(table.writer())
    for n in (1, 2, 3):
        table.write("upsert", rows([1], n, float(n)))
    due = {"hoodie.log.compaction.blocks.threshold": "2"}
    late, later = started_write(table, rows([1], 4, 4.0)), started_write(table, rows([1], 5, 5.0))
    planned = services.schedule("logcompaction", due)
    assert planned is not None
    with pytest.raises(HudiError, match=f"logcompaction {planned} is about to rewrite") as caught:
        late.commit()
    assert caught.value.clause == "OW-006"
    after = started_write(table, rows([1], 6, 6.0))
    services.execute(planned)
    for one in (later, after):
        with pytest.raises(HudiError, match=f"{planned} changed the same file groups") as caught:
            one.commit()
        assert caught.value.clause == "OW-005"
    assert table.found() == [("k1", 3.0)]


def test_markers_of_another_active_write_end_a_write_early(tmp_path: Path):
    """Before it has files, where the other has announced its own; not where the other is over."""
    table = Written(tmp_path / "table", configs=EARLY)
    table.write("upsert", rows([1, 2]))
    first = started_write(table, rows([1], 2, 2.0))
    with pytest.raises(HudiError, match=f"{first.requested}, which is under way") as caught:
        table.write("upsert", rows([1], 3, 3.0))
    assert (caught.value.reason, caught.value.clause) == ("WRITE_CONFLICT", "MK-006")
    table.write("upsert", rows([2], 3, 3.0))
    first.abort()
    table.write("upsert", rows([1], 4, 4.0))
    assert table.found() == [("k1", 4.0), ("k2", 3.0)]


def test_markers_of_a_failed_write_end_none_early(tmp_path: Path):
    """It is still pending, and nobody goes on with it."""
    table = Written(tmp_path / "table", configs=EARLY)
    table.write("upsert", rows([1, 2]))
    program = (
        "import os, sys\n"
        "from test_conflicts import EARLY, InProcess, LocalStorage, WriteRequest, rows\n"
        "from hudi_spark.testing import SetClock, TableWriter\n"
        "writer = TableWriter(LocalStorage(sys.argv[1]), InProcess(), EARLY, clock=SetClock(sys.argv[2]))\n"
        "request = WriteRequest('upsert', rows([1], 2, 2.0))\n"
        "started = writer.begin(request)\n"
        "started.stage(request)\n"
        "print(started.requested, flush=True)\n"
        "os._exit(0)\n"
    )
    run = [sys.executable, "-c", program, str(table.path), table.clock.now]
    failed = subprocess.run(run, check=True, capture_output=True, text=True, cwd=Path(__file__).parent).stdout.strip()
    assert any(f"/.temp/{failed}/" in name for name in table.files())
    assert [one.requested for one in load_table(LocalStorage(table.path))[1].pending("commit")] == [failed]
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


def test_what_a_completed_write_left_behind_ends_none(tmp_path: Path):
    """Its markers may outlive it for a moment, and its heartbeat may still be live."""
    # With a lock that processes share an empty heartbeat is that of some other writer.
    shared = {"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"}
    table = Written(tmp_path / "table", configs={**EARLY, **shared})
    table.write("upsert", rows([1, 2]))
    first = started_write(table, rows([1], 2, 2.0))
    contents = {path: path.read_bytes() for path in (table.path / ".hoodie" / ".temp").rglob("*") if path.is_file()}
    first.commit()
    for path, data in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    beat = table.path / ".hoodie" / ".heartbeat" / first.requested
    beat.write_bytes(b"")
    table.write("upsert", rows([1], 3, 3.0))
    assert contents
    assert beat.exists()
    assert table.found() == [("k1", 3.0), ("k2", 1.0)]


def test_completed_writes_end_a_write_early_where_configured(tmp_path: Path):
    """Else it is refused under the lock, when its files are written."""
    settings = {**EARLY, "hoodie.write.concurrency.early.conflict.check.commit.conflict": "true"}
    for configs, step in ((settings, "stage"), (EARLY, "commit")):
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
    undone, other = started_write(table, rows([1], 2, 2.0)), started_write(table, rows([2], 3, 3.0))
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
    first, second = started_write(table, rows([1, 3], 5, 5.0)), started_write(table, rows([1, 5], 4, 4.0))
    third = started_write(table, rows([3], 9, 9.0))
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
    first = started_write(table, rows([1, 3]), "bulk_insert")
    second = started_write(table, rows([1, 3], 2, 2.0), "bulk_insert")
    first.commit()
    with pytest.raises(HudiError, match="WRITE_CONFLICT"):
        second.commit()


def test_a_write_is_done_again_after_a_conflict(tmp_path: Path):
    """By the function and by the option; pauses grow up to a bound; other refusals are reported at once."""
    table = Written(tmp_path / "table", configs=OPTIMISTIC)
    table.write("upsert", rows([1]))
    pauses: list[float] = []

    def write() -> Any:
        late = started_write(table, rows([1], 3, 3.0))
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
    other = started_write(table, rows([1], 2, 2.0))
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


def test_a_write_whose_request_is_gone_does_not_complete(tmp_path: Path):
    """It was rolled back before it went inflight: its process was slow, and its inflight file came afterwards."""
    table = Written(tmp_path / "table", configs=OPTIMISTIC)
    table.write("upsert", rows([1, 2]))
    slow, whole = started_write(table, rows([1], 2, 2.0)), started_write(table, rows([2], 3, 3.0))
    timeline = table.path / ".hoodie" / "timeline"
    (timeline / f"{slow.requested}.commit.requested").unlink()
    assert (timeline / f"{slow.requested}.inflight").exists()
    with pytest.raises(HudiError, match="OW-008"):
        slow.commit()
    whole.commit()
    assert table.found() == [("k1", 1.0), ("k2", 3.0)]
