"""Optimistic writers beside each other, and beside table services: who is in whose way."""

from hudi_conformance.corpus.golden.rides import ride, rides
from hudi_conformance.corpus.writing.recipes.single_writes import BUCKETS, with_rides
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import MOR, OPTIMISTIC, SHARED_LOCK, shapes
from hudi_conformance.corpus.writing.steps import WritingCase

_BESIDE = shapes(configs=OPTIMISTIC)
_FEW = shapes(versions=(6, 9), configs=OPTIMISTIC)
_NOW = {"hoodie.compact.inline.max.delta.commits": "1"}
_CLUSTERS = {"hoodie.clustering.inline.max.commits": "1", "hoodie.clustering.async.max.commits": "1"}


@writing(
    "conflicts/one_group",
    _BESIDE,
    "OW-005 OW-004 OW-017",
    "overlap-not-checked concurrent-set-by-begin-time stats-forget-a-file",
)
def one_group(case: WritingCase) -> None:
    """Two writers change one file group: the first to complete wins.

    Given rides of two cities.
    When two upserts that began together change the same ride.
    Then the second to commit is refused, and what it staged does not count.
    """
    with_rides(case)
    case.begin("one", "upsert", [ride("r01", 20, rider="one")])
    case.begin("two", "upsert", [ride("r01", 30, rider="two")])
    case.stage("one")
    case.stage("two")
    case.commit("one")
    case.commit("two", reject="WRITE_CONFLICT")
    case.state()


@writing("conflicts/the_earlier_request_loses", _BESIDE, "OW-004 OW-005", "overlap-not-checked")
def the_earlier_request_loses(case: WritingCase) -> None:
    """What counts is who completes first, not who was requested first.

    Given rides of two cities.
    When of two upserts of one ride the one that began later completes first; and when of two upserts of another ride
    one begins before a third write has completed, and the other after it.
    Then the one that began earlier is refused; of the others the second to complete is, though all that was requested
    since the third write is its own.
    """
    with_rides(case)
    case.begin("one", "upsert", [ride("r01", 20, rider="one")])
    case.begin("two", "upsert", [ride("r01", 30, rider="two")])
    case.stage("two")
    case.stage("one")
    case.commit("two")
    case.commit("one", reject="WRITE_CONFLICT")
    case.begin("before", "upsert", [ride("r11", 20, rider="before")])
    case.write("upsert", [ride("r01", 40, rider="three")])
    case.begin("after", "upsert", [ride("r11", 30, rider="after")])
    case.stage("before")
    case.stage("after")
    case.commit("before")
    case.commit("after", reject="WRITE_CONFLICT")
    case.state()


@writing("conflicts/two_partitions", _BESIDE, "OW-005", "every-write-conflicts")
def two_partitions(case: WritingCase) -> None:
    """Writers of different partitions do not conflict.

    Given rides of two cities.
    When two upserts that began together change a ride of one city each.
    Then both commit.
    """
    with_rides(case)
    case.begin("one", "upsert", [ride("r01", 20)])
    case.begin("two", "upsert", [ride("r11", 20)])
    case.stage("two")
    case.stage("one")
    case.commit("one")
    case.commit("two")
    case.state()


@writing("conflicts/two_groups_of_a_partition", _FEW, "OW-005", "every-write-conflicts")
def two_groups_of_a_partition(case: WritingCase) -> None:
    """Writers of different file groups do not conflict, also within one partition.

    Given a city with two file groups.
    When two upserts that began together change a ride of one group each.
    Then both commit.
    """
    with_rides(case)
    case.write("insert", rides(10, ("r03",)))
    case.begin("one", "upsert", [ride("r01", 20)])
    case.begin("two", "upsert", [ride("r03", 20)])
    case.stage("one")
    case.stage("two")
    case.commit("two")
    case.commit("one")
    case.snapshot()
    case.slices()


@writing("conflicts/three_writers", _BESIDE, "OW-004 OW-005", "overlap-not-checked every-write-conflicts")
def three_writers(case: WritingCase) -> None:
    """Of three writers two share a file group.

    Given rides of two cities.
    When three upserts begin, two of them of one city, and commit one after the other.
    Then the second of the two is refused, and the third writer commits.
    """
    with_rides(case)
    for name, key in (("one", "r01"), ("two", "r02"), ("three", "r11")):
        case.begin(name, "upsert", [ride(key, 20, rider=name)])
        case.stage(name)
    case.commit("one")
    case.commit("two", reject="WRITE_CONFLICT")
    case.commit("three")
    case.state()


