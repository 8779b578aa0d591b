"""From log files to the blocks that count, in merge order."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from hudi_model.files import Block, DataBlock, DeleteBlock, LogFile, RollbackBlock, valid_records
from hudi_model.time import InstantTime

Change: TypeAlias = DataBlock | DeleteBlock
"""A block that changes rows."""


def blocks_of(log: LogFile) -> tuple[Block, ...]:
    """The blocks of a log file.

    Raises: what the damage says.
    """
    return valid_records(log.blocks)


def effective_blocks(logs: Iterable[LogFile], counts: Callable[[InstantTime], bool]) -> tuple[Change, ...]:
    """The blocks that change rows, in merge order, where `counts` states which instants the question sees.

    Clauses: LF-015, LF-016, LF-019.
    """
    scanned = [block for log in logs for block in blocks_of(log)]
    return place_log_compacted(tuple(one for one in without_rolled_back(scanned) if counts(one.instant)))


def without_rolled_back(blocks: Iterable[Block]) -> tuple[Change, ...]:
    """The blocks that change rows; a rollback block drops every block of its target that stands before it.

    Clauses: LF-015.
    """
    kept: list[Change] = []
    for block in blocks:
        if isinstance(block, RollbackBlock):
            kept = [one for one in kept if one.instant != block.target]
        elif isinstance(block, DataBlock | DeleteBlock):
            kept.append(block)
    return tuple(kept)


def place_log_compacted(blocks: tuple[Change, ...]) -> tuple[Change, ...]:
    """Log-compacted blocks in the place of the newest block that they replace; the replaced ones are gone.

    One that was compacted again is no such place: what it held stood where its own sources do.

    Clauses: LF-019.
    """
    outermost = replacements(blocks)
    if not outermost:
        return blocks
    present = {block.instant for block in blocks}
    waiting = {
        one.instant for one in blocks for source in one.compacted_instants if source < one.instant and source in present
    }
    order: list[InstantTime] = []
    for block in reversed(blocks):
        instant = outermost.get(block.instant, block.instant)
        if block.instant not in waiting and instant not in order:
            order.append(instant)
    return tuple(block for instant in reversed(order) for block in blocks if block.instant == instant)


def replacements(blocks: Iterable[Change]) -> dict[InstantTime, InstantTime]:
    """For each replaced instant, the outermost log compaction that holds its changes.

    Clauses: LF-019.
    """
    direct = {one: block.instant for block in blocks for one in block.compacted_instants if one < block.instant}
    outermost = {}
    for replaced, replacement in direct.items():
        found = replacement
        while found in direct:
            found = direct[found]
        outermost[replaced] = found
    return outermost
