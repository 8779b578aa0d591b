"""A write that another one conflicted with is done again.

Clauses: OW-005, OW-009.
"""

import random
import time
from collections.abc import Callable
from typing import Final, TypeVar

from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError

Answer = TypeVar("Answer")

AGAIN: Final = (Reason.WRITE_CONFLICT, Reason.LOCK_LOST)
_SHORTEST: Final = 0.5
# Writers that conflicted do not come back in step; nothing depends on the numbers.
_RANDOM: Final = random.Random()  # noqa: S311


def retry_on_conflict(
    write: Callable[[], Answer],
    attempts: int = 4,
    pause: float = 0.2,
    longest_pause: float = 10.0,
    sleep: Callable[[float], None] = time.sleep,
) -> Answer:
    """What `write` answers, called up to `attempts` times while it is refused for a conflict or a lost lock.

    A write that was refused left nothing; called again, it builds on what the other one committed. Between two calls
    it waits, `pause` seconds at first and twice as long each time, up to `longest_pause`, less a random part of up to
    half.

    Raises:
        HudiError: the last refusal, when no attempt is left; at once for any other reason.
        ValueError: fewer than one attempt.

    Clauses: OW-005, OW-009.

    """
    if attempts < 1:
        raise ValueError("at least one attempt is needed")
    for attempt in range(attempts - 1):
        try:
            return write()
        except HudiError as error:
            if error.reason not in AGAIN:
                raise
        sleep(min(longest_pause, pause * 2**attempt) * _RANDOM.uniform(_SHORTEST, 1))
    return write()
