"""What a write asks of keys and paths, against what its table has: a table's keys are made in one way.

Clauses: DM-030, PR-021, PR-022.
"""

from typing import Final

from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError
from hudi_spark.keying.kinds import generator_kind, generator_type
from hudi_spark.options.resolving import Options
from hudi_spark.state.configuration import TableConfiguration

PARTITION_OPTION: Final = "hoodie.datasource.write.partitionpath.field"
_KEY_OPTION: Final = "hoodie.datasource.write.recordkey.field"
_CLASS: Final = "hoodie.datasource.write.keygenerator.class"
_TYPE: Final = "hoodie.datasource.write.keygenerator.type"
_HIVE: Final = "hoodie.datasource.write.hive_style_partitioning"
_ENCODED: Final = "hoodie.datasource.write.partitionpath.urlencode"


def refuse_other_keys(configuration: TableConfiguration, options: Options) -> None:
    """Nothing when what the options say of keys and paths is what the table has.

    Raises:
        HudiError: CONFIG_INVALID naming the option and the table's value.

    Clauses: DM-030, PR-021, PR-022.

    """
    asked_keys, asked_fields = listed(options.text(_KEY_OPTION)), listed(options.text(PARTITION_OPTION))
    _refuse_other(_KEY_OPTION, asked_keys, configuration.record_key)
    # A global generator leaves out the partition fields that it was given.
    if configuration.partition_by or "GLOBAL" not in configuration.key_generator:
        _refuse_other(PARTITION_OPTION, tuple(map(field_name, asked_fields)), configuration.partition_by)
    for key, holds in ((_HIVE, configuration.partitions.hive), (_ENCODED, configuration.partitions.encoded)):
        if options.given(key) and options.flag(key) is not holds:
            raise _other(key, options.text(key), str(holds).lower())
    _refuse_other_generator(configuration, options)


def _refuse_other_generator(configuration: TableConfiguration, options: Options) -> None:
    asked, stored = asked_type(options), configuration.key_generator
    if not (asked and stored):
        return
    fields = configuration.record_key, configuration.partition_by
    if generator_kind(asked, *fields) != generator_kind(stored, *fields):
        raise _other(_TYPE, asked, stored)


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


def _refuse_other(key: str, asked: tuple[str, ...], stored: tuple[str, ...]) -> None:
    if asked and asked != stored:
        raise _other(key, ",".join(asked), ",".join(stored))


def _other(key: str, asked: str, stored: str) -> HudiError:
    message = f"{key} is {asked!r} and the table has {stored or 'none'!r}"
    return HudiError(Reason.CONFIG_INVALID, "PR-021", message, hint="leave the option out, or make another table")
