"""Work on many files: in this thread while it is quick, in several threads from then on."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from time import perf_counter
from typing import Final, TypeVar

QUICK_S: Final = 0.02
"""Work of so long is done before threads are begun that wait for the interpreter's lock and for each other."""
LARGE: Final = 1 << 24
"""So many bytes take longer."""
_Task = TypeVar("_Task")
_Found = TypeVar("_Found")


def in_threads(
    work: Callable[[_Task], _Found], tasks: Sequence[_Task], sizes: Iterable[int] = (), at_once: int | None = None
) -> Iterator[_Found]:
    """What `work` finds of each task, in their order, as it is asked for; an error comes at its task.

    `sizes`: the bytes that tasks work on, where they are known. `at_once`: the most threads; by default one for each
    processor.
    """
    done, end = 0, perf_counter() + QUICK_S
    if not any(total >= LARGE for total in accumulate(sizes)):
        while done < len(tasks) and perf_counter() < end:
            yield work(tasks[done])
            done += 1
    rest = tasks[done:]
    if len(rest) <= 1:
        yield from map(work, rest)
        return
    with ThreadPoolExecutor(min(len(rest), at_once or os.cpu_count() or 1)) as pool:
        yield from pool.map(work, rest)
