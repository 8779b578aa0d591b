"""Tables that change their version, and what is written to them before and after."""

from hudi_model.merging import COUNTER

from hudi_conformance.corpus.golden.rides import ride
from hudi_conformance.corpus.writing.recipes.cleanings import VERSIONS
from hudi_conformance.corpus.writing.recipes.clusterings import DUE as CLUSTERING_DUE
from hudi_conformance.corpus.writing.recipes.rollbacks import IMPATIENT, NEVER, abandoned
from hudi_conformance.corpus.writing.recipes.single_writes import with_rides
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import COW, MOR, OPTIMISTIC, SHARED_LOCK, requiring, shapes
from hudi_conformance.corpus.writing.steps import Configs, WritingCase

_NOW = {"hoodie.compact.inline.max.delta.commits": "1"}


def _changed(case: WritingCase) -> None:
    with_rides(case)
    case.write("upsert", [ride("r01", 20), ride("r11", 5), ride("r03", 20)])


def _goes_on(case: WritingCase) -> None:
    """Written to and read after a change of version."""
    case.write("upsert", [ride("r01", 30), ride("r02", 5, rider="late"), ride("r12", 30)])
    case.snapshot()
    case.info()
    if case.is_mor:
        case.shows("VR-005", "logs-stay-logs")


def to_the_other_version(case: WritingCase, configs: Configs | None = None) -> None:
    """A table of version 6 is upgraded to 9, one of version 9 downgraded to 6."""
    if case.shape.version == 6:
        case.service("upgrade", configs, to=9)
    else:
        case.service("downgrade", configs, to=6)


def _moved(case: WritingCase, service: str, version: int) -> None:
    """Changed, brought to another version, read, and gone on with."""
    _changed(case)
    case.service(service, to=version)
    case.snapshot()
    case.optimized()
    case.info()
    _goes_on(case)


@writing(
    "versions/six_to_nine",
    (*shapes(versions=(6,)), *requiring((6,), (MOR,))),
    "VR-004 VR-006 DM-002 OW-003",
    "version-stays tagging-sees-nothing",
)
def six_to_nine(case: WritingCase) -> None:
    """A table of version 6 becomes one of version 9.

    Given rides in a table of version 6, with changes and a late row.
    When it is upgraded, and written to.
    Then the rows are the same, its logs are compacted, and the write after it finds its keys and merges as before.
    """
    _moved(case, "upgrade", 9)
    case.shows("VR-007", "upgrade-to-commit-time")


@writing(
    "versions/six_to_eight",
    (*shapes(versions=(6,)), *shapes((6,), merge_mode="COMMIT_TIME_ORDERING", label="latest")),
    "VR-004 VR-006 VR-007",
    "version-stays",
)
def six_to_eight(case: WritingCase) -> None:
    """A table of version 6 becomes one of version 8.

    Given rides in a table of version 6, with changes and a late row, also one whose payload class takes the latest.
    When it is upgraded by one step, and written to.
    Then the rows are the same, its logs are compacted, and the write after it merges as before; but a merge-on-read
    table of that class, having an ordering field, now merges by it.
    """
    _moved(case, "upgrade", 8)
    if case.is_mor or not case.shape.label:
        case.shows("VR-007", "upgrade-to-commit-time")


@writing("versions/nine_to_six", shapes(versions=(9,)), "VR-004 VR-006", "version-stays")
def nine_to_six(case: WritingCase) -> None:
    """A table of version 9 becomes one of version 6.

    Given rides in a table of version 9, with changes and a late row.
    When it is downgraded, and written to.
    Then the rows are the same, and the write after it merges as before.
    """
    _moved(case, "downgrade", 6)


@writing("versions/eight_to_nine", shapes(versions=(8,)), "VR-004 VR-006 VR-008", "version-stays")
def eight_to_nine(case: WritingCase) -> None:
    """A table of version 8 becomes one of version 9.

    Given rides in a table of version 8.
    When it is upgraded, and written to.
    Then the rows are the same, and its ordering fields still decide.
    """
    _moved(case, "upgrade", 9)


@writing("versions/nine_to_eight", shapes(versions=(9,)), "VR-004 VR-008", "version-stays")
def nine_to_eight(case: WritingCase) -> None:
    """A table of version 9 becomes one of version 8.

    Given rides in a table of version 9.
    When it is downgraded, and written to.
    Then the rows are the same, and its ordering fields still decide.
    """
    _moved(case, "downgrade", 8)


