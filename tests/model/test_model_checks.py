"""What a table at rest may break, check by check: each breach is reported by its clause, and nothing else is."""

from dataclasses import replace
from typing import Any

import pytest
from breached_tables import FIRST, PLACE, ROW, done, planned, saved, violations_of, waiting, with_files
from hudi_model.actions import (
    CleanMetadata,
    CleanPlan,
    ClusteringGroup,
    CommitMetadata,
    CompactionOperation,
    CompactionPlan,
    ReplacePlan,
    RollbackMetadata,
    RollbackPlan,
    WriteStat,
)
from hudi_model.files import META_FIELDS, BaseFile, DataBlock, LogFile, Record, RollbackBlock, Value
from hudi_model.tables import Evidence, Footer, Table
from hudi_model.time import InstantTime
from model_states import (
    GROUP,
    PARTITION,
    SCHEMA,
    at,
    base,
    commit,
    completed_compaction,
    data,
    entry,
    failed,
    log,
    pending_compaction,
    properties,
    table,
)

ACTIONS = {
    "a savepoint was never requested": (
        [commit(1, FIRST), (*saved(1, FIRST.name), entry(1, "savepoint", "REQUESTED"))],
        "TL-010",
    ),
    "a savepoint without its write": ([commit(1, FIRST), saved(2, FIRST.name)], "SR-001"),
    "a savepoint whose file is gone": ([commit(1, FIRST), saved(1, FIRST.name, "f9_0-0-0_1.parquet")], "SR-002"),
    "a time given twice": ([commit(1, FIRST, completed=2), commit(2)], "TL-024"),
    "a clustering without plan": ([commit(1, FIRST), waiting(2, "clustering", None)], "TL-025"),
    "two rollbacks of one write": (
        [
            commit(1, FIRST),
            failed(2),
            *(waiting(one, "rollback", RollbackPlan(at(2), "deltacommit")) for one in (3, 4)),
        ],
        "RB-004",
    ),
    "a rollback of what has completed": (
        [commit(1, FIRST), waiting(3, "rollback", RollbackPlan(at(1), "deltacommit"))],
        "RB-005",
    ),
    "a write that completed while it was rolled back": (
        [commit(1, FIRST, completed=4), waiting(3, "rollback", RollbackPlan(at(1), "deltacommit"))],
        "TL-023",
    ),
    "a restored write that is there": ([commit(1, FIRST), done(3, "restore", RollbackMetadata((at(1),)))], "SR-006"),
    "a group in two plans": (
        [commit(1, FIRST), pending_compaction(2), pending_compaction(3)],
        "CP-003",
    ),
    "a planned log that is gone": (
        [commit(1, FIRST), waiting(2, "compaction", planned(".f1_1.log.1_0-0-0", base_file=FIRST.name))],
        "CP-005",
    ),
    "a planned base file of clustering that is gone": (
        [
            commit(1, FIRST),
            waiting(
                2,
                "clustering",
                ReplacePlan(
                    "CLUSTER",
                    (ClusteringGroup((CompactionOperation(PARTITION, GROUP, at(0), "f1_0-0-0_0.parquet", ()),)),),
                ),
            ),
        ],
        "CN-005",
    ),
    "a clean that would remove what is read": (
        [commit(1, FIRST), waiting(2, "clean", CleanPlan(None, frozenset({(PARTITION, FIRST.name)})))],
        "CN-001",
    ),
    "a path outside its partition": (
        [done(1, "deltacommit", CommitMetadata(write_stats=(WriteStat("day=2", GROUP, PLACE),)))],
        "SL-008",
    ),
    "a file of another group": (
        [done(1, "deltacommit", CommitMetadata(write_stats=(WriteStat(PARTITION, "f2", PLACE),)))],
        "SL-025",
    ),
    "a base file of another write": (
        [commit(1, FIRST), done(2, "deltacommit", CommitMetadata(write_stats=(WriteStat(PARTITION, GROUP, PLACE),)))],
        "SL-004",
    ),
    "a change log that is gone": (
        [
            done(
                1,
                "deltacommit",
                CommitMetadata(write_stats=(WriteStat(PARTITION, GROUP, PLACE, change_logs=("day=1/x.cdc",)),)),
            )
        ],
        "CD-003",
    ),
    "a compaction that left a planned group out": (
        [
            commit(1, FIRST),
            (
                entry(
                    2,
                    "compaction",
                    "REQUESTED",
                    content=CompactionPlan((CompactionOperation(PARTITION, "f2", at(0), "f2_0.parquet", ()),)),
                ),
                entry(2, "compaction", "INFLIGHT"),
                entry(2, "commit", "COMPLETED", 2.5, CommitMetadata("COMPACT", True)),
            ),
        ],
        "CP-006",
    ),
    "a clustering that left a group in": (
        [
            commit(1, FIRST),
            (
                *waiting(
                    2,
                    "clustering",
                    ReplacePlan(
                        "CLUSTER", (ClusteringGroup((CompactionOperation(PARTITION, GROUP, at(1), FIRST.name, ()),)),)
                    ),
                ),
                entry(2, "clustering", "INFLIGHT"),
                entry(2, "replacecommit", "COMPLETED", 2.5, CommitMetadata("CLUSTER")),
            ),
        ],
        "CL-006",
    ),
}


