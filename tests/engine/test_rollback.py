"""Dead writes are taken back: all of them, nothing else, once, and whoever stops on the way is followed."""

import shutil
from pathlib import Path

import pytest
from hudi_format.log.blocks import BlockType, RawBlock, read_blocks
from hudi_format.names import MarkerName
from hudi_format.storage import LocalStorage
from hudi_format.table.markers import MARKERS_FOLDER, Marker, serialise_markers
from hudi_format.timeline.plans import (
    InstantInfo,
    RollbackPlan,
    RollbackRequest,
    parse_rollback_metadata,
    parse_rollback_plan,
    serialise_rollback_plan,
)
from hudi_spark import HudiError
from hudi_spark.errors import Reason
from hudi_spark.testing import WriteRequest, load_table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rollback_tables import KINDS, SOAK, Undoable, rows, stopped

OPERATIONS = {
    "upsert": {"rows": rows([1, 2, 50, 51], 9, 9.0)},
    "delete": {"rows": rows([1, 4])},
    "insert_overwrite": {"rows": rows([2, 60], 9, 9.0)},
    "delete_partition": {"partitions": ("north",)},
}


@pytest.mark.parametrize(("version", "kind"), KINDS)
def test_a_failed_write_leaves_nothing(tmp_path: Path, version: int, kind: str):
    """Files, entries, markers and what the metadata table knew of it are gone; the rollback states what it did."""
    table = Undoable(tmp_path, version, kind)
    before, files = table.found(), table.data_files()
    failed = table.failed_write()
    (outcome,) = table.services().roll_back_failed_writes()
    assert table.found() == before
    assert table.data_files() >= files
    table.refuse_leftovers()
    (rollback,) = table.actions("rollback")
    assert rollback.requested == outcome.requested
    metadata = parse_rollback_metadata((tmp_path / rollback.file).read_bytes(), rollback.file)
    assert metadata.commits_rollback == (failed,)
    assert metadata.total_files_deleted == sum(len(names) for names in outcome.deleted.values()) > 0
    table.write("upsert", rows([1, 90], 10, 5.0))
    assert ("k1", 5.0) in table.found()
    table.refuse_leftovers()


@pytest.mark.parametrize(("version", "kind"), [KINDS[0], KINDS[1], KINDS[-1]])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_markers_and_a_listing_find_the_same_files(tmp_path: Path, version: int, kind: str, operation: str):
    """Whichever way is taken, the same files go, and the same slices are reported."""
    table = Undoable(tmp_path / "table", version, kind)
    failed = table.failed_write(operation, **OPERATIONS[operation])
    if operation == "delete_partition":
        assert planned(table, "true") == planned(table, "false") == ()
        return
    # A file of no marker states which way was taken.
    stray = f"stray-0_0-0-0_{failed}.parquet"
    (table.path / "north" / stray).write_bytes(b"")
    announced, listed = planned(table, "true"), planned(table, "false")
    found = [one for one in listed if (one.partition_path, one.file_id) == ("north", "stray-0")]
    assert [Path(path).name for one in found for path in one.files_to_be_deleted] == [stray]
    assert announced == tuple(one for one in listed if one not in found)
    assert announced


def planned(table: Undoable, by_markers: str) -> tuple[RollbackRequest, ...]:
    """What a rollback of failed processes write asks for; the table is as before."""
    kept = table.path.with_name("kept")
    shutil.copytree(table.path, kept)
    table.services(configs={"hoodie.rollback.using.markers": by_markers}).roll_back_failed_writes()
    (rollback,) = table.actions("rollback")
    name = rollback.files["REQUESTED"]
    plan = parse_rollback_plan((table.path / name).read_bytes(), name)
    shutil.rmtree(table.path)
    kept.rename(table.path)
    return plan.rollback_requests


@pytest.mark.timeout(7200 if SOAK else 300)
@settings(max_examples=300 if SOAK else 7, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(KINDS),
    operation=st.sampled_from(sorted(OPERATIONS)),
    stops=st.lists(st.integers(0, 16), min_size=1, max_size=3),
    by_markers=st.booleans(),
)
def test_any_writer_finishes_a_pending_rollback(
    tmp_path_factory: pytest.TempPathFactory, kind: tuple[int, str], operation: str, stops: list[int], by_markers: bool
):
    """Stopped before any effects, one rollback of one instant does it in the end, and a command is there once."""
    table = Undoable(tmp_path_factory.mktemp("table"), *kind)
    before = table.found()
    failed = table.failed_write(operation, **OPERATIONS[operation])
    configs = {"hoodie.rollback.using.markers": str(by_markers).lower()}
    for number in stops:
        stopped(lambda hook: table.services(hook, configs).roll_back_failed_writes(), number)
        assert table.found() == before
    table.services(configs=configs).roll_back_failed_writes()
    assert table.found() == before
    assert len(table.actions("rollback")) == 1
    table.refuse_leftovers()
    commands = [path for path in sorted(table.data_files()) if is_command(table.path / path, failed)]
    slices = {path.partition(".log.")[0] for path in commands}
    assert len(commands) == len(slices)


