"""TOML as golden tables hold it: plain values, inline tables, arrays of tables. Reading is the standard library's."""

import json
from collections.abc import Mapping, Sequence
from typing import Any


def inline(value: Any) -> str:
    """One value on one line.

    Raises:
        TypeError: TOML has no such value (null, for one).

    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str) and _is_literal(value):
        return f"'{value}'"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(name)} = {inline(member)}' for name, member in value.items())}}}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(inline, value))}]"
    raise TypeError(f"TOML has no {type(value).__name__}")


def lines(values: Mapping[str, Any]) -> str:
    """One `name = value` a line."""
    return "".join(f"{_key(name)} = {inline(value)}\n" for name, value in values.items())


def _key(name: str) -> str:
    return name if name.replace("-", "_").isidentifier() and name.isascii() else json.dumps(name)


def _is_literal(text: str) -> bool:
    """Whether a text reads better between single quotes, which escape nothing."""
    return '"' in text and "'" not in text and text.isprintable()
