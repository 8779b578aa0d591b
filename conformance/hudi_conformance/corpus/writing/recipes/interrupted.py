"""What died is finished or taken back by others: services tried again, a rollback taken up, an attempt undone."""

from typing import Final

from hudi_conformance.corpus.golden.rides import rides, second
from hudi_conformance.corpus.writing.recipes.archivals import KEEPS, LAST_COMMIT
from hudi_conformance.corpus.writing.recipes.rollbacks import LISTING
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import COW, MOR, OPTIMISTIC, SHARED_LOCK, shapes
from hudi_conformance.corpus.writing.steps import Draft, WritingCase

CONFIGS: Final = {**OPTIMISTIC, **SHARED_LOCK}


def execute(case: WritingCase, requested: str) -> None:
    """A plan that the table came with is carried out."""
    case.drafts.append(Draft("execute", {"requested": requested, "configs": CONFIGS}))


@writing(
    "interrupted/log_compaction_v9",
    shapes((9,), (MOR,), CONFIGS),
    "CP-010 LC-005 MK-003",
    "retry-keeps-what-failed",
    begins_with="v9/mor_interrupted_log_compaction",
)
@writing(
    "interrupted/log_compaction_by_listing_v9",
    shapes((9,), (MOR,), {**CONFIGS, **LISTING}),
    "CP-010 LC-005 RB-006 RB-008",
    "rolled-back-plan-is-dropped",
    begins_with="v9/mor_interrupted_log_compaction",
)
@writing(
    "interrupted/log_compaction_v6",
    shapes((6,), (MOR,), CONFIGS),
    "CP-010 LC-005 MK-003",
    "retry-keeps-what-failed",
    begins_with="v6/mor_interrupted_log_compaction",
)
def log_compaction(case: WritingCase) -> None:
    """A new attempt at a log compaction removes what the failed one left, and does all of it.

    Given a log compaction whose process died; its log, without rows, and the marker are there.
    When another process carries the plan out; before, where markers are not used, the first attempt is rolled back.
    Then one log stands for the planned ones, with their rows, and the log of the first attempt is gone.
    """
    if LISTING.items() <= case.shape.configs.items():
        case.service("rollback", instant=second(4))
    execute(case, second(4))
    case.state()
    case.write("upsert", rides(25, ("r03", "r02")))
    case.state()


@writing(
    "interrupted/compaction_v8",
    shapes((8,), (MOR,), CONFIGS),
    "CP-010 CP-005 CP-002 SL-023",
    "compaction-reads-logs-only",
    begins_with="v8/mor_interrupted_compaction",
)
@writing(
    "interrupted/compaction_v9",
    shapes((9,), (MOR,), CONFIGS),
    "CP-010 CP-005 CP-002",
    "compaction-reads-logs-only",
    begins_with="v9/mor_interrupted_compaction",
)
@writing(
    "interrupted/compaction_v6",
    shapes((6,), (MOR,), CONFIGS),
    "CP-010 CP-005 CP-002 SL-023",
    "compaction-reads-logs-only",
    begins_with="v6/mor_interrupted_compaction",
)
def compaction(case: WritingCase) -> None:
    """A new attempt at a compaction does all of it, whatever the failed one wrote.

    Given a compaction whose process died; one base file with too few rows is there, and logs came since the plan.
    When another process carries the plan out.
    Then the base files hold what was planned, and the later logs lie on top.
    """
    case.timeline()
    execute(case, second(3))
    case.optimized()
    case.state()


@writing(
    "interrupted/compaction_reverted_v8",
    shapes((8,), (MOR,), CONFIGS),
    "RB-008 CP-010 RB-006",
    "rolled-back-plan-is-dropped",
    begins_with="v8/mor_interrupted_compaction",
)
@writing(
    "interrupted/compaction_reverted_v9",
    shapes((9,), (MOR,), CONFIGS),
    "RB-008 CP-010 RB-006",
    "rolled-back-plan-is-dropped",
    begins_with="v9/mor_interrupted_compaction",
)
@writing(
    "interrupted/compaction_reverted_v6",
    shapes((6,), (MOR,), CONFIGS),
    "RB-008 CP-010 RB-006",
    "rolled-back-plan-is-dropped",
    begins_with="v6/mor_interrupted_compaction",
)
@writing(
    "interrupted/compaction_reverted_by_listing_v6",
    shapes((6,), (MOR,), {**CONFIGS, **LISTING}),
    "RB-008 CP-010 RB-006",
    "rolled-back-plan-is-dropped",
    begins_with="v6/mor_interrupted_compaction",
)
def compaction_reverted(case: WritingCase) -> None:
    """An attempt at a compaction is rolled back, and its plan stays.

    Given a compaction whose process died, and logs that were written after its plan.
    When the attempt is rolled back, the plan is then carried out, and later a clean and an archival run.
    Then in between the compaction is requested again and those logs are read; afterwards all is in base files, which
    count still when the compaction is archived and the rollback is not.
    """
    case.service("rollback", instant=second(3))
    case.state()
    execute(case, second(3))
    case.optimized()
    case.state()
    for ts in (60, 70):
        case.write("upsert", rides(ts, ("r01",)), configs=CONFIGS)
    case.run("clean", {**CONFIGS, **LAST_COMMIT})
    case.service("archive", {**CONFIGS, **KEEPS})
    case.timeline()
    case.snapshot()
    case.slices()
    case.shows("TL-017", kills="retried-writes-stay-undone")