@pytest.mark.parametrize("what", ACTIONS)
def test_what_actions_say_that_cannot_be_is_an_error(what: str) -> None:
    timeline, clause = ACTIONS[what]
    assert violations_of(with_files(timeline, FIRST)) == {(clause, "error")}


def test_a_clean_spares_what_savepoints_and_plans_need() -> None:
    """The file is in no current slice any more: only the savepoint, or the plan, keeps it."""
    second = base(2, ROW)
    greedy = waiting(9, "clean", CleanPlan(None, frozenset({(PARTITION, FIRST.name)})))
    both = [commit(1, FIRST), commit(2, second)]
    assert violations_of(with_files([*both, saved(1, FIRST.name), greedy], FIRST, second)) == {("CN-008", "error")}
    plan = waiting(3, "compaction", planned(base_file=FIRST.name))
    assert violations_of(with_files([*both, plan, greedy], FIRST, second)) == {("CN-005", "error")}
    assert not violations_of(with_files([*both, greedy], FIRST, second))


def test_tolerated_states_are_warnings() -> None:
    greedless = CleanPlan(None, frozenset())
    cleans = [commit(1, FIRST), waiting(2, "clean", greedless), waiting(3, "clean", greedless)]
    assert violations_of(with_files(cleans, FIRST)) == {("CN-006", "warning")}
    again = [commit(1, FIRST), failed(2), done(3, "rollback", RollbackMetadata((at(2),)))]
    assert violations_of(with_files(again, FIRST)) == {("RB-009", "warning")}


def test_a_pending_restore_undoes_what_has_completed() -> None:
    restoring = [waiting(3, "restore", None), waiting(4, "rollback", RollbackPlan(at(1), "deltacommit"))]
    assert violations_of(with_files([commit(1, FIRST), *restoring], FIRST)) == {("TL-025", "error")}


def test_before_version_8_a_clustering_is_a_replacecommit() -> None:
    state = table(
        [commit(1, FIRST, version=6), waiting(2, "clustering", ReplacePlan("CLUSTER"))], [FIRST], properties(6)
    )
    assert violations_of(state) == {("CL-003", "error")}


@pytest.mark.parametrize(
    ("settings", "clause"),
    [
        ({"table.partial.update.mode": "SOME"}, "MG-026"),
        (
            {"record.merge.mode": "COMMIT_TIME_ORDERING", "compaction.payload.class": "o.DefaultHoodieRecordPayload"},
            "MG-016",
        ),
        ({"table.cdc.supplemental.logging.mode": "EVERYTHING"}, "CD-008"),
    ],
)
def test_properties_that_are_none_of_a_table_are_reported(settings: dict[str, str], clause: str) -> None:
    assert violations_of(with_files([commit(1, FIRST)], FIRST, **settings)) == {(clause, "error")}


