"""Rollbacks: which writes have failed, what is taken back of them, and what can be rolled back."""

from typing import Final

from hudi_model.files import Field, Schema

from hudi_conformance.corpus.golden.rides import RIDES, fleet, ride, rides
from hudi_conformance.corpus.writing.recipes.archivals import KEEPS, query_everything
from hudi_conformance.corpus.writing.recipes.compactions import DUE as COMPACTION_DUE
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import ALONE, AND_DRAFT, MOR, OPTIMISTIC, SHARED_LOCK, shapes
from hudi_conformance.corpus.writing.steps import Done, WritingCase

SHARED: Final = shapes(configs={**OPTIMISTIC, **SHARED_LOCK})
AND_DRAFTS: Final = shapes(AND_DRAFT, configs={**OPTIMISTIC, **SHARED_LOCK})
IMPATIENT: Final = {"hoodie.client.heartbeat.interval_in_ms": "1"}
"""After some milliseconds without a beat a write is taken for failed."""
EAGER: Final = {**ALONE, "hoodie.clean.failed.writes.policy": "EAGER"}
NEVER: Final = {"hoodie.clean.failed.writes.policy": "NEVER"}
LISTING: Final = {"hoodie.rollback.using.markers": "false"}


def abandoned(case: WritingCase, txn: str, *keys: str, process: int = 2, deletes: bool = False) -> Done:
    """A writer that has made its files, and dies."""
    operation, ts = ("delete", None) if deletes else ("upsert", 50)
    started = case.begin(txn, operation, rides(ts, keys), process=process)
    case.stage(txn)
    case.end_process(process)
    return started


