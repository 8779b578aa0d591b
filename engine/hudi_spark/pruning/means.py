"""By what means slices are left out, which options switch them off, and how many each left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hudi_spark.metadata.listing import ENABLED_KEY
from hudi_spark.state.slicing import FileSlice

PARTITIONS: Final = "partitions"
PARTITION_STATS: Final = "partition_stats"
COLUMN_STATS: Final = "column_stats"
EXPRESSION_INDEX: Final = "expression_index"
RECORD_INDEX: Final = "record_index"
SECONDARY_INDEX: Final = "secondary_index"
BLOOM_FILTERS: Final = "bloom_filters"

_SKIPPING: Final = "hoodie.enable.data.skipping"
# Each is switched off where one of its options says false.
_SWITCHES: Final[Mapping[str, tuple[str, ...]]] = {
    PARTITIONS: ("hoodie.file.index.enable",),
    PARTITION_STATS: (_SKIPPING, ENABLED_KEY, "hoodie.metadata.index.partition.stats.enable"),
    COLUMN_STATS: (_SKIPPING, ENABLED_KEY, "hoodie.metadata.index.column.stats.enable"),
    EXPRESSION_INDEX: (_SKIPPING, ENABLED_KEY, "hoodie.metadata.index.expression.enable"),
    RECORD_INDEX: (
        _SKIPPING,
        ENABLED_KEY,
        "hoodie.metadata.record.index.enable",
        "hoodie.metadata.global.record.level.index.enable",
        "hoodie.metadata.record.level.index.enable",
    ),
    SECONDARY_INDEX: (_SKIPPING, ENABLED_KEY, "hoodie.metadata.index.secondary.enable"),
    BLOOM_FILTERS: (_SKIPPING, "hoodie.metadata.index.bloom.filter.enable"),
}
PRUNING_OPTIONS: Final = frozenset(option for options in _SWITCHES.values() for option in options)


# Releases leave some of these indexes without the rows from before they were created: they are used when asked for.
_ASKED_FOR: Final = frozenset({"hoodie.metadata.index.secondary.enable"})


def is_on(means: str, configs: Mapping[str, str]) -> bool:
    """Whether no option switches a means of pruning off."""
    states = (configs.get(option, "false" if option in _ASKED_FOR else "true") for option in _SWITCHES[means])
    return all(state.strip().lower() != "false" for state in states)


@dataclass(frozen=True, slots=True)
class Count:
    """What one means left of the slices, and of their base and log files, that were there before it."""

    means: str
    slices_before: int
    slices_after: int
    files_before: int
    files_after: int

    def __str__(self) -> str:
        files = f"{self.files_before - self.files_after} of {self.files_before} files"
        return f"{self.means}: {self.slices_after} of {self.slices_before} slices left, {files} skipped"


@dataclass(frozen=True, slots=True)
class Pruned:
    """The slices that are left to read, and what each means that had a say left out.

    Clauses: IX-051.
    """

    slices: tuple[FileSlice, ...]
    counts: tuple[Count, ...] = ()

    def __str__(self) -> str:
        lines = [str(count) for count in self.counts]
        return "\n".join([*lines, f"{len(self.slices)} slices, {files_of(self.slices)} files to read"])


def files_of(slices: Sequence[FileSlice]) -> int:
    """How many files slices have."""
    return sum(len(one.log_files) + (one.base_file is not None) for one in slices)


def counted(means: str, before: Sequence[FileSlice], after: Sequence[FileSlice]) -> Count:
    """The count of one means."""
    return Count(means, len(before), len(after), files_of(before), files_of(after))
