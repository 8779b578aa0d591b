"""What a writer does next, from a seed: small writes that meet each other in shared keys, and churn in keys of its own.

Shared keys are there from the beginning and never deleted: two optimistic writers that insert one key each open a file
group, which nothing in the format forbids. A key of a writer's own comes and goes.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hudi_adapter.rows import Rows

from hudi_conformance.interop.stress.settings import COLUMNS

DAYS = ("2026-01-01", "2026-01-02", "ñ")
SHARED = tuple(f"s{number}" for number in range(9))
_OWN = 6
_DELETE, _UPSERT = "delete", "upsert"


@dataclass(frozen=True, slots=True)
class GeneratedWrite:
    """One write: its operation and its rows."""

    operation: str
    rows: Rows


@dataclass(slots=True)
class WriteGenerator:
    """The writes of one writer, one after another; the ordering values of all writers differ and mostly grow."""

    writer: int
    writers: int
    seed: int
    _random: random.Random = field(init=False)
    _number: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(f"{self.seed}/{self.writer}")  # noqa: S311 - not for secrets

    def first(self) -> GeneratedWrite:
        """The write that all the others come after: every shared key."""
        return GeneratedWrite("insert", rows_of([row(key, 0, "first", 0) for key in SHARED]))

    def next(self) -> GeneratedWrite:
        """The next write."""
        self._number += 1
        own = [f"w{self.writer}-{number}" for number in range(_OWN)]
        if self._random.random() < 0.2:
            return GeneratedWrite(_DELETE, rows_of([row(key, self._ts(), "gone", 0) for key in self._some(own, 2)]))
        keys = [*self._some(list(SHARED), 2), *self._some(own, 2)]
        return GeneratedWrite(_UPSERT, rows_of([row(key, self._ts(), self._note(), self._number) for key in keys]))

    def _some(self, keys: list[str], most: int) -> list[str]:
        return self._random.sample(keys, self._random.randint(1, most))

    def _ts(self) -> int:
        """An ordering value that no other write has; now and then one that comes late."""
        late = self._random.choice((0, 0, 0, 3))
        return max(1, self._number - late) * 1000 + self._number % 10 * self.writers * 10 + self.writer

    def _note(self) -> str:
        return f"{self.writer}/{self._number} {self._random.choice(('', 'é', '漢'))}"


def row(key: str, ts: int, note: str, amount: int) -> Mapping[str, Any]:
    """A row; its day follows from its key, so that keys never move."""
    return {"id": key, "day": DAYS[sum(map(ord, key)) % len(DAYS)], "ts": ts, "note": note, "amount": amount / 2}


def rows_of(rows: list[Mapping[str, Any]]) -> Rows:
    """Rows in the table's columns."""
    return Rows(COLUMNS, tuple(tuple(one[name] for name, _ in COLUMNS) for one in rows))
