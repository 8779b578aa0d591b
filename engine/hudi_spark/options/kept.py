"""Options that a table keeps: what a write says of them has to be what the table says."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from hudi_spark.options.catalogue import the_catalogue
from hudi_spark.options.entries import Entry, Kind
from hudi_spark.options.resolving import Options

_ABSENT: Final = {
    "hoodie.datasource.write.recordkey.field": "",
    "hoodie.datasource.write.partitionpath.field": "",
    "hoodie.table.partial.update.mode": "",
}


class Contradiction(NamedTuple):
    """An option that says something else than the table's own property."""

    key: str
    asked: str
    known: str


def contradictions(options: Options, properties: Mapping[str, str]) -> Iterator[Contradiction]:
    """Every kept option that was given and is not what the table's properties say.

    Absent properties say something only where absence does: no keys, no partitions, a switch that has its default.

    Clauses: OW-030, PR-005, PR-021, PR-022.
    """
    for key, asked in options.values.items():
        entry = the_catalogue().find(key)
        known = _known(entry, properties) if entry is not None and entry.kept else None
        if known is not None and _meant(asked) != _meant(known):
            yield Contradiction(key, asked, known)


def _known(entry: Entry, properties: Mapping[str, str]) -> str | None:
    """What a table says under whichever of the key's names, or by having none of them."""
    stated = (properties.get(name, "").strip() for name in (entry.key, *entry.also))
    absent = entry.default if entry.kind is Kind.FLAG else _ABSENT.get(entry.key)
    return next((text for text in stated if text), absent)


def _meant(text: str) -> tuple[str, ...]:
    """The names of a list, without the types of a custom key generator; a generator's Avro form is the same one."""
    names = (part.strip().partition(":")[0] for part in text.split(","))
    return tuple(name.removesuffix("_AVRO") if name.isupper() else name for name in names)
