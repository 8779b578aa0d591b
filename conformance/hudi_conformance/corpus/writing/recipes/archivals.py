"""Archivals: which actions leave the active timeline, which stay, and what the table is afterwards."""

from typing import Final

from hudi_conformance.corpus.golden.rides import fleet, ride, rides
from hudi_conformance.corpus.writing.recipes.cleanings import VERSIONS
from hudi_conformance.corpus.writing.recipes.clusterings import DUE as CLUSTERING_DUE
from hudi_conformance.corpus.writing.recipes.compactions import DUE as COMPACTION_DUE
from hudi_conformance.corpus.writing.recipes.single_writes import BUCKETS
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import COW, MOR, OPTIMISTIC, SHARED_LOCK, shapes
from hudi_conformance.corpus.writing.steps import Done, WritingCase

KEEPS: Final = {
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.clean.commits.retained": "1",
    "hoodie.compact.inline.max.delta.commits": "1",
}
"""The last of these keeps no more deltacommits than a compaction needs that is due after one."""
COUNTING_VERSIONS: Final = {**KEEPS, **VERSIONS}
"""With these the cleaner retains no moment, so that it keeps nothing from being archived."""
MERGING: Final = {
    **KEEPS,
    "hoodie.keep.min.commits": "1",
    "hoodie.keep.max.commits": "2",
    "hoodie.timeline.compaction.batch.size": "2",
}
REWRITTEN: Final = shapes(types=(COW,))


def rewritten(case: WritingCase, commits: int = 5) -> tuple[Done, ...]:
    """An insert, then updates of one ride."""
    case.create()
    first = case.write("insert", fleet(10))
    return first, *(case.write("upsert", rides(10 * place, ("r01",))) for place in range(2, commits + 1))


def query_everything(case: WritingCase) -> None:
    """Both timelines and the rows."""
    case.timeline()
    case.timeline(include_history=True)
    case.snapshot()
    case.slices()


@writing("archival/oldest_leave", shapes(), "AR-001 AR-004 AR-011", "history-not-listed")
def oldest_leave(case: WritingCase) -> None:
    """The oldest writes move to the history, and the table is the same.

    Given five writes.
    When archival keeps two of them.
    Then the active timeline has the last two, the whole timeline all five, and the rows and slices are what they were.
    """
    rewritten(case)
    case.service("archive", KEEPS)
    query_everything(case)


@writing(
    "archival/old_cleans_v6",
    shapes((6,), (MOR,)),
    "AR-001 TL-005 HS-008",
    "cleans-hide-writes",
    begins_with="v6/mor_several_archived_logs",
)
def old_cleans(case: WritingCase) -> None:
    """A write stays on the timeline whose instant a clean in the history has.

    Given a history with cleans that have the instants of writes, one of them active, as releases before 0.9 left it.
    When archival finds nothing to move, and an update and another archival follow.
    Then both are listed, and the rows are what they were.
    """
    case.service("archive", KEEPS)
    query_everything(case)
    for ts in (50, 60):
        case.write("upsert", rides(ts, ("r01", "r12")))
    case.service("archive", KEEPS)
    query_everything(case)


def clean_beside_a_write(case: WritingCase) -> None:
    """A write counts that has left the timeline while a clean of its instant stays there.

    Given four commits and a clean with the instant of the last, as releases before 0.9 left it.
    When two updates elsewhere follow and archival moves the four; then a restore.
    Then the rows of the last of the four are what they were, each time.
    """
    for ts in (50, 60):
        case.write("upsert", rides(ts, ("r12",)))
    case.service("archive", KEEPS)
    query_everything(case)
    case.write("upsert", rides(70, ("r12",)))
    kept = case.service("savepoint")
    case.write("upsert", rides(80, ("r02", "r12")))
    case.service("restore", to=kept.requested)
    case.state()


for _version in (6, 9):
    writing(
        f"archival/clean_beside_a_write_v{_version}",
        shapes((_version,), (COW,)),
        "AR-001 TL-005 RD-001",
        "cleans-hide-writes",
        begins_with=f"v{_version}/cow_clean_of_a_write",
    )(clean_beside_a_write)


@writing("archival/again_and_again", REWRITTEN, "AR-002 AR-001 AR-010", "history-not-listed")
def again_and_again(case: WritingCase) -> None:
    """Each action is in the whole timeline once, however often archival runs.

    Given five writes and an archival.
    When archival runs again at once, and after two more writes once more.
    Then each write is listed once.
    """
    rewritten(case)
    case.service("archive", KEEPS)
    case.service("archive", KEEPS)
    case.write("upsert", rides(70, ("r11",)))
    case.write("upsert", rides(80, ("r11",)))
    case.service("archive", KEEPS)
    query_everything(case)
    if case.shape.version >= 8:
        case.shows(kills="manifest-names-the-new-file-only")


