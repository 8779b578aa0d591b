"""Services that a writer runs by itself, after each of its writes, as its settings request."""

from typing import Final

from hudi_conformance.corpus.golden.rides import fleet, rides
from hudi_conformance.corpus.writing.recipes.clusterings import DUE as CLUSTERING_DUE
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import ALONE, COW, MOR, shapes
from hudi_conformance.corpus.writing.steps import WritingCase

_COMPACTS: Final = {**ALONE, "hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "2"}
_ONLY_COMPACTS: Final = {**_COMPACTS, "hoodie.compact.schedule.inline": "false"}
_PLANS: Final = {
    **ALONE,
    "hoodie.compact.schedule.inline": "true",
    "hoodie.compact.inline.max.delta.commits": "3",
}
_CLUSTERS: Final = {**ALONE, "hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "2"}
_ARCHIVES: Final = {
    **ALONE,
    "hoodie.clean.automatic": "true",
    "hoodie.clean.commits.retained": "1",
    "hoodie.archive.automatic": "true",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
}


@writing("inline/compaction", shapes(types=(MOR,), configs=_COMPACTS), "CP-008 CP-015", "compactions-are-always-due")
def compaction(case: WritingCase) -> None:
    """A writer that compacts does so after every second write.

    Given a table whose writer is to compact after two deltacommits.
    When rides are inserted, updated three times and deleted.
    Then a compaction follows each second write, and what a snapshot reads is what the writes made.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("upsert", rides(20, ("r01", "r02", "r11")))
    case.state()
    case.write("upsert", rides(30, ("r01", "r12")))
    case.timeline()
    case.write("upsert", rides(40, ("r02", "r11")))
    case.optimized()
    case.write("delete", rides(None, ("r03",)))
    case.state()


@writing(
    "inline/compaction_beside_clusterings",
    shapes(types=(MOR,), configs={**_COMPACTS, "hoodie.compact.inline.max.delta.commits": "3"}),
    "CP-008 CP-015",
    "compactions-are-always-due",
)
def compaction_beside_clusterings(case: WritingCase) -> None:
    """A clustering is no compaction: deltacommits are counted on past it.

    Given a table whose writer is to compact after three deltacommits.
    When rides are inserted, updated and clustered, and updated twice more.
    Then the first write after the clustering is followed by a compaction, and the second is not.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("upsert", rides(20, ("r01", "r11")))
    case.run("clustering", CLUSTERING_DUE)
    case.timeline()
    case.write("upsert", rides(30, ("r01", "r12")))
    case.timeline()
    case.optimized()
    case.write("upsert", rides(40, ("r02",)))
    case.state()


@writing(
    "inline/planned_compaction",
    shapes(types=(MOR,), configs=_PLANS),
    "CP-003 CP-008 CP-015",
    "compactions-are-always-due",
)
def planned_compaction(case: WritingCase) -> None:
    """A writer that only plans leaves a plan, and makes no other while it waits; one that compacts carries it out.

    Given a table whose writer is to plan a compaction after three deltacommits.
    When rides are inserted and updated three times, then by a writer that is to do both, and by one that compacts.
    Then one plan waits, the updates since lie on top of it, who is to do both is refused, and the last write is
    followed by its compaction.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("upsert", rides(20, ("r01", "r02", "r11")))
    case.timeline()
    case.write("upsert", rides(30, ("r01", "r12")))
    case.write("upsert", rides(40, ("r02",)))
    case.state()
    case.write("upsert", rides(50, ("r03",)), configs=_COMPACTS, reject="CONFIG_INVALID")
    case.write("upsert", rides(50, ("r02", "r12")), configs=_ONLY_COMPACTS)
    case.optimized()
    case.state()


@writing("inline/clustering", shapes(configs=_CLUSTERS), "CL-008 CP-015", "clusterings-are-always-due")
def clustering(case: WritingCase) -> None:
    """A writer that clusters does so after every second write.

    Given a table whose writer is to cluster after two commits.
    When rides are inserted twice, updated, and inserted again.
    Then a clustering follows each second write, and what a snapshot reads is what the writes made.
    """
    case.create()
    first, second = fleet(10)[:4], fleet(10)[4:]
    case.write("insert", first)
    case.write("insert", second)
    case.state()
    case.write("upsert", rides(20, ("r01", "r11")))
    case.timeline()
    case.write("insert", rides(30, ("x", "y@bergen")))
    case.state()


# Before version 8 releases archive cleans by their own number.
@writing(
    "inline/cleaning_and_archival",
    shapes((8, 9), (COW,), configs=_ARCHIVES),
    "CN-001 AR-001 AR-003 CP-015",
    "archival-keeps-one-more clean-takes-the-newest-slice",
)
def cleaning_and_archival(case: WritingCase) -> None:
    """A writer that cleans and archives does both after its writes, so that neither files nor instants pile up.

    Given a table whose writer is to keep one commit's files, and two to three commits on the active timeline.
    When rides are inserted and updated six times; then once by a writer that does neither, a clean is planned by
    somebody else, and they are updated once more by a writer whose own clean is not due.
    Then old files are gone, older instants are in the history, and the rows are the latest; the clean that waited is
    carried out.
    """
    case.create()
    case.write("insert", fleet(10))
    for ts in (20, 30, 40):
        case.write("upsert", rides(ts, ("r01", "r11")))
    case.timeline()
    for ts in (50, 60, 70):
        case.write("upsert", rides(ts, ("r02", "r12")))
    case.timeline(include_history=True)
    case.sound()
    case.state()
    case.write("upsert", rides(80, ("r01", "r11")), configs=ALONE)
    case.schedule("clean")
    case.write("upsert", rides(90, ("r02", "r12")), configs={"hoodie.clean.trigger.max.commits": "9"})
    case.state()
