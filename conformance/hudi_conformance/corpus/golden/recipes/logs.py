"""Log files as failures leave them: torn, empty, interleaved, rolled back."""

from hudi_format.log.blocks import MAGIC
from hudi_model.actions import State
from hudi_model.files import CorruptBlock, RollbackBlock

from hudi_conformance.corpus.golden import block_types, corruption
from hudi_conformance.corpus.golden.layout import merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import fleet, ride, rides, second
from hudi_conformance.corpus.golden.writer import data_path

_GARBAGE = CorruptBlock(0, 61)


def _updates(table: GoldenTable) -> None:
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r03", "r11")))
    table.upsert(second(3), rides(30, ("r02", "fähre-05", "r12")))


@golden("v9/mor_torn_log_tail", "The last block of a log file is torn", merge_on_read(9), also=(6, 8))
def torn_tail(table: GoldenTable) -> None:
    """A third update's log block in one group lost its last bytes; what stands before it is whole."""
    _updates(table)
    group = table.group("oslo", 0)
    blocks = [table.data_block(group, second(4), rides(40, (key,))) for key in ("r01", "r03")]
    written = table.append(second(4), {group: blocks})
    table.damage(corruption.tear(data_path(written.log_files[0]), 23))
    table.snapshot(
        "snapshot",
        "the whole block is read, the torn one is skipped and warned of",
        "LF-010 RD-013 LF-001 LF-003",
        "corrupt-block-without-warning corrupt-block-refused",
    )
    if table.version > 6:
        # Earlier its log belongs to the slice of that time, too, and releases stop at its first block.
        table.as_of(
            second(3.7), "as-of", "before the torn write all is whole", "LF-010 RD-010", "as-of-reads-everything"
        )
    table.slices("slices", "the torn file is part of its slice", "LF-010 RD-005", "log-order-reversed")


@golden("v9/mor_garbage_between_blocks", "Garbage between the blocks of one log file", merge_on_read(9), also=(6, 8))
def garbage_between(table: GoldenTable) -> None:
    """In one group's log, bytes that are no block stand between two whole blocks."""
    _updates(table)
    group = table.group("oslo", 0)
    first, last = (table.data_block(group, second(4), rides(40, (key,))) for key in ("r01", "r03"))
    written = table.append(second(4), {group: [first, last]})
    table.damage(corruption.garbage_before_last_block(data_path(written.log_files[0]), b"no block at all, "))
    table.snapshot(
        "snapshot",
        "the block before the garbage is corrupt with it, the one after it is read",
        "LF-011 LF-010 RD-013 LF-002",
        "corrupt-block-stops-file corrupt-block-without-warning",
    )


@golden("v8/mor_torn_then_good", "A torn block with a good one after it", merge_on_read(8))
def torn_then_good(table: GoldenTable) -> None:
    """The first block of a log declares more bytes than are there; a second, whole block was appended behind it.

    In another log the magic of the first block is there twice, as where a writer fails right behind it and goes on.
    """
    _updates(table)
    group, other = table.group("lima", 0), table.group("oslo", 0)
    good = table.data_block(group, second(4), rides(40, ("r11", "r13")))
    table.append(second(4), {group: [_GARBAGE, good]})
    written = table.append(second(5), {other: [table.data_block(other, second(5), rides(50, ("r01",)))]})
    table.damage(corruption.insert(data_path(written.log_files[0]), 0, MAGIC))
    table.snapshot(
        "snapshot",
        "the good blocks are read",
        "LF-011 LF-010",
        "corrupt-block-stops-file corrupt-block-refused",
    )


@golden("v6/mor_zero_length_log", "A log file without a byte between others", merge_on_read(6), also=(8, 9))
def zero_length(table: GoldenTable) -> None:
    """The second log version of one group is empty, as a writer leaves that failed right away; a third follows."""
    _updates(table)
    group = table.group("oslo", 0)
    # A log of version 6 is named after its slice, a later one counts where its write has completed.
    table.append(second(4), {group: []}, state=State.INFLIGHT if table.version <= 6 else State.COMPLETED)
    table.upsert(second(5), rides(50, ("r01",)))
    table.snapshot("snapshot", "the third log version is read", "LF-012", "empty-log-stops-slice")
    table.slices("slices", "the empty file is listed", "LF-012 RD-006", "log-order-reversed")


