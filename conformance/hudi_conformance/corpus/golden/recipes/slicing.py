"""Which files make a slice, in which order, and what pending compactions do to them."""

from hudi_model.actions import State
from hudi_model.files import Record
from hudi_model.time import InstantTime

from hudi_conformance.corpus.golden.layout import copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import KEYS, Row, fleet, ride, rides, second
from hudi_conformance.corpus.golden.usual import check
from hudi_conformance.corpus.golden.writer import Written

_COMMIT_TIME = {"merge_mode": "COMMIT_TIME_ORDERING"}
_A_DAY = 86_400_000


@golden(
    "v9/mor_overlapping_writers",
    "Two writers overlap, a third straddles a compaction",
    merge_on_read(9, **_COMMIT_TIME),
    also=(8,),
)
def overlapping(table: GoldenTable) -> None:
    """Of two overlapping writes the first requested completes last; a third straddles a compaction."""
    newest = table.version > 8
    groups = [table.group(city, number) for city in ("oslo", "lima") for number in (0, 1)]
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11"), rider="asked first, done last"), done=second(6))
    table.upsert(second(3), rides(30, ("r01", "r11"), rider="asked last, done first"), done=second(4))
    table.compact(second(8), groups, done=second(8.5))
    table.upsert(second(7), rides(35, ("r02", "r12"), rider="straddles the compaction"), done=second(9))
    table.upsert(second(10), rides(40, ("r03", "r13")))
    table.upsert(second(11), rides(50, ("r04",), rider="never completed"), state=State.INFLIGHT)
    table.snapshot(
        "snapshot",
        "the log that completed after the compaction joins the slice that the compaction opened",
        "RD-005 RD-002" if newest else "RD-005 TL-013",
        "v8-log-by-name" + (" inflight-counts-as-committed" if newest else ""),
    )
    then, clauses = "the order of the logs decides, and has two readings", "RD-007"
    if newest:
        then = "of the overlapping writes the one requested later stands; by the text, the one that completed later"
        clauses = "RD-007 MG-002"
    table.as_of(second(7.5), "as-of-before-compaction", then, clauses, "as-of-reads-everything")
    if newest:
        table.slices("slices", "each group's newest slice has the logs completed after it", "RD-005", "v8-log-by-name")
        table.optimized("read-optimized", "what the compaction wrote", "RD-009", "optimized-reads-logs")
        table.instants(
            "timeline", "one write is inflight, all others are completed", "TL-004 TL-008", "lowest-state-rules"
        )


@golden("v6/mor_twelve_log_versions", "Log versions are numbers: 10 comes after 9", merge_on_read(6, **_COMMIT_TIME))
def twelve_versions(table: GoldenTable) -> None:
    """Twelve updates of the same rides, each in the next log version of its slice; two tasks make the last."""
    table.insert(second(1), fleet(10))
    for number in range(11):
        table.upsert(second(2 + number), rides(20 + number, ("r01", "r12"), rider=f"version {number + 1}"))
    at, written, group = second(13), Written(), table.home(ride("r01", 31))
    for token, rider in (("9-0-1", "version 12"), ("10-0-1", "overtaken")):
        table.log_versions[group, second(1)] = 11
        block = table.data_block(group, at, [ride("r01", 31, rider=rider)])
        written += table.log_file(group, at, block, token=token)
    table.finish(at, written, "UPSERT")
    table.snapshot(
        "snapshot",
        "the twelfth update stands; of two logs of one version that whose token is the greater text is merged last",
        "RD-006 RD-007",
        "log-order-by-text log-order-reversed",
    )
    table.as_of(second(10), "as-of-ninth", "the ninth update stands", "RD-010 LF-016", "as-of-exclusive")
    table.as_of(second(9.5), "as-of-eighth", "the eighth update stands", "LF-016", "as-of-ignores-blocks")
    table.slices("slices", "the log files stand in the order of their versions", "RD-007", "log-order-by-text")


