"""Clusterings: slices read together and written anew, in file groups that take the place of theirs."""

from decimal import Decimal
from typing import Final

from hudi_conformance.corpus.golden.rides import KEYS, fleet, ride, rides
from hudi_conformance.corpus.writing.recipes.compactions import DUE as COMPACTION_DUE
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import COW, MOR, OPTIMISTIC, SHARED_LOCK, shapes
from hudi_conformance.corpus.writing.steps import Done, WritingCase

DUE: Final = {"hoodie.clustering.inline.max.commits": "1", "hoodie.clustering.async.max.commits": "1"}
EVERYWHERE: Final = {**DUE, "hoodie.table.services.incremental.enabled": "false"}
"""Partitions that nobody wrote to since the last clustering are planned too."""
TABLES: Final = shapes()
SHARED: Final = shapes(configs={**OPTIMISTIC, **SHARED_LOCK})


def written(case: WritingCase) -> tuple[Done, Done]:
    """Two inserts, so that cities have two groups each, then an update, a late one and a delete."""
    case.create()
    first = case.write("insert", fleet(10))
    case.write("insert", [ride("r21@oslo", 10), ride("r22@lima", 10)])
    case.write("upsert", [ride("r01", 20), ride("r11", 5, rider="late"), ride("r22@lima", 20)])
    return first, case.write("delete", rides(None, ("r12",)))


@writing("clustering/result", TABLES, "CL-004 CL-006 CL-003", "clustering-replaces-nothing")
def result(case: WritingCase) -> None:
    """The groups of a plan become new ones with the rows that a snapshot reads.

    Given cities with two file groups each, updates and a delete.
    When a clustering is planned and carried out; again when the rides of one city are deleted, and when all are.
    Then the table has the same rows, in one new group a city, and it completes as a replacecommit; the groups of a city
    without rides become none, and an upsert opens one again.
    """
    written(case)
    case.run("clustering", DUE)
    case.optimized()
    case.state()
    case.write("delete", rides(None, (*KEYS["lima"], "r22@lima")))
    case.run("clustering", EVERYWHERE)
    case.state()
    case.write("delete", rides(None, (*KEYS["oslo"], "r21@oslo")))
    case.run("clustering", EVERYWHERE)
    case.state()
    case.write("upsert", rides(30, ("r01", "r11")))
    case.state()
    if case.is_mor:
        case.shows(kills="clustering-reads-base-files-only")


@writing("clustering/plan", TABLES, "CL-003 CP-002 TL-006", "clustering-waits-under-another-name")
def plan(case: WritingCase) -> None:
    """A plan waits under the name that the version has for it, and changes no row.

    Given cities with two file groups each.
    When a clustering is planned, and another process carries it out.
    Then the plan is requested as a replacecommit before version 8 and as a clustering later, and completes as one name.
    """
    written(case)
    plan_step = case.schedule("clustering", DUE)
    case.timeline()
    case.snapshot()
    case.execute(plan_step, DUE, process=2)
    case.state()


@writing("clustering/rows_keep_their_write", TABLES, "CL-007 TL-027", "clustering-rewrites-commit-time")
def rows_keep_their_write(case: WritingCase) -> None:
    """A clustering brings no row anew.

    Given two inserts, an update and a delete.
    When a clustering has completed, and a reader requests what came after the last write, and after the first.
    Then nothing came after the last write, and after the first one what the writes brought.
    """
    first, last = written(case)
    case.run("clustering", DUE)
    case.snapshot()
    case.incremental(last)
    case.incremental(first)


@writing("clustering/keys_that_stand_twice", shapes(types=(MOR,)), "IN-001 CL-007", "one-row-a-key-before")
def keys_that_stand_twice(case: WritingCase) -> None:
    """Rows of one key that a clustering brings together are not taken for each other.

    Given one ride that inserts have left twice in a city, and once in another city.
    When a clustering has completed, another ride is updated, and a reader requests what came after the first insert
    and after the last.
    Then that ride alone came after the last one, and after the first one the rows of the others, too.
    """
    case.create()
    first = case.write("insert", fleet(10))
    case.write("insert", [ride("r01", 20, rider="again"), ride("r02", 20)])
    last = case.write("insert", [ride("r01", 30, city="lima")])
    case.run("clustering", DUE)
    case.write("upsert", [ride("r02@lima", 40)])
    case.incremental(last)
    case.incremental(first)
    case.snapshot()