@writing("versions/there_and_back", shapes(versions=(6,), types=(MOR,)), "VR-004 VR-005", "logs-stay-logs")
@writing(
    "versions/there_and_back_v6",
    shapes((6,), (MOR,), merge_mode="COMMIT_TIME_ORDERING", label="by_commit_time"),
    "VR-004 VR-005 VR-007 CP-004",
    "results-by-the-mode-of-now",
)
def there_and_back(case: WritingCase) -> None:
    """A table goes to version 9 and back.

    Given rides in a table of version 6, that merges by event time or by commit time, with a late row in its logs.
    When it is upgraded, changed, downgraded, and changed again.
    Then the rows have every change, and what the upgrade compacted is sound, also where it makes event time of
    commit time.
    """
    _changed(case)
    case.service("upgrade", to=9)
    case.sound()
    if case.shape.label:
        # In which mode it comes back is a question of its own (VR-007).
        case.snapshot()
        return
    case.write("upsert", [ride("r02", 30), ride("r12", 30)])
    case.service("downgrade", to=6)
    case.snapshot()
    _goes_on(case)


@writing("versions/pending_compaction", shapes(versions=(6, 9), types=(MOR,)), "VR-005", "logs-stay-logs")
def pending_compaction(case: WritingCase) -> None:
    """A compaction that is planned is carried out before the version changes.

    Given rides with logs, a compaction that is planned, and a log upon it.
    When the version changes.
    Then nothing is pending, there are no logs, and the rows are the same.
    """
    _changed(case)
    case.schedule("compaction", _NOW)
    case.write("upsert", [ride("r02", 40)])
    case.snapshot()
    to_the_other_version(case)
    case.snapshot()
    case.optimized()


@writing("versions/as_it_is", shapes(versions=(6, 9), types=(COW,)), "VR-004", "any-step-is-a-step")
def as_it_is(case: WritingCase) -> None:
    """A table that has the version already is left as it is, and no version but the known ones is gone to.

    Given rides of two cities.
    When the table is to change to the version that it has, and to one that nobody knows.
    Then the first changes nothing, and the second is refused.
    """
    with_rides(case)
    case.service("upgrade", to=case.shape.version)
    case.state()
    case.service("upgrade", to=7, reject="CONFIG_INVALID")
    case.state()


@writing(
    "versions/five_to_six",
    shapes(versions=(6,), types=(COW,)),
    "VR-004",
    "any-step-is-a-step",
    begins_with="v5/cow_upserts",
)
def five_to_six(case: WritingCase) -> None:
    """From version 5 the only way is to 6.

    Given a table of version 5.
    When it is to become version 9.
    Then it is refused, and the table is as it was.
    """
    case.snapshot()
    case.service("upgrade", to=9, reject="CONFIG_INVALID")
    case.state()


_OF_PAYLOADS = shapes(versions=(9,), types=(MOR,))


def _to_and_fro(case: WritingCase, first: tuple[str, int], second: tuple[str, int]) -> None:
    case.snapshot()
    for name, version in (first, second):
        case.service(name, to=version)
        case.snapshot()
        case.info()


_EACH = ("awsdms", "mysql_debezium", "partialupdate", "postgres_debezium")


@writing(
    "versions/payload_of_eight",
    shapes(versions=(8,), types=(MOR,)),
    "VR-008",
    "properties-are-not-restated",
    begins_with="v8/mor_payload_overwritenondefaultswithlatest",
)
def payload_of_eight(case: WritingCase) -> None:
    """A payload class that version 9 gives up becomes properties, and comes back with version 8.

    Given a table of version 8 that merges by a payload class.
    When it is upgraded, and downgraded again.
    Then the rows are the same throughout, and it reports how it merges in the words of each version.
    """
    _to_and_fro(case, ("upgrade", 9), ("downgrade", 8))


for _payload in _EACH:
    writing(
        f"versions/payload_of_eight_{_payload}",
        shapes(versions=(8,), types=(MOR,)),
        "VR-008 PL-010",
        "properties-are-not-restated",
        begins_with=f"v8/mor_payload_{_payload}",
    )(payload_of_eight)


