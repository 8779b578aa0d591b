"""Times of the model as the TLA+ modules have them."""

from functools import cache

from hudi_model.time import EPOCH, InstantTime, moment_of


@cache
def ticks(instant: InstantTime | str | None) -> int:
    """A time as a number, the epoch of the search being 0; so is no time."""
    return round((moment_of(InstantTime(instant)) - EPOCH).total_seconds() * 1000) if instant else 0
