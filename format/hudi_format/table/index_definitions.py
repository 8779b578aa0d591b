"""The definitions of a table's indexes: `.hoodie/.index_defs/index.json`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hudi_format.errors import FormatError, Reason
from hudi_format.json_text import pretty_json, read_json

DEFINITIONS_KEY: Final = "hoodie.table.index.defs.path"
DEFINITIONS_FILE: Final = ".hoodie/.index_defs/index.json"

_CLAUSE: Final = "IX-001"


@dataclass(frozen=True, slots=True)
class IndexDefinition:
    """What an index is of.

    `name` is the partition of the metadata table, prefix and all. `kind`: `column_stats`, `bloom_filters`,
    `record_index`, `secondary_index`. `function` is empty where the index has none.

    Clauses: IX-001, IX-003, IX-004, IX-041.
    """

    name: str
    kind: str
    function: str
    source_fields: tuple[str, ...]
    options: Mapping[str, str] = field(hash=False)
    version: str = "V1"


def parse_index_definitions(data: bytes, file: str) -> tuple[IndexDefinition, ...]:
    """The definitions in a file, by name.

    Raises:
        FormatError: PROPERTIES_INVALID when it is no such file.

    Clauses: IX-001, IX-004.

    """
    content = read_json(data, file, Reason.PROPERTIES_INVALID, _CLAUSE)
    found = content.get("indexDefinitions") if isinstance(content, dict) else None
    if not isinstance(found, dict):
        raise _bad(file, "there are no indexDefinitions")
    return tuple(_definition(found[name], file) for name in sorted(found))


def serialise_index_definitions(definitions: Iterable[IndexDefinition], *, versions: bool = True) -> bytes:
    """The bytes of the file; releases before 1.1 write no `versions`, which then are all V1.

    Clauses: IX-001.
    """
    return pretty_json({"indexDefinitions": {one.name: _form(one, versions=versions) for one in definitions}})


def _form(definition: IndexDefinition, *, versions: bool) -> dict[str, Any]:
    form = {
        "indexName": definition.name,
        "indexType": definition.kind,
        "indexFunction": definition.function,
        "sourceFields": list(definition.source_fields),
        "indexOptions": dict(definition.options),
    }
    return {**form, "version": definition.version} if versions else form


def _definition(form: Any, file: str) -> IndexDefinition:
    if not isinstance(form, dict):
        raise _bad(file, f"{form!r:.80} is no definition")
    fields, options = form.get("sourceFields") or [], form.get("indexOptions") or {}
    texts = [form.get(key) or "" for key in ("indexName", "indexType", "indexFunction")]
    is_valid = isinstance(fields, list) and isinstance(options, dict) and all(isinstance(one, str) for one in texts)
    if not is_valid or not all(isinstance(one, str) for one in (*fields, *options.values())) or not texts[0]:
        raise _bad(file, f"{form!r:.80} is no definition")
    return IndexDefinition(texts[0], texts[1], texts[2], tuple(fields), options, str(form.get("version") or "V1"))


def _bad(file: str, message: str) -> FormatError:
    return FormatError(Reason.PROPERTIES_INVALID, _CLAUSE, file, None, message)