@writing(
    "versions/payload_of_nine",
    _OF_PAYLOADS,
    "VR-008",
    "properties-are-not-restated",
    begins_with="v9/mor_payload_awsdms",
)
def payload_of_nine(case: WritingCase) -> None:
    """A payload class that a table of version 9 keeps as a legacy comes back with version 8.

    Given a table of version 9 whose properties say what a payload class did.
    When it is downgraded, and upgraded again.
    Then the rows are the same throughout, and it reports how it merges in the words of each version.
    """
    _to_and_fro(case, ("downgrade", 8), ("upgrade", 9))


for _payload in (*_EACH[1:], "overwritenondefaultswithlatest"):
    writing(
        f"versions/payload_of_nine_{_payload}",
        _OF_PAYLOADS,
        "VR-008 PL-010",
        "properties-are-not-restated",
        begins_with=f"v9/mor_payload_{_payload}",
    )(payload_of_nine)


@writing(
    "versions/custom_merging_stays",
    _OF_PAYLOADS,
    "VR-009",
    "version-stays custom-merging-becomes-version-6",
    begins_with="v9/mor_merger_counter",
)
def custom_merging_stays(case: WritingCase) -> None:
    """What version 6 cannot say keeps a table from it.

    Given a table whose merging is custom and names no payload class.
    When it is to become version 6.
    Then it is refused, and the table is as it was.
    """
    case.service("downgrade", to=6, reject="CONFIG_INVALID")
    case.snapshot()
    case.info()


@writing(
    "versions/merger_of_eight_stays",
    shapes((8,), (MOR,), merge_mode="CUSTOM", properties={"hoodie.record.merge.strategy.id": COUNTER.strategy}),
    "VR-009",
    "version-stays custom-merging-becomes-version-6",
)
def merger_of_eight_stays(case: WritingCase) -> None:
    """What version 6 cannot say keeps a table of version 8 from it.

    Given a table of version 8 whose merging is custom and names no payload class.
    When it is to become version 6.
    Then it is refused, and the table is as it was.
    """
    case.create()
    case.service("downgrade", to=6, reject="CONFIG_INVALID")
    case.info()


_ARCHIVES = {
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.clean.commits.retained": "1",
    "hoodie.timeline.compaction.batch.size": "2",
}


@writing("versions/archived_actions_of_eight", shapes(versions=(8,), types=(COW,)), "VR-010", "downgrade-drops-history")
@writing("versions/archived_actions", shapes(versions=(9,), types=(COW,)), "VR-010", "downgrade-drops-history")
def archived_actions(case: WritingCase) -> None:
    """Archived actions come along when a table changes its version.

    Given rides that were changed often enough for actions to be archived.
    When the table is downgraded to version 6.
    Then the whole timeline names every action, archived ones too, and the rows are the same.
    """
    with_rides(case)
    for number in range(4):
        case.write("upsert", [ride("r01", 20 + number)])
    case.service("archive", _ARCHIVES)
    case.timeline(include_history=True)
    case.service("downgrade", to=6)
    case.timeline(include_history=True)
    case.snapshot()


@writing("versions/archived_actions_of_six", shapes(versions=(6,)), "VR-010 VR-006", "downgrade-drops-history")
def archived_actions_of_six(case: WritingCase) -> None:
    """Archived actions of every kind come along when a table becomes one of version 9, and archival goes on there.

    Given rides whose commits, clean, clustering and, in logs, compaction are archived.
    When the table is upgraded, written to, and archived again.
    Then the whole timeline names every action throughout, and the rows are those of the writes.
    """
    with_rides(case)
    for number in range(3):
        case.write("upsert", [ride("r01", 20 + number)])
    if case.is_mor:
        case.run("compaction", _NOW)
    case.run("clustering", CLUSTERING_DUE)
    case.run("clean", VERSIONS)
    for number in range(4):
        case.write("upsert", [ride("r11", 20 + number)])
    if case.is_mor:
        # An upgrade would compact, and names no instant of it.
        case.run("compaction", _NOW)
    case.service("archive", _ARCHIVES)
    case.timeline(include_history=True)
    case.service("upgrade", to=9)
    case.timeline(include_history=True)
    case.snapshot()
    for number in range(3):
        case.write("upsert", [ride("r12", 20 + number)])
    case.service("archive", _ARCHIVES)
    case.timeline(include_history=True)
    case.snapshot()
    case.incremental(None)
    case.sound()


