"""Non-blocking writers: all log to one file group at once, and readers and compaction merge what they wrote."""

from hudi_conformance.corpus.golden.rides import ride, rides
from hudi_conformance.corpus.writing.recipes.archivals import COUNTING_VERSIONS as KEEPS
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import COW, MOR, NON_BLOCKING, shapes
from hudi_conformance.corpus.writing.steps import WritingCase

_STREAMS = shapes(versions=(8, 9), types=(MOR,), configs=NON_BLOCKING)
_NOW = {"hoodie.compact.inline.max.delta.commits": "1"}
_CLUSTERS = {"hoodie.clustering.inline.max.commits": "1", "hoodie.clustering.async.max.commits": "1"}


def _streamed(case: WritingCase) -> None:
    case.create()
    case.write("upsert", rides(10, ("r01", "r02", "r11")))


@writing("streams/two_writers_of_a_row", _STREAMS, "SW-003 SW-005", "non-blocking-writers-check")
def two_writers_of_a_row(case: WritingCase) -> None:
    """Two writers change one ride, and both complete.

    Given rides in buckets.
    When two upserts that began together change one ride, and the one with the older ordering value completes last.
    Then both complete, and the greater ordering value stands.
    """
    _streamed(case)
    case.begin("one", "upsert", [ride("r01", 30, rider="newer")])
    case.begin("two", "upsert", [ride("r01", 20, rider="older")])
    case.stage("two")
    case.stage("one")
    case.commit("one")
    case.commit("two")
    case.state()
    case.shows(kills="event-time-ignores-ordering")


@writing("streams/one_bucket_opened_twice", _STREAMS, "SW-002 SW-003", "new-bucket-group-each-time")
def one_bucket_opened_twice(case: WritingCase) -> None:
    """Two writers that open a bucket at once log to one file group.

    Given a table without rows.
    When two upserts bring the same new ride.
    Then both log to the file group of its bucket, and the ride is there once.
    """
    case.create()
    case.begin("one", "upsert", [ride("r01", 20, rider="one")])
    case.begin("two", "upsert", [ride("r01", 30, rider="two")])
    case.stage("one")
    case.stage("two")
    case.commit("two")
    case.commit("one")
    case.state()


@writing("streams/deleted_and_opened_again", _STREAMS, "SW-002 OW-018", "replaced-buckets-are-opened-again")
def deleted_and_opened_again(case: WritingCase) -> None:
    """A bucket that was replaced is opened under another file id, which two writers choose alike.

    Given rides in buckets, of which one city was deleted.
    When two upserts that began together bring rides of that city, and another upsert follows.
    Then every ride is there once: both opened one file group for a bucket, and not the one that was replaced.
    """
    _streamed(case)
    for ts in (20, 40):
        case.write("delete_partition", partitions=["oslo"])
        case.begin("one", "upsert", rides(ts, ("r01", "r02", "駅-06"), rider="one"))
        case.begin("two", "upsert", rides(ts + 1, ("r01", "r02"), rider="two"))
        case.stage("one")
        case.stage("two")
        case.commit("two")
        case.commit("one")
        case.snapshot()
        case.slices()
    case.write("upsert", [ride("r01", 60)])
    case.state()
    case.shows(kills="new-bucket-group-each-time")


@writing("streams/three_writers", _STREAMS, "SW-003 SW-007", "non-blocking-writers-check every-log-is-of-its-slice")
def three_writers(case: WritingCase) -> None:
    """Logs of three writers lie side by side, each under the instant of its write.

    Given rides in buckets.
    When two upserts and a delete of one ride are under way at once, and complete in another order than they began.
    Then the slice has the logs of all three, and the delete, which knows no ordering, decides.
    """
    _streamed(case)
    case.begin("one", "upsert", [ride("r01", 20, rider="one")])
    case.begin("two", "delete", [ride("r01", 5)])
    case.begin("three", "upsert", [ride("r02", 30, rider="three")])
    for name in ("three", "one", "two"):
        case.stage(name)
    for name in ("one", "three", "two"):
        case.commit(name)
    case.state()
    case.incremental(None)


@writing("streams/compaction_beside_a_writer", _STREAMS, "SW-006 SW-003", "log-slice-by-requested-time")
def compaction_beside_a_writer(case: WritingCase) -> None:
    """A log that completes after a compaction was requested belongs to the slice that it opens.

    Given rides in buckets with logs.
    When a compaction is planned and carried out while an upsert is under way, and the upsert commits after that.
    Then its log lies on what the compaction made, though it was requested before.
    """
    _streamed(case)
    case.begin("one", "upsert", [ride("r01", 20, rider="one")])
    case.stage("one")
    plan = case.schedule("compaction", _NOW)
    case.execute(plan)
    case.snapshot()
    case.commit("one")
    case.state()
    case.optimized()