@writing(
    "interrupted/rollback_v8",
    shapes((8,), (COW,), CONFIGS),
    "RB-004 RB-003 MK-003",
    "rollback-started-anew",
    begins_with="v8/cow_interrupted_rollback",
)
@writing(
    "interrupted/rollback_v9",
    shapes((9,), (COW,), CONFIGS),
    "RB-004 RB-003 MK-003",
    "rollback-started-anew",
    begins_with="v9/cow_interrupted_rollback",
)
@writing(
    "interrupted/rollback_v6",
    shapes((6,), (COW,), CONFIGS),
    "RB-004 RB-003 MK-003",
    "rollback-started-anew",
    begins_with="v6/cow_interrupted_rollback",
)
def rollback(case: WritingCase) -> None:
    """Who finds a pending rollback carries it out under its own instant.

    Given a failed write whose rollback died when one of two files was gone.
    When the write is rolled back again, and once more.
    Then there is one rollback, that of the first attempt; a file that is gone is no error; then there is no such write.
    """
    case.timeline()
    case.service("rollback", instant=second(2))
    case.state()
    case.service("rollback", instant=second(2), reject="INSTANT_NOT_FOUND")
    case.write("upsert", rides(40, ("r01", "r11")))
    case.state()


@writing(
    "interrupted/rollback_of_a_removed_write_v9",
    shapes((9,), (COW,), CONFIGS),
    "RB-004 RB-009",
    "rollback-of-a-removed-write-is-left",
    begins_with="v9/cow_interrupted_rollback_of_a_removed_write",
)
@writing(
    "interrupted/rollback_of_a_removed_write_v6",
    shapes((6,), (COW,), CONFIGS),
    "RB-004 RB-009",
    "rollback-of-a-removed-write-is-left",
    begins_with="v6/cow_interrupted_rollback_of_a_removed_write",
)
def rollback_of_a_removed_write(case: WritingCase) -> None:
    """A rollback that died when its write had left the timeline is finished by its own plan.

    Given a rollback that waits for its completion; its write has neither files nor entries any more.
    When the write is rolled back again, and a writer then changes its rides.
    Then there is one rollback, that of the first attempt, and it has completed.
    """
    case.service("rollback", instant=second(2))
    case.timeline()
    case.write("upsert", rides(40, ("r01", "r11")))
    case.state()


@writing(
    "interrupted/archival",
    shapes((9,), (COW,), CONFIGS),
    "AR-002 AR-001",
    "interrupted-archival-is-left",
    begins_with="v9/cow_interrupted_archival",
)
def archival(case: WritingCase) -> None:
    """An interrupted archival is finished by the next.

    Given a history that has three writes of five, the files of two of which are still on the active timeline.
    When another process archives and keeps two writes.
    Then those files are gone, and every write is listed once.
    """
    case.timeline()
    case.service("archive", {**CONFIGS, "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"})
    case.timeline()
    case.timeline(include_history=True)
    case.snapshot()


@writing(
    "interrupted/foreign_clean_v9",
    shapes((9,), (COW,), CONFIGS),
    "SL-007 CN-009",
    "plans-name-anything",
    begins_with="v9/cow_foreign_clean",
)
@writing(
    "interrupted/foreign_clean_v6",
    shapes((6,), (COW,), CONFIGS),
    "SL-007 CN-009",
    "plans-name-anything",
    begins_with="v6/cow_foreign_clean",
)
def foreign_clean(case: WritingCase) -> None:
    """A clean whose plan names a file that is none of the data is refused as a whole.

    Given a clean that waits, whose plan names the table's properties beside an old base file.
    When it is carried out, and rides are then changed.
    Then it is refused, the table answers as before, and the write stands.
    """
    case.execute(second(4), CONFIGS, reject="PATH_ESCAPES_TABLE")
    case.state()
    case.write("upsert", rides(25, ("r03", "r02")), configs={"hoodie.clean.automatic": "false"})
    case.state()
