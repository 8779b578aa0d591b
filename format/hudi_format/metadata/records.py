"""The records of the metadata table as values; `codec` has their bytes."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from hudi_format.metadata.wrapped_values import ValueType, Wrapped

ALL_PARTITIONS_KEY: Final = "__all_partitions__"
# The path of a table's only partition where it has none.
UNPARTITIONED: Final = "."
NO_FILE_INDEX: Final = -1

_HALF = 64
_WORD = 2**_HALF
_UUID_LENGTH = 36


class RecordType(IntEnum):
    """What a record holds.

    Clauses: MT-018.
    """

    ALL_PARTITIONS = 1
    FILES = 2
    COLUMN_STATS = 3
    BLOOM_FILTER = 4
    RECORD_INDEX = 5
    PARTITION_STATS = 6
    SECONDARY_INDEX = 7


class FileIdEncoding(IntEnum):
    """How a record of the record index says a file id.

    Clauses: IX-023.
    """

    UUID = 0
    TEXT = 1


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file, or one partition, of a list: its bytes, or that it is gone."""

    size: int
    is_deleted: bool = False


@dataclass(frozen=True, slots=True)
class FileList:
    """Names of files in a partition, or paths of all partitions with size 0.

    Clauses: MT-010.
    """

    entries: Mapping[str, FileEntry] = field(hash=False)


@dataclass(frozen=True, slots=True)
class ColumnStats:
    """What a file, or a partition in place of a file, says about one column.

    `value_type` says how the bounds are meant, from index version V2 on; before, they say it themselves.

    Clauses: MT-011, MT-014, IX-004.
    """

    file_name: str | None
    column_name: str | None
    minimum: Wrapped | None = None
    maximum: Wrapped | None = None
    value_count: int | None = None
    null_count: int | None = None
    total_size: int | None = None
    total_uncompressed_size: int | None = None
    is_deleted: bool = False
    is_tight_bound: bool = False
    value_type: ValueType | None = None


@dataclass(frozen=True, slots=True)
class BloomFilterEntry:
    """The bloom filter of a base file: `text` is its Base64 form, as in the file's footer.

    Clauses: IX-011.
    """

    type_code: str
    instant: str
    text: bytes
    is_deleted: bool = False


@dataclass(frozen=True, slots=True)
class RecordLocation:
    """Where a record key lives; `instant_ms` is the commit that put it there, in epoch milliseconds.

    Clauses: IX-020, IX-023.
    """

    partition: str
    file_id: str
    instant_ms: int
    encoding: FileIdEncoding = FileIdEncoding.UUID
    position: int | None = None


@dataclass(frozen=True, slots=True)
class SecondaryEntry:
    """That a record has a value; both are in the key.

    Clauses: IX-030.
    """

    is_deleted: bool = False


Content = FileList | ColumnStats | BloomFilterEntry | RecordLocation | SecondaryEntry


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """One entry of one index; the type says which kind of content it has.

    Clauses: MT-002, MT-018.
    """

    key: str
    type: RecordType
    content: Content


def file_id_of(high: int, low: int, index: int) -> str:
    """The file id that two halves of a UUID and a file index make; an index of -1 adds nothing.

    Clauses: IX-023.
    """
    text = str(uuid.UUID(int=(high % _WORD) << _HALF | low % _WORD))
    return text if index == NO_FILE_INDEX else f"{text}-{index}"


def halves_of(file_id: str) -> tuple[int, int, int]:
    """The signed halves of a file id's UUID and its index.

    Raises:
        ValueError: the file id does not begin with a UUID, or goes on with something other than an index.

    Clauses: IX-023.

    """
    number = uuid.UUID(file_id[:_UUID_LENGTH]).int
    rest = file_id[_UUID_LENGTH:]
    index = int(rest[1:]) if rest.startswith("-") else NO_FILE_INDEX
    high, low = number >> _HALF, number % _WORD
    if file_id_of(high, low, index) != file_id:
        raise ValueError(f"{file_id!r} is no UUID with an index")
    return _signed(high), _signed(low), index


def _signed(half: int) -> int:
    return half - _WORD if half >= _WORD // 2 else half
