"""The named readings of clauses where the text and the released behaviour differ."""

from dataclasses import dataclass
from enum import StrEnum


class Reading(StrEnum):
    """Whose answer a clause gives: that of the text, or that of the released reader."""

    RELEASED = "released"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Readings:
    """One reading for each clause that has two; as released unless told."""

    log_order: Reading = Reading.RELEASED
    time_travel: Reading = Reading.RELEASED
    mode_override: Reading = Reading.RELEASED
    delete_without_ordering: Reading = Reading.RELEASED
