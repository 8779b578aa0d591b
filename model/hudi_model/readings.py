"""The named readings of clauses where the text and the released behaviour differ."""

from dataclasses import dataclass, fields, replace
from enum import StrEnum


class Reading(StrEnum):
    """Whose answer a clause gives: that of the text, or that of the released reader."""

    RELEASED = "released"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Readings:
    """One reading for each clause that has two; as released unless told.

    Clauses: RD-007, RD-010, MG-010, MG-013, IN-004, PL-002, SR-008, OW-035.
    """

    log_order: Reading = Reading.RELEASED
    time_travel: Reading = Reading.RELEASED
    mode_override: Reading = Reading.RELEASED
    delete_without_ordering: Reading = Reading.RELEASED
    incremental_merge: Reading = Reading.RELEASED
    overwriting_precombine: Reading = Reading.RELEASED
    saved_travel: Reading = Reading.RELEASED
    concurrent_overwrites: Reading = Reading.RELEASED


RELEASED = Readings()
TEXT = Readings(*(Reading.TEXT for _ in fields(Readings)))

CHOICE_OF_CLAUSE = {
    "RD-007": "log_order",
    "RD-010": "time_travel",
    "MG-010": "mode_override",
    "MG-013": "delete_without_ordering",
    "IN-004": "incremental_merge",
    "PL-002": "overwriting_precombine",
    "SR-008": "saved_travel",
    "OW-035": "concurrent_overwrites",
}
"""Which choice each clause with two readings governs."""


def with_reading(readings: Readings, clause: str, reading: Reading) -> Readings:
    """The same readings with one clause read as told; clauses with one reading change nothing."""
    choice = CHOICE_OF_CLAUSE.get(clause)
    return replace(readings, **{choice: Reading(reading)}) if choice else readings