@writing("conflicts/two_processes", _FEW, "OW-005", "overlap-not-checked")
def two_processes(case: WritingCase) -> None:
    """Writers in different processes see each other on the table.

    Given rides of two cities, and a lock that processes share.
    When a writer of another process commits a change of the ride that a writer of this one has staged.
    Then this one is refused, and may try again.
    """
    with_rides(case)
    case.begin("one", "upsert", [ride("r01", 20, rider="one")], configs=SHARED_LOCK)
    case.stage("one")
    case.write("upsert", [ride("r01", 15, rider="two")], configs=SHARED_LOCK, process=2)
    case.commit("one", reject="WRITE_CONFLICT")
    case.write("upsert", [ride("r01", 20, rider="one")], configs=SHARED_LOCK)
    case.state()


@writing("conflicts/delete_beside_update", _FEW, "OW-005", "overlap-not-checked")
def delete_beside_update(case: WritingCase) -> None:
    """A delete and an update of one file group conflict.

    Given rides of two cities.
    When a delete of one ride and an upsert of another of the same file group begin together.
    Then the first to commit wins.
    """
    with_rides(case)
    case.begin("delete", "delete", [ride("r01", 20)])
    case.begin("update", "upsert", [ride("r02", 20)])
    case.stage("delete")
    case.stage("update")
    case.commit("delete")
    case.commit("update", reject="WRITE_CONFLICT")
    case.snapshot()


@writing("conflicts/inserts", _BESIDE, "OW-028 OW-012", "every-write-conflicts")
def inserts(case: WritingCase) -> None:
    """Inserts that open file groups of their own do not conflict.

    Given rides of two cities.
    When two inserts into one city, and an upsert of a new ride there, begin together.
    Then all three commit.
    """
    with_rides(case)
    case.begin("one", "insert", rides(20, ("r03",)))
    case.begin("two", "insert", rides(20, ("r04",)))
    case.begin("three", "upsert", rides(20, ("fähre-05",)))
    for name in ("one", "two", "three"):
        case.stage(name)
    for name in ("three", "one", "two"):
        case.commit(name)
    case.state()


@writing("conflicts/overwrite_beside_update", _FEW, "OW-005", "overlap-not-checked")
def overwrite_beside_update(case: WritingCase) -> None:
    """A write that replaces a file group conflicts with one that wrote it, whichever commits first.

    Given rides of two cities.
    When an insert overwrite of one city and an upsert of a ride there begin together, and the upsert commits first;
    then the same two again, and the overwrite commits first.
    Then the overwrite is refused, and the second time the upsert.
    """
    with_rides(case)
    case.begin("overwrite", "insert_overwrite", rides(20, ("r03",)))
    case.begin("update", "upsert", [ride("r01", 20)])
    case.stage("overwrite")
    case.stage("update")
    case.commit("update")
    case.commit("overwrite", reject="WRITE_CONFLICT")
    case.state()
    case.begin("second update", "upsert", [ride("r01", 30)])
    case.begin("second overwrite", "insert_overwrite", rides(30, ("r03",)))
    case.stage("second update")
    case.stage("second overwrite")
    case.commit("second overwrite")
    case.commit("second update", reject="WRITE_CONFLICT")
    case.state()


@writing("conflicts/overwrite_leaves_what_came_since", _BESIDE, "OW-018 OW-028", "overwrites-take-what-came-since")
def overwrite_leaves_what_came_since(case: WritingCase) -> None:
    """Replaced are the file groups of the write's snapshot: one opened meanwhile stays.

    Given rides of two cities.
    When an insert into one city commits while an insert overwrite of that city is under way.
    Then the rides of the overwrite and of the insert are there, and the old ones are gone.
    """
    with_rides(case)
    case.begin("overwrite", "insert_overwrite", rides(20, ("r03",)))
    case.stage("overwrite")
    case.write("insert", rides(20, ("r04",)))
    case.commit("overwrite")
    case.state()


@writing("conflicts/overwrites_of_an_empty_partition", _BESIDE, "OW-035 OW-018", "overwrites-are-usual-commits")
def overwrites_of_an_empty_partition(case: WritingCase) -> None:
    """Two overwrites of one partition conflict, also where neither finds a file group to replace.

    Given rides of two cities.
    When two insert overwrites of a third city begin together, and complete one after the other.
    Then by the text the second is refused; as released both complete, and the rides of both are there.
    """
    with_rides(case)
    case.begin("one", "insert_overwrite", [{**ride("r03", 20), "city": "quito"}])
    case.begin("two", "insert_overwrite", [{**ride("r04", 20), "city": "quito"}])
    case.stage("one")
    case.stage("two")
    case.commit("one")
    case.commit("two", text_rejects="OW-035")
    case.snapshot()


