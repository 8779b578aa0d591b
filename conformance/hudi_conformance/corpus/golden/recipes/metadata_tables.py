"""Tables whose metadata table has been through services, crashes and changes of its indexes."""

from hudi_model.actions import State

from hudi_conformance.corpus.golden import corruption
from hudi_conformance.corpus.golden.layout import copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.recipes.indexes import (
    BLOOM,
    FEATURES,
    LOWER,
    PARTITIONS,
    RECORDS,
    RIDER,
    STATISTICS,
    spread,
)
from hudi_conformance.corpus.golden.rides import ride, rides, second
from hudi_conformance.corpus.golden.usual import deep_check, skipping

_LISTS = "MT-008 MT-010 MT-005 MT-003"


@golden(
    "v9/cow_metadata_services",
    "Services take entries of every index along",
    copy_on_write(9),
    FEATURES,
    also=(6, 8),
    given=dict.fromkeys(
        (6, 8), "Three commits, two cleans of the same files, an overwrite, a rollback; statistics, filters and places."
    ),
)
def services(table: GoldenTable) -> None:
    """Three commits, two cleans of the same files, an overwrite, a rollback; statistics, places, a secondary index."""
    newer = table.version > 6
    table.insert(second(1), spread(10))
    table.keep_indexes(STATISTICS, RECORDS, *((RIDER, PARTITIONS) if newer else (BLOOM,)))
    table.upsert(second(2), rides(20, ("r01", "r11"), rider="second"))
    table.upsert(second(3), rides(30, ("r02", "r12"), rider="third"))
    table.clean(second(4), second(3), second(4.7))
    if newer:
        # The model marks what is listed; a release marks what a clean names, once more.
        marks = ".files-0000-0_{}.log.1_0-1-0"
        folder = ".hoodie/metadata/files"
        table.damage(corruption.copy(f"{folder}/{marks.format(second(4))}", marks.format(second(4.7))))
    table.replace_groups(
        second(5), rides(50, ("r03", "fähre-05"), rider="fifth"), [table.group("oslo", number) for number in (0, 1)]
    )
    table.upsert(second(6), rides(60, ("r11",), rider="lost"), state=State.INFLIGHT)
    table.roll_back(second(7), second(6))
    kills = "lists-are-replaced newest-slices-listed metadata-deletes-ignored metadata-logs-unread"
    kills += " metadata-misses-replaced-groups"
    clauses = f"{_LISTS} IX-021 IX-002 MT-009" + (" IX-031 MT-014" if newer else " IX-010")
    deep_check(table, "no entry outlives its file, its key or its group", clauses, kills)
    skipping(
        table,
        "replaced-key",
        ["id", "in", ["r01", "r03", "r11"]],
        "keys of replaced groups are found nowhere, moved ones in their new group",
        "IX-021 IX-055",
        "record-index-finds-nothing",
    )
    skipping(
        table,
        "undone",
        ["rider", "in", ["lost", "fifth", "second"]],
        "values of a write that was undone are in no file",
        "IX-051 IX-053 MT-011",
        "ends-excluded",
    )
    if newer:
        skipping(
            table,
            "rider",
            ["rider", "=", "second"],
            "rows that moved keep their entries, those of replaced groups lose theirs",
            "IX-031 IX-057",
            "secondary-index-of-nothing",
        )


@golden("v6/mor_metadata_rollback", "A rollback's log is listed", merge_on_read(6), FEATURES)
def rollback_6(table: GoldenTable) -> None:
    """An upsert that failed is rolled back by command blocks in logs of their own; the list has both logs."""
    table.insert(second(1), spread(10))
    table.keep_indexes(STATISTICS)
    table.upsert(second(2), rides(20, ("r01", "r11"), rider="failed"), state=State.INFLIGHT)
    table.roll_back(second(3), second(2))
    table.upsert(second(4), rides(5, ("r02", "r12"), rider="late"))
    deep_check(
        table,
        "the logs that were taken back are listed, and those that say so",
        "MT-010 RB-007 MT-005 MT-003",
        "rollback-logs-unlisted",
    )
    skipping(
        table,
        "failed",
        ["rider", "in", ["failed", "Zoe 1"]],
        "statistics of the undone log match no row",
        "IX-051 IX-054",
        "slices-pruned-by-logs",
    )


@golden(
    "v9/cow_metadata_unpartitioned",
    "Without partitions the list has one, called `.`",
    copy_on_write(9, partition_by=None),
    FEATURES,
    also=(6,),
)
def unpartitioned(table: GoldenTable) -> None:
    """An insert and an update of a table without partitions, all indexes by the name `.`."""
    table.insert(second(1), spread(10))
    table.keep_indexes(STATISTICS, BLOOM, RECORDS)
    table.upsert(second(2), rides(20, ("r01", "r12"), rider="second"))
    deep_check(
        table,
        "what has no partition is listed and hashed as `.`",
        "MT-010 MT-012 IX-011 MT-005 IX-023",
        "unpartitioned-without-name",
    )
    skipping(
        table,
        "second",
        ["rider", "=", "second"],
        "statistics of files without a partition are found",
        "MT-012 IX-053",
        "ends-excluded",
    )
    skipping(
        table,
        "key",
        ["id", "=", "🚲-16"],
        "keys are found in the partition without a path",
        "IX-055 IX-011 IX-058",
        "record-index-finds-nothing",
    )


