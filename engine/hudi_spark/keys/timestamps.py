"""Partition paths by timestamp: patterns of dates, time zones, and what a column counts or spells.

Built is what a partition path can sensibly have; names are English. Moments are milliseconds since 1970.

column          timestamp.type, scalar unit or input patterns, input zone     ->  milliseconds since 1970
milliseconds    output zone, output pattern                                   ->  path

Clauses: DM-033.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from hudi_spark.errors import HudiError, Reason, UnsupportedFeature
from hudi_spark.filters import Part, days_of, floor_divided, nulled
from hudi_spark.keys.generator_types import misfit
from hudi_spark.pruning import time_setting
from hudi_spark.schema import one_chunk

_UTC_NAMES: Final = frozenset({"UTC", "GMT", "Z", "ETC/UTC", "ETC/GMT", "UCT", "ZULU"})
_FIXED: Final = re.compile(r"(?:GMT|UTC\+0:00)?([+-])([0-9]{1,2})(?::?([0-9]{2}))?")
_HOUR_MILLISECONDS: Final = 3_600_000
_QUARTER_MILLISECONDS: Final = 900_000
# 2037-01-01, 9998-12-31, and 400 years.
_LAST_OF_TABLES: Final = 2_114_380_800_000
_LAST_MOMENT: Final = 253_370_678_400_000
_CYCLE_MILLISECONDS: Final = 146_097 * 86_400_000


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone: a fixed distance to UTC in milliseconds, or the rules of a place."""

    offset: int = 0
    place: str = ""

    def offsets(self, moments: pa.Array) -> pa.Array:
        """How far the wall clock is ahead of UTC at each moment; both in milliseconds (int64)."""
        if not self.place:
            return pc.multiply(pc.if_else(pc.is_valid(moments), 1, None), self.offset).cast(pa.int64())
        stamps = moments.cast(pa.timestamp("ms", self.place))
        offsets = pc.subtract(pc.local_timestamp(stamps).cast(pa.int64()), moments)
        late = pc.greater_equal(moments, _LAST_OF_TABLES)
        return pc.if_else(late, self._by_rule(moments, late), offsets) if pc.any(late).as_py() else offsets

    def _by_rule(self, moments: pa.Array, late: pa.Array) -> pa.Array:
        """Offsets after the years that zone tables spell out, which Arrow does not see the last rule of.

        They change on quarters of an hour, so that each of these is looked up once.
        """
        zone = ZoneInfo(self.place)
        quarters = pc.if_else(late, floor_divided(moments, _QUARTER_MILLISECONDS), None).dictionary_encode()
        found = [_offset(quarter * _QUARTER_MILLISECONDS, zone) for quarter in quarters.dictionary.to_pylist()]
        return pa.array(found, pa.int64()).take(quarters.indices)

    def from_wall_clock(self, local: pa.Array) -> pa.Array:
        """The moments of wall clocks: of a doubled hour the first one, of a left out hour the time as it was before."""
        if not self.place:
            return pc.subtract(local, self.offset)
        guess = pc.subtract(local, self.offsets(local))
        earlier = pc.subtract(local, self.offsets(pc.subtract(guess, _HOUR_MILLISECONDS * 3)))
        fits = pc.equal(pc.add(earlier, self.offsets(earlier)), local)
        later = pc.subtract(local, self.offsets(pc.add(guess, _HOUR_MILLISECONDS * 3)))
        return pc.if_else(fits, earlier, later)


UTC: Final = Zone()


def _offset(moment: int, zone: ZoneInfo) -> int:
    """The offset of a moment; of one beyond the year 9999 as in a year of the same days before."""
    cycles = max(0, moment - _LAST_MOMENT) // _CYCLE_MILLISECONDS + (moment > _LAST_MOMENT)
    seconds = (moment - cycles * _CYCLE_MILLISECONDS) // 1000
    distance = datetime.fromtimestamp(seconds, zone).utcoffset() or timedelta(0)
    return distance // timedelta(milliseconds=1)


