"""Record keys: read from the meta field, or rebuilt from the key fields where a table stores none."""

import datetime as dt
import math
import struct

from hudi_model.configuration import Configuration, is_true
from hudi_model.files import Record, Value
from hudi_model.rejection import Reason, Rejection, Unsupported

UNIX_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
PLAIN_FROM, PLAIN_BELOW = 1e-3, 1e7
SINGLE_MAX = 3.4e38


def key_of(record: Record, configuration: Configuration, where: str) -> str:
    """The record key of a stored row.

    Raises: KEY_MISSING; unsupported `virtual-keys` for key fields of other types.

    Clauses: DM-001, DM-002, MF-012.
    """
    if is_true(configuration.properties, "hoodie.populate.meta.fields"):
        key = record.values.get("_hoodie_record_key")
        if not isinstance(key, str):
            raise Rejection(Reason.KEY_MISSING, "DM-001", where, "a record has no record key")
        return key
    return composed_key(record, configuration.record_key, where)


def composed_key(record: Record, fields: tuple[str, ...], where: str) -> str:
    """A record key from the key fields: the value of a single one, else `field:value` parts joined by commas.

    Raises: KEY_MISSING where there is no key field, or all are null or empty; unsupported `virtual-keys`.

    Clauses: DM-001, DM-002.
    """
    if not fields or all(record.values.get(name) in (None, "", b"") for name in fields):
        raise Rejection(Reason.KEY_MISSING, "DM-002", where, "a record has no value in any key field")
    if len(fields) == 1:
        return key_text(record.values[fields[0]])
    return ",".join(f"{name}:{key_part(record.values.get(name))}" for name in fields)


def key_part(value: Value) -> str:
    """One part of a composite key; nothing is escaped, but null and the empty text have words of their own.

    Clauses: DM-002.
    """
    return "__null__" if value is None else key_text(value) or "__empty__"


def key_text(value: Value) -> str:
    """A value as record keys spell it: a moment as microseconds since 1970, a fraction as Java does.

    Raises: unsupported `virtual-keys`.

    Clauses: DM-002.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dt.datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=dt.UTC)
        return str((moment - UNIX_EPOCH) // dt.timedelta(microseconds=1))
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, bytes | dt.time | list | dict) or value is None:
        raise Unsupported("virtual-keys")
    return str(value)


def float_text(value: float) -> str:
    """A fraction in Java's spelling: the fewest digits that name it, at least two.

    Raises: unsupported `virtual-keys` where a number of single width has fewer digits: the width is not known here.

    Clauses: DM-002.
    """
    if math.isnan(value) or math.isinf(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    digits, _, exponent = shortest(value, "d").partition("e")
    is_single = abs(value) <= SINGLE_MAX and struct.unpack("f", struct.pack("f", value)) == (value,)
    if is_single and shortest(value, "f") != shortest(value, "d"):
        raise Unsupported("virtual-keys")
    if not value or PLAIN_FROM <= abs(value) < PLAIN_BELOW:
        return repr(value)
    return f"{digits}E{int(exponent)}"


def shortest(value: float, width: str) -> str:
    """The shortest decimal fraction of at least two digits that is read as this number of a width."""
    texts = (f"{value:.{count}e}" for count in range(1, 17))
    return next(text for text in texts if struct.pack(width, float(text)) == struct.pack(width, value))


def stored_key(key: str, configuration: Configuration) -> str:
    """The key of a tombstone as `key_of` has it: some writers name a single key field, some do not.

    Clauses: DM-002.
    """
    if is_true(configuration.properties, "hoodie.populate.meta.fields") or len(configuration.record_key) != 1:
        return key
    return key.removeprefix(f"{configuration.record_key[0]}:")
