"""Holding the lock of a table, and what may be done only while it is held.

Clauses: LK-001, LK-002, LK-003, LK-006.
"""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from hudi_format.names import TimelineFileName

from hudi_spark.effects.helper import Effects
from hudi_spark.options.resolving import Options
from hudi_spark.state.configuration import TableConfiguration

_LOCKS: Final[defaultdict[str, threading.RLock]] = defaultdict(threading.RLock)


@dataclass(frozen=True, slots=True)
class Holding:
    """A lock that is held.

    Clauses: LK-001, LK-002.
    """

    effects: Effects
    holder: str

    def confirm(self) -> None:
        """Nothing while the lock is held.

        Raises:
            HudiError: LOCK_LOST when it has ended meanwhile.

        Clauses: LK-002.

        """

    def complete(self, configuration: TableConfiguration, name: TimelineFileName, content: bytes) -> None:
        """The completed file of an action appears: from here on it counts.

        Raises:
            HudiError: LOCK_LOST, and then it does not appear; WRITE_CONFLICT when it is there already.

        Clauses: LK-002, LK-003, TL-002.

        """
        self.confirm()
        self.effects.create_instant(configuration, name, content)


@contextmanager
def table_lock(effects: Effects, options: Options, holder: str) -> Iterator[Holding]:
    """Holds the lock of a table, by the provider that the options name; without one, among this process's writers.

    Raises:
        HudiError: LOCK_UNAVAILABLE.

    Clauses: LK-001, LK-003, LK-006.

    """
    del options
    with _LOCKS[effects.storage.base]:
        with effects.tell("take_lock", holder=holder):
            pass
        try:
            yield Holding(effects, holder)
        finally:
            with effects.tell("release_lock", holder=holder):
                pass