def _updated_around_a_compaction(table: GoldenTable) -> None:
    table.insert(second(1), spread(10))
    table.keep_indexes(STATISTICS, RECORDS)
    table.upsert(second(2), rides(20, ("r01", "r11"), rider="second"))
    table.upsert(second(3), rides(30, ("r02@oslo", "r12"), rider="third"))
    table.delete(second(4), "lima", "r13")
    table.compact_metadata(second(4.7), second(4.9))
    table.upsert(second(5), rides(50, ("r03",), rider="fifth"))
    table.delete(second(6), "oslo", "r04")


@golden(
    "v9/mor_metadata_compaction_pending",
    "A compaction of the metadata table is pending",
    merge_on_read(9),
    FEATURES,
    also=(6,),
)
def compaction_pending(table: GoldenTable) -> None:
    """Two updates of the table, a compaction of its metadata table that has not completed, one more update."""
    _updated_around_a_compaction(table)
    timeline = ".hoodie/metadata/.hoodie" + ("/timeline" if table.version > 6 else "")
    table.damage(corruption.remove(f"{timeline}/{second(4.7)}*.commit"))
    table.damage(corruption.remove(f".hoodie/metadata/*/*_{second(4.7)}.hfile"))
    meaning = "files that were listed before count beside later ones"
    if table.version > 6:
        table.snapshot("snapshot", meaning, "MT-015 RD-005 MT-010", "lowest-state-rules")
    deep_check(table, "a pending compaction is no fault", "MT-015 MT-005", "metadata-logs-unread")


@golden("v9/mor_metadata_compacted", "The metadata table itself is compacted", merge_on_read(9), FEATURES, also=(6, 8))
def compacted(table: GoldenTable) -> None:
    """Two updates of the table, a compaction of its metadata table, one more update."""
    _updated_around_a_compaction(table)
    kills = "metadata-base-files-unread metadata-logs-unread metadata-deletes-ignored"
    deep_check(
        table,
        "base files of the metadata table hold what its logs said, and later logs count",
        "MT-015 MT-001 MT-008 MT-005",
        kills,
    )
    skipping(
        table,
        "third",
        ["rider", "=", "third"],
        "compacted statistics bound as before",
        "MT-015 IX-054",
        "slices-pruned-by-base-file",
    )
    skipping(
        table,
        "deleted",
        ["id", "in", ["r13", "r04", "r03"]],
        "keys that went before and after the compaction are gone",
        "MT-015 IX-055 IX-021",
        "record-index-finds-nothing",
    )


@golden(
    "v9/mor_metadata_uncommitted",
    "Metadata of a write that died before it completed",
    merge_on_read(9),
    FEATURES,
    also=(6, 8),
)
def uncommitted(table: GoldenTable) -> None:
    """A delete whose metadata is committed and whose own completed file never came."""
    newer = table.version > 6
    table.insert(second(1), spread(10))
    table.keep_indexes(RECORDS, *((RIDER,) if newer else ()))
    table.upsert(second(2), [ride("r03", 20, rider="second")])
    written = table.upsert(
        second(3), deletes={("oslo", "r02"): 0, ("lima", "r12"): 0}, operation="DELETE", state=State.INFLIGHT
    )
    table.commit_metadata_first(table.data_action, second(3), table.commit_metadata("DELETE", written))
    skipping(
        table,
        "key",
        ["id", "in", ["r02", "r03"]],
        "a key that only a failed write took away is found",
        "MT-006 MT-004 IX-055",
        "uncommitted-metadata-used",
    )
    if newer:
        skipping(
            table,
            "rider",
            ["rider", "in", ["Zoe 1", "second"]],
            "a value whose entry a failed write took away is found",
            "MT-006 MT-004 IX-057",
            "uncommitted-metadata-used",
        )
    deep_check(
        table, "metadata of a write that has not completed is no fault", "MT-006 MT-004 MT-005", "metadata-logs-unread"
    )
    if newer:
        table.slices(
            "slices", "the failed write's logs are in no slice", "RD-002 MT-006", "inflight-counts-as-committed"
        )


@golden("v9/mor_unlisted_index", "An index that the properties do not list", merge_on_read(9), FEATURES, also=(6,))
def unlisted(table: GoldenTable) -> None:
    """A record index without entries lies beside the indexes that readers may use: its building broke off."""
    table.insert(second(1), spread(10))
    table.keep_indexes(STATISTICS, RECORDS)
    table.upsert(second(2), [ride("r03", 20, rider="second")])
    table.tamper("record_index", lambda _key, _content: None)
    table.list_indexes(("files", "column_stats"))
    skipping(
        table,
        "key",
        ["id", "in", ["r02", "r03"]],
        "what the properties do not list is not used",
        "MT-007 IX-055",
        "any-index-of-the-folder-is-used",
    )
    deep_check(table, "what is not used may be wrong", "MT-007 MT-005", "any-index-of-the-folder-is-checked")


