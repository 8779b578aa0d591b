"""Restores, clusterings, overwrites, cleans and savepoints that died half way are finished or taken back by others."""

from collections.abc import Callable
from typing import Final

from hudi_conformance.corpus.golden.recipes.interrupted_services import CLEAN, DELETION, INDEXING, OVERWRITE, SAVED
from hudi_conformance.corpus.golden.rides import ride, rides, second
from hudi_conformance.corpus.writing.recipes.archivals import KEEPS
from hudi_conformance.corpus.writing.recipes.cleanings import VERSIONS
from hudi_conformance.corpus.writing.recipes.indexings import LISTED
from hudi_conformance.corpus.writing.recipes.indexings import SHARED as SHARED_LISTED
from hudi_conformance.corpus.writing.registry import RecipeFunction, writing
from hudi_conformance.corpus.writing.shapes import ALONE, COW, MOR, OPTIMISTIC, SHARED_LOCK, shapes
from hudi_conformance.corpus.writing.shapes import VERSIONS as TABLE_VERSIONS
from hudi_conformance.corpus.writing.steps import WritingCase

SHARED: Final = {**OPTIMISTIC, **SHARED_LOCK}
_EAGER: Final = {**ALONE, "hoodie.clean.failed.writes.policy": "EAGER"}


def of_each_version(  # noqa: PLR0917 - as `writing` takes them
    name: str,
    table: str,
    clauses: str,
    kills: str,
    configs: dict[str, str] = SHARED,
    versions: tuple[int, ...] = TABLE_VERSIONS,
) -> Callable[[RecipeFunction], RecipeFunction]:
    """A case in every table version, which begins with the golden table of that version."""
    kind = MOR if table.startswith("mor") else COW

    def register(state: RecipeFunction) -> RecipeFunction:
        for version in versions:
            named = f"interrupted/{name}_v{version}"
            writing(named, shapes((version,), (kind,), configs), clauses, kills, begins_with=f"v{version}/{table}")(
                state
            )
        return state

    return register


def _sound(case: WritingCase) -> None:
    """An update, and all that it can have changed; nothing is wrong with the table."""
    case.write("upsert", rides(50, ("r01", "r12")))
    case.state()
    case.query("check_table")


@of_each_version("requested_restore", "cow_requested_restore", "SR-013 SR-006 SR-009", "restore-started-anew")
def requested_restore(case: WritingCase) -> None:
    """A restore that had its plan and died is carried out under its own instant.

    Given a saved insert, three updates, and a restore to the savepoint that has undone nothing.
    When another process restores the table to the savepoint, and then changes rides.
    Then there is one restore, that of the first attempt; the rows are those of the insert, and the update finds them.
    """
    case.service("restore", instant=SAVED)
    case.state()
    _sound(case)


@of_each_version(
    "restore",
    "mor_interrupted_restore",
    "SR-013 SR-006 SR-009",
    "restore-started-anew retried-restore-skips-what-began",
)
def restore(case: WritingCase) -> None:
    """A restore that died between two files goes on with what is left of its plan.

    Given a restore that has undone one of three updates, and of the next the completed entry and one of two logs.
    When another process restores the table to the savepoint, and then changes rides.
    Then one restore has completed; no file, no entry and no rollback of the three updates is left.
    """
    case.service("restore", instant=SAVED)
    case.state()
    case.service("rollback")
    _sound(case)


@of_each_version("restore_after_a_restore", "mor_interrupted_restore", "SR-013 SR-004", "restore-started-anew")
def restore_after_a_restore(case: WritingCase) -> None:
    """A table whose interrupted restore was finished is restored again like any other.

    Given a restore that died half way.
    When the table is restored to the savepoint, changed, and restored to it once more.
    Then the second restore is another action, and the rows are those of the savepoint.
    """
    case.service("restore", instant=SAVED)
    case.write("upsert", rides(50, ("r01", "r12")))
    case.service("restore", instant=SAVED)
    case.state()
    case.query("check_table")


@of_each_version(
    "clustering",
    "mor_interrupted_clustering",
    "CL-006 CL-004 CP-005 MK-003 CL-003",
    "retried-service-leaves-its-files plans-order-logs",
)
def clustering(case: WritingCase) -> None:
    """A new attempt at a clustering removes what the failed one left, and does all of it.

    Given a clustering whose process died; the new file of one city, with too few rows, and its marker are there. Its
    plan names the newest log of a slice first: it deletes a ride that the older log changed.
    When another process carries the plan out, and then changes rides.
    Then each ride is there once, in the groups of the second attempt or in those that were not planned.
    """
    case.execute(second(3), SHARED)
    case.snapshot(meta_columns=False)
    case.timeline()
    case.write("upsert", rides(50, ("r01", "r12")))
    case.snapshot(meta_columns=False)
    case.timeline()
    case.query("check_table")


