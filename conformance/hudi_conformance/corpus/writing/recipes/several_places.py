"""Keys that inserts left in several places, and new keys that go to file groups which are there."""

from hudi_conformance.corpus.golden.rides import ride, rides
from hudi_conformance.corpus.writing.recipes.clusterings import DUE as CLUSTERING_DUE
from hudi_conformance.corpus.writing.recipes.compactions import DUE as COMPACTION_DUE
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import shapes
from hudi_conformance.corpus.writing.steps import WritingCase

_FILLS = {"hoodie.parquet.small.file.limit": "104857600"}


@writing("several_places/upsert", shapes(), "OW-020 DM-001", "places-after-the-first-unseen")
def upsert(case: WritingCase) -> None:
    """An upsert changes a key in every file group that has it.

    Given a ride that two inserts brought, each into a file group of its own.
    When it is upserted, later than one of the two and earlier than the other, then later than both.
    Then at first one of its rows is changed, and both afterwards.
    """
    case.create()
    case.write("insert", rides(10, ("r01", "r02")))
    case.write("insert", [ride("r01", 30, rider="again")])
    case.write("upsert", [ride("r01", 20, rider="between")])
    case.state()
    case.write("upsert", [ride("r01", 40, rider="later")])
    case.state()


@writing("several_places/delete", shapes(), "OW-020 OW-013 DM-001", "places-after-the-first-unseen")
def delete(case: WritingCase) -> None:
    """A delete removes a key from every file group that has it.

    Given a ride that two inserts brought, each into a file group of its own.
    When it is deleted.
    Then none of its rows is left.
    """
    case.create()
    case.write("insert", rides(10, ("r01", "r02")))
    case.write("insert", [ride("r01", 30, rider="again")])
    case.write("delete", [ride("r01", 20)])
    case.state()


@writing("several_places/after_a_delete", shapes(types=("MERGE_ON_READ",)), "OW-020 DM-001", "deleted-keys-are-found")
def after_a_delete(case: WritingCase) -> None:
    """A key that was deleted in a log and came back elsewhere is where it came back, and there alone.

    Given a ride that a log deletes, and an insert brings again into a file group of its own.
    When it is upserted.
    Then it is one row, changed where it came back; its old row stays deleted.
    """
    case.create()
    case.write("insert", rides(10, ("r01", "r02")))
    case.write("delete", [ride("r01", 20)])
    case.write("insert", [ride("r01", 30, rider="again")])
    case.state()
    case.write("upsert", [ride("r01", 40, rider="later")])
    case.state()


@writing("small_files/insert", shapes(), "OW-012 OW-015 DM-001", "inserts-into-small-files-merge")
def insert(case: WritingCase) -> None:
    """An insert that fills a small file adds its rows beside those that are there.

    Given a file group with two rides.
    When an insert that fills small files brings one of them again, and a new one.
    Then the file group has four rows, all of them in its new base file.
    """
    case.create()
    case.write("insert", rides(10, ("r01", "r02")))
    case.write("insert", [ride("r01", 20, rider="again"), ride("r03", 20)], configs=_FILLS)
    case.state()
    case.optimized()


@writing("small_files/insert_merges", shapes(), "OW-015 DM-001", "inserts-always-repeat-keys")
def insert_merges(case: WritingCase) -> None:
    """An insert that may not repeat keys is merged with the small file that it fills.

    Given a file group with two rides.
    When an insert that fills small files and may not repeat keys brings both, one of them late, and a new one.
    Then the file group has three rows: only the one that is not late is changed.
    """
    case.create()
    case.write("insert", rides(10, ("r01", "r02")))
    again = [ride("r01", 20, rider="again"), ride("r02", 5, rider="late"), ride("r03", 20)]
    case.write("insert", again, configs={**_FILLS, "hoodie.merge.allow.duplicate.on.inserts": "false"})
    case.state()
    case.optimized()


