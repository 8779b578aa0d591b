"""Cleans: what goes by each policy, what plans, savepoints and replacecommits keep, and how a clean is carried out."""

import itertools
from typing import Final

from hudi_model.files import Field, Schema

from hudi_conformance.corpus.golden.rides import RIDES, fleet, ride, rides
from hudi_conformance.corpus.table_shapes import TableShape
from hudi_conformance.corpus.writing.recipes.clusterings import DUE as CLUSTERING_DUE
from hudi_conformance.corpus.writing.recipes.compactions import DUE as COMPACTION_DUE
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import AND_DRAFT, COW, MOR, OPTIMISTIC, SHARED_LOCK, requiring, shapes
from hudi_conformance.corpus.writing.steps import Done, WritingCase, only

COMMITS: Final = {"hoodie.clean.policy": "KEEP_LATEST_COMMITS", "hoodie.clean.commits.retained": "2"}
VERSIONS: Final = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"}
HOURS: Final = {"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS", "hoodie.clean.hours.retained": "24"}
ALL_LOOKED_AT: Final = {"hoodie.table.services.incremental.enabled": "false"}
LAST_COMMIT: Final = {**COMMITS, "hoodie.clean.commits.retained": "1"}
ARCHIVING: Final = {**VERSIONS, "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}
"""An archival beside a cleaner that counts versions: it keeps no moment from being archived."""
REWRITTEN: Final = shapes(types=(COW,))
GONE: Final = "RANGE_NOT_RETAINED"
_MARK: Final = "_hoodie_is_deleted"
_LOGS_DUE: Final = {"hoodie.log.compaction.blocks.threshold": "2"}


def rewritten(case: WritingCase) -> tuple[Done, ...]:
    """Four commits, each of which writes one city's base file anew; the other city's, the first and the last do."""
    case.create()
    first = case.write("insert", fleet(10))
    between = [case.write("upsert", rides(ts, ("r01",))) for ts in (20, 30)]
    return first, *between, case.write("upsert", rides(40, ("r01", "r11")))


@writing(
    "cleaning/latest_commits",
    REWRITTEN,
    "CN-001 CN-002 CN-009",
    "clean-takes-every-old-slice clean-takes-the-newest-slice",
)
def latest_commits(case: WritingCase) -> None:
    """Slices older than the commits to keep go, but for the last one before them.

    Given four commits; a city was written by each, another by the first and the last.
    When a clean keeps two commits.
    Then the table reads as before, the third commit is read as it was, and what is older is refused.
    """
    first, second, third, _ = rewritten(case)
    case.run("clean", COMMITS)
    case.state()
    case.query("read_as_of", instant=third.bound)
    case.query("read_as_of", instant=first.requested, reject=GONE)
    case.query("read_as_of", instant=second.requested, reject=GONE)


@writing("cleaning/few_commits", REWRITTEN, "CN-002 CN-009", "cleans-all-but-the-newest")
def few_commits(case: WritingCase) -> None:
    """With no more commits than are to be kept nothing is planned.

    Given four commits.
    When a clean is to keep four, and then three; when one that keeps two is carried out, and another is due after two
    more commits.
    Then the first has nothing to do, and the second has; the last is planned after the second of those commits.
    """
    rewritten(case)
    case.schedule("clean", {**COMMITS, "hoodie.clean.commits.retained": "4"})
    case.schedule("clean", {**COMMITS, "hoodie.clean.commits.retained": "3"})
    case.state()
    case.run("clean", COMMITS)
    for ts in (50, 60):
        case.write("upsert", rides(ts, ("r01",)))
        case.schedule("clean", {**COMMITS, "hoodie.clean.trigger.max.commits": "2"})
    case.timeline()


@writing("cleaning/latest_versions", REWRITTEN, "CN-004 CN-001 CN-009", "clean-leaves-a-planned-file")
def latest_versions(case: WritingCase) -> None:
    """Of each group the newest versions stay, whenever they were written.

    Given two cities, of which one was written twice.
    When a clean keeps one version of each file.
    Then the table reads as before, and a moment of the past is refused as soon as it needs the one file that is gone.
    """
    case.create()
    first = case.write("insert", fleet(10))
    last = case.write("upsert", rides(20, ("r01",)))
    case.run("clean", VERSIONS)
    case.state()
    case.query("read_as_of", instant=last.bound)
    case.query("read_as_of", instant=first.bound, reject=GONE)


@writing(
    "cleaning/hours_back",
    REWRITTEN,
    "CN-003 CN-002 CN-009",
    "hours-keep-nothing-from-before hours-count-from-the-last-write",
)
def hours_back(case: WritingCase) -> None:
    """What a query of so many hours ago reads stays, though it was written long before; a bound is inclusive.

    Given two cities that were written days and hours apart.
    When a clean keeps 24 hours as of more than a day after the last write, then as of a day after the one before.
    Then there is nothing to plan at first, then the versions go that nobody has read since that write, and no others.
    """
    case.create()
    first = case.write("insert", fleet(10), now="20300101000000000")
    for hour, ts, key in (("0300", 20, "r01"), ("0500", 30, "r11"), ("0518", 40, "r01")):
        case.write("upsert", rides(ts, (key,)), now=f"203001{hour}0000000")
    case.schedule("clean", HOURS, now="20300106180000001")
    plan = case.schedule("clean", HOURS, now="20300106000000000")
    case.execute(plan, HOURS, now="20300106000000010")
    case.state()
    case.query("read_as_of", instant="20300105120000000")
    case.query("read_as_of", instant=first.requested, reject=GONE)


@writing("cleaning/pending_compaction", shapes(types=(MOR,)), "CN-002 CN-005 CN-001", "clean-ignores-pending-plans")
def pending_compaction(case: WritingCase) -> None:
    """What a pending compaction reads stays, and so does what was read as of the write before it.

    Given a compaction that has completed, logs on its slices, and a second compaction that waits.
    When the other city is overwritten, more writes come, a clean that keeps one commit is carried out and one that
    keeps one version, and the compaction after them; the same beside one more compaction, and beside a log compaction.
    Then until the second clean the write before the compaction is read as it was, the compactions find their files, of
    a city that was overwritten too, and the table reads as before; the slice that a plan reads is the one version.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("upsert", rides(20, ("r01", "r11")))
    case.run("compaction", COMPACTION_DUE)
    before = case.write("upsert", rides(30, ("r01", "r02")))
    waiting = case.schedule("compaction", COMPACTION_DUE)
    case.write("insert_overwrite", rides(35, ("r11",)))
    for ts in (40, 50):
        case.write("upsert", rides(ts, ("r01", "r12")))
    case.run("clean", LAST_COMMIT)
    case.query("read_as_of", instant=before.bound)
    case.write("upsert", rides(60, ("r01",)))
    case.run("clean", VERSIONS)
    case.state()
    case.execute(waiting, COMPACTION_DUE)
    case.optimized()
    case.state()
    case.write("upsert", rides(70, ("r01", "r02")))
    waiting = case.schedule("compaction", COMPACTION_DUE)
    case.write("upsert", rides(80, ("r01", "r02")))
    case.run("clean", VERSIONS)
    case.query("read_as_of", instant=before.bound, reject=GONE)
    case.execute(waiting, COMPACTION_DUE)
    for ts in (90, 100):
        case.write("upsert", rides(ts, ("r12",)))
    logs = case.schedule("logcompaction", _LOGS_DUE)
    case.write("insert_overwrite", rides(110, ("r11",)))
    case.run("clean", VERSIONS)
    case.execute(logs, _LOGS_DUE)
    case.state()


@writing("cleaning/one_at_a_time", REWRITTEN, "CN-006 CN-009", "cleans-planned-beside-each-other")
def one_at_a_time(case: WritingCase) -> None:
    """While a clean waits no other is planned.

    Given a planned clean that waits, and a commit since.
    When another clean is planned, the first is carried out by another process, and one more is planned.
    Then only the last finds something to plan.
    """
    rewritten(case)
    waiting = case.schedule("clean", COMMITS)
    case.write("upsert", rides(50, ("r01",)))
    case.schedule("clean", COMMITS)
    case.execute(waiting, COMMITS, process=2)
    case.run("clean", COMMITS)
    case.state()


@writing("cleaning/as_planned", REWRITTEN, "CN-009 TL-025", "clean-goes-by-what-is-old-by-then")
def as_planned(case: WritingCase) -> None:
    """A clean removes what its plan names, and nothing that has become old since.

    Given a planned clean that keeps one version of each file.
    When two more commits come and the clean is then carried out.
    Then the version that was the newest when it was planned is there.
    """
    *_, last = rewritten(case)
    waiting = case.schedule("clean", VERSIONS)
    case.write("upsert", rides(50, ("r01",)))
    case.write("upsert", rides(60, ("r01",)))
    case.execute(waiting, VERSIONS)
    case.query("read_as_of", instant=last.bound)
    case.state()


@writing("cleaning/replaced_groups", REWRITTEN, "CN-007 CN-001", "clean-takes-replaced-groups-at-once")
def replaced_groups(case: WritingCase) -> None:
    """Replaced groups stay whole as long as a retained commit reads them, and then go whole.

    Given two commits, a city deleted as a partition, another one overwritten, and one more commit.
    When a clean keeps three commits, which read the old groups still, and later ones keep the last two.
    Then the first clean has nothing to do, though of the one city nothing is left; one that keeps the overwrite as its
    oldest commit leaves the groups that it replaced, so that a range up to the write before both is answered; and they
    are gone after the last. A later deletion of a city counts among the commits; its groups go, too, with a clean that
    finds nothing else and may look at changes alone.
    """
    case.create()
    first = case.write("insert", [*fleet(10), ride("r31@bergen", 10)])
    second = case.write("upsert", rides(20, ("r01", "r11")))
    case.write("delete_partition", partitions=["bergen"])
    case.write("insert_overwrite", rides(30, ("r11", "r12")))
    keeping = {**COMMITS, **ALL_LOOKED_AT}
    case.schedule("clean", {**keeping, "hoodie.clean.commits.retained": "3"})
    case.query("read_as_of", instant=second.bound)
    case.write("upsert", rides(40, ("r01",)))
    case.run("clean", keeping)
    case.incremental(first, second)
    case.write("upsert", rides(50, ("r01",)))
    case.run("clean", keeping)
    case.query("read_as_of", instant=second.requested, reject=GONE)
    case.state()
    case.write("delete_partition", partitions=["lima"])
    case.run("clean", keeping)
    for key in ("x@cusco", "y@cusco"):
        case.write("insert", rides(60, (key,)))
        case.run("clean", COMMITS)
    case.state()


@writing("cleaning/savepoint", REWRITTEN, "CN-008 SR-002 SR-003", "clean-ignores-savepoints savepoint-keeps-nothing")
def savepoint(case: WritingCase) -> None:
    """What a savepoint names stays until the savepoint is deleted.

    Given four commits, of which the second is saved.
    When a clean keeps one version of each file, the savepoint is deleted, and another clean follows a commit.
    Then the saved files are there after the first clean, and gone after the second.
    """
    first, second, *_ = rewritten(case)
    case.service("savepoint", instant=second.requested)
    case.run("clean", {**VERSIONS, **ALL_LOOKED_AT})
    case.query("read_as_of", instant=second.bound)
    case.query("read_as_of", instant=first.bound, reject=GONE)
    case.service("delete_savepoint", instant=second.requested)
    case.write("upsert", rides(50, ("r01",)))
    case.run("clean", {**VERSIONS, **ALL_LOOKED_AT})
    case.query("read_as_of", instant=second.requested, reject=GONE)
    case.state()


@writing(
    "cleaning/saved_and_left_alone",
    REWRITTEN,
    "CN-008 CN-015 SR-003",
    "only-recent-partitions-cleaned clean-ignores-savepoints",
)
def saved_and_left_alone(case: WritingCase) -> None:
    """What a savepoint kept goes once it is deleted, also in a partition into which nobody writes any more.

    Given a saved insert, four updates of one city, inserts into another, and a clean after each: the first takes files.
    When the savepoint is deleted, one more insert comes, and a clean is planned.
    Then until the savepoint is deleted the saved files stay, and afterwards there is a clean that takes them.
    """
    case.create()
    first = case.write("insert", fleet(10))
    case.service("savepoint", instant=first.requested)
    for ts in (20, 30, 40):
        case.write("upsert", rides(ts, ("r01",)))
    case.run("clean", LAST_COMMIT)
    case.write("insert", [ride("r41@lima", 10)])
    case.run("clean", LAST_COMMIT)
    case.write("insert", [ride("r42@lima", 10)])
    case.schedule("clean", LAST_COMMIT)
    case.service("delete_savepoint", instant=first.requested)
    case.write("insert", [ride("r43@lima", 10)])
    case.run("clean", LAST_COMMIT)
    case.state()


@writing(
    "cleaning/one_of_two_saved",
    shapes((6, 9), (COW,)),
    "CN-008 CN-015 SR-003",
    "only-recent-partitions-cleaned clean-ignores-savepoints",
)
def one_of_two_saved(case: WritingCase) -> None:
    """What a deleted savepoint kept goes, though another savepoint stays.

    Given two saved versions of a city's file, newer ones, inserts into another city, and a clean after each.
    When the first savepoint is deleted, one more insert comes, and a clean is planned.
    Then it takes what that savepoint alone kept, and nothing of what the other keeps.
    """
    case.create()
    first = case.write("insert", rides(10, ("r01", "r02")))
    case.service("savepoint", instant=first.requested)
    second = case.write("upsert", rides(20, ("r01",)))
    case.service("savepoint", instant=second.requested)
    for ts in (30, 40, 50):
        case.write("upsert", rides(ts, ("r01",)))
    case.run("clean", LAST_COMMIT)
    case.write("insert", [ride("r41@bergen", 10)])
    case.run("clean", LAST_COMMIT)
    case.write("insert", [ride("r42@bergen", 10)])
    case.schedule("clean", LAST_COMMIT)
    case.service("delete_savepoint", instant=first.requested)
    case.write("insert", [ride("r43@bergen", 10)])
    case.run("clean", LAST_COMMIT)
    case.state()


@writing("cleaning/archived_and_left_alone", REWRITTEN, "CN-001 CN-015", "only-recent-partitions-cleaned")
def archived_and_left_alone(case: WritingCase) -> None:
    """Old files go also where the writes that left them have been archived since the last clean.

    Given a clean of one city, two updates of it, and inserts into another.
    When archival takes all but the newest inserts, and a clean is planned.
    Then there is one, and it takes the old files of the first city.
    """
    case.create()
    case.write("insert", fleet(10))
    for ts in (20, 30):
        case.write("upsert", rides(ts, ("r01",)))
    case.run("clean", LAST_COMMIT)
    for ts in (40, 50):
        case.write("upsert", rides(ts, ("r01",)))
    for number in range(1, 5):
        case.write("insert", [ride(f"r4{number}@lima", 10)])
    case.service("archive", ARCHIVING)
    case.timeline()
    case.run("clean", LAST_COMMIT)
    case.state()


@writing("cleaning/behind_the_archive", REWRITTEN, "RD-014 HS-008 AR-001", "past-of-the-active-timeline-only")
def behind_the_archive(case: WritingCase) -> None:
    """What a clean took is missed although the write that made it has been archived.

    Given a city that the first and the fourth of five writes changed, inserts into another one, and a clean.
    When archival takes the first two writes.
    Then the moment before the fourth write is refused, and that of the fourth is answered.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("insert", [ride("r41@bergen", 10)])
    third = case.write("insert", [ride("r42@bergen", 10)])
    fourth = case.write("upsert", rides(40, ("r01",)))
    case.write("insert", [ride("r43@bergen", 10)])
    case.run("clean", VERSIONS)
    case.service("archive", {**ARCHIVING, "hoodie.keep.min.commits": "3", "hoodie.keep.max.commits": "4"})
    case.query("read_as_of", instant=third.bound, reject=GONE)
    case.query("read_as_of", instant=fourth.bound)


@writing("cleaning/ranges", REWRITTEN, "IN-005 IN-007 RD-014", "ranges-end-with-what-is-retained")
def ranges(case: WritingCase) -> None:
    """A range is answered as long as the state at its end is there, or only services completed in it.

    Given a saved write to a city, a clustering of it, and four writes that changed it and another city.
    When a clean keeps one commit.
    Then the changes until the first write are answered, the clustering, whose file is gone, brought none, and those
    until the second write, whose file is gone, are refused.
    """
    case.create()
    first = case.write("insert", rides(10, ("r11", "r12")))
    case.service("savepoint", instant=first.requested)
    clustered = case.run("clustering", CLUSTERING_DUE)
    second, *_ = (case.write("upsert", rides(ts, ("r01", "r02", "r11"))) for ts in (20, 30, 40, 50))
    case.run("clean", LAST_COMMIT)
    case.incremental(None, first)
    case.incremental(first, clustered)
    case.query("read_incremental", begin="earliest", end=second.bound, reject=GONE)
    case.incremental(first)


def _feeds(*versions: int, kind: str, label: str = "", **properties: str) -> tuple[TableShape, ...]:
    """Tables with a change feed; `properties` by the last part of their name."""
    stated = {f"hoodie.table.cdc.{key.replace('_', '.')}": value for key, value in properties.items()}
    return shapes(versions, (kind,), properties={"hoodie.table.cdc.enabled": "true", **stated}, label=label)


@writing(
    "cleaning/change_feed",
    (
        *_feeds(*AND_DRAFT, kind=COW),
        *_feeds(6, kind=COW, label="keys", supplemental_logging_mode="OP_KEY_ONLY"),
        *_feeds(9, kind=COW, label="before", supplemental_logging_mode="DATA_BEFORE"),
        *_feeds(6, 8, 9, kind=MOR),
        *requiring((9,), properties={"hoodie.table.cdc.enabled": "true"}),
    ),
    "CD-002 CD-004 CD-005 CD-006 CD-007 RD-014",
    "deleted-rows-unreported",
)
def change_feed(case: WritingCase) -> None:
    """A change feed holds what each kind of write changed, until a clean takes what it needs.

    Given a table with a change feed and rides of two cities.
    When rides are updated and marked as deleted, in time and late, deleted, known and unknown ones, and come back
    beside a service; a city is emptied, the other overwritten, then deleted as a partition, and rides of both come; at
    last a clean keeps one commit.
    Then each write changed what the next read of the table shows, the service nothing, and after the clean the changes
    since the first write are refused, and those of the last answered.
    """
    if case.shape.label in {"", "required"}:
        case.schema = only(RIDES, ("id", "city", "ts", "rider", "paid", "ratio"))
    case.schema = Schema((*case.schema.fields, Field(_MARK, "boolean")))
    case.create()
    first = case.write("insert", rides(10, ("r01", "r02", "r03", "駅-06", "r11", "r12")))
    marked = [ride("駅-06", 20, **{_MARK: True}), ride("r03", 5, **{_MARK: True})]
    new = rides(20, ("r04", "r11"))
    updated = case.write("upsert", [ride("r01", 20), ride("r02", 5, rider="late"), *new, *marked])
    case.snapshot()
    deleted = case.write("delete", [ride("r01", 30), ride("r03", 5), ride("nobody", 30)])
    case.snapshot()
    service, due = ("compaction", COMPACTION_DUE) if case.is_mor else ("clustering", CLUSTERING_DUE)
    plan = case.schedule(service, due)
    waits = case.is_mor and case.shape.version != 8
    if not waits:
        case.execute(plan, due)
    again = case.write("upsert", [ride("r01", 40, rider="back"), ride("r11", 5, rider="late")])
    if waits:
        case.changes(deleted)
        case.execute(plan, due)
    emptied = case.write("delete", rides(40, ("r11", "r12", "r13")))
    overwritten = case.write("insert_overwrite", [ride("r02", 50), ride("new", 50)])
    gone = case.write("delete_partition", partitions=["oslo"])
    last = case.write("upsert", rides(60, ("r01", "r11")))
    case.snapshot()
    writes = (first, updated, deleted, again, emptied, overwritten, gone, last)
    for begin, end in itertools.pairwise((None, *writes)):
        case.changes(begin, end)
    case.changes(None)
    case.changes(updated, overwritten)
    case.run("clean", LAST_COMMIT)
    case.query("read_changes", begin=first.bound, reject=GONE)
    case.changes(gone)
    if not case.is_mor:
        case.shows("CD-003 CD-008 CD-010 CD-011", "cleaned-change-logs-are-lost")
        case.shows_draft("NL-011", "native-changes-lose-images")


@writing(
    "cleaning/older_pending_write",
    shapes(types=(COW,), configs=OPTIMISTIC),
    "CN-002 CN-001",
    "clean-overtakes-pending-writes",
)
def older_pending_write(case: WritingCase) -> None:
    """A clean retains what is needed as of the write before one that is still pending.

    Given three commits, a writer that has begun an update of one city, and three commits of the other city since.
    When a clean keeps one commit, the writer completes, another commit comes, and a clean keeps two commits.
    Then the third commit and those since are read as they were at first, and the first is refused; afterwards those two
    are kept that were requested last, though the slow one completed after the first of them, and no earlier one.
    """
    case.create()
    first, _, third = case.write("insert", fleet(10)), *(case.write("upsert", rides(ts, ("r11",))) for ts in (15, 20))
    case.begin("slow", "upsert", rides(25, ("r01",)))
    since = [case.write("upsert", rides(ts, ("r11",))) for ts in (30, 40, 50)]
    case.run("clean", LAST_COMMIT)
    case.state()
    for one in (third, *since):
        case.as_of(one)
    case.query("read_as_of", instant=first.requested, reject=GONE)
    case.stage("slow")
    case.commit("slow")
    last = case.write("upsert", rides(60, ("r11",)))
    case.run("clean", COMMITS)
    case.state()
    case.query("read_as_of", instant=last.bound)
    case.query("read_as_of", instant=since[-2].bound, reject=GONE)


@writing("cleaning/late_commit", shapes((8, 9), (COW,), configs=OPTIMISTIC), "CN-009", "late-commits-make-a-clean-due")
def late_commit(case: WritingCase) -> None:
    """A write that completes after a clean, but is older than one that the clean knew of, makes no other one due.

    Given three commits of a city, a writer that has begun an update of the other one, two more commits, and a clean.
    When the writer completes, and one more commit comes; each time a clean that keeps one commit is due after one.
    Then the first finds nothing to do, though there are files to remove, and the second removes them.
    """
    case.create()
    case.write("insert", fleet(10))
    for ts in (15, 20, 22):
        case.write("upsert", rides(ts, ("r11",)))
    case.begin("slow", "upsert", rides(25, ("r01",)))
    for ts in (30, 40):
        case.write("upsert", rides(ts, ("r11",)))
    case.run("clean", LAST_COMMIT)
    case.stage("slow")
    case.commit("slow")
    case.schedule("clean", LAST_COMMIT)
    case.timeline()
    case.write("upsert", rides(60, ("r11",)))
    case.run("clean", LAST_COMMIT)
    case.state()


@writing(
    "cleaning/partition_goes_whole",
    (*REWRITTEN, *shapes((6, 9), (COW,), partition_by=(), label="without_partitions")),
    "CN-011 CN-007",
    "overwrite-keeps-old-groups",
)
def partition_goes_whole(case: WritingCase) -> None:
    """A partition of which nothing is left goes, and comes back with the next write into it.

    Given a city that was deleted as a partition, or a table without partitions that was overwritten with nothing.
    When a clean keeps one version of each file, and a writer then inserts a ride of the city.
    Then the city is gone, and is there again with that ride alone; the table is there all the time.
    """
    case.create()
    case.write("insert", fleet(10))
    if case.shape.partition_by:
        case.write("delete_partition", partitions=["lima"])
    else:
        case.write("insert_overwrite_table", [])
    case.run("clean", VERSIONS)
    case.state()
    case.write("insert", [ride("r41@lima", 10)])
    case.state()


@writing("cleaning/empty_partition", shapes((6, 9), (COW,)), "CN-011 CN-001", "empty-partitions-are-cleaned-alone")
def empty_partition(case: WritingCase) -> None:
    """A partition that a restore has left without a file is no reason to clean.

    Given a saved insert, another one into a partition of its own, which a restore undid, and an insert since.
    When a clean is to keep the last commit, before and after an update has left an older file.
    Then there is nothing to plan at first, and that file to remove afterwards.
    """
    case.create()
    first = case.write("insert", rides(10, ("r01",)))
    case.service("savepoint", instant=first.requested)
    case.write("insert", rides(10, ("r11",)))
    case.service("restore", instant=first.requested)
    case.service("delete_savepoint", instant=first.requested)
    case.write("insert", rides(20, ("r02",)))
    case.schedule("clean", LAST_COMMIT)
    for ts in (30, 40):
        case.write("upsert", rides(ts, ("r01",)))
    case.run("clean", LAST_COMMIT)
    case.state()


@writing("cleaning/written_since", REWRITTEN, "CN-011 CN-012", "partition-goes-with-what-came-since")
def written_since(case: WritingCase) -> None:
    """A partition into which a write came after the plan stays.

    Given a city that was deleted as a partition, and a planned clean of its files.
    When a writer inserts a ride of the city, and the clean is then carried out.
    Then the ride is there.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("delete_partition", partitions=["lima"])
    waiting = case.schedule("clean", VERSIONS)
    case.write("insert", [ride("r41@lima", 10)])
    case.execute(waiting, VERSIONS)
    case.state()


@writing(
    "cleaning/staged_meanwhile",
    (*shapes((6, 9), (COW,), {**OPTIMISTIC, **SHARED_LOCK}), *shapes((8,), (MOR,), {**OPTIMISTIC, **SHARED_LOCK})),
    "CN-011 CN-012 OW-026",
    "partition-goes-with-what-came-since",
)
def staged_meanwhile(case: WritingCase) -> None:
    """A partition into which a writer has put files that is still at work stays.

    Given a city that was deleted as a partition, and a planned clean of its files.
    When a writer has made the file of a ride of the city, the clean is carried out, and the writer then completes.
    Then the ride is there.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("delete_partition", partitions=["lima"])
    waiting = case.schedule("clean", VERSIONS)
    case.begin("slow", "insert", [ride("r41@lima", 10)], process=2)
    case.stage("slow")
    case.execute(waiting, VERSIONS)
    case.state()
    case.commit("slow")
    case.state()


@writing("cleaning/done_once", REWRITTEN, "CN-012 CN-009", "lowest-state-rules")
def done_once(case: WritingCase) -> None:
    """A clean that has completed is not carried out again.

    Given a clean that has completed.
    When another process asks to carry it out once more, and the table is then written and cleaned again.
    Then there is no such plan any more, and the next clean has its own files.
    """
    *_, last = rewritten(case)
    plan = case.schedule("clean", COMMITS)
    case.execute(plan, COMMITS)
    case.execute(plan, COMMITS, process=2, reject="INSTANT_NOT_FOUND")
    case.write("upsert", rides(50, ("r01",)))
    case.run("clean", COMMITS)
    case.state()
    case.query("read_as_of", instant=last.bound)


@writing("cleaning/unknown_policy", shapes((9,), (COW,)), "CN-001", "unknown-policies-keep-all")
def unknown_policy(case: WritingCase) -> None:
    """A policy that nobody knows is refused.

    Given four commits.
    When a clean is planned by a policy of another name.
    Then it is refused, and nothing is planned.
    """
    rewritten(case)
    case.schedule("clean", {"hoodie.clean.policy": "KEEP_LATEST_MOODS"}, reject="CONFIG_INVALID")
    case.state()


@writing("cleaning/logs_by_completion", shapes((8, 9), (MOR,)), "CN-005 CN-001 CN-002", "clean-takes-every-old-slice")
def logs_by_completion(case: WritingCase) -> None:
    """Old slices go with their logs, and the slice that the retained commits need stays whole.

    Given two compactions with logs between and after them.
    When a clean keeps two commits.
    Then the table reads as before, and so does the first retained moment.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("upsert", rides(20, ("r01", "r11")))
    case.run("compaction", COMPACTION_DUE)
    case.write("upsert", rides(30, ("r01", "r11")))
    kept = case.write("upsert", rides(40, ("r01",)))
    case.run("compaction", COMPACTION_DUE)
    case.run("clean", COMMITS)
    case.state()
    case.query("read_as_of", instant=kept.bound)


@writing("cleaning/time_to_live", shapes(), "CN-014 CN-013 TL-027", "live-partitions-expire")
def time_to_live(case: WritingCase) -> None:
    """Partitions that have outlived their time are deleted by a replacecommit.

    Given five cities, and another clock: four cities were written long ago, and of these one was changed of late, into
    a log where there are logs, and one got another file; the fifth was written today.
    When old partitions are dropped, one at a time, today, then when the last city is as old as it may be, and many
    years later.
    Then at first the old cities go, which a log alone makes no younger, and a change of the table shows it; the last
    stays until its time is over, and so does the one whose younger file is of its day.
    """
    one_at_a_time = {KEPT: "30", "hoodie.partition.ttl.strategy.max.delete.partitions": "1"}
    case.create()
    old = ("r01", "r02", "駅-06", "r31@bergen", "r51@rome", "r61@cusco")
    case.write("insert", rides(10, old), now="20300101000000000")
    case.write("insert", rides(10, ("r11", "🚲-16", "r62@cusco")), now="20400101000000000")
    case.write("upsert", rides(20, ("r51@rome",)), now="20400101000000001")
    case.service("time_to_live", one_at_a_time, now="20400102000000000")
    case.slices()
    case.service("time_to_live", one_at_a_time, now="20400102000000001")
    case.state()
    case.service("time_to_live", {KEPT: "30"}, now="20400102000000002")
    case.state()
    case.service("time_to_live", {KEPT: "30"}, now="20400131000000000")
    case.slices()
    case.service("time_to_live", {KEPT: "30"}, now="20500101000000000")
    case.state()


KEPT: Final = "hoodie.partition.ttl.strategy.days.retain"
