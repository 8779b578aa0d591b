"""The JSON Schema of every message, and a check that names the first violation readably."""

import functools
import itertools
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

import jsonschema

MESSAGES = ("start", "started", "run", "answer", "stop")
VALUE_OPS = ("list_timeline", "list_file_slices", "table_info", "check_table")
_MOST_VIOLATIONS = 50
"""So many are looked at; a hostile message may hold a million."""


class MessageError(ValueError):
    """A message that breaks the protocol: where in it, and what was expected."""


def schema(name: str) -> Mapping[str, Any]:
    """JSON Schema of a message (one of MESSAGES) or of an op's value (`value_<op>`)."""
    text = resources.files("hudi_adapter").joinpath(f"schemas/{name}.json").read_text(encoding="utf-8")
    loaded: Mapping[str, Any] = json.loads(text)
    return loaded


def check_message(name: str, message: Any) -> None:
    """Hold a message against its schema.

    Raises:
        MessageError: naming the place and the rule of the first violation.

    """
    found = itertools.islice(_validator(name).iter_errors(message), _MOST_VIOLATIONS)
    violation = jsonschema.exceptions.best_match(found)
    if violation is not None:
        place = "".join(f"[{step!r}]" for step in violation.absolute_path) or "the message"
        raise MessageError(f"{name}: {place}: {violation.message[:300]}")


def check_value(op: str, value: Any) -> None:
    """Hold the value that an op answers against the op's schema, where it has one.

    Raises:
        MessageError: naming the place and the rule of the first violation.

    """
    if op in VALUE_OPS:
        check_message(f"value_{op}", value)


@functools.cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema(name))
