"""The suite's four reference mergers, for tables with the feature `merge-custom`. Clauses: RM-003 to RM-012.

Nothing calls them yet: call `merge` where your reader merges records of a table whose merge mode is CUSTOM.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hudi_adapter import Reason, Rejected

COLUMNS = "hoodie.record.merge.property.hudi.conformance.columns"


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a record; a tombstone has no values, a deleted row may keep them for merges to come."""

    values: Mapping[str, Any] | None
    ordering: tuple[Any, ...] | None = None
    is_delete: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """What a table says of merging: its ordering fields, and the columns that the merger works on."""

    columns: tuple[str, ...]
    ordering: tuple[str, ...] = ()


def merge(strategy: str, rule: Rule, older: Version, newer: Version) -> Version:
    """Two versions as the table's own merger has them; `strategy` is `hoodie.record.merge.strategy.id`."""
    if strategy not in MERGERS:
        raise Rejected(Reason.MERGER_UNKNOWN, f"no merger has the strategy id {strategy}")
    return MERGERS[strategy](rule, older, newer)


def columns_of(properties: Mapping[str, str], ordering: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that a table names for its merger; the ordering fields where it names none."""
    named = tuple(name.strip() for name in properties.get(COLUMNS, "").split(",") if name.strip())
    return named or ordering


def combined(rule: Rule, older: Version, newer: Version) -> Version:
    """Counter and set union: the named columns of both put together, the rest the newer record's."""
    first, second = dict(older.values or {}), dict(newer.values or {})
    values = {**first, **second, **{name: together(first.get(name), second.get(name)) for name in rule.columns}}
    return Version(values, ordering_of(rule, values) or newer.ordering or older.ordering, newer.is_delete)


def deleted_at_zero(rule: Rule, older: Version, newer: Version) -> Version:
    """The counter, and the row goes where nothing is left in any of the columns; a tombstone takes nothing."""
    found = combined(rule, older, newer)
    values = found.values or {}
    return Version(values, found.ordering, is_delete=all(not values.get(name) for name in rule.columns))


def greater(rule: Rule, older: Version, newer: Version) -> Version:
    """The record that is greater in the first column, then in the second; a tie goes to the newer."""
    left, right = rank_of(rule, older), rank_of(rule, newer)
    if left is None or right is None:
        return older if left is not None else newer
    return older if left > right else newer


def rank_of(rule: Rule, version: Version) -> tuple[Any, ...] | None:
    """A row's columns, or a tombstone's ordering values; None where one is missing."""
    if version.values is None:
        return version.ordering
    found = tuple(version.values.get(name) for name in rule.columns)
    return None if None in found else found


def ordering_of(rule: Rule, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The ordering values of a row; None where there are none, or one is null."""
    found = tuple(values.get(name) for name in rule.ordering)
    return None if not found or None in found else found


def together(older: Any, newer: Any) -> Any:
    """The sum of numbers, or the members of either list, each once and sorted; a null adds nothing."""
    if older is None or newer is None:
        return newer if older is None else older
    return sorted({*older, *newer}) if isinstance(older, list) else older + newer


MERGERS: Mapping[str, Callable[[Rule, Version, Version], Version]] = {
    "2e073cb4-ac99-573a-986a-1e30a8c39b14": combined,
    "f4d090e1-8005-5437-b99b-455ae39820db": greater,
    "a8a2be63-cd61-5653-a78e-c1ac920f0d25": combined,
    "78bd11f0-7eb9-574e-b71c-8a553f04b96d": deleted_at_zero,
}
"""Counter, greater of two columns, set union, delete at zero."""
