"""The columns that travel with incoming rows from one step of a write to the next, beside the tags of an index."""

from typing import Final

import pyarrow as pa

from hudi_spark.tagging.columns import KEY_FIELD, PARTITION_FIELD

# Where a row stood in the input: a later version of a key has a greater number.
SEQUENCE: Final = "_sequence"
TARGET: Final = "_target"

KEY_FIELDS: Final = (KEY_FIELD, PARTITION_FIELD, pa.field(SEQUENCE, pa.int64()))
TARGET_FIELD: Final = pa.field(TARGET, pa.int32())