@pytest.mark.parametrize(
    ("version", "names", "clauses"),
    [
        (9, {"partitions": "column_stats"}, {"MT-007"}),
        (9, {"partitions": "files,column_stats", "partitions.inflight": "column_stats"}, {"IG-005", "MT-007"}),
        (6, {"partitions": "files,partition_stats"}, {"MT-002", "MT-007"}),
    ],
)
def test_indexes_that_cannot_be_are_reported(version: int, names: dict[str, str], clauses: set[str]) -> None:
    """None of these tables has a metadata table, which is reported too."""
    stated = {**properties(version), **{f"hoodie.table.metadata.{key}": one for key, one in names.items()}}
    assert violations_of(table([commit(1, FIRST, version=version)], [FIRST], stated)) == {
        (one, "error") for one in clauses
    }


def test_a_copy_on_write_table_has_no_logs_with_rows() -> None:
    changed = log(2, data(2, ROW))
    timeline = [commit(1, FIRST, action="commit"), commit(2, changed, action="commit")]
    state = table(timeline, [FIRST, changed], properties(table_type="COPY_ON_WRITE"))
    assert ("TT-001", "error") in violations_of(state)
    feed = replace(
        state, log_files=(replace(changed, cdc=True, name=f"{changed.name}.cdc"),), timeline=state.timeline[:3]
    )
    assert violations_of(feed) == set()


def test_what_was_removed_and_is_there_is_worth_a_look() -> None:
    """Nobody reads it: the clean, and the restore, say that it is gone."""
    second = base(2, ROW)
    cleaned = done(3, "clean", CleanMetadata(None, frozenset({(PARTITION, FIRST.name)})))
    assert violations_of(with_files([commit(1, FIRST), commit(2, second), cleaned], FIRST, second)) == {
        ("CN-012", "warning")
    }
    restored = done(3, "restore", RollbackMetadata((at(2),)))
    assert violations_of(with_files([commit(1, FIRST), restored], FIRST, second)) == {("SR-007", "warning")}
    assert violations_of(with_files([commit(1, FIRST), restored], FIRST)) == set()


def seen(file: BaseFile | LogFile, *others: BaseFile | LogFile, **evidence: Any) -> Table:
    state = with_files([commit(1, file, *others)], file, *others)
    return replace(state, evidence=Evidence(**evidence))


VALID = Footer(1, (*META_FIELDS, "id", "ts", "value"), "a", "a")


@pytest.mark.parametrize(
    ("footer", "clause"),
    [
        (replace(VALID, columns=("id", "ts")), "BF-001"),
        (replace(VALID, columns=(*META_FIELDS, "id", "id")), "BF-001"),
        (replace(VALID, excluded_keys=("a",)), "BF-002"),
    ],
)
def test_a_footer_that_is_none_of_a_base_file_is_an_error(footer: Footer, clause: str) -> None:
    assert not violations_of(seen(FIRST, footers={PLACE: VALID}))
    assert violations_of(seen(FIRST, footers={PLACE: footer})) == {(clause, "error")}


def test_a_footer_with_keys_that_the_table_does_not_keep_is_an_error() -> None:
    state = replace(seen(FIRST, footers={PLACE: VALID}), properties=properties(populate_meta_fields=""))
    stated = {**properties(), "hoodie.populate.meta.fields": "false"}
    assert violations_of(replace(state, properties=stated)) == {("BF-003", "error")}


def test_a_commit_counts_the_rows_and_the_bytes_of_its_files() -> None:
    stat = WriteStat(PARTITION, GROUP, PLACE, writes=2, size=100)
    counted = done(1, "deltacommit", CommitMetadata(write_stats=(stat,), schema=SCHEMA))
    state = with_files([counted], replace(FIRST, size=100))
    assert violations_of(replace(state, evidence=Evidence(footers={PLACE: VALID}))) == {("OW-017", "error")}
    assert violations_of(with_files([counted], replace(FIRST, size=99))) == {("SA-001", "error")}


def test_partitions_are_marked_and_say_how_deep_they_lie() -> None:
    assert violations_of(seen(FIRST, depths={PARTITION: 2})) == {("SL-002", "error")}
    assert not violations_of(seen(FIRST, depths={PARTITION: 1, "": 0}))
    lost = replace(with_files([commit(1, FIRST)]), evidence=Evidence(unplaced=frozenset({PLACE})))
    assert violations_of(lost) == {("SL-002", "error")}


