"""Old file slices go, by policies; what somebody needs stays; a clean that died is finished by the next."""

import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from cleaned_tables import WITHOUT_METADATA, Died, answers, data_files, deaths, timeline_of, upserted
from engine_tables import TableBuilder, row, tick
from hudi_format.names import PARTITION_METAFILE, parse_data_file_name
from hudi_format.storage import LocalStorage
from hudi_format.timeline.plans import CleanerPlan, CleanMetadata, parse_clean_metadata, parse_cleaner_plan
from hudi_spark import HudiError, read_arrow
from hudi_spark.testing import (
    Effects,
    InlineServices,
    InProcess,
    TableActions,
    TableServices,
    TableWriter,
    WriteRequest,
    stop_heartbeat,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from written_tables import OnceBefore, Written, rows

VERSIONS = pytest.mark.parametrize("version", [6, 8, 9])
ONE = {"hoodie.clean.commits.retained": "1"}
TWO_VERSIONS = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "2"}
COMPACT_NOW = {"hoodie.compact.inline.max.delta.commits": "1"}
POLICIES = (ONE, {"hoodie.clean.commits.retained": "3"}, TWO_VERSIONS)
WRITES = st.sampled_from(["upsert", "upsert", "insert", "insert_overwrite"])
STEPS = st.lists(
    st.one_of(
        st.tuples(WRITES, st.sets(st.integers(0, 6), min_size=1)),
        st.tuples(st.sampled_from(["compact", "savepoint", "clean"]), st.just(frozenset())),
    ),
    min_size=3,
    max_size=7,
)


def step_by_step(table: Written, steps: Iterable[tuple[str, Any]]) -> None:
    for n, (step, ids) in enumerate(steps, 1):
        if step == "savepoint":
            if not timeline_of(table).completed("savepoint"):
                table.services().savepoint()
        elif step == "clean":
            table.services().clean(ONE)
        elif step == "compact":
            if table.table_type == "MERGE_ON_READ":
                table.services().run("compaction", COMPACT_NOW)
        else:
            table.write(step, rows(sorted(ids), ts=n, price=float(n)))


def planned(table: Written, options: Mapping[str, str]) -> CleanerPlan | None:
    """What a clean would do now, however few writes there were since the last one; nothing changes."""
    with tempfile.TemporaryDirectory() as folder:
        copied = table.copied(Path(folder) / "table")
        requested = copied.services().schedule("clean", {"hoodie.clean.trigger.max.commits": "0", **options})
        if requested is None:
            return None
        (pending,) = timeline_of(copied).pending("clean")
        name = pending.files["REQUESTED"]
        return parse_cleaner_plan((copied.path / name).read_bytes(), name)


def named(plan: CleanerPlan | None) -> list[str]:
    files = plan.file_paths_to_be_deleted_per_partition.values() if plan else ()
    return sorted((one.file_path or "").rpartition("/")[2] for infos in files for one in infos)


def last_clean(table: Written) -> CleanMetadata:
    done = timeline_of(table).completed("clean")[-1]
    return parse_clean_metadata((table.path / done.file).read_bytes(), done.file)


@pytest.mark.slow
@settings(max_examples=7, deadline=None)
@given(
    st.sampled_from([6, 8, 9]), st.sampled_from(["COPY_ON_WRITE", "MERGE_ON_READ"]), STEPS, st.sampled_from(POLICIES)
)
def test_no_retained_answer_changes(version: int, table_type: str, steps: Any, policy: Mapping[str, str]):
    """The newest state, every state from the earliest instant on and every file of a savepoint outlive a clean, which
    plans the same whether it looks at all partitions or at those that changed, and leaves nothing for a second one."""
    with tempfile.TemporaryDirectory() as folder:
        table = Written(Path(folder) / "table", table_type, version, configs=WITHOUT_METADATA)
        step_by_step(table, [("upsert", {0, 1, 2, 3}), *steps])
        whole = planned(table, {**policy, "hoodie.clean.incremental.enabled": "false"})
        assert named(planned(table, policy)) == named(whole)
        earliest = whole.earliest_instant_to_retain if whole else None
        before = answers(table, earliest.timestamp if earliest else "~")
        table.services().clean(policy)
        assert answers(table, earliest.timestamp if earliest else "~") == before
        assert planned(table, policy) is None
        assert not set(named(whole)) & {name.rpartition("/")[2] for name in data_files(table)}


