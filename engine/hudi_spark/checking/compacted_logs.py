"""The logs of log compactions: under which name they stand, and for which blocks."""

from collections.abc import Iterator
from dataclasses import dataclass

from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, read_blocks
from hudi_format.log.headers import compacted_block_times
from hudi_format.names import LogFileName

from hudi_spark.checking.stored import TableState
from hudi_spark.checking.violations import Violations
from hudi_spark.state.slicing import LogFile, completion_times
from hudi_spark.state.timeline import Instant

_OF_ROWS = (BlockType.AVRO_DATA, BlockType.HFILE_DATA, BlockType.PARQUET_DATA, BlockType.DELETE)


@dataclass(frozen=True, slots=True)
class CompactedLog:
    """A log that a log compaction made, and the base instant of the slice that it was planned on."""

    state: TableState
    action: Instant
    base_instant: str
    path: str
    name: LogFileName


def check_compacted_log(made: CompactedLog, violations: Violations) -> None:
    """Its name and its blocks bear the right instant, and its blocks stand for others without a gap.

    Clauses: LC-003, LC-005.
    """
    requested = made.action.requested
    wanted = requested if made.state.configuration.has_completion_times else made.base_instant
    if made.name.instant != wanted:
        violations.error("LC-005", made.path, f"the name bears {made.name.instant} in place of {wanted}")
    blocks = list(_blocks(made.state, made.path))
    for instant in {_instant(one) for one in blocks} - {requested}:
        violations.error("LC-005", made.path, f"a block bears {instant} in place of {requested}")
    left = _left_out(made, {instant for one in blocks for instant in compacted_block_times(one)})
    if left:
        violations.error("LC-003", made.path, f"the blocks of {', '.join(left)} are left out")


def _left_out(made: CompactedLog, stands_for: set[str]) -> list[str]:
    """Instants whose blocks stood among those that a log compaction stands for.

    What came after all of them is merged after it, as it was before.

    Clauses: LC-003, LF-019.
    """
    before = [one for log in _logs_before(made) for one in _blocks(made.state, log.path)]
    sources = {_instant(one): set(compacted_block_times(one)) - {_instant(one)} for one in before}
    covered = {instant for replaced in sources.values() for instant in replaced}
    completions = completion_times(made.state.whole)

    def place(instant: str) -> str:
        """A log-compacted block stands where the newest of its own sources stood."""
        earlier = [one for one in sources.get(instant, ()) if one < instant]
        return max(map(place, earlier), default=completions.get(instant, instant))

    newest = max(map(place, stands_for), default="")
    counted = {one for one in sources if made.state.seen.sees(one) and one < made.action.requested}
    return sorted(one for one in counted - covered - stands_for if place(one) < newest)


def _logs_before(made: CompactedLog) -> Iterator[LogFile]:
    """The logs of the slice that were there when the log compaction was planned.

    Before version 8 they have the slice's name. After, they completed since its base instant.

    Clauses: LC-003, RD-005, RD-006.
    """
    completions = completion_times(made.state.whole)
    group = made.state.groups.get((made.path.rpartition("/")[0], made.name.file_id))
    for log in group.log_files if group else ():
        if log.name.cdc or log.path == made.path:
            continue
        if not made.state.configuration.has_completion_times:
            if log.name.instant == made.base_instant and log.name.version < made.name.version:
                yield log
        elif made.base_instant <= completions.get(log.name.instant, log.name.instant) < made.action.requested:
            yield log


def _blocks(state: TableState, path: str) -> Iterator[RawBlock]:
    found = (one for one in read_blocks(state.storage.read(path), path) if isinstance(one, RawBlock))
    return (one for one in found if one.type in _OF_ROWS)


def _instant(block: RawBlock) -> str:
    return block.header.get(HeaderKey.INSTANT_TIME, "")
