"""Work for both cores: the same function of many values, each in a process of a few; and one part of such work."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Any, TypeVar
from zlib import crc32

from hudi_format.compat import Self
from rich.console import Console

from hudi_conformance.runner.console import Bars

Task = TypeVar("Task")
Found = TypeVar("Found")
AT_ONCE = min(2, os.cpu_count() or 1)
FEW = 6
"""So few tasks are done here: a process has to load everything first."""
_work: Callable[[Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class Shard:
    """The K-th part in N of what has names; which names are in it depends on nothing else."""

    number: int = 1
    count: int = 1

    @classmethod
    def of(cls, text: str) -> Self:
        """The shard of a text K/N.

        Raises:
            ValueError: K is not from 1 to N.

        """
        found = re.fullmatch(r"(\d+)/(\d+)", text)
        number, count = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= count:
            raise ValueError(f"{text}: K/N with K from 1 to N, such as 1/3")
        return cls(number, count)

    def __contains__(self, name: str) -> bool:
        """Whether what has this name is in it."""
        return crc32(name.encode("utf-8", "replace")) % self.count == self.number - 1


def in_processes(work: Callable[[Task], Found], tasks: Sequence[Task], shown: str = "") -> Iterator[Found]:
    """What a function finds of each task, in their order; function, tasks and findings can be pickled.

    With `shown`, what the tasks are, progress is shown on stderr.
    """
    with Bars(Console(stderr=True), quiet=not shown) as bars:
        yield from bars.track(_in_processes(work, tasks), len(tasks), description=shown)


def _in_processes(work: Callable[[Task], Found], tasks: Sequence[Task]) -> Iterator[Found]:
    if len(tasks) <= FEW:
        yield from map(work, tasks)
        return
    with _pool(AT_ONCE) as pool:
        yield from pool.map(work, tasks, chunksize=4)


def in_worker_processes(
    begin: Callable[[], Callable[[Task], Found]], tasks: Sequence[Task], at_once: int
) -> Iterator[Found]:
    """The same by what `begin` makes once in each process, which lasts for all of its tasks, handed out one by one."""
    with _pool(at_once, partial(_initialize, begin)) as pool:
        yield from pool.map(_done, tasks)


def _pool(at_once: int, initializer: Callable[[], None] | None = None) -> ProcessPoolExecutor:
    """Spawned: a fork would take along the locks of threads that it does not have."""
    return ProcessPoolExecutor(at_once, get_context("spawn"), initializer)


def _initialize(begin: Callable[[], Callable[[Any], Any]]) -> None:
    global _work  # noqa: PLW0603 - of the process, which is there for this alone
    _work = begin()


def _done(task: Any) -> Any:
    if _work is None:
        raise RuntimeError("the process was not begun")
    return _work(task)
