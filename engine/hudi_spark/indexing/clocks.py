"""Where the instants of the metadata table's own actions come from."""

from typing import Protocol


class Clock(Protocol):
    """Generates instants, each greater than those before it."""

    def instant(self, after: str = "") -> str:
        """An instant of 17 digits, greater than `after`."""
