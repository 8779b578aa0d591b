"""Which version of a record wins."""

from hudi_model.actions import State
from hudi_model.files import Field, Schema

from hudi_conformance.corpus.golden.layout import copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import KEYS, RIDES, fleet, ride, rides, second
from hudi_conformance.corpus.golden.usual import no_columns

_FLAGGED = Schema((*RIDES.fields, Field("_hoodie_is_deleted", "boolean")))
_SEQUENCED = Schema((*RIDES.fields, Field("seq", "string")))


_COMMIT = "COMMIT_TIME_ORDERING"
_OVERWRITES = "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"


def _late_data(table: GoldenTable) -> None:
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r02", "fähre-05", "r11", "🚲-16")))
    late = rides(15, ("r01", "r11"), rider="late")
    tie = rides(20, ("fähre-05",), rider="tie")
    early = rides(5, ("駅-06", "r12"), rider="older than the base file's")
    table.upsert(second(3), [*late, *tie, *early])


_TRUE_WORDS = {
    6: ("the payload class gives event time ordering", "MG-009 PL-005 VR-020", "mode-always-commit-time"),
    8: ("the ordering field has its old name", "PR-006 VR-020", "old-property-names-ignored"),
    9: ("the table says event time ordering by ts", "MG-001 PR-006 VR-020", "mode-always-commit-time"),
    10: ("the table says event time ordering by ts", "MG-001 PR-006", "mode-always-commit-time"),
}


@golden(
    "v9/mor_event_time_late_data",
    "Late data loses to a greater ordering value",
    merge_on_read(9),
    also=(6, 8, 10),
    titles={
        6: "Late data in version 6: the payload class requests event time",
        8: "Late data in version 8, with the precombine field's old name",
    },
)
def late_data(table: GoldenTable) -> None:
    """Twelve rides of two cities, an update of five of them, then a late batch: lesser, equal and least values."""
    _late_data(table)
    table.snapshot(
        "snapshot",
        "rides with the greatest ordering value stand, and of equal ones the newest",
        "MG-003 MG-004 RD-001",
        "event-time-ignores-ordering tie-to-older meta-columns-leaked",
    )
    table.snapshot(
        "filter-after-merge",
        "a filter that only losing versions pass finds none of them",
        "RD-012",
        "filter-before-merge",
        filter=["rider", "=", "late"],
    )
    table.snapshot(
        "projection",
        "leaving out the ordering column changes no winner",
        "RD-012 MG-003",
        "event-time-ignores-ordering",
        columns=["rider", "id"],
    )
    table.as_of(second(2.7), "as-of-before-late", "the late batch is not there yet", "RD-010", "as-of-reads-everything")
    table.optimized(
        "read-optimized", "logs are left out: every ride is as first inserted", "RD-009", "optimized-reads-logs"
    )
    table.snapshot(
        "meta-columns",
        "each row has the commit time and file of the version that won",
        "MF-001 MF-002 MF-010 MF-012 MF-013",
        "meta-columns-never",
        meta_columns=True,
    )
    table.info("table-info", *_TRUE_WORDS[table.version])


def _commit_time(table: GoldenTable) -> None:
    _late_data(table)
    table.snapshot(
        "snapshot",
        "the last write of a ride stands, whatever its ordering value",
        "MG-002",
        "commit-time-by-ordering",
    )
    table.as_of(second(2.7), "as-of", "the last write up to then stands", "RD-010 MG-002", "as-of-reads-everything")
    table.info("table-info", "the merge mode is commit time", "MG-001", "mode-always-event-time")


@golden(
    "v9/mor_commit_time_late_data",
    "Late data wins under commit time ordering",
    merge_on_read(9, merge_mode="COMMIT_TIME_ORDERING"),
    also=(8, 10),
)
def commit_time(table: GoldenTable) -> None:
    """The rides of the late data tables; the table has an ordering field, its merge mode ignores it."""
    _commit_time(table)


