"""Savepoints and restores: what can be saved, what a restore undoes, and how the table is afterwards."""

from typing import Final

from hudi_conformance.corpus.golden.rides import fleet, ride, rides
from hudi_conformance.corpus.writing.recipes.archivals import KEEPS
from hudi_conformance.corpus.writing.recipes.cleanings import COMMITS, VERSIONS
from hudi_conformance.corpus.writing.recipes.clusterings import DUE as CLUSTERING_DUE
from hudi_conformance.corpus.writing.recipes.compactions import DUE as COMPACTION_DUE
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import COW, MOR, OPTIMISTIC, SHARED_LOCK, shapes
from hudi_conformance.corpus.writing.steps import Done, WritingCase

TABLES: Final = shapes()
SHARED: Final = shapes(configs={**OPTIMISTIC, **SHARED_LOCK})
ARCHIVING: Final = {
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.clean.commits.retained": "1",
    "hoodie.archive.beyond.savepoint": "true",
}


def written(case: WritingCase) -> tuple[Done, Done, Done]:
    """An insert, an update with a late row, a delete."""
    case.create()
    first = case.write("insert", fleet(10))
    second = case.write("upsert", [ride("r01", 20), ride("r11", 5, rider="late"), ride("r31", 20)])
    return first, second, case.write("delete", rides(None, ("r02", "r12")))


@writing("savepoint_restore/restored", TABLES, "SR-009 SR-004 SR-005 SR-006", "restore-undoes-nothing")
def restored(case: WritingCase) -> None:
    """After a restore the table is what it was, and later writes find it so.

    Given a saved insert, an update and a delete after it.
    When the table is restored to the savepoint, and updates then come; at last the savepoint is deleted, and the oldest
    actions are archived.
    Then the rows are those of the insert, and the updates find them; what was undone is older than the timeline in the
    end, and does not come back, since no file of it is left.
    """
    first, *_ = written(case)
    case.service("savepoint", instant=first.requested)
    case.service("restore", instant=first.requested)
    case.state()
    case.write("upsert", [ride("r02", 30), ride("r31", 30)])
    case.state()
    for ts in (40, 50, 60):
        case.write("upsert", rides(ts, ("r03",)))
    case.service("delete_savepoint", instant=first.requested)
    case.service("archive", KEEPS)
    case.state()


@writing("savepoint_restore/unsaved", TABLES, "SR-004", "restore-needs-no-savepoint")
def unsaved(case: WritingCase) -> None:
    """A restore goes back to savepoints only.

    Given a table without any savepoint, and one whose savepoint was deleted.
    When a restore names a write.
    Then it is refused, and the table stays as it is.
    """
    first, second, _ = written(case)
    case.service("restore", instant=second.requested, reject="INSTANT_NOT_FOUND")
    case.service("savepoint", instant=first.requested)
    case.service("delete_savepoint", instant=first.requested)
    case.service("restore", instant=first.requested, reject="INSTANT_NOT_FOUND")
    case.state()


@writing("savepoint_restore/later_savepoint", TABLES, "SR-004 SR-003", "savepoint-ends-inflight")
def later_savepoint(case: WritingCase) -> None:
    """A later savepoint is in the way of a restore until it is deleted.

    Given a saved insert and a saved update after it.
    When the table is to be restored to the insert, before and after the later savepoint is deleted.
    Then the first restore is refused, the second goes back.
    """
    first, second, _ = written(case)
    case.service("savepoint", instant=first.requested)
    case.service("savepoint", instant=second.requested)
    case.service("restore", instant=first.requested, reject="CONFIG_INVALID")
    case.service("delete_savepoint", instant=second.requested)
    case.timeline()
    case.service("restore", instant=first.requested)
    case.state()


@writing("savepoint_restore/what_can_be_saved", TABLES, "SR-001 SR-002", "savepoint-of-anything")
def what_can_be_saved(case: WritingCase) -> None:
    """A completed write can be saved once; a rollback, or nothing at all, cannot.

    Given two writes, the first of them saved.
    When the first is saved again, and an instant that nobody wrote is.
    Then both are refused, and the second write is saved as the first was.
    """
    first, second, _ = written(case)
    case.service("savepoint", instant=first.requested)
    case.service("savepoint", instant=first.requested, reject="CONFIG_INVALID")
    case.service("savepoint", instant="20200101000000000", reject="INSTANT_NOT_FOUND")
    case.service("savepoint", instant=second.requested)
    case.state()


