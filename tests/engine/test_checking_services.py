"""Plans, results, the history and indexes of tables that the engine wrote, each with one damage; and sound ones."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from checked_reference import assert_alike, of_model
from checked_tables import (
    BASE,
    INDEXED,
    LOGS,
    PLAIN,
    SOON,
    Damage,
    Damages,
    archived,
    clauses,
    copied,
    cow,
    edited_rows,
    indexed,
    instant_of,
    mor,
    one_byte_short,
    planned,
    put_action,
    renamed,
    reordered_maps,
    replaced,
    served,
    some,
    timeline_of,
)
from hudi_format.names import TimelineFileName
from hudi_format.timeline import plans
from hudi_format.timeline.commit_metadata import WriteStat, parse_commit_metadata, serialise_avro
from hudi_format.timeline.history import read_history_file, write_history_file
from hudi_spark import check_table, read_arrow, services_arrow
from hudi_spark.testing import TableActions, WriteRequest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollback_tables import Undoable
from written_tables import Written, rows

DAMAGED = Damages()
breaks = DAMAGED.breaks
_LATER = "20990101000000000"


def changes_logged(path: Path) -> None:
    """A copy-on-write table with a change feed."""
    table = Written(path, configs=PLAIN, properties={"hoodie.table.cdc.enabled": "true"})
    table.write("upsert", rows(range(6)))
    table.write("upsert", rows(range(6), ts=2, price=2.0))


@breaks("TL-010", of=planned)
def a_savepoint_that_is_requested(table: Path) -> None:
    saved = timeline_of(table, "*_*.savepoint").name.split("_")[0]
    put_action(table, TimelineFileName(saved, "savepoint", "REQUESTED"))


@breaks("SR-001", of=planned)
def a_savepoint_of_nothing(table: Path) -> None:
    for file in table.glob(".hoodie/timeline/*savepoint*"):
        renamed(file, "2025", "2024")


@breaks("TL-024", of=mor)
def completed_when_another_was_requested(table: Path) -> None:
    file = timeline_of(table, "*_*.deltacommit")
    renamed(file, file.name.partition("_")[2], f"{instant_of(table, 1)}.deltacommit")


@breaks("RB-005", of=mor)
def a_rollback_of_what_has_completed(table: Path) -> None:
    put_action(table, TimelineFileName(_LATER, "rollback", "REQUESTED"), _rollback(instant_of(table, 1)))


@breaks("RB-004", of=mor)
def two_rollbacks_of_one_write(table: Path) -> None:
    put_action(table, TimelineFileName("20980101000000000", "deltacommit", "REQUESTED"))
    for number in range(2):
        name = TimelineFileName(f"2099010100000000{number}", "rollback", "REQUESTED")
        put_action(table, name, _rollback("20980101000000000"))


@breaks("LC-002", of=planned)
def a_log_compaction_of_a_planned_group(table: Path) -> None:
    plan = timeline_of(table, "*.compaction.requested").read_bytes()
    put_action(table, TimelineFileName(_LATER, "logcompaction", "REQUESTED"), plan)


@breaks("CL-002", of=planned)
def a_clustering_of_a_planned_group(table: Path) -> None:
    file = timeline_of(table, "*.compaction.requested")
    (one, *_) = plans.parse_compaction_plan(file.read_bytes(), file.name).operations
    group = plans.ClusteringGroup((plans.SliceInfo(file_id=one.file_id, partition_path=one.partition_path),))
    plan = plans.RequestedReplace("CLUSTER", plans.ClusteringPlan((group,)))
    put_action(table, TimelineFileName(_LATER, "clustering", "REQUESTED"), plans.serialise_requested_replace(plan))


@breaks("CP-006", of=served)
def a_compaction_of_more_than_was_planned(table: Path) -> None:
    file = timeline_of(table, "*.compaction.requested")
    plan = plans.parse_compaction_plan(file.read_bytes(), file.name)
    file.write_bytes(plans.serialise_compaction_plan(replace(plan, operations=plan.operations[1:])))


@breaks("CL-006", of=served)
def a_clustering_of_more_than_was_planned(table: Path) -> None:
    file = timeline_of(table, "*.clustering.requested")
    stored_plan = plans.parse_requested_replace(file.read_bytes(), file.name)
    assert stored_plan.clustering_plan is not None
    fewer = replace(stored_plan.clustering_plan, input_groups=stored_plan.clustering_plan.input_groups[1:])
    file.write_bytes(plans.serialise_requested_replace(replace(stored_plan, clustering_plan=fewer)))


@breaks("TL-023", of=mor)
def a_write_that_completed_while_it_was_rolled_back(table: Path) -> None:
    written = instant_of(table, -1)
    put_action(table, TimelineFileName("20980101000000000", "rollback", "REQUESTED"), _rollback(written))
    renamed(timeline_of(table, f"{written}_*"), "_2025", "_2099")


@breaks("CN-001", of=cow)
def a_clean_that_would_remove_what_is_read(table: Path) -> None:
    newest = some(table, "north/*.parquet", -1)
    info = plans.CleanFileInfo(f"{newest}", is_bootstrap_base_file=False)
    plan = plans.CleanerPlan(file_paths_to_be_deleted_per_partition={"north": (info,)})
    put_action(table, TimelineFileName(_LATER, "clean", "REQUESTED"), plans.serialise_cleaner_plan(plan))


@breaks("CN-008", of=planned)
def a_clean_that_would_remove_what_is_saved(table: Path) -> None:
    kept = some(table, "north/*.parquet").name
    plan = plans.CleanerPlan(files_to_be_deleted_per_partition={"north": (kept,)})
    put_action(table, TimelineFileName(_LATER, "clean", "REQUESTED"), plans.serialise_cleaner_plan(plan))


@breaks("OW-017", of=cow)
def a_commit_that_counts_other_rows(table: Path) -> None:
    _edited(table, lambda stat: replace(stat, num_writes=(stat.num_writes or 0) + 1))


@breaks("SA-001", of=cow)
def a_commit_that_put_other_bytes(table: Path) -> None:
    _edited(table, lambda stat: replace(stat, file_size_in_bytes=(stat.file_size_in_bytes or 0) + 1))


@breaks("SL-025", of=cow)
def a_commit_that_names_another_group(table: Path) -> None:
    _edited(table, lambda stat: replace(stat, file_id="another"))


@breaks("SL-008", of=cow)
def a_commit_that_names_another_partition(table: Path) -> None:
    _edited(table, lambda stat: replace(stat, partition_path="elsewhere"))


@breaks("SL-004", of=cow)
def a_commit_that_names_what_is_no_data_file(table: Path) -> None:
    _edited(table, lambda stat: replace(stat, path=f"{stat.partition_path}/data.csv"))


@breaks("CD-003", of=changes_logged)
def a_change_log_is_gone(table: Path) -> None:
    some(table, "north/.*.cdc").unlink()


@breaks("LF-010", of=mor)
def the_end_of_a_log_is_lost(table: Path) -> None:
    one_byte_short(some(table, "north/.*.log.*"))


@breaks("PR-008", of=cow)
def properties_that_are_being_changed(table: Path) -> None:
    file = table / ".hoodie/hoodie.properties"
    file.rename(file.with_name("hoodie.properties.backup"))


@breaks("TL-031", of=archived)
def a_manifest_with_another_length(table: Path) -> None:
    replaced(timeline_of(table, "history/manifest_*", -1), b'"fileLen" : ', b'"fileLen" : 1')


@breaks("HS-007", "TL-031", of=archived)
def a_row_of_no_action(table: Path) -> None:
    file = _current_history(table)
    found = [replace(row, action="teleport") for row in read_history_file(file.read_bytes(), file.name)]
    file.write_bytes(write_history_file(found))


@breaks("HS-005", "HS-011", of=archived)
def a_file_of_the_history_with_other_bounds(table: Path) -> None:
    file = _current_history(table)
    other = f"2024{file.name[4:]}"
    replaced(timeline_of(table, "history/manifest_*", -1), file.name.encode(), other.encode())
    file.rename(file.with_name(other))


@breaks("AR-005", of=archived)
def a_write_that_waits_behind_the_history(table: Path) -> None:
    put_action(table, TimelineFileName("20240101000000000", "commit", "REQUESTED"))


@breaks("MT-004", of=indexed)
def an_index_that_was_listed_too_late(table: Path) -> None:
    renamed(some(table, f".hoodie/metadata/.hoodie/timeline/{instant_of(table, 1)}_*"), "_2025", "_2099")


def test_an_index_may_be_recorded_at_the_time_of_its_action(tmp_path: Path):
    """Where a clock stands still between the two, no time states which came first (MT-004)."""
    table = copied(indexed, tmp_path)
    requested = instant_of(table, 1)
    completed = some(table, f".hoodie/timeline/{requested}_*").name.partition("_")[2].partition(".")[0]
    own = some(table, f".hoodie/metadata/.hoodie/timeline/{requested}_*")
    own.rename(own.with_name(f"{requested}_{completed}.deltacommit"))

    assert clauses(table) == set()


@pytest.mark.slow
@pytest.mark.parametrize("one", DAMAGED.cases, ids=str)
def test_a_damage_is_named_by_its_clause_alone_and_as_the_model_names_it(one: Damage, tmp_path: Path):
    table = copied(one.make, tmp_path)
    one.break_(table)
    assert {clause for clause, _ in clauses(table)} == one.clauses
    assert_alike(str(one), table)


def test_indexes_are_compared_with_rows(tmp_path: Path):
    """A key that no row has any more, and one that the index has not; statistics that do not bound a value."""
    table = copied(indexed, tmp_path)
    base = some(table, BASE)
    edited_rows(base, "_hoodie_record_key", "zz")
    edited_rows(base, "id", "zz")
    # Its size in the list of files is another one then, too.
    assert {"IX-020", "MT-011", "MT-010"} <= {clause for clause, _ in clauses(table, deep=True)}


def test_the_rollback_of_a_write_that_the_metadata_table_never_had_needs_nothing_there(tmp_path: Path):
    """As 1.1.1 leaves it (MT-003); that of a write which is there does."""
    table = Undoable(tmp_path / "table", 9, "COPY_ON_WRITE")
    table.services().rollback(table.failed_write())
    (rolled_back,) = (one.name.split("_")[0] for one in table.path.glob(".hoodie/timeline/*_*.rollback"))
    beside = [*table.path.glob(f".hoodie/metadata/.hoodie/timeline/{rolled_back}*")]
    assert beside
    for one in beside:
        one.unlink()
    assert clauses(table.path, deep=True) == set()
    assert_alike("a rollback of nothing", table.path)


@pytest.mark.slow
@pytest.mark.parametrize("version", [6, 8, 9])
def test_an_index_may_be_dropped_after_it_was_compacted(version: int, tmp_path: Path):
    """Neither its plans nor its commits, which stay on the timeline, say that a file is missing."""
    soon = {"hoodie.metadata.compact.max.delta.commits": "2", "hoodie.clean.commits.retained": "1"}
    table = Written(tmp_path / "table", version=version, configs={**INDEXED, **soon})
    for number in range(6):
        table.write("upsert", rows(range(6), ts=number))
    assert list(table.path.glob(".hoodie/metadata/.hoodie/**/*.compaction.requested"))
    TableActions(table.writer()).drop_index("column_stats")
    table.configs = {key: value for key, value in table.configs.items() if "column.stats" not in key}
    table.write("upsert", rows(range(6), ts=9))
    assert clauses(table.path, deep=True) == set()


STEPS = st.lists(st.sampled_from(["upsert", "delete", "compaction", "cluster", "clean", "archive", "die"]), max_size=6)


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.sampled_from([6, 8, 9]), st.sampled_from(["COPY_ON_WRITE", "MERGE_ON_READ"]), st.booleans(), STEPS, st.data())
def test_a_table_is_valid_after_any_writes_and_services_and_a_lost_base_file_is_named(
    version: int, kind: str, indexes: bool, steps: list[str], data: Any
):
    with tempfile.TemporaryDirectory() as folder:
        configs = {**LOGS, "hoodie.metadata.enable": str(indexes).lower()}
        table = Written(Path(folder) / "table", kind, version, configs=configs)
        table.write("bulk_insert", rows(range(6)))
        for number, step in enumerate(steps, 2):
            _take(table, step, number)
        assert check_table(table.path, deep=True) == ()

        names = read_arrow(table.path, columns=["_hoodie_file_name"], meta_columns=True, read_optimized=True)
        named = sorted(set(names.column("_hoodie_file_name").to_pylist()))
        if named:
            lost = some(table.path, f"*/{data.draw(st.sampled_from(named))}")
            lost.unlink()
            found = {(one.clause, one.where) for one in check_table(table.path)}
            assert ("RD-011", f"{lost.parent.name}/{lost.name}") in found


def _take(table: Written, step: str, number: int) -> None:
    services = services_arrow(table.path, configs=table.configs)
    if step in {"upsert", "delete"}:
        table.write(step, rows([number % 4, 4 + number % 3], ts=number, price=float(number)))
    elif step == "die":
        # Its files stay, and nobody has taken them back.
        table.writer().begin(_upsert(number)).stage(_upsert(number))
    elif step == "compaction" and table.table_type == "MERGE_ON_READ":
        services.run("compaction", {"hoodie.compact.inline.max.delta.commits": "1"})
    elif step == "cluster":
        services.cluster()
    elif step == "clean":
        services.clean({"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"})
    elif step == "archive":
        services.archive(SOON)


def _upsert(number: int) -> WriteRequest:
    return WriteRequest("upsert", rows([0], ts=number))


def _rollback(instant: str) -> bytes:
    return plans.serialise_rollback_plan(plans.RollbackPlan(plans.InstantInfo(instant, "deltacommit")))


def _current_history(table: Path) -> Path:
    manifest = timeline_of(table, "history/manifest_*", -1).read_text()
    return next(file for file in sorted(table.glob(".hoodie/timeline/history/*.parquet")) if file.name in manifest)


def _edited(table: Path, change: Callable[[WriteStat], WriteStat]) -> None:
    """The first commit with another write stat; what it names is not the newest of its group."""
    file = timeline_of(table, "*_*.commit")
    metadata = parse_commit_metadata(file.read_bytes(), file.name)
    first, *others = metadata.write_stats
    file.write_bytes(serialise_avro(replace(metadata, write_stats=(change(first), *others))))


@pytest.mark.parametrize("version", [6, 9])
def test_a_compaction_may_order_the_entries_of_a_map_anew(version: int, tmp_path: Path):
    """Releases do so, whose maps are hashed: the rows are those that were planned."""
    table, kind = Written(tmp_path / "table", "MERGE_ON_READ", version, configs=LOGS), pa.map_(pa.string(), pa.int64())
    for ts in (1, 2):
        marks = pa.array([[("m0", ts), ("m1", 3)]] * 4, kind)
        table.write("upsert", rows(range(4), ts=ts).append_column("marks", marks))
    done = services_arrow(table.path, configs=LOGS).run("compaction", {"hoodie.compact.inline.max.delta.commits": "1"})
    assert done
    for base in table.path.rglob(f"*_{done.requested}.parquet"):
        reordered_maps(base, "marks")
    assert {tuple(one["marks"]) for one in read_arrow(table.path).to_pylist()} == {(("m1", 3), ("m0", 2))}
    assert not [one for one in check_table(table.path, deep=True) if one.clause == "CP-004"]
    assert not [one for one in of_model(table.path, deep=True) if one[0] == "CP-004"]
