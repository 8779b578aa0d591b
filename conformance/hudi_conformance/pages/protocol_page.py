"""docs/reference/protocol.md, from schemas and reasons: `make pages`."""

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from hudi_adapter import limits
from hudi_adapter.filters import FUNCTIONS
from hudi_format.compat import tomllib
from jinja2 import Environment, StrictUndefined

from hudi_conformance.runner.markdown import markdown_table
from hudi_conformance.runner.messages import MESSAGES, VALUE_OPS, schema

PAGE = Path("docs") / "reference" / "protocol.md"
TEMPLATE = "protocol.md.j2"
_EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "start": {"cmd": "start", "protocol": 1},
    "started": {
        "protocol": 1,
        "implementation": {"name": "my-reader", "version": "0.1.0", "language": "rust"},
        "features": ["table-version-9", "mor", "log-avro"],
        "ops": ["read_snapshot"],
    },
    "run": {
        "cmd": "run",
        "seq": 7,
        "op": "read_as_of",
        "table": "/a/folder/table",
        "params": {"instant": "20250101000003000"},
        "out_dir": "/a/folder/out",
        "limit_s": 60,
    },
    "answer": {"seq": 7, "rejected": {"reason": "NOT_A_TABLE", "message": "no hoodie.properties"}},
    "stop": {"cmd": "stop"},
}


def protocol_page(root: Path) -> str:
    """The page."""
    # Markdown, not HTML: what is filled in stands as it is.
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)  # noqa: S701
    text = files(__package__).joinpath(f"templates/{TEMPLATE}").read_text(encoding="utf-8")
    return environment.from_string(text).render(
        messages=[_message(name) for name in MESSAGES],
        values=[{"name": op, "table": _table(schema(f"value_{op}"))} for op in VALUE_OPS],
        functions=", ".join(f"`{name}`" for name in sorted(FUNCTIONS)),
        limits=list(_limits()),
        reasons=_reasons(root / "specs" / "reasons.toml"),
    )


def _limits() -> Iterator[tuple[str, str]]:
    yield "an answer, from its question on", "`limit_s` seconds"
    yield "a message", f"{limits.MESSAGE_BYTES >> 20} MiB, arrays and objects nested {limits.MESSAGE_DEPTH} deep"
    yield "a rows file", f"{limits.FILE_BYTES >> 20} MiB"
    yield "its rows, decoded: no compression, no dictionary, no text shared", f"{limits.DECODED_BYTES >> 20} MiB"
    yield "its columns", f"{limits.COLUMNS}"
    yield "its values: rows times columns, and each element of a list", f"{limits.VALUES}"
    yield "what is kept of stderr (the rest is read and dropped)", f"{limits.LOG_BYTES >> 20} MiB"


def example(name: str) -> Mapping[str, Any]:
    """A message of the page."""
    return _EXAMPLES[name]


def _message(name: str) -> dict[str, str]:
    form = schema(name)
    title = str(form["title"])
    return {
        "name": name,
        "title": title[:1].upper() + title[1:] + ".",
        "table": _table(form),
        "example": json.dumps(_EXAMPLES[name]),
    }


def _table(form: Mapping[str, Any]) -> str:
    return "\n".join(markdown_table(("field", "type", "required"), _fields(form, "")))


def _fields(form: Mapping[str, Any], above: str) -> Iterator[tuple[str, str, str]]:
    """The fields of an object, and of the objects in it, each by its path."""
    if form.get("type") == "array":
        yield from _fields(form["items"], f"{above}[]." if not above else f"{above[:-1]}[].")
        return
    for name, field in form.get("properties", {}).items():
        yield f"`{above}{name}`", _type(field), "yes" if name in form.get("required", ()) else ""
        yield from _inner(field, f"{above}{name}.")


def _inner(field: Mapping[str, Any], above: str) -> Iterator[tuple[str, str, str]]:
    held = field.get("items", {})
    if field.get("properties"):
        yield from _fields(field, above)
    elif held.get("properties"):
        yield from _fields(held, f"{above[:-1]}[].")


def _type(field: Mapping[str, Any]) -> str:
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if "enum" in field:
        return (
            "a reason, below"
            if len(field["enum"]) > 10
            else " or ".join(f"`{json.dumps(one)}`" for one in field["enum"])
        )
    kinds = field.get("type", "anything")
    names = kinds if isinstance(kinds, str) else " or ".join(kinds)
    shape = f", `{field['pattern']}`" if "pattern" in field else ""
    return f"{names}{shape}".replace("|", "\\|")


def _reasons(path: Path) -> str:
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["reason"]
    rows = ((f"`{entry['name']}`", entry["sentence"], entry["when"]) for entry in entries)
    return "\n".join(markdown_table(("reason", "means", "when"), rows))
