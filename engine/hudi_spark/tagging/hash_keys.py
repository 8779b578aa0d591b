"""The texts that bucket indexes hash, taken out of record keys as released writers take them.

a key without a comma or without a colon   the key itself: one field makes it
id:7,city:Bonn                             the values of the hash fields, in the order of the key
id:7,city:__null__                         null in place of the value; the empty text for __empty__

A field begins behind each comma that is followed by a colon with neither between, once the field before it has had its
own colon: values may have both, and a comma before the first colon belongs to the first name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.hashing import bucket_ids

from hudi_spark.arrays import one_chunk

Hashes = npt.NDArray[np.int64]

_FIELDS_APART: Final = ",", ":"
_NULL, _EMPTY = "__null__", "__empty__"
# A hash without its sign, modulo this, is itself.
_ALL: Final = 2**31
_MARK: Final = "\x1f"


@dataclass(frozen=True, slots=True)
class HashedTexts:
    """Some of the keys, by their numbers, and a column of texts for each value that is hashed."""

    numbers: npt.NDArray[np.int64]
    columns: tuple[pa.Array, ...]


def hashed_texts(keys: pa.Array | pa.ChunkedArray, fields: Sequence[str]) -> tuple[HashedTexts, ...]:
    """The texts to hash of each key, keys with equally many texts together.

    `fields`: the hash fields, in any order.

    Clauses: OW-022.
    """
    array = one_chunk(keys)
    parted = pc.and_(*(pc.match_substring(array, mark) for mark in _FIELDS_APART))
    whole = np.flatnonzero(~_mask(parted))
    found = [HashedTexts(whole, (array.take(pa.array(whole)),))] if len(whole) else []
    numbers = np.flatnonzero(_mask(parted))
    return (*found, *(_of_parted(array.take(pa.array(numbers)), numbers, fields) if len(numbers) else ()))


def bucket_hashes(keys: pa.Array | pa.ChunkedArray, fields: Sequence[str]) -> Hashes:
    """The hash of each key for simple buckets, from 0 to 2^31 - 1; modulo the number of buckets it is the bucket.

    Clauses: OW-022.
    """
    hashes = np.zeros(len(keys), np.int64)
    for part in hashed_texts(keys, fields):
        hashes[part.numbers] = bucket_ids(part.columns, _ALL)
    return hashes


def _of_parted(keys: pa.Array, numbers: npt.NDArray[np.int64], fields: Sequence[str]) -> tuple[HashedTexts, ...]:
    """Keys that name each of the same fields once go together, all others one by one."""
    apart = pc.replace_substring_regex(keys, ",([^,:]*):", f"{_MARK}\\1:")
    order = _order_of_fields(apart, fields)
    columns = [_value(apart, field) for field in order]
    # A comma before the first colon begins no field, though a colon may follow it.
    regular = pc.and_not(pc.match_substring_regex(keys, "^[^,:]*:"), pc.match_substring(keys, _MARK))
    for field in order:
        once = pc.equal(pc.count_substring_regex(apart, _field_pattern(field)), 1)
        regular = pc.and_(regular, once)
    for field in fields:
        if field not in order:
            regular = pc.and_(regular, pc.invert(pc.match_substring_regex(apart, _field_pattern(field))))
    alike = _mask(regular) & bool(order)
    same = pa.array(np.flatnonzero(alike))
    together = HashedTexts(numbers[alike], tuple(column.take(same) for column in columns))
    others = np.flatnonzero(~alike)
    return (*((together,) if len(same) else ()), *_one_by_one(keys.take(pa.array(others)), numbers[others], fields))


def _order_of_fields(apart: pa.Array, fields: Sequence[str]) -> list[str]:
    """The hash fields that the first key names, in its order."""
    named = [part.partition(":")[0] for part in apart[0].as_py().split(_MARK)]
    return sorted({field for field in fields if field in named}, key=named.index)


def _field_pattern(field: str) -> str:
    return f"(?:^|{_MARK}){_quoted(field)}:"


def _quoted(text: str) -> str:
    """A text as a pattern of itself."""
    return "".join(f"\\x{{{ord(one):x}}}" for one in text)


def _value(apart: pa.Array, field: str) -> pa.Array:
    """The value of a field, null where it is not there."""
    found = pc.extract_regex(apart, f"{_field_pattern(field)}(?P<value>[^{_MARK}]*)")
    value = pc.struct_field(found, "value")
    known = pc.if_else(pc.equal(value, _EMPTY), "", value)
    return pc.if_else(pc.equal(known, _NULL), pa.scalar(None, known.type), known)


def _one_by_one(keys: pa.Array, numbers: npt.NDArray[np.int64], fields: Sequence[str]) -> list[HashedTexts]:
    """The rare keys whose values look like further fields, or that lack some."""
    by_count: dict[int, list[tuple[int, list[str | None]]]] = {}
    for number, key in zip(numbers.tolist(), keys.to_pylist(), strict=True):
        texts = _texts_of(key, fields)
        by_count.setdefault(len(texts), []).append((number, texts))
    return [
        HashedTexts(
            np.array([number for number, _ in rows]),
            tuple(pa.array(column, pa.string()) for column in zip(*(texts for _, texts in rows), strict=True)),
        )
        for rows in by_count.values()
    ]


def _texts_of(key: str, fields: Sequence[str]) -> list[str | None]:
    """The texts of one key; the whole key where it names none of the fields."""
    values: list[str | None] = []
    for field, value in _pairs(key):
        if field in fields:
            values.append(None if value == _NULL else "" if value == _EMPTY else value)
    return values or [key]


def _pairs(key: str) -> list[tuple[str, str]]:
    """The fields and values that a key is read as."""
    parts: list[str] = []
    for piece in key.split(","):
        if parts and not (":" in piece and ":" in parts[-1]):
            parts[-1] += f",{piece}"
        else:
            parts.append(piece)
    return [(part.partition(":")[0], part.partition(":")[2]) for part in parts]


def _mask(values: pa.Array) -> npt.NDArray[np.bool_]:
    mask: npt.NDArray[np.bool_] = values.to_numpy(zero_copy_only=False)
    return mask