def _rolled_back(table: GoldenTable, *, between: bool) -> None:
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.upsert(second(3), rides(30, ("r01", "r03", "r12"), rider="failed"), state=State.INFLIGHT)
    if between:
        table.upsert(second(4), rides(25, ("r03", "r02")))
    table.roll_back(second(5), second(3))
    table.upsert(second(6), rides(40, ("r04", "r13")))


@golden("v6/mor_rollback_block", "A command block takes a failed write back", merge_on_read(6))
def rollback_block(table: GoldenTable) -> None:
    """A deltacommit failed, was rolled back by command blocks, and others followed."""
    _rolled_back(table, between=False)
    table.snapshot(
        "snapshot", "the failed write's rides are as before", "LF-015 TL-017 LF-009", "rollbacks-and-commits-ignored"
    )
    table.instants("timeline", "the rolled back instant is gone, the rollback stands", "TL-017", "lowest-state-rules")


@golden("v6/mor_rollback_interleaved", "A rollback takes back more than the block before it", merge_on_read(6))
def rollback_interleaved(table: GoldenTable) -> None:
    """Another writer's block stands between the failed one and the command against it; archival has passed.

    The failed write was done again under its instant, as in metadata tables, and completed.
    """
    _rolled_back(table, between=True)
    table.upsert(second(3), rides(45, ("r03",), rider="again"))
    table.forget(second(1), second(2), second(3), second(4), second(5))
    table.snapshot(
        "snapshot",
        "the failed instant's block is dropped though it is not the previous one, and that after the command is not",
        "LF-015",
        "rollback-drops-previous-block-only rollback-ignored",
    )


@golden("v9/mor_rolled_back", "From version 8 on a rollback deletes files", merge_on_read(9), also=(8, 10))
def rolled_back_9(table: GoldenTable) -> None:
    """A deltacommit failed and was rolled back: its instant is gone and its files are, but for one log."""
    _rolled_back(table, between=True)
    group = table.home(ride("r12", 0))
    table.place(table.log_file(group, second(3), table.data_block(group, second(3), [ride("r12", 99)])))
    table.snapshot(
        "snapshot", "the log that was left does not count", "RB-007 LF-016 TL-017 RD-002", "absent-instant-committed"
    )
    table.instants("timeline", "the rollback stands", "TL-017", "lowest-state-rules")


@golden(
    "v9/mor_log_compaction",
    "Blocks that a log compaction merged",
    merge_on_read(9, merge_mode="COMMIT_TIME_ORDERING"),
    also=(10,),
)
def log_compaction(table: GoldenTable) -> None:
    """Three updates of one group, the first two merged by a log compaction whose block names them."""
    table.insert(second(1), fleet(10))
    group = table.group("oslo", 0)
    table.append(second(2), {group: [table.data_block(group, second(2), [ride("r01", 20), ride("r03", 21)])]})
    table.append(second(3), {group: [table.data_block(group, second(3), [ride("r01", 22, rider="second")])]})
    table.append(second(4), {group: [table.data_block(group, second(4), [ride("r03", 5), ride("r01", 30)])]})
    table.log_compact(second(5), group, (second(3), second(2)))
    table.snapshot(
        "snapshot",
        "the merged block stands where its newest source stood",
        "LF-019",
        "log-compaction-read-twice",
    )
    table.instants("timeline", "the log compaction completed as a deltacommit", "TL-006", "lowest-state-rules")


