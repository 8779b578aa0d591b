"""What services and rollbacks leave that died: attempts, their markers, plans that wait."""

from hudi_model.actions import Action, CompactionOperation, CompactionPlan, RollbackPlan, State
from hudi_model.files import BaseFile, DataBlock, LogFile
from hudi_model.time import InstantTime

from hudi_conformance.corpus.golden import corruption
from hudi_conformance.corpus.golden.layout import copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import fleet, rides, second
from hudi_conformance.corpus.golden.usual import check
from hudi_conformance.corpus.golden.writer import Written

_CHECK = "what died left no violation"
_FAILED_ATTEMPT = "0-9-9"


def marked(table: GoldenTable, at: InstantTime, written: Written, kind: str) -> None:
    """Markers of an attempt that announce these files."""
    for name in _markers(written, kind):
        table.damage(corruption.write(f".hoodie/.temp/{at}/{name}"))


def _markers(written: Written, kind: str) -> list[str]:
    files: tuple[BaseFile | LogFile, ...] = (*written.base_files, *written.log_files)
    return [f"{file.partition}/{file.name}.marker.{kind}" for file in files]


def marked_by_a_server(table: GoldenTable, at: InstantTime, written: Written, kind: str) -> None:
    """The markers of an attempt in two files of a timeline server; the first announces files of a task that made none.

    Version 6 lacks the file that says of which type they are.
    """
    names = [f"{name}\n" for name in _markers(written, kind)]
    unmade = [name.replace("_0-1-0_", "_1-1-1_") for name in names]
    for number, lines in ((0, unmade), (1, names)):
        table.damage(corruption.write(f".hoodie/.temp/{at}/MARKERS{number}", "".join(lines).encode()))
    if table.version > 6:
        table.damage(corruption.write(f".hoodie/.temp/{at}/MARKERS.type", b"TIMELINE_SERVER_BASED"))


@golden(
    "v9/mor_interrupted_compaction", "An attempt at a compaction died between two files", merge_on_read(9), also=(6, 8)
)
def compaction(table: GoldenTable) -> None:
    """A compaction of one group a city is inflight; one base file with too few rows and its marker are there."""
    groups = [table.group("oslo", 0), table.group("lima", 0)]
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r11")))
    attempt = table.base_file(groups[0], second(3), table.merged()[groups[0]][:1], token=_FAILED_ATTEMPT)
    table.slice_instants[groups[0]] = second(1)
    table.schedule_compaction(second(3), groups)
    table.place(attempt)
    marked(table, second(3), attempt, "MERGE")
    table.upsert(second(4), rides(30, ("r01",)))
    table.snapshot(
        "snapshot",
        "until the compaction has completed its base files do not count",
        "CP-006 TL-026",
        "pending-slice-not-joined",
    )
    table.slices(
        "slices", "the plan has opened a slice that has no base file yet", "CP-006", "pending-slice-not-joined"
    )


@golden("v9/mor_interrupted_log_compaction", "An attempt at a log compaction died", merge_on_read(9), also=(6,))
def log_compaction(table: GoldenTable) -> None:
    """A log compaction of one group is inflight; a log without rows that says it stands for others is there."""
    at, group = second(4), table.group("oslo", 0)
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01", "r03")))
    table.upsert(second(3), rides(30, ("r03",)))
    logs = tuple(one.name for one in table.log_files)
    base = next(one for one in table.base_files if one.file_id == group.file_id)
    operation = CompactionOperation(group.partition, group.file_id, second(1), base.name, logs)
    table.begin(Action.LOG_COMPACTION, at, CompactionPlan((operation,)))
    block = DataBlock(at, (), compacted_instants=(second(3), second(2)), schema=table.schema)
    attempt = table.log_file(group, at, block, token=_FAILED_ATTEMPT)
    table.place(attempt)
    marked(table, at, attempt, "CREATE" if table.version >= 8 else "APPEND")
    table.snapshot(
        "snapshot",
        "the attempt's log does not stand for the others",
        "LC-006 LF-016",
        "inflight-counts-as-committed",
    )


@golden("v9/cow_interrupted_rollback", "A rollback died when one of two files was gone", copy_on_write(9), also=(6, 8))
def rollback(table: GoldenTable) -> None:
    """A failed update of both cities with its markers; its rollback is inflight and has removed one file."""
    target, at = second(2), second(3)
    table.insert(second(1), fleet(10))
    failed = table.upsert(target, rides(90, ("r01", "r11"), rider="never"), state=State.INFLIGHT)
    marked(table, target, failed, "MERGE")
    files = frozenset((one.partition, one.name) for one in failed.base_files)
    table.begin(Action.ROLLBACK, at, RollbackPlan(target, table.data_action, files))
    # The first attempt has removed one of two files, and nothing else.
    table.base_files.remove(failed.base_files[0])
    table.snapshot("snapshot", "nothing of the write is read", "RB-009 TL-017", "uncommitted-base-file-visible")
    table.instants("timeline", "the write and its rollback are inflight", "RB-003 RB-009", "lowest-state-rules")
    check(table, _CHECK, "RB-004 RB-009", "leftovers-are-violations")


@golden(
    "v9/cow_interrupted_rollback_of_a_removed_write",
    "A rollback died when its write had left the timeline",
    copy_on_write(9),
    also=(6,),
)
def rollback_of_a_removed_write(table: GoldenTable) -> None:
    """A failed update of both cities; its rollback is inflight, and neither files nor entries of the write are left."""
    target, at = second(2), second(3)
    table.insert(second(1), fleet(10))
    failed = table.upsert(target, rides(90, ("r01", "r11"), rider="never"), state=State.INFLIGHT)
    files = frozenset((one.partition, one.name) for one in failed.base_files)
    table.begin(Action.ROLLBACK, at, RollbackPlan(target, table.data_action, files))
    for file in failed.base_files:
        table.base_files.remove(file)
    table.timeline = [one for one in table.timeline if one.requested != target]
    table.instants("timeline", "the rollback alone is inflight", "RB-009 TL-017", "lowest-state-rules")


@golden(
    "v9/cow_rolled_back_leftover",
    "A file of a write that was rolled back is still there",
    copy_on_write(9),
    also=(6, 8),
)
def leftover(table: GoldenTable) -> None:
    """A failed update was rolled back by a plan that overlooked one of its files; four updates came since."""
    table.insert(second(1), fleet(10))
    failed = table.upsert(second(2), rides(90, ("r01", "r11"), rider="never"), state=State.INFLIGHT)
    table.roll_back(second(3), second(2))
    table.place(Written(failed.base_files[1:]))
    for number in range(4, 8):
        table.upsert(second(number), rides(10 * number, ("r02", "r12")))
    table.snapshot(
        "snapshot",
        "the file counts for nothing, since the timeline has the rollback",
        "AR-009 TL-017",
        "uncommitted-base-file-visible",
    )


@golden("v9/cow_interrupted_archival", "An archival died when the history had its actions", copy_on_write(9))
def archival(table: GoldenTable) -> None:
    """Five writes; the history has the first three, and of these the files of the first alone have left."""
    for number in range(1, 6):
        table.upsert(second(number), rides(10 * number, ("r01", "r11")))
    before = list(table.timeline)
    table.archive(2)
    left = {one.name for one in table.timeline}
    table.timeline = [one for one in before if one.requested > second(1) or one.name in left]
    table.full_timeline(
        "timeline",
        "what stands in both is one completed action",
        "AR-002 HS-008",
        "history-not-listed",
    )
    table.snapshot("snapshot", "the rows are those of five writes", "AR-002 TL-018", "lowest-state-rules")
