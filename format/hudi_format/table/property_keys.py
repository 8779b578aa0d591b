"""The keys of `hoodie.properties`: from which table version on, under which older names, with which default.

A key may stand in a table of an older version: newer releases write such tables with the newer names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

FIRST_VERSION: Final = 4


@dataclass(frozen=True, slots=True)
class PropertyKey:
    """One key; `defaults` are by the first table version that has them, None where the key has no default.

    Clauses: PR-005, PR-006, PR-007.
    """

    name: str
    since: int = FIRST_VERSION
    old_names: tuple[str, ...] = ()
    defaults: tuple[tuple[int, str], ...] = ()

    def default(self, version: int) -> str | None:
        """What an absent key means in a table of this version."""
        return next((text for first, text in reversed(self.defaults) if version >= first), None)

    def value(self, properties: Mapping[str, str], version: int) -> str | None:
        """The key's value in a table: under its newest name first, else the default; an empty text is none.

        Clauses: PR-006.
        """
        for name in (self.name, *self.old_names):
            if properties.get(name, "").strip():
                return properties[name].strip()
        return self.default(version)


def _always(text: str) -> tuple[tuple[int, str], ...]:
    return ((FIRST_VERSION, text),)


# Of the timestamp key generator, below `hoodie.keygen.timebased.`.
TIME_KEYS: Final = (
    "timestamp.type",
    "timestamp.scalar.time.unit",
    "input.dateformat",
    "input.dateformat.list.delimiter.regex",
    "input.timezone",
    "output.dateformat",
    "output.timezone",
    "timezone",
)

PROPERTY_KEYS: Final[Sequence[PropertyKey]] = (
    PropertyKey("hoodie.table.name"),
    PropertyKey("hoodie.database.name"),
    PropertyKey("hoodie.table.type", defaults=_always("COPY_ON_WRITE")),
    PropertyKey("hoodie.table.version", defaults=_always("0")),
    PropertyKey("hoodie.table.initial.version", 8),
    PropertyKey("hoodie.table.checksum"),
    PropertyKey("hoodie.table.create.schema"),
    PropertyKey("hoodie.timeline.layout.version", defaults=((4, "1"), (8, "2"))),
    PropertyKey("hoodie.timeline.path", 8, defaults=((8, "timeline"),)),
    # An upgraded table keeps the older key beside the newer, for the folder that it had: they are no one's old names.
    PropertyKey("hoodie.timeline.history.path", 8, defaults=((8, "history"),)),
    PropertyKey("hoodie.archivelog.folder", defaults=_always("archived")),
    PropertyKey("hoodie.table.timeline.timezone", defaults=_always("LOCAL")),
    PropertyKey("hoodie.table.recordkey.fields"),
    PropertyKey("hoodie.table.partition.fields"),
    PropertyKey("hoodie.table.keygenerator.class"),
    PropertyKey("hoodie.table.keygenerator.type", 8),
    PropertyKey("hoodie.table.partition_extractor_class", 9),
    PropertyKey("hoodie.datasource.write.hive_style_partitioning", defaults=_always("false")),
    PropertyKey("hoodie.datasource.write.partitionpath.urlencode", defaults=_always("false")),
    PropertyKey("hoodie.datasource.write.drop.partition.columns", defaults=_always("false")),
    PropertyKey("hoodie.partition.metafile.use.base.format", defaults=_always("false")),
    PropertyKey("hoodie.table.ordering.fields", 9, ("hoodie.table.precombine.field",)),
    PropertyKey("hoodie.compaction.payload.class"),
    PropertyKey("hoodie.table.legacy.payload.class", 9),
    PropertyKey("hoodie.record.merge.mode", 8),
    PropertyKey("hoodie.record.merge.strategy.id", 8, ("hoodie.compaction.record.merger.strategy",)),
    PropertyKey("hoodie.table.partial.update.mode", 9),
    PropertyKey(
        "hoodie.table.base.file.format", old_names=("hoodie.table.ro.file.format",), defaults=_always("PARQUET")
    ),
    PropertyKey(
        "hoodie.table.log.file.format", old_names=("hoodie.table.rt.file.format",), defaults=_always("HOODIE_LOG")
    ),
    PropertyKey("hoodie.table.multiple.base.file.formats.enable", 8, defaults=_always("false")),
    PropertyKey("hoodie.table.format", 9, defaults=_always("native")),
    PropertyKey("hoodie.populate.meta.fields", defaults=_always("true")),
    PropertyKey("hoodie.table.cdc.enabled", 5, defaults=_always("false")),
    PropertyKey("hoodie.table.cdc.supplemental.logging.mode", 5, defaults=_always("DATA_BEFORE_AFTER")),
    PropertyKey("hoodie.table.metadata.partitions"),
    PropertyKey("hoodie.table.metadata.partitions.inflight"),
    PropertyKey("hoodie.table.index.defs.path", 8),
    PropertyKey("hoodie.bootstrap.base.path"),
    PropertyKey("hoodie.bootstrap.index.enable", defaults=_always("true")),
    PropertyKey("hoodie.bootstrap.index.class"),
    PropertyKey("hoodie.bootstrap.index.type", 8, defaults=_always("HFILE")),
    *(
        PropertyKey(f"hoodie.keygen.timebased.{name}", 6, (f"hoodie.deltastreamer.keygen.timebased.{name}",))
        for name in TIME_KEYS
    ),
)

_BY_NAME: Final = {name: key for key in PROPERTY_KEYS for name in (key.name, *key.old_names)}


def property_key(name: str) -> PropertyKey:
    """The key of a name, newest or old.

    Raises:
        KeyError: no key has the name.

    """
    return _BY_NAME[name]


def property_value(properties: Mapping[str, str], name: str) -> str | None:
    """What a table's properties amount to for a key, whatever names its writer used.

    Raises:
        KeyError: no key has the name.
        ValueError: the table's version is no number.

    Clauses: PR-005, PR-006.

    """
    return property_key(name).value(properties, int(properties.get("hoodie.table.version", FIRST_VERSION)))