@pytest.mark.slow
@pytest.mark.parametrize(("version", "configs"), [(6, {}), (9, {}), (8, WITHOUT_METADATA)])
def test_a_clean_may_crash_before_any_effect(tmp_path: Path, version: int, configs: Mapping[str, str]):
    """The next one finishes it: the same files are gone as if nobody had died, all are reported as deleted, and the
    metadata table agrees with storage."""
    table = upserted(tmp_path / "table", 3, version=version, configs=configs)
    shutil.copytree(table.path, tmp_path / "first")
    doomed, rows_before = named(planned(table, ONE)), table.found()
    died = 0
    for hook in deaths(lambda hook: table.services(hook).clean(ONE)):
        died += 1
        table.services().clean(ONE)
        assert table.found() == rows_before
        deleted = [name for one in last_clean(table).partition_metadata.values() for name in one.success_delete_files]
        assert sorted(deleted) == doomed, hook.seen
        assert not set(doomed) & {name.rpartition("/")[2] for name in data_files(table)}
        assert not timeline_of(table).pending("clean")
        assert TableActions(table.writer()).validate_metadata() == ()
        shutil.rmtree(table.path)
        shutil.copytree(tmp_path / "first", table.path)
    assert died > len(doomed) + 3


@VERSIONS
def test_a_plan_is_written_as_apache_hudi_reads_it(tmp_path: Path, version: int):
    """Whole paths, the earliest write to retain, the last one; up to version 8 the inflight file repeats the plan."""
    table = upserted(tmp_path / "table", 3, version=version)
    requested = table.services().schedule("clean", ONE)
    pending = timeline_of(table).pending("clean")[0]
    data = (table.path / pending.files["REQUESTED"]).read_bytes()
    plan, writes = parse_cleaner_plan(data, ""), timeline_of(table).completed_data()
    assert pending.requested == requested
    assert plan.earliest_instant_to_retain is not None
    assert plan.earliest_instant_to_retain.timestamp == plan.last_completed_commit_timestamp == writes[-1].requested
    paths = [one.file_path for infos in plan.file_paths_to_be_deleted_per_partition.values() for one in infos]
    assert len(paths) == 2
    assert all(Path(str(path)).is_file() for path in paths)
    table.services().execute(str(requested))
    inflight = (table.path / timeline_of(table).completed("clean")[0].files["INFLIGHT"]).read_bytes()
    assert inflight == (b"" if version == 9 else data)


def test_files_that_are_gone_already_are_no_failure(tmp_path: Path):
    """By hand, or by an attempt before: the clean completes, and names them."""
    table = upserted(tmp_path / "table")
    doomed = named(planned(table, ONE))
    requested = table.services().schedule("clean", ONE)
    gone = next(table.path.rglob(doomed[0]))
    gone.unlink()
    done = table.services().execute(str(requested))
    assert sorted(name for names in done.deleted.values() for name in names) == doomed


@pytest.mark.parametrize("moment", ["create_instant", "delete_data_file", "take_lock"])
def test_a_clean_that_another_process_completed_meanwhile_is_done(tmp_path: Path, moment: str):
    """Two that carry out one plan are in nobody's way, and the metadata table keeps what the first one recorded."""
    table = upserted(tmp_path / "table", 3, configs={})
    requested = str(table.services().schedule("clean", ONE))

    def other_first() -> None:
        stop_heartbeat(Effects(LocalStorage(table.path)), requested)
        assert table.services().execute(requested).requested == requested

    done = table.services(OnceBefore(moment, other_first)).execute(requested)
    assert done.requested == requested
    assert len(timeline_of(table).completed("clean")) == 1
    assert TableActions(table.writer()).validate_metadata() == ()


def test_a_clean_that_another_process_is_at_is_left_to_it(tmp_path: Path):
    """Its heartbeat is live; no second clean is planned meanwhile, and a write does not fail over it."""
    table = upserted(tmp_path / "table")
    requested = str(table.services().schedule("clean", ONE))

    def other() -> None:
        assert table.services().clean(ONE) is None
        raise Died

    with pytest.raises(Died):
        table.services(OnceBefore("delete_data_file", other)).execute(requested)
    done = table.services().clean(ONE)
    assert done is not None
    assert done.requested == requested


def test_a_clean_whose_files_a_crash_left_empty_goes(tmp_path: Path):
    """It says nothing that could be done, and would be in the way of the next one for ever."""
    table = upserted(tmp_path / "table")
    table.services().schedule("clean", ONE)
    pending = timeline_of(table).pending("clean")[0]
    (table.path / pending.files["REQUESTED"]).write_bytes(b"")
    done = table.services().clean(ONE)
    assert done is not None
    assert not timeline_of(table).pending("clean")


