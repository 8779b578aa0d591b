"""What files hold, of a table and of its metadata table alike: records, and keys that are taken away."""

from collections.abc import Iterable

from hudi_model.blocks import blocks_of
from hudi_model.files import BaseFile, DataBlock, DeleteBlock, LogFile, Record, valid_deletes, valid_records


def records_in(file: BaseFile | LogFile) -> tuple[Record, ...]:
    """The records of a file."""
    if isinstance(file, BaseFile):
        return valid_records(file.records)
    blocks = (one for one in blocks_of(file) if isinstance(one, DataBlock))
    return tuple(record for block in blocks for record in valid_records(block.records))


def deleted_in(file: BaseFile | LogFile) -> Iterable[str]:
    """The keys that a log file takes away."""
    blocks = blocks_of(file) if isinstance(file, LogFile) else ()
    return (str(one.key) for block in blocks if isinstance(block, DeleteBlock) for one in valid_deletes(block.deletes))
