"""The key generator of a table: record keys and partition paths of incoming rows.

Clauses: DM-030.
"""

from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from hudi_format.table.property_keys import TIME_KEYS

from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.keying.agreeing import PARTITION_OPTION, asked_type, field_name, listed, refuse_other_generator
from hudi_spark.keying.kinds import GeneratorKind, generator_kind, misfit, refuse_misfit
from hudi_spark.keying.paths import PartitionField, PathRule
from hudi_spark.keying.record_keys import generated_keys, made_keys, names_parts
from hudi_spark.keying.timestamps import TIME_PREFIX, stamp_settings
from hudi_spark.merging.keys import KeyRule
from hudi_spark.options.resolving import Options
from hudi_spark.pruning.timestamp_paths import time_setting
from hudi_spark.state.configuration import TableConfiguration

_MOMENTS: Final = "hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled"
_PARTITION_FIELDS: Final = "hoodie.table.partition.fields"


@dataclass(frozen=True, slots=True)
class KeyGenerator:
    """How the rows of a write get their keys and paths; can be pickled.

    `rule`: how keys are made of columns, None where they are generated. In a table without meta fields the same rule
    gives the keys of stored rows.

    Clauses: DM-002, DM-030, DM-031.
    """

    rule: KeyRule | None
    path: PathRule

    @property
    def columns(self) -> tuple[str, ...]:
        """The fields that keys and paths are made of, `a.b` for those inside a column."""
        keys = self.rule.fields if self.rule is not None else ()
        return tuple(dict.fromkeys((*keys, *(field.name for field in self.path.fields))))

    def keys(self, rows: pa.Table, identity: TaskIdentity, instant: str) -> pa.ChunkedArray:
        """The record key of each row, of one part of the input.

        Raises:
            HudiError: KEY_MISSING, with how many rows have none.

        Clauses: DM-001, DM-002.

        """
        return generated_keys(len(rows), identity, instant) if self.rule is None else made_keys(self.rule, rows)

    def partition_paths(self, rows: pa.Table) -> pa.ChunkedArray:
        """The partition path of each row; empty texts in a table without partitions.

        Raises:
            HudiError: KEY_MISSING, PATH_ESCAPES_TABLE, CONFIG_INVALID, SCHEMA_INCOMPATIBLE.

        Clauses: DM-031, DM-032, DM-033.

        """
        return self.path.paths(rows)


def key_generator(configuration: TableConfiguration, options: Options, existing: str | None = None) -> KeyGenerator:
    """The key generator of a table.

    `options` fill in what older versions of the table do not keep: the types of a custom generator's fields, what a
    timestamp generator counts. `existing`: any record key of the table, from which a complex generator of one field
    sees how such keys are written; None for an empty table.

    Raises:
        HudiError: CONFIG_INVALID for settings that are missing or not those of the table.
        UnsupportedFeature: a key generator of somebody's own, a pattern of dates with letters that are not built.

    Clauses: DM-030, DM-033.

    """
    refuse_other_generator(configuration, options)
    partition_by = _typed_fields(configuration, options)
    name = configuration.key_generator or asked_type(options)
    kind = generator_kind(name, configuration.record_key, partition_by)
    refuse_misfit(kind, configuration.record_key, partition_by)
    moments = options.flag(_MOMENTS)
    named = names_parts(kind, configuration, options, existing)
    rule = KeyRule(configuration.record_key, named, moments) if configuration.record_key else None
    fields = tuple(_field(kind, text, configuration, options) for text in partition_by)
    return KeyGenerator(rule, PathRule(() if kind == "GLOBAL_DELETE" else fields, configuration.partitions, moments))


def _typed_fields(configuration: TableConfiguration, options: Options) -> tuple[str, ...]:
    """The partition fields with their types: version 6 keeps only the names of a custom generator's fields."""
    stored = listed(configuration.properties.get(_PARTITION_FIELDS, ""))
    asked = listed(options.text(PARTITION_OPTION))
    if not asked or any(":" in field for field in stored):
        return stored
    return asked if [field_name(field) for field in asked] == [field_name(field) for field in stored] else stored


def _field(kind: GeneratorKind, text: str, configuration: TableConfiguration, options: Options) -> PartitionField:
    name, _, type_name = text.partition(":")
    stamped = type_name.upper() if kind == "CUSTOM" else kind
    if kind == "CUSTOM" and stamped not in ("SIMPLE", "TIMESTAMP"):
        hint = f"give {PARTITION_OPTION} as field:SIMPLE or field:TIMESTAMP for each field"
        raise misfit(f"the custom key generator does not know the type of the partition field {name!r}", hint)
    if stamped != "TIMESTAMP":
        return PartitionField(name)
    settings = _settings(configuration, options)
    return PartitionField(name, stamp_settings(settings, moments=options.flag(_MOMENTS)))


def _settings(configuration: TableConfiguration, options: Options) -> dict[str, str]:
    """What the table keeps, and what the options add to it: version 6 does not keep what the column counts.

    Raises:
        HudiError: CONFIG_INVALID for an option that is not what the table keeps.

    """
    found: dict[str, str] = {}
    for key in TIME_KEYS:
        stored = time_setting(configuration.properties, key)
        asked = options.text(TIME_PREFIX + key) if options.given(TIME_PREFIX + key) else ""
        if stored and asked and stored != asked:
            raise misfit(f"{TIME_PREFIX}{key} is {asked!r}, the table keeps {stored!r}", "leave the option out")
        found[TIME_PREFIX + key] = stored or asked
    return found
