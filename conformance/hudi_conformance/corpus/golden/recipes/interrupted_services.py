"""What restores, clusterings, overwrites, cleans, savepoints, indexings and upgrades leave that died half way."""

from dataclasses import replace
from typing import Final

from hudi_model.actions import Action, CleanPlan, ClusteringGroup, ReplacePlan, RestorePlan, RollbackPlan, State
from hudi_model.files import LogFile, RollbackBlock
from hudi_model.metadata import BUILDING, FILES
from hudi_model.time import InstantTime

from hudi_conformance.corpus.golden.groups import Group
from hudi_conformance.corpus.golden.layout import copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.recipes.indexes import FEATURES, RECORDS, STATISTICS, spread
from hudi_conformance.corpus.golden.recipes.interrupted import marked, marked_by_a_server
from hudi_conformance.corpus.golden.rides import KEYS, fleet, ride, rides, second
from hudi_conformance.corpus.golden.usual import check, deep_check, skipping
from hudi_conformance.corpus.golden.writer import Written

_CHECK: Final = "what died left no violation"
_FAILED_ATTEMPT: Final = "0-9-9"
SAVED, RESTORE = second(1), second(5)


def _saved_and_updated(table: GoldenTable) -> list[Written]:
    """A saved insert, and three updates since."""
    table.insert(SAVED, fleet(10))
    table.savepoint(SAVED, second(1.6))
    return [
        table.upsert(second(2), rides(20, ("r01", "r11"))),
        table.upsert(second(3), rides(30, ("r01", "r12"))),
        table.upsert(second(4), rides(40, ("r02", "r11"))),
    ]


_PLAN: Final = RestorePlan(SAVED, (second(4), second(3), second(2)))


@golden("v9/cow_requested_restore", "A restore died when it had its plan", copy_on_write(9), also=(6, 8))
def requested_restore(table: GoldenTable) -> None:
    """A saved insert and three updates; a restore to the savepoint is requested, and has undone nothing."""
    _saved_and_updated(table)
    table.enter(Action.RESTORE, State.REQUESTED, RESTORE, content=_PLAN)
    table.snapshot("snapshot", "what a plan names counts as before", "SR-006 TL-017", "planned-restores-count")
    table.as_of(second(2.7), "as-of", "so it did in the past", "SR-006 RD-010", "planned-restores-count")
    table.instants("timeline", "the restore is requested", "SR-004 TL-001", "one-action-an-instant")
    table.slices("slices", "the newest slices are the last update's", "SR-006 SL-003", "planned-restores-count")
    check(table, _CHECK, "SR-004 SR-006", "pending-actions-are-violations")


def _take_back(table: GoldenTable, logs: tuple[LogFile, ...], target: InstantTime) -> None:
    """Logs of an update go; in version 6 a command on their slices takes their blocks back."""
    if table.version > 6:
        table.log_files = [one for one in table.log_files if one not in logs]
        return
    for log in logs:
        group = Group(log.partition, log.file_id)
        table.place(table.log_file(group, RESTORE, RollbackBlock(RESTORE, target), token="1-5000-1"))  # noqa: S106


@golden("v9/mor_interrupted_restore", "A restore died between two files", merge_on_read(9), also=(6, 8))
def interrupted_restore(table: GoldenTable) -> None:
    """Of three updates since a savepoint one is undone, and one half: its completed entry is gone, and one of two logs.

    As releases do, the restore has begun a rollback of each.
    """
    _, half, whole = _saved_and_updated(table)
    table.begin(Action.RESTORE, RESTORE, _PLAN)
    for number, (target, written) in enumerate(((second(4), whole), (second(3), half))):
        files = frozenset((one.partition, one.name) for one in written.log_files if table.version > 6)
        commands = frozenset((one.partition, one.file_id, one.instant) for one in written.log_files if not files)
        plan = RollbackPlan(target, table.data_action, files, commands)
        table.begin(Action.ROLLBACK, second(5.1 + number / 10), plan)
    _take_back(table, whole.log_files, second(4))
    table.forget(second(4))
    table.timeline = [one for one in table.timeline if (one.requested, one.state) != (second(3), State.COMPLETED)]
    _take_back(table, half.log_files[:1], second(3))
    table.snapshot(
        "snapshot",
        "the table is as it was after the write that is not undone yet",
        "SR-006 TL-002",
        "inflight-counts-as-committed",
    )
    table.as_of(second(1.7), "as-of-saved", "the saved state is there", "SR-002 RD-010", "as-of-reads-everything")
    table.instants(
        "timeline", "restore, rollbacks and the half undone write wait", "SR-006 TL-004", "lowest-state-rules"
    )
    if table.version > 6:
        then, kills = "the logs of the half undone write are in no slice", "inflight-counts-as-committed"
    else:
        then, kills = "the logs keep their blocks, with commands behind them", "log-order-reversed"
    table.slices("slices", then, "SR-006 SL-003", kills)
    check(table, _CHECK, "SR-006 RB-005", "pending-actions-are-violations")


