"""Key generators by type and by class, and the one that a table has against the one that a write names.

A table may state a type and the options a class, which no comparison of texts would show to be the same.

Clauses: DM-030.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from hudi_spark.errors import HudiError, Reason, UnsupportedFeature
from hudi_spark.options import Options
from hudi_spark.table_state import TableConfiguration

GeneratorKind = Literal["SIMPLE", "COMPLEX", "NON_PARTITION", "TIMESTAMP", "CUSTOM", "GLOBAL_DELETE"]

_PACKAGE: Final = "org.apache.hudi.keygen."
# Type in `hoodie.table.keygenerator.type`, and the class of the same generator.
CLASSES: Final[Mapping[str, str]] = {
    "SIMPLE": _PACKAGE + "SimpleKeyGenerator",
    "SIMPLE_AVRO": _PACKAGE + "SimpleAvroKeyGenerator",
    "COMPLEX": _PACKAGE + "ComplexKeyGenerator",
    "COMPLEX_AVRO": _PACKAGE + "ComplexAvroKeyGenerator",
    "NON_PARTITION": _PACKAGE + "NonpartitionedKeyGenerator",
    "NON_PARTITION_AVRO": _PACKAGE + "NonpartitionedAvroKeyGenerator",
    "TIMESTAMP": _PACKAGE + "TimestampBasedKeyGenerator",
    "TIMESTAMP_AVRO": _PACKAGE + "TimestampBasedAvroKeyGenerator",
    "CUSTOM": _PACKAGE + "CustomKeyGenerator",
    "CUSTOM_AVRO": _PACKAGE + "CustomAvroKeyGenerator",
    "GLOBAL_DELETE": _PACKAGE + "GlobalDeleteKeyGenerator",
    "GLOBAL_DELETE_AVRO": _PACKAGE + "GlobalAvroDeleteKeyGenerator",
}
_TYPES: Final = {name: kind for kind, name in CLASSES.items()}
# As the configuration spells a class without its affixes, beside the types themselves.
_SPELLINGS: Final[Mapping[str, GeneratorKind]] = {
    "SIMPLE": "SIMPLE",
    "COMPLEX": "COMPLEX",
    "NON_PARTITION": "NON_PARTITION",
    "NONPARTITIONED": "NON_PARTITION",
    "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMPBASED": "TIMESTAMP",
    "CUSTOM": "CUSTOM",
    "GLOBAL_DELETE": "GLOBAL_DELETE",
    "GLOBALDELETE": "GLOBAL_DELETE",
    "GLOBALAVRODELETE": "GLOBAL_DELETE",
}


def generator_type(class_name: str) -> str:
    """The type of a generator's class.

    Raises:
        UnsupportedFeature: a class of somebody's own.

    """
    found = _TYPES.get(class_name)
    if found is None:
        raise UnsupportedFeature("custom-key-generator", class_name)
    return found


def generator_kind(name: str, record_key: Sequence[str], partition_by: Sequence[str]) -> GeneratorKind:
    """How a generator of a type works; the inferred one where a table names none.

    Raises:
        UnsupportedFeature: an unknown type.

    Clauses: DM-030.

    """
    short = name.upper().removesuffix("_AVRO")
    if short in ("", "AUTO_RECORD"):
        return inferred_kind(record_key, partition_by)
    found = _SPELLINGS.get(short)
    if found is None:
        raise UnsupportedFeature("custom-key-generator", name)
    return found


def inferred_kind(record_key: Sequence[str], partition_by: Sequence[str]) -> GeneratorKind:
    """The generator that Apache Hudi takes when none is named; a partition field may be `field:TYPE`.

    Clauses: DM-030.
    """
    if not partition_by:
        return "NON_PARTITION"
    if ":" in partition_by[0]:
        return "CUSTOM"
    return "COMPLEX" if len(record_key) > 1 or len(partition_by) > 1 else "SIMPLE"


def refuse_misfit(kind: GeneratorKind, record_key: Sequence[str], partition_by: Sequence[str]) -> None:
    """Nothing when a generator can make keys and paths of these fields.

    Raises:
        HudiError: CONFIG_INVALID.

    Clauses: DM-030.

    """
    typed = next((field for field in partition_by if ":" in field), None)
    if kind != "CUSTOM" and typed is not None:
        raise misfit(f"the {kind} key generator got the partition field {typed}", "only CUSTOM takes field:TYPE")
    if kind in ("SIMPLE", "TIMESTAMP") and len(partition_by) != 1:
        raise misfit(f"the {kind} key generator needs one partition field", "name one, or choose another generator")
    if kind == "SIMPLE" and len(record_key) > 1:
        raise misfit("the SIMPLE key generator takes one record key field", "choose COMPLEX, or name one field")
    if kind == "NON_PARTITION" and partition_by:
        message = f"the NON_PARTITION key generator takes no partition field, got {', '.join(partition_by)}"
        raise misfit(message, "leave out the fields or the generator")


def misfit(message: str, hint: str) -> HudiError:
    """The error of a generator that does not fit its fields."""
    return HudiError(Reason.CONFIG_INVALID, "DM-030", message, hint=hint)


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
    configured, stored = configured_type(options), configuration.key_generator
    if not (configured and stored):
        return
    fields = configuration.record_key, configuration.partition_by
    if generator_kind(configured, *fields) != generator_kind(stored, *fields):
        message = f"the key generator {configured} is requested and the table has {stored}"
        raise misfit(message, "leave the option out, or make another table")


def configured_type(options: Options) -> str:
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