@golden(
    "v6/mor_base_file_of_a_deltacommit",
    "A base file that a deltacommit wrote, in a table that was copied a day later",
    merge_on_read(6),
    given={
        6: "Rides inserted into logs; one group then gets a base file from a deltacommit, as small file handling does, "
        "in which a deleted ride is inserted again. The files bear the time of a copy that was made a day later."
    },
)
@golden(
    "v9/mor_log_only",
    "Slices without base file, and base files that a deltacommit wrote",
    merge_on_read(9),
    also=(8, 10),
)
def log_only(table: GoldenTable) -> None:
    """Rides inserted into logs; one group then gets a base file from a deltacommit, as small file handling does."""
    table.upsert(second(1), fleet(10), operation="INSERT")
    table.upsert(second(2), rides(20, ("r01", "r12")))
    table.delete(second(3), "oslo", "r02")
    group, again = table.group("oslo", 0), []
    if table.version == 6:
        table.written_ms += _A_DAY
        again = [ride("r02", 30, rider="inserted again")]
        group = table.home(again[0])
    merged: list[Row | Record] = [*table.merged()[group], ride("r21", 30), *again]
    table.homes.move("oslo", ["r21"], group)
    table.finish(second(4), table.base_file(group, second(4), merged), "UPSERT")
    table.upsert(second(5), rides(40, ("r03",)))
    table.snapshot(
        "snapshot",
        "log-only slices are read, and the deltacommit's base file opens a slice",
        "RD-016 RD-017" + (" RD-006" if table.version == 6 else ""),
        "log-only-slice-skipped" + (" logs-join-newest-slice" if table.version == 6 else ""),
    )
    table.as_of(second(2.7), "as-of-logs-only", "no group has a base file yet", "RD-017", "log-only-slice-skipped")
    table.optimized("read-optimized", "only one group has a base file", "RD-009 RD-016", "optimized-reads-logs")
    table.slices("slices", "one group's slice has a base file and one log", "RD-016", "log-only-slice-skipped")


@golden("v6/mor_log_only", "Log-only slices named after their first deltacommit", merge_on_read(6))
def log_only_6(table: GoldenTable) -> None:
    """Rides inserted into logs; updates go to the next log version of the same slice."""
    table.upsert(second(1), fleet(10), operation="INSERT")
    table.upsert(second(2), rides(20, ("r01", "r12")))
    table.delete(second(3), "oslo", "r02")
    table.snapshot("snapshot", "log-only slices are read", "RD-017", "log-only-slice-skipped")
    table.as_of(second(1.7), "as-of-first", "only the first blocks are read", "LF-016 RD-010", "as-of-ignores-blocks")


@golden("v9/mor_unpartitioned", "No partitions, two file groups", merge_on_read(9, partition_by=None), also=(6, 8))
def unpartitioned(table: GoldenTable) -> None:
    """Rides in the base folder itself."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, (*KEYS["oslo"][:3], "r11")))
    table.upsert(second(3), rides(15, ("r01", "🚲-16"), rider="late"))
    table.snapshot("snapshot", "late rides lose", "MG-003 SL-002", "event-time-ignores-ordering")
    table.slices("slices", "the partition is the empty text", "SL-003 SL-020 PR-021 RD-004", "log-order-reversed")
    table.info("table-info", "no partition fields", "PR-005", "mode-always-commit-time")


@golden("v9/mor_uncommitted_files", "Files of instants that never completed are ignored", merge_on_read(9))
@golden(
    "v6/mor_uncommitted_blocks",
    "Blocks of instants that never completed are ignored",
    merge_on_read(6),
    given={
        6: "A log version of an inflight deltacommit stands between committed ones; "
        "base files of a requested one lie by."
    },
)
def uncommitted(table: GoldenTable) -> None:
    """Log files of an inflight deltacommit and base files of a requested one lie in storage."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(90, ("r01", "r11"), rider="inflight"), state=State.INFLIGHT)
    table.upsert(second(3), rides(20, ("r01", "r12")))
    table.insert(second(4), [ride("ghost-1", 99), ride("ghost-2", 99)], state=State.REQUESTED)
    if table.version == 6:
        table.snapshot(
            "snapshot",
            "the inflight block and the requested base files are not read",
            "LF-016 LF-021 RD-002",
            "uncommitted-block-visible uncommitted-base-file-visible",
        )
        named = "TL-007"
    else:
        table.snapshot(
            "snapshot",
            "neither the inflight logs nor the requested base files are read",
            "RD-002",
            "inflight-counts-as-committed uncommitted-base-file-visible",
        )
        table.slices("slices", "uncommitted files are in no slice", "RD-002", "inflight-counts-as-committed")
        check(table, "leftovers of failed writes are no violation", "RD-002", "leftovers-are-violations")
        named = "TL-004"
    table.instants("timeline", "one instant is inflight, one requested", f"TL-002 {named}", "lowest-state-rules")


