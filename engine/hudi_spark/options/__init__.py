"""The `hoodie.*` keys: what is known of each, and what a caller gave."""

from hudi_spark.options.resolving import (
    BY_POSITIONS,
    END_SCHEMA,
    FALLBACK,
    Options,
    check_configs,
    contradictions,
    of_reads,
    refusal,
    resolve,
)

__all__ = [
    "BY_POSITIONS",
    "END_SCHEMA",
    "FALLBACK",
    "Options",
    "check_configs",
    "contradictions",
    "of_reads",
    "refusal",
    "resolve",
]
