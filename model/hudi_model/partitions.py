"""Where a new row belongs: its record key and its partition path, as the table's key generator makes them."""

import datetime as dt
from functools import reduce

from hudi_model.configuration import Configuration, is_true
from hudi_model.files import Record, Value
from hudi_model.keys import composed_key, key_text
from hudi_model.rejection import Reason, Rejection, Unsupported

METAFILE = ".hoodie_partition_metadata"
LONGEST_FOLDER = 255
"""Bytes, as file systems have it."""
DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"
SPECIAL = frozenset("\"#%'*/:=?[\\]^{\x7f") | frozenset(map(chr, range(0x20)))
DATE_LETTERS = (("yyyy", "%Y"), ("MM", "%m"), ("dd", "%d"), ("HH", "%H"), ("mm", "%M"), ("ss", "%S"))
TIME_BASED = ("timestamp.type", "timezone", "input.dateformat", "output.dateformat")


def key_generator(configuration: Configuration) -> str:
    """The kind of key generator. [Modified in v8] Its type is stored; before, its class.

    Clauses: DM-030.
    """
    name = configuration.properties.get("hoodie.table.keygenerator.class", "").rpartition(".")[2]
    kind = configuration.properties.get("hoodie.table.keygenerator.type", name.removesuffix("KeyGenerator"))
    return "TIMESTAMP" if kind == "TimestampBased" else kind.upper()


def record_key(record: Record, configuration: Configuration) -> str:
    """The record key of a new row; a complex generator names its field also where there is only one.

    Raises: KEY_MISSING; unsupported `generated-keys`, `virtual-keys`.

    Clauses: DM-002, DM-030.
    """
    fields = configuration.record_key
    if not fields:
        raise Unsupported("generated-keys")
    key, is_stored = composed_key(record, fields, "a row to write"), "hoodie.populate.meta.fields"
    is_named = len(fields) == 1 and key_generator(configuration) == "COMPLEX"
    return f"{fields[0]}:{key}" if is_named and is_true(configuration.properties, is_stored) else key


def partition_path(record: Record, configuration: Configuration) -> str:
    """The partition path of a new row: a folder for each partition column, in their order; the columns stay.

    Clauses: DM-031, DM-033.
    """
    usual = "TIMESTAMP" if key_generator(configuration) == "TIMESTAMP" else "SIMPLE"
    stated = configuration.properties.get("hoodie.table.partition.fields", "").split(",")
    fields = (part.strip().partition(":") for part in stated if part.strip())
    return "/".join(folder(record.values.get(name), name, kind or usual, configuration) for name, _, kind in fields)


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


def folder(value: Value, name: str, kind: str, configuration: Configuration) -> str:
    """One folder of a partition path; null and the empty text have a name of their own.

    Clauses: DM-031, DM-032, DM-033.
    """
    properties = configuration.properties
    text = date_text(value, configuration) if kind.upper() == "TIMESTAMP" else "" if value is None else key_text(value)
    text = text or DEFAULT_PARTITION
    if is_true(properties, "hoodie.datasource.write.partitionpath.urlencode"):
        text = "".join(f"%{ord(one):02X}" if one in SPECIAL else one for one in text)
    return f"{name}={text}" if is_true(properties, "hoodie.datasource.write.hive_style_partitioning") else text


def read_moment(value: str, pattern: str) -> dt.datetime:
    """A formatted date as a moment; without a zone of its own it is of UTC.

    Raises: unsupported `timestamp-key-generator` where it is formatted otherwise.
    """
    for pair in (("'", ""), ("SSS", "%f"), ("Z", "%z")):
        pattern = pattern.replace(*pair)
    try:
        moment = dt.datetime.strptime(value, pattern)  # noqa: DTZ007 - zones are seen to below
    except ValueError as error:
        raise Unsupported("timestamp-key-generator") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def date_text(value: Value, configuration: Configuration) -> str:
    """A moment as the table's output format has it; null is 1970.

    Raises: unsupported `timestamp-key-generator` for zones, and for values that are neither epochs nor formatted dates.

    Clauses: DM-033.
    """
    texts = {name: configuration.properties.get(f"hoodie.keygen.timebased.{name}", "") for name in TIME_BASED}
    kind, zone, *formats = texts.values()
    source, target = (reduce(lambda text, pair: text.replace(*pair), DATE_LETTERS, one) for one in formats)
    units = {"UNIX_TIMESTAMP": 1, "EPOCHMILLISECONDS": 1000}
    moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    if zone not in ("", "UTC", "GMT") or kind not in (*units, "DATE_STRING"):
        raise Unsupported("timestamp-key-generator")
    if isinstance(value, str) and kind == "DATE_STRING":
        moment = read_moment(value, source)
    elif isinstance(value, int) and kind in units:
        moment += dt.timedelta(seconds=value / units[kind])
    elif value is not None:
        raise Unsupported("timestamp-key-generator")
    return moment.strftime(target)