@pytest.mark.parametrize("policy", [ONE, TWO_VERSIONS])
def test_what_a_savepoint_keeps_goes_once_the_savepoint_is_gone(tmp_path: Path, policy: Mapping[str, str]):
    table = upserted(tmp_path / "table", 2)
    saved = table.services().savepoint().requested
    for n in range(3):
        table.write("upsert", rows([0, 1], ts=10 + n))
    assert table.services().clean(policy) is not None
    assert sum(saved in name for name in data_files(table)) == 2
    table.services().delete_savepoint(saved)
    done = table.services().clean({**policy, "hoodie.clean.trigger.max.commits": "0"})
    assert done is not None
    assert {parse_data_file_name(name).instant for names in done.deleted.values() for name in names} >= {saved}


@VERSIONS
def test_what_a_pending_compaction_reads_stays(tmp_path: Path, version: int):
    """By commits and by versions, until it has completed."""
    table = upserted(tmp_path / "table", 2, table_type="MERGE_ON_READ", version=version)
    requested = str(table.services().schedule("compaction", COMPACT_NOW))
    for n in range(3):
        table.write("upsert", rows(range(4), ts=10 + n))
    one = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"}
    assert table.services().clean(ONE) is None
    assert table.services().clean(one) is None
    table.services().execute(requested)
    done = table.services().clean(one)
    assert done is not None
    assert len(table.ids()) == 4


def test_replaced_groups_go_once_their_replacement_is_old_enough(tmp_path: Path):
    """Not while a retained state still reads them; where versions are counted, at once."""
    table = upserted(tmp_path / "table", 1)
    table.write("insert_overwrite", rows(range(4), ts=5))
    assert table.services().clean(ONE) is None
    assert len(named(planned(table, TWO_VERSIONS))) == 2
    table.write("upsert", rows([0], ts=6))
    done = table.services().clean(ONE)
    assert done is not None
    assert sum(map(len, done.deleted.values())) == 2


def test_change_logs_go_with_their_slices(tmp_path: Path):
    properties = {
        "hoodie.table.cdc.enabled": "true",
        "hoodie.table.cdc.supplemental.logging.mode": "data_before_after",
    }
    table = upserted(tmp_path / "table", 4, properties=properties)
    assert sum(name.endswith(".cdc") for name in data_files(table)) == 6
    table.services().clean(ONE)
    assert sum(name.endswith(".cdc") for name in data_files(table)) == 4


def test_files_of_attempts_that_lost_go(tmp_path: Path):
    """A base file of a completed write whose commit names another write token; not one of a pending write."""
    table = upserted(tmp_path / "table", 2)
    newest = next(name for name in data_files(table) if timeline_of(table).completed_data()[-1].requested in name)
    lost = newest.replace("_0-0-0_", "_7-0-9_")
    shutil.copy(table.path / newest, table.path / lost)
    pending = table.writer().begin(WriteRequest("upsert", rows([0]))).requested
    own = newest.rpartition("_")[0] + f"_{pending}.parquet"
    shutil.copy(table.path / newest, table.path / own)
    done = table.services().clean({**ONE, "hoodie.clean.incremental.enabled": "false"})
    assert done is not None
    assert not (table.path / lost).exists()
    assert (table.path / newest).exists()
    assert (table.path / own).exists()


class TestPartitionsThatGoWhole:
    """A partition of which a clean leaves nothing is none any more, unless something else is there."""

    def emptied(self, path: Path) -> Written:
        table = upserted(path / "table", 1, configs={})
        table.write("delete_partition", partitions=("north",))
        table.write("upsert", rows([0], ts=5))
        return table

    def test_it_goes_with_its_metafile(self, tmp_path: Path):
        table = self.emptied(tmp_path)
        table.services().clean(ONE)
        assert not (table.path / "north").exists()
        assert last_clean(table).partition_metadata["north"].is_partition_deleted is True
        assert TableActions(table.writer()).validate_metadata() == ()
        table.write("insert", rows([1, 3], ts=9))
        assert table.ids() == ["k0", "k1", "k2", "k3"]

    def test_it_stays_with_a_file_that_the_plan_does_not_name(self, tmp_path: Path):
        table = self.emptied(tmp_path)
        (table.path / "north" / "notes.txt").write_text("mine")
        table.services().clean(ONE)
        assert sorted(one.name for one in (table.path / "north").iterdir()) == [PARTITION_METAFILE, "notes.txt"]
        assert last_clean(table).partition_metadata["north"].is_partition_deleted is False

    def test_it_stays_while_a_write_is_under_way(self, tmp_path: Path):
        """The write may have seen the partition, and be about to put a file there."""
        table = self.emptied(tmp_path)
        requested = str(table.services().schedule("clean", ONE))
        table.writer().begin(WriteRequest("insert", rows([1])))
        table.services().execute(requested)
        assert (table.path / "north" / PARTITION_METAFILE).exists()

    def test_a_table_without_partitions_stays(self, tmp_path: Path):
        table = upserted(tmp_path / "table", 1, partition_by=())
        table.write("insert_overwrite_table", rows([1], ts=2))
        table.write("upsert", rows([1], ts=3))
        table.services().clean(ONE)
        assert table.ids() == ["k1"]
        assert (table.path / PARTITION_METAFILE).exists()


