"""What the options say of a table's lock.

Clauses: LK-001, OW-030.
"""

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hudi_spark.options.resolving import Options

PROVIDER: Final = "hoodie.write.lock.provider"
_WAIT: Final = "hoodie.write.lock.wait_time_ms"
_TRIES: Final = "hoodie.write.lock.client.num_retries"
_BETWEEN_TRIES: Final = "hoodie.write.lock.client.wait_time_ms_between_retry"
_BACK_OFF: Final = "hoodie.write.lock.wait_time_ms_between_retry"
_GREATEST_BACK_OFF: Final = "hoodie.write.lock.max_wait_time_ms_between_retry"
_ASKS: Final = "hoodie.write.lock.num_retries"
_SHORTEST: Final = 0.1


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a lock is asked for: `tries` times `wait` seconds, with a pause in between; all times in seconds.

    Within a try the pause between two questions grows from `back_off` to `greatest`, doubled at most `doublings` times.
    """

    wait: float
    tries: int
    between: float
    back_off: float
    greatest: float
    doublings: int

    def pauses(self, random_part: random.Random) -> Iterator[float]:
        """Seconds to wait before each further question of one try, until its time is over."""
        deadline = time.monotonic() + self.wait
        longest = self.back_off
        for asked in range(1_000_000):
            left = deadline - time.monotonic()
            if left <= 0:
                return
            yield min(left, longest * random_part.uniform(_SHORTEST, 1))
            longest = min(self.greatest, longest * 2) if asked < self.doublings else longest


def patience_of(options: Options) -> Patience:
    """How long the options let a lock be asked for.

    Clauses: LK-001.
    """
    return Patience(
        wait=options.number(_WAIT) / 1000,
        tries=max(0, options.number(_TRIES)) + 1,
        between=options.number(_BETWEEN_TRIES) / 1000,
        back_off=max(1, options.number(_BACK_OFF)) / 1000,
        greatest=max(1, options.number(_GREATEST_BACK_OFF)) / 1000,
        doublings=options.number(_ASKS),
    )
