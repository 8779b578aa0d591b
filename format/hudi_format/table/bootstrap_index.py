"""The index of a bootstrapped table: which file outside of the table holds the data of each of its first file groups.

.hoodie/.aux/.bootstrap/.fileids/*.hfile      part=<partition>;fileid=<id> -> a container of one file and its partition
.hoodie/.aux/.bootstrap/.partitions/*.hfile   part=<partition> -> the same by partition, not needed to read
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hudi_format.avro.files import read_container
from hudi_format.errors import FormatError, Reason, refusing
from hudi_format.hfile.blocks import Origin
from hudi_format.hfile.reader import open_hfile

FILE_INDEX_FOLDER: Final = ".hoodie/.aux/.bootstrap/.fileids"
METADATA_ONLY_INSTANT: Final = "00000000000001"

_CLAUSE: Final = "BF-012"


@dataclass(frozen=True, slots=True)
class BootstrappedFile:
    """A file group that holds meta fields only, and the file that has its data.

    `source_partition` is the folder of that file below the bootstrap base path, which may be named otherwise.

    Clauses: BF-012.
    """

    partition: str
    file_id: str
    source_partition: str
    uri: str
    length: int


def parse_bootstrap_index(data: bytes, file: str) -> tuple[BootstrappedFile, ...]:
    """The entries of an index by file id.

    Raises:
        FormatError: BASE_FILE_CORRUPT when it does not parse; LIMIT_EXCEEDED for sizes out of all bounds.
        UnsupportedFormat: an HFile of another version or packing.

    Clauses: BF-012.

    """
    entries = open_hfile(data, Origin(file, feature="bootstrap")).entries()
    return tuple(_entry(key, value, file) for key, value in entries)


def _entry(key: bytes, value: bytes, file: str) -> BootstrappedFile:
    with refusing(Reason.BASE_FILE_CORRUPT, _CLAUSE, file, None, "a key of the bootstrap index is no text"):
        text = key.decode()
    partition, separator, file_id = text.removeprefix("part=").rpartition(";fileid=")
    if not (text.startswith("part=") and separator and file_id):
        raise _bad(file, f"the key {text[:80]!r} names no partition and file id")
    _, records = read_container(value, file, Reason.BASE_FILE_CORRUPT, _CLAUSE)
    if len(records) != 1:
        raise _bad(file, f"the entry of {text[:80]!r} has {len(records)} records")
    return _of_record(partition, file_id, records[0], file)


def _of_record(partition: str, file_id: str, record: Mapping[str, Any], file: str) -> BootstrappedFile:
    status = record.get("bootstrapFileStatus")
    path = status.get("path") if isinstance(status, Mapping) else None
    uri = path.get("uri") if isinstance(path, Mapping) else None
    source, length = record.get("bootstrapPartitionPath"), status.get("length") if isinstance(status, Mapping) else None
    if not (isinstance(uri, str) and isinstance(source, str) and isinstance(length, int)):
        raise _bad(file, f"the entry of file id {file_id[:80]!r} names no file")
    return BootstrappedFile(partition, file_id, source, uri, length)


def _bad(file: str, message: str) -> FormatError:
    return FormatError(Reason.BASE_FILE_CORRUPT, _CLAUSE, file, None, message)
