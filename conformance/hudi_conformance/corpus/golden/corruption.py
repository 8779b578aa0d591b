"""Damage to a stored table's bytes, one edit a function; each gives what `GoldenTable.damage` takes."""

import struct
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_conformance.corpus.golden.questions import Damage

_MAGIC = b"#HUDI#"


def remove(pattern: str) -> Damage:
    """Delete the files that a glob below the table finds."""
    return _to_each(pattern, lambda path: path.unlink())


def empty(pattern: str) -> Damage:
    """Leave the files with no byte."""
    return _to_each(pattern, lambda path: path.write_bytes(b""))


def tear(pattern: str, bytes_lost: int) -> Damage:
    """Cut bytes off the end."""
    return _to_each(pattern, lambda path: path.write_bytes(path.read_bytes()[:-bytes_lost]))


def append(pattern: str, data: bytes) -> Damage:
    """Add bytes at the end."""
    return _to_each(pattern, lambda path: path.write_bytes(path.read_bytes() + data))


def insert(pattern: str, offset: int, data: bytes) -> Damage:
    """Put bytes in at an offset."""
    return _to_each(pattern, lambda path: path.write_bytes(_inserted(path.read_bytes(), offset, data)))


def substitute(pattern: str, old: bytes, new: bytes) -> Damage:
    """Replace the first occurrence of some bytes, which must be there."""
    return _to_each(pattern, lambda path: path.write_bytes(_substituted(path, old, new)))


def write(path: str, data: bytes = b"") -> Damage:
    """Add or replace a file."""

    def edit(table: Path) -> None:
        (table / path).parent.mkdir(parents=True, exist_ok=True)
        (table / path).write_bytes(data)

    return edit


def change_rows(pattern: str, change: Callable[[pa.Table], pa.Table]) -> Damage:
    """Other rows in a Parquet file, whose footer keeps its entries."""

    def edit(path: Path) -> None:
        entries, rows = pq.read_metadata(path).metadata, change(pq.read_table(path)).replace_schema_metadata(None)
        with pq.ParquetWriter(path, rows.schema, compression="NONE", store_schema=False) as writer:
            writer.write_table(rows)
            writer.add_key_value_metadata(entries)

    return _to_each(pattern, edit)


def copy(pattern: str, target: str) -> Damage:
    """Copy the one file that a glob finds to another name in its folder, or in one beside it, which may be new."""

    def edit(path: Path) -> None:
        copied = path.parent / target
        copied.parent.mkdir(exist_ok=True)
        copied.write_bytes(path.read_bytes())

    return _to_each(pattern, edit)


def move(pattern: str, target: str) -> Damage:
    """Rename the one file that a glob finds within its folder."""
    return _to_each(pattern, lambda path: path.rename(path.parent / target))


def _to_each(pattern: str, edit: Callable[[Path], object]) -> Damage:
    def damage(table: Path) -> None:
        found = sorted(table.glob(pattern))
        if not found:
            raise ValueError(f"nothing to damage: {pattern}")
        for path in found:
            edit(path)

    return damage


def _inserted(data: bytes, offset: int, added: bytes) -> bytes:
    return data[:offset] + added + data[offset:]


def _substituted(path: Path, old: bytes, new: bytes) -> bytes:
    data = path.read_bytes()
    if old not in data:
        raise ValueError(f"{path.name} does not hold {old!r}")
    return data.replace(old, new, 1)


def remove_folder(name: str) -> Damage:
    """Delete a folder that holds nothing."""
    return lambda table: (table / name).rmdir()


def shorten_first_block(pattern: str) -> Damage:
    """Take from the end of the first of two blocks as many bytes as the second has: they end where the first should."""

    def shortened(data: bytes) -> bytes:
        at = data.rindex(_MAGIC)
        return data[: 2 * at - len(data)] + data[at:]

    return _to_each(pattern, lambda path: path.write_bytes(shortened(path.read_bytes())))


def garbage_before_last_block(pattern: str, data: bytes) -> Damage:
    """Put bytes between the last block of a log file and what stands before it."""
    return _to_each(pattern, lambda path: path.write_bytes(_inserted_before_last(path.read_bytes(), data)))


def overwrite(pattern: str, offset: int, data: bytes) -> Damage:
    """Overwrite bytes at an offset."""
    return _to_each(pattern, lambda path: path.write_bytes(_overwritten_at(path.read_bytes(), offset, data)))


def overwrite_content(pattern: str, offset: int, data: bytes) -> Damage:
    """Overwrite bytes within the content of a log file's first block."""
    return _to_each(pattern, lambda path: path.write_bytes(_overwritten(path.read_bytes(), offset, data)))


def garble_content(pattern: str) -> Damage:
    """Make the content of a log file's first block undecodable, past its version and count or length."""
    return overwrite_content(pattern, 8, b"\x7f\xff\xff\xf0")


def _inserted_before_last(data: bytes, added: bytes) -> bytes:
    at = data.rindex(_MAGIC)
    return _inserted(data, at, added)


def _overwritten(data: bytes, offset: int, added: bytes) -> bytes:
    return _overwritten_at(data, content_offset(data) + offset, added)


def _overwritten_at(data: bytes, at: int, added: bytes) -> bytes:
    return data[:at] + added + data[at + len(added) :]


def content_offset(block: bytes) -> int:
    """Where the content of the block at the start of these bytes begins."""
    # Magic, block length, version, type, then the header: a count and its entries; then the content's length.
    position = len(_MAGIC) + 8 + 4 + 4
    (count,) = struct.unpack_from(">i", block, position)
    position += 4
    for _ in range(count):
        (length,) = struct.unpack_from(">i", block, position + 4)
        position += 8 + length
    return position + 8
