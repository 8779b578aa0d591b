"""The blocks of a slice that count, in the order in which they merge."""

from collections.abc import Sequence
from dataclasses import dataclass

from hudi_adapter.reasons import Reason
from hudi_format.log.blocks import BlockType, CorruptBlock, HeaderKey, RawBlock, read_blocks
from hudi_format.log.content import decode_command
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError, SkippedBytes
from hudi_spark.state.timeline import Visibility
from hudi_spark.state.vanishing import read_log


@dataclass(frozen=True, slots=True)
class LocatedBlock:
    """A data or delete block and the file that holds it."""

    file: str
    instant: str
    block: RawBlock

    @property
    def compacted(self) -> tuple[str, ...]:
        """Instants whose blocks this one replaces, newest first.

        Clauses: LF-019.
        """
        text = self.block.header.get(HeaderKey.COMPACTED_BLOCK_TIMES, "")
        return tuple(part.strip() for part in text.split(",") if part.strip())


@dataclass(frozen=True, slots=True)
class LogScan:
    """What the log files of a slice say: blocks in merge order, and the bytes that were skipped."""

    blocks: tuple[LocatedBlock, ...]
    skipped: tuple[SkippedBytes, ...]


def scan_logs(storage: Storage, log_files: Sequence[str], visibility: Visibility) -> LogScan:
    """The blocks of log files, given in merge order, that a query reads.

    Rolled back blocks, blocks of instants that the query does not see, and log-compacted blocks are left out.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT for a block that breaks the format inside an intact frame.
        HudiError: LOG_CONTENT_CORRUPT for a block without instant; LOG_FILE_MISSING.

    Clauses: LF-010, LF-012, LF-015, LF-016, LF-018, LF-019, RD-013.

    """
    blocks: list[LocatedBlock] = []
    skipped: list[SkippedBytes] = []
    for file in log_files:
        for block in read_blocks(read_log(storage, file), file):
            if isinstance(block, CorruptBlock):
                skipped.append(SkippedBytes(file, block.offset, "LF-010", f"{block.length} bytes skipped: {block.why}"))
            elif block.type is BlockType.COMMAND:
                # Only what precedes the command: an instant may be used again later.
                target = decode_command(block, file).target
                blocks = [one for one in blocks if one.instant != target]
            elif block.type is not BlockType.CDC_DATA:
                blocks.append(_located(block, file))
    visible = [one for one in blocks if visibility.sees(one.instant)]
    return LogScan(tuple(_without_compacted(visible)), tuple(skipped))


def _located(block: RawBlock, file: str) -> LocatedBlock:
    instant = block.header.get(HeaderKey.INSTANT_TIME)
    if instant is None:
        message = "the block names no instant in its header"
        hint = "restore the log file from a copy"
        raise HudiError(Reason.LOG_CONTENT_CORRUPT, "LF-006", message, file, block.offset, hint)
    return LocatedBlock(file, instant, block)


def _without_compacted(blocks: list[LocatedBlock]) -> list[LocatedBlock]:
    """Each log-compacted block at the place of the newest block that it replaces.

    Clauses: LF-019.
    """
    final = _final_instants(blocks)
    if not final:
        return blocks
    of_instant: dict[str, list[LocatedBlock]] = {}
    for one in blocks:
        of_instant.setdefault(one.instant, []).append(one)
    placed: list[str] = []
    for one in reversed(blocks):
        instant = final.get(one.instant, one.instant)
        # Its rows, or those of what replaced it in turn, come where the blocks stand that it was made of.
        waits = _has_sources(of_instant[one.instant][0], of_instant)
        if instant not in placed and not waits:
            placed.append(instant)
    return [one for instant in reversed(placed) for one in of_instant[instant]]


def _final_instants(blocks: list[LocatedBlock]) -> dict[str, str]:
    """For each replaced instant, the outermost log compaction that holds its records."""
    replaced_by = {source: one.instant for one in blocks for source in one.compacted if source != one.instant}
    final = {}
    for source in replaced_by:
        outermost, seen = source, {source}
        while replaced_by.get(outermost, outermost) not in seen:
            outermost = replaced_by[outermost]
            seen.add(outermost)
        final[source] = outermost
    return final


def _has_sources(one: LocatedBlock, of_instant: dict[str, list[LocatedBlock]]) -> bool:
    """Whether blocks that this one replaces are still there, so that their place is its place."""
    return any(source < one.instant and source in of_instant for source in one.compacted)
