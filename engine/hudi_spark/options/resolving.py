"""What a caller requests, by Hudi's current names: values checked, unknown keys refused."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from hudi_spark.errors import HudiError, Reason, nearest
from hudi_spark.options.catalogue import Catalogue, Entry, Kind, Status, the_catalogue

_MEGABYTE: Final = 1024 * 1024
# What a long integer of Java holds for certain.
_MOST_DIGITS: Final = 18
# Keys have long beginnings in common.
_ALIKE: Final = 0.75


def settled(entry: Entry, name: str, text: str) -> str:
    """The value of an entry that came under a name, in its one spelling.

    Raises:
        HudiError: CONFIG_INVALID when it is not of the entry's kind.

    Clauses: PR-022.

    """
    value = _spelled(entry, name, text.strip())
    return _in_bytes(value, name, text) if name in entry.megabytes else value


def _spelled(entry: Entry, name: str, text: str) -> str:
    if entry.kind is Kind.FLAG:
        return _choice(text, ("true", "false"), entry, name)
    if entry.kind is Kind.NUMBER:
        return _number(text, entry, name)
    if entry.kind is Kind.DECIMAL:
        return _decimal(text, name)
    return _choice(text, entry.choices, entry, name) if entry.kind is Kind.CHOICE else text


def _choice(text: str, choices: tuple[str, ...], entry: Entry, name: str) -> str:
    """One of the choices, however it is capitalised."""
    words = {choice.lower(): choice for choice in choices} | dict(entry.spellings)
    found = words.get(text.lower())
    if found is None:
        raise refusal(f"{name} is {text!r}", f"say {' or '.join(choices)}")
    return found


def _number(text: str, entry: Entry, name: str) -> str:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS):
        raise refusal(f"{name} is {text!r}, which is no whole number", f"give at most {_MOST_DIGITS} digits")
    if entry.least is not None and int(text) < entry.least:
        raise refusal(f"{name} is {text}", f"give at least {entry.least}")
    return str(int(text))


def _decimal(text: str, name: str) -> str:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise refusal(f"{name} is {text!r}, which is no number", "give it in digits")
    return text


def _in_bytes(value: str, name: str, text: str) -> str:
    """Flink counts these in megabytes."""
    if int(value) < 0:
        raise refusal(f"{name} is {text.strip()}", "give megabytes")
    return str(int(value) * _MEGABYTE)


def refusal(message: str, hint: str) -> HudiError:
    """The error of an option, or of a definition of a table, that cannot be honoured."""
    return HudiError(Reason.CONFIG_INVALID, "PR-022", message, hint=hint)


def names_given(names: Any, what: str, clause: str) -> tuple[str, ...]:
    """The names in a list of a caller's.

    Raises:
        HudiError: CONFIG_INVALID for one text, whose letters would be names, and for what is no list of texts.

    """
    if isinstance(names, str) or not isinstance(names, Collection) or not all(isinstance(one, str) for one in names):
        hint = f"give a list of texts: {what}={[names if isinstance(names, str) else 'a']}"
        raise HudiError(Reason.CONFIG_INVALID, clause, f"{what} is {repr(names)[:60]}, no list of names", hint=hint)
    return tuple(names)


COMMIT_METADATA_PREFIX: Final = "hoodie.datasource.write.commitmeta.key.prefix"
INDEX_TYPE: Final = "hoodie.index.type"
# How to reach an object store: for the storage layer, no key of Hudi's.
STORAGE_PREFIX: Final = "fs."


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one call; a key is looked up by Hudi's current name, and has Hudi's default where none was given.

    `values`: what was given, by current name. `extra`: what goes into the commit's metadata. `storage`: `fs.` keys.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)
    storage: Mapping[str, str] = field(default_factory=dict)

    def with_values(self, values: Mapping[str, str]) -> "Options":
        """The same with other values of some keys, by their current names."""
        return replace(self, values={**self.values, **values})

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
    _refuse_other_texts(configs)
    stored = {name: str(value) for name, value in configs.items() if name.startswith(STORAGE_PREFIX)}
    rest = {name: str(value) for name, value in configs.items() if name not in stored}
    prefix = rest.get(COMMIT_METADATA_PREFIX) or catalogue[COMMIT_METADATA_PREFIX].default or ""
    extra = {name: value for name, value in rest.items() if name not in catalogue.names and name.startswith(prefix)}
    named = {name: value for name, value in rest.items() if name not in extra}
    return Options(_settled(catalogue, named), extra, stored)


def is_whole(text: str) -> bool:
    """Whether a text has no half of a surrogate pair, which no file can hold."""
    return text.encode(errors="ignore").decode() == text


def is_non_blocking(options: Options) -> bool:
    """Whether several may write one file group at once."""
    return options.text("hoodie.write.concurrency.mode") == "NON_BLOCKING_CONCURRENCY_CONTROL"


def refuse_no_text(text: object, what: str, clause: str) -> None:
    """Refuse a value that is no text, or one that no file can hold.

    Raises:
        HudiError: CONFIG_INVALID, by the clause that the value belongs to.

    """
    if not (isinstance(text, str) and is_whole(text)):
        message, hint = f"{what} is {repr(text)[:60]}", "give a text, with no half of a surrogate pair"
        raise HudiError(Reason.CONFIG_INVALID, clause, message, hint=hint)


def _refuse_other_texts(configs: Mapping[str, str]) -> None:
    if not hasattr(configs, "items"):
        raise refusal(f"options are a {type(configs).__name__}", "give a dictionary: {'hoodie.index.type': 'BLOOM'}")
    if not all(isinstance(name, str) for name in configs):
        raise refusal(f"options have the keys {repr(list(configs))[:60]}", "keys of options are texts")
    for name, value in configs.items():
        if not is_whole(f"{name}{value}"):
            raise refusal(f"option {name!a} has half of a surrogate pair", "no file can hold it: give whole characters")


def _settled(catalogue: Catalogue, named: Mapping[str, str]) -> dict[str, str]:
    """Clauses: PR-022."""
    names: dict[str, str] = {}
    values: dict[str, str] = {}
    for name, text in named.items():
        entry = catalogue.find(name)
        if entry is None:
            raise unknown(name, catalogue.names, "the configuration reference lists every key")
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
    meant = nearest(name, known, _ALIKE)
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


_ABSENT: Final = {
    "hoodie.datasource.write.recordkey.field": "",
    "hoodie.datasource.write.partitionpath.field": "",
    "hoodie.table.partial.update.mode": "",
}


class Contradiction(NamedTuple):
    """An option that says something else than the table's own property."""

    key: str
    configured: str
    known: str


