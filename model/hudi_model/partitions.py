"""Where a new row belongs: its record key and its partition path, as the table's key generator makes them."""

import datetime as dt

from hudi_model.configuration import Configuration, is_true
from hudi_model.keys import composed_key, key_text
from hudi_model.records import Record, Value
from hudi_model.rejection import Unsupported

DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"
ESCAPED = frozenset("\"#%'*/:=?[\\]^{") | {chr(code) for code in (*range(0x20), 0x7F)}
KEPT_CLASSES = {"SimpleKeyGenerator": "SIMPLE", "ComplexKeyGenerator": "COMPLEX"}
JAVA_DATES = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
TIMES = "hoodie.keygen.timebased."


def record_key(record: Record, configuration: Configuration) -> str:
    """The record key of a new row: a complex generator names its field also where there is only one.

    Raises: KEY_MISSING; unsupported `virtual-keys`, `generated-keys`.

    Clauses: DM-002, DM-010.
    """
    fields = configuration.record_key
    if not fields:
        raise Unsupported("generated-keys")
    key = composed_key(record, fields, "a row to write")
    named = key_generator(configuration) == "COMPLEX" and len(fields) == 1
    return f"{fields[0]}:{key}" if named else key


def key_generator(configuration: Configuration) -> str:
    """The kind of key generator. [Modified in v8] Its type is stored; before, its class.

    Clauses: DM-010.
    """
    properties = configuration.properties
    name = properties.get("hoodie.table.keygenerator.class", "").rpartition(".")[2]
    stored = properties.get("hoodie.table.keygenerator.type") or name.replace("KeyGenerator", "")
    return {"TimestampBased": "TIMESTAMP", "NonpartitionedAvro": "NON_PARTITION"}.get(stored, stored).upper()


def partition_path(record: Record, configuration: Configuration) -> str:
    """The partition path of a new row: a folder for each partition column, in their order.

    Clauses: DM-011, SL-010.
    """
    marked = partition_fields(configuration)
    return "/".join(folder(record.values.get(name), name, kind, configuration) for name, kind in marked)


def partition_fields(configuration: Configuration) -> tuple[tuple[str, str], ...]:
    """The partition columns, and how each becomes a folder: SIMPLE or TIMESTAMP.

    Clauses: DM-012.
    """
    default = "TIMESTAMP" if key_generator(configuration) == "TIMESTAMP" else "SIMPLE"
    stated = configuration.properties.get("hoodie.table.partition.fields", "")
    parts = (part.strip().partition(":") for part in stated.split(",") if part.strip())
    return tuple((name, kind.upper() or default) for name, _, kind in parts)


def folder(value: Value, name: str, kind: str, configuration: Configuration) -> str:
    """One folder of a partition path; null and the empty text have a name of their own.

    Clauses: DM-011, DM-012, SL-010, SL-011, SL-012.
    """
    properties = configuration.properties
    text = formatted_time(value, configuration) if kind == "TIMESTAMP" else partition_text(value)
    text = text or DEFAULT_PARTITION
    if is_true(properties, "hoodie.datasource.write.partitionpath.urlencode"):
        text = escape(text)
    return f"{name}={text}" if is_true(properties, "hoodie.datasource.write.hive_style_partitioning") else text


def partition_text(value: Value) -> str:
    """A value as partition paths spell it.

    Raises: unsupported `virtual-keys` for kinds of values whose spelling is not modelled.

    Clauses: DM-011.
    """
    return "" if value is None else key_text(value)


def escape(text: str) -> str:
    """A folder's name with what is special in paths as `%` and two digits; other scripts are kept.

    Clauses: SL-012.
    """
    return "".join(f"%{ord(one):02X}" if one in ESCAPED else one for one in text)


def formatted_time(value: Value, configuration: Configuration) -> str:
    """A moment as the table's output format has it; the column keeps its own value.

    Raises: unsupported `timestamp-key-generator` for input that is neither an epoch nor a formatted date in UTC.

    Clauses: DM-012.
    """
    properties = configuration.properties
    pattern = properties.get(f"{TIMES}output.dateformat", "")
    if value is None:
        return dt.datetime.fromtimestamp(0, dt.UTC).strftime(python_format(pattern))
    return moment_of_value(value, configuration).strftime(python_format(pattern))


def moment_of_value(value: Value, configuration: Configuration) -> dt.datetime:
    """The moment that a column's value stands for, by the kind of timestamp the table states.

    Raises: unsupported `timestamp-key-generator`.

    Clauses: DM-012.
    """
    properties = configuration.properties
    kind = properties.get(f"{TIMES}timestamp.type", "")
    if properties.get(f"{TIMES}timezone", "UTC") not in ("UTC", "GMT"):
        raise Unsupported("timestamp-key-generator")
    if isinstance(value, int) and kind in ("UNIX_TIMESTAMP", "EPOCHMILLISECONDS"):
        return dt.datetime.fromtimestamp(value / (1 if kind == "UNIX_TIMESTAMP" else 1000), dt.UTC)
    if isinstance(value, str) and kind == "DATE_STRING":
        read = dt.datetime.strptime(value, python_format(properties.get(f"{TIMES}input.dateformat", "")))
        return read.replace(tzinfo=dt.UTC)
    raise Unsupported("timestamp-key-generator")


def python_format(pattern: str) -> str:
    """A date format of Java in Python's letters."""
    for java, python in JAVA_DATES.items():
        pattern = pattern.replace(java, python)
    return pattern
