"""Where a new row belongs: its record key and its partition path, as the table's key generator makes them."""

import datetime as dt
import re
import zoneinfo
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import reduce

from hudi_model.configuration import Configuration, is_true
from hudi_model.files import Record, Value, value_at
from hudi_model.keys import UNIX_EPOCH, composed_key, key_text
from hudi_model.rejection import Reason, Rejection, Unsupported

METAFILE = ".hoodie_partition_metadata"
LONGEST_FOLDER = 255
"""Bytes, as file systems have it."""
DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"
SPECIAL = frozenset("\"#%'*/:=?[\\]^{\x7f") | frozenset(map(chr, range(0x20)))
DATE_LETTERS = (
    *(("yyyy", "%Y"), ("MM", "%m"), ("dd", "%d"), ("HH", "%H"), ("mm", "%M"), ("ss", "%S")),
    *(("SSS", "%f"), ("Z", "%z")),
)
TEXT_KINDS = ("DATE_STRING", "MIXED")
UNIT_OF_KIND = {
    "UNIX_TIMESTAMP": "SECONDS",
    "EPOCHMILLISECONDS": "MILLISECONDS",
    "EPOCHMICROSECONDS": "MICROSECONDS",
}
MICROSECONDS: Mapping[str, int | Decimal] = {
    "DAYS": 86_400_000_000,
    "HOURS": 3_600_000_000,
    "MINUTES": 60_000_000,
    "SECONDS": 1_000_000,
    "MILLISECONDS": 1_000,
    "MICROSECONDS": 1,
    "NANOSECONDS": Decimal("0.001"),
}
UNIX_DAY = dt.date(1970, 1, 1)
ENCODED = "hoodie.datasource.write.partitionpath.urlencode"
SLASHED = "hoodie.datasource.write.slash.separated.date.partitioning"


def key_generator(configuration: Configuration) -> str:
    """The kind of key generator. [Modified in v8] Its type is stored; before, its class.

    Clauses: DM-030.
    """
    name = configuration.properties.get("hoodie.table.keygenerator.class", "").rpartition(".")[2]
    kind = configuration.properties.get("hoodie.table.keygenerator.type", name.removesuffix("KeyGenerator"))
    return "TIMESTAMP" if kind == "TimestampBased" else kind.upper()


def record_key(record: Record, configuration: Configuration) -> str:
    """The record key of a new row; a complex generator names its field also where there is only one.

    Raises: KEY_MISSING; unsupported `virtual-keys`.

    Clauses: DM-002, DM-030.
    """
    fields = configuration.record_key
    key, is_stored = composed_key(record, fields, "a row to write"), "hoodie.populate.meta.fields"
    is_named = len(fields) == 1 and key_generator(configuration) == "COMPLEX"
    return f"{fields[0]}:{key}" if is_named and is_true(configuration.properties, is_stored) else key


def partition_path(record: Record, configuration: Configuration) -> str:
    """The partition path of a new row: a folder for each partition column, in their order; the columns stay.

    Clauses: DM-031, DM-033.
    """
    usual = "TIMESTAMP" if key_generator(configuration) == "TIMESTAMP" else "SIMPLE"
    stated = configuration.properties.get("hoodie.table.partition.fields", "").split(",")
    fields = [part.strip().partition(":") for part in stated if part.strip()]
    texts = [folder(value_at(record.values, name), kind or usual, configuration) for name, _, kind in fields]
    if len(texts) == 1 and is_true(configuration.properties, SLASHED) and not texts[0].startswith("-"):
        texts = [texts[0].replace("-", "/")]
    if not is_true(configuration.properties, "hoodie.datasource.write.hive_style_partitioning"):
        return "/".join(texts)
    return "/".join(f"{name}={text}" for (name, _, _), text in zip(fields, texts, strict=True))


def own_path(record: Record, configuration: Configuration) -> str:
    """The partition path of a row that is to be written: a place that the table can have.

    Raises: PATH_ESCAPES_TABLE; CONFIG_INVALID for a folder that cannot be made.

    Clauses: DM-031, SL-007.
    """
    path = partition_path(record, configuration)
    folders = path.split("/")
    if not is_partition_path(path):
        raise Rejection(Reason.PATH_ESCAPES_TABLE, "SL-007", path, "the path leads to no folder of the table's own")
    metafiles = {METAFILE, *(f"{METAFILE}.{extension}" for extension in ("parquet", "orc", "hfile"))}
    if metafiles & {*folders} or max(len(one.encode()) for one in folders) > LONGEST_FOLDER:
        raise Rejection(Reason.CONFIG_INVALID, "DM-031", path[:80], "a folder of the path cannot have its name")
    return path


def is_partition_path(path: str) -> bool:
    """Whether a path can be that of a partition: the base path or a place below it, but not below `.hoodie`.

    Clauses: SL-007.
    """
    folders = path.split("/") if path else []
    return not {"", ".", ".."} & {*folders} and folders[:1] != [".hoodie"] and "\0" not in path


def folder(value: Value, kind: str, configuration: Configuration) -> str:
    """A value as one folder of a partition path; null and the empty text have a name of their own.

    Clauses: DM-031, DM-032, DM-033.
    """
    text = date_text(value, configuration) if kind.upper() == "TIMESTAMP" else "" if value is None else key_text(value)
    text = text or DEFAULT_PARTITION
    return encoded(text) if is_true(configuration.properties, ENCODED) else text


