"""Time zones by the names that Java takes, and the wall clocks of moments in them."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc
from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError
from hudi_spark.expressions.calendar import floor_divided

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
