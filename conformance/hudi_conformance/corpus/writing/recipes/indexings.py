"""Indexing: an index of a table is planned and built beside everything else."""

from typing import Final

from hudi_conformance.corpus.golden.recipes.building_indexes import INDEXING
from hudi_conformance.corpus.golden.rides import fleet, ride, rides
from hudi_conformance.corpus.writing.recipes.compactions import DUE as COMPACTION_DUE
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import ALONE, COW, MOR, OPTIMISTIC, SHARED_LOCK, shapes
from hudi_conformance.corpus.writing.steps import WritingCase

STATISTICS: Final = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"}
_FILES_ALONE: Final = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "false"}
LISTED: Final = {**ALONE, **_FILES_ALONE}
"""A writer that keeps a metadata table without statistics; one that keeps none answers alike."""
SHARED: Final = {**OPTIMISTIC, **SHARED_LOCK, **_FILES_ALONE}


@writing("indexing/unrequested", shapes(types=(COW,), configs=LISTED), "IG-001", "unrequested-indexes-are-planned")
def unrequested(case: WritingCase) -> None:
    """An index is planned where one is requested.

    Given a table of two writes.
    When an indexing is planned that requests no index, and one that requests statistics of columns.
    Then the first has nothing to do; the second is carried out and completes, and no row changes.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("upsert", rides(20, ("r01",)))
    case.schedule("indexing")
    case.run("indexing", STATISTICS)
    case.query("check_table")
    case.state()


@writing(
    "indexing/before_a_gap",
    (*shapes((6,), (COW,), SHARED), *shapes((8, 9), configs=SHARED)),
    "IG-002",
    "index-plan-skips-a-gap",
)
def before_a_gap(case: WritingCase) -> None:
    """An index is planned up to the last write before which none is pending.

    Given a writer that began first and has not completed, and a write that has.
    When an indexing is planned, and again after the first has completed.
    Then there is nothing to build from at first, and there is later.
    """
    case.create()
    case.begin("slow", "insert", fleet(10))
    case.write("insert", rides(20, ("r01@oslo", "r02@oslo")), process=2)
    case.schedule("indexing", STATISTICS)
    case.stage("slow")
    case.commit("slow")
    case.schedule("indexing", STATISTICS)
    case.state()


@writing("indexing/catches_up", shapes(types=(COW,), configs=LISTED), "IG-004 IG-005", "indexer-stops-at-its-plan")
def catches_up(case: WritingCase) -> None:
    """What completed after the plan is in the index.

    Given a planned indexing, and an update since.
    When the indexing is carried out.
    Then the metadata table says of every file what is so.
    """
    case.create()
    case.write("insert", fleet(10))
    plan = case.schedule("indexing", STATISTICS)
    case.write("upsert", rides(20, ("r01", "r11")))
    case.execute(plan, STATISTICS)
    case.query("check_table")
    case.state()


def _written_meanwhile(case: WritingCase) -> None:
    """A write logs to an index that is being built.

    Given a table of which two indexes are being built; the indexer waits.
    When an upsert changes rides and brings one, and the indexing is carried out to its end after that.
    Then the indexes have what the upsert wrote, before the end as after it, and no row is another.
    """
    case.write("upsert", [*rides(30, ("r02", "r12"), rider="later"), ride("newer", 30, city="lima")])
    case.query("check_table", deep=True)
    case.execute(INDEXING, STATISTICS)
    case.query("check_table", deep=True)
    case.timeline()
    case.snapshot(meta_columns=False)


for _version, _type, _kills in (
    (6, MOR, "indexer-stops-at-its-plan"),
    (8, COW, "writers-ignore-indexes-being-built"),
    (9, MOR, "writers-ignore-indexes-being-built"),
):
    _short = "mor" if _type == MOR else "cow"
    writing(
        f"indexing/written_meanwhile_{_short}_v{_version}",
        shapes((_version,), (_type,), configs=LISTED),
        "IG-003 IG-004 IG-005",
        _kills,
        begins_with=f"v{_version}/{_short}_index_being_built",
    )(_written_meanwhile)


@writing("indexing/several_blocks", shapes(types=(MOR,), configs=LISTED), "MT-011 IG-004", "statistics-of-first-row")
def several_blocks(case: WritingCase) -> None:
    """The statistics of a log are those of all its blocks, whichever of them was written last.

    Given updates whose rows fill a block each.
    When statistics of columns are built, and more such updates come.
    Then readers that skip files by what the statistics say find the rows of every block.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("upsert", [ride("r01", 40), ride("r02", 60), ride("r03", 50)], configs=_BLOCK_A_ROW)
    case.run("indexing", STATISTICS)
    _by_time(case, 40, 50, 60)
    case.write("upsert", [ride("r12", 90), ride("r11", 70), ride("r13", 80)], configs={**STATISTICS, **_BLOCK_A_ROW})
    _by_time(case, 70, 80, 90)
    case.sound()


_BLOCK_A_ROW: Final = {"hoodie.logfile.data.block.max.size": "1"}


def _by_time(case: WritingCase, *times: int) -> None:
    for one in times:
        case.filtered(["ts", "=", str(one)])


@writing("indexing/beside_a_plan", shapes(types=(MOR,), configs=LISTED), "IG-006 IG-001", "indexing-waits-for-plans")
def beside_a_plan(case: WritingCase) -> None:
    """An index is planned and built whatever services have planned.

    Given a planned compaction that waits.
    When an indexing is planned and carried out, and then the compaction.
    Then both complete, and no row changes.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("upsert", rides(20, ("r01", "r11")))
    compaction = case.schedule("compaction", COMPACTION_DUE)
    case.run("indexing", STATISTICS)
    case.state()
    case.execute(compaction, COMPACTION_DUE)
    case.optimized()
    case.state()
