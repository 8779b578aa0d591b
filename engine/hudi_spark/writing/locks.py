"""The lock that writers of one process share: without it two of them would finish at once.

Clauses: LK-001, LK-003, LK-006.
"""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from hudi_spark.effects.helper import Effects

_LOCKS: Final[defaultdict[str, threading.RLock]] = defaultdict(threading.RLock)


@contextmanager
def table_lock(effects: Effects, holder: str) -> Iterator[None]:
    """Holds the lock of a table among the writers of this process.

    Clauses: LK-001, LK-003, LK-006.
    """
    with _LOCKS[effects.storage.base]:
        with effects.tell("take_lock", holder=holder):
            pass
        try:
            yield
        finally:
            with effects.tell("release_lock", holder=holder):
                pass
