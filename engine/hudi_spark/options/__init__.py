"""The `hoodie.*` keys: what is known of each, and what a caller gave."""

from hudi_spark.options.catalogue import the_catalogue
from hudi_spark.options.resolving import (
    BY_POSITIONS,
    END_SCHEMA,
    FALLBACK,
    INDEX_TYPE,
    STORAGE_PREFIX,
    Options,
    check_configs,
    contradictions,
    is_whole,
    names_given,
    of_reads,
    refusal,
    refuse_no_text,
    refuse_unmerged,
    resolve,
    settled,
    skips_merge,
)

__all__ = [
    "BY_POSITIONS",
    "END_SCHEMA",
    "FALLBACK",
    "INDEX_TYPE",
    "STORAGE_PREFIX",
    "Options",
    "check_configs",
    "contradictions",
    "is_whole",
    "names_given",
    "of_reads",
    "refusal",
    "refuse_no_text",
    "refuse_unmerged",
    "resolve",
    "settled",
    "skips_merge",
    "the_catalogue",
]