def zone_named(name: str) -> Zone | None:
    """The zone of a name; None for an empty one.

    Raises:
        HudiError: CONFIG_INVALID for a name that is no zone: Java would silently take GMT.

    Clauses: DM-033.

    """
    text = name.strip()
    if not text:
        return None
    if text.upper() in _UTC_NAMES:
        return UTC
    fixed = _FIXED.fullmatch(text) if text.startswith("GMT") else None
    if fixed is not None:
        distance = int(fixed[2]) * _HOUR_MILLISECONDS + int(fixed[3] or 0) * 60_000
        return Zone(-distance if fixed[1] == "-" else distance)
    return _place(text)


def _place(name: str) -> Zone:
    try:
        if "/" in name:
            pc.local_timestamp(pa.array([0], pa.timestamp("ms", name)))
            return Zone(place=name)
    except pa.ArrowInvalid:
        pass
    hint = "name a zone as UTC, GMT+8:00 or Europe/Berlin"
    raise HudiError(Reason.CONFIG_INVALID, "DM-033", f"time zone {name!r} is unknown", hint=hint)


DAY_MILLISECONDS: Final = 86_400_000
_HOUR, _MINUTE, _SECOND = 3_600_000, 60_000, 1_000
_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TOKEN: Final = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")
_NUMBERS: Final = "yMdHmsS"
# The finest first: how many milliseconds two moments may differ by and still be written alike.
_STEPS: Final = (("S", 1), ("s", _SECOND), ("m", _MINUTE), ("HhkKa", _HOUR))
_FORMATTED: Final = frozenset("yYxCGMdDweEaHhkKmsSZ")


@lru_cache(maxsize=64)
def parts_of(pattern: str) -> tuple[Part, ...]:
    """The parts of a pattern.

    Raises:
        UnsupportedFeature: a quote that does not end.

    """
    parts: list[Part] = []
    at = 0
    while at < len(pattern):
        found = _TOKEN.match(pattern, at)
        if found is None:
            raise UnsupportedFeature("date-pattern", pattern)
        at = found.end()
        text, letter, quoted = found.group(0), found.group(2), found.group(1)
        if letter is not None:
            parts.append(Part(letter, len(text)))
        else:
            parts.append(Part("", 0, text if quoted is None else quoted.replace("''", "'") or "'"))
    return tuple(parts)


def check_output(pattern: str) -> None:
    """Nothing when moments can be written by a pattern.

    Raises:
        UnsupportedFeature: letters that are not built: names of zones.

    """
    for part in parts_of(pattern):
        if part.letter and (part.letter not in _FORMATTED or (part.letter == "Z" and part.width > 2)):
            raise UnsupportedFeature("date-pattern", pattern)


def step_of(pattern: str) -> int:
    """Milliseconds within which all moments of a zone without daylight saving are written alike."""
    letters = {part.letter for part in parts_of(pattern)}
    return next((step for fine, step in _STEPS if letters & set(fine)), DAY_MILLISECONDS)


def formatted(local: int, offset: int, pattern: str) -> str:
    """A moment as text: `local` is its wall clock and `offset` that of the zone, both in milliseconds."""
    clock = _Clock(local, offset)
    return "".join(part.text if not part.letter else clock.text(part) for part in parts_of(pattern))


