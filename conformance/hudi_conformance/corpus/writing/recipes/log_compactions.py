"""Log compactions: the blocks of a slice become one log, which stands for them."""

from typing import Final

from hudi_model.files import Field, Schema

from hudi_conformance.corpus.golden.rides import RIDES, fleet, ride, rides
from hudi_conformance.corpus.writing.recipes.compactions import DUE as COMPACTION_DUE
from hudi_conformance.corpus.writing.recipes.compactions import LOGGING
from hudi_conformance.corpus.writing.recipes.versions import to_the_other_version
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import AND_DRAFT, MOR, OPTIMISTIC, SHARED_LOCK, shapes
from hudi_conformance.corpus.writing.steps import Done, WritingCase

DUE: Final = {"hoodie.log.compaction.blocks.threshold": "2"}
TABLES: Final = shapes(types=(MOR,))
LATER: Final = shapes((8, 9), (MOR,))
_TWO_WRITERS: Final = {**OPTIMISTIC, **SHARED_LOCK}
_ONE_BUCKET: Final = {**LOGGING, "hoodie.bucket.index.num.buckets": "1"}


def logged(case: WritingCase) -> Done:
    """A table with several logs on some slices: updates, a late one, and deletes, one of them of a row below."""
    case.create()
    case.write("insert", fleet(10))
    case.write("upsert", rides(20, ("r01", "r02", "r11", "🚲-16")))
    case.write("upsert", [ride("r01", 30), ride("r11", 15, rider="late"), ride("fähre-05", 30)])
    return case.write("delete", rides(None, ("r02", "r12")))


@writing(
    "log_compaction/result",
    (*shapes(AND_DRAFT, (MOR,)), *shapes((6, 9), (MOR,), label="one_log")),
    "LC-001 LC-003 LC-004 LC-005 LC-006",
    "log-compaction-drops-deletes log-compaction-completes-as-commit log-compaction-removes-its-logs",
)
def result(case: WritingCase) -> None:
    """The blocks of a slice become one log, deletes that win among them.

    Given slices with several logs, of updates, a late update and deletes; or with one log, of rows and a delete.
    When a log compaction is planned that two logs or two blocks are enough for, and carried out.
    Then a snapshot reads what it read before, base file and logs are where they were, and the new log stands for them;
    a late version of the deleted ride loses to the delete.
    """
    if case.shape.label:
        case.shows("LC-008")
        case.schema = Schema((*RIDES.fields, Field("_hoodie_is_deleted", "boolean")))
        case.create()
        case.write("insert", fleet(10))
        case.write("upsert", [ride("r01", 20), ride("r02", 20, _hoodie_is_deleted=True), ride("r11", 20)])
    else:
        logged(case)
    case.run("logcompaction", DUE)
    case.optimized()
    case.state()
    if case.shape.label:
        case.write("upsert", [ride("r02", 15, rider="late")])
        case.snapshot()
    case.shows_draft("NL-010 NL-005", "native-log-compaction-drops-deletes blocks-in-version-10")


@writing(
    "log_compaction/without_a_gap",
    (
        *shapes(types=(MOR,), merge_mode="COMMIT_TIME_ORDERING", ordering=()),
        *shapes((6,), (MOR,), _TWO_WRITERS, merge_mode="COMMIT_TIME_ORDERING", label="beside_a_writer"),
        *shapes((8, 9), (MOR,), _ONE_BUCKET, merge_mode="COMMIT_TIME_ORDERING", ordering=(), label="beside_a_writer"),
    ),
    "LC-003 LC-005",
    "",
)
def without_a_gap(case: WritingCase) -> None:
    """A block between others is compacted too, and the new log stands where the newest of them stood.

    Given three logs of one slice, of which the first two bring versions of one ride and the third brings another ride;
    beside another writer the second is pending while the third completes, or before version 8 a log of another slice,
    beside which a third slice begins and has two logs.
    When a log compaction is planned, which it is not where a block may still come between, and carried out, between two
    plain updates.
    Then the second version stands, and the later update over it.
    """
    beside, later = bool(case.shape.label), case.shape.has_completion_times
    waits = "log-compaction-over-a-gap" if later else "log-compaction-waits-for-writers"
    case.shows(kills=waits if beside else "plan-skips-a-log")
    case.create()
    case.write("insert", fleet(10))
    case.write("upsert", rides(20, ("r01", "r02")))
    if not beside or not later:
        case.write("upsert", rides(30, ("r01",)))
    if beside:
        case.begin("one", "upsert", rides(30, ("r01" if later else "r14",)))
        case.stage("one")
    case.write("upsert", rides(40, ("r03",)))
    if beside and not later:
        for operation, ts in (("insert", 40), ("upsert", 50), ("upsert", 60)):
            case.write(operation, rides(ts, ("r31@bergen",)))
    if beside and later:
        case.schedule("logcompaction", DUE)
        case.commit("one")
    case.run("logcompaction", DUE)
    if beside and not later:
        case.commit("one")
    case.state()
    case.write("upsert", rides(50, ("r02",)))
    case.state()


@writing("log_compaction/stands_for_blocks", TABLES, "LC-001 LC-004 LC-003", "log-compaction-drops-deletes")
def stands_for_blocks(case: WritingCase) -> None:
    """Later writes lie on top of what was compacted, and a compaction takes it up.

    Given a log compaction that has completed.
    When a writer updates, deletes and inserts again what lies in it, and a compaction follows.
    Then the later writes win by the table's rule, and the compaction holds what a snapshot reads.
    """
    logged(case)
    case.run("logcompaction", DUE)
    case.write("upsert", [ride("r02", 40), ride("r01", 25, rider="late")])
    case.write("delete", rides(None, ("r11",)))
    case.state()
    case.run("compaction", COMPACTION_DUE)
    case.optimized()
    case.state()


