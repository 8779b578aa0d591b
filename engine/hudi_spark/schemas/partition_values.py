"""What a partition's path says of the columns that were left out of the files."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote

import pyarrow as pa
from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.schemas.values import Incompatible, brought_text
from hudi_spark.state.configuration import TableConfiguration

DEFAULT_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"

_SLASHED_DAY = re.compile(r"[0-9]{4}/[0-9]{2}/[0-9]{2}")
# What is no code of two hexadecimal digits stays as it is.
_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def path_values(partition: str, configuration: TableConfiguration) -> dict[str, str | None]:
    """The text of each partition field in a partition's path; None for the default partition.

    Raises:
        UnsupportedFeature: folders that cannot be told apart into the fields.

    Clauses: DM-022, DM-031, DM-032.

    """
    fields, style = configuration.partition_by, configuration.partitions
    slashed = style.slashed and len(fields) == 1 and _SLASHED_DAY.fullmatch(partition) is not None
    folders = [partition.replace("/", "-")] if slashed else _folders(partition, fields, named=style.hive)
    if len(folders) != len(fields):
        detail = f"the partition {partition!r} has not one folder for each of {', '.join(fields)}"
        raise UnsupportedFeature("drop-partition-columns", detail)
    return {field: _value(text, encoded=style.encoded) for field, text in zip(fields, folders, strict=True)}


def typed_value(text: str | None, field: pa.Field, partition: str) -> pa.Scalar:
    """The value of a partition field in the type of its column.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a text that is no such value.

    Clauses: DM-022.

    """
    try:
        return brought_text(text, field.type)
    except Incompatible as error:
        message = f"the partition path holds {text!r}, which is no {field.type} for column {field.name!r}"
        hint = "give the column the type that the paths were written with"
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-022", message, partition, hint=hint) from error


def _folders(partition: str, fields: tuple[str, ...], *, named: bool) -> list[str]:
    """The part of the path that belongs to each field: a value may hold slashes of its own.

    Clauses: DM-031, DM-033.
    """
    if len(fields) == 1:
        return [partition.removeprefix(f"{fields[0]}=")]
    parts = partition.split("/")
    if len(parts) == len(fields):
        return [part.removeprefix(f"{field}=") for part, field in zip(parts, fields, strict=True)]
    return _named_folders(parts, fields) if named else parts


def _named_folders(parts: list[str], fields: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for part in parts:
        following = fields[len(found)] if len(found) < len(fields) else None
        if following is not None and part.startswith(f"{following}="):
            found.append(part.removeprefix(f"{following}="))
        elif found:
            found[-1] = f"{found[-1]}/{part}"
    return found


def _value(text: str, *, encoded: bool) -> str | None:
    if text == DEFAULT_PARTITION:
        return None
    return _ENCODED.sub(lambda found: unquote(found[0]), text) if encoded else text


Constants = Mapping[str, pa.Scalar]
