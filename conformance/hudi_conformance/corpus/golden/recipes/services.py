"""What table services leave: compactions pending and completed, replaced groups, cleaned files, savepoints."""

from hudi_model.actions import Action, State
from hudi_model.tables import BucketRules
from hudi_model.tagging import bucket_of

from hudi_conformance.corpus.golden import corruption
from hudi_conformance.corpus.golden.groups import Group
from hudi_conformance.corpus.golden.layout import copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import KEYS, fleet, rides, second
from hudi_conformance.corpus.golden.usual import check


@golden(
    "v9/mor_pending_compaction",
    "A pending compaction opens a slice that has no base file yet",
    merge_on_read(9),
    also=(6, 8, 10),
    titles={6: "Logs after the plan are named after the compaction"},
)
def pending_compaction(table: GoldenTable) -> None:
    """Updates before and after a compaction of one group a city was planned and started, but not completed."""
    groups = [table.group("oslo", 0), table.group("lima", 0)]
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r02", "r11", "r12")))
    table.schedule_compaction(second(3), groups)
    table.upsert(second(4), rides(30, ("r01", "r03", "r11")))
    table.delete(second(5), "lima", "r13")
    table.snapshot(
        "snapshot",
        "what was logged before and after the plan is read over the old base file",
        "RD-008",
        "pending-slice-not-joined",
    )
    table.optimized(
        "read-optimized",
        "the base files before the plan are read",
        "RD-015 RD-009",
        "optimized-empty-under-compaction optimized-reads-logs",
    )
    table.as_of(second(4.7), "as-of", "the delete is not there yet", "RD-010 RD-008", "pending-slice-not-joined")
    table.slices("slices", "the two parts are one slice", "RD-008", "pending-slice-not-joined")
    table.instants("timeline", "the compaction is inflight", "TL-001 TL-004", "lowest-state-rules")


@golden("v9/mor_compacted", "Compacted slices", merge_on_read(9), also=(6, 10))
def compacted(table: GoldenTable) -> None:
    """Updates, a compaction of three of four groups, then late updates."""
    groups = [table.group("oslo", 0), table.group("oslo", 1), table.group("lima", 0)]
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r02", "r11", "r12")))
    table.compact(second(3), groups)
    table.upsert(second(4), rides(15, ("r01", "r03"), rider="late after the compaction"))
    table.snapshot(
        "snapshot",
        "the compacted base file and the logs after it are merged",
        "RD-004 RD-006 MG-003",
        "event-time-ignores-ordering",
    )
    table.optimized("read-optimized", "compacted groups are as compacted", "RD-009", "oldest-base-file")
    table.as_of(
        second(2.7),
        "as-of-before",
        "the slices before the compaction are read",
        "RD-010 RD-004",
        "as-of-reads-everything",
    )
    table.optimized(
        "read-optimized-as-of",
        "the base files of before are read",
        "RD-009 RD-010",
        "as-of-reads-everything",
        as_of=second(2.7),
    )
    table.slices("slices", "logs that were compacted belong to the older slice", "RD-004 SL-003", "oldest-base-file")
    table.instants("timeline", "the compaction completed as a commit", "TL-006", "lowest-state-rules")


def _exactly(table: GoldenTable, number: int, then: str, clauses: str) -> None:
    """The table as of the very instant of a write; later versions have a reading in which it has not completed then."""
    if table.version <= 6:
        table.as_of(second(number), "as-of-exactly", then, clauses, "as-of-exclusive as-of-reads-everything")


def _replaced(table: GoldenTable, operation: str) -> None:
    old = [table.group("oslo", 0), table.group("oslo", 1)]
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    kept = rides(25, KEYS["oslo"][:4]) if operation == "INSERT_OVERWRITE" else rides(20, KEYS["oslo"])
    table.replace_groups(second(3), kept, old, operation=operation)
    table.upsert(second(4), rides(30, ("r02", "r12")))
    table.snapshot("snapshot", "replaced groups are hidden", "RD-003", "replaced-group-visible")
    table.as_of(
        second(2.7),
        "as-of-before",
        "before the replacement the old groups are read",
        "RD-003 RD-010",
        "replaced-group-hidden-too-early",
    )
    table.optimized("read-optimized", "replaced groups are hidden", "RD-003 RD-009", "replaced-group-visible")
    table.slices("slices", "no slice of a replaced group is listed", "RD-003", "replaced-group-visible")
    table.instants("timeline", "the replacement completed as a replacecommit", "TL-006", "lowest-state-rules")


