"""Compactions: planned and carried out apart, beside a writer, tried again; what they write and how they complete."""

from collections.abc import Mapping
from typing import Final

from hudi_conformance.corpus.golden.rides import KEYS, fleet, ride, rides
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import AND_DRAFT, COW, MOR, OPTIMISTIC, SHARED_LOCK, requiring, shapes
from hudi_conformance.corpus.writing.steps import Done, WritingCase

DUE: Final = {"hoodie.compact.inline.max.delta.commits": "1"}
TABLES: Final = shapes(types=(MOR,))
LOGGING: Final = {
    **OPTIMISTIC,
    **SHARED_LOCK,
    "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "2",
}
"""A writer that adds logs to the slice that it knows, and is in nobody's way."""


def logged(case: WritingCase) -> tuple[Done, Done]:
    """A table of two cities with logs on some of its slices: an update, a late one, and a delete."""
    case.create()
    first = case.write("insert", fleet(10))
    case.write("upsert", [*rides(20, ("r01", "r02", "駅-06")), ride("r11", 5, rider="late"), ride("🚲-16", None)])
    return first, case.write("delete", rides(None, ("r03",)))


@writing(
    "compaction/result",
    (*shapes(AND_DRAFT, (MOR,)), *requiring((9,), (MOR,), ordering=False)),
    "CP-001 CP-004 CP-006",
    "compaction-reads-logs-only plan-takes-one-slice compaction-dates-its-files-late",
)
def result(case: WritingCase) -> None:
    """Each slice with logs gets a base file that holds what a snapshot reads.

    Given updates, a late update and a delete in the logs of two cities.
    When a compaction is planned and carried out.
    Then base files alone hold the rows of a snapshot, under the instant of the plan; slices without logs keep theirs.
    """
    logged(case)
    case.run("compaction", DUE)
    case.optimized()
    case.state()


@writing("compaction/with_an_option_of_reads", TABLES, "CP-001 CP-004", "compaction-reads-logs-only")
def with_an_option_of_reads(case: WritingCase) -> None:
    """The option by which reads leave logs unmerged changes no compaction.

    Given two updates of one ride and one of another in the logs of two cities.
    When a process that has the option compacts.
    Then base files hold the rows of a snapshot, one for each key.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("upsert", rides(20, ("r01", "r11")))
    case.write("upsert", rides(30, ("r01",)))
    case.run("compaction", {**DUE, "hoodie.datasource.merge.type": "skip_merge"})
    case.optimized()


@writing("compaction/carried_out_later", shapes(AND_DRAFT, (MOR,)), "CP-002 CP-005 TL-025", "executor-plans-anew")
def carried_out_later(case: WritingCase) -> None:
    """A plan is carried out as it was made.

    Given a table whose compaction is planned by one process.
    When a writer updates planned rides and others, and another process then carries the plan out.
    Then the base files hold the rows of the plan's time, and the later update lies on top of them.
    """
    logged(case)
    plan = case.schedule("compaction", DUE)
    case.write("upsert", rides(30, ("r01", "r04", "r12")))
    case.state()
    case.execute(plan, DUE, process=2)
    case.optimized()
    case.state()


@writing("compaction/plans_apart", TABLES, "CP-003 CP-012", "plans-share-groups")
def plans_apart(case: WritingCase) -> None:
    """A second plan leaves out the groups of the first.

    Given a planned compaction that waits, and more updates.
    When another compaction is planned.
    Then there is nothing to plan, until the first has completed.
    """
    logged(case)
    plan = case.schedule("compaction", DUE)
    case.write("upsert", rides(30, ("r01", "r02")))
    case.schedule("compaction", DUE)
    case.timeline()
    case.execute(plan, DUE)
    case.run("compaction", DUE)
    case.optimized()
    case.state()


@writing(
    "compaction/rows_keep_their_write",
    TABLES,
    "CP-007",
    "compaction-rewrites-commit-time",
)
def rows_keep_their_write(case: WritingCase) -> None:
    """A compaction brings no row anew.

    Given updates and a delete in logs.
    When a compaction has completed, and a reader requests what came after the last write, and after the first.
    Then nothing came after the last write, and after the first one what the writes brought.
    """
    first, last = logged(case)
    case.run("compaction", DUE)
    case.snapshot()
    case.incremental(last)
    case.incremental(first)
    case.write("upsert", rides(40, ("r13",)))
    case.incremental(last)


@writing("compaction/slice_without_rows", TABLES, "CP-007 CP-004", "empty-slices-get-no-base-file")
def slice_without_rows(case: WritingCase) -> None:
    """A slice in which no row is left gets a base file all the same.

    Given a city all of whose rides are deleted by logs.
    When a compaction has completed.
    Then its base file without rows stands for the city, and the rides do not come back.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("delete", rides(None, KEYS["lima"]))
    case.write("upsert", rides(20, ("r01",)))
    case.run("compaction", DUE)
    case.optimized()
    case.state()


