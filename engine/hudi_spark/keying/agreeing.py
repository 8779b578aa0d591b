"""The key generator that a write's options name, against the one that its table has.

A table may state a type and the options a class, which no comparison of texts would show to be the same.

Clauses: DM-030.
"""

from typing import Final

from hudi_spark.keying.kinds import generator_kind, generator_type, misfit
from hudi_spark.options.resolving import Options
from hudi_spark.state.configuration import TableConfiguration

PARTITION_OPTION: Final = "hoodie.datasource.write.partitionpath.field"
_CLASS: Final = "hoodie.datasource.write.keygenerator.class"
_TYPE: Final = "hoodie.datasource.write.keygenerator.type"


def refuse_other_generator(configuration: TableConfiguration, options: Options) -> None:
    """Nothing when the options name no key generator, or one that works as the table's.

    Raises:
        HudiError: CONFIG_INVALID.
        UnsupportedFeature: a class of somebody's own.

    Clauses: DM-030.

    """
    asked, stored = asked_type(options), configuration.key_generator
    if not (asked and stored):
        return
    fields = configuration.record_key, configuration.partition_by
    if generator_kind(asked, *fields) != generator_kind(stored, *fields):
        message = f"the key generator {asked} is asked for and the table has {stored}"
        raise misfit(message, "leave the option out, or make another table")


def asked_type(options: Options) -> str:
    """The type of the key generator that options name, by type or class; empty where they name none.

    Raises:
        UnsupportedFeature: a class of somebody's own.

    """
    named = options.text(_CLASS) if options.given(_CLASS) else ""
    return generator_type(named) if named else options.text(_TYPE) if options.given(_TYPE) else ""


def listed(text: str) -> tuple[str, ...]:
    """The names of a comma list, without blanks."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def field_name(field: str) -> str:
    """A partition field without its type."""
    return field.partition(":")[0]
