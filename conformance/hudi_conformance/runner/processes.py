"""Work for both cores: the same function of many values, each in a process of a few."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any, TypeVar

Task = TypeVar("Task")
Found = TypeVar("Found")
AT_ONCE = min(2, os.cpu_count() or 1)
FEW = 6
"""So few tasks are done here: a process has to load everything first."""
_work: Callable[[Any], Any] | None = None


def in_processes(work: Callable[[Task], Found], tasks: Sequence[Task]) -> Iterator[Found]:
    """What a function finds of each task, in their order; function, tasks and findings can be pickled."""
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
