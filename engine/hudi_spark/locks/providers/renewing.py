"""A lease is renewed beside its holder's work.

Clauses: LK-002.
"""

import threading
from collections.abc import Callable


class Renewal:
    """Calls `renew` each so many seconds until stopped, or until it answers that the lock is lost.

    Clauses: LK-002.
    """

    def __init__(self, renew: Callable[[], bool], seconds: float) -> None:
        self.failed = False
        self._renew = renew
        self._seconds = seconds
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hudi-lock-renewal", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """No renewal after this."""
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.wait(self._seconds):
            if not self._renew():
                self.failed = True
                return
