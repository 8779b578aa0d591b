"""The order of rows in the files of a clustering: by columns in turn, or along a curve through them.

A column's values become numbers of 64 bits whose order is the column's. The bits of all columns are interleaved
(z-order), or taken as coordinates of Hilbert's curve.

Clauses: CL-010, CL-009.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.errors import HudiError, Reason
from hudi_spark.merge import keys
from hudi_spark.options import Options
from hudi_spark.schema import one_chunk

Numbers = npt.NDArray[np.uint64]

_BITS: Final = 64
_HILBERT_BITS: Final = 63
_BYTES: Final = 8
_ONE: Final = np.uint64(1)
_SIGN: Final = np.uint64(1 << 63)
_SIGN_OF_32: Final = np.uint64(1 << 31)
_LOW_32: Final = np.uint64(0xFFFF_FFFF)
_MOST: Final = 2**63 - 1


def z_order(columns: Sequence[pa.ChunkedArray]) -> pa.Array:
    """For each row its place on the z-curve, as bytes that compare as the places do.

    Clauses: CL-010.
    """
    return _interleaved([_spread_values(one) for one in columns], _BITS)


def hilbert(columns: Sequence[pa.ChunkedArray]) -> pa.Array:
    """For each row its place on Hilbert's curve, as bytes that compare as the places do.

    Clauses: CL-010.
    """
    coordinates = [_coordinate(one) for one in columns]
    return _interleaved(_transposed(coordinates, _HILBERT_BITS), _HILBERT_BITS)


def ranks(column: pa.ChunkedArray, sample: pa.ChunkedArray) -> pa.ChunkedArray:
    """For each value how many different values of a sample are less; null for null.

    Clauses: CL-010.
    """
    known = pc.unique(sample).drop_null()
    values = one_chunk(column)
    both = pa.concat_arrays([known, values])
    of_sample = pc.array_sort_indices(both).to_numpy() < len(known)
    less = np.concatenate([[0], np.cumsum(of_sample)])
    places = pc.rank(both, tiebreaker="min").to_numpy()[len(known) :]
    numbers = pa.array(less[places - 1], pa.int64())
    return pa.chunked_array([pc.if_else(pc.is_valid(values), numbers, pa.scalar(None, pa.int64()))])


def _spread_values(column: pa.ChunkedArray) -> Numbers:
    """The values as numbers whose bits are interleaved; null is as large as the type's largest value."""
    kind = column.type
    if pa.types.is_boolean(kind):
        return _integers(pc.fill_null(column, fill_value=False).cast(pa.int64()), 0, bits=32)
    if pa.types.is_integer(kind) and kind.bit_width < _BITS:
        return _integers(column, 2 ** (kind.bit_width - 1) - 1, bits=32)
    if pa.types.is_floating(kind):
        return _floats(column)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _texts(pc.fill_null(column, "").cast(pa.large_binary()))
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return _texts(pc.fill_null(column, b"\0").cast(pa.large_binary()))
    return _integers(_whole(column), _MOST, bits=64)


def _coordinate(column: pa.ChunkedArray) -> Numbers:
    """The values as coordinates from 0 on, in 63 bits; null is the largest."""
    kind = column.type
    if pa.types.is_boolean(kind):
        values = np.where(pc.fill_null(column, fill_value=False).to_numpy(), _MOST, 0)
        return values.astype(np.uint64)
    if pa.types.is_floating(kind):
        bits = _filled(column.cast(pa.float64()), 0.0).view(np.uint64)
        return _where_null(column, bits)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind):
        return _where_null(column, _texts(pc.fill_null(column.cast(pa.large_binary()), b"")))
    return _filled(_whole(column), _MOST).astype(np.int64).view(np.uint64)