@writing("streams/archived_writer", _STREAMS, "RD-005 HS-001 HS-007 SW-006", "slices-forget-archived-completions")
def archived_writer(case: WritingCase) -> None:
    """A log keeps its slice when the write that brought it is archived.

    Given a log that was requested before a compaction and completed after it.
    When other rides are written, archival leaves two writes on the active timeline, and a clean one version of a file.
    Then the log lies on what the compaction made, as before, and is none of the files that go.
    """
    _streamed(case)
    case.begin("one", "upsert", [ride("r01", 20, rider="one")])
    case.stage("one")
    plan = case.schedule("compaction", _NOW)
    case.execute(plan)
    case.commit("one")
    for ts in (30, 40, 50, 60):
        case.write("upsert", rides(ts, ("r11",)))
    case.service("archive", KEEPS)
    case.timeline()
    case.state()
    case.optimized()
    case.run("clean", KEEPS)
    case.state()


@writing("streams/what_still_conflicts", _STREAMS, "SW-004", "streams-never-check")
def what_still_conflicts(case: WritingCase) -> None:
    """A deletion of partitions makes the optimistic checks among non-blocking writers, too.

    Given rides in buckets.
    When a deletion of a city is under way while an upsert of one of its rides completes.
    Then the deletion is refused.
    """
    _streamed(case)
    case.begin("delete", "delete_partition", partitions=["oslo"])
    case.stage("delete")
    case.write("upsert", [ride("r01", 20)])
    case.commit("delete", reject="WRITE_CONFLICT")
    case.state()


@writing("streams/overwrites_are_refused", _STREAMS, "SW-004", "non-blocking-overwrites")
def overwrites_are_refused(case: WritingCase) -> None:
    """Non-blocking writers overwrite nothing.

    Given rides in buckets.
    When an insert overwrite is requested.
    Then it is refused, and the table is as it was.
    """
    _streamed(case)
    case.write("insert_overwrite", rides(20, ("r01",)), reject="CONFIG_INVALID")
    case.state()


@writing(
    "streams/where_they_may_write",
    shapes(versions=(6, 9), types=(COW,), configs=NON_BLOCKING),
    "SW-001",
    "every-mode-is-known",
)
def where_they_may_write(case: WritingCase) -> None:
    """Non-blocking writers need a merge-on-read table.

    Given a copy-on-write table.
    When a non-blocking write is requested, and one by a single writer after it.
    Then the first is refused, and the second is not.
    """
    case.create()
    case.write("upsert", rides(10, ("r01",)), reject="CONFIG_INVALID")
    alone = {"hoodie.write.concurrency.mode": "SINGLE_WRITER"}
    case.write("upsert", rides(10, ("r01", "r11")), configs=alone)
    case.snapshot()


@writing(
    "streams/which_index_they_need",
    shapes(versions=(8, 9), types=(MOR,), configs=NON_BLOCKING),
    "SW-001",
    "every-mode-is-known",
)
def which_index_they_need(case: WritingCase) -> None:
    """Non-blocking writers need an index that gives a key the same file group in every writer.

    Given a merge-on-read table.
    When a non-blocking write with a simple index is requested, and one with buckets.
    Then the first is refused, and the second is not.
    """
    case.create()
    case.write("upsert", rides(10, ("r01",)), configs={"hoodie.index.type": "SIMPLE"}, reject="CONFIG_INVALID")
    case.write("upsert", rides(10, ("r01", "r11")))
    case.snapshot()
    case.slices()


@writing(
    "streams/pending_clustering",
    shapes(versions=(9,), types=(MOR,), configs=NON_BLOCKING),
    "SW-004 OW-011",
    "pending-clustering-not-seen",
)
def pending_clustering(case: WritingCase) -> None:
    """Updates of file groups that a pending clustering holds are refused in every mode.

    Given rides in base files, and a clustering of them that is planned.
    When a non-blocking upsert changes one of them.
    Then it is refused.
    """
    _streamed(case)
    case.run("compaction", _NOW)
    case.schedule("clustering", _CLUSTERS)
    case.write("upsert", [ride("r01", 20)], reject="WRITE_CONFLICT")
    case.snapshot()
    case.timeline()
