"""The sixth meta field, which only change logs have: what was done to a record."""

import pyarrow as pa
from hudi_format.base.files import base_file_footer
from hudi_format.schemas import OPERATION_FIELD
from hudi_format.storage import Storage

from hudi_spark.state.snapshots import Snapshot


def with_operation(storage: Storage, snapshot: Snapshot, columns: pa.Schema) -> pa.Schema:
    """The columns, and `_hoodie_operation` before them where the newest base file has it.

    No commit's schema names it, so a file has to be looked at.

    Raises:
        FormatError: BASE_FILE_MISSING, BASE_FILE_CORRUPT.

    Clauses: MF-002, MG-014.

    """
    files = [one.base_file for one in snapshot.slices if one.base_file is not None]
    newest = max(files, key=lambda file: file.rpartition("_")[2], default=None)
    if newest is None or OPERATION_FIELD not in base_file_footer(storage, newest).schema.names:
        return columns
    return pa.schema([pa.field(OPERATION_FIELD, pa.string()), *columns])