@writing("savepoint_restore/cleaned", shapes(types=(COW,)), "SR-001", "savepoint-of-cleaned-files")
def cleaned(case: WritingCase) -> None:
    """What a clean did not retain cannot be saved.

    Given a clean that keeps two commits, planned and then carried out.
    When an older write is saved, before and after, and the oldest retained one.
    Then the older one is refused both times, the other is saved.
    """
    first, second, _ = written(case)
    case.write("upsert", rides(40, ("r01",)))
    plan = case.schedule("clean", COMMITS)
    case.service("savepoint", instant=first.requested, reject="RANGE_NOT_RETAINED")
    case.execute(plan, COMMITS)
    case.service("savepoint", instant=first.requested, reject="RANGE_NOT_RETAINED")
    case.service("savepoint", instant=second.requested, reject="RANGE_NOT_RETAINED")
    case.state()


@writing("savepoint_restore/cleaned_by_versions", shapes(types=(COW,)), "SR-001", "cleans-by-versions-keep-all")
def cleaned_by_versions(case: WritingCase) -> None:
    """A clean that counts versions keeps the last write before it, and no older one can be saved.

    Given a clean that keeps one version of each file group, planned and then carried out.
    When an older write is saved, before and after, and the last one before the clean.
    Then the older one is refused both times, and the table goes back to the other.
    """
    _, second, last = written(case)
    plan = case.schedule("clean", VERSIONS)
    case.service("savepoint", instant=second.requested, reject="RANGE_NOT_RETAINED")
    case.execute(plan, VERSIONS)
    case.service("savepoint", instant=second.requested, reject="RANGE_NOT_RETAINED")
    case.service("savepoint", instant=last.requested)
    case.write("upsert", rides(40, ("r01",)))
    case.service("restore", instant=last.requested)
    case.state()


@writing("savepoint_restore/saved_files_stay", shapes(types=(MOR,)), "SR-002 CN-008", "savepoint-keeps-nothing")
def saved_files_stay(case: WritingCase) -> None:
    """A savepoint names the base files and logs that a snapshot as of it reads.

    Given a saved update on a slice with logs, and two compactions since.
    When a clean keeps one version of each file, and the table is then restored.
    Then the saved slices are there with their logs, and the restored table reads them.
    """
    _, second, _ = written(case)
    case.service("savepoint", instant=second.requested)
    case.run("compaction", COMPACTION_DUE)
    case.write("upsert", rides(40, ("r01", "r11")))
    case.run("compaction", COMPACTION_DUE)
    case.run("clean", VERSIONS)
    case.query("read_as_of", instant=second.bound)
    case.service("restore", instant=second.requested)
    case.state()


@writing("savepoint_restore/pending_ones_too", SHARED, "SR-005 SR-006", "restore-keeps-pending-actions")
def pending_ones_too(case: WritingCase) -> None:
    """Pending actions are undone as well.

    Given a saved insert, a writer that made its files and died, an update, a planned clustering, and an insert.
    When the table is restored to the savepoint.
    Then nothing of any of these is left.
    """
    case.create()
    first = case.write("insert", fleet(10))
    case.service("savepoint", instant=first.requested)
    case.begin("one", "upsert", rides(20, ("r01",)), process=2)
    case.stage("one")
    case.end_process(2)
    case.write("upsert", rides(30, ("r11",)))
    case.schedule("clustering", CLUSTERING_DUE)
    case.write("insert", [ride("r41@rome", 40)])
    case.service("restore", instant=first.requested)
    case.state()


