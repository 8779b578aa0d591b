"""Old actions move to the history: never twice, never lost, never while somebody asks the timeline for them."""

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from cleaned_tables import (
    WITHOUT_METADATA,
    Seen,
    answers,
    deaths,
    full_timeline_of,
    timeline_of,
    upserted,
)
from hudi_format.storage import LocalStorage
from hudi_format.timeline.archived_log import read_archived_log
from hudi_format.timeline.history import read_history_file
from hudi_format.timeline.plans import RollbackMetadata, serialise_rollback_metadata
from hudi_spark import HudiError, check_table
from hudi_spark.testing import InlineServices, WriteRequest, load_table
from hypothesis import given, settings
from hypothesis import strategies as st
from rollback_tables import Undoable
from written_tables import Written, rows

VERSIONS = pytest.mark.parametrize("version", [6, 8, 9])
FEW = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
SOON = {**FEW, "hoodie.timeline.compaction.batch.size": "2", "hoodie.compact.inline.max.delta.commits": "1"}
COMPACT_NOW = {"hoodie.compact.inline.max.delta.commits": "1"}
STEPS = st.lists(
    st.sampled_from(["upsert", "upsert", "insert_overwrite", "clean", "compact", "abort", "archive", "archive"]),
    min_size=6,
    max_size=12,
)


def requested_times(table: Written) -> list[str]:
    """What the whole timeline says, but for actions that stand still requested or inflight."""
    return [str(one) for one in full_timeline_of(table) if one.is_completed]


def active(table: Written) -> list[str]:
    return [one.requested for one in timeline_of(table).completed_data()]


def history(table: Written, name: str = "") -> list[str]:
    return [file.rpartition("/")[2] for file in table.files() if "/history/" in file and name in file]


def step(table: Written, number: int, step_name: str) -> None:
    if step_name == "clean":
        table.services().clean(SOON)
    elif step_name == "compact":
        if table.table_type == "MERGE_ON_READ":
            table.services().run("compaction", COMPACT_NOW)
    elif step_name == "abort":
        started = table.writer().begin(WriteRequest("upsert", rows([0])))
        started.stage(WriteRequest("upsert", rows([0], ts=number)))
        started.abort()
    else:
        table.write(step_name, rows([number % 4, 4 + number % 2], ts=number, price=float(number)))


@settings(max_examples=7, deadline=None)
@given(st.sampled_from([6, 8, 9]), st.sampled_from(["COPY_ON_WRITE", "MERGE_ON_READ"]), STEPS)
def test_nobody_sees_that_actions_were_archived(version: int, table_type: str, steps: list[str]):
    """The whole timeline and every answer are the same after each archival, whatever happened between them."""
    with tempfile.TemporaryDirectory() as folder:
        table = Written(Path(folder) / "table", table_type, version, configs=WITHOUT_METADATA)
        step(table, 0, "upsert")
        for number, step_name in enumerate(steps, 1):
            if step_name != "archive":
                step(table, number, step_name)
                continue
            cleans = timeline_of(table).completed("clean")
            before = requested_times(table), answers(table, "~" if cleans else "")
            table.services().archive(SOON)
            assert (requested_times(table), answers(table, "~" if cleans else "")) == before
            assert table.services().archive(SOON) == ()


@pytest.mark.parametrize("version", [6, 9])
def test_an_archival_may_crash_before_any_effect(tmp_path: Path, version: int):
    """Whoever reads then sees what was before; the next archival finishes it, and the history has each action once."""
    table = upserted(tmp_path / "table", 6, version=version)
    table.services().clean(SOON)
    table.write("upsert", rows([0], ts=9))
    table.services().archive(SOON)
    for n in range(4):
        table.write("upsert", rows([0], ts=10 + n))
    shutil.copytree(table.path, tmp_path / "first")
    before, rows_before, died = requested_times(table), table.found(), 0
    for hook in deaths(lambda hook: table.services(hook).archive(SOON)):
        died += 1
        assert (requested_times(table), table.found()) == (before, rows_before), hook.seen
        table.services().archive(SOON)
        assert (requested_times(table), table.found()) == (before, rows_before), hook.seen
        assert len(active(table)) == 2
        assert rows_of_history(table) == len(set(before)) - len(timeline_of(table).instants)
        shutil.rmtree(table.path)
        shutil.copytree(tmp_path / "first", table.path)
    assert died > 8


