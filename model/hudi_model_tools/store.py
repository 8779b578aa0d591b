"""Equal values under one number, so that the states of a search compare and hash by numbers."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Generic, TypeVar

from hudi_model.tables import History, Table

Value = TypeVar("Value")

UNORDERED = (Table, History)
"""Where the order of the parts is that of the puts, and means nothing."""


@dataclass(frozen=True, slots=True)
class Interned(Generic[Value]):
    """A value and its number; values are equal where their numbers are."""

    number: int
    value: Value = field(compare=False)


class Store:
    """Numbers for values, the same for equal ones. A search has one of its own."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._seen: dict[int, tuple[int, Any]] = {}
        self._names: dict[type, tuple[str, ...]] = {}

    def keep(self, value: Value) -> Interned[Value]:
        """The value under its number."""
        return Interned(self._number(value), value)

    def _number(self, value: Any) -> int:
        """The number of a dataclass or a mapping; an object looked into once is known by its identity."""
        if id(value) not in self._seen:
            parts = self._parts(value, type(value))
            self._seen[id(value)] = self._numbers.setdefault((type(value), parts), len(self._numbers)), value
        return self._seen[id(value)][0]

    def _parts(self, value: Any, kind: type) -> Hashable:
        """What a dataclass or a mapping holds."""
        if not is_dataclass(kind):
            return frozenset((name, self._shape(one)) for name, one in value.items())
        names = self._names.setdefault(kind, tuple(one.name for one in fields(kind)))
        parts = [self._shape(getattr(value, name)) for name in names]
        return tuple(frozenset(one) if kind in UNORDERED and type(one) is tuple else one for one in parts)

    def _shape(self, value: Any) -> Hashable:
        """A value as something to hash: dataclasses and mappings by number, other values with their type."""
        kind = type(value)
        if kind is str or value is None:
            plain: str | None = value
            return plain
        if kind is tuple:
            return tuple([self._shape(one) for one in value])
        if kind is frozenset:
            return frozenset([self._shape(one) for one in value])
        if kind in self._names or is_dataclass(kind) or isinstance(value, Mapping):
            return self._number(value)
        return (kind, tuple(map(self._shape, value)) if kind is list else value)
