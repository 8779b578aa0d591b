"""Columns of texts as numpy sees them: bytes or UTF-16 units behind offsets, texts of one length as a matrix."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

# So many texts at a time stay in the processor's caches while a hash goes over them.
TEXTS_AT_ONCE: Final = 8192
_OFFSETS: Final = {
    pa.string(): np.int32,
    pa.binary(): np.int32,
    pa.large_string(): np.int64,
    pa.large_binary(): np.int64,
}
_OF_UTF8: Final = bytes((0xEE, 0xEF, 0xF0, 0xF1, 0xF2, 0xF3, 0xF4))
_OF_UTF16: Final = bytes((0xF3, 0xF4, 0xEE, 0xEF, 0xF0, 0xF1, 0xF2))
_TO_UTF16_ORDER: Final = bytes.maketrans(_OF_UTF8, _OF_UTF16)
_FROM_UTF16_ORDER: Final = bytes.maketrans(_OF_UTF16, _OF_UTF8)

Units = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Texts:
    """Text `i` has the units from `offsets[i]` to `offsets[i + 1]`."""

    units: Units
    offsets: Places

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def lengths(self) -> Places:
        """The number of units of each text."""
        return np.diff(self.offsets)

    def same_lengths(self, among: Places | None = None) -> Iterator[tuple[Places, Units]]:
        """The texts, or those of the places `among`: places and a matrix of a row a text, each of one length.

        A matrix has at most TEXTS_AT_ONCE rows.
        """
        places = np.arange(len(self)) if among is None else among
        lengths = self.lengths()[places]
        if len(places) and lengths.min() != lengths.max():
            order = np.argsort(lengths, kind="stable")
            places, lengths = places[order], lengths[order]
        ends = np.append(np.flatnonzero(np.diff(lengths)) + 1, len(places))
        begin = 0
        for end in ends.tolist():
            for start in range(begin, end, TEXTS_AT_ONCE):
                some = places[start : min(start + TEXTS_AT_ONCE, end)]
                yield some, self._matrix(some, int(lengths[start]))
            begin = end

    def _matrix(self, places: Places, length: int) -> Units:
        begins = self.offsets[places]
        last = int(begins[-1]) + length
        if last - int(begins[0]) == length * len(places) and (np.diff(begins) == length).all():
            return self.units[int(begins[0]) : last].reshape(len(places), length)
        matrix: Units = self.units[begins[:, None] + np.arange(length)]
        return matrix


def byte_texts(column: pa.Array | pa.ChunkedArray) -> Texts:
    """The bytes in UTF-8, or of a binary column as they are; a null is an empty text."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if isinstance(column, pa.ChunkedArray) or column.type not in _OFFSETS:
        wide = pa.large_binary() if pa.types.is_binary(column.type) else pa.large_string()
        column = column.cast(wide)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return _bytes_of(column)


def utf16_texts(column: pa.Array | pa.ChunkedArray) -> Texts:
    """The UTF-16 units, as Java counts and compares texts; plain ASCII stays in bytes."""
    texts = byte_texts(column)
    if not len(texts.units) or texts.units.max() < 0x80:
        return texts
    # Continuation bytes begin no unit; the first byte of four stands for a pair of them.
    begins = ((texts.units & 0xC0) != 0x80).astype(np.int64) + (texts.units >= 0xF0)
    counts = np.concatenate(([0], np.cumsum(begins)))
    units = np.frombuffer(texts.units.tobytes().decode().encode("utf-16-le"), np.uint16)
    return Texts(units, counts[texts.offsets])


def utf16_range(column: pa.Array | pa.ChunkedArray) -> tuple[str, str] | None:
    """Least and greatest text in the order of Java's strings, which compares UTF-16 units; None without texts."""
    texts = byte_texts(column.drop_null())
    if not len(texts):
        return None
    # In UTF-8 only the first bytes of characters beyond the basic plane sort after those of U+E000 to U+FFFF.
    swapped = texts.units.tobytes().translate(_TO_UTF16_ORDER)
    buffers = [None, pa.py_buffer(texts.offsets), pa.py_buffer(swapped)]
    ends = pc.min_max(pa.Array.from_buffers(pa.large_binary(), len(texts), buffers))
    least, greatest = (ends[end].as_py().translate(_FROM_UTF16_ORDER).decode() for end in ("min", "max"))
    return least, greatest


def utf16_order(text: str) -> bytes:
    """Bytes that compare as the UTF-16 units of the text, as Java's `String.compareTo` compares record keys.

    Clauses: BF-002.
    """
    return text.encode("utf-16-be", "surrogatepass")


def _bytes_of(column: pa.Array) -> Texts:
    _, offsets, data = column.buffers()
    if offsets is None or not len(column):
        return Texts(np.zeros(0, np.uint8), np.zeros(len(column) + 1, np.int64))
    places = np.frombuffer(offsets, _OFFSETS[column.type])[column.offset : column.offset + len(column) + 1]
    begin, end = int(places[0]), int(places[-1])
    units = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)[begin:end]
    return Texts(units, places.astype(np.int64) - begin)