@of_each_version(
    "clustering_reverted", "mor_interrupted_clustering", "RB-008 RB-006 CL-003", "rolled-back-plan-is-dropped"
)
def clustering_reverted(case: WritingCase) -> None:
    """An attempt at a clustering is rolled back, and its plan stays.

    Given a clustering whose process died; one new file is there.
    When the attempt is rolled back, the plan then carried out, and rides are changed.
    Then in between the clustering is requested again, and its file is gone; afterwards it has completed.
    """
    case.service("rollback", instant=second(3))
    case.state()
    case.execute(second(3), SHARED)
    case.snapshot(meta_columns=False)
    case.write("upsert", rides(50, ("r01", "r12")))
    case.snapshot(meta_columns=False)
    case.timeline()
    case.query("check_table")


@of_each_version(
    "clustering_is_no_failed_write",
    "mor_interrupted_clustering",
    "RB-008 RB-001",
    "services-are-failed-writes",
    _EAGER,
    (6,),
)
def clustering_is_no_failed_write(case: WritingCase) -> None:
    """A clustering that died is no failed write, though version 6 calls it a replacecommit.

    Given a clustering whose process died, and a table that one writer has alone.
    When failed writes are rolled back.
    Then the clustering waits with its plan.
    """
    case.service("rollback")
    case.timeline()
    case.snapshot()


@of_each_version("overwrite", "cow_interrupted_overwrite", "RB-001 RB-006 RB-009", "overwrites-stay-planned")
def overwrite(case: WritingCase) -> None:
    """An overwrite that died is rolled back as a whole, its action and its new groups.

    Given an insert overwrite of one city that died with its files, and an update of the other since.
    When it is rolled back, the city is overwritten anew amid changes, and an archival takes the rollback.
    Then the replacecommit and its files are gone, and the second overwrite replaces the old groups.
    """
    case.service("rollback", instant=OVERWRITE)
    case.state()
    case.write("upsert", rides(35, ("r11",)))
    case.write("insert_overwrite", rides(40, ("r01", "r02")))
    case.snapshot(meta_columns=False)
    _foreseen(case)
    case.service("archive", {**SHARED, **KEEPS})
    case.timeline()
    case.snapshot(meta_columns=False)


@of_each_version(
    "overwrite_by_a_lone_writer", "cow_interrupted_overwrite", "RB-001 RB-003", "eager-means-never", _EAGER
)
def overwrite_by_a_lone_writer(case: WritingCase) -> None:
    """A lone writer takes an overwrite that died for a failed write.

    Given an insert overwrite of one city that died with its files, in a table that one writer has alone.
    When failed writes are rolled back, and rides of that city are changed.
    Then the replacecommit is gone, and the update finds the old groups.
    """
    case.service("rollback")
    case.state()
    _sound(case)


@of_each_version(
    "replacements", "mor_interrupted_replacements", "RB-001 RB-006 RB-009 RB-003", "overwrites-stay-planned"
)
def replacements(case: WritingCase) -> None:
    """An overwrite and a deletion of partitions that died above logs alone are rolled back, newest first.

    Given rides in logs alone, an insert overwrite of one city and a deletion of the other, both of which died.
    When both are rolled back, and rides are then changed.
    Then both cities have their rides, and no log of the overwrite is left.
    """
    case.service("rollback", instant=DELETION)
    case.service("rollback", instant=OVERWRITE)
    case.state()
    _sound(case)


def _foreseen(case: WritingCase) -> None:
    """An update, its rows and actions: new groups have ids that nobody foresees."""
    case.write("upsert", rides(50, ("r01", "r12")))
    case.snapshot(meta_columns=False)
    case.timeline()
    case.query("check_table")


@of_each_version("clean", "cow_interrupted_clean", "CN-012 CN-009 MT-005", "clean-leaves-a-planned-file", SHARED_LISTED)
def clean(case: WritingCase) -> None:
    """A clean that died between two files is carried out again, and reports all planned files.

    Given a clean that has removed one of the files of its plan, all of which the metadata table lists.
    When another process carries the plan out, and rides are then changed.
    Then all planned files are gone, from the metadata table too; a time that needs one is refused, whichever attempt
    took it.
    """
    case.execute(CLEAN)
    case.state()
    case.sound()
    case.query("read_as_of", instant=second(1.7), reject="RANGE_NOT_RETAINED")
    _sound(case)