@golden(
    "v6/mor_overwrite_payload",
    "Version 6 with the overwriting payload: the strategy id says nothing",
    merge_on_read(6, merge_mode="COMMIT_TIME_ORDERING"),
)
def overwrite_payload_6(table: GoldenTable) -> None:
    """A version 6 table whose payload overwrites, while its merger strategy id is that of event time."""
    _commit_time(table)
    table.snapshot("payload-decides", "the payload class decides, not the id", "MG-009 PL-002", "payload-class-ignored")


@golden("v8/mor_overwrite_payload", "The overwriting payload in version 8", merge_on_read(8, merge_mode=_COMMIT))
@golden(
    "v9/mor_overwrite_payload",
    "The overwriting payload in version 9",
    merge_on_read(9, merge_mode=_COMMIT, properties={"hoodie.table.legacy.payload.class": _OVERWRITES}),
)
def overwrite_payload(table: GoldenTable) -> None:
    """The rides of the late data tables under a payload class whose later write wins."""
    _late_data(table)
    table.snapshot("snapshot", "the later write of a ride stands", "PL-002", "mode-always-event-time")


@golden(
    "v9/mor_deletes",
    "Deletes with and without ordering value",
    merge_on_read(9),
    also=(6, 8, 10),
    titles={6: "Deletes with and without ordering value, as read since release 1.0"},
)
def deletes(table: GoldenTable) -> None:
    """Deletes without ordering value, typed deletes that come late, tie and win, and rides written again."""
    oslo, lima = KEYS["oslo"], KEYS["lima"]
    table.insert(second(1), fleet(100))
    table.upsert(second(2), rides(150, ("r01", "r02", "r11")))
    table.delete(second(3), "oslo", oslo[0], oslo[2])
    table.delete(second(4), "lima", lima[0], lima[5])
    late = {("oslo", "r02"): 120, ("lima", "r12"): 99, ("lima", "r13"): 100, ("lima", "r14"): 101}
    table.upsert(second(5), rides(90, ("r01",), rider="back with a lesser value"), deletes=late)
    table.upsert(second(6), rides(50, ("r13", "🚲-16"), rider="late after a delete"))
    table.snapshot(
        "snapshot",
        "plain deletes beat what precedes them and lose to what follows; typed deletes compete by ordering value",
        "MG-005 MG-006 MG-013 LF-017 LF-004 LF-005 LF-006 LF-008",
        "delete-without-ordering-competes typed-delete-ignores-ordering deletes-ignored older-delete-not-compared",
    )
    table.as_of(second(3.7), "as-of-first-delete", "two rides of oslo are gone", "MG-005", "deletes-ignored")
    table.as_of(
        second(5.7), "as-of-typed-deletes", "late typed deletes lose", "MG-006 MG-013", "typed-delete-ignores-ordering"
    )
    table.optimized("read-optimized", "base files know no deletes yet", "RD-009", "optimized-reads-logs")
    table.snapshot(
        "count-of-lima",
        "a filter on the partition column sees the same winners",
        "RD-012 MG-006 MG-013",
        "typed-delete-ignores-ordering",
        filter=["city", "=", "lima"],
        columns=["id", "ts"],
    )
    no_columns(table, "deletes-ignored projection-ignored")