@writing("clustering/sorted_rows", TABLES, "CL-009 CL-004", "clustering-unsorted")
def sorted_rows(case: WritingCase) -> None:
    """The rows of a clustering lie in the order of the column that its plan names, nulls first.

    Given cities with two file groups each, updates, and rides without a fare.
    When a clustering by fare is planned and carried out.
    Then it loses no row, and each file that it wrote has its rows in that order.
    """
    written(case)
    case.write("upsert", [ride("r02", 30, fare=None), ride("r03", 30, fare=Decimal("-1.50"))])
    case.run("clustering", {**DUE, "hoodie.clustering.plan.strategy.sort.columns": "fare"})
    case.state()
    case.sound()


@writing(
    "clustering/along_a_curve",
    (*shapes((6, 9), label="zorder"), *shapes((9,), label="hilbert"), *shapes((9,), (COW,), label="zorder_sampled")),
    "CL-010 CL-004 CL-006",
    "clustering-replaces-nothing",
)
def along_a_curve(case: WritingCase) -> None:
    """Rows that are clustered along a curve through several columns are the same rows.

    Given cities with two file groups each, updates, and rides without a fare or a day; or a city of one ride, too.
    When a clustering by rider, fare, day and ratio along the curve, or along that through the places of values in a
    sample, is carried out, and rides are then changed.
    Then no row is lost, and each key is found where it is now.
    """
    written(case)
    case.write("upsert", [ride("r02", 30, fare=None), ride("r03", 30, day=None), ride("r13", 30, ratio=None)])
    curve, _, sampled = case.shape.label.partition("_")
    if sampled:
        case.write("insert", [ride("r31", 30, city="rome")])
    case.run(
        "clustering",
        {
            **DUE,
            "hoodie.clustering.plan.strategy.sort.columns": "rider,fare,day,ratio",
            "hoodie.layout.optimize.strategy": "z-order" if curve == "zorder" else "hilbert",
            **({"hoodie.layout.optimize.curve.build.method": "SAMPLE"} if sampled else {}),
        },
    )
    case.state()
    case.write("upsert", rides(40, ("r02", "r12")))
    case.state()
    case.sound()


_PARTS: Final = {"hoodie.clustering.plan.strategy.target.file.max.bytes": "6000"}


@writing(
    "clustering/in_parts",
    (*shapes((6, 9)), *shapes((9,), (COW,), partition_by=(), label="one_place")),
    "CL-004 CL-006 CL-009 DM-001",
    "clustering-replaces-nothing",
)
def in_parts(case: WritingCase) -> None:
    """A clustering whose rows fill several files has each row in one of them.

    Given cities of thirty rides in several file groups, with updates.
    When they are clustered by fare into files of a few kilobytes, then changed, deleted and clustered again.
    Then no row is lost or there twice, and each key is found where it is now.
    """
    case.create()
    keys = [f"k{number:03}@{('oslo', 'lima')[number % 2]}" for number in range(60)]
    for start in (0, 20, 40):
        case.write("insert", rides(10, keys[start : start + 20]))
    case.write("upsert", rides(20, keys[::7]))
    sorted_by = {"hoodie.clustering.plan.strategy.sort.columns": "fare"}
    case.run("clustering", {**DUE, **_PARTS, **sorted_by})
    case.snapshot()
    case.sound()
    case.write("upsert", rides(30, keys[::5]))
    case.write("delete", rides(None, keys[::11]))
    case.snapshot()
    case.run("clustering", {**DUE, **_PARTS})
    case.snapshot()
    case.sound()


@writing("clustering/gives_up", SHARED, "CL-005", "clustering-over-updates")
def gives_up(case: WritingCase) -> None:
    """A clustering whose groups were written gives up, and so does a write whose groups were clustered.

    Given a planned clustering, and writers that may update its groups.
    When the clustering is carried out while an update of its groups is under way; and another is carried out after one.
    Then the first clustering completes and the update is refused; the second is refused and the update stands.
    """
    written(case)
    if case.shape.has_completion_times or not case.is_mor:
        # In version 6 any log of the slice prevents the clustering from completing.
        first = case.schedule("clustering", DUE)
        case.begin("update", "upsert", rides(20, ("r01",)), configs=ALLOWING)
        case.stage("update")
        case.execute(first, DUE)
        case.commit("update", reject="WRITE_CONFLICT")
        case.state()
    second = case.schedule("clustering", EVERYWHERE)
    case.write("upsert", rides(30, ("r01",)), configs=ALLOWING)
    case.execute(second, EVERYWHERE, reject="WRITE_CONFLICT")
    case.snapshot()


