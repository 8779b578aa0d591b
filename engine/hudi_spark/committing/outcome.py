"""What came of an action."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hudi_format.timeline.commit_metadata import WriteStat

from hudi_spark.effects.afterwards import Failure


@dataclass(frozen=True, slots=True)
class Outcome:
    """A completed action: its times (before version 8 there is no completion time), its action, what it wrote.

    `deleted`: files that it removed, by partition. `schema_changes`: what became of the table's columns, a text each.
    `missing_partitions`: those that were to be deleted and held nothing. Where there was nothing to do at all there is
    no action: both times and its name are empty. `failures`: what failed after it had completed; it stands.
    `repeated`: a write of its id stood already, and nothing was written now.

    Clauses: OW-010.
    """

    requested: str
    completed: str | None
    action: str
    operation: str
    written: tuple[WriteStat, ...] = field(repr=False, default=())
    replaced: Mapping[str, tuple[str, ...]] = field(repr=False, default_factory=dict)
    deleted: Mapping[str, tuple[str, ...]] = field(repr=False, default_factory=dict)
    schema_changes: tuple[str, ...] = ()
    missing_partitions: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    repeated: bool = False

    def __str__(self) -> str:
        missing = [f"no partition {name!r}" for name in self.missing_partitions]
        if not self.requested:
            return f"{self.operation}: " + ", ".join(("nothing to do", *missing))
        return ": ".join((f"{self.operation} {self.requested} {self.action}", ", ".join((*self._parts(), *missing))))

    def _parts(self) -> list[str]:
        partitions = {one.partition_path for one in self.written} | set(self.replaced) | set(self.deleted)
        rows = {name: _total(self.written, name) for name in ("num_inserts", "num_update_writes", "num_deletes")}
        gone = sum(len(ids) for ids in self.replaced.values())
        removed = sum(len(names) for names in self.deleted.values())
        return [
            f"{len(self.written)} files in {len(partitions)} partitions",
            f"{rows['num_inserts']} rows new, {rows['num_update_writes']} updated, {rows['num_deletes']} deleted",
            *([f"{gone} file groups replaced"] if gone else []),
            *([f"{removed} files removed"] if removed else []),
            f"{_total(self.written, 'total_write_bytes') / 1_000_000:.1f} MB",
            *self.schema_changes,
            *(["written before"] if self.repeated else []),
            *(str(one) for one in self.failures),
        ]


def _total(written: tuple[WriteStat, ...], name: str) -> int:
    return sum(getattr(one, name) or 0 for one in written)
