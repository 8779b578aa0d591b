"""What a partition's path says of the columns that it was made of.

Clauses: DM-033, DM-031, DM-032, IX-056.
"""

import calendar
import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.types as kinds

from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.pruning.facts import UNKNOWN, Facts
from hudi_spark.schema import DEFAULT_PARTITION, path_values, typed_value
from hudi_spark.table_state import TableConfiguration

_PREFIXES: Final = (
    "hoodie.keygen.timebased.",
    "hoodie.deltastreamer.keygen.timebased.",
    "hoodie.streamer.keygen.timebased.",
)
_UNITS: Final = {
    "UNIX_TIMESTAMP": 1,
    "EPOCHMILLISECONDS": 1_000,
    "EPOCHMICROSECONDS": 1_000_000,
}
_SCALARS: Final = {"SECONDS": 1, "MILLISECONDS": 1_000, "MICROSECONDS": 1_000_000}
_LETTERS: Final = {"yyyy": "year", "MM": "month", "dd": "day", "HH": "hour"}
_FIRST: Final = (("year", 1970), ("month", 1), ("day", 1), ("hour", 0))
_ORDER: Final = ("year", "month", "day", "hour")
_TOKEN: Final = re.compile(r"yyyy|MM|dd|HH|hh|[^A-Za-z']+|'[^']*'|.")
_UTC: Final = ("", "UTC", "GMT", "Z", "Etc/UTC", "GMT+0:00", "UTC+0:00")


@dataclass(frozen=True, slots=True)
class TimestampPaths:
    """How paths are read.

    `expression` matches a path; `fields` are the parts of the date that it has, coarsest first; `scale` is how many
    of the column's units a second has.
    """

    expression: re.Pattern[str]
    fields: tuple[str, ...]
    scale: int

    def bounds(self, text: str) -> tuple[int, int] | None:
        """The least and the greatest number whose moment is written so, or None."""
        found = self.expression.fullmatch(text)
        if found is None:
            return None
        try:
            year, month, day, hour = (int(found[name]) if name in self.fields else at for name, at in _FIRST)
            begin = dt.datetime(year, month, day, hour, tzinfo=dt.UTC)
            end = begin + self._length(begin)
        except (ValueError, OverflowError):
            return None
        least, beyond = (calendar.timegm(one.timetuple()) for one in (begin, end))
        # Writers round fractions of a second towards zero: before 1970 that is up.
        return (least - (least <= 0)) * self.scale, beyond * self.scale - 1

    def _length(self, begin: dt.datetime) -> dt.timedelta:
        finest = self.fields[-1]
        if finest == "year":
            return dt.timedelta(days=366 if calendar.isleap(begin.year) else 365)
        if finest == "month":
            return dt.timedelta(days=calendar.monthrange(begin.year, begin.month)[1])
        return dt.timedelta(days=1) if finest == "day" else dt.timedelta(hours=1)


def timestamp_paths(properties: Mapping[str, str]) -> TimestampPaths | None:
    """How numbers became paths, where that is a range of numbers for each path: in UTC, by year, month, day, hour."""
    scale = _scale(properties)
    zones = (time_setting(properties, "timezone"), time_setting(properties, "output.timezone"))
    if scale is None or any(zone not in _UTC for zone in zones):
        return None
    tokens = _TOKEN.findall(time_setting(properties, "output.dateformat"))
    pieces = [_piece(token) for token in tokens]
    fields = tuple(_LETTERS[token] for token in tokens if token in _LETTERS)
    if not fields or None in pieces or sorted(fields, key=_ORDER.index) != list(_ORDER[: len(fields)]):
        return None
    ordered = tuple(sorted(fields, key=_ORDER.index))
    return TimestampPaths(re.compile("".join(piece for piece in pieces if piece is not None)), ordered, scale)


def _scale(properties: Mapping[str, str]) -> int | None:
    kind = time_setting(properties, "timestamp.type").upper()
    if kind == "SCALAR":
        return _SCALARS.get(time_setting(properties, "timestamp.scalar.time.unit").upper())
    return _UNITS.get(kind)


def _piece(word: str) -> str | None:
    if word in _LETTERS:
        return f"(?P<{_LETTERS[word]}>[0-9]{{{len(word)}}})"
    if word.startswith("'") and len(word) > 1:
        return re.escape(word[1:-1])
    return None if word[0].isalpha() or word == "'" else re.escape(word)


def time_setting(properties: Mapping[str, str], key: str) -> str:
    """A setting of the timestamp key generator, under whichever of its names it is given; empty where it is not."""
    return next((properties[prefix + key].strip() for prefix in _PREFIXES if prefix + key in properties), "")


