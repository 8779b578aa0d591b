"""Partition paths by timestamp: what a column counts or spells, and the pattern that its paths are written in.

column          timestamp.type, scalar unit or input patterns, input zone     ->  milliseconds since 1970
milliseconds    output zone, output pattern                                   ->  path

Clauses: DM-033.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds
from hudi_adapter.reasons import Reason

from hudi_spark.arrays import one_chunk
from hudi_spark.errors import HudiError
from hudi_spark.expressions.calendar import floor_divided
from hudi_spark.keying.date_texts import Clocks, clocks_of_texts
from hudi_spark.keying.kinds import misfit
from hudi_spark.keying.patterns import check_output, expression_of, formatted, parts_of, step_of
from hudi_spark.keying.zones import UTC, Zone, zone_named
from hudi_spark.pruning.timestamp_paths import time_setting

TIME_PREFIX: Final = "hoodie.keygen.timebased."
# Milliseconds in a unit, and units in a millisecond.
_UNITS: Final[Mapping[str, tuple[int, int]]] = {
    "DAYS": (86_400_000, 1),
    "HOURS": (3_600_000, 1),
    "MINUTES": (60_000, 1),
    "SECONDS": (1_000, 1),
    "MILLISECONDS": (1, 1),
    "MICROSECONDS": (1, 1_000),
    "NANOSECONDS": (1, 1_000_000),
}
_UNIT_OF_KIND: Final = {
    "UNIX_TIMESTAMP": "SECONDS",
    "EPOCHMILLISECONDS": "MILLISECONDS",
    "EPOCHMICROSECONDS": "MICROSECONDS",
}
_TEXT_KINDS: Final = ("DATE_STRING", "MIXED")


@dataclass(frozen=True, slots=True)
class StampRule:
    """How a column of moments becomes text.

    `unit`: milliseconds in a unit and units in a millisecond, None for a column of texts, which `inputs` spell.
    `moments`: timestamp columns are moments whatever the unit; without it, their number is counted in that unit.
    """

    unit: tuple[int, int] | None
    inputs: tuple[str, ...]
    input_zone: Zone | None
    output_zone: Zone | None
    output: str
    moments: bool = False

    def texts(self, column: pa.ChunkedArray, name: str) -> pa.Array:
        """The text of each value; null is the first unit of 1970.

        Raises:
            HudiError: SCHEMA_INCOMPATIBLE for a column or value that is no such moment.

        Clauses: DM-033.

        """
        return self._written(self._clocks(one_chunk(column), name))

    def _clocks(self, values: pa.Array, name: str) -> Clocks:
        if self.moments and kinds.is_timestamp(values.type) and values.type.tz is not None:
            return self._of_moments(pc.divide(_micros(values), 1_000).fill_null(1))
        if kinds.is_string(values.type) or kinds.is_large_string(values.type):
            if self.unit is not None:
                raise _no_moment(name, f"holds text, the timestamp type counts in {self.unit[0]} milliseconds")
            return self._of_texts(values.cast(pa.string()), name)
        if self.unit is None:
            raise _no_moment(name, f"is of type {values.type}, the timestamp type is for text")
        return self._of_moments(_milliseconds(_whole(values, name), self.unit, name))

    def _of_texts(self, texts: pa.Array, name: str) -> Clocks:
        zone = self.input_zone or self.output_zone or UTC
        first = _written_in(self.inputs[0], zone)
        found = clocks_of_texts(texts.fill_null(first), self.inputs, self.input_zone, name)
        return found if self.output_zone is None else self._of_moments(found.moments())

    def _of_moments(self, moments: pa.Array) -> Clocks:
        offsets = (self.output_zone or UTC).offsets(moments)
        return Clocks(pc.add(moments, offsets), offsets)

    def _written(self, clocks: Clocks) -> pa.Array:
        """Each different text is made once."""
        step = step_of(self.output)
        local = pc.multiply(floor_divided(clocks.local, step), step)
        if not any(part.letter == "Z" for part in parts_of(self.output)):
            different = local.dictionary_encode()
            texts = [formatted(one, 0, self.output) for one in different.dictionary.to_pylist()]
            return pa.array(texts, pa.string()).take(different.indices)
        pairs = pa.table({"local": local, "offset": clocks.offset})
        return _written_pairs(pairs, self.output)


def stamp_settings(settings: Mapping[str, str], *, moments: bool = False) -> StampRule:
    """The rule that settings state, under whichever of their names.

    Raises:
        HudiError: CONFIG_INVALID for a missing or unknown setting.
        UnsupportedFeature: a pattern with letters that are not built.

    Clauses: DM-033.

    """
    kind = _required(settings, "timestamp.type").upper()
    output = _required(settings, "output.dateformat")
    check_output(output)
    both = zone_named(time_setting(settings, "timezone"))
    return StampRule(
        unit=_unit(settings, kind),
        inputs=_inputs(settings) if kind in _TEXT_KINDS else (),
        input_zone=both or zone_named(time_setting(settings, "input.timezone")),
        output_zone=both or zone_named(time_setting(settings, "output.timezone")),
        output=output,
        moments=moments,
    )


def _unit(settings: Mapping[str, str], kind: str) -> tuple[int, int] | None:
    if kind in _TEXT_KINDS:
        return None
    unit = _UNIT_OF_KIND.get(kind, "")
    if kind == "SCALAR":
        unit = time_setting(settings, "timestamp.scalar.time.unit").upper() or "SECONDS"
    if unit not in _UNITS:
        known = ", ".join((*_UNIT_OF_KIND, "SCALAR", *_TEXT_KINDS))
        raise misfit(
            f"{TIME_PREFIX}timestamp.type {f'{kind} of {unit}' if unit else kind} is unknown", f"types are {known}"
        )
    return _UNITS[unit]


def _inputs(settings: Mapping[str, str]) -> tuple[str, ...]:
    listed = _required(settings, "input.dateformat")
    delimiter = time_setting(settings, "input.dateformat.list.delimiter.regex") or ","
    # A pattern holds neither brackets nor bars, so that a delimiter's text is its expression.
    found = tuple(one.strip() for one in listed.split(delimiter) if one.strip())
    for one in found:
        expression_of(one)
    return found


def _required(settings: Mapping[str, str], key: str) -> str:
    found = time_setting(settings, key)
    if not found:
        raise misfit(f"{TIME_PREFIX}{key} is missing and has no default", f"set {TIME_PREFIX}{key}")
    return found


def _written_in(pattern: str, zone: Zone) -> str:
    """The first millisecond of 1970 in a zone, which stands for null."""
    offset = zone.offsets(pa.array([1], pa.int64()))[0].as_py()
    return formatted(1 + offset, offset, pattern)


def _written_pairs(pairs: pa.Table, pattern: str) -> pa.Array:
    numbered = pairs.append_column("row", pa.array(range(len(pairs)), pa.int64()))
    different = pairs.group_by(["local", "offset"]).aggregate([])
    both = zip(different["local"].to_pylist(), different["offset"].to_pylist(), strict=True)
    written = different.append_column("text", pa.array([formatted(*pair, pattern) for pair in both], pa.string()))
    joined = numbered.join(written, ["local", "offset"]).sort_by("row")
    return one_chunk(joined["text"])


def _micros(values: pa.Array) -> pa.Array:
    return values.cast(pa.timestamp("us", values.type.tz)).cast(pa.int64())


def _whole(values: pa.Array, name: str) -> pa.Array:
    """The values as whole numbers, their fractions cut off; null is 1."""
    kind = values.type
    if kinds.is_date32(kind):
        return values.cast(pa.int32()).cast(pa.int64()).fill_null(1)
    if kinds.is_timestamp(kind):
        return values.cast(pa.int64()).fill_null(1)
    if not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind)):
        raise _no_moment(name, f"is of type {kind}, which counts nothing")
    try:
        cut = values if kinds.is_integer(kind) else pc.trunc(values)
        return cut.cast(pa.int64()).fill_null(1)
    except pa.ArrowInvalid as error:
        raise _no_moment(name, "holds a number that is no moment") from error


def _milliseconds(numbers: pa.Array, unit: tuple[int, int], name: str) -> Any:
    try:
        return pc.divide(pc.multiply_checked(numbers, unit[0]), unit[1])
    except pa.ArrowInvalid as error:
        raise _no_moment(name, "holds a number beyond all dates") from error


def _no_moment(name: str, message: str) -> HudiError:
    hint = f"correct the rows, or {TIME_PREFIX}timestamp.type"
    return HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-033", f"the partition field {name!r} {message}", hint=hint)