@writing("small_files/upsert", shapes(), "OW-012 OW-016", "")
def upsert_with_new_keys(case: WritingCase) -> None:
    """An upsert whose new keys fill a small file up writes its base file anew.

    Given a file group with two rides.
    When an upsert that fills small files brings one of them, and a new one.
    Then the new base file has both.
    """
    case.create()
    first = case.write("insert", rides(10, ("r01", "r02")))
    case.write("upsert", [ride("r01", 20), ride("r03", 20)], configs=_FILLS)
    case.state()
    case.optimized()
    case.incremental(first)
    if case.is_mor:
        case.shows(kills="filled-groups-are-logged")
    else:
        case.shows("OW-015", "copy-on-write-forgets-old-rows")


@writing("small_files/with_logs", shapes(types=("MERGE_ON_READ",)), "OW-012 OW-016", "groups-with-logs-are-filled")
def with_logs(case: WritingCase) -> None:
    """A file group with logs takes no new keys.

    Given a file group with two rides, one of them updated in a log.
    When an upsert that fills small files brings a new ride, and an insert another.
    Then the new rides are in file groups of their own, and the old one has its log.
    """
    case.create()
    case.write("insert", rides(10, ("r01", "r02")))
    case.write("upsert", [ride("r01", 20)])
    case.write("upsert", [ride("r03", 20)], configs=_FILLS)
    case.state()
    case.optimized()


@writing(
    "small_files/beside_a_planned_compaction",
    shapes(types=("MERGE_ON_READ",)),
    "OW-012 OW-016 RD-008",
    "pending-slice-not-joined",
)
def beside_a_planned_compaction(case: WritingCase) -> None:
    """A compaction that waits opens a slice without files, which is no small file; its group can have logs.

    Given two cities of two rides each, of which one has a log, and a plan to compact that one.
    When upserts that may fill small files bring new rides of both cities, known ones among them, before and after the
    compaction is carried out.
    Then each ride is there once, the new ones in groups that may be filled or in groups of their own.
    """
    case.create()
    case.write("insert", rides(10, ("r01", "r02", "r11", "r12")))
    case.write("upsert", [ride("r01", 20)])
    plan = case.schedule("compaction", COMPACTION_DUE)
    case.write("upsert", [ride("r03", 30), ride("r13", 30)], configs=_FILLS)
    case.state()
    case.write("upsert", [ride("r02", 40), ride("r04", 40), ride("r14@lima", 40)], configs=_FILLS)
    case.state()
    case.execute(plan, COMPACTION_DUE)
    case.write("upsert", [ride("r05", 50), ride("r03", 50)], configs=_FILLS)
    case.state()


@writing("small_files/beside_a_planned_clustering", shapes(), "OW-012 OW-011 CL-004", "clustered-groups-are-filled")
def beside_a_planned_clustering(case: WritingCase) -> None:
    """What a clustering that waits is to replace takes no new keys.

    Given two cities of two small groups each, and a plan to cluster them.
    When an insert and an upsert that may fill small files bring new rides of both cities, and the plan is carried out.
    Then each ride is there once, the new ones in groups of their own.
    """
    case.create()
    for keys in (("r01", "r11"), ("r02", "r12")):
        case.write("insert", rides(10, keys))
    plan = case.schedule("clustering", CLUSTERING_DUE)
    case.write("insert", [ride("r03", 20), ride("r13", 20)], configs=_FILLS)
    case.state()
    # Whether a group that an update goes to is filled up as well is the writer's choice.
    case.write("upsert", [ride("r04", 30), ride("r14@lima", 30), ride("r03", 30)], configs=_FILLS)
    case.snapshot()
    case.execute(plan, CLUSTERING_DUE)
    case.snapshot()
    case.timeline()


@writing("small_files/bulk_insert", shapes(versions=(6, 9)), "OW-012", "bulk-inserts-fill-small-files")
def bulk_insert(case: WritingCase) -> None:
    """A bulk insert fills no small files.

    Given a file group with two rides.
    When a bulk insert that may fill small files brings a new one.
    Then it is in a file group of its own.
    """
    case.create()
    case.write("insert", rides(10, ("r01", "r02")))
    case.write("bulk_insert", [ride("r03", 20)], configs=_FILLS)
    case.state()
