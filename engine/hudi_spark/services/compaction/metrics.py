"""What a plan says of the work on a slice.

Clauses: CP-005, CP-013.
"""

from collections.abc import Mapping
from typing import Final

from hudi_spark.state.slicing import FileSlice

LOG_FILES: Final = "TOTAL_LOG_FILES"
LOG_BYTES: Final = "TOTAL_LOG_FILES_SIZE"
READ: Final = "TOTAL_IO_READ_MB"
WRITE: Final = "TOTAL_IO_WRITE_MB"
IO: Final = "TOTAL_IO_MB"
_MEGABYTE: Final = 1024 * 1024


def metrics_of(one: FileSlice, sizes: Mapping[str, int], largest_file: int) -> dict[str, float]:
    """Bytes of logs, and whole megabytes to read and to write; `sizes` in bytes by path.

    What a slice without base file will need is taken for a full file of `largest_file` bytes.

    Clauses: CP-013.
    """
    logs = sum(sizes.get(path, 0) for path in one.log_files)
    base = 0 if one.base_file is None else sizes.get(one.base_file, 0)
    read = (base + logs) // _MEGABYTE
    write = (largest_file if one.base_file is None else base) // _MEGABYTE
    return {
        LOG_FILES: float(len(one.log_files)),
        IO: float(read + write),
        READ: float(read),
        LOG_BYTES: float(logs),
        WRITE: float(write),
    }
