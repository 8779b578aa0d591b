"""Instants: when an action was requested, when it was completed, and how such times come about."""

import datetime as dt
from typing import NewType

InstantTime = NewType("InstantTime", str)
"""Decimal digits, compared as text."""

EPOCH = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
"""Where the explorer's tick 0 lies."""


def tick(number: int) -> InstantTime:
    """The instant `number` milliseconds after the first of January 2025."""
    moment = EPOCH + dt.timedelta(milliseconds=number)
    return InstantTime(moment.strftime("%Y%m%d%H%M%S") + f"{moment.microsecond // 1000:03d}")