@writing("archival/cleans_go_along", REWRITTEN, "AR-004", "archival-leaves-cleans")
def cleans_go_along(case: WritingCase) -> None:
    """Cleans that are older than the last write that leaves go with it; a savepoint stays.

    Given cleans between five writes.
    When archival keeps two writes.
    Then the older cleans are in the history, the younger on the active timeline.
    """
    case.create()
    case.write("insert", fleet(10))
    for ts in (20, 30, 40, 50):
        case.write("upsert", rides(ts, ("r01",)))
        case.run("clean", VERSIONS)
    case.service("archive", COUNTING_VERSIONS)
    query_everything(case)


@writing("archival/hours", REWRITTEN, "AR-003 CN-003", "hours-count-from-the-last-write")
def hours(case: WritingCase) -> None:
    """What a cleaner by hours retains stays on the active timeline, however many writes that is.

    Given a write of days ago, and five of the last hours.
    When archival is to keep two, beside a cleaner that keeps a day, and then beside one that keeps an hour.
    Then at first the writes of the day stay and one before them, afterwards those of the last hour and one before.
    """
    case.create()
    case.write("insert", fleet(10), now="20300101000000000")
    for hour, ts in enumerate((20, 30, 40, 50, 60)):
        case.write("upsert", rides(ts, ("r01",)), now=f"203001050{hour}0000000")
    for retained in ("24", "1"):
        policy = {"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS", "hoodie.clean.hours.retained": retained}
        case.service("archive", {**KEEPS, **policy}, now="20300105041000000")
        query_everything(case)


@writing("archival/pending_write", shapes(configs={**OPTIMISTIC, **SHARED_LOCK}), "AR-005", "archived-past-pending")
def pending_write(case: WritingCase) -> None:
    """Nothing leaves that is younger than a pending write, nor the last one before it.

    Given three writes, a writer that has made its files, and three more writes.
    When archival is to keep two, the pending write completes, and archival is to keep two again.
    Then first the third write and all since stay; at last the slow write has left, too, and a range from the last of
    the three has it where times of completion count.
    """
    rewritten(case, 3)
    case.begin("slow", "upsert", rides(50, ("r11",)))
    case.stage("slow")
    *_, last = (case.write("upsert", rides(ts, ("r01",)), process=2) for ts in (60, 70, 80))
    case.service("archive", COUNTING_VERSIONS)
    query_everything(case)
    case.commit("slow")
    query_everything(case)
    case.service("archive", COUNTING_VERSIONS)
    case.timeline()
    case.incremental(last)


@writing("archival/pending_compaction", shapes(types=(MOR,)), "AR-005", "archived-past-pending")
def pending_compaction(case: WritingCase) -> None:
    """A planned compaction keeps what comes after it.

    Given two writes, a compaction that waits, and three more writes.
    When archival is to keep two.
    Then the second write and all since stay, and the compaction is carried out.
    """
    rewritten(case, 2)
    plan = case.schedule("compaction", COMPACTION_DUE)
    for ts in (60, 70, 80):
        case.write("upsert", rides(ts, ("r01",)))
    case.service("archive", COUNTING_VERSIONS)
    query_everything(case)
    case.execute(plan, COMPACTION_DUE)
    query_everything(case)


@writing("archival/due_compaction", shapes(types=(MOR,)), "AR-012 AR-003 CP-008", "archived-before-a-compaction-is-due")
def due_compaction(case: WritingCase) -> None:
    """As many deltacommits stay as make a compaction due, and the last compaction where there are fewer since.

    Given five deltacommits.
    When archival keeps two, beside compactions that are due after four, or after so many seconds; then a compaction of
    them, three more deltacommits, archival again, and once beside compactions that are always due.
    Then four stay, then two where no compaction counts them; afterwards the compaction stays and those since, and at
    last two of them.
    """
    rewritten(case)
    four = {**COUNTING_VERSIONS, "hoodie.compact.inline.max.delta.commits": "4"}
    case.service("archive", four)
    query_everything(case)
    case.service("archive", {**four, "hoodie.compact.inline.trigger.strategy": "TIME_ELAPSED"})
    case.timeline()
    case.run("compaction", COMPACTION_DUE)
    for ts in (60, 70, 80):
        case.write("upsert", rides(ts, ("r01",)))
    case.service("archive", four)
    query_everything(case)
    case.service("archive", {**four, "hoodie.compact.inline.max.delta.commits": "0"})
    case.timeline()