@golden(
    "v9/mor_clustered",
    "Clustering replaces file groups",
    merge_on_read(9),
    also=(6,),
    titles={6: "Clustering replaces file groups, as a replacecommit"},
)
def clustered(table: GoldenTable) -> None:
    """One city's two groups are clustered into one; updates follow."""
    _replaced(table, "CLUSTER")


@golden("v8/cow_insert_overwrite", "Insert overwrite replaces file groups", copy_on_write(8))
def insert_overwrite_8(table: GoldenTable) -> None:
    """One city is written anew with four rides; an update follows, and another overwrite that never completed."""
    _replaced(table, "INSERT_OVERWRITE")
    group = table.group("lima", 0)
    table.replace_groups(second(5), rides(60, ("r11",)), [group], state=State.INFLIGHT, first_number=8)


@golden("v9/cow_delete_partition", "Delete partition replaces all groups by nothing", copy_on_write(9))
def delete_partition(table: GoldenTable) -> None:
    """One city is dropped; a ride of it is then inserted into a new group."""
    old = [table.group("lima", 0), table.group("lima", 1)]
    table.insert(second(1), fleet(10))
    table.replace_groups(second(2), [], old, operation="DELETE_PARTITION")
    table.replace_groups(second(3), rides(30, ("r14",)), [], operation="INSERT_OVERWRITE")
    table.snapshot("snapshot", "the dropped city has one ride", "RD-003", "replaced-group-visible")
    table.as_of(second(1.7), "as-of", "before, both cities are whole", "RD-003", "replaced-group-hidden-too-early")
    table.instants("timeline", "two replacecommits", "TL-003 TL-008", "lowest-state-rules")


@golden("v9/cow_cleaned", "After a clean, older instants cannot be requested", copy_on_write(9), also=(6, 8))
def cleaned(table: GoldenTable) -> None:
    """Four commits; a clean removed the files that only the first two needed."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.upsert(second(3), rides(30, ("r01", "r12")))
    table.upsert(second(4), rides(40, ("r02",)))
    table.clean(second(5), second(3))
    table.snapshot("snapshot", "the clean changes no answer", "RD-001 RD-011", "oldest-base-file")
    table.as_of(
        second(3.7), "as-of-retained", "the third commit is retained", "RD-014 RD-010", "as-of-reads-everything"
    )
    _exactly(table, 3, "the earliest time that is retained is answered", "RD-014 RD-010")
    table.as_of(
        second(1.7),
        "as-of-cleaned",
        "what was cleaned is refused, not answered in part",
        "RD-014",
        "lowest-state-rules",
    )
    table.as_of(
        second(0.5), "as-of-before-all", "a time before all is not retained either", "RD-014", "cleaned-range-answered"
    )
    table.instants("timeline", "the clean is an action", "TL-001", "lowest-state-rules")


@golden("v9/cow_clean_of_a_write", "A clean has the instant of the write before it", copy_on_write(9), also=(6,))
def clean_of_a_write(table: GoldenTable) -> None:
    """Four commits, and a clean with the instant of the last, as releases before 0.9 made it and upgrades leave it."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.upsert(second(3), rides(30, ("r01", "r12")))
    table.upsert(second(4), rides(40, ("r02",)))
    table.clean(second(5), second(3))
    folder = ".hoodie/timeline" if table.version > 6 else ".hoodie"
    completed = f"{second(5)}_{second(5.5)}" if table.version > 6 else second(5)
    for name in (f"{second(5)}.clean.requested", f"{second(5)}.clean.inflight", f"{completed}.clean"):
        table.damage(corruption.move(f"{folder}/{name}", f"{second(4)}{name.removeprefix(second(5))}"))
    kills = "cleans-hide-writes"
    table.snapshot("snapshot", "the commit counts, and so does the clean", "TL-005 TL-012 RD-001", kills)
    table.instants("timeline", "both are listed", "TL-005 TL-012", kills)
    table.slices("slices", "the last commit has the newest slice", "TL-005 RD-003", kills)