def contradictions(options: Options, properties: Mapping[str, str]) -> Iterator[Contradiction]:
    """Every kept option that was given and is not what the table's properties say.

    Absent properties say something only where absence does: no keys, no partitions, a switch that has its default.

    Clauses: OW-030, PR-005, PR-021, PR-022.
    """
    for key, configured in options.values.items():
        entry = the_catalogue().find(key)
        known = _known(entry, properties) if entry is not None and entry.kept else None
        if known is not None and _meant(configured) != _meant(known):
            yield Contradiction(key, configured, known)


def _known(entry: Entry, properties: Mapping[str, str]) -> str | None:
    """What a table says under whichever of the key's names, or by having none of them."""
    stated = (properties.get(name, "").strip() for name in (entry.key, *entry.also))
    absent = entry.default if entry.kind is Kind.FLAG else _ABSENT.get(entry.key)
    return next((text for text in stated if text), absent)


def _meant(text: str) -> tuple[str, ...]:
    """The names of a list, without the types of a custom key generator; a generator's Avro form is the same one."""
    names = (part.strip().partition(":")[0] for part in text.split(","))
    return tuple(name.removesuffix("_AVRO") if name.isupper() else name for name in names)


BY_POSITIONS: Final = "hoodie.merge.use.record.positions"
FALLBACK: Final = "hoodie.datasource.read.incr.fallback.fulltablescan.enable"
END_SCHEMA: Final = "hoodie.datasource.read.schema.use.end.instanttime"
_MERGE_TYPE: Final = "hoodie.datasource.merge.type"
# What Hudi's own readers must be given and this one finds in the table: taken, and without effect.
_KEPT_BY_THE_TABLE: Final = (
    "hoodie.keygen.timebased.",
    "hoodie.deltastreamer.keygen.timebased.",
    "hoodie.streamer.keygen.timebased.",
)
_SCOPE: Final = "read"


def check_configs(configs: Mapping[str, str]) -> None:
    """Nothing when a read takes every key.

    Raises:
        HudiError: CONFIG_INVALID for a key that is neither honoured by reads nor known to have no effect on them.

    Clauses: RD-001.

    """
    _refuse_other_texts(configs)
    catalogue = the_catalogue()
    for name in configs:
        entry = catalogue.find(name)
        if not _is_taken(entry, name):
            raise HudiError(Reason.CONFIG_INVALID, "RD-001", _message(name, entry), hint=_hint(catalogue, name, entry))


def skips_merge(configs: Mapping[str, str]) -> bool:
    """Whether the options of a read want every version of a row, logs and base files unmerged.

    Raises:
        HudiError: CONFIG_INVALID for a way of merging that is unknown.

    Clauses: RD-019.

    """
    given = {name: text for name, text in configs.items() if name == _MERGE_TYPE}
    return resolve(given).text(_MERGE_TYPE) == "skip_merge"


def refuse_unmerged(configs: Mapping[str, str]) -> None:
    """Nothing, unless a query over a range of time is to leave logs unmerged.

    Raises:
        HudiError: CONFIG_INVALID.

    Clauses: RD-019.

    """
    if skips_merge(configs):
        message = f"{_MERGE_TYPE} = skip_merge is no option of a query over a range of time"
        raise HudiError(Reason.CONFIG_INVALID, "RD-019", message, hint="leave it out, or read a snapshot")


def of_reads(configs: Mapping[str, str]) -> dict[str, str]:
    """What reads take of the options of a table that is read and written, by current names.

    Raises:
        HudiError: CONFIG_INVALID for a key that neither reads nor writes take, and for a bad value.

    Clauses: PR-022.

    """
    catalogue = the_catalogue()
    return {key: value for key, value in resolve(configs).values.items() if _is_taken(catalogue.names.get(key), key)}


def _is_taken(entry: Entry | None, name: str) -> bool:
    """Reads look their options up by Hudi's own names, old ones too."""
    return (
        entry is not None
        and name.startswith("hoodie.")
        and (_SCOPE in entry.scopes or name.startswith(_KEPT_BY_THE_TABLE))
        and entry.status is not Status.REFUSED
    )


def _message(name: str, entry: Entry | None) -> str:
    known = f": {entry.says}" if entry is not None and entry.says else ""
    return f"{name} is no option of a read{known}"


def _hint(catalogue: Catalogue, name: str, entry: Entry | None) -> str:
    if entry is not None and _is_taken(entry, entry.key):
        return f"give it as {entry.key}"
    if entry is not None:
        return entry.because if _SCOPE in entry.scopes else f"it belongs to {' and '.join(sorted(entry.scopes))}"
    meant = nearest(name, (known for known, one in catalogue.names.items() if _is_taken(one, known)), _ALIKE)
    return f"did you mean {meant}?" if meant else "the configuration reference lists the options of a read"
