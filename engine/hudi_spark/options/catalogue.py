"""The catalogue of keys: by current name, by other names, by family, and the nearest one to a name that is none."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from hudi_spark.options.entries import Entry, Group, Kind, read_groups

_CLOSE_ENOUGH: Final = 0.75


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All keys; `names` has each under its current name and under its other ones."""

    groups: tuple[Group, ...]
    names: Mapping[str, Entry]
    families: tuple[Entry, ...]

    def find(self, name: str) -> Entry | None:
        """The entry that a name stands for: its own, or that of the family it belongs to."""
        listed = self.names.get(name)
        return listed or next((family for family in self.families if name.startswith(family.key)), None)

    def __getitem__(self, key: str) -> Entry:
        return self.names[key]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every entry once."""
        return tuple(entry for group in self.groups for entry in group.entries)


@cache
def the_catalogue() -> Catalogue:
    """The catalogue that this package ships."""
    return catalogue_of(read_groups())


def catalogue_of(groups: Iterable[Group]) -> Catalogue:
    """The catalogue of some groups.

    Raises:
        ValueError: two entries have one name.

    """
    stated = tuple(groups)
    names: dict[str, Entry] = {}
    for entry in (entry for group in stated for entry in group.entries if entry.kind is not Kind.FAMILY):
        for name in (entry.key, *entry.aliases):
            if name in names:
                raise ValueError(f"{name} stands for {names[name].key} and for {entry.key}")
            names[name] = entry
    families = [entry for group in stated for entry in group.entries if entry.kind is Kind.FAMILY]
    return Catalogue(stated, names, tuple(sorted(families, key=lambda family: -len(family.key))))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that one which is unknown was most probably meant to be."""
    return next(iter(difflib.get_close_matches(name, list(known), 1, _CLOSE_ENOUGH)), None)