@pytest.mark.parametrize(
    ("block", "clause"),
    [
        (replace(data(2, ROW), instant=""), "LF-021"),
        (RollbackBlock(at(2), InstantTime("")), "LF-009"),
        (replace(data(2, ROW), compacted_instants=(at(2),)), "LF-019"),
    ],
)
def test_a_block_that_lacks_what_it_is_read_by_is_an_error(block: DataBlock | RollbackBlock, clause: str) -> None:
    changed = log(2, block)
    assert violations_of(with_files([commit(1, FIRST), commit(2, changed)], FIRST, changed)) == {(clause, "error")}


def test_version_6_has_no_partial_blocks_and_logs_count_from_1() -> None:
    changed = replace(log(1, replace(data(2, ROW), partial=True)))
    timeline = [commit(1, FIRST, version=6), commit(2, changed, version=6)]
    assert violations_of(table(timeline, [FIRST, changed], properties(6))) == {("LF-025", "error")}
    none = log(2, data(2, ROW), version=0)
    assert violations_of(with_files([commit(1, FIRST), commit(2, none)], FIRST, none)) == {("SL-005", "error")}


def with_row(**values: Value) -> BaseFile:
    assert isinstance(FIRST.records, tuple)
    stored = {f"_hoodie_{name}" if name != "id" else name: value for name, value in values.items()}
    return replace(FIRST, records=(Record({**FIRST.records[0].values, **stored}),))


@pytest.mark.parametrize(
    ("file", "clause", "severity"),
    [
        (with_row(commit_time=at(2)), "MF-010", "error"),
        (with_row(record_key=None), "DM-001", "error"),
        (with_row(partition_path="day=2"), "MF-012", "error"),
        (with_row(partition_path=None), "MF-012", "error"),
        (with_row(file_name="other.parquet"), "MF-013", "warning"),
        (with_row(record_key="b"), "IX-012", "error"),
    ],
)
def test_rows_that_do_not_belong_where_they_are_are_reported_when_rows_are_read(
    file: BaseFile, clause: str, severity: str
) -> None:
    assert not violations_of(seen(FIRST, footers={PLACE: VALID}, deep=True))
    assert violations_of(seen(file, footers={PLACE: VALID}, deep=True)) == {(clause, severity)}
    assert not violations_of(seen(file, footers={PLACE: VALID}))


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("_hoodie_partition_path", "day=2", {("MF-012", "error")}),
        ("_hoodie_partition_path", "", set()),
        ("_hoodie_file_name", "f9", {("MF-013", "warning")}),
        ("_hoodie_file_name", f"{GROUP}_0-0-0_1.parquet", set()),
        ("_hoodie_file_name", None, set()),
    ],
)
def test_rows_of_a_log_say_whose_they_are(name: str, value: Value, found: set[tuple[str, str]]) -> None:
    """By them a log is recognised that has another one's name; what may be left out says nothing."""
    block = data(2, ROW)
    assert isinstance(block.records, tuple)
    changed = log(2, replace(block, records=(Record({**block.records[0].values, name: value}),)))
    assert violations_of(with_files([commit(1, FIRST), commit(2, changed)], FIRST, changed)) == found


def test_a_slice_that_cannot_be_merged_is_reported_when_rows_are_read() -> None:
    changed = log(2, data(2, ("b", 1, "x")))
    keyless = DataBlock(at(2), (Record({"id": None, "ts": 1}),), schema=SCHEMA)
    readable = with_files([commit(1, FIRST), commit(2, changed)], FIRST, changed)
    assert not violations_of(replace(readable, evidence=Evidence(deep=True)))
    broken = replace(changed, blocks=(keyless,))
    assert violations_of(replace(readable, log_files=(broken,), evidence=Evidence(deep=True))) == {("DM-001", "error")}


def test_a_sound_compaction_has_no_violation() -> None:
    merged = base(2, ROW)
    assert not violations_of(with_files([commit(1, FIRST), completed_compaction(2, merged, 2.5)], FIRST, merged))
