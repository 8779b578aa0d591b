"""Filters and the functions in them, on Arrow data."""

from hudi_spark.filters.dates import DEFAULT_PATTERN, Part, days_of, floor_divided, nulled
from hudi_spark.filters.evaluation import expression, filter_of, mask, matching, pushable
from hudi_spark.filters.functions import (
    FUNCTIONS,
    apply,
    compared_type,
    complaint,
    function_of,
    plain_values,
    scalar_of,
    value_of,
)
from hudi_spark.filters.grammar import And, Column, Comparison, Filter, Not, Or, columns_of
from hudi_spark.filters.texts import python_pattern

__all__ = [
    "DEFAULT_PATTERN",
    "FUNCTIONS",
    "And",
    "Column",
    "Comparison",
    "Filter",
    "Not",
    "Or",
    "Part",
    "apply",
    "columns_of",
    "compared_type",
    "complaint",
    "days_of",
    "expression",
    "filter_of",
    "floor_divided",
    "function_of",
    "mask",
    "matching",
    "nulled",
    "plain_values",
    "pushable",
    "python_pattern",
    "scalar_of",
    "value_of",
]
