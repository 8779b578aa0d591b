"""Where the text and the released implementation differ, which of the two this reader follows."""

from dataclasses import dataclass
from typing import Literal

from hudi_spark.errors import HudiError, Reason

Reading = Literal["released", "text"]


@dataclass(frozen=True, slots=True)
class Readings:
    """One reading for each clause that has two.

    `log_order`: logs of a slice by requested time (released) or by completion time (text).
    `time_travel`: as-of compares requested times (released) or completion times (text).
    `deletes`: a delete that a later version has beaten no longer hides the base row from it (released), or still
    does, so that merging is associative (text).
    `incremental_merge`: in an incremental query only what the range brought competes (released), or the latest merged
    rows are answered where the range wrote them (text).

    `override`: a write that requests another merge mode than the table persists is refused (released), or merges by
    its own (text).

    Clauses: IN-004, MG-010, MG-013, RD-007, RD-010.
    """

    log_order: Reading = "released"
    time_travel: Reading = "released"
    deletes: Reading = "released"
    incremental_merge: Reading = "released"
    override: Reading = "released"


RELEASED = Readings()
TEXT = Readings(log_order="text", time_travel="text", deletes="text", incremental_merge="text", override="text")


def readings_named(reading: Reading | Readings) -> Readings:
    """All clauses by one word, or as given.

    Raises:
        HudiError: CONFIG_INVALID for what is neither.

    """
    if isinstance(reading, Readings):
        return reading
    if reading not in ("released", "text"):
        hint = "say released or text, or give a Readings with one of the two for each clause"
        raise HudiError(Reason.CONFIG_INVALID, "PR-022", f"readings is {repr(reading)[:60]}", hint=hint)
    return TEXT if reading == "text" else RELEASED