def retried(path: Path, version: int) -> Undoable:
    """A table with a compaction of which an attempt was rolled back, later writes, and a clean."""
    table = Undoable(path, version, "MERGE_ON_READ", WITHOUT_METADATA)
    requested = table.services().schedule("compaction", COMPACT_NOW)
    assert requested is not None
    folder = load_table(LocalStorage(path))[0].timeline_folder
    (path / folder / f"{requested}.compaction.inflight").write_bytes(b"")
    table.services().rollback(requested)
    table.services().execute(requested)
    for n in range(4):
        table.write("upsert", rows([0], ts=10 + n, price=3.0))
    table.services().clean(SOON)
    return table


@VERSIONS
def test_a_compaction_tried_again_after_a_rollback_counts_when_it_is_archived(tmp_path: Path, version: int):
    """The rollback of the first attempt is newer than the compaction, so it stays; it says nothing of the second."""
    table = retried(tmp_path, version)
    (requested,) = [one.requested for one in table.actions("commit")]
    before, leaving = table.found(), []
    for least in (4, 1):
        kept = {"hoodie.keep.min.commits": str(least), "hoodie.keep.max.commits": str(least + 1)}
        leaving.append(table.services().archive({**SOON, **kept}))
        assert bool(table.actions("rollback")) == (least > 1)
        assert table.found() == before
        assert check_table(table.path, deep=True) == ()
    assert requested in leaving[0]
    assert not table.actions("rollback")


@pytest.mark.parametrize("version", [8, 9])
def test_a_file_whose_name_bounds_nothing_is_not_passed_over(tmp_path: Path, version: int):
    """An upgrade names a file after its first and its last row, which may stand in no order."""
    table = retried(tmp_path, version)
    before = table.found()
    assert table.services().archive({**SOON, "hoodie.keep.min.commits": "4", "hoodie.keep.max.commits": "5"})
    assert table.actions("rollback")
    folder = tmp_path / ".hoodie" / "timeline" / "history"
    (manifest,) = folder.glob("manifest_*")
    for file in list(folder.glob("*.parquet")):
        least, greatest, level = file.name.split("_")
        swapped = f"{greatest}_{least}_{level}"
        file.rename(folder / swapped)
        manifest.write_text(manifest.read_text(encoding="utf-8").replace(file.name, swapped), encoding="utf-8")
    assert table.found() == before


def rows_of_history(table: Written) -> int:
    """How many completed actions the current history has, each as often as it stands there."""
    if table.version == 6:
        logs = sorted((table.path / ".hoodie" / "archived").glob(".commits_*"))
        states = [state for log in logs for state in read_archived_log(log.read_bytes(), log.name)]
        return sum(state.state == "COMPLETED" for state in states)
    folder = table.path / ".hoodie" / "timeline" / "history"
    manifest = json.loads((folder / f"manifest_{(folder / '_version_').read_text()}").read_bytes())
    named = [one["fileName"] for one in manifest["files"]]
    return sum(len(read_history_file((folder / name).read_bytes(), name)) for name in named)


@VERSIONS
def test_the_history_comes_first_and_completed_files_go_last(tmp_path: Path, version: int):
    """Requested and inflight files go before completed ones, and these from the oldest on."""
    table, seen = upserted(tmp_path / "table", 5, version=version), Seen()
    table.services(seen).archive(FEW)
    names = [effect.name for effect in seen.effects]
    first = ["append_archived_log"] if version == 6 else ["put_history_file", "put_manifest", "swap_version"]
    assert names == ["take_lock", *first, *["delete_instant"] * 9, "release_lock"]
    states = [one["state"] for one in seen.named("delete_instant")]
    gone = [one["requested"] for one in seen.named("delete_instant")]
    assert states == ["REQUESTED", "INFLIGHT"] * 3 + ["COMPLETED"] * 3
    assert gone[6:] == sorted(gone[6:])


