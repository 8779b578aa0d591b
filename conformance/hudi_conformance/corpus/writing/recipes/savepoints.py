"""Savepoints, what they keep from the cleaner, and the way back to them."""

from hudi_conformance.corpus.golden.rides import ride, rides
from hudi_conformance.corpus.writing.recipes.cleanings import VERSIONS
from hudi_conformance.corpus.writing.recipes.single_writes import BUCKETS, with_rides
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import ALONE, MOR, shapes
from hudi_conformance.corpus.writing.steps import WritingCase

_CLEANS = {"hoodie.clean.commits.retained": "1", "hoodie.clean.trigger.max.commits": "1"}
_NOW = {"hoodie.compact.inline.max.delta.commits": "1"}
_FEW = shapes(versions=(6, 9))


@writing("savepoints/restore", shapes(), "SR-004 SR-005 SR-009", "restore-keeps-what-came-since")
def restore(case: WritingCase) -> None:
    """A restore goes back to a savepoint.

    Given rides whose first state was saved, and that were changed and deleted since.
    When the table is restored, and written to after that.
    Then the rows are those of the savepoint, and the later write builds on them.
    """
    first = with_rides(case)
    case.service("savepoint", instant=first.requested)
    case.write("upsert", [ride("r01", 20), ride("r03", 20)])
    case.write("delete", [ride("r11", 30)])
    case.snapshot()
    case.service("restore", to=first.requested)
    case.state()
    case.write("upsert", [ride("r11", 20)])
    case.state()


@writing("savepoints/restore_of_an_overwrite", _FEW, "SR-005 SR-009", "restore-keeps-what-came-since")
def restore_of_an_overwrite(case: WritingCase) -> None:
    """A restore brings back file groups that were replaced.

    Given rides whose first state was saved, and a city that was overwritten since.
    When the table is restored.
    Then the old rides are there, and the new ones are not.
    """
    first = with_rides(case)
    case.service("savepoint", instant=first.requested)
    case.write("insert_overwrite", rides(20, ("r03",)))
    case.service("restore", to=first.requested)
    case.state()


@writing("savepoints/restore_over_a_compaction", shapes(types=(MOR,)), "SR-007 SR-005", "restore-keeps-what-came-since")
def restore_over_a_compaction(case: WritingCase) -> None:
    """A restore over a compaction takes its slice along.

    Given rides with a log that was saved, a compaction since, and a log upon it.
    When the table is restored.
    Then the saved slice is read again, and no file of the compaction is left.
    """
    with_rides(case)
    saved = case.write("upsert", [ride("r01", 20)])
    case.service("savepoint", instant=saved.requested)
    case.run("compaction", _NOW)
    case.write("upsert", [ride("r01", 30), ride("r02", 30)])
    case.service("restore", to=saved.requested)
    case.state()
    case.optimized()


@writing(
    "savepoints/restore_with_a_planned_compaction",
    shapes(versions=(6, 9), types=(MOR,)),
    "SR-005 SR-007",
    "restore-keeps-pending-actions",
)
def restore_with_a_planned_compaction(case: WritingCase) -> None:
    """A compaction that was planned after the savepoint goes, and the logs upon its slice with it.

    Given rides with a saved log, a compaction that is only planned, and a log after the plan.
    When the table is restored, and written to after that.
    Then neither plan nor later log is left.
    """
    with_rides(case)
    saved = case.write("upsert", [ride("r01", 20)])
    case.service("savepoint", instant=saved.requested)
    case.schedule("compaction", _NOW)
    case.write("upsert", [ride("r02", 30)])
    case.service("restore", to=saved.requested)
    case.state()
    case.write("upsert", [ride("r02", 20)])
    case.state()


@writing(
    "savepoints/keeps_files",
    (*shapes(), *shapes((8, 9), (MOR,), {**ALONE, **BUCKETS}, label="buckets")),
    "SR-002 CN-008",
    "savepoint-keeps-nothing",
)
def keeps_files(case: WritingCase) -> None:
    """What a savepoint names the cleaner keeps.

    Given rides whose first state was saved, in buckets in logs alone, and that were changed twice since.
    When the table is cleaned as far as one commit, and restored.
    Then the saved rows are there, for their files were kept.
    """
    first = with_rides(case)
    case.service("savepoint", instant=first.requested)
    case.write("upsert", rides(20, ("r01", "r11")))
    case.run("compaction", _NOW) if case.is_mor else None
    case.write("upsert", rides(30, ("r01", "r11")))
    case.run("compaction", _NOW) if case.is_mor else None
    case.write("upsert", rides(40, ("r01", "r11")))
    case.run("clean", _CLEANS)
    case.snapshot()
    case.service("restore", to=first.requested)
    case.snapshot()