class _Clock:
    """A date and a time of day; years before 1 are 0, -1 ..."""

    def __init__(self, local: int, offset: int) -> None:
        self._offset = offset
        self._days, of_day = divmod(local, DAY_MILLISECONDS)
        self.year, self._month, self._day = civil(self._days)
        self._hour, of_hour = divmod(of_day, _HOUR)
        self._minute, of_minute = divmod(of_hour, _MINUTE)
        self._second, self._fraction = divmod(of_minute, _SECOND)

    def text(self, part: Part) -> str:
        """One part."""
        letter, width = part.letter, part.width
        if letter in "yYxC":
            return self._year_text(letter, width)
        if letter == "S":
            return f"{self._fraction:03d}".ljust(width, "0")[:width]
        if letter in "GEaZ" or (letter == "M" and width > 2):
            return self._name(letter, width)
        return _padded(self._number(letter), width)

    def _number(self, letter: str) -> int:
        numbers: dict[str, Callable[[], int]] = {
            "M": lambda: self._month,
            "d": lambda: self._day,
            "D": lambda: self._days - days_from(self.year, 1, 1) + 1,
            "w": lambda: self._week()[1],
            "e": lambda: self._weekday() + 1,
            "H": lambda: self._hour,
            "k": lambda: self._hour or 24,
            "K": lambda: self._hour % 12,
            "h": lambda: self._hour % 12 or 12,
            "m": lambda: self._minute,
            "s": lambda: self._second,
        }
        return numbers[letter]()

    def _year_text(self, letter: str, width: int) -> str:
        era = self.year if self.year > 0 else 1 - self.year
        if letter == "C":
            return _padded(era // 100, width)
        year = {"y": self.year, "Y": era, "x": self._week()[0]}[letter]
        return _padded(abs(year) % 100, 2) if width == 2 else _padded(year, width)

    def _name(self, letter: str, width: int) -> str:
        if letter == "G":
            return "AD" if self.year > 0 else "BC"
        if letter == "a":
            return "AM" if self._hour < 12 else "PM"
        if letter == "Z":
            return _offset_text(self._offset, colon=width == 2)
        name = _MONTHS[self._month - 1] if letter == "M" else _DAYS[self._weekday()]
        return name if width > 3 else name[:3]

    def _weekday(self) -> int:
        return (self._days + 3) % 7

    def _week(self) -> tuple[int, int]:
        """The ISO week's year and its number."""
        thursday = self._days - self._weekday() + 3
        year = civil(thursday)[0]
        return year, (thursday - days_from(year, 1, 1)) // 7 + 1


def civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day since 1970, in the Gregorian calendar before its time, too."""
    era, of_era = divmod(days + 719_468, 146_097)
    year = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1


def days_from(year: int, month: int, day: int) -> int:
    """The day since 1970 of a date."""
    shifted = year - (month <= 2)
    era, of_era = divmod(shifted, 400)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def _padded(number: int, width: int) -> str:
    return f"{'-' if number < 0 else ''}{str(abs(number)).rjust(width, '0')}"


def _offset_text(offset: int, *, colon: bool) -> str:
    hours, minutes = divmod(abs(offset) // _MINUTE, 60)
    return f"{'-' if offset < 0 else '+'}{hours:02d}{':' if colon else ''}{minutes:02d}"


def expression_of(pattern: str) -> str:
    """The regular expression that texts of a pattern match, with a group for each letter.

    A number that another number follows has as many digits as letters; else it may have more or fewer.

    Raises:
        UnsupportedFeature: letters that are not built: names, weeks, years of two digits.

    """
    parts = parts_of(pattern)
    letters = [part.letter for part in parts if part.letter]
    odd = any(part.letter == "y" and part.width == 2 for part in parts)
    if (
        odd
        or len(set(letters)) != len(letters)
        or any(part.letter not in ("", "Z") and not _is_number(part) for part in parts)
    ):
        raise UnsupportedFeature("date-pattern", pattern)
    following = [*parts[1:], Part("", 0)]
    return "^" + "".join(_expression(part, after) for part, after in zip(parts, following, strict=True)) + "$"


def _is_number(part: Part) -> bool:
    return part.letter in _NUMBERS and not (part.letter == "M" and part.width > 2)


def _expression(part: Part, after: Part) -> str:
    if not part.letter:
        return re.escape(part.text)
    if part.letter == "Z":
        return r"(?P<Z>Z|[+-][0-9]{2}(?::?[0-9]{2})?)"
    if part.letter == "S":
        return rf"(?P<S>[0-9]{{1,{part.width}}})"
    if after.letter and _is_number(after):
        return rf"(?P<{part.letter}>[0-9]{{{part.width}}})"
    return rf"(?P<{part.letter}>{'-?[0-9]{1,9}' if part.letter == 'y' else '[0-9]{1,9}'})"


def groups_of(pattern: str) -> Sequence[str]:
    """The letters of a pattern, which are the groups of its expression."""
    return [part.letter for part in parts_of(pattern) if part.letter]


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