@writing("log_compaction/plans_apart", TABLES, "LC-002 CP-003", "plans-share-groups")
def plans_apart(case: WritingCase) -> None:
    """A log compaction leaves out what another plan holds, and slices whose logs hold nothing that counts.

    Given a planned compaction that waits, and more logs on its slices.
    When a log compaction is planned, twice once the compaction has completed, and again after the only write to one
    more slice was rolled back.
    Then there is nothing to plan until the compaction has completed, nor beside the plan that waits; that slice stays.
    """
    logged(case)
    plan = case.schedule("compaction", COMPACTION_DUE)
    case.write("upsert", rides(40, ("r01", "r11")))
    case.write("upsert", rides(50, ("r01", "r11")))
    case.schedule("logcompaction", DUE)
    case.execute(plan, COMPACTION_DUE)
    case.state()
    waiting = case.schedule("logcompaction", DUE)
    case.schedule("logcompaction", DUE)
    case.execute(waiting, DUE)
    case.state()
    case.write("insert", [ride("r31@lima", 60)])
    failed = case.begin("failed", "upsert", [ride("r31@lima", 70)])
    case.stage("failed")
    case.end_process(1)
    case.service("rollback", instant=failed.requested)
    if not case.shape.has_completion_times:
        # Where the rollback is a block of its own, the log and that block lie there as two files.
        case.shows("LC-008", "log-compaction-of-nothing")
    case.run("logcompaction", DUE)
    case.state()


@writing("log_compaction/compaction_leaves_it_out", TABLES, "LC-002 CP-003 CP-012", "plans-share-groups")
def compaction_leaves_it_out(case: WritingCase) -> None:
    """A compaction leaves out what a log compaction has planned.

    Given a planned log compaction that waits, and a slice with too few logs for it.
    When a compaction is planned and carried out, and then the log compaction.
    Then the compaction takes that slice alone, and after both a snapshot reads what it read before.
    """
    logged(case)
    case.write("insert", [ride("r31@lima", 10)])
    case.write("upsert", [ride("r31@lima", 20)])
    plan = case.schedule("logcompaction", DUE)
    case.run("compaction", COMPACTION_DUE)
    case.optimized()
    case.execute(plan, DUE, process=2)
    case.state()


@writing("log_compaction/carried_out_later", TABLES, "LC-003 LC-004 TL-025", "log-compaction-removes-its-logs")
def carried_out_later(case: WritingCase) -> None:
    """Blocks that came after the plan are not in the compacted log.

    Given a planned log compaction.
    When a writer updates planned rides, and another process then carries the plan out.
    Then the later update is read once, on top of the compacted log.
    """
    logged(case)
    plan = case.schedule("logcompaction", DUE)
    case.write("upsert", [ride("r01", 40), ride("r02", 40)])
    case.execute(plan, DUE, process=2)
    case.state()


@writing(
    "log_compaction/before_another_version",
    shapes(versions=(6, 9), types=(MOR,)),
    "LC-005 VR-004 VR-005",
    "version-stays",
)
def before_another_version(case: WritingCase) -> None:
    """The log of a log compaction keeps the name of its version.

    Given a log compaction that has completed, in a table of version 6, or of a later one.
    When the table is upgraded to version 9, or downgraded to version 6.
    Then a snapshot reads what it read before, and no check finds anything.
    """
    logged(case)
    case.run("logcompaction", DUE)
    case.snapshot()
    to_the_other_version(case)
    case.snapshot()
    case.info()
    case.sound()


@writing("log_compaction/cleaned_with_its_slice", LATER, "LC-009 CN-001", "cleaner-takes-compacted-logs")
def cleaned_with_its_slice(case: WritingCase) -> None:
    """Logs that a log compaction stands for stay as long as their slice.

    Given a log compaction that has completed, and later writes to other slices.
    When a clean keeps the last two commits.
    Then nothing of the slice goes: an earlier moment is read from the logs as they were.
    """
    last = logged(case)
    case.run("logcompaction", DUE)
    case.write("upsert", rides(40, ("r14",)))
    case.write("upsert", rides(50, ("r14",)))
    case.schedule("clean", {"hoodie.clean.commits.retained": "2"})
    case.state()
    case.query("read_as_of", instant=last.bound)


@writing(
    "log_compaction/planned_before_a_write",
    shapes(types=(MOR,), configs=_TWO_WRITERS),
    "OW-005 LC-006",
    "log-compaction-completes-as-commit",
)
def planned_before_a_write(case: WritingCase) -> None:
    """A log compaction that completes beside a write of its file groups is a write like others: the write aborts.

    Given a log compaction that is planned, and a writer that then begins and makes logs on a planned slice.
    When the log compaction completes before the write does.
    Then the write aborts, since the log compaction wrote to its file groups; it is written again, and the snapshot has
    it.
    """
    logged(case)
    plan = case.schedule("logcompaction", DUE)
    case.begin("one", "upsert", rides(30, ("r01", "r14")))
    case.stage("one")
    case.execute(plan, DUE, process=2)
    case.commit("one", reject="WRITE_CONFLICT")
    case.write("upsert", rides(30, ("r01", "r14")))
    case.state()