@writing(
    "compaction/beside_a_writer",
    shapes((8, 9), (MOR,), LOGGING),
    "CP-009 CP-011 CP-005",
    "compaction-waits-for-writers",
)
def beside_a_writer(case: WritingCase) -> None:
    """A compaction is planned while a write is inflight; the write lands on the slice that the plan opens.

    Given a writer that has made its logs and not committed.
    When a compaction is planned and carried out, and the write then commits.
    Then the compaction has none of the write's rows, and the snapshot has them.
    """
    logged(case)
    case.begin("one", "upsert", rides(30, ("r14",)))
    case.stage("one")
    plan = case.schedule("compaction", DUE)
    case.execute(plan, DUE)
    case.optimized()
    case.commit("one")
    case.state()
    case.run("compaction", DUE)
    case.optimized()


@writing("compaction/carried_out_beside_a_writer", shapes((6,), (MOR,)), "CP-011 CP-005", "plan-skips-a-log")
def carried_out_beside_a_writer(case: WritingCase) -> None:
    """A planned compaction is carried out while a write is inflight, without a lock.

    Given a compaction that is planned, and a writer that then made its logs and has not committed.
    When the compaction is carried out, and the write then commits.
    Then the compaction has none of the write's rows, and the snapshot has them.
    """
    logged(case)
    plan = case.schedule("compaction", DUE)
    case.begin("one", "upsert", rides(30, ("r14",)))
    case.stage("one")
    case.execute(plan, DUE)
    case.optimized()
    case.commit("one")
    case.state()


@writing("compaction/waits_for_a_writer", shapes((6,), (MOR,)), "CP-009", "v6-compaction-beside-writers")
def waits_for_a_writer(case: WritingCase) -> None:
    """Before version 8 a compaction waits for writes that began earlier.

    Given a lone writer that has made its logs and not committed.
    When a compaction is planned.
    Then there is no plan before the write has completed.
    """
    logged(case)
    case.begin("one", "upsert", rides(30, ("r01", "r14")))
    case.stage("one")
    case.schedule("compaction", DUE)
    case.commit("one")
    case.run("compaction", DUE)
    case.optimized()
    case.state()


@writing("compaction/done_once", TABLES, "CP-010 CP-002", "lowest-state-rules")
def done_once(case: WritingCase) -> None:
    """A plan that has completed is not carried out again.

    Given a compaction that has completed.
    When another process carries out its plan once more.
    Then there is no such plan any more, and the table stays as it is.
    """
    logged(case)
    plan = case.schedule("compaction", DUE)
    case.execute(plan, DUE)
    case.execute(plan, DUE, process=2, reject="INSTANT_NOT_FOUND")
    case.state()


@writing(
    "compaction/planned_before_a_write",
    shapes(types=(MOR,), configs={**OPTIMISTIC, **SHARED_LOCK}),
    "CP-006 OW-006",
    "compaction-completes-as-a-write",
)
def planned_before_a_write(case: WritingCase) -> None:
    """A compaction that was planned before a write began is not in its way.

    Given a compaction that is planned, and a writer that then begins and makes logs on a planned slice.
    When the compaction completes before the write does.
    Then the write commits all the same: a compaction changes no row, and its completed file says that it is one.
    """
    logged(case)
    plan = case.schedule("compaction", DUE)
    case.begin("one", "upsert", rides(30, ("r01", "r14")))
    case.stage("one")
    case.execute(plan, DUE, process=2)
    case.commit("one")
    case.state()
    case.optimized()


@writing("compaction/copy_on_write", shapes(types=(COW,)), "CP-001", "copy-on-write-is-compacted")
def copy_on_write(case: WritingCase) -> None:
    """Tables without logs are not compacted.

    Given a copy-on-write table.
    When a compaction is planned.
    Then it is refused.
    """
    case.create()
    case.write("insert", fleet(10))
    case.write("upsert", rides(20, ("r01", "r11")))
    case.schedule("compaction", DUE, reject="CONFIG_INVALID")
    case.state()


_TRIGGER: Final = "hoodie.compact.inline.trigger.strategy"
_COMMITS: Final = "hoodie.compact.inline.max.delta.commits"
_SECONDS: Final = "hoodie.compact.inline.max.delta.seconds"
_NEVER: Final = "100000"


def _not_yet(case: WritingCase, *every: Mapping[str, str]) -> None:
    for configs in every:
        case.schedule("compaction", configs)
    case.timeline()