def _newest_first(group: ClusteringGroup) -> ClusteringGroup:
    """The logs of each slice as plans of releases name them."""
    return replace(group, slices=tuple(replace(one, log_files=one.log_files[::-1]) for one in group.slices))


@golden(
    "v9/mor_interrupted_clustering", "An attempt at a clustering died between two files", merge_on_read(9), also=(6, 8)
)
def interrupted_clustering(table: GoldenTable) -> None:
    """A clustering of three groups, its plan naming the newest logs first, is inflight; a new file lacks rows."""
    at, cities = second(3), ([table.group("oslo", 0), table.group("oslo", 1)], [table.group("lima", 0)])
    table.insert(second(1), fleet(10))
    table.upsert(second(1.6), rides(20, ("r01", "r11")))
    table.upsert(second(2.2), deletes={("oslo", "r01"): 0}, operation="DELETE")
    planned = tuple(_newest_first(group) for groups in cities for group in table.clustering_plan(groups).groups)
    table.replace_groups(at, (), (), state=State.INFLIGHT, operation="CLUSTER", plan=ReplacePlan("CLUSTER", planned))
    attempt = table.base_file(table.group("oslo", 7), at, table.merged()[cities[0][0]][:1], token=_FAILED_ATTEMPT)
    table.place(attempt)
    marked(table, at, attempt, "CREATE")
    unplanned = [row for row in rides(40, KEYS["lima"]) if table.home(row) == table.group("lima", 1)]
    table.upsert(second(4), unplanned[:2])
    table.snapshot("snapshot", "new group and old are not both there", "CL-006 RD-002", "uncommitted-base-file-visible")
    table.as_of(second(3.7), "as-of", "nor were they", "CL-006 RD-010", "uncommitted-base-file-visible")
    table.instants("timeline", "the clustering waits under its action", "CL-003 TL-008", "lowest-state-rules")
    table.slices("slices", "no slice of the new group", "CL-006 SL-003", "uncommitted-base-file-visible")
    check(table, _CHECK, "CL-003 CL-006", "leftovers-are-violations")


OVERWRITE, DELETION = second(2), second(3)


@golden(
    "v9/cow_interrupted_overwrite", "An overwrite of a partition died with its files", copy_on_write(9), also=(6, 8)
)
def interrupted_overwrite(table: GoldenTable) -> None:
    """An insert overwrite of one city is inflight, its new group is there; the other city changed since.

    In versions 6 and 9 a timeline server has kept its markers in two files.
    """
    table.insert(second(1), fleet(10))
    old = [table.group("oslo", 0), table.group("oslo", 1)]
    written = table.replace_groups(OVERWRITE, rides(20, KEYS["oslo"][:2], rider="never"), old, state=State.INFLIGHT)
    (marked if table.version == 8 else marked_by_a_server)(table, OVERWRITE, written, "CREATE")
    table.upsert(second(3), rides(30, ("r11", "r12")))
    table.snapshot(
        "snapshot",
        "the old groups are whole, the new one is not there",
        "RD-003 RD-002",
        "uncommitted-base-file-visible",
    )
    table.as_of(second(1.7), "as-of", "a time before it is as it was", "RD-003 RD-010", "as-of-reads-everything")
    table.instants("timeline", "the replacecommit is inflight", "TL-002 TL-008", "lowest-state-rules")
    table.slices("slices", "no slice of the new group", "RD-003 SL-003", "uncommitted-base-file-visible")
    check(table, _CHECK, "TL-002 RB-001", "leftovers-are-violations")


@golden(
    "v9/mor_interrupted_replacements",
    "An overwrite and a deletion of partitions died, above slices of logs alone",
    merge_on_read(9),
    also=(6, 8),
)
def interrupted_replacements(table: GoldenTable) -> None:
    """Rides in logs alone. An insert overwrite of one city is inflight with its new log; so is a deletion of the other.

    An update of that other city came between.
    """
    table.upsert(second(1), fleet(10), operation="INSERT")
    group = table.group("oslo", 7)
    written = table.log_file(group, OVERWRITE, table.data_block(group, OVERWRITE, rides(20, KEYS["oslo"][:2])))
    table.place(written)
    table.begin(Action.REPLACE_COMMIT, OVERWRITE, ReplacePlan(""))
    marked(table, OVERWRITE, written, "CREATE")
    table.upsert(second(2.7), rides(30, ("r11", "r12")))
    table.begin(Action.REPLACE_COMMIT, DELETION, ReplacePlan(""))
    table.snapshot("snapshot", "neither city has been replaced", "RD-003 RD-017 TL-002", "inflight-counts-as-committed")
    table.as_of(second(1.7), "as-of", "a time before both is as it was", "RD-003 RD-010", "as-of-reads-everything")
    table.instants("timeline", "two replacecommits are inflight", "TL-002 TL-008", "lowest-state-rules")
    table.slices("slices", "no slice of the new group", "RD-003 RD-017", "inflight-counts-as-committed")
    check(table, _CHECK, "TL-002 RB-001", "leftovers-are-violations")