@golden(
    "v9/cow_clean_under_way",
    "A clean deleted files and has not completed",
    copy_on_write(9),
    also=(6, 8),
)
def clean_under_way(table: GoldenTable) -> None:
    """Four commits; a clean whose plan is inflight has deleted the files that only the first two needed."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.upsert(second(3), rides(30, ("r01", "r12")))
    table.upsert(second(4), rides(40, ("r02",)))
    table.clean(second(5), second(3), completes=False)
    table.snapshot("snapshot", "the newest state needs none of them", "RD-001 RD-011", "oldest-base-file")
    table.as_of(
        second(3.7), "as-of-retained", "nor does what the plan retains", "RD-014 RD-010", "as-of-reads-everything"
    )
    table.as_of(
        second(1.7),
        "as-of-deleted",
        "a file that the plan names was deleted, not lost",
        "RD-014 CN-009",
        "pending-clean-overlooked",
    )
    table.incremental(
        "earliest",
        second(2),
        "incremental-deleted",
        "a range whose end needs one is refused for that",
        "IN-007 RD-014",
        "pending-clean-overlooked",
    )


@golden("v8/mor_savepoint", "A savepoint has no requested file", merge_on_read(8), also=(6,))
def savepoint(table: GoldenTable) -> None:
    """Updates around a savepoint of the first write."""
    table.insert(second(1), fleet(10))
    table.savepoint(second(1), second(2))
    table.upsert(second(3), rides(5, ("r01", "r11"), rider="late"))
    table.snapshot("snapshot", "a savepoint changes no answer", "TL-010 MG-003", "event-time-ignores-ordering")
    table.instants(
        "timeline",
        "savepoint and deltacommit share the requested time",
        "TL-010 TL-005",
        "one-action-an-instant lowest-state-rules",
    )


@golden("v9/mor_shared_file_id", "One file id in two partitions", merge_on_read(9), also=(6, 8))
def shared_file_id(table: GoldenTable) -> None:
    """Two buckets in the one city, three in the other, whose first have the same file id; only that one is replaced.

    Older rules, and those of an action that waits, say otherwise. In version 6 one ride lies in the bucket of others.
    """
    table.homes.buckets = 8
    table.bucket_rules.append(BucketRules(3, instant=second(-1)))
    table.bucket_rules.append(BucketRules(2, "^lima$,3", instant=second(0)))
    table.bucket_rules.append(BucketRules(5, instant=second(5)))
    replaced = Group(table.group("lima").partition, table.group("oslo").file_id)
    for city, buckets in (("oslo", 2), ("lima", 3)):
        for key in KEYS[city]:
            number = bucket_of((key,), buckets)
            number = 1 if table.version == 6 and key == "r13" else number
            group = replaced if (city, number) == ("lima", 0) else table.group(city, number)
            table.homes.move(group.partition, [key], group)
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11", "r12")))
    table.replace_groups(second(3), rides(30, ("r11",)), [replaced], first_number=8)
    table.upsert(second(4), rides(40, ("r02",)))
    table.begin(Action.REPLACE_COMMIT, second(5))
    check(
        table,
        "the keys lie in the buckets that the rules of the table say, or one of them does not",
        "OW-036 OW-022",
        "kept-rules-unread buckets-unchecked" if table.version == 6 else "default-buckets-everywhere",
        deep=True,
    )
    table.snapshot(
        "snapshot", "the group of the same id in the other city is read", "SL-025 SL-003 RD-003", "replaced-by-file-id"
    )
    table.optimized("read-optimized", "so is its base file", "SL-025 RD-009", "replaced-by-file-id")
    table.slices("slices", "one of the two groups is listed", "SL-025 RD-003", "replaced-by-file-id")
