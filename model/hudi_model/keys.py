"""Record keys: read from the meta field, or rebuilt from the key fields where a table stores none."""

import datetime as dt
from decimal import Decimal
from functools import reduce

from hudi_model.columns import digits_of, java_text, narrowed
from hudi_model.configuration import Configuration, is_true
from hudi_model.files import Record, Value, value_at
from hudi_model.rejection import Reason, Rejection, Unsupported

UNIX_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)


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
    values = [value_at(record.values, name) for name in fields]
    if all(value in (None, "", b"") for value in values):
        raise Rejection(Reason.KEY_MISSING, "DM-002", where, "a record has no value in any key field")
    if len(fields) == 1:
        return key_text(values[0])
    return ",".join(f"{name}:{key_part(value)}" for name, value in zip(fields, values, strict=True))


def java_hash(text: str) -> int:
    """What Java hashes a text to: its UTF-16 units, in 32 bits taken without sign."""
    units = text.encode("utf-16-be", "surrogatepass")
    pairs = zip(units[::2], units[1::2], strict=True)
    return reduce(lambda found, pair: 31 * found + (pair[0] << 8 | pair[1]) & 0xFFFFFFFF, pairs, 0)


def key_part(value: Value) -> str:
    """One part of a composite key; nothing is escaped, but null and the empty text have words of their own.

    Clauses: DM-002.
    """
    return "__null__" if value is None else key_text(value) or "__empty__"


def key_text(value: Value) -> str:
    """A value as record keys spell it: a moment as microseconds since 1970, a float as Java writes it.

    Raises: unsupported `virtual-keys`, also of a float whose digits depend on the width in which it was stored.

    Clauses: DM-002.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dt.datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=dt.timezone.utc)
        return str((moment - UNIX_EPOCH) // dt.timedelta(microseconds=1))
    if isinstance(value, bytes | dt.time | list | dict) or value is None:
        raise Unsupported("virtual-keys")
    if not isinstance(value, float):
        return str(value)
    if narrowed(value) == value and float(digits_of(value, "float32")) != value:
        raise Unsupported("virtual-keys")
    return java_text(Decimal(digits_of(value, "float64")))


def stored_key(key: str, configuration: Configuration) -> str:
    """The key of a tombstone as `key_of` has it: some writers name a single key field, some do not.

    Clauses: DM-002.
    """
    if is_true(configuration.properties, "hoodie.populate.meta.fields") or len(configuration.record_key) != 1:
        return key
    return key.removeprefix(f"{configuration.record_key[0]}:")