_ALLOW: Final = "org.apache.hudi.client.clustering.update.strategy.SparkAllowUpdateStrategy"
ALLOWING: Final = {"hoodie.clustering.updates.strategy": _ALLOW}


@writing("clustering/insert_beside_it", SHARED, "CL-005 CL-004", "clustering-replaces-nothing")
def insert_beside_it(case: WritingCase) -> None:
    """A clustering completes beside writes to other groups.

    Given a planned clustering, and a writer that began before the plan.
    When another writer inserts rides, which open groups of their own, the clustering is then carried out, and the first
    writer completes; rides come to the other cities, and a clustering is planned and carried out again.
    Then all stand, and the second clustering takes what the first writer brought.
    """
    written(case)
    case.begin("slow", "insert", [ride("r51@bergen", 30)])
    case.stage("slow")
    plan_step = case.schedule("clustering", DUE)
    case.write("insert", [ride("r31@oslo", 30)], process=2)
    case.execute(plan_step, DUE)
    case.commit("slow")
    case.state()
    case.write("insert", [ride("r32@oslo", 40), ride("r33@lima", 40)])
    case.run("clustering", DUE)
    case.state()


@writing("clustering/due_by_commits", TABLES, "CL-008 CL-003", "any-replacecommit-counts-as-a-clustering")
def due_by_commits(case: WritingCase) -> None:
    """Commits count since the last clustering, whatever else replaced file groups since.

    Given two inserts, a clustering, and an overwrite of one city.
    When clusterings are planned that are due after two commits, and an insert of the city comes between; later the same
    of clusterings that run beside writers, and one more insert while a plan waits.
    Then nothing is planned at first, and afterwards the groups of the city are; nothing is beside the plan that waits.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("insert", [ride("r21@oslo", 10), ride("r22@lima", 10)])
    case.run("clustering", AFTER_TWO)
    case.write("insert_overwrite", rides(20, ("r11", "r12")))
    case.schedule("clustering", AFTER_TWO)
    case.write("insert", [ride("r23@lima", 20)])
    case.run("clustering", AFTER_TWO)
    case.state()
    for key in ("r24@lima", "r25@lima"):
        case.write("insert", [ride(key, 30)])
        plan_step = case.schedule("clustering", BESIDE_AFTER_TWO)
    case.write("insert", [ride("r26@lima", 40)])
    case.schedule("clustering", BESIDE_AFTER_TWO)
    case.execute(plan_step)
    case.state()


AFTER_TWO: Final = {
    "hoodie.clustering.inline": "true",
    "hoodie.clustering.inline.max.commits": "2",
    "hoodie.table.services.incremental.enabled": "false",
}
BESIDE_AFTER_TWO: Final = {
    **AFTER_TWO,
    "hoodie.clustering.inline": "false",
    "hoodie.clustering.async.enabled": "true",
    "hoodie.clustering.async.max.commits": "2",
}


@writing("clustering/plans_apart", TABLES, "CL-002", "plans-share-groups")
def plans_apart(case: WritingCase) -> None:
    """A second plan leaves out the groups of the first.

    Given a planned clustering that waits, and an insert since.
    When another clustering is planned and carried out, and then the first.
    Then the second took the new group alone, and both together change no row.
    """
    written(case)
    first = case.schedule("clustering", DUE)
    case.write("insert", [ride("r31@oslo", 30)])
    second = case.schedule("clustering", DUE)
    case.execute(second, DUE)
    case.state()
    case.execute(first, DUE)
    case.state()


@writing("clustering/beside_a_compaction", shapes(types=(MOR,)), "CL-002 CP-003", "plans-share-groups")
def beside_a_compaction(case: WritingCase) -> None:
    """A clustering leaves out what a compaction has planned.

    Given a planned compaction that waits.
    When a clustering is planned and carried out, and then the compaction.
    Then the clustering took the groups without logs, and both together change no row.
    """
    written(case)
    compaction = case.schedule("compaction", COMPACTION_DUE)
    case.run("clustering", DUE)
    case.state()
    case.execute(compaction, COMPACTION_DUE)
    case.optimized()
    case.state()


@writing("clustering/replaces_only_rows_elsewhere", shapes(types=(COW,)), "TL-027 CL-006", "overwrite-keeps-old-groups")
def replaces_only_rows_elsewhere(case: WritingCase) -> None:
    """One replacecommit changes rows, another one does not.

    Given a table of two cities.
    When a city is overwritten, and the table is then clustered.
    Then the first replacecommit took the city's rides out of the table, and the second changed no row.
    """
    written(case)
    case.write("insert_overwrite", rides(40, ("r01", "r02")))
    case.snapshot()
    case.run("clustering", DUE)
    case.state()


_PLAN: Final = "hoodie.clustering.plan."
_DATES: Final = ("2024/02/28", "2024/02/29", "2024/03/01", "2999/01/01")
_NOTHING: Final = (
    {"strategy.partition.regex.pattern": "2024"},
    {"strategy.partition.selected": "2024/02"},
    {"strategy.small.file.limit": "1"},
)
_CHOICES: Final[tuple[dict[str, str], ...]] = (
    {"strategy.partition.selected": "2024/02/28,2999/01/01"},
    {"strategy.partition.regex.pattern": "2024/02/.*"},
    {"strategy.partition.regex.pattern": "2024"},
    {"strategy.partition.selected": "2024/02"},
    {"partition.filter.mode": "RECENT_DAYS"},
    {
        "partition.filter.mode": "RECENT_DAYS",
        "strategy.daybased.lookback.partitions": "1",
        "strategy.daybased.skipfromlatest.partitions": "1",
    },
    {"partition.filter.mode": "SELECTED_PARTITIONS", "strategy.cluster.begin.partition": "2024/02/29"},
    {
        "partition.filter.mode": "SELECTED_PARTITIONS",
        "strategy.cluster.begin.partition": "2024/02/29",
        "strategy.cluster.end.partition": "2024/03/01",
    },
    {"partition.filter.mode": "RECENT_DAYS", "strategy.partition.regex.pattern": "2024/.*"},
    {"strategy.small.file.limit": "1"},
)


@writing(
    "clustering/partitions",
    (*shapes((6, 8), (COW,)), *shapes((9,), (MOR,)), *shapes((6, 9), (COW,), label="rolling")),
    "CL-001 CL-003",
    "every-partition-is-clustered",
)
def partitions(case: WritingCase) -> None:
    """A plan takes the partitions that settings select, and leaves the groups of the others.

    Given a table with four partitions that are days, each written since the last clustering.
    When clusterings select partitions by name, by a pattern, by the newest days and by a range, or nothing matches, or
    no file is small.
    Then the slices of the selected partitions are replaced, those of the others are as they were; where a clustering
    goes by the hour, those of the partitions of that hour, and where single files stay, those of several files.
    """
    keys = [f"{number}@{day}" for day in _DATES for number in (1, 2)]
    case.create()
    if case.shape.label:
        _by_the_hour(case, keys)
        return
    for ts, choice in enumerate(_CHOICES):
        case.write("insert", [ride(f"{ts}{key}", ts) for key in keys])
        plan_step = case.schedule("clustering", {**DUE, **{_PLAN + name: value for name, value in choice.items()}})
        if choice not in _NOTHING:
            case.execute(plan_step, DUE)
        case.slices()
    case.state()


def _by_the_hour(case: WritingCase, keys: list[str]) -> None:
    """Of an hour that one partition has, and of one that none has; then of partitions with several files."""
    rolling = {**EVERYWHERE, f"{_PLAN}partition.filter.mode": "DAY_ROLLING"}
    several = {**EVERYWHERE, f"{_PLAN}strategy.single.group.clustering.enabled": "false"}
    day = "20400101"
    case.write("insert", [ride(key, 10) for key in keys], now=f"{day}000000000")
    case.execute(case.schedule("clustering", rolling, now=f"{day}020000000"), DUE, now=f"{day}020000001")
    case.slices()
    case.schedule("clustering", rolling, now=f"{day}040000000")
    case.write("insert", [ride(f"new@{city}", 20) for city in _DATES[:2]], now=f"{day}050000000")
    case.execute(case.schedule("clustering", several, now=f"{day}060000000"), DUE, now=f"{day}060000001")
    case.state()
