"""The slices of a partition put together into clustering groups, by their sizes.

Clauses: CL-001.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hudi_format.storage import Storage

from hudi_spark.options.resolving import Options
from hudi_spark.state.slicing import FileSlice

_SORT: Final = "hoodie.clustering.plan.strategy.sort.columns"
_MEGABYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes in bytes by which groups are made.

    `small`: base files below it are clustered. `a_file`: what a new file is to have, `a_group`: what a group may have.
    `without_base`: what a slice of logs alone counts as. `alone`: whether a single file is clustered by itself.

    Clauses: CL-001.
    """

    small: int
    a_file: int
    a_group: int
    groups: int
    without_base: int
    alone: bool


def sizes_of(options: Options) -> Sizes:
    """What the options say."""
    alone = options.flag("hoodie.clustering.plan.strategy.single.group.clustering.enabled")
    return Sizes(
        small=options.number("hoodie.clustering.plan.strategy.small.file.limit"),
        a_file=options.number("hoodie.clustering.plan.strategy.target.file.max.bytes"),
        a_group=options.number("hoodie.clustering.plan.strategy.max.bytes.per.group"),
        groups=options.number("hoodie.clustering.plan.strategy.max.num.groups"),
        without_base=options.number("hoodie.parquet.max.file.size"),
        # A file that is to be sorted is worth its own while.
        alone=alone or bool(options.names(_SORT)),
    )


@dataclass(frozen=True, slots=True)
class SizedSlice:
    """A slice with the bytes of its files."""

    slice: FileSlice
    base: int
    logs: int


def sized(storage: Storage, partition: str, slices: Iterable[FileSlice]) -> list[SizedSlice]:
    """The slices of a partition with their sizes, from one listing."""
    sizes = {file.path: file.size for file in storage.list_files(partition, recursive=False)}
    return [
        SizedSlice(one, sizes.get(one.base_file or "", 0), sum(sizes.get(path, 0) for path in one.log_files))
        for one in slices
    ]


@dataclass(frozen=True, slots=True)
class InputGroup:
    """Slices that are rewritten together, and into how many files."""

    slices: tuple[SizedSlice, ...]
    files: int

    def metrics(self, sizes: Sizes) -> Mapping[str, float]:
        """What a plan says of the work: whole megabytes to read and write, and the logs."""
        read = sum(one.base // _MEGABYTE + one.logs // _MEGABYTE for one in self.slices)
        bases = (one.base if one.slice.base_file is not None else sizes.without_base for one in self.slices)
        written = sum(base // _MEGABYTE for base in bases)
        return {
            "TOTAL_LOG_FILES": float(sum(len(one.slice.log_files) for one in self.slices)),
            "TOTAL_IO_MB": float(read + written),
            "TOTAL_IO_READ_MB": float(read),
            "TOTAL_LOG_FILES_SIZE": float(sum(one.logs for one in self.slices)),
            "TOTAL_IO_WRITE_MB": float(written),
        }


def grouped(slices: Sequence[SizedSlice], sizes: Sizes, *, file_by_file: bool) -> Iterator[InputGroup]:
    """The groups of a partition: small files, largest first, as many together as a group may hold.

    Clauses: CL-001.
    """
    small = [one for one in slices if one.base < sizes.small]
    if file_by_file:
        yield from (InputGroup((one,), 1) for one in small)
        return
    current: list[SizedSlice] = []
    total = 0
    for one in sorted(small, key=lambda each: -_counted(each, sizes)):
        if current and total + _counted(one, sizes) > sizes.a_group:
            yield InputGroup(tuple(current), math.ceil(total / sizes.a_file))
            current, total = [], 0
        current.append(one)
        total += _counted(one, sizes)
    if len(current) > 1 or (current and sizes.alone):
        yield InputGroup(tuple(current), math.ceil(total / sizes.a_file))


def _counted(one: SizedSlice, sizes: Sizes) -> int:
    return sizes.without_base if one.slice.base_file is None else one.base
