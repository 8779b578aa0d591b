"""Work for both cores: the same function of many values, each in a process of a few."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

Task = TypeVar("Task")
Found = TypeVar("Found")
AT_ONCE = min(2, os.cpu_count() or 1)
FEW = 6
"""So few tasks are done here: a process has to load everything first."""


def in_processes(work: Callable[[Task], Found], tasks: Sequence[Task]) -> Iterator[Found]:
    """What a function finds of each task, in their order; function, tasks and findings can be pickled."""
    if len(tasks) <= FEW:
        yield from map(work, tasks)
        return
    # Spawned: a fork would take along the locks of threads that it does not have.
    with ProcessPoolExecutor(AT_ONCE, mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, tasks, chunksize=4)