@golden("v9/mor_indexes_without_list", "Indexes are listed, the list of files is not", merge_on_read(9), FEATURES)
def without_list(table: GoldenTable) -> None:
    """The properties list statistics alone: as after the metadata table was turned off half way."""
    table.insert(second(1), spread(10))
    table.keep_indexes(STATISTICS)
    table.upsert(second(2), [ride("r03", 20, rider="second")])
    table.tamper(
        "column_stats", lambda key, content: [content[0], content[0], *content[2:]] if "rider" in key else content
    )
    table.list_indexes(("column_stats",))
    skipping(
        table,
        "rider",
        ["rider", "=", "Zoe 3"],
        "without the list of files no index is used",
        "MT-007 IX-051",
        "indexes-used-without-the-list",
    )
    deep_check(table, "the properties contradict themselves", "MT-007", "violations-never")


@golden(
    "v9/mor_unfinished_metadata",
    "A metadata table whose beginning broke off",
    merge_on_read(9),
    FEATURES,
    also=(6, 8),
)
def unfinished(table: GoldenTable) -> None:
    """A metadata table whose list has a file that is not there lies beside the table; the properties name no index."""
    table.insert(second(1), spread(10))
    table.keep_indexes(STATISTICS)
    table.upsert(second(2), [ride("r03", 20, rider="second"), ride("r12", 20, rider="second")])
    other = f"{table.group('oslo', 1).file_id}_0-1-0_{second(2)}.parquet"
    table.tamper("files", lambda key, listed: {**listed, other: 435} if key == "oslo" else listed)
    table.list_indexes(())
    skipping(
        table,
        "rider",
        ["rider", "in", ["Zoe 1", "second"]],
        "rows are found in files that storage lists",
        "MT-007 IX-051",
        "filter-ignored",
    )
    table.query(
        "list_file_slices",
        "slices",
        "storage lists the files",
        "MT-007 RD-004",
        "logs-are-not-rows",
        configs={"hoodie.metadata.enable": "true"},
    )


@golden("v9/cow_index_rebuilt", "An index is dropped and built anew", copy_on_write(9), FEATURES)
def rebuilt(table: GoldenTable) -> None:
    """Statistics from the start; places dropped before a write and built again after it; an expression index late."""
    table.insert(second(1), spread(10))
    table.keep_indexes(STATISTICS, RECORDS)
    table.drop_index("record_index")
    table.upsert(second(2), [ride("r03", 20, rider="second"), ride("new@lima", 20, rider="second")])
    table.keep_indexes(RECORDS, LOWER)
    table.upsert(second(3), [ride("r12", 30, rider="THIRD")])
    deep_check(
        table,
        "an index built late is as one kept from the start",
        "IX-002 MT-009 MT-005 IX-040",
        "newest-slices-listed record-index-of-partitions",
    )
    skipping(
        table,
        "new-key",
        ["id", "in", ["new@lima", "r03"]],
        "keys that came while there was no index are in the new one",
        "IX-002 MT-009 IX-055",
        "record-index-finds-nothing",
    )
    skipping(
        table,
        "lower",
        [["fn", "lower", "rider"], "=", "third"],
        "an expression index is kept by the writes after it",
        "IX-040 IX-002",
        "expressions-never-match",
    )


@golden(
    "v9/mor_moved_rows",
    "Rows move to another partition",
    merge_on_read(9),
    FEATURES,
    also=(6,),
    given={6: "A global writer deletes a row in its old partition and inserts it in the new one, twice."},
)
def moved(table: GoldenTable) -> None:
    """A global writer deletes a row in its old partition and inserts it in the new one, twice; one keeps its value."""
    newer = table.version > 6
    table.insert(second(1), spread(10))
    table.keep_indexes(RECORDS, *((RIDER,) if newer else ()))
    table.upsert(second(2), [ride("r02", 20, city="lima", rider="Zoe 1")], deletes={("oslo", "r02"): 20})
    table.upsert(second(3), [ride("r11", 30, city="oslo", rider="moved")], deletes={("lima", "r11"): 30})
    table.upsert(second(4), [ride("r03", 5, rider="late")])
    clauses = "IX-021 IX-020 MT-005 MT-008" + (" IX-031" if newer else "")
    kills = "metadata-logs-unread" + (" index-of-incoming-rows" if newer else "")
    deep_check(table, "one entry of a key is left, where it lives now", clauses, kills)
    skipping(
        table,
        "moved",
        ["id", "in", ["r02", "r11", "r03"]],
        "keys are found where they moved to",
        "IX-021 IX-055",
        "record-index-finds-nothing",
    )
    if newer:
        skipping(
            table,
            "kept-value",
            ["rider", "=", "Zoe 1"],
            "a row that moved keeps its entry",
            "IX-031 IX-057",
            "secondary-index-of-one-row",
        )