@writing(
    "conflicts/overwrites_of_two_partitions",
    _BESIDE,
    "OW-035 OW-018",
    "every-write-conflicts overwrites-conflict-everywhere",
)
def overwrites_of_two_partitions(case: WritingCase) -> None:
    """Overwrites of different partitions do not conflict.

    Given rides of two cities.
    When insert overwrites of two more cities begin together, and an insert into one of these completes first.
    Then all complete.
    """
    with_rides(case)
    case.begin("one", "insert_overwrite", [{**ride("r03", 20), "city": "quito"}])
    case.begin("two", "insert_overwrite", [{**ride("r04", 20), "city": "riga"}])
    case.stage("one")
    case.stage("two")
    case.write("insert", [{**ride("r05", 20), "city": "quito"}])
    case.commit("one")
    case.commit("two")
    case.snapshot()


@writing("conflicts/new_key_twice", _FEW, "OW-002 OW-003", "writes-see-what-completes-meanwhile")
def new_key_twice(case: WritingCase) -> None:
    """A write builds on what had completed when it began.

    Given rides of two cities.
    When an upsert of a new ride begins, another of the same ride begins and completes, and the first goes on.
    Then each has opened a file group for the ride, for neither knew it when it began.
    """
    with_rides(case)
    case.begin("one", "upsert", [ride("r03", 20, rider="one")])
    case.write("upsert", [ride("r03", 30, rider="two")])
    case.stage("one")
    case.commit("one")
    case.state()


@writing(
    "conflicts/new_bucket_twice",
    shapes(configs={**OPTIMISTIC, **BUCKETS}),
    "OW-023 OW-005",
    "buckets-conflict-by-file-id every-write-conflicts",
)
def new_bucket_twice(case: WritingCase) -> None:
    """Two writers that each open a file group for one bucket overlap, whichever keys they bring.

    Given rides in one bucket of a city.
    When five upserts begin together: of two new rides of one bucket that has no file group, of the first of these once
    more, of a ride of another bucket, and of one of another city in a bucket of the same number.
    Then the first to commit wins, the two that share its bucket are refused, and the others commit; tried again, a
    refused one finds the file group of the first.
    """
    case.create()
    case.write("upsert", rides(10, ("r02",)))
    upserts = {"first": "r01", "other key": "r05", "same key": "r01", "other bucket": "r04", "other city": "r12"}
    for number, (name, key) in enumerate(upserts.items()):
        case.begin(name, "upsert", [ride(key, 20 - number, rider=name)])
    for name in upserts:
        case.stage(name)
    case.commit("first")
    case.commit("other key", reject="WRITE_CONFLICT")
    case.commit("same key", reject="WRITE_CONFLICT")
    case.commit("other bucket")
    case.commit("other city")
    case.write("upsert", [ride("r05", 30)])
    case.snapshot()
    if not case.is_mor:
        case.slices()


@writing("conflicts/update_beside_its_insert", shapes(configs=OPTIMISTIC), "OW-003 OW-002", "tagging-sees-nothing")
def update_after_insert(case: WritingCase) -> None:
    """A write that begins after another has completed builds on it.

    Given rides of two cities.
    When an upsert of a new ride completes while another writer is under way, and a third begins then.
    Then the third updates the ride where the first put it.
    """
    with_rides(case)
    case.begin("slow", "upsert", [ride("r11", 20)])
    case.write("upsert", [ride("r03", 20)])
    case.write("upsert", [ride("r03", 30, rider="third")])
    case.stage("slow")
    case.commit("slow")
    case.snapshot()
    case.slices()


@writing("conflicts/alone", shapes(configs=OPTIMISTIC), "OW-026", "every-mode-is-known")
def alone(case: WritingCase) -> None:
    """A writer that is configured as the only one checks nothing, and an unknown mode is refused.

    Given rides of two cities.
    When two writes of a process configured as the only writer follow each other, and one names no mode there is.
    Then the two complete, and the third is refused.
    """
    case.create()
    single = {"hoodie.write.concurrency.mode": "SINGLE_WRITER"}
    case.write("insert", rides(10, ("r01", "r11")), configs=single)
    case.write("upsert", rides(20, ("r01",)), configs=single)
    mode = {"hoodie.write.concurrency.mode": "TOTAL_ANARCHY"}
    case.write("upsert", rides(30, ("r01",)), configs=mode, reject="CONFIG_INVALID")
    case.snapshot()