def is_command(path: Path, target: str) -> bool:
    if ".log." not in path.name:
        return False
    blocks = [one for one in read_blocks(path.read_bytes(), path.name) if isinstance(one, RawBlock)]
    return any(one.type is BlockType.COMMAND and target in one.header.values() for one in blocks)


def test_a_log_of_version_6_is_answered_by_a_command(tmp_path: Path):
    """A log that bears the instant of its slice stays; the command stands in the slice's next log, and is recorded."""
    table = Undoable(tmp_path, 6, "MERGE_ON_READ")
    failed = table.failed_write(rows=rows([1], 9, 9.0))
    (log,) = [path for path in table.data_files() if ".log.2_" in path]
    table.services().roll_back_failed_writes()
    (command,) = [path for path in table.data_files() if ".log.3_" in path]
    assert is_command(tmp_path / command, failed)
    (rollback,) = table.actions("rollback")
    plan = parse_rollback_plan((tmp_path / rollback.files["REQUESTED"]).read_bytes(), "plan")
    assert [list(one.log_blocks_to_be_deleted or {}) for one in plan.rollback_requests] == [[log.rpartition("/")[2]]]


def test_markers_of_a_timeline_server_are_read(tmp_path: Path):
    """Several markers stand in one file; one that is torn is passed over for a listing."""
    for torn in (False, True):
        table = Undoable(tmp_path / str(torn), 9, "COPY_ON_WRITE")
        before = table.found()
        failed = table.failed_write()
        folder = table.path / MARKERS_FOLDER / failed
        paths = [path.relative_to(folder) for path in folder.rglob("*.marker.*")]
        markers = [Marker(str(path.parent), MarkerName(*path.name.split(".marker."))) for path in paths]
        for path in paths:
            (folder / path).unlink()
        (folder / "MARKERS.type").write_bytes(b"TIMELINE_SERVER_BASED")
        (folder / "MARKERS0").write_bytes(serialise_markers(markers)[: -40 if torn else None])
        table.services().roll_back_failed_writes()
        assert table.found() == before
        table.refuse_leftovers()


def test_a_write_under_way_is_left_alone(tmp_path: Path):
    """Its heartbeat is live: nobody rolls it back, asked or not; rolled back nevertheless it does not complete."""
    table = Undoable(tmp_path, 9, "MERGE_ON_READ")
    request = WriteRequest("upsert", rows([1], 9, 9.0))
    started = table.writer().begin(request)
    started.stage(request)
    assert table.services().roll_back_failed_writes() == ()
    with pytest.raises(HudiError, match="under way") as refused:
        table.services().rollback(started.requested)
    assert refused.value.reason == Reason.CONFIG_INVALID
    started.commit()
    assert ("k1", 9.0) in table.found()


POLICY = "hoodie.clean.failed.writes.policy"
SHARED = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}


@pytest.mark.parametrize(("given_policy", "eager", "lazy"), [("EAGER", 1, 0), ("LAZY", 0, 1), ("NEVER", 0, 0)])
def test_the_policy_says_who_rolls_back(tmp_path: Path, given_policy: str, eager: int, lazy: int):
    """A write, a clean, or nobody."""
    assert_rolled_back(Undoable(tmp_path, 9, "COPY_ON_WRITE", {POLICY: given_policy}), eager, lazy)


def assert_rolled_back(table: Undoable, eager: int, lazy: int) -> None:
    """How many failed writes a write rolls back that comes next, and how many a clean."""
    for act, number in ((table.take_back_leftovers, eager), (table.services().clean, lazy)):
        before = len(table.actions("rollback"))
        table.failed_write()
        act()
        assert len(table.actions("rollback")) - before == number
        left = [one.requested for one in table.timeline.instants if not one.is_completed]
        assert len(left) == 1 - number
        for one in left:
            table.services().rollback(one)


