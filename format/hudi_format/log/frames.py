"""The blocks of a log file without their content: only frames and headers are read, however large the blocks are."""

from collections.abc import Iterator

from hudi_format.errors import FormatError
from hudi_format.log.blocks import MAGIC, CorruptBlock, RawBlock, block_around, read_blocks
from hudi_format.storage import Storage

_AT_ONCE = 256 * 1024
"""A file of so many bytes is read whole: that costs less than two reads."""
_HEAD = 64 * 1024
_END = 4 + 8
"""A footer without entries and the total length."""


def read_frames(
    storage: Storage, path: str, size: int, *, whole_to: int = _AT_ONCE
) -> tuple[RawBlock | CorruptBlock, ...]:
    """The blocks of a log file, as `read_blocks` finds them; those of one above `whole_to` bytes have no content.

    Raises:
        FormatError: as `read_blocks`.

    Clauses: LF-001, LF-003, LF-010.

    """
    if size > whole_to:
        try:
            return tuple(_walk(storage, path, size))
        except _NotPlainError:
            pass
    return read_blocks(storage.read(path), path)


class _NotPlainError(Exception):
    """Something is not as in a whole log file: only who reads all of it can tell what."""


def _walk(storage: Storage, path: str, size: int) -> Iterator[RawBlock]:
    position = 0
    while position < size:
        head = storage.read_range(path, position, min(_HEAD, size - position))
        try:
            found = block_around(head, position, size, path)
        except FormatError as error:
            raise _NotPlainError from error
        if found is None or not _ends_whole(storage, path, position + found.length, size, found.length):
            raise _NotPlainError
        yield found
        position += found.length


def _ends_whole(storage: Storage, path: str, end: int, size: int, length: int) -> bool:
    """Whether a block has no footer and its two lengths agree, and the magic or the end of the file follows it.

    Clauses: LF-003, LF-010.
    """
    tail = storage.read_range(path, end - _END, min(_END + len(MAGIC), size - end + _END))
    # The total length counts the magic but not itself; a block's length counts both.
    whole = bytes(4) + (length - 8).to_bytes(8, "big")
    return tail[:_END] == whole and tail[_END:] in (b"", MAGIC)
