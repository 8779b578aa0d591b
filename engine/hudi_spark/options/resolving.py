"""What a caller asks for, by Hudi's current names: other names replaced, values checked, the rest refused."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from hudi_spark.errors import HudiError
from hudi_spark.options.catalogue import Catalogue, nearest, the_catalogue
from hudi_spark.options.entries import Entry, Kind, Status
from hudi_spark.options.values import refusal, settled

COMMIT_METADATA_PREFIX: Final = "hoodie.datasource.write.commitmeta.key.prefix"
# How to reach an object store: for the storage layer, no key of Hudi's.
STORAGE_PREFIX: Final = "fs."


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one call; a key is asked for by Hudi's current name, and has Hudi's default where none was given.

    `values`: what was given, by current name. `extra`: what goes into the commit's metadata. `storage`: `fs.` keys.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)
    storage: Mapping[str, str] = field(default_factory=dict)

    def given(self, key: str) -> bool:
        """Whether the caller gave the key, under whatever name."""
        return _name(key) in self.values

    def text(self, key: str) -> str:
        """The value or the default; empty where there is neither."""
        return self.values.get(_name(key), _entry(key).default or "")

    def flag(self, key: str) -> bool:
        """Whether the value or the default is true."""
        return self.text(key) == "true"

    def number(self, key: str) -> int:
        """The value or the default as a number."""
        return int(self.required(key))

    def decimal(self, key: str) -> float:
        """The value or the default as a number with a fraction."""
        return float(self.required(key))

    def names(self, key: str) -> tuple[str, ...]:
        """The names of a comma list, without blanks."""
        return tuple(name.strip() for name in self.text(key).split(",") if name.strip())

    def below(self, prefix: str) -> dict[str, str]:
        """What was given below a prefix of keys that are not listed one by one, by the rest of each key."""
        return {key.removeprefix(prefix): value for key, value in self.values.items() if key.startswith(prefix)}

    def required(self, key: str) -> str:
        """The value or the default of a key that must have one.

        Raises:
            HudiError: CONFIG_INVALID naming the key and its other names.

        Clauses: PR-022.

        """
        found = self.text(key)
        if found == "":
            entry = _entry(key)
            others = f", or one of its other names: {', '.join(entry.aliases)}" if entry.aliases else ""
            raise refusal(f"{entry.key} is missing and has no default", f"give {entry.key}{others}")
        return found


def resolve(*layers: Mapping[str, str]) -> Options:
    """The options that a caller's keys and values stand for; of several layers a later one holds over an earlier one.

    Raises:
        HudiError: CONFIG_INVALID for a key that is unknown (the nearest one is named) or that this engine refuses, for
            a value that is not of its key's kind, for two names of one key with unequal values in one layer.

    Clauses: PR-022.

    """
    each = [_resolved(layer) for layer in layers]
    return Options(
        {key: value for one in each for key, value in one.values.items()},
        {key: value for one in each for key, value in one.extra.items()},
        {key: value for one in each for key, value in one.storage.items()},
    )


def _resolved(configs: Mapping[str, str]) -> Options:
    catalogue = the_catalogue()
    stored = {name: str(value) for name, value in configs.items() if name.startswith(STORAGE_PREFIX)}
    rest = {name: str(value) for name, value in configs.items() if name not in stored}
    prefix = rest.get(COMMIT_METADATA_PREFIX) or catalogue[COMMIT_METADATA_PREFIX].default or ""
    extra = {name: value for name, value in rest.items() if name not in catalogue.names and name.startswith(prefix)}
    named = {name: value for name, value in rest.items() if name not in extra}
    return Options(_settled(catalogue, named), extra, stored)


def _settled(catalogue: Catalogue, named: Mapping[str, str]) -> dict[str, str]:
    """Clauses: PR-022."""
    names: dict[str, str] = {}
    values: dict[str, str] = {}
    for name, text in named.items():
        entry = catalogue.find(name)
        if entry is None:
            raise unknown(name, catalogue.names, "docs/configuration.md lists every key")
        value = settled(entry, name, text)
        _refuse_known(entry, name, value)
        key = name if entry.kind is Kind.FAMILY else entry.key
        if values.setdefault(key, value) != value:
            raise refusal(f"{names[key]} and {name} are two names of one option, and differ", f"give only {key}")
        names[key] = name
    return values


def _refuse_known(entry: Entry, name: str, value: str) -> None:
    if entry.status is Status.REFUSED and value not in entry.harmless:
        raise refusal(f"{name} = {value} is not supported", entry.because)


def unknown(name: str, known: Iterable[str], otherwise: str) -> HudiError:
    """The error of a key that does not exist; it names the nearest one that does."""
    meant = nearest(name, known)
    return refusal(f"{name} is no known option", f"did you mean {meant}?" if meant else otherwise)


def _name(key: str) -> str:
    """The name that a key has in the values."""
    entry = _entry(key)
    return key if entry.kind is Kind.FAMILY else entry.key


def _entry(key: str) -> Entry:
    """The entry of a key that the code names: one that is not listed is a mistake of the code."""
    entry = the_catalogue().find(key)
    if entry is None:
        raise KeyError(key)
    return entry