@golden(
    "v9/mor_two_ordering_fields",
    "Several ordering fields compare in turn, text as text",
    merge_on_read(9, ordering=("ts", "seq"), schema=_SEQUENCED),
    also=(6,),
)
def two_ordering_fields(table: GoldenTable) -> None:
    """Rides ordered by ts and then by seq, a text in which 9 comes after 10; typed deletes carry both values.

    Some rides have no seq, and are earlier or later by their ts.
    """
    table.insert(second(1), [{**row, "seq": "5"} for row in fleet(10)])
    newer = [ride("r01", 10, seq="6"), ride("r02", 10, seq="10"), ride("r11", 11, seq="0"), ride("r12", 9, seq="9")]
    newer += [ride("r03", 9, seq=None), ride("r04", 11, seq=None), ride("駅-06", 12, seq=None)]
    table.upsert(second(2), [{**row, "rider": "second"} for row in newer])
    third = [ride("r01", 10, seq="5", rider="third"), ride("fähre-05", 10, seq="50", rider="third")]
    third += [ride("r04", 10, seq="9", rider="third"), ride("駅-06", 11, seq=None, rider="third")]
    table.upsert(second(3), third, deletes={("lima", "r13"): (10, "4"), ("lima", "r14"): (10, "9")})
    table.snapshot(
        "snapshot",
        "ts decides first, also where seq is null, and seq among equals",
        "MG-007 MG-011",
        "first-ordering-field-only event-time-ignores-ordering null-among-orderings-is-none",
    )
    table.info("table-info", "both fields are named, in order", "MG-007 PR-006", "first-ordering-field-only")


@golden(
    "v9/mor_deleted_flag",
    "A data record whose _hoodie_is_deleted is true is a delete",
    merge_on_read(9, schema=_FLAGGED),
)
def deleted_flag(table: GoldenTable) -> None:
    """Rides with the delete flag false or null; log records set it: on time, late, and then a newer ride again."""
    table.insert(second(1), [{**row, "_hoodie_is_deleted": None} for row in fleet(10)])
    flagged = [
        *rides(20, ("r01", "r11", "año-15"), _hoodie_is_deleted=True),
        *rides(5, ("r02",), _hoodie_is_deleted=True),
        *rides(20, ("r03",), _hoodie_is_deleted=False),
    ]
    table.upsert(second(2), flagged)
    table.upsert(second(3), rides(30, ("r11",), _hoodie_is_deleted=False))
    table.snapshot(
        "snapshot",
        "flagged rides are gone unless late or written again",
        "MG-008 MG-006",
        "deleted-flag-ignored",
    )
    table.snapshot(
        "without-the-flag",
        "flagged rides are gone also where the flag is not read",
        "MG-008 RD-012",
        "deleted-flag-ignored",
        columns=["rider", "id"],
    )
    table.as_of(second(2.7), "as-of", "both flagged rides of lima are gone", "MG-008", "deleted-flag-ignored")


@golden("v9/cow_upserts", "Copy-on-write: base files replace base files", copy_on_write(9), also=(6,))
@golden(
    "v8/cow_upserts",
    "Copy-on-write: base files replace base files",
    copy_on_write(8, hive_style=True),
    given={8: "The same with partition folders in hive style."},
)
def upserts(table: GoldenTable) -> None:
    """An insert, an update, a delete, an update that took long, and one that never completed."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r12", "fähre-05")))
    table.delete(second(3), "lima", "r11", "🚲-16")
    table.upsert(second(4), rides(5, ("r02",), rider="late"), done=second(9))
    table.upsert(second(5), rides(50, ("r13",)), state=State.INFLIGHT)
    table.snapshot(
        "snapshot",
        "the newest committed base file of each group is read",
        "RD-004 TT-001",
        "oldest-base-file uncommitted-base-file-visible",
    )
    table.as_of(second(1.7), "as-of-first", "all rides are as inserted", "RD-010", "as-of-reads-everything")
    table.as_of(
        second(2.2),
        "as-of-between-request-and-completion",
        "the two readings differ",
        "RD-010",
        "as-of-reads-everything",
    )
    table.as_of(
        second(0.5), "as-of-before", "nothing is there before the first commit", "RD-010", "as-of-reads-everything"
    )
    table.instants("timeline", "every action has its highest state", "TL-004 TL-009", "lowest-state-rules")
    table.slices("slices", "one slice a group, without logs", "SL-003 RD-004", "oldest-base-file")
    no_columns(table, "oldest-base-file projection-ignored")