@writing("savepoints/deleted", _FEW, "SR-003", "savepoint-ends-inflight")
def deleted(case: WritingCase) -> None:
    """A savepoint that is deleted is no way back any more.

    Given rides whose first state was saved, and that were changed since.
    When the savepoint is deleted, and a restore requested.
    Then the timeline shows no savepoint, and the restore is refused.
    """
    first = with_rides(case)
    case.service("savepoint", instant=first.requested)
    case.write("upsert", [ride("r01", 20)])
    case.service("delete_savepoint", instant=first.requested)
    case.timeline()
    case.service("restore", to=first.requested, reject="INSTANT_NOT_FOUND")
    case.state()


@writing("savepoints/what_can_be_saved", _FEW, "SR-001", "savepoint-of-cleaned-files")
def what_can_be_saved(case: WritingCase) -> None:
    """Only a completed write whose files are all there can be saved.

    Given rides that were changed twice, and a clean that kept the last commit only.
    When savepoints are requested of an unknown instant, of the first write, and of the last.
    Then the first two are refused, and the last is made.
    """
    first = with_rides(case)
    case.write("upsert", rides(20, ("r01", "r11")))
    case.run("compaction", _NOW) if case.is_mor else None
    case.write("upsert", rides(30, ("r01", "r11")))
    case.run("compaction", _NOW) if case.is_mor else None
    last = case.write("upsert", rides(40, ("r01", "r11")))
    case.run("clean", _CLEANS)
    case.service("savepoint", instant="20200101000000000", reject="INSTANT_NOT_FOUND")
    case.service("savepoint", instant=first.requested, reject="RANGE_NOT_RETAINED")
    case.service("savepoint", instant=last.requested)
    case.timeline()
    case.snapshot()


@writing("savepoints/after_a_clean_by_versions", _FEW, "SR-001", "cleans-by-versions-keep-all")
def after_a_clean_by_versions(case: WritingCase) -> None:
    """After a clean that counts versions only the last write before it can be saved.

    Given rides that were changed three times, and a clean that kept two versions of each file.
    When savepoints are requested of the first write, of the one before the last, and of the last.
    Then the first two are refused, and the last is made.
    """
    first = with_rides(case)
    case.write("upsert", rides(20, ("r01", "r11")))
    case.run("compaction", _NOW) if case.is_mor else None
    before = case.write("upsert", rides(30, ("r01", "r11")))
    case.run("compaction", _NOW) if case.is_mor else None
    last = case.write("upsert", rides(40, ("r01", "r11")))
    two = {"hoodie.clean.fileversions.retained": "2", "hoodie.clean.trigger.max.commits": "1"}
    case.run("clean", {**VERSIONS, **two})
    case.service("savepoint", instant=first.requested, reject="RANGE_NOT_RETAINED")
    case.service("savepoint", instant=before.requested, reject="RANGE_NOT_RETAINED")
    case.service("savepoint", instant=last.requested)
    case.timeline()
    case.snapshot()


@writing("savepoints/later_savepoint_in_the_way", _FEW, "SR-004", "later-savepoints-are-undone")
def later_savepoint_in_the_way(case: WritingCase) -> None:
    """A later savepoint whose write would be undone is to be deleted first.

    Given two saved states.
    When a restore to the first is requested, the second savepoint is deleted, and it is requested again.
    Then it is refused at first, and done at last.
    """
    first = with_rides(case)
    case.service("savepoint", instant=first.requested)
    second = case.write("upsert", [ride("r01", 20)])
    case.service("savepoint", instant=second.requested)
    case.service("restore", to=first.requested, reject="CONFIG_INVALID")
    case.service("delete_savepoint", instant=second.requested)
    case.service("restore", to=first.requested)
    case.state()


@writing("savepoints/restore_twice", _FEW, "SR-009 SR-006", "restore-keeps-rollbacks")
def restore_twice(case: WritingCase) -> None:
    """Rollbacks that came after the savepoint leave the timeline with a restore.

    Given a saved state, a write that was given up since and rolled back, and one that completed.
    When the table is restored, changed, and restored again.
    Then the rows are those of the savepoint both times, and no rollback is on the timeline.
    """
    first = with_rides(case)
    case.service("savepoint", instant=first.requested)
    failed = case.begin("failed", "upsert", [ride("r01", 40)])
    case.stage("failed")
    case.end_process(1)
    case.service("rollback", instant=failed.requested)
    case.write("upsert", [ride("r01", 20)])
    case.service("restore", to=first.requested)
    case.state()
    case.write("upsert", [ride("r02", 20)])
    case.service("restore", to=first.requested)
    case.snapshot()
    case.timeline()