@writing("compaction/triggers", TABLES, "CP-008", "any-trigger-is-enough time-triggers-count-commits")
def triggers(case: WritingCase) -> None:
    """A compaction is due by commits, by time, by both or by either, as the trigger says.

    Given a table with three deltacommits, and settings by which time or commits are enough or are not.
    When a compaction is planned by each trigger, before and after one that waits and one that has completed.
    Then there is a plan only where what the trigger goes by is enough; the one that waits counts for one trigger alone.
    """
    many, late = {_COMMITS: "3", _SECONDS: _NEVER}, {_COMMITS: "4", _SECONDS: "0"}
    case.create()
    case.write("insert", fleet(10))
    case.write("upsert", [*rides(20, ("r01", "r02", "駅-06")), ride("r11", 5, rider="late")])
    case.write("upsert", rides(20, ("r03",)))
    _not_yet(
        case,
        {**many, _TRIGGER: "TIME_ELAPSED"},
        {**many, _TRIGGER: "NUM_AND_TIME"},
        {**late, _TRIGGER: "NUM_AND_TIME"},
        {**late, _TRIGGER: "NUM_COMMITS"},
        {_COMMITS: "4", _SECONDS: _NEVER, _TRIGGER: "NUM_OR_TIME"},
    )
    plan = case.schedule("compaction", {**late, _TRIGGER: "NUM_OR_TIME"})
    case.timeline()
    case.write("upsert", [ride("r15@bergen", 30), *rides(30, ("r04", "r12"))])
    case.write("upsert", [ride("r15@bergen", 40), *rides(40, ("r04",))])
    _not_yet(case, {_COMMITS: "3", _TRIGGER: "NUM_COMMITS_AFTER_LAST_REQUEST"})
    second = case.schedule("compaction", {_COMMITS: "2", _TRIGGER: "NUM_COMMITS_AFTER_LAST_REQUEST"})
    case.timeline()
    case.execute(plan, DUE)
    case.execute(second, DUE)
    case.write("upsert", rides(50, ("r01", "r11")))
    _not_yet(case, {_COMMITS: "2", _SECONDS: "0", _TRIGGER: "NUM_AND_TIME"})
    case.run("compaction", {_COMMITS: "1", _SECONDS: "0", _TRIGGER: "NUM_AND_TIME"})
    case.write("upsert", rides(60, ("r02", "r12")))
    case.run("compaction", {_COMMITS: "9", _SECONDS: "0", _TRIGGER: "TIME_ELAPSED"})
    case.optimized()
    case.state()


_STRATEGY: Final = "hoodie.compaction.strategy"
_DAYS: Final = "hoodie.compaction.daybased.target.partitions"
_OF: Final = "org.apache.hudi.table.action.compact.strategy."
_DATES: Final = ("2024/02/28", "2024/02/29", "2999/01/01")


def _by(name: str, **settings: str) -> dict[str, str]:
    named = {f"hoodie.compaction.{key}": value for key, value in settings.items()}
    return {**DUE, _STRATEGY: f"{_OF}{name}CompactionStrategy", **named}


_HIVE: Final = {"hoodie.datasource.write.hive_style_partitioning": "true"}
_NAMED: Final = shapes((6, 9), (MOR,), properties=_HIVE, label="hive")


@writing("compaction/strategies", (*TABLES, *_NAMED), "CP-013 CP-003", "strategies-leave-nothing-out")
def strategies(case: WritingCase) -> None:
    """A plan takes the slices that a strategy selects, and the others keep their logs.

    Given a table with partitions of three days, named by their column or not, and logs in each of them.
    When compactions are planned by the newest days, by number of logs, by a pattern and by two strategies in turn.
    Then each compacts what the strategy selects, base files and the slices of a snapshot show which.
    """
    keys = [f"{number}@{day}" for day in _DATES for number in (1, 2)]
    case.create()
    case.write("insert", [ride(key, 10) for key in keys])

    def compacted(ts: int, configs: Mapping[str, str]) -> None:
        case.write("upsert", [ride(key, ts) for key in keys])
        case.run("compaction", configs)
        case.optimized()
        case.slices()

    compacted(20, _by("DayBased", **{"daybased.target.partitions": "1"}))
    compacted(30, _by("LogFileNumBased", **{"logfile.num.threshold": "2"}))
    compacted(60, _by("PartitionRegexBased", **{"partition.path.regex": "02/2[0-8]"}))
    several = f"{_OF}DayBasedCompactionStrategy,{_OF}LogFileNumBasedCompactionStrategy"
    compacted(70, {**DUE, _STRATEGY: several, _DAYS: "2", "hoodie.compaction.logfile.num.threshold": "2"})
    compacted(80, _by("UnBounded"))
    case.state()
