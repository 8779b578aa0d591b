"""Arrays of bytes that are parts of encoded values, made of numbers without a loop over rows."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]
Choice = NDArray[np.bool_]

_SEVEN_BITS = 7
_LOW = np.uint8(0x7F)
_MORE = np.uint8(0x80)


def joined(pieces: Sequence[pa.LargeBinaryArray]) -> pa.LargeBinaryArray:
    """The pieces of each row one after the other."""
    if len(pieces) == 1:
        return pieces[0]
    return pc.binary_join_element_wise(*pieces, pa.scalar(b"", pa.large_binary()))


def lengths_of(piece: pa.LargeBinaryArray) -> Numbers:
    """The bytes of each row."""
    return np.diff(np.frombuffer(piece.buffers()[1], np.int64)[piece.offset : piece.offset + len(piece) + 1])


def constant(value: bytes, rows: int) -> pa.LargeBinaryArray:
    """The same bytes in each row."""
    return _piece(np.arange(rows + 1, dtype=np.int64) * len(value), pa.py_buffer(value * rows))


def expanded(piece: pa.LargeBinaryArray, places: Choice) -> pa.LargeBinaryArray:
    """The rows of a piece at the places that are true, no bytes at the others."""
    lengths = np.zeros(len(places), np.int64)
    lengths[places] = lengths_of(piece)
    start = int(np.frombuffer(piece.buffers()[1], np.int64)[piece.offset])
    return _piece(_offsets(lengths) + start, piece.buffers()[2])


def fixed_width(values: Bytes, head: bytes = b"") -> pa.LargeBinaryArray:
    """Rows of equally many bytes, each after `head`."""
    rows, width = values.shape
    matrix = _headed(rows, width, head)
    matrix[:, len(head) :] = values
    return _piece(np.arange(rows + 1, dtype=np.int64) * matrix.shape[1], pa.py_buffer(matrix))


def ending(values: Bytes, lengths: Numbers, head: bytes) -> pa.LargeBinaryArray:
    """The last `lengths` bytes of each row, after `head` and their number as one byte."""
    rows, width = values.shape
    matrix = _headed(rows, width + 1, head)
    matrix[:, len(head)] = 2 * lengths
    matrix[:, len(head) + 1 :] = values
    kept = np.ones(matrix.shape, np.bool_)
    kept[:, len(head) + 1 :] = np.arange(width) >= width - lengths[:, None]
    return _piece(_offsets(lengths + 1 + len(head)), pa.py_buffer(matrix[kept]))


def texts(values: pa.Array, head: bytes) -> list[pa.LargeBinaryArray]:
    """Bytes or text after `head` and their length."""
    plain = values.cast(pa.large_binary())
    return [varints(lengths_of(plain), head), plain]


def varints(values: Numbers, head: bytes = b"") -> pa.LargeBinaryArray:
    """Numbers as zigzag varints, each after `head`."""
    zigzag = ((values << 1) ^ (values >> 63)).view(np.uint64)
    longest = max(1, -(-int(zigzag.max(initial=0)).bit_length() // _SEVEN_BITS))
    matrix = _headed(len(values), longest, head)
    lengths = np.full(len(values), len(head) + 1, np.int64)
    rest = zigzag
    for column in range(len(head), len(head) + longest - 1):
        following = rest >> np.uint64(_SEVEN_BITS)
        more = following != 0
        matrix[:, column] = (rest.astype(np.uint8) & _LOW) | (more * _MORE)
        lengths += more
        rest = following
    matrix[:, -1] = rest
    if not len(values) or int(lengths.min()) == matrix.shape[1]:
        return _piece(_offsets(lengths), pa.py_buffer(matrix))
    kept = np.arange(matrix.shape[1]) < lengths[:, None]
    return _piece(_offsets(lengths), pa.py_buffer(matrix[kept]))


def _headed(rows: int, width: int, head: bytes) -> Bytes:
    """Room for rows of so many bytes after `head`, which is filled in."""
    matrix = np.empty((rows, len(head) + width), np.uint8)
    matrix[:, : len(head)] = np.frombuffer(head, np.uint8)
    return matrix


def _offsets(lengths: Numbers) -> Numbers:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _piece(offsets: Numbers, data: pa.Buffer) -> pa.LargeBinaryArray:
    return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), data])