def _whole(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whole numbers: days and moments in milliseconds, decimals without their fraction."""
    kind = column.type
    if pa.types.is_date(kind):
        return column.cast(pa.timestamp("ms")).cast(pa.int64())
    if pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp("ms", kind.tz), safe=False).cast(pa.int64())
    if pa.types.is_decimal(kind):
        return pc.trunc(column.cast(pa.float64())).cast(pa.int64())
    return column.cast(pa.int64())


def _integers(column: pa.ChunkedArray, null: int, *, bits: int) -> Numbers:
    found = _filled(column.cast(pa.int64()), null).astype(np.int64).view(np.uint64)
    turned: Numbers = found ^ _SIGN if bits == _BITS else (found & _LOW_32) ^ _SIGN_OF_32
    return turned


def _floats(column: pa.ChunkedArray) -> Numbers:
    kind = np.float32 if pa.types.is_float32(column.type) else np.float64
    values: npt.NDArray[np.float64] = _filled(column.cast(pa.float64()), float(np.finfo(kind).max))
    found = values.view(np.uint64)
    return np.where(values > 0, found ^ _SIGN, np.where(values < 0, ~found, found))


def _texts(column: pa.ChunkedArray) -> Numbers:
    """The first eight bytes; shorter texts are filled up in front, as released writers do."""
    first = pc.binary_slice(column, 0, _BYTES)
    lengths = pc.binary_length(first).to_numpy()
    joined = b"".join(first.to_pylist())
    found = np.zeros((len(column), _BYTES), dtype=np.uint8)
    rows = np.repeat(np.arange(len(column)), lengths)
    starts = np.cumsum(lengths) - lengths
    inside = np.arange(len(joined)) - np.repeat(starts, lengths)
    found[rows, inside + np.repeat(_BYTES - lengths, lengths)] = np.frombuffer(joined, dtype=np.uint8)
    return found.view(">u8").reshape(-1).astype(np.uint64)


def _filled(column: pa.ChunkedArray, null: float) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = pc.fill_null(column, pa.scalar(null, column.type)).to_numpy()
    return values


def _where_null(column: pa.ChunkedArray, numbers: Numbers) -> Numbers:
    return np.where(pc.is_null(column).to_numpy(), np.uint64(_MOST), numbers)


def _interleaved(columns: Sequence[Numbers], bits: int) -> pa.Array:
    """The first bit of each column, then the second of each, as bytes; `bits`: how many of each, the low ones."""
    count = len(columns[0])
    planes = np.zeros((count, bits * len(columns)), dtype=np.uint8)
    for bit in range(bits):
        for number, column in enumerate(columns):
            planes[:, bit * len(columns) + number] = (column >> np.uint64(bits - 1 - bit)) & _ONE
    packed = np.packbits(planes, axis=1)
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(packed.shape[1]), count, [None, pa.py_buffer(packed)])


def _transposed(coordinates: Sequence[Numbers], bits: int) -> list[Numbers]:
    """Coordinates as the interleaved bits of their place on Hilbert's curve (Skilling, 2004)."""
    x = [one.copy() for one in coordinates]
    steps = [np.uint64(1 << bit) for bit in range(bits - 1, 0, -1)]
    for q in steps:
        low = q - _ONE
        for number, one in enumerate(x):
            turned = (one & q) != 0
            swapped = np.where(turned, np.uint64(0), (x[0] ^ one) & low)
            x[0] ^= np.where(turned, low, swapped)
            if number:
                x[number] ^= swapped
    for before, after in itertools.pairwise(x):
        np.bitwise_xor(after, before, out=after)
    twist = np.zeros_like(x[0])
    for q in steps:
        twist ^= np.where((x[-1] & q) != 0, q - _ONE, np.uint64(0))
    return [one ^ twist for one in x]


_STRATEGY: Final = "hoodie.layout.optimize.strategy"
_METHOD: Final = "hoodie.layout.optimize.curve.build.method"
_SAMPLE_ROWS: Final = "hoodie.layout.optimize.build.curve.sample.size"
_LINEAR: Final = "LINEAR"
_SAMPLED: Final = "SAMPLE"
_CURVES: Final = {"ZORDER": z_order, "HILBERT": hilbert}


@dataclass(frozen=True, slots=True)
class Layout:
    """How rows are ordered; not at all where there are no columns.

    `curve`: LINEAR, ZORDER or HILBERT. `ranked`: a curve goes through the places of values among those of a sample,
    instead of through the values. `sample`: rows of the columns, where they are known beforehand.

    Clauses: CL-009, CL-010.
    """

    columns: tuple[str, ...] = ()
    curve: str = _LINEAR
    ranked: bool = False
    sample_rows: int = 0
    sample: pa.Table | None = field(default=None, compare=False, repr=False)

    def values(self, rows: pa.Table) -> pa.Table:
        """The columns to sort by, alone."""
        return pa.table({name: keys.field_values(rows, name) for name in self.columns})

    def ordered(self, rows: pa.Table) -> pa.Table:
        """The rows in order."""
        return rows.take(_order(self._keys(self.values(rows)))) if self.columns and rows.num_rows else rows

    def with_sample(self, sample: pa.Table) -> "Layout":
        """The same, the sample known."""
        return replace(self, sample=sample)

    def boundaries(self, parts: int) -> pa.Table:
        """The keys that divide the sample into parts of one size: one less than there are parts."""
        keys = self._keys(self.sample)
        places = np.linspace(0, keys.num_rows, parts + 1)[1:-1].astype(np.int64)
        return keys.take(_order(keys)).take(pa.array(places)) if keys.num_rows else keys

    def parts_of(self, rows: pa.Table, boundaries: pa.Table) -> pa.Array:
        """For each row the number of its part: how many boundaries are not greater."""
        keys = self._keys(self.values(rows))
        order = _order(pa.concat_tables([boundaries.cast(keys.schema), keys])).to_numpy()
        before = np.cumsum(order < boundaries.num_rows)
        found = np.empty(len(order), dtype=np.int32)
        found[order] = before
        return pa.array(found[boundaries.num_rows :], pa.int32())

    def _keys(self, values: pa.Table) -> pa.Table:
        """What rows are compared by."""
        # A curve through one column is the column.
        if self.curve == _LINEAR or len(self.columns) == 1:
            return values.rename_columns([f"key{number}" for number in range(len(self.columns))])
        columns = [self._ranked(name, values) if self.ranked else values.column(name) for name in self.columns]
        return pa.table({"key0": _CURVES[self.curve](columns)})

    def _ranked(self, name: str, values: pa.Table) -> pa.ChunkedArray:
        sample = values if self.sample is None else self.sample
        return ranks(values.column(name), sample.column(name))


def layout_of(columns: tuple[str, ...], schema: pa.Schema, options: Options) -> Layout:
    """The order that a plan's columns and the options give, over rows of a schema.

    A curve takes its columns in the order that they have in the table, as released writers do.

    Raises:
        HudiError: CONFIG_INVALID for columns that there are not, or whose values have no order.

    Clauses: CL-009, CL-010.

    """
    refuse_unsortable(columns, schema)
    curve = options.text(_STRATEGY)
    if curve != _LINEAR:
        columns = tuple(sorted(columns, key=lambda name: schema.names.index(keys.column_of(name, schema) or name)))
    return Layout(columns, curve, options.text(_METHOD) == _SAMPLED, options.number(_SAMPLE_ROWS))


def refuse_unsortable(columns: tuple[str, ...], schema: pa.Schema) -> None:
    """Nothing where the rows of a schema can be ordered.

    Raises:
        HudiError: CONFIG_INVALID for columns that there are not, or whose values have no order.

    Clauses: CL-009.

    """
    for name in columns:
        if keys.column_of(name, schema) is None:
            message = f"rows are to be sorted by {name!r}, which is no column of the table"
            raise HudiError(Reason.CONFIG_INVALID, "CL-009", message, hint=f"the table has {', '.join(schema.names)}")
        kind = keys.field_type(name, schema)
        if pa.types.is_nested(kind):
            message = f"rows are to be sorted by {name!r}, whose values ({kind}) have no order"
            raise HudiError(Reason.CONFIG_INVALID, "CL-009", message, hint="name a field inside it")


def _order(keys: pa.Table) -> pa.Array:
    """The rows' numbers in order, null before every value; of equal rows the first stays first."""
    return pc.sort_indices(keys, sort_keys=[(name, "ascending", "at_start") for name in keys.column_names])


def sample_of(layout: Layout, rows: pa.Table, most: int) -> pa.Table:
    """Rows of the columns, evenly spread over what is there."""
    places = np.unique(np.linspace(0, max(rows.num_rows - 1, 0), min(most, rows.num_rows)).astype(np.int64))
    return layout.values(rows).take(pa.array(places))