CLEAN: Final = second(5)
_BY_VERSIONS: Final = "KEEP_LATEST_FILE_VERSIONS"


@golden("v9/cow_interrupted_clean", "A clean died between two files", copy_on_write(9), also=(6, 8))
def interrupted_clean(table: GoldenTable) -> None:
    """Four writes; a clean that counts versions is inflight and has removed the first of the files of its plan.

    A metadata table lists all of them.
    """
    table.insert(second(1), fleet(10))
    table.keep_indexes()
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.upsert(second(3), rides(30, ("r01", "r12")))
    table.upsert(second(4), rides(40, ("r02",)))
    before = list(table.base_files)
    table.clean(CLEAN, second(3), completes=False)
    plans = {one.name: one.content for one in table.timeline if isinstance(one.content, CleanPlan)}
    table.timeline = [
        replace(one, content=replace(plans[one.name], earliest_to_retain=None, policy=_BY_VERSIONS))
        if one.name in plans
        else one
        for one in table.timeline
    ]
    first = min(min(one.files) for one in plans.values())
    table.base_files = [one for one in before if (one.partition, one.name) != first]
    table.snapshot("snapshot", "the newest state needs none of them", "RD-001 CN-009", "oldest-base-file")
    table.as_of(second(3.7), "as-of-retained", "nor does what the plan retains", "RD-014", "as-of-reads-everything")
    table.as_of(
        second(1.7),
        "as-of-deleted",
        "where one is gone, no other stands for the write",
        "RD-014 CN-009",
        "pending-clean-overlooked",
    )
    table.instants("timeline", "the clean is inflight", "CN-009 TL-001", "lowest-state-rules")
    table.slices("slices", "the newest slices are whole", "CN-001 SL-003", "oldest-base-file")
    check(table, _CHECK, "CN-012 RD-011", "pending-actions-are-violations")


@golden("v9/cow_interrupted_savepoint", "A savepoint died before it named its files", copy_on_write(9), also=(6, 8))
def interrupted_savepoint(table: GoldenTable) -> None:
    """Three writes; a savepoint of the first is inflight, as it is too where one is half deleted."""
    table.insert(SAVED, fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.begin(Action.SAVEPOINT, SAVED)
    table.upsert(second(3), rides(30, ("r01", "r12")))
    table.snapshot("snapshot", "its write counts as before", "TL-010 RD-001", "oldest-base-file")
    table.as_of(second(1.7), "as-of", "its write is read", "TL-010 RD-010", "as-of-reads-everything")
    table.instants(
        "timeline", "the savepoint is inflight, its write complete", "TL-010 SR-003", "one-action-an-instant"
    )
    table.slices("slices", "the newest slices", "TL-010 SL-003", "oldest-base-file")
    check(table, _CHECK, "SR-002 TL-010", "pending-actions-are-violations")


INDEXING: Final = second(2)


@golden(
    "v9/mor_ended_indexing",
    "An indexing died when readers might use its indexes",
    merge_on_read(9),
    FEATURES,
    also=(6,),
)
@golden("v8/cow_ended_indexing", "An indexing died when readers might use its indexes", copy_on_write(8), FEATURES)
def ended_indexing(table: GoldenTable) -> None:
    """Statistics and places are built, and the properties list them as whole; their indexing is still inflight."""
    table.insert(second(1), spread(10))
    table.keep_indexes()
    table.build_indexes(INDEXING, STATISTICS, RECORDS)
    table.list_indexes((FILES.name, STATISTICS.name, RECORDS.name))
    del table.properties[BUILDING]
    table.upsert(second(3), [*rides(20, ("r01", "r11"), rider="since"), ride("new", 20, city="oslo")])
    skipping(table, "rider", ["rider", "=", "since"], "what is whole has every row", "IG-005 IX-051", "filter-ignored")
    table.instants("timeline", "the indexing is inflight", "IG-005 TL-001", "lowest-state-rules")
    deep_check(table, _CHECK, "IG-005 MT-005", "pending-actions-are-violations")


@golden(
    "v8/mor_interrupted_upgrade",
    "An upgrade died when its metadata table had the new version",
    merge_on_read(8),
    FEATURES,
)
def interrupted_upgrade(table: GoldenTable) -> None:
    """A table of version 8 with statistics, whose metadata table has been brought to version 9 before it."""
    table.insert(second(1), spread(10))
    table.keep_indexes(STATISTICS)
    table.upsert(second(2), rides(20, ("r01", "r11"), rider="since"))
    table.restate_metadata({"hoodie.table.version": "9"})
    table.snapshot("snapshot", "the table is of its own version", "VR-011 MT-001", "logs-are-not-rows")
    table.info("table-info", "its properties say version 8", "VR-006 PR-005", "mode-always-commit-time")
    deep_check(table, "the two versions are reported", "MT-001 VR-011", "violations-never metadata-version-unchecked")