# The default partition of releases before 0.12.
_OLD_DEFAULT: Final = "default"
_PLAIN: Final = frozenset({"", "SIMPLE", "COMPLEX", "SIMPLE_AVRO", "COMPLEX_AVRO"})


class PartitionPaths:
    """The partition columns of a table and how their values became paths."""

    def __init__(self, configuration: TableConfiguration, schema: pa.Schema) -> None:
        self._configuration = configuration
        self._schema = schema
        self._types = _field_types(configuration)
        self._stamps = timestamp_paths(configuration.properties)

    def facts(self, partition: str) -> Mapping[str, Facts]:
        """What is known of columns in the rows of a partition; nothing where path and values are not surely one."""
        if not self._types or not partition:
            return {}
        if self._configuration.partitions.columns_dropped:
            return self._dropped(partition)
        texts = self._texts(partition)
        return {name: self._of_text(name, text) for name, text in texts.items() if name in self._schema.names}

    def _dropped(self, partition: str) -> dict[str, Facts]:
        """Columns that the files lack are read from the path itself."""
        try:
            texts = path_values(partition, self._configuration)
            fields = [self._schema.field(name) for name in texts if name in self._schema.names]
            values = {field.name: typed_value(texts[field.name], field, partition).as_py() for field in fields}
        except (HudiError, UnsupportedFeature):
            return {}
        return {name: exactly(value) for name, value in values.items()}

    def _texts(self, partition: str) -> dict[str, str | None]:
        """The text of each field, as far as every folder is surely one field's."""
        fields = self._configuration.partition_by
        if len(fields) > 1 and len(partition.split("/")) != len(fields):
            return {}
        named = self._named(partition, fields)
        # In a table that is not hive-styled a text may look so.
        hive = self._configuration.partitions.hive
        if (hive and len(named) < len(fields)) or (not hive and any(self._is_text(name) for name in named)):
            return {}
        try:
            return path_values(partition, self._configuration)
        except HudiError:
            return {}

    def _is_text(self, name: str) -> bool:
        return name in self._schema.names and bool(kinds.is_string(self._schema.field(name).type))

    def _named(self, partition: str, fields: tuple[str, ...]) -> set[str]:
        parts = partition.split("/") if len(fields) > 1 else [partition]
        return {name for part, name in zip(parts, fields, strict=True) if part.startswith(f"{name}=")}

    def _of_text(self, name: str, text: str | None) -> Facts:
        kind = self._schema.field(name).type
        if self._types[name] == "TIMESTAMP":
            return UNKNOWN if text is None else self._of_stamp(text, kind)
        if text is None or text == _OLD_DEFAULT:
            # Null and the empty text lie in the default partition, and so does its name as a text.
            is_text = kinds.is_string(kind)
            return Facts("", text or DEFAULT_PARTITION, unordered=False) if is_text else exactly(None)
        value = value_of_text(text, kind)
        return UNKNOWN if value is None else exactly(value)

    def _of_stamp(self, text: str, kind: pa.DataType) -> Facts:
        if self._stamps is None or not kinds.is_integer(kind):
            return UNKNOWN
        found = self._stamps.bounds(text)
        return UNKNOWN if found is None else Facts(*found, unordered=False)


def exactly(value: Any) -> Facts:
    """That every row has one value, or null."""
    return Facts(value, value, nulls=value is None, values=value is not None, unordered=value != value)  # noqa: PLR0124


def value_of_text(text: str, kind: pa.DataType) -> Any:
    """The one value of a type that is written like this, or None where there may be others, or none."""
    if kinds.is_string(kind):
        return text
    try:
        if kinds.is_integer(kind):
            number = int(text)
            return number if str(number) == text else None
        if kinds.is_date32(kind):
            day = dt.date.fromisoformat(text)
            return day if day.isoformat() == text else None
    except ValueError:
        return None
    return {"true": True, "false": False}.get(text) if kinds.is_boolean(kind) else None


def _field_types(configuration: TableConfiguration) -> dict[str, str]:
    """How each partition field became text, SIMPLE or TIMESTAMP; none where the generator is not known."""
    fields, generator = configuration.partition_by, configuration.key_generator
    if configuration.partitions.slashed:
        return {}
    if generator in _PLAIN:
        return dict.fromkeys(fields, "SIMPLE")
    if generator in ("TIMESTAMP", "TIMESTAMPBASED", "TIMESTAMP_AVRO"):
        return dict.fromkeys(fields, "TIMESTAMP")
    if generator in ("CUSTOM", "CUSTOM_AVRO"):
        listed = configuration.properties.get("hoodie.table.partition.fields", "").split(",")
        pairs = [part.strip().partition(":") for part in listed if part.strip()]
        named = {name: kind.upper() or "SIMPLE" for name, _, kind in pairs}
        return named if set(named.values()) <= {"SIMPLE", "TIMESTAMP"} else {}
    return {}