@writing(
    "conflicts/compaction_planned_since",
    shapes(versions=(8, 9), types=(MOR,), configs=OPTIMISTIC),
    "OW-006",
    "plans-never-conflict",
)
def compaction_planned_since(case: WritingCase) -> None:
    """A compaction that is planned while a write is under way is in its way.

    Given rides with a log.
    When a compaction of their file group is planned after an upsert began; later a log compaction is, which waits.
    Then the upsert is refused both times; one that begins after the plan is not.
    """
    with_rides(case)
    case.write("upsert", [ride("r01", 15)])
    case.begin("one", "upsert", [ride("r01", 20, rider="one")])
    case.stage("one")
    plan = case.schedule("compaction", _NOW)
    case.commit("one", reject="WRITE_CONFLICT")
    case.write("upsert", [ride("r01", 30, rider="two")])
    case.state()
    case.execute(plan)
    case.state()
    case.write("upsert", [ride("r01", 40)])
    case.begin("three", "upsert", [ride("r01", 50, rider="three")])
    case.stage("three")
    case.schedule("logcompaction", {"hoodie.log.compaction.blocks.threshold": "2"})
    case.commit("three", reject="WRITE_CONFLICT")
    case.state()


@writing(
    "conflicts/compaction_planned_before", shapes(types=(MOR,), configs=OPTIMISTIC), "OW-006", "every-plan-conflicts"
)
def compaction_planned_before(case: WritingCase) -> None:
    """A compaction that was planned before a write began is in nobody's way.

    Given rides with a log, and a compaction that is planned.
    When an upsert of the same file group begins, the compaction is carried out, and the upsert commits.
    Then the log of the upsert lies on what the compaction made.
    """
    with_rides(case)
    case.write("upsert", [ride("r01", 15)])
    plan = case.schedule("compaction", _NOW)
    case.begin("one", "upsert", [ride("r01", 20, rider="one")])
    case.stage("one")
    case.execute(plan)
    case.commit("one")
    case.state()
    case.optimized()


@writing("conflicts/pending_clustering", _BESIDE, "OW-011", "pending-clustering-not-seen")
def pending_clustering(case: WritingCase) -> None:
    """A write that changes a file group which a pending clustering is to replace is refused.

    Given rides of two cities, and a clustering that is planned.
    When an upsert changes a ride, a deletion takes its city, and an insert brings a new one.
    Then the upsert and the deletion are refused and the insert is not, and the clustering is carried out.
    """
    with_rides(case)
    plan = case.schedule("clustering", _CLUSTERS)
    case.write("upsert", [ride("r01", 20)], reject="WRITE_CONFLICT")
    case.write("delete_partition", partitions=["oslo"], reject="WRITE_CONFLICT")
    case.write("insert", rides(20, ("r03",)))
    case.execute(plan)
    case.state()


@writing(
    "conflicts/overwrite_of_planned_groups",
    (
        *_BESIDE,
        *shapes((9,), configs=OPTIMISTIC, label="without_meta", properties={"hoodie.populate.meta.fields": "false"}),
    ),
    "OW-011 OW-018",
    "overwrites-pass-pending-clusterings",
)
def overwrite_of_planned_groups(case: WritingCase) -> None:
    """A write that replaces a file group which a pending clustering is to replace is refused.

    Given rides of two cities, and a clustering that is planned.
    When overwrites of a city and of the table and a deletion of the city are tried, and an overwrite that only brings a
    new city.
    Then the first three are refused and the last is not, and the clustering is carried out.
    """
    with_rides(case)
    case.write("insert", rides(10, ("r03",)))
    plan = case.schedule("clustering", _CLUSTERS)
    case.write("insert_overwrite", rides(20, ("r01",)), reject="WRITE_CONFLICT")
    case.write("insert_overwrite_table", rides(20, ("r01",)), reject="WRITE_CONFLICT")
    case.write("delete_partition", partitions=[ride("r01", 20)["city"]], reject="WRITE_CONFLICT")
    case.write("insert_overwrite", rides(20, ("new@bergen",)))
    case.execute(plan)
    case.state()
