"""Work on many files: in this thread while tasks are small and wait for nothing, in several threads from then on."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter, thread_time
from typing import Final, TypeVar

QUICK_S: Final = 0.02
"""Work of so long is done before it is decided whether threads are worth it."""
SMALL_S: Final = 0.005
"""Smaller tasks hold the interpreter's lock for most of their time: threads, which hand it over, take longer."""
LARGE: Final = 1 << 24
"""A task of so many bytes takes longer."""
_Task = TypeVar("_Task")
_Found = TypeVar("_Found")


def in_threads(
    work: Callable[[_Task], _Found], tasks: Sequence[_Task], sizes: Iterable[int] = (), at_once: int | None = None
) -> Iterator[_Found]:
    """What `work` finds of each task, in their order, as it is asked for; an error comes at its task.

    `sizes`: the bytes that tasks work on, where they are known. `at_once`: the most threads; by default one for each
    processor.
    """
    done, alone = 0, not any(size >= LARGE for size in sizes)
    while alone and done < len(tasks):
        first, spent, busy = done, 0.0, 0.0
        while done < len(tasks) and spent < QUICK_S:
            started, used = perf_counter(), thread_time()
            found = work(tasks[done])
            spent, busy, done = spent + perf_counter() - started, busy + thread_time() - used, done + 1
            yield found
        alone = spent < SMALL_S * (done - first) and busy > spent / 2
    rest = tasks[done:]
    if len(rest) <= 1:
        yield from map(work, rest)
        return
    with ThreadPoolExecutor(min(len(rest), at_once or os.cpu_count() or 1)) as pool:
        yield from pool.map(work, rest)
