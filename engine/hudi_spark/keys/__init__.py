"""Record keys and partition paths of incoming rows, and in which file group each key lives."""

from hudi_spark.keys.bucket_index import BUCKET_DIGITS, KeptBuckets
from hudi_spark.keys.generator import KeyGenerator, PathRule, brought_keys, key_generator
from hudi_spark.keys.generator_types import (
    CLASSES,
    GeneratorKind,
    generator_kind,
    generator_type,
    misfit,
    refuse_misfit,
)
from hudi_spark.keys.stored_keys import stored_rule
from hudi_spark.keys.tagging import looks_twice, tagged
from hudi_spark.keys.tags import (
    BASE_INSTANT,
    DELETED,
    FILE_ID,
    KEY_FIELD,
    MOVED,
    PARTITION_FIELD,
    PARTITION_PATH,
    POSITION,
    RECORD_KEY,
    SLICE,
    TAG_FIELDS,
    MissingIndexWarning,
    Tagged,
    hashes_consistently,
    index_of,
    is_global,
    tagged_schema,
)
from hudi_spark.keys.timestamps import TIME_PREFIX, stamp_settings

__all__ = [
    "BASE_INSTANT",
    "BUCKET_DIGITS",
    "CLASSES",
    "DELETED",
    "FILE_ID",
    "KEY_FIELD",
    "MOVED",
    "PARTITION_FIELD",
    "PARTITION_PATH",
    "POSITION",
    "RECORD_KEY",
    "SLICE",
    "TAG_FIELDS",
    "TIME_PREFIX",
    "GeneratorKind",
    "KeptBuckets",
    "KeyGenerator",
    "MissingIndexWarning",
    "PathRule",
    "Tagged",
    "brought_keys",
    "generator_kind",
    "generator_type",
    "hashes_consistently",
    "index_of",
    "is_global",
    "key_generator",
    "looks_twice",
    "misfit",
    "refuse_misfit",
    "stamp_settings",
    "stored_rule",
    "tagged",
    "tagged_schema",
]
