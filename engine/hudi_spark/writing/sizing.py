"""How large file groups are made: which are small, and how many rows a new one takes.

Clauses: OW-012.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hudi_spark.state.commits import Commit
from hudi_spark.state.pending_plans import pending_clusterings
from hudi_spark.state.slicing import FileSlice
from hudi_spark.writer_state import WriterState
from hudi_spark.writing.routing import Sizing, SmallFile

_SMALL: Final = "hoodie.parquet.small.file.limit"
_MOST: Final = "hoodie.parquet.max.file.size"


def sizing_of(state: WriterState, *, fills_small_files: bool) -> Sizing:
    """The sizes that a write's options and the table's last commits give.

    What a pending clustering is to replace is not filled up.

    Clauses: OW-011, OW-012.
    """
    a_row = max(average_row_bytes(state), 1)
    filled: dict[str, list[FileSlice]] = {}
    clustered = pending_clusterings(state.storage, state.snapshot.timeline) if fills_small_files else {}
    for one in state.slices if fills_small_files else ():
        if _is_filled(one) and (one.partition, one.file_id) not in clustered:
            filled.setdefault(one.partition, []).append(one)
    found = _SmallFiles(state, a_row, filled)
    return Sizing(_rows_a_group(state, a_row), found.of if fills_small_files else _none)


def average_row_bytes(state: WriterState) -> int:
    """Bytes of a stored row, as the newest commit that is large enough to tell had them; else the configured guess.

    Clauses: OW-012.
    """
    enough = state.options.decimal("hoodie.record.size.estimation.threshold") * state.options.number(_SMALL)
    for commit in reversed(state.snapshot.commits):
        size, rows = _written(commit)
        if rows and size > enough:
            return -(-size // rows)
    return state.options.number("hoodie.copyonwrite.record.size.estimate")


def _written(commit: Commit) -> tuple[int, int]:
    stats = [stat for stat in commit.metadata.write_stats if (stat.path or "").endswith(".parquet")]
    return sum(stat.total_write_bytes or 0 for stat in stats), sum(stat.num_writes or 0 for stat in stats)


def _rows_a_group(state: WriterState, a_row: int) -> int:
    if state.options.flag("hoodie.copyonwrite.insert.auto.split"):
        return max(state.options.number(_MOST) // a_row, 1)
    return max(state.options.number("hoodie.copyonwrite.insert.split.size"), 1)


def _none(partition: str) -> Sequence[SmallFile]:
    del partition
    return ()


@dataclass(frozen=True, slots=True)
class _SmallFiles:
    """The groups of a partition whose base file is below the limit; merge-on-read, only groups without logs."""

    state: WriterState
    a_row: int
    filled: Mapping[str, Sequence[FileSlice]]

    def of(self, partition: str) -> Sequence[SmallFile]:
        """The small files, smallest first."""
        limit = self.state.options.number(_SMALL)
        slices = self.filled.get(partition, ())
        if limit <= 0 or not slices:
            return ()
        sizes = {file.path: file.size for file in self.state.storage.list_files(partition, recursive=False)}
        small = [(size, one) for one in slices if 0 < (size := sizes.get(one.base_file or "", 0)) < limit]
        small.sort(key=lambda pair: (pair[0], pair[1].file_id))
        most = self.state.options.number(_MOST)
        found = [SmallFile(one, max((most - size) // self.a_row, 0)) for size, one in small]
        return found[: self._candidates()]

    def _candidates(self) -> int | None:
        if self.state.configuration.table_type == "COPY_ON_WRITE":
            return None
        return self.state.options.number("hoodie.merge.small.file.group.candidates.limit")


def _is_filled(one: FileSlice) -> bool:
    return one.base_file is not None and not one.log_files and one.base_file.endswith(".parquet")