@writing("archival/pending_clustering", REWRITTEN, "AR-005", "archived-past-pending")
def pending_clustering(case: WritingCase) -> None:
    """Archival does not go past a clustering that waits.

    Given an insert, and a clustering of it that is planned.
    When five writes of other rides come, and archival keeps two.
    Then what was requested after the plan stays, and the clustering is carried out.
    """
    case.create()
    case.write("insert", fleet(10))
    plan = case.schedule("clustering", CLUSTERING_DUE)
    for ts in (20, 30, 40, 50, 60):
        case.write("insert", rides(ts, (f"new{ts}@bergen",)))
    case.service("archive", COUNTING_VERSIONS)
    query_everything(case)
    case.execute(plan, CLUSTERING_DUE)
    query_everything(case)


@writing("archival/savepoint", REWRITTEN, "AR-006 AR-004", "archived-beyond-savepoints")
def savepoint(case: WritingCase) -> None:
    """Nothing leaves that a savepoint keeps, nor what came after it, by default.

    Given five writes, the second of them saved.
    When archival is to keep two, and may then go beyond savepoints.
    Then at first the first write alone leaves, and later all but the saved one and the last two.
    """
    _, second, *_ = rewritten(case)
    case.service("savepoint", instant=second.requested)
    case.service("archive", KEEPS)
    query_everything(case)
    case.service("archive", {**KEEPS, "hoodie.archive.beyond.savepoint": "true"})
    query_everything(case)


@writing(
    "archival/gap_behind_a_savepoint",
    REWRITTEN,
    "AR-006 TL-018 HS-001",
    "what-a-gap-took-is-uncommitted before-first-active-uncommitted",
)
def gap_behind_a_savepoint(case: WritingCase) -> None:
    """What was written into the gap behind a saved write is there after its write was archived.

    Given a saved insert, an update of each city and an insert into a third one, and three updates of one ride.
    When archival, allowed to go beyond the savepoint, keeps two writes, and another update of a city follows.
    Then the rides are those of before, though the writes of their files are younger than the saved one.
    """
    case.create()
    first = case.write("insert", fleet(10))
    case.service("savepoint", instant=first.requested)
    case.write("upsert", rides(20, ("r02", "r11")))
    case.write("insert", rides(20, ("new@bergen",)))
    for ts in (30, 40, 50):
        case.write("upsert", rides(ts, ("r01",)))
    case.service("archive", {**KEEPS, "hoodie.archive.beyond.savepoint": "true"})
    query_everything(case)
    case.write("upsert", rides(60, ("r12", "new@bergen")))
    query_everything(case)


@writing("archival/replaced_files", REWRITTEN, "AR-007 CN-007", "archived-before-replaced-files-are-gone")
def replaced_files(case: WritingCase) -> None:
    """A replacecommit stays until the files that it replaced are cleaned.

    Given an insert, a city overwritten, and four more writes.
    When archival is to keep two, and again after a clean; the same by versions, with the city overwritten once more.
    Then the replacecommit and all since stay at first, and leave later; the replaced rides never come back.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("insert_overwrite", rides(20, ("r11",)))
    for ts in (30, 40, 50, 60):
        case.write("upsert", rides(ts, ("r01",)))
    case.service("archive", KEEPS)
    query_everything(case)
    case.run("clean", LAST_COMMIT)
    case.service("archive", KEEPS)
    query_everything(case)
    case.write("insert_overwrite", rides(70, ("r11",)))
    for ts in (80, 90, 100):
        case.write("upsert", rides(ts, ("r01",)))
    case.run("clean", {**VERSIONS, "hoodie.table.services.incremental.enabled": "false"})
    case.service("archive", COUNTING_VERSIONS)
    query_everything(case)


@writing("archival/replacement_of_nothing", REWRITTEN, "AR-007 AR-003", "archival-keeps-one-more")
def replacement_of_nothing(case: WritingCase) -> None:
    """A replacecommit that replaced nothing leaves with the writes around it.

    Given an insert, an overwrite of a city that had no rides, four more writes, and a clean.
    When archival is to keep two.
    Then the replacecommit has left with the others, and its rides stand.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("insert_overwrite", [ride("new@bergen", 20)])
    for ts in (30, 40, 50, 60):
        case.write("upsert", rides(ts, ("r01",)))
    case.run("clean", LAST_COMMIT)
    case.service("archive", KEEPS)
    query_everything(case)


