"""Decimal columns as the big-endian bytes of their unscaled numbers."""

import numpy as np
import pyarrow as pa

from hudi_format.avro.pieces import Bytes, Numbers, ending


def fixed_decimals(values: pa.Array, size: int) -> Bytes:
    """Each unscaled number in `size` bytes, which hold every number of the column's precision."""
    unscaled = _big_endian(values)
    width = unscaled.shape[1]
    if size <= width:
        return unscaled[:, width - size :]
    sign = np.repeat(_sign(unscaled), size - width, axis=1)
    return np.concatenate([sign, unscaled], axis=1)


def minimal_decimals(values: pa.Array, head: bytes) -> pa.LargeBinaryArray:
    """Each unscaled number in as few bytes as keep its sign, after `head` and the number of bytes."""
    unscaled = _big_endian(values)
    return ending(unscaled, _least_bytes(unscaled), head)


def _big_endian(values: pa.Array) -> Bytes:
    width = values.type.byte_width
    data = np.frombuffer(values.buffers()[1], np.uint8)[values.offset * width : (values.offset + len(values)) * width]
    return data.reshape(-1, width)[:, ::-1]


def _sign(unscaled: Bytes) -> Bytes:
    """What the bytes before a number are: all bits set for a negative one."""
    found: Bytes = np.where(unscaled[:, :1] >> 7, np.uint8(0xFF), np.uint8(0))
    return found


def _least_bytes(unscaled: Bytes) -> Numbers:
    """A leading byte is needed unless it and the bit after it repeat the sign."""
    repeats = (unscaled[:, :-1] == _sign(unscaled)) & ((unscaled[:, 1:] >> 7) == (unscaled[:, :1] >> 7))
    leading: Numbers = np.logical_and.accumulate(repeats, axis=1).sum(axis=1, dtype=np.int64)
    least: Numbers = unscaled.shape[1] - leading
    return least
