"""Texts of dates as moments, by one or more patterns.

Clauses: DM-033.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError
from hudi_spark.expressions.calendar import days_of, nulled
from hudi_spark.keying.patterns import DAY_MILLISECONDS, expression_of, groups_of
from hudi_spark.keying.zones import UTC, Zone

# What a text says that has no such part.
_WHERE_ABSENT: Final[Mapping[str, int]] = {"y": 2000, "M": 1, "d": 1, "H": 0, "m": 0, "s": 0}
_GREATEST: Final[Mapping[str, int]] = {"H": 23, "m": 59, "s": 59}
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Clocks:
    """Wall clocks and how far each is ahead of UTC, both int64 milliseconds."""

    local: pa.Array
    offset: pa.Array

    def moments(self) -> pa.Array:
        """Milliseconds since 1970 in UTC."""
        return pc.subtract(self.local, self.offset)


def clocks_of_texts(texts: pa.Array, patterns: Sequence[str], zone: Zone | None, name: str) -> Clocks:
    """The wall clocks of texts: in `zone` where it is given, else in the offset that the text states, or in UTC.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE when a text fits none of the patterns.

    Clauses: DM-033.

    """
    different = texts.dictionary_encode()
    local: Any = pa.nulls(len(different.dictionary), pa.int64())
    offset: Any = pa.nulls(len(different.dictionary), pa.int64())
    for pattern in patterns:
        found = _clocks(different.dictionary, pattern, zone)
        open_yet = pc.is_null(local)
        local, offset = pc.if_else(open_yet, found.local, local), pc.if_else(open_yet, found.offset, offset)
    _refuse_misfits(different.dictionary, local, patterns, name)
    return Clocks(local.take(different.indices), offset.take(different.indices))


def _clocks(texts: pa.Array, pattern: str, zone: Zone | None) -> Clocks:
    found = pc.extract_regex(texts, expression_of(pattern))
    groups = {letter: pc.struct_field(found, letter) for letter in groups_of(pattern)}
    local = _local(groups, found)
    if "Z" not in groups:
        moments = (zone or UTC).from_wall_clock(local)
        return Clocks(local, pc.subtract(local, moments))
    stated = _stated_offset(groups["Z"])
    if zone is None:
        return Clocks(local, stated)
    moments = pc.subtract(local, stated)
    offsets = zone.offsets(moments)
    return Clocks(pc.add(moments, offsets), offsets)


def _local(groups: Mapping[str, pa.Array], found: pa.Array) -> pa.Array:
    """Milliseconds of the wall clock; null where the text does not fit, or there is no such day or time."""
    nothing = pa.scalar(None, pa.int64())
    parts = {
        letter: pc.cast(groups[letter], pa.int64())
        if letter in groups
        else pc.if_else(pc.is_valid(found), pa.scalar(absent, pa.int64()), nothing)
        for letter, absent in _WHERE_ABSENT.items()
    }
    for letter, greatest in _GREATEST.items():
        parts[letter] = nulled(parts[letter], pc.less_equal(parts[letter], greatest))
    days = pc.cast(pc.cast(days_of(parts["y"], parts["M"], parts["d"]), pa.int32()), pa.int64())
    seconds = pc.add(pc.add(pc.multiply(parts["H"], 3600), pc.multiply(parts["m"], 60)), parts["s"])
    whole = pc.add(pc.multiply(days, DAY_MILLISECONDS), pc.multiply(seconds, 1000))
    return pc.add(whole, _fraction(groups["S"])) if "S" in groups else whole


def _fraction(digits: pa.Array) -> pa.Array:
    return pc.cast(pc.utf8_slice_codeunits(pc.utf8_rpad(digits, 3, "0"), 0, 3), pa.int64())


def _stated_offset(texts: pa.Array) -> pa.Array:
    """`Z`, `+02`, `+0200` or `+02:00` as milliseconds."""
    digits = pc.utf8_rpad(pc.replace_substring_regex(texts, "[^0-9]", ""), 4, "0")
    hours = pc.cast(pc.utf8_slice_codeunits(digits, 0, 2), pa.int64())
    minutes = pc.cast(pc.utf8_slice_codeunits(digits, 2, 4), pa.int64())
    size = pc.multiply(pc.add(pc.multiply(hours, 60), minutes), 60_000)
    return pc.if_else(pc.starts_with(texts, "-"), pc.negate(size), size)


def _refuse_misfits(texts: pa.Array, local: pa.Array, patterns: Sequence[str], name: str) -> None:
    if local.null_count == 0:
        return
    wrong = texts.filter(pc.is_null(local))
    shown = ", ".join(repr(text) for text in wrong.slice(0, _SHOWN).to_pylist())
    message = f"the partition field {name!r} holds {len(wrong)} texts that do not fit {', '.join(patterns)}: {shown}"
    hint = "correct the rows, or hoodie.keygen.timebased.input.dateformat"
    raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-033", message, hint=hint)