def test_a_row_holds_what_the_files_held(tmp_path: Path):
    table = upserted(tmp_path / "table", 2, version=9)
    table.write("insert_overwrite", rows(range(4), ts=3))
    for n in range(3):
        table.write("upsert", rows(range(4), ts=4 + n))
    table.services().clean(SOON)
    for n in range(3):
        table.write("upsert", rows(range(4), ts=8 + n))
    table.services().clean(SOON)
    files = {path.name: path.read_bytes() for path in (table.path / ".hoodie" / "timeline").iterdir() if path.is_file()}
    table.services().archive(SOON)
    folder = table.path / ".hoodie" / "timeline" / "history"
    found = [
        row for name in history(table, ".parquet") for row in read_history_file((folder / name).read_bytes(), name)
    ]
    plans = {"clean": "clean.requested", "replacecommit": "replacecommit.inflight"}
    assert {row.action for row in found} == {"clean", "commit", "replacecommit"}
    for row in found:
        assert row.metadata == files[f"{row.instant_time}_{row.completion_time}.{row.action}"]
        wanted = plans.get(row.action)
        assert row.plan == (files[f"{row.instant_time}.{wanted}"] if wanted else None)


def test_levels_are_merged_and_old_versions_go(tmp_path: Path):
    """Of five archivals by twos: at most one file of a level, at least three manifests and what they name."""
    table = upserted(tmp_path / "table", 3)
    for n in range(10):
        table.write("upsert", rows([0], ts=20 + n))
        table.services().archive({**SOON, "hoodie.keep.min.commits": "2"})
    folder = table.path / ".hoodie" / "timeline" / "history"
    current = json.loads((folder / f"manifest_{(folder / '_version_').read_text()}").read_bytes())
    levels = [one["fileName"][-9] for one in current["files"]]
    assert sorted(levels) == ["0", "2"]
    manifests = [json.loads((folder / name).read_bytes()) for name in history(table, "manifest_")]
    assert len(manifests) in {3, 4, 5}
    named = {one["fileName"] for manifest in manifests for one in manifest["files"]}
    assert set(history(table, ".parquet")) == named
    assert len(requested_times(table)) == 13


def test_version_6_has_three_records_an_action_in_blocks(tmp_path: Path):
    table = upserted(tmp_path / "table", 5, version=6)
    table.services().archive({**FEW, "hoodie.commits.archival.batch": "4"})
    log = table.path / ".hoodie" / "archived" / ".commits_.archive.1_1-0-1"
    states = read_archived_log(log.read_bytes(), log.name)
    assert [state.state for state in states] == ["REQUESTED", "INFLIGHT", "COMPLETED"] * 3
    assert all(state.state_time for state in states)
    assert log.read_bytes().count(b"#HUDI#") == 3


