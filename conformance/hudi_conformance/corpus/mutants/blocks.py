"""Rules of log blocks, broken."""

from collections.abc import Callable, Iterable

from hudi_model.blocks import Change, place_log_compacted
from hudi_model.files import Block, CorruptBlock, DataBlock, DeleteBlock, LogFile, RollbackBlock
from hudi_model.rejection import Reason, Rejection
from hudi_model.time import InstantTime

from hudi_conformance.corpus.mutants.registry import Function, mutant

Counts = Callable[[InstantTime], bool]


@mutant("uncommitted-block-visible", "LF-016", "Blocks of any instant are read.", "blocks.effective_blocks")
def _uncommitted_block_visible(original: Function) -> Function:
    return lambda logs, _counts: original(logs, lambda _instant: True)


@mutant(
    "rollbacks-and-commits-ignored",
    "LF-015 LF-016",
    "Every data and delete block is read, whichever write made it, rolled back or not.",
    "blocks.effective_blocks",
)
def _rollbacks_and_commits_ignored(_: Function) -> Function:
    def every(logs: Iterable[LogFile], _counts: Counts) -> tuple[Change, ...]:
        blocks = [block for log in logs for block in (log.blocks if isinstance(log.blocks, tuple) else ())]
        return place_log_compacted(tuple(block for block in blocks if isinstance(block, DataBlock | DeleteBlock)))

    return every


@mutant("rollback-ignored", "LF-015", "Command blocks do nothing.", "blocks.without_rolled_back")
def _rollback_ignored(_: Function) -> Function:
    return lambda blocks: tuple(block for block in blocks if isinstance(block, DataBlock | DeleteBlock))


@mutant(
    "rollback-drops-previous-block-only",
    "LF-015",
    "A command block drops its target only as the block right before it.",
    "blocks.without_rolled_back",
)
def _rollback_drops_previous_block_only(_: Function) -> Function:
    def previous_only(blocks: Iterable[Block]) -> tuple[Change, ...]:
        kept: list[Change] = []
        for block in blocks:
            if isinstance(block, RollbackBlock):
                if kept and kept[-1].instant == block.target:
                    kept.pop()
            elif isinstance(block, DataBlock | DeleteBlock):
                kept.append(block)
        return tuple(kept)

    return previous_only


@mutant(
    "log-compaction-read-twice",
    "LF-019",
    "Merged blocks and their sources are both read.",
    "blocks.place_log_compacted",
)
def _log_compaction_read_twice(_: Function) -> Function:
    return lambda blocks: blocks


@mutant(
    "compacted-again-in-its-own-place",
    "LF-019",
    "What compacts a log-compacted block again stands where that one stood.",
    "blocks.place_log_compacted",
)
def _compacted_again_in_its_own_place(original: Function) -> Function:
    def moved(blocks: tuple[Change, ...]) -> tuple[Change, ...]:
        placed: tuple[Change, ...] = original(blocks)
        again = {source: one.instant for one in blocks for source in one.compacted_instants}
        for inner in (one for one in blocks if one.compacted_instants and one.instant in again):
            outer = again[inner.instant]
            behind = {one.instant for one in blocks[blocks.index(inner) :]}
            others = [one for one in placed if one.instant != outer]
            place = next((at for at, one in enumerate(others) if one.instant in behind), len(others))
            placed = (*others[:place], *(one for one in placed if one.instant == outer), *others[place:])
        return placed

    return moved


@mutant("corrupt-block-stops-file", "LF-011", "Nothing behind a corrupt block is read.", "blocks.blocks_of")
def _corrupt_block_stops_file(original: Function) -> Function:
    def up_to_damage(log: LogFile) -> tuple[Block, ...]:
        blocks: tuple[Block, ...] = original(log)
        stops = [number for number, block in enumerate(blocks) if isinstance(block, CorruptBlock)]
        return blocks[: stops[0] + 1] if stops else blocks

    return up_to_damage


@mutant("corrupt-block-refused", "LF-010", "A torn block makes the table unreadable.", "blocks.blocks_of")
def _corrupt_block_refused(original: Function) -> Function:
    def refuse(log: LogFile) -> tuple[Block, ...]:
        blocks: tuple[Block, ...] = original(log)
        if any(isinstance(block, CorruptBlock) for block in blocks):
            raise Rejection(Reason.LOG_CONTENT_CORRUPT, "LF-010", log.name, "a torn block")
        return blocks

    return refuse


@mutant("corrupt-block-without-warning", "RD-013", "Torn blocks are skipped silently.", "queries.warnings_of")
def _corrupt_block_without_warning(_: Function) -> Function:
    return lambda _found: ()


@mutant(
    "empty-log-stops-slice", "LF-012", "Logs behind a log file without blocks are not read.", "blocks.effective_blocks"
)
def _empty_log_stops_slice(original: Function) -> Function:
    def up_to_empty(logs: Iterable[LogFile], counts: Counts) -> tuple[Change, ...]:
        found = tuple(logs)
        empty = [number for number, log in enumerate(found) if not log.blocks and not log.cdc]
        merged: tuple[Change, ...] = original(found[: empty[0]] if empty else found, counts)
        return merged

    return up_to_empty


@mutant(
    "damaged-log-skipped", "LF-014", "A log file whose blocks cannot be distinguished is skipped.", "blocks.blocks_of"
)
def _damaged_log_skipped(original: Function) -> Function:
    return lambda log: original(log) if isinstance(log.blocks, tuple) else ()