@writing(
    "versions/pending_clustering",
    (
        *shapes(versions=(6, 9)),
        *shapes((6, 9), configs={**OPTIMISTIC, **SHARED_LOCK}, label="beside_a_failed_write"),
    ),
    "VR-005 CL-003 RB-001",
    "logs-stay-logs",
)
def pending_clustering(case: WritingCase) -> None:
    """A clustering that is planned is carried out before the version changes, and a write that failed is taken back.

    Given rides with changes, and a clustering that is planned; beside it, a writer that made its files and died.
    When the version changes, under a policy by which nobody takes failed writes back, and the table is written to.
    Then nothing is pending, nothing is left of the write that failed, and the rows are the same.
    """
    _changed(case)
    case.schedule("clustering", CLUSTERING_DUE)
    if case.shape.label:
        abandoned(case, "failed", "new@bergen")
    to_the_other_version(case, {**IMPATIENT, **NEVER} if case.shape.label else None)
    case.snapshot()
    _goes_on(case)


@writing("versions/nine_to_ten", shapes(versions=(9,)), "NL-020 VR-004", "version-stays")
def nine_to_ten(case: WritingCase) -> None:
    """A table of version 9 becomes one of the draft of version 10.

    Given rides in a table of version 9, with changes and a late row.
    When it is upgraded, and written to.
    Then the rows are the same, what was in logs still is, and the write after it merges as before.
    """
    _changed(case)
    case.service("upgrade", to=10)
    case.snapshot()
    case.optimized()
    case.slices()
    case.info()
    case.write("upsert", [ride("r01", 30), ride("r02", 5, rider="late"), ride("r12", 30)])
    case.state()
    if case.is_mor:
        case.shows("NL-006", "upgrade-to-10-compacts inline-logs-left-behind")


@writing("versions/ten_to_nine", shapes(versions=(10,)), "NL-021 VR-004", "version-stays")
def ten_to_nine(case: WritingCase) -> None:
    """A table of the draft of version 10 becomes one of version 9.

    Given rides in a table of version 10, with changes and a late row in native logs.
    When it is downgraded, and written to.
    Then the rows are the same, base files hold them all, the past of logs is refused, and the next write logs blocks.
    """
    with_rides(case)
    change = case.write("upsert", [ride("r01", 20), ride("r11", 5), ride("r03", 20)])
    case.service("downgrade", to=9)
    case.snapshot()
    case.optimized()
    case.info()
    case.query("read_as_of", instant=change.bound, reject="LOG_FILE_MISSING" if case.is_mor else None)
    _goes_on(case)
    case.slices()
    if case.is_mor:
        case.shows(kills="downgrade-keeps-native-logs")


@writing("versions/planned_in_nine", shapes(versions=(9,), types=(MOR,)), "NL-020", "upgrade-to-10-compacts")
def planned_in_nine(case: WritingCase) -> None:
    """A compaction that version 9 has planned is carried out in version 10.

    Given rides with logs, a compaction that is planned, and a log upon it, in version 9.
    When the table becomes one of version 10, is written to, and the compaction is carried out.
    Then the base files hold what the plan names, and logs of both kinds lie upon them.
    """
    _changed(case)
    plan = case.schedule("compaction", _NOW)
    case.write("upsert", [ride("r02", 40)])
    case.service("upgrade", to=10)
    case.write("upsert", [ride("r02", 50), ride("r12", 50)])
    case.snapshot()
    case.execute(plan, _NOW)
    case.optimized()
    case.state()


@writing(
    "versions/feed_stays_in_ten",
    shapes(versions=(10,), types=(COW,), properties={"hoodie.table.cdc.enabled": "true"}),
    "NL-022",
    "native-feed-goes-along",
)
def feed_stays_in_ten(case: WritingCase) -> None:
    """A native change feed keeps a table in version 10.

    Given a table of version 10 with a change feed, and an update of a ride.
    When it is to become version 9.
    Then it is refused, and the table is as it was.
    """
    case.create()
    first = case.write("insert", [ride("r01", 10), ride("r11", 10)])
    case.write("upsert", [ride("r01", 20)])
    case.service("downgrade", to=9, reject="CONFIG_INVALID")
    case.changes(first)
    case.state()