@writing(
    "savepoint_restore/overlapping",
    shapes((8, 9), configs={**OPTIMISTIC, **SHARED_LOCK}),
    "SR-005",
    "restore-by-request",
)
def overlapping(case: WritingCase) -> None:
    """From version 8 on what completed after the saved write is undone, whenever it was requested.

    Given a write that begins first and completes last, and between an insert of other rides, which is saved.
    When the table is restored to the savepoint; then such a last write is saved, the table changed, cleaned of all that
    savepoints do not keep, and restored to it.
    Then the write that completed after the first savepoint is undone; what completed before the second one stays,
    though it was requested later, and its files are there.
    """
    case.create()
    case.write("insert", fleet(10))
    case.begin("early", "upsert", rides(20, ("r01",)))
    case.stage("early")
    saved = case.write("insert", [ride("r31@lima", 20)], process=2)
    case.service("savepoint", instant=saved.requested)
    case.commit("early")
    case.service("restore", instant=saved.requested)
    case.state()
    started = case.begin("slow", "upsert", rides(30, ("r01",)))
    case.stage("slow")
    case.write("upsert", rides(30, ("r11",)), process=2)
    case.commit("slow")
    case.service("savepoint", instant=started.requested)
    for ts in (40, 50):
        case.write("upsert", rides(ts, ("r01", "r11")))
        if case.is_mor:
            case.run("compaction", COMPACTION_DUE)
    case.run("clean", VERSIONS)
    case.service("restore", instant=started.requested)
    case.state()


@writing("savepoint_restore/compaction_undone", shapes(types=(MOR,)), "SR-007 SR-005", "restore-undoes-nothing")
def compaction_undone(case: WritingCase) -> None:
    """An undone compaction takes its whole slice along.

    Given a saved write, a compaction planned after it, logs on the slice that the plan opens, and the compaction done.
    When the table is restored to the savepoint, and written again.
    Then no file of the compaction's slice is left, and the new log lies on the old slice.
    """
    _, second, _ = written(case)
    case.service("savepoint", instant=second.requested)
    plan = case.schedule("compaction", COMPACTION_DUE)
    case.write("upsert", rides(40, ("r01", "r11")))
    case.execute(plan, COMPACTION_DUE)
    case.write("upsert", rides(50, ("r01",)))
    case.service("restore", instant=second.requested)
    case.state()
    case.optimized()
    case.write("upsert", rides(15, ("r01", "r03")))
    case.state()


@writing("savepoint_restore/planned_compaction_undone", shapes(types=(MOR,)), "SR-007 SR-005", "restore-undoes-nothing")
def planned_compaction_undone(case: WritingCase) -> None:
    """A planned compaction that is undone takes the logs on its slice along.

    Given a saved write, a compaction planned after it that waits, and logs on the slice that the plan opens.
    When the table is restored to the savepoint.
    Then plan and logs are gone.
    """
    _, second, _ = written(case)
    case.service("savepoint", instant=second.requested)
    case.schedule("compaction", COMPACTION_DUE)
    case.write("upsert", rides(40, ("r01", "r11")))
    case.service("restore", instant=second.requested)
    case.state()


@writing("savepoint_restore/rollbacks_leave", SHARED, "SR-009", "restore-keeps-rollbacks")
def rollbacks_leave(case: WritingCase) -> None:
    """Rollbacks after the savepoint leave the timeline with the restore, and no others.

    Given an insert, a write that was rolled back, an update that is saved, another write that was rolled back, and an
    update.
    When the table is restored to the savepoint.
    Then the timeline has the insert, the first rollback, the saved update, its savepoint and the restore.
    """
    case.create()
    case.write("insert", fleet(10))
    older = case.begin("older", "upsert", rides(15, ("r02",)), process=3)
    case.stage("older")
    case.end_process(3)
    case.service("rollback", instant=older.requested)
    first = case.write("upsert", rides(17, ("r02",)))
    case.service("savepoint", instant=first.requested)
    failed = case.begin("one", "upsert", rides(20, ("r01",)), process=2)
    case.stage("one")
    case.end_process(2)
    case.service("rollback", instant=failed.requested)
    case.write("upsert", rides(30, ("r11",)))
    case.timeline()
    case.service("restore", instant=first.requested)
    case.state()


@writing("savepoint_restore/archived_since", shapes(types=(COW,)), "SR-004 AR-006", "restore-overlooks-the-archive")
def archived_since(case: WritingCase) -> None:
    """There is no way back to a savepoint once later writes have been archived.

    Given a saved insert, and five updates of which archival, allowed to go beyond the savepoint, took some.
    When the table is to be restored to the savepoint.
    Then it is refused, and the table stays as it is.
    """
    case.create()
    first = case.write("insert", fleet(10))
    case.service("savepoint", instant=first.requested)
    for ts in (20, 30, 40, 50, 60):
        case.write("upsert", rides(ts, ("r01",)))
    case.service("archive", ARCHIVING)
    case.service("restore", instant=first.requested, reject="RANGE_NOT_RETAINED")
    case.state()
