"""The text of values in record keys and partition paths, and values read back from it.

Clauses: DM-002, DM-031.
"""

import re
from datetime import date, timedelta
from typing import Final
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from hudi_spark.errors import HudiError, Reason, UnsupportedFeature
from hudi_spark.schema.columns import Incompatible, brought_text, digits_of, java_text, one_chunk
from hudi_spark.table_state import TableConfiguration

_MICROSECONDS: Final = {"s": 1_000_000, "ms": 1_000, "us": 1}
# 1582-10-15: Java's timestamps count in the Julian calendar before that day.
_GREGORIAN_MICROSECONDS: Final = -12_219_292_800_000_000
# 10000-01-01.
_FIRST_DAY_WITH_SIGN: Final = 2_932_897
_FAR_DAYS: Final = 11_000_000
_DAYS_OF_400_YEARS: Final = 146_097
_PLAIN_FROM, _PLAIN_BELOW = 1e-3, 1e7


def key_text(column: pa.ChunkedArray, *, moments: bool = False) -> pa.ChunkedArray:
    """The text of each value, null for null.

    Numbers in Java's spelling, decimals with their scale, days as 2024-02-28, bytes in hexadecimal digits. Timestamps
    are the number that is stored (microseconds since 1970, milliseconds where the column has those), or with `moments`
    Java's text of a timestamp in UTC, as 2024-02-28 12:00:00.5: to the millisecond, cut towards 1970.

    Raises:
        UnsupportedFeature: a type that keys cannot hold.

    Clauses: DM-002.

    """
    kind = column.type
    if kinds.is_string(kind):
        return column
    if kinds.is_timestamp(kind):
        return _moment_text(column) if moments and kind.tz is not None else _digits(column)
    if kinds.is_time(kind) or kinds.is_integer(kind):
        return _digits(column)
    if kinds.is_date32(kind):
        return _day_text(column)
    if kinds.is_decimal(kind) or kinds.is_boolean(kind) or kinds.is_large_string(kind):
        return column.cast(pa.string())
    return _rarer_text(column)


def _rarer_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values whose text is made once for each different one."""
    kind = column.type
    if kinds.is_floating(kind):
        return _float_text(column)
    if kinds.is_binary(kind) or kinds.is_large_binary(kind) or kinds.is_fixed_size_binary(kind):
        different = _different(column)
        return _spelt(different, [value.hex() for value in different.dictionary.to_pylist()])
    raise UnsupportedFeature("record-key-type", f"a key of type {kind}")


def _float_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Between a thousandth and ten millions Java writes the shortest digits as everybody does."""
    text, size = pa.chunked_array([digits_of(one_chunk(column))]), pc.abs(column)
    plain = pc.and_(pc.greater_equal(size, _PLAIN_FROM), pc.less(size, _PLAIN_BELOW))
    different = _different(pc.if_else(plain, pa.scalar(None, pa.string()), text))
    rare = _spelt(different, [java_text(one) for one in different.dictionary.to_pylist()])
    whole = pc.binary_join_element_wise(text, ".0", "")
    return pc.if_else(plain, pc.if_else(pc.match_substring(text, "."), text, whole), rare)


def _different(column: pa.ChunkedArray) -> pa.DictionaryArray:
    return column.combine_chunks().dictionary_encode()


def _spelt(different: pa.DictionaryArray, texts: list[str]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(texts, pa.string()).take(different.indices)])


def _digits(column: pa.ChunkedArray) -> pa.ChunkedArray:
    number = pa.int32() if kinds.is_time32(column.type) else pa.int64()
    return (column if kinds.is_integer(column.type) else column.cast(number)).cast(pa.string())


def _day_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Java writes a sign before years of five digits."""
    text, days = column.cast(pa.string()), column.cast(pa.int32())
    signed = pc.greater_equal(days, _FIRST_DAY_WITH_SIGN)
    text = pc.if_else(signed, pc.binary_join_element_wise("+", text, ""), text)
    # Arrow has no text for years beyond 16 bits.
    far = pc.or_(pc.less(days, -_FAR_DAYS), pc.greater(days, _FAR_DAYS))
    if not pc.any(far).as_py():
        return text
    different = _different(pc.if_else(far, days, pa.scalar(None, pa.int32())))
    return pc.if_else(far, _spelt(different, [_far_day(one) for one in different.dictionary.to_pylist()]), text)


def _far_day(days: int) -> str:
    """The calendar repeats itself after 400 years."""
    cycles, within = divmod(days, _DAYS_OF_400_YEARS)
    day = date(1970, 1, 1) + timedelta(days=within)
    return f"{day.year + 400 * cycles:+d}-{day:%m-%d}"


def _moment_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    micros = pc.multiply(column.cast(pa.int64()), _MICROSECONDS[column.type.unit])
    if pc.any(pc.less(micros, _GREGORIAN_MICROSECONDS)).as_py():
        raise UnsupportedFeature("moments-before-gregorian-calendar", "a timestamp before 1582-10-15 as text in a key")
    moments = pc.multiply(pc.divide(micros, 1_000), 1_000).cast(pa.timestamp("us"))
    text = pc.utf8_slice_codeunits(pc.strftime(moments, format="%Y-%m-%d %H:%M:%S"), 0, 23)
    # At least one digit of the fraction stays.
    return pc.replace_substring_regex(text, r"(\.[0-9]+?)0*$", r"\1")


DEFAULT_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"

_SLASHED_DAY = re.compile(r"[0-9]{4}/[0-9]{2}/[0-9]{2}")
# What is no code of two hexadecimal digits stays as it is.
_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def path_values(partition: str, configuration: TableConfiguration) -> dict[str, str | None]:
    """The text of each partition field in a partition's path; None for the default partition.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for folders that cannot be distinguished into the fields.

    Clauses: DM-022, DM-031, DM-032.

    """
    fields, style = configuration.partition_by, configuration.partitions
    slashed = style.slashed and len(fields) == 1 and _SLASHED_DAY.fullmatch(partition) is not None
    folders = [partition.replace("/", "-")] if slashed else _folders(partition, fields, named=style.hive)
    if len(folders) != len(fields):
        message = f"the partition path has {len(folders)} folders for the columns {', '.join(fields)}"
        hint = "write values with slashes into encoded or hive-style paths"
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-022", message, partition, hint=hint)
    return {field: _value(text, encoded=style.encoded) for field, text in zip(fields, folders, strict=True)}


def typed_value(text: str | None, field: pa.Field, partition: str) -> pa.Scalar:
    """The value of a partition field in the type of its column; SQL encodes moments in paths of every table.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a text that is no such value.

    Clauses: DM-022.

    """
    if kinds.is_timestamp(field.type):
        text = text and _decoded(text)
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
    return _decoded(text) if encoded else text


def _decoded(text: str) -> str:
    return _ENCODED.sub(lambda found: unquote(found[0]), text)
