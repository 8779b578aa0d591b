"""The timeline's history from version 8 on: Parquet files of completed actions, manifests, the version file.

history/_version_                       the number of the current manifest
history/manifest_<n>                    the files of one version of the history
history/<min>_<max>_<level>.parquet     actions, one row each
"""

import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hudi_format.avro.schemas import schema_text
from hudi_format.base.parquet_bytes import open_parquet, read_parquet
from hudi_format.base.stored_file import open_stored
from hudi_format.errors import FormatError, Reason, refusing
from hudi_format.storage import Storage
from hudi_format.timeline.timeline_schemas import HISTORY_INSTANT

VERSION_FILE = "_version_"
_MANIFEST = re.compile(r"manifest_(\d{1,18})", re.ASCII)
_FILE = re.compile(r"(\d+)_(\d+)_(\d)\.parquet", re.ASCII)
_CLAUSE = "TL-030"
_INDEX_CLAUSE = "TL-031"
_COMPLETION = "completionTime"

_SCHEMA = pa.schema(
    [
        pa.field("instantTime", pa.string()),
        pa.field("completionTime", pa.string()),
        pa.field("action", pa.string()),
        pa.field("metadata", pa.binary()),
        pa.field("plan", pa.binary()),
        pa.field("version", pa.int32(), nullable=False),
    ]
)


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One completed action; `metadata` and `plan` are the bytes its timeline files had.

    Clauses: TL-030.
    """

    instant_time: str
    completion_time: str | None
    action: str
    metadata: bytes | None = None
    plan: bytes | None = None


@dataclass(frozen=True, slots=True)
class HistoryFileName:
    """The first and the last instant in a file, and its level in the tree.

    Clauses: TL-030.
    """

    minimum: str
    maximum: str
    level: int

    def __str__(self) -> str:
        return f"{self.minimum}_{self.maximum}_{self.level}.parquet"


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """A file of the history and its length in bytes."""

    file_name: str
    file_length: int


def parse_history_name(name: str) -> HistoryFileName | None:
    """The parts of a history file's name; None for any other name.

    Clauses: TL-030.
    """
    found = _FILE.fullmatch(name)
    return HistoryFileName(found[1], found[2], int(found[3])) if found else None


def manifest_number(name: str) -> int | None:
    """The version that a manifest describes; None for any other name, a temporary file's too.

    Clauses: TL-031.
    """
    found = _MANIFEST.fullmatch(name)
    return int(found[1]) if found else None


def parse_version(data: bytes, file: str) -> int:
    """The number in the version file.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when it holds anything but a number.

    Clauses: TL-031.

    """
    text = data.strip()
    if not (text.isdigit() and len(text) <= 18):
        raise FormatError(Reason.TIMELINE_FILE_CORRUPT, _INDEX_CLAUSE, file, 0, f"{data[:24]!r} is no version number")
    return int(text)


def parse_manifest(data: bytes, file: str) -> tuple[ManifestEntry, ...]:
    """The files that a manifest names.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when it is no JSON of this shape; PATH_ESCAPES_TABLE for a name with a slash.

    Clauses: TL-031.

    """
    with refusing(Reason.TIMELINE_FILE_CORRUPT, _INDEX_CLAUSE, file, None, "the manifest does not parse"):
        listed = json.loads(data)["files"]
        entries = tuple(ManifestEntry(str(one["fileName"]), int(one["fileLen"])) for one in listed)
    for entry in entries:
        if "/" in entry.file_name or entry.file_name in ("", ".", ".."):
            raise FormatError(
                Reason.PATH_ESCAPES_TABLE, _INDEX_CLAUSE, file, None, f"names {entry.file_name!r}, no file beside it"
            )
    return entries


def serialise_manifest(entries: Sequence[ManifestEntry]) -> bytes:
    """A manifest as Apache Hudi spaces it.

    Clauses: TL-031.
    """
    objects = ", ".join(
        f'{{\n    "fileName" : {json.dumps(one.file_name)},\n    "fileLen" : {one.file_length}\n  }}' for one in entries
    )
    return f'{{\n  "files" : [ {objects} ]\n}}'.encode() if entries else b'{\n  "files" : [ ]\n}'


def read_history_file(data: bytes, file: str) -> tuple[HistoryRow, ...]:
    """The actions in a history file, in their order.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when it is no Parquet file of these columns; LIMIT_EXCEEDED.

    Clauses: TL-030.

    """
    table = read_parquet(data, file, None, Reason.TIMELINE_FILE_CORRUPT, _CLAUSE)
    missing = [name for name in ("instantTime", "action") if name not in table.schema.names]
    if missing:
        raise FormatError(Reason.TIMELINE_FILE_CORRUPT, _CLAUSE, file, None, f"there is no column {missing[0]}")
    with refusing(Reason.TIMELINE_FILE_CORRUPT, _CLAUSE, file, None, "a row is no action"):
        return tuple(_row(row) for row in table.to_pylist())


def latest_completion(storage: Storage, path: str) -> str | None:
    """When the last action in a history file completed, None where no row says it; nothing else is read of it.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when it is no Parquet file; LIMIT_EXCEEDED.
        FileNotFoundError: it is not there.

    Clauses: TL-030.

    """
    with open_stored(storage, path) as stream:
        opened = open_parquet(stream, path, None, Reason.TIMELINE_FILE_CORRUPT, _CLAUSE)
        if _COMPLETION not in opened.schema_arrow.names:
            return None
        with refusing(Reason.TIMELINE_FILE_CORRUPT, _CLAUSE, path, None, "the Parquet data does not decode"):
            completions = opened.read(columns=[_COMPLETION]).column(_COMPLETION)
            latest: str | None = pc.max(completions.cast(pa.string())).as_py()
            return latest


def write_history_file(rows: Sequence[HistoryRow]) -> bytes:
    """A history file: the same bytes for the same rows.

    Clauses: TL-030.
    """
    table = pa.table(
        {
            "instantTime": [row.instant_time for row in rows],
            "completionTime": [row.completion_time for row in rows],
            "action": [row.action for row in rows],
            "metadata": [row.metadata for row in rows],
            "plan": [row.plan for row in rows],
            "version": [1] * len(rows),
        },
        schema=_SCHEMA,
    )
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, _SCHEMA, compression="NONE", store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(
            {"parquet.avro.schema": schema_text(HISTORY_INSTANT), "writer.model.name": "avro"}
        )
    return sink.getvalue()


def _row(row: dict[str, Any]) -> HistoryRow:
    instant, action = row["instantTime"], row["action"]
    if not (isinstance(instant, str) and isinstance(action, str)):
        raise ValueError("an action has no instant or no type")  # noqa: TRY004 - one error family
    return HistoryRow(instant, row.get("completionTime"), action, row.get("metadata"), row.get("plan"))