@golden(
    "v9/mor_log_compaction_of_another",
    "Blocks that two log compactions merged, one of the other's",
    merge_on_read(9, merge_mode="COMMIT_TIME_ORDERING"),
    also=(6, 8),
)
def log_compaction_of_another(table: GoldenTable) -> None:
    """Two updates of one key are merged, but not the third that came meanwhile; what merged them is merged again."""
    table.insert(second(1), fleet(10))
    group = table.group("oslo", 0)
    for at, rider in ((2, "first"), (3, "second"), (4, "third")):
        table.append(second(at), {group: [table.data_block(group, second(at), [ride("r01", 20 + at, rider=rider)])]})
    table.log_compact(second(5), group, (second(3), second(2)))
    table.append(second(6), {group: [table.data_block(group, second(6), [ride("r03", 21)])]})
    table.log_compact(second(7), group, (second(5),))
    table.as_of(
        second(4.7), "as-of-before", "what was merged since is still there", "LC-009 RD-010", "as-of-reads-everything"
    )
    table.snapshot(
        "snapshot",
        "the update that no log compaction merged is newer than all that they did",
        "LF-019",
        "compacted-again-in-its-own-place",
    )


@golden("v8/mor_logs_of_version_6", "A log file that stems from version 6", merge_on_read(8), also=(9,))
def logs_of_version_6(table: GoldenTable) -> None:
    """One log file has blocks of three writes, the second of which a command takes back.

    Archival has passed the first four instants.
    """
    table.insert(second(1), fleet(10))
    group = table.group("oslo", 0)
    expected = ((2, "r01", "first"), (3, "r01", "failed"), (5, "r03", "last"))
    first, failed, last = (
        table.data_block(group, second(at), rides(20 + at, (key,), rider=rider)) for at, key, rider in expected
    )
    table.append(second(5), {group: [first, failed, RollbackBlock(second(4), second(3)), last]})
    table.upsert(second(7), rides(40, ("r13",)))
    table.forget(second(1))
    table.snapshot(
        "snapshot",
        "what the command names is dropped, the rest is read",
        "LF-009 LF-015 LF-021",
        "rollback-ignored blocks-are-of-their-file",
    )


@golden("v6/mor_rollback_without_blocks", "A rollback that wrote no command blocks", merge_on_read(6))
def rollback_without_blocks(table: GoldenTable) -> None:
    """A failed write was rolled back by its instant alone: its blocks remain, and older commits were archived."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    table.upsert(second(3), rides(30, ("r01", "r03", "r12"), rider="failed"), state=State.INFLIGHT)
    table.roll_back(second(5), second(3), blocks=False)
    table.upsert(second(6), rides(40, ("r04", "r13")))
    table.forget(second(1), second(2))
    table.snapshot(
        "snapshot",
        "the blocks of the vanished instant do not count, though it is older than the timeline",
        "TL-017 TL-018",
        "rollback-forgotten-after-archival",
    )
    table.instants("timeline", "the rollback stands", "TL-017", "lowest-state-rules")


@golden("v9/mor_block_types", "Data blocks of three types", merge_on_read(9), also=(6, 8))
def three_block_types(table: GoldenTable) -> None:
    """An update is logged in an HFile block in one group, in a Parquet block in another, in Avro blocks elsewhere."""
    table.insert(second(1), fleet(10))
    late = [*rides(5, ("r03", "r04", "r13"), rider="late"), *rides(20, ("r01", "r02", "fähre-05", "駅-06", "r11"))]
    written = table.upsert(second(2), late)
    table.upsert(second(3), rides(30, ("r01",)))
    logs = {(log.partition, log.file_id): log for log in written.log_files}
    hfile, parquet = (
        logs[group.partition, group.file_id] for group in (table.group("oslo", 0), table.group("oslo", 1))
    )
    table.damage(block_types.as_hfile_blocks(data_path(hfile)))
    table.damage(block_types.as_parquet_blocks(data_path(parquet)))
    table.snapshot(
        "snapshot",
        "records of every type of block are merged alike",
        "LF-026 LF-027 LF-029 MG-003",
        "event-time-ignores-ordering",
    )
    table.as_of(second(2.7), "as-of", "without the last write", "LF-026 LF-027 RD-010", "as-of-reads-everything")
