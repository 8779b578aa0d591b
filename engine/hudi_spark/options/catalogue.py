"""The catalogue of `hoodie.*` keys: each with its names, its kind and its family.

A file of `keys/` is one group of keys:

    title, about
    [[section]]   status    honoured | accepted (without effect) | refused
                  scopes    which of read, write, table, service take the keys
                  because   why they have no effect, or what to do instead
                  elsewhere true where another program would do the work
    [section.keys]
    "hoodie.some.key" = { kind, default, says, choices, also, ... }
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from hudi_format.compat import StrEnum, tomllib

_FOLDER: Final = "keys"


class Kind(StrEnum):
    """What the text of a value has to be; a family is a prefix whose keys are not listed."""

    TEXT = "text"
    FLAG = "flag"
    NUMBER = "number"
    DECIMAL = "decimal"
    CHOICE = "choice"
    FAMILY = "family"


class Status(StrEnum):
    """What this engine does with a key."""

    HONOURED = "honoured"
    ACCEPTED = "accepted"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Entry:
    """One key by Hudi's current name.

    `default`: what holds where it is not given, None for nothing; `released` is Hudi's where `differs` says why ours
    is another. `also`: other names of it; `megabytes`: those of them that count megabytes where the key counts bytes.
    `spellings`: other words for one of the `choices`. `harmless`: the values that a refused key may have.
    `kept`: the table's properties have it, so that a later write can only repeat it. `elsewhere`: a refused key that
    requests the work of another program and changes no row.
    """

    key: str
    kind: Kind
    status: Status
    scopes: frozenset[str]
    says: str = ""
    because: str = ""
    default: str | None = None
    choices: tuple[str, ...] = ()
    spellings: tuple[tuple[str, str], ...] = ()
    also: tuple[str, ...] = ()
    megabytes: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()
    least: int | None = None
    kept: bool = False
    elsewhere: bool = False
    differs: str = ""
    released: str = ""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Every other name of the key."""
        return (*self.also, *self.megabytes)


@dataclass(frozen=True, slots=True)
class Group:
    """The keys of one file of the catalogue."""

    name: str
    title: str
    about: str
    entries: tuple[Entry, ...]


def read_groups() -> tuple[Group, ...]:
    """Every group of the catalogue, by the names of their files."""
    folder = files(__package__) / _FOLDER
    found = sorted((one for one in folder.iterdir() if one.name.endswith(".toml")), key=lambda one: one.name)
    return tuple(group_of(one.name.removesuffix(".toml"), tomllib.loads(one.read_text("utf-8"))) for one in found)


def group_of(name: str, values: Mapping[str, Any]) -> Group:
    """The group that a file of the catalogue states."""
    entries = (entry for section in values["section"] for entry in _entries(section))
    return Group(name, values["title"], values["about"], tuple(entries))


def _entries(section: Mapping[str, Any]) -> Iterator[Entry]:
    shared = {
        "status": Status(section["status"]),
        "scopes": frozenset(section["scopes"]),
        "because": section.get("because", ""),
        "elsewhere": section.get("elsewhere", False),
    }
    for key, stated in section["keys"].items():
        values = {name: _fixed(value) for name, value in stated.items()}
        yield Entry(**{**shared, **values, "key": key, "kind": Kind(stated["kind"])})


def _fixed(value: Any) -> Any:
    """A list or a table of the file as a value that does not change."""
    if isinstance(value, dict):
        return tuple(value.items())
    return tuple(value) if isinstance(value, list) else value


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
