"""Writers that died: what they leave does not count, a rollback takes it away, and a live writer is left alone."""

from hudi_conformance.corpus.golden.rides import ride, rides
from hudi_conformance.corpus.writing.recipes.single_writes import BUCKETS, with_rides
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import OPTIMISTIC, SHARED_LOCK, shapes
from hudi_conformance.corpus.writing.steps import WritingCase

_SHARED = {**OPTIMISTIC, **SHARED_LOCK}
_ALL = shapes(configs=_SHARED)
_FEW = shapes(versions=(6, 9), configs=_SHARED)


@writing("recovery/failed_after_staging", _ALL, "RB-001 RB-003 RB-009", "rollback-is-no-action")
def failed_after_staging(case: WritingCase) -> None:
    """A write whose process died after its files is rolled back.

    Given rides of two cities, and a writer that died between its files and its completion.
    When its write is rolled back, and another changes the same ride.
    Then the failed write has left no row, its action is gone, and the rollback is an action of its own.
    """
    with_rides(case)
    failed = case.begin("failed", "upsert", rides(30, ("r01", "r03")), process=2)
    case.stage("failed")
    case.end_process(2)
    case.state()
    case.service("rollback", instant=failed.requested)
    case.state()
    case.write("upsert", [ride("r01", 20, rider="alive")])
    case.state()


@writing("recovery/failed_at_once", _FEW, "RB-001 RB-003", "rollback-is-no-action")
def failed_at_once(case: WritingCase) -> None:
    """A write whose process died before it made a file is rolled back.

    Given rides of two cities, and a writer that died as soon as its insert overwrite was requested.
    When its write is rolled back.
    Then the table is as it was, but for the rollback on its timeline.
    """
    with_rides(case)
    failed = case.begin("failed", "insert_overwrite", rides(30, ("r01",)), process=2)
    case.end_process(2)
    case.service("rollback", instant=failed.requested)
    case.state()


@writing("recovery/failed_delete", _FEW, "RB-001 RB-006", "rollback-is-no-action")
def failed_delete(case: WritingCase) -> None:
    """A delete whose process died deletes nothing.

    Given rides of two cities, and a writer that died after it had staged a delete.
    When its write is rolled back.
    Then every ride is there, before and after.
    """
    with_rides(case)
    failed = case.begin("failed", "delete", rides(30, ("r01", "r11")), process=2)
    case.stage("failed")
    case.end_process(2)
    case.snapshot()
    case.service("rollback", instant=failed.requested)
    case.state()


@writing(
    "recovery/failed_first_of_a_bucket",
    shapes(versions=(6, 9), configs={**_SHARED, **BUCKETS}),
    "RB-001 RB-006 OW-022 OW-023",
    "new-bucket-group-each-time",
)
def failed_first_of_a_bucket(case: WritingCase) -> None:
    """A bucket that only a failed write has opened is opened by the next one, and has one file group.

    Given a writer that died after it had staged the first rides of a city and another version of a known one.
    When a writer brings rides of that city, the failed write is rolled back, and they are updated.
    Then they are there once, in one file group a bucket, and what the failed write brought is not.
    """
    case.create()
    case.write("bulk_insert", rides(10, ("r01", "r02", "r11")))
    failed = case.begin("failed", "upsert", rides(30, ("a@bergen", "b@bergen", "r01"), rider="failed"), process=2)
    case.stage("failed")
    case.end_process(2)
    case.write("upsert", rides(20, ("a@bergen", "c@bergen")))
    case.snapshot()
    case.timeline()
    case.service("rollback", instant=failed.requested)
    case.write("upsert", rides(40, ("a@bergen", "b@bergen", "r01")))
    case.snapshot()
    case.timeline()
    if not case.is_mor:
        case.slices()
    case.sound()


@writing("recovery/failed_beside_live", _FEW, "RB-006 RB-009", "rollback-is-no-action")
def failed_beside_live(case: WritingCase) -> None:
    """A rollback touches nothing of other writes.

    Given a writer that died after its files, and another that has changed another city since.
    When the failed write is rolled back; then one more dies while a third process is at work on the other city, is
    rolled back, too, failed writes are looked for, and the third process commits.
    Then what the others wrote stands.
    """
    with_rides(case)
    failed = case.begin("failed", "upsert", rides(30, ("r01", "r03")), process=2)
    case.stage("failed")
    case.end_process(2)
    case.write("upsert", rides(20, ("r11", "r12")))
    case.service("rollback", instant=failed.requested)
    case.state()
    case.begin("slow", "upsert", [ride("r11", 30, rider="slow")], process=3)
    case.stage("slow")
    failed = case.begin("failed again", "upsert", rides(40, ("r01", "r03")), process=2)
    case.stage("failed again")
    case.end_process(2)
    case.service("rollback", instant=failed.requested)
    case.service("rollback")
    case.commit("slow")
    case.state()


@writing("recovery/live_writer", _FEW, "RB-002 RB-001", "live-writes-are-failed writers-without-heartbeat")
def live_writer(case: WritingCase) -> None:
    """A write that still beats is left alone.

    Given rides of two cities, and a writer of another process that has staged its files.
    When failed writes are looked for and rolled back, and the writer commits after that.
    Then its write completes.
    """
    with_rides(case)
    case.begin("slow", "upsert", [ride("r01", 20, rider="slow")], process=2)
    case.stage("slow")
    case.service("rollback")
    case.timeline()
    case.commit("slow")
    case.state()


@writing("recovery/completed_write", _FEW, "RB-005", "completed-writes-are-rolled-back")
def completed_write(case: WritingCase) -> None:
    """Only what has not completed is rolled back.

    Given rides of two cities that have been changed.
    When a rollback of the change, and of an instant that nobody knows.
    Then both are refused, and the table is as it was.
    """
    with_rides(case)
    changed = case.write("upsert", [ride("r01", 20)])
    case.service("rollback", instant=changed.requested, reject="CONFIG_INVALID")
    case.service("rollback", instant="20200101000000000", reject="INSTANT_NOT_FOUND")
    case.state()


@writing("recovery/two_failed_writers", _FEW, "RB-001 RB-003", "rollback-is-no-action")
def two_failed_writers(case: WritingCase) -> None:
    """Each failed write has a rollback of its own.

    Given two writers of one process that died after they had changed different cities.
    When both writes are rolled back, the newer one first.
    Then the table is as it was, with two rollbacks on its timeline.
    """
    with_rides(case)
    older = case.begin("older", "upsert", [ride("r01", 30)], process=2)
    case.stage("older")
    newer = case.begin("newer", "upsert", [ride("r11", 30)], process=2)
    case.stage("newer")
    case.end_process(2)
    case.service("rollback", instant=newer.requested)
    case.snapshot()
    case.service("rollback", instant=older.requested)
    case.state()


@writing(
    "recovery/pending_rollback_of_a_release",
    shapes(versions=(9,), types=("COPY_ON_WRITE",)),
    "RB-001",
    "rollback-is-no-action",
    begins_with="v9/apache_cow_failed_write",
)
def failed_write_of_a_release(case: WritingCase) -> None:
    """A write that a release left unfinished is rolled back.

    Given a table of release 1.1.1 with a write that never completed.
    When failed writes are rolled back.
    Then it is gone, and the rows are what they were.
    """
    case.snapshot()
    case.service("rollback", {"hoodie.clean.failed.writes.policy": "EAGER"})
    case.snapshot()
    case.timeline()