def test_no_writer_rolls_back_under_never(tmp_path: Path):
    """Also not who asks by the policy that the options have, as the service does."""
    table = Undoable(tmp_path, 9, "COPY_ON_WRITE")
    failed = table.failed_write()

    assert table.services(configs={POLICY: "NEVER"}).roll_back_failed_writes() == ()
    assert failed in {one.requested for one in table.actions("commit")}


@pytest.mark.parametrize(
    ("configs", "eager", "lazy"), [({}, 1, 0), (SHARED, 0, 1), ({**SHARED, POLICY: "NEVER"}, 0, 0)]
)
def test_several_writers_leave_it_to_the_clean(tmp_path: Path, configs: dict[str, str], eager: int, lazy: int):
    """By default otherwise: a write cannot know whether another one is dead."""
    assert_rolled_back(Undoable(tmp_path, 9, "COPY_ON_WRITE", configs), eager, lazy)


def test_what_has_completed_or_is_not_there_is_refused(tmp_path: Path):
    """A restore undoes what has completed; each refusal changes nothing."""
    table = Undoable(tmp_path, 8, "COPY_ON_WRITE")
    files = table.files()
    with pytest.raises(HudiError, match="has completed") as completed:
        table.services().rollback(table.second)
    assert completed.value.reason == Reason.CONFIG_INVALID
    with pytest.raises(HudiError, match="no action") as missing:
        table.services().rollback("20200101000000000")
    assert missing.value.reason == Reason.INSTANT_NOT_FOUND
    assert table.files() == files


@pytest.mark.parametrize("version", [6, 8, 9])
def test_an_attempt_at_a_service_is_taken_back_and_its_plan_stays(tmp_path: Path, version: int):
    """A compaction that died is requested again, and completes then; with `unschedule` the plan goes, too."""
    table = Undoable(tmp_path, version, "MERGE_ON_READ")
    before = table.found()
    services, configs = table.services(), {"hoodie.compact.inline.max.delta.commits": "1"}
    requested = services.schedule("compaction", configs)
    assert requested is not None
    with pytest.raises(HudiError, match="nobody has begun"):
        table.services().rollback(requested)
    folder = load_table(LocalStorage(tmp_path))[0].timeline_folder
    (tmp_path / folder / f"{requested}.compaction.inflight").write_bytes(b"")
    table.services().rollback(requested)
    assert [one.state for one in table.actions("compaction")] == ["REQUESTED"]
    services.execute(requested)
    assert table.found() == before
    table.refuse_leftovers()
    table.write("upsert", rows([3], 11, 4.0))
    again = services.schedule("compaction", configs)
    assert again is not None
    table.services().rollback(again, unschedule=True)
    assert table.actions("compaction") == []
    assert ("k3", 4.0) in table.found()


def test_a_plan_that_later_writes_build_on_is_not_unscheduled(tmp_path: Path):
    """In version 6 they log to the slice that the compaction is going to open."""
    table = Undoable(tmp_path, 6, "MERGE_ON_READ")
    requested = table.services().schedule("compaction", {"hoodie.compact.inline.max.delta.commits": "1"})
    assert requested is not None
    table.write("upsert", rows([1], 12, 6.0))
    with pytest.raises(HudiError, match="later writes have logged"):
        table.services().rollback(requested, unschedule=True)
    assert ("k1", 6.0) in table.found()


def test_a_rollback_without_a_plan_is_started_again(tmp_path: Path):
    """Whoever died over its file, empty or torn, had removed nothing."""
    table = Undoable(tmp_path, 9, "COPY_ON_WRITE")
    before = table.found()
    table.failed_write()
    (tmp_path / ".hoodie/timeline/20250101000001000.rollback.requested").write_bytes(b"")
    table.services().roll_back_failed_writes()
    assert table.found() == before
    table.refuse_leftovers()
    assert [one.state for one in table.actions("rollback")] == ["COMPLETED"]


def test_a_rollback_of_what_has_completed_since_is_dropped(tmp_path: Path):
    """An attempt was being taken back, somebody tried again and completed: these files count."""
    table = Undoable(tmp_path, 9, "MERGE_ON_READ")
    files = table.data_files()
    plan = RollbackPlan(InstantInfo(table.second, "compaction"), (RollbackRequest("north", "x", table.second),))
    pending = tmp_path / ".hoodie/timeline/20250101000001000.rollback"
    pending.with_suffix(".rollback.requested").write_bytes(serialise_rollback_plan(plan))
    pending.with_suffix(".rollback.inflight").write_bytes(b"")
    assert table.services().roll_back_failed_writes() == ()
    assert table.data_files() == files
    table.refuse_leftovers()