@writing("archival/uncleaned_replacement_of_nothing", REWRITTEN, "AR-007 AR-003", "archival-keeps-one-more")
def uncleaned_replacement_of_nothing(case: WritingCase) -> None:
    """A replacecommit that replaced nothing leaves before any clean; one whose replaced files are stored stays.

    Given an insert, an overwrite of a city that had no rides, four more writes, and an overwrite of that city.
    When archival is to keep two, and again after three more writes.
    Then the first overwrite has left, the second stays with all since, and the rides stand.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("insert_overwrite", [ride("new@bergen", 20)])
    for ts in (30, 40, 50, 60):
        case.write("upsert", rides(ts, ("r01",)))
    case.write("insert_overwrite", [ride("newer@bergen", 70)])
    case.service("archive", KEEPS)
    query_everything(case)
    for ts in (80, 90, 100):
        case.write("upsert", rides(ts, ("r01",)))
    case.service("archive", KEEPS)
    query_everything(case)


@writing(
    "archival/replaced_files_of_a_savepoint",
    REWRITTEN,
    "AR-007 AR-006 SR-003",
    "archived-before-replaced-files-are-gone",
)
def replaced_files_of_a_savepoint(case: WritingCase) -> None:
    """A replacecommit stays until the files that it replaced are cleaned, though a savepoint kept them once.

    Given a saved insert, a city overwritten, four more writes, and a clean that left the saved files.
    When the savepoint is deleted, archival is to keep two, and again after another write and a clean of everything.
    Then the replacecommit and all since stay at first, and leave later; the replaced rides never come back.
    """
    case.create()
    first = case.write("insert", fleet(10))
    case.service("savepoint", instant=first.requested)
    case.write("insert_overwrite", rides(20, ("r11",)))
    for ts in (30, 40, 50, 60):
        case.write("upsert", rides(ts, ("r01",)))
    case.run("clean", LAST_COMMIT)
    case.service("delete_savepoint", instant=first.requested)
    case.service("archive", KEEPS)
    query_everything(case)
    case.write("upsert", rides(70, ("r01",)))
    case.run("clean", LAST_COMMIT)
    case.service("archive", KEEPS)
    query_everything(case)


LAST_COMMIT: Final = {"hoodie.clean.commits.retained": "1", "hoodie.table.services.incremental.enabled": "false"}


_SHARED: Final = {**OPTIMISTIC, **SHARED_LOCK}
_BUCKETED: Final = shapes((6, 9), (MOR,), configs={**_SHARED, **BUCKETS}, label="buckets")


@writing("archival/rolled_back", (*shapes(configs=_SHARED), *_BUCKETED), "AR-004 TL-017", "archival-leaves-cleans")
def rolled_back(case: WritingCase) -> None:
    """A rollback leaves with the writes around it, and what it undid does not come back.

    Given an insert, a write of a known and two new rides that died and was rolled back, and four more writes.
    When archival keeps two.
    Then the rollback is in the history, and the rides are those of the live writes.
    """
    case.create()
    case.write("insert", fleet(10))
    failed = case.begin("failed", "upsert", rides(90, ("r11", "z@lima", "y@lima")), process=2)
    case.stage("failed")
    case.end_process(2)
    case.service("rollback", instant=failed.requested)
    for ts in (30, 40, 50, 60):
        case.write("upsert", rides(ts, ("r01",)))
    case.service("archive", KEEPS)
    query_everything(case)


@writing(
    "archival/levels",
    shapes((8, 9), (COW,)),
    "HS-009 AR-002",
    "merging-loses-a-row",
)
def levels(case: WritingCase) -> None:
    """Full levels of the history are merged, and no action is lost.

    Given an archival after every write that merges two files of a level.
    When eight writes have come.
    Then every write is listed once.
    """
    rewritten(case, 3)
    for ts in (40, 50, 60, 70, 80):
        case.write("upsert", rides(ts, ("r01",)))
        case.service("archive", MERGING)
    query_everything(case)


@writing(
    "archival/leftover_of_a_rollback",
    shapes((9,), (COW,)),
    "AR-009 AR-004",
    "rollback-archived-with-leftovers",
    begins_with="v9/cow_rolled_back_leftover",
)
def leftover_of_a_rollback(case: WritingCase) -> None:
    """A rollback stays as long as a file of the write that it undid is there.

    Given a write that was rolled back and left a file, and four writes since.
    When archival is to keep two writes.
    Then writes leave and the rollback stays, so that the file does not come to count.
    """
    case.service("archive", COUNTING_VERSIONS)
    query_everything(case)


@writing(
    "archival/metadata_table_v6",
    shapes((6,), (MOR,)),
    "AR-008",
    "archived-before-the-metadata-table-compacts",
    begins_with="v6/apache_mor_keys",
)
@writing(
    "archival/metadata_table_v8",
    shapes((8,), (MOR,)),
    "AR-008",
    "archived-before-the-metadata-table-compacts",
    begins_with="v8/apache_mor_statistics",
)
@writing(
    "archival/metadata_table",
    shapes((9,), (MOR,)),
    "AR-008",
    "archived-before-the-metadata-table-compacts",
    begins_with="v9/apache_mor_metadata_table",
)
def metadata_table(case: WritingCase) -> None:
    """Nothing leaves that the metadata table has in its logs only.

    Given five writes of Apache Hudi with a metadata table that has never been compacted.
    When archival is to keep two of them.
    Then all stay.
    """
    case.service("archive", {**COUNTING_VERSIONS, "hoodie.metadata.enable": "true"})
    query_everything(case)