@of_each_version(
    "clean_before_another", "cow_interrupted_clean", "CN-006 CN-012", "cleans-planned-beside-each-other", SHARED_LISTED
)
def clean_before_another(case: WritingCase) -> None:
    """No other clean is planned while one that died waits.

    Given a clean that has removed one of the files of its plan.
    When another process plans a clean, carries the first one out, and plans again.
    Then nothing is planned beside the one that waits.
    """
    case.schedule("clean", VERSIONS)
    case.timeline()
    case.execute(CLEAN)
    case.timeline()
    case.snapshot()
    case.query("check_table")


@of_each_version("savepoint", "cow_interrupted_savepoint", "SR-001 SR-002 SR-004", "savepoint-keeps-nothing")
def savepoint(case: WritingCase) -> None:
    """A savepoint that died before it named its files is none, and is made anew.

    Given a savepoint of the first write that is inflight.
    When the table is restored to it, saved once more, changed and cleaned, and restored again.
    Then the first restore is refused; the second finds every file.
    """
    case.service("restore", instant=SAVED, reject="INSTANT_NOT_FOUND")
    case.service("savepoint", instant=SAVED)
    case.timeline()
    case.write("upsert", rides(50, ("r01", "r12")))
    case.run("clean", {**SHARED, **VERSIONS})
    case.state()
    case.service("restore", instant=SAVED)
    case.state()
    case.query("check_table")


@of_each_version("savepoint_deleted", "cow_interrupted_savepoint", "SR-003 CN-008", "half-deleted-savepoints-stay")
def savepoint_deleted(case: WritingCase) -> None:
    """A deletion of a savepoint that died between its two entries is finished.

    Given a savepoint whose completed entry is gone and whose inflight entry is there.
    When it is deleted, and deleted once more, and the table is changed and cleaned.
    Then there is no such savepoint the second time, and the old files of its write are gone.
    """
    case.service("delete_savepoint", instant=SAVED)
    case.service("delete_savepoint", instant=SAVED, reject="INSTANT_NOT_FOUND")
    case.write("upsert", rides(50, ("r01", "r12")))
    case.run("clean", {**SHARED, **VERSIONS})
    case.snapshot(meta_columns=False)
    case.query("read_as_of", instant=second(1.7), reject="RANGE_NOT_RETAINED")
    case.query("check_table")


def ended_indexing(case: WritingCase) -> None:
    """An indexing that died when its indexes were whole is completed by the next.

    Given indexes that readers may use, whose indexing is inflight, and a write that has completed since.
    When another process carries the plan out, and rides are then changed.
    Then the action has completed, and the indexes have every row.
    """
    case.execute(INDEXING, LISTED)
    case.query("check_table", deep=True)
    case.timeline()
    case.write("upsert", [*rides(30, ("r02", "r12"), rider="later"), ride("newer", 30, city="lima")])
    case.query("check_table", deep=True)
    case.snapshot(meta_columns=False)


for _version, _type in ((6, MOR), (8, COW), (9, MOR)):
    _short = "mor" if _type == MOR else "cow"
    writing(
        f"interrupted/ended_indexing_v{_version}",
        shapes((_version,), (_type,), configs=LISTED),
        "IG-005 IG-004",
        "completed-indexings-wait",
        begins_with=f"v{_version}/{_short}_ended_indexing",
    )(ended_indexing)


@writing(
    "interrupted/upgrade",
    shapes((8,), (MOR,), LISTED),
    "VR-004 VR-006 VR-011 MT-001",
    "version-stays",
    begins_with="v8/mor_interrupted_upgrade",
)
def upgrade(case: WritingCase) -> None:
    """An upgrade that died when the metadata table had the new version is done again.

    Given a table of version 8 whose metadata table says version 9.
    When the table is upgraded to 9, and rides are then changed.
    Then both are of version 9, or there is no metadata table; its indexes have what storage has.
    """
    case.service("upgrade", to=9)
    case.query("check_table", deep=True)
    case.snapshot(meta_columns=False)
    case.info()
    case.write("upsert", [*rides(30, ("r02", "r12"), rider="later"), ride("newer", 30, city="lima")])
    case.query("check_table", deep=True)
    case.snapshot(meta_columns=False)
