"""The order of rows in new files: by columns in turn, or along a curve through them.

Clauses: CL-009, CL-010.
"""

from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError
from hudi_spark.merging import fields
from hudi_spark.options.resolving import Options
from hudi_spark.services.clustering.curves import hilbert, ranks, z_order

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
        return pa.table({name: fields.field_values(rows, name) for name in self.columns})

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
        columns = tuple(sorted(columns, key=lambda name: schema.names.index(fields.column_of(name, schema) or name)))
    return Layout(columns, curve, options.text(_METHOD) == _SAMPLED, options.number(_SAMPLE_ROWS))


def refuse_unsortable(columns: tuple[str, ...], schema: pa.Schema) -> None:
    """Nothing where the rows of a schema can be ordered.

    Raises:
        HudiError: CONFIG_INVALID for columns that there are not, or whose values have no order.

    Clauses: CL-009.

    """
    for name in columns:
        if fields.column_of(name, schema) is None:
            message = f"rows are to be sorted by {name!r}, which is no column of the table"
            raise HudiError(Reason.CONFIG_INVALID, "CL-009", message, hint=f"the table has {', '.join(schema.names)}")
        kind = fields.field_type(name, schema)
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
