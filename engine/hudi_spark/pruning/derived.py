"""What follows for a function's results from what is known of its column.

Clauses: IX-052, IX-053.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from hudi_adapter.filters import Column

from hudi_spark.errors import UnsupportedFeature
from hudi_spark.expressions.functions import apply, function_of
from hudi_spark.pruning.facts import UNKNOWN, Facts
from hudi_spark.pruning.situation import Situation


def derived_facts(column: Column, facts: Sequence[Facts], situation: Situation) -> list[Facts]:
    """Facts of a function's results, slice by slice, from those of the column itself.

    A function of the bounds bounds its results where it grows with the column, or the column has one value.
    """
    kind = situation.kind(column)
    grows = function_of(column).grows and not pa.types.is_string(kind)
    usable = [one.maximum is not None and (grows or one.is_only(one.maximum)) for one in facts]
    usable = [is_so and one.minimum is not None for is_so, one in zip(usable, facts, strict=True)]
    if situation.is_zoned(column) or not any(usable):
        return [UNKNOWN] * len(facts)
    least = _results(column, [one.minimum if is_so else None for is_so, one in zip(usable, facts, strict=True)], kind)
    greatest = _results(
        column, [one.maximum if is_so else None for is_so, one in zip(usable, facts, strict=True)], kind
    )
    return [_fact(*each) for each in zip(facts, least, greatest, strict=True)]


def _results(column: Column, values: Sequence[Any], kind: pa.DataType) -> Sequence[Any]:
    try:
        return list(apply(column, pa.chunked_array([pa.array(values, kind)])).to_pylist())
    except (UnsupportedFeature, pa.ArrowException, ValueError, OverflowError):
        return [None] * len(values)


def _fact(facts: Facts, least: Any, greatest: Any) -> Facts:
    """A text's function may make null of a value: then nothing is known."""
    if least is None or greatest is None:
        return UNKNOWN
    return Facts(least, greatest, facts.nulls, facts.values, unordered=False)