def encoded(text: str) -> str:
    """A text with each of Hive's special signs as its number.

    Clauses: DM-031, IX-022.
    """
    return "".join(f"%{ord(one):02X}" if one in SPECIAL else one for one in text)


def date_text(value: Value, configuration: Configuration) -> str:
    """A moment as the table's output format has it.

    Raises: CONFIG_INVALID for an unknown kind or zone; SCHEMA_INCOMPATIBLE for a value that is no such moment;
    unsupported `timestamp-key-generator` for timestamps, whose number is that of the width that they are stored in.

    Clauses: DM-033.
    """
    both = zone_named(timed(configuration, "timezone"))
    read_in = both or zone_named(timed(configuration, "input.timezone"))
    shown_in = both or zone_named(timed(configuration, "output.timezone"))
    read = moment_of_value(value, read_in, configuration)
    shown = read.astimezone(shown_in) if shown_in else read
    form = python_form(timed(configuration, "output.dateformat"))
    return shown.strftime(form.replace("%f", f"{shown.microsecond // 1000:03d}"))


def timed(configuration: Configuration, name: str) -> str:
    """A setting of the timestamp generator; empty where it is absent."""
    return configuration.properties.get(f"hoodie.keygen.timebased.{name}", "").strip()


def zone_named(name: str) -> dt.tzinfo | None:
    """A zone by its name: UTC, GMT+8:00, Europe/Berlin; None where no name is given.

    Raises: CONFIG_INVALID for a name that is no zone.

    Clauses: DM-033.
    """
    fixed = re.fullmatch(r"GMT([+-])(\d{1,2}):?(\d\d)?", name)
    if fixed:
        distance = dt.timedelta(hours=int(fixed[2]), minutes=int(fixed[3] or 0))
        return dt.timezone(-distance if fixed[1] == "-" else distance)
    try:
        return (dt.timezone.utc if name in ("UTC", "GMT", "Z") else zoneinfo.ZoneInfo(name)) if name else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        raise Rejection(Reason.CONFIG_INVALID, "DM-033", "hoodie.properties", f"{name!r} is no time zone") from None


def moment_of_value(value: Value, zone: dt.tzinfo | None, configuration: Configuration) -> dt.datetime:
    """The moment that a value counts or spells; null is one unit, for texts 1970 in the first input format.

    Raises: CONFIG_INVALID; SCHEMA_INCOMPATIBLE; unsupported `timestamp-key-generator`.

    Clauses: DM-033.
    """
    kind = timed(configuration, "timestamp.type").upper()
    unit = UNIT_OF_KIND.get(kind, "")
    if kind == "SCALAR":
        unit = timed(configuration, "timestamp.scalar.time.unit").upper() or "SECONDS"
    if isinstance(value, dt.datetime):
        raise Unsupported("timestamp-key-generator")
    if kind in TEXT_KINDS and (value is None or isinstance(value, str)):
        separator = timed(configuration, "input.dateformat.list.delimiter.regex") or ","
        forms = [one.strip() for one in re.split(separator, timed(configuration, "input.dateformat"))]
        written_in = zone or zone_named(timed(configuration, "output.timezone")) or dt.timezone.utc
        first = UNIX_EPOCH.astimezone(written_in).strftime(python_form(forms[0]))
        return read_moment(first if value is None else value, forms, zone)
    if unit not in MICROSECONDS and kind not in TEXT_KINDS:
        raise Rejection(Reason.CONFIG_INVALID, "DM-033", "hoodie.properties", f"{kind!r} is no kind of timestamps")
    if isinstance(value, dt.date):
        value = (value - UNIX_DAY).days
    if kind in TEXT_KINDS or isinstance(value, bool) or not isinstance(value, int | float | Decimal | None):
        raise Rejection(Reason.SCHEMA_INCOMPATIBLE, "DM-033", "partition column", f"{value!r} is no moment")
    count = 1 if value is None else int(value)
    # Java cuts what is finer than a millisecond, towards 1970.
    return UNIX_EPOCH + dt.timedelta(milliseconds=int(Decimal(count) * MICROSECONDS[unit] / 1000))


def read_moment(text: str, forms: Iterable[str], zone: dt.tzinfo | None) -> dt.datetime:
    """A formatted date as a moment, by the first form that fits: of the zone given, of the text's own, or of UTC.

    Raises: SCHEMA_INCOMPATIBLE where no form fits.

    Clauses: DM-033.
    """
    for form in forms:
        try:
            moment = dt.datetime.strptime(text, python_form(form))  # noqa: DTZ007 - zones are seen to below
        except ValueError:
            continue
        if moment.tzinfo is None:
            return moment.replace(tzinfo=zone or dt.timezone.utc)
        return moment.astimezone(zone) if zone else moment
    raise Rejection(Reason.SCHEMA_INCOMPATIBLE, "DM-033", "partition column", f"{text!r} fits no input format")


def python_form(pattern: str) -> str:
    """A pattern of Java's letters as Python has it; quotes around literals go.

    Clauses: DM-033.
    """
    parts = pattern.split("'")
    for place in range(0, len(parts), 2):
        parts[place] = reduce(lambda text, pair: text.replace(*pair), DATE_LETTERS, parts[place])
    return "".join(parts)