@golden("v6/cow_before_first_active", "Files older than the first active instant count as committed", copy_on_write(6))
def before_first_active(table: GoldenTable) -> None:
    """The first two commits left the active timeline, as archival does; their files are the newest of some groups.

    What begins the timeline is a clustering that is inflight, and has put a file; its instant has 14 digits, and as a
    number it is less than all others.
    """
    clustering, planned = InstantTime(second(3)[:14]), [table.group("oslo", 0), table.group("oslo", 1)]
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01",)))
    plan = table.clustering_plan(planned)
    table.replace_groups(clustering, (), (), state=State.INFLIGHT, operation="CLUSTER", plan=plan)
    table.place(table.base_file(table.group("oslo", 7), clustering, table.merged()[planned[0]]))
    table.upsert(second(3), rides(30, ("r12",)))
    table.upsert(second(4), rides(40, ("r02",)), state=State.INFLIGHT)
    table.forget(second(1), second(2))
    kills = "before-first-active-uncommitted first-completed-begins-the-timeline"
    table.snapshot("snapshot", "all twelve rides are there, once", "TL-018 TM-001", kills)
    table.slices(
        "slices", "older files are in their slices, and the file of the clustering is in none", "TL-018", kills
    )


@golden("v9/mor_before_first_active", "Logs older than the first active instant count as committed", merge_on_read(9))
def logs_before_first_active(table: GoldenTable) -> None:
    """The insert and the first update left the active timeline.

    What is left has an instant of 14 digits. As a number it is less than the others, and it is the later of two updates
    with one ordering value. A log of the earlier one has version 2, as a task has that was tried again.
    """
    table.insert(second(1), fleet(10))
    table.log_versions[table.group("oslo", 0), second(2)] = 1
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.upsert(InstantTime(second(3)[:14]), rides(20, ("r01", "r12"), rider="later by its text"))
    table.forget(second(1), second(2))
    then, kills = "all rides and updates are there", "before-first-active-uncommitted instants-as-numbers"
    table.snapshot("snapshot", then, "TL-018 TM-001 RD-007 MG-004", kills)


@golden("v9/cow_failed_attempts", "Attempts of a task that died", copy_on_write(9))
def failed_attempts(table: GoldenTable) -> None:
    """Beside the base files of an update lie those of two attempts of one of its tasks, a lower and a higher one."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    group = table.group("oslo", 0)
    for token in ("0-0-9", "0-1-1"):
        table.place(table.base_file(group, second(2), rides(90, ("r01",), rider=f"attempt {token}"), token=token))
    table.snapshot(
        "snapshot", "the attempt that the commit names counts", "SL-023 RD-002", "greatest-write-token-counts"
    )
    table.slices("slices", "the slice has the base file that the commit names", "SL-023", "greatest-write-token-counts")
