"""File groups of a table under construction, and which keys live where."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field

from hudi_conformance.corpus.golden.rides import Row

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "hudi-conformance/golden_tables")


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """One file group: its partition and its file id."""

    partition: str
    file_id: str


@dataclass(slots=True)
class Homes:
    """Where each key lives. New keys are spread over the partition's groups in turn.

    `buckets`: among how many numbers file ids begin with that of their group, as those of buckets do; 0 for none.
    """

    table_id: str
    per_partition: int = 2
    buckets: int = 0
    _homes: dict[tuple[str, str], Group] = field(default_factory=dict)
    _next: dict[str, int] = field(default_factory=dict)

    def group(self, partition: str, number: int) -> Group:
        """The n-th file group of a partition; its file id follows from the table's id, so that builds repeat."""
        file_id = f"{uuid.uuid5(_NAMESPACE, f'{self.table_id}/{partition}/{number}')}-0"
        return Group(partition, f"{number % self.buckets:08d}{file_id[8:]}" if self.buckets else file_id)

    def of(self, partition: str, key: str) -> Group:
        """The group that a key lives in, found or given now."""
        home = self._homes.get((partition, key))
        if home is None:
            number = self._next.get(partition, 0)
            self._next[partition] = number + 1
            home = self._homes[partition, key] = self.group(partition, number % self.per_partition)
        return home

    def move(self, partition: str, keys: Iterable[str], group: Group) -> None:
        """From now on these keys live in another group."""
        self._homes.update({(partition, key): group for key in keys})

    def spread(self, rows: Iterable[tuple[str, str, Row]]) -> dict[Group, list[Row]]:
        """Rows (partition, key, row) by the group their key lives in."""
        spread: dict[Group, list[Row]] = {}
        for partition, key, row in rows:
            spread.setdefault(self.of(partition, key), []).append(row)
        return spread