_BY_MODE: Final = {**ALONE, **SHARED_LOCK, "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}
"""Several writers, of whose failed writes nothing is said."""


@writing(
    "rollback/failed_writers",
    (*AND_DRAFTS, *shapes((6, 9), configs=_BY_MODE, label="by_mode")),
    "RB-001 RB-002 RB-003",
    "expired-writes-are-kept",
)
def failed_writers(case: WritingCase) -> None:
    """Writes whose heartbeats have stopped are rolled back.

    Given two writers that made their files and died; or two of several by their mode alone, and an insert since.
    When failed writes are rolled back.
    Then both writes are gone, each by a rollback of its own, and their rides do not come; the insert left them alone.
    """
    case.create()
    case.write("insert", fleet(10))
    abandoned(case, "older", "r01")
    abandoned(case, "younger", "r11", process=3)
    if case.shape.label:
        case.write("insert", rides(30, ("r41@bergen",)))
        case.timeline()
    case.service("rollback", IMPATIENT)
    case.state()


@writing("rollback/live_heartbeat", SHARED, "RB-002 MK-005 RB-001", "live-writes-are-failed writers-without-heartbeat")
def live_heartbeat(case: WritingCase) -> None:
    """A write with a live heartbeat is left alone.

    Given a writer that has made its files and is at work still.
    When failed writes are rolled back.
    Then there is none, and the write commits.
    """
    case.create()
    case.write("insert", fleet(10))
    case.begin("one", "upsert", rides(50, ("r01",)))
    case.stage("one")
    case.service("rollback")
    case.timeline()
    case.commit("one")
    case.state()


@writing("rollback/never", SHARED, "RB-001 RD-002", "never-means-eager")
def never(case: WritingCase) -> None:
    """Where nobody is to roll failed writes back nobody does, unless one is named.

    Given a writer that made its files and died before anything was completed, and an insert since.
    When failed writes are rolled back under NEVER, and the write is then named.
    Then the first does nothing, and nothing of the write is read; the second takes the write.
    """
    case.create()
    failed = abandoned(case, "one", "r01")
    case.write("insert", fleet(10), configs=NEVER)
    case.service("rollback", {**IMPATIENT, **NEVER})
    case.state()
    case.service("rollback", {**IMPATIENT, **NEVER}, instant=failed.requested)
    case.state()


@writing("rollback/named", SHARED, "RB-003 RB-006 RB-009", "rollback-is-no-action rollback-takes-older-files")
def named(case: WritingCase) -> None:
    """A rollback is an action; the write's files and entries go, those of other writes stay.

    Given a writer that made its files by an update and died, and an update of other rides since.
    When its write is rolled back, and a writer then updates the same ride.
    Then the timeline has the rollback and not the write, and both updates stand.
    """
    case.create()
    case.write("insert", fleet(10))
    failed = abandoned(case, "one", "r01")
    case.write("upsert", rides(30, ("r11",)))
    case.service("rollback", instant=failed.requested)
    case.state()
    case.write("upsert", rides(40, ("r01",)))
    case.state()


@writing("rollback/by_listing", SHARED, "RB-006 RB-003", "rollback-takes-older-files")
def by_listing(case: WritingCase) -> None:
    """Where markers are not used, what bears the write's instant is found by listing.

    Given a writer that made its files, one of them in a new partition, and died.
    When its write is rolled back without markers, others then update the same ride, and the oldest are archived.
    Then the table is as it would be with markers: the rollback is archived too, since no file of the write is left.
    """
    case.create()
    case.write("insert", fleet(10))
    failed = abandoned(case, "one", "r01", "a@rome")
    case.service("rollback", LISTING, instant=failed.requested)
    case.state()
    for ts in (30, 40, 50):
        case.write("upsert", rides(ts, ("r01", "r02")))
    case.service("archive", KEEPS)
    query_everything(case)


@writing("rollback/completed", shapes(), "RB-005", "completed-writes-are-rolled-back")
def completed(case: WritingCase) -> None:
    """What has completed, or is not there, is not rolled back.

    Given two completed writes.
    When the newest is rolled back, and an instant that nobody wrote is.
    Then both are refused, and the table stays as it is.
    """
    case.create()
    case.write("insert", fleet(10))
    last = case.write("upsert", rides(20, ("r01",)))
    case.service("rollback", instant=last.requested, reject="CONFIG_INVALID")
    case.service("rollback", instant="20200101000000000", reject="INSTANT_NOT_FOUND")
    case.state()


@writing("rollback/slow_writer", SHARED, "TL-023 OW-008", "completes-after-its-rollback")
def slow_writer(case: WritingCase) -> None:
    """A write that was taken back meanwhile does not complete.

    Given a saved insert, and a writer that has made its files and pauses.
    When another process restores the table to the savepoint, and the writer then wakes and commits.
    Then the commit is refused, and nothing of the write is left.
    """
    case.create()
    saved = case.write("insert", fleet(10))
    case.service("savepoint", instant=saved.requested)
    case.begin("one", "upsert", rides(50, ("r01",)))
    case.stage("one")
    case.service("restore", instant=saved.requested)
    case.commit("one", reject="WRITE_CONFLICT")
    case.state()


@writing("rollback/not_staged", SHARED, "RB-003 RB-009 SA-003", "rollback-is-no-action")
def not_staged(case: WritingCase) -> None:
    """A write that died when it was only requested is rolled back as any other.

    Given a writer that died after its first phase.
    When its write is rolled back.
    Then the timeline has the rollback and not the write.
    """
    case.create()
    case.write("insert", fleet(10))
    failed = case.begin("one", "insert", [ride("r31", 10)], process=2)
    case.end_process(2)
    case.service("rollback", instant=failed.requested)
    case.state()


@writing(
    "rollback/several_logs_deep",
    shapes(types=(MOR,), configs={**OPTIMISTIC, **SHARED_LOCK}),
    "RB-006 RB-003",
    "rollback-takes-older-files",
)
def several_logs_deep(case: WritingCase) -> None:
    """A write that was rolled back between others leaves their logs alone.

    Given an update, a writer that made its logs and died, and an update of the same slice since.
    When the failed write is rolled back, and a later update comes; the same with a second failed write to the slice.
    Then of each ride the newest version of the live writes stands.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("upsert", rides(20, ("r01", "r02")))
    failed = abandoned(case, "one", "r01")
    case.write("upsert", rides(30, ("r02", "r03")))
    case.service("rollback", instant=failed.requested)
    case.state()
    case.write("upsert", rides(40, ("r03",)))
    case.state()
    again = abandoned(case, "two", "r01", "r02", process=3)
    case.service("rollback", instant=again.requested)
    case.write("upsert", rides(60, ("r03",)))
    case.state()


@writing(
    "rollback/beside_a_compaction",
    shapes(types=(MOR,), configs={**OPTIMISTIC, **SHARED_LOCK}),
    "RB-006 RB-003 CP-005 RD-008",
    "rollback-takes-older-files",
)
def beside_a_compaction(case: WritingCase) -> None:
    """A failed write to slices that a compaction opened is taken back before or after the compaction completes.

    Given a compaction that waits, an update since, and two writers that made their logs and died.
    When one is rolled back, the compaction is carried out, the other is rolled back, and an update follows.
    Then of each ride the newest version of the live writes stands, merged or compacted.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("upsert", rides(20, ("r01", "r02", "r11")))
    plan = case.schedule("compaction", COMPACTION_DUE)
    failed = abandoned(case, "one", "r01")
    case.write("upsert", rides(30, ("r02", "r03", "r12")))
    other = abandoned(case, "two", "r11", process=3)
    case.service("rollback", instant=failed.requested)
    case.state()
    case.execute(plan, COMPACTION_DUE)
    case.state()
    case.service("rollback", instant=other.requested)
    case.state()
    case.write("upsert", rides(40, ("r03", "r11")))
    case.state()
    case.optimized()


@writing("rollback/lone_writer", shapes(configs=EAGER), "RB-001 MK-005", "eager-means-never")
def lone_writer(case: WritingCase) -> None:
    """A lone writer takes every pending write for failed.

    Given a writer that made its files and died; it had no heartbeat.
    When failed writes are rolled back.
    Then its write is, whenever it beat last.
    """
    case.create()
    case.write("insert", fleet(10))
    abandoned(case, "one", "r01")
    case.service("rollback")
    case.state()


@writing(
    "rollback/native_logs",
    shapes((10,), (MOR,), configs={**OPTIMISTIC, **SHARED_LOCK}),
    "NL-012 RB-006 RB-007",
    "rollback-leaves-native-deletes",
)
def native_logs(case: WritingCase) -> None:
    """The native logs of a failed write are gone with it.

    Given a writer that logged a delete and died, and a rollback of its write.
    When later writes are archived past it, from where on whatever lies there would count.
    Then the ride that it would have deleted is there.
    """
    case.create()
    case.write("insert", fleet(10))
    abandoned(case, "gone", "r11", deletes=True)
    case.service("rollback", IMPATIENT)
    for number in range(5):
        case.write("upsert", [ride("r01", 20 + number)])
    case.service("archive", KEEPS)
    case.state()


@writing(
    "rollback/native_logs_of_an_append",
    shapes((10,), (MOR,), configs={**OPTIMISTIC, **SHARED_LOCK}),
    "NL-013 NL-005 RB-006",
    "native-deletes-without-marker",
)
def native_logs_of_an_append(case: WritingCase) -> None:
    """A rollback by markers finds the log of deletes as well as that of rows.

    Given a writer that logged a ride and the delete of another to one file group and died, and a rollback of its write.
    When later writes are archived past it, from where on whatever lies there would count.
    Then both rides are as they were before.
    """
    case.schema = Schema((*RIDES.fields, Field("_hoodie_is_deleted", "boolean")))
    case.create()
    case.write("insert", fleet(10))
    case.begin("gone", "upsert", [ride("r01", 50), ride("r02", 50, _hoodie_is_deleted=True)], process=2)
    case.stage("gone")
    case.end_process(2)
    case.service("rollback", IMPATIENT)
    for number in range(5):
        case.write("upsert", [ride("r11", 20 + number)])
    case.service("archive", KEEPS)
    case.state()