def test_hours_are_counted_back_from_now(tmp_path: Path):
    """What was written within them stays, and the last state before."""
    table = Written(tmp_path / "table", configs=WITHOUT_METADATA)
    for hour in range(5):
        table.clock.now = f"202501010{hour}0000000"
        table.write("upsert", rows(range(4), ts=hour))
    hours = {"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS", "hoodie.clean.hours.retained": "2"}
    table.clock.now = "20250101043000000"
    plan = planned(table, hours)
    assert plan is not None
    assert plan.earliest_instant_to_retain is not None
    assert plan.earliest_instant_to_retain.timestamp == "20250101030000000"
    assert {parse_data_file_name(name).instant[8:10] for name in named(plan)} == {"00", "01"}
    table.clock.now = "20250103000000000"
    assert planned(table, hours) is None


def test_a_pending_write_holds_the_earliest_instant_back(tmp_path: Path):
    table = upserted(tmp_path / "table", 2)
    table.writer().begin(WriteRequest("upsert", rows([0])))
    for n in range(3):
        table.write("upsert", rows(range(4), ts=10 + n))
    plan = planned(table, ONE)
    assert plan is None or plan.earliest_instant_to_retain is not None
    assert table.services().clean(ONE) is None


def test_a_clean_is_due_after_so_many_writes(tmp_path: Path):
    table = upserted(tmp_path / "table", 3)
    many = {**ONE, "hoodie.clean.trigger.max.commits": "4"}
    assert table.services().schedule("clean", many) is None
    table.write("upsert", rows([0], ts=9))
    assert table.services().clean(many) is not None
    table.write("upsert", rows([0], ts=10))
    assert table.services().clean(many) is None


def test_one_clean_waits_at_a_time_unless_more_are_allowed(tmp_path: Path):
    table = upserted(tmp_path / "table", 3)
    first = table.services().schedule("clean", ONE)
    assert first is not None
    assert table.services().schedule("clean", ONE) is None
    second = table.services().schedule("clean", {**ONE, "hoodie.clean.multiple.enabled": "true"})
    assert second is not None
    table.services().clean(ONE)
    assert [one.requested for one in timeline_of(table).completed("clean")] == [first, second]


@pytest.mark.parametrize("off", ["hoodie.clean.automatic", "hoodie.table.services.enabled"])
def test_a_write_cleans_after_it_by_default(tmp_path: Path, off: str):
    table = upserted(tmp_path / "table", 3)
    for configs, cleans in (({off: "false"}, 0), ({}, 1)):
        request = WriteRequest("upsert", rows([0, 1], ts=9), configs={**ONE, **configs})
        table.writer(lifecycle=InlineServices()).write(request)
        assert len(timeline_of(table).completed("clean")) == cleans


@pytest.mark.parametrize("key", ["hoodie.clean.commits.retained", "hoodie.cleaner.fileversions.retained"])
def test_retaining_nothing_is_refused(tmp_path: Path, key: str):
    """The newest slice always stays."""
    table = upserted(tmp_path / "table", 1)
    with pytest.raises(HudiError, match="CONFIG_INVALID"):
        table.services().clean({key: "0"})


@pytest.mark.parametrize("options", [ONE, {**TWO_VERSIONS, "hoodie.clean.fileversions.retained": "1"}])
def test_a_log_stays_in_the_slice_in_which_its_write_completed(tmp_path: Path, options: Mapping[str, str]):
    """Its write was requested before a compaction and completed after it: by its name it is of the older slice."""
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, [row("a", 1, "old")])])
    builder.commit(20, [builder.log_file(20, [builder.data(20, [row("a", 5, "slow writer")])])], completed=40)
    builder.commit(
        30, [builder.base_file(30, [row("a", 1, "old")])], action="commit", operation="COMPACT", completed=35
    )
    for n in (50, 60):
        builder.commit(n, [builder.base_file(n, [row("z", n)], group="f2")])
    writer = TableWriter(LocalStorage(tmp_path), InProcess(), WITHOUT_METADATA)
    done = TableServices(writer).clean(options)
    assert done is not None
    assert min(name.rpartition("_")[2][:17] for name in done.deleted["north"]) == tick(10)
    assert not [name for name in done.deleted["north"] if tick(20) in name]
    assert "slow writer" in read_arrow(tmp_path).column("note").to_pylist()