class TestWhatStays:
    """Each of these keeps the writes from one on, and what is older may leave."""

    def archived(self, table: Written, options: Mapping[str, str] | None = None) -> list[str]:
        table.services().archive({**FEW, **(options or {})})
        return active(table)

    def test_everything_while_there_are_not_too_many(self, tmp_path: Path):
        table = upserted(tmp_path / "table", 3)
        assert len(self.archived(table)) == 3

    def test_what_the_cleaner_retains(self, tmp_path: Path):
        table = upserted(tmp_path / "table", 8)
        assert len(self.archived(table, {"hoodie.clean.commits.retained": "4"})) == 5

    def test_the_last_write_before_a_pending_one(self, tmp_path: Path):
        table = upserted(tmp_path / "table", 3)
        table.writer().begin(WriteRequest("upsert", rows([0])))
        kept = active(table)[-1]
        for n in range(3):
            table.write("upsert", rows([1], ts=10 + n))
        assert self.archived(table, {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS"})[0] == kept

    @pytest.mark.parametrize("beyond", [False, True])
    def test_a_saved_write_and_later_ones_stay_by_default(self, tmp_path: Path, *, beyond: bool):
        table = upserted(tmp_path / "table", 2)
        saved = table.services().savepoint().requested
        for n in range(5):
            table.write("upsert", rows([1], ts=10 + n))
        before = answers(table)
        left = self.archived(table, {"hoodie.archive.beyond.savepoint": str(beyond).lower()})
        assert left[0] == saved
        assert len(left) == (2 if beyond else 6)
        assert answers(table) == before

    def test_a_replacecommit_until_its_files_are_cleaned(self, tmp_path: Path):
        table = upserted(tmp_path / "table", 2)
        table.write("insert_overwrite", rows(range(4), ts=3))
        replaced = active(table)[-1]
        for n in range(4):
            table.write("upsert", rows([1], ts=10 + n))
        assert self.archived(table)[0] == replaced
        table.services().clean(FEW)
        assert replaced not in self.archived(table)
        assert len(table.ids()) == 4

    def test_a_replacecommit_whose_files_a_clean_left(self, tmp_path: Path):
        """Whatever the clean says it has dealt with: storage shows."""
        table = upserted(tmp_path / "table", 2)
        table.write("insert_overwrite", rows(range(4), ts=3))
        replaced = active(table)[-1]
        for n in range(4):
            table.write("upsert", rows([1], ts=10 + n))
        shutil.copytree(table.path / "north", tmp_path / "kept")
        table.services().clean(FEW)
        shutil.copytree(tmp_path / "kept", table.path / "north", dirs_exist_ok=True)
        assert self.archived(table)[0] == replaced

    def test_enough_deltacommits_to_plan_a_compaction(self, tmp_path: Path):
        table = upserted(tmp_path / "table", 9, table_type="MERGE_ON_READ")
        assert len(self.archived(table)) == 5
        assert len(self.archived(table, COMPACT_NOW)) == 2

    def test_all_writes_before_the_metadata_table_has_compacted(self, tmp_path: Path):
        table = upserted(tmp_path / "table", 6, configs={"hoodie.metadata.compact.max.delta.commits": "100"})
        assert len(self.archived(table)) == 6

    def test_a_rollback_while_a_file_of_what_it_undid_is_there(self, tmp_path: Path):
        table = upserted(tmp_path / "table", 2)
        undone, time = "20250101000000500", "20250101000000600"
        requested_times = serialise_rollback_metadata(RollbackMetadata(time, commits_rollback=(undone,)))
        (table.path / ".hoodie" / "timeline" / f"{time}_{time[:-1]}1.rollback").write_bytes(requested_times)
        own = table.path / "north" / f"{undone}-0_0-0-0_{undone}.parquet"
        own.write_bytes(b"PAR1")
        table.clock.now = "20250101000001000"
        for n in range(5):
            table.write("upsert", rows([1], ts=10 + n))
        self.archived(table)
        assert timeline_of(table).completed("rollback")
        own.unlink()
        for n in range(2):
            table.write("upsert", rows([1], ts=20 + n))
        self.archived(table)
        assert not timeline_of(table).completed("rollback")


def test_markers_of_what_leaves_go(tmp_path: Path):
    table = upserted(tmp_path / "table", 5)
    left = table.path / ".hoodie" / ".temp" / active(table)[0]
    left.mkdir(parents=True)
    (left / "north").mkdir()
    table.services().archive(FEW)
    assert not left.exists()


def test_a_file_that_never_became_part_of_the_history_is_replaced(tmp_path: Path):
    """What a failed archival left: a file that no manifest names, and the manifest of the next number."""
    table = upserted(tmp_path / "table", 5)
    folder = table.path / ".hoodie" / "timeline" / "history"
    times = active(table)
    (folder / f"{times[0]}_{times[2]}_0.parquet").write_bytes(b"torn")
    (folder / "manifest_1.f00d").write_bytes(b"torn")
    before = requested_times(table)
    table.services().archive(FEW)
    assert requested_times(table) == before


def test_a_history_that_lacks_what_it_names_is_refused_before_anything_leaves(tmp_path: Path):
    table = upserted(tmp_path / "table", 5)
    table.services().archive(FEW)
    for n in range(3):
        table.write("upsert", rows([1], ts=10 + n))
    (table.path / ".hoodie" / "timeline" / "history" / "manifest_1").unlink()
    files = table.files()
    with pytest.raises(HudiError, match="TIMELINE_FILE_CORRUPT"):
        table.services().archive(FEW)
    assert table.files() == files


def test_a_write_archives_after_it_by_default(tmp_path: Path):
    table = upserted(tmp_path / "table", 4)
    for n, configs in enumerate(({"hoodie.archive.automatic": "false"}, {})):
        request = WriteRequest("upsert", rows([0], ts=9 + n), configs={**FEW, **configs})
        table.writer(lifecycle=InlineServices()).write(request)
        assert bool(history(table)) == (not configs)


def test_limits_that_contradict_are_refused_before_the_write(tmp_path: Path):
    table = upserted(tmp_path / "table", 2)
    files = table.files()
    request = WriteRequest("upsert", rows([0]), configs={**FEW, "hoodie.keep.max.commits": "2"})
    with pytest.raises(HudiError, match="CONFIG_INVALID"):
        table.writer(lifecycle=InlineServices()).write(request)
    assert table.files() == files
