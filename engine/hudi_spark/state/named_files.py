"""Files that plans and markers name: data files of the table's partitions, and nothing else below its base path.

Who carries a plan out deletes and replaces what it names. So a name is looked at before the first effect, whoever made
the plan.

Clauses: SL-007.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from hudi_format.errors import FormatError, Reason
from hudi_format.names import is_partition_metafile, parse_data_file_name
from hudi_format.storage import Storage

_METADATA_FOLDER: Final = ".hoodie"
_INSTANT: Final = re.compile("[0-9]+")


def is_partition_path(partition: str) -> bool:
    """Whether a path can be that of a partition: below the base path, or itself, and not below `.hoodie`.

    Clauses: SL-007.
    """
    folders = partition.split("/") if partition else []
    return not ({"", ".", ".."} & set(folders) or folders[:1] == [_METADATA_FOLDER] or "\0" in partition)


def is_data_file(partition: str, name: str) -> bool:
    """Whether a file of this name in a partition of this path is a base or log file of the table.

    Clauses: SL-007.
    """
    return is_partition_path(partition) and parse_data_file_name(name) is not None


def refuse_foreign(partition: str, paths: Iterable[str | None], file: str) -> None:
    """Nothing when a plan, which stands in `file`, names data files of a partition; of paths the last part counts.

    Raises:
        FormatError: PATH_ESCAPES_TABLE.

    Clauses: SL-007.

    """
    if not is_partition_path(partition):
        raise _foreign(f"the plan names {partition[:200]!r}, which is no partition of the table", file)
    for path in paths:
        name = (path or "").rpartition("/")[2]
        if path and not is_data_file(partition, name):
            raise _foreign(f"the plan names {f'{partition}/{name}'[:200]!r}, which is no data file", file)


def refuse_unknown_partitions(storage: Storage, planned: Mapping[str, Iterable[str]], file: str) -> None:
    """Nothing when files, named by partition, that storage still has lie in folders which are marked as partitions.

    Raises:
        FormatError: PATH_ESCAPES_TABLE.

    Clauses: SL-002, SL-007.

    """
    for partition, names in planned.items():
        stored = {one.path.rpartition("/")[2] for one in storage.list_files(partition, recursive=False)}
        if not stored.isdisjoint(names) and not any(map(is_partition_metafile, stored)):
            raise _foreign(f"the plan names files of {partition[:200]!r}, which is no partition of the table", file)


def refuse_no_instant(instant: str | None, file: str) -> None:
    """Nothing when what a plan, which stands in `file`, is to undo is an instant: folders are named after it.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT.

    Clauses: RB-003, SR-006.

    """
    if instant is None or not _INSTANT.fullmatch(instant):
        message = f"the plan is to undo {(instant or '')[:40]!r}, which is no instant"
        raise FormatError(Reason.TIMELINE_FILE_CORRUPT, "RB-003", file, None, message)


def _foreign(message: str, file: str) -> FormatError:
    hint = "nothing was changed; remove the plan from the timeline if no Hudi writer made it"
    return FormatError(Reason.PATH_ESCAPES_TABLE, "SL-007", file, None, message, hint)
