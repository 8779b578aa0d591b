"""JSON as Apache Hudi's writers lay it out, read within bounds."""

import json
from typing import Any, Final

from hudi_format.errors import FormatError, Reason

MAXIMUM_JSON_BYTES: Final = 512 * 1024 * 1024


def read_json(data: bytes, file: str, reason: str, clause: str) -> Any:
    """The value of a JSON file.

    Raises:
        FormatError: `reason` when it is no JSON; LIMIT_EXCEEDED for a file over 512 MiB.

    """
    if len(data) > MAXIMUM_JSON_BYTES:
        raise FormatError(Reason.LIMIT_EXCEEDED, clause, file, None, f"{len(data)} bytes of JSON")
    try:
        return json.loads(data.decode())
    except json.JSONDecodeError as error:
        offset = len(error.doc[: error.pos].encode())
        raise FormatError(reason, clause, file, offset, f"no JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise FormatError(reason, clause, file, error.start, "no UTF-8 text") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(reason, clause, file, None, f"no JSON: {error}") from error


def pretty_json(value: Any) -> bytes:
    """The value with objects broken into lines, arrays of texts and numbers kept in line."""
    return _pretty(value, "").encode()


def _pretty(value: Any, indent: str) -> str:
    if isinstance(value, dict):
        if not value:
            return "{ }"
        inner = indent + "  "
        entries = (
            f"{inner}{json.dumps(key, ensure_ascii=False)} : {_pretty(item, inner)}" for key, item in value.items()
        )
        return "{\n" + ",\n".join(entries) + f"\n{indent}}}"
    if isinstance(value, list):
        return "[ " + ", ".join(_pretty(item, indent) for item in value) + " ]" if value else "[ ]"
    return json.dumps(value, ensure_ascii=False)
