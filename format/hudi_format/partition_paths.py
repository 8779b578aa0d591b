r"""Partition paths as text: Hive's escapes, names for missing values, levels and columns.

escaped   each of U+0000 to U+001F, U+007F and " # % ' * / : = ? [ \ ] ^ { as %XX; nothing else
missing   __HIVE_DEFAULT_PARTITION__, in tables before version 5 default
"""

import re
from collections.abc import Sequence
from typing import Final

HIVE_DEFAULT_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"
OLD_DEFAULT_PARTITION: Final = "default"

_ESCAPED = re.compile("[\\x00-\\x1f\\x7f\"#%'*/:=?\\[\\\\\\]^{]")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
_FIRST_VERSION_WITH_HIVE_NAME: Final = 5


def escape_partition_value(value: str) -> str:
    """A value as a folder name where the table encodes them.

    Clauses: DM-031.
    """
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", value)


def unescape_partition_value(text: str) -> str:
    """The value of an encoded folder name; a `%` without two hex digits stays.

    Clauses: DM-031.
    """
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)


def default_partition(table_version: int) -> str:
    """The folder name of a missing value."""
    return HIVE_DEFAULT_PARTITION if table_version >= _FIRST_VERSION_WITH_HIVE_NAME else OLD_DEFAULT_PARTITION


def partition_path(
    columns: Sequence[str],
    values: Sequence[str | None],
    *,
    hive_style: bool = False,
    encoded: bool = False,
    missing: str = HIVE_DEFAULT_PARTITION,
) -> str:
    """The path of a record's values; without columns the empty path. A null or empty value is a missing one.

    Raises:
        ValueError: as many values as columns are needed.

    Clauses: DM-031.

    """
    levels = []
    for column, value in zip(columns, values, strict=True):
        level = (escape_partition_value(value) if encoded else value) if value else missing
        levels.append(f"{column}={level}" if hive_style else level)
    return "/".join(levels)


def partition_values(
    path: str, columns: Sequence[str], *, encoded: bool = False, missing: str = HIVE_DEFAULT_PARTITION
) -> tuple[str | None, ...] | None:
    """The texts of a path's levels, a column each; None where levels and columns do not fit each other.

    A level counts as hive-styled when it begins with its column's name and `=`. Missing values are None.

    Clauses: DM-031.
    """
    levels = path.split("/") if path else []
    if len(levels) != len(columns):
        return None
    texts = [level.removeprefix(f"{column}=") for level, column in zip(levels, columns, strict=True)]
    return tuple(None if text == missing else _unescaped(text, encoded=encoded) for text in texts)


def _unescaped(text: str, *, encoded: bool) -> str:
    return unescape_partition_value(text) if encoded else text
