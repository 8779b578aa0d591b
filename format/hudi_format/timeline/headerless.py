"""Rows of the history that an upgrade from version 6 by Apache Hudi 1.0.2 wrote: Avro records without a container."""

import io
from collections.abc import Mapping
from typing import Any, Final

import fastavro

from hudi_format.avro.files import MAGIC, write_container
from hudi_format.avro.schemas import reading_schema
from hudi_format.errors import FormatError, Reason, refusing
from hudi_format.timeline import timeline_schemas

_SCHEMAS: Final[Mapping[str, dict[str, Any]]] = {
    "commit": timeline_schemas.commit_metadata(replace=False),
    "deltacommit": timeline_schemas.commit_metadata(replace=False),
    "replacecommit": timeline_schemas.commit_metadata(replace=True),
    "clean": timeline_schemas.CLEAN_METADATA,
    "rollback": timeline_schemas.ROLLBACK_METADATA,
    "savepoint": timeline_schemas.SAVEPOINT_METADATA,
    "restore": timeline_schemas.RESTORE_METADATA,
    "indexing": timeline_schemas.INDEX_COMMIT,
}


def with_header(data: bytes, action: str, file: str) -> bytes:
    """What the completed file of an action would hold: the same bytes, or a bare record put into a container.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when the bytes are neither a container, nor JSON, nor the action's record.

    Clauses: TL-030.

    """
    schema = _SCHEMAS.get(action)
    if not data or data.startswith(MAGIC) or schema is None or data.lstrip()[:1] == b"{":
        return data
    stream = io.BytesIO(data)
    with refusing(Reason.TIMELINE_FILE_CORRUPT, "TL-030", file, None, f"a row holds no {action}"):
        record = fastavro.schemaless_reader(stream, reading_schema(schema), None)
    if stream.tell() != len(data):
        raise FormatError(Reason.TIMELINE_FILE_CORRUPT, "TL-030", file, None, f"bytes are left after a {action}")
    return write_container(schema, [record])  # type: ignore[list-item]
