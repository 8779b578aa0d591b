"""A process of the engine as a thread that has its effects one turn at a time.

In a turn the process reads, works and has the effects that the turn asks for; after the last of them it stands still
inside `Hook.after`, so that what it reads next it reads in its next turn, as a process of the model does. It does not
stand still there when it has let go of the lock, which is free only after that: then it does so at the end of its phase
(begin, stage, commit; schedule, execute), or before its next effect.

    an effect that the turn asks for               is had
    the end of a lock that a later turn asks for   is had, and not asked for again: the engine's sections are shorter
    one that processes may have once more          is had while the turn still asks for others, and counted
    one that a later turn of the process asks for  has to wait for it; what this turn still asks for is missing
    one that no turn asks for                      is had, and counted

A process that asks for the lock while another one holds it, where the model's does not, waits, too.
"""

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hudi_conformance.verification.interleavings.fine import Label, label_of
from hudi_spark import HudiError, UnsupportedFeature
from hudi_spark.testing import Effect, table_lock

PATIENCE_S: Final = 15.0
_GOES_ON: Final = ("write_heartbeat", "release_lock")
_TAKE: Final = ("take_lock",)
_LET_GO: Final = ("release_lock",)
_UNNEEDED: Final = ("write_heartbeat", "generate_time")
_ONCE_MORE: Final = ("take_lock", "release_lock", "generate_time", "write_heartbeat", "delete_markers")
_OF_TASKS: Final = ("put_marker", "put_base_file", "put_log_file", "delete_data_file")
_LOOK_S: Final = 0.05
_OTHERS_S: Final = 3.0


class StuckError(Exception):
    """A process neither had the effects of its turn nor came to an end."""


class LockHeldError(Exception):
    """A process asks for a lock that another one holds, where the model's process does not."""


@dataclass(slots=True)
class Turnstile:
    """The hook of one process, and whether it is its turn.

    `asked`: what the turn still asks for, `later`: what later turns do. `missing`, `more`: what the process did not do
    of what it was asked, and did besides.
    """

    process: str
    requested: Counter[Label] = field(default_factory=Counter)
    later: Counter[Label] = field(default_factory=Counter)
    early: Counter[Label] = field(default_factory=Counter)
    missing: Counter[Label] = field(default_factory=Counter)
    more: Counter[Label] = field(default_factory=Counter)
    own: str = ""
    outcome: str | None = None
    is_on: bool = False
    is_free: bool = False
    changed: threading.Condition = field(default_factory=threading.Condition)
    thread: threading.Thread | None = None

    def before(self, effect: Effect) -> None:
        """Wait until the effect may be had."""
        if effect.folder:
            return
        label = self._label(effect)
        with self.changed:
            while not self._may_pass(label):
                if self._others_may_come(label) and self.changed.wait(_OTHERS_S):
                    continue
                if self.is_on:
                    self.missing += self.requested
                    self.requested.clear()
                self.is_on = False
                self.changed.notify_all()
                self.changed.wait()

    def _others_may_come(self, label: Label) -> bool:
        """Whether another task of the process may be about to have what the turn asks for."""
        return self.is_on and bool(self.requested) and label[0] in _OF_TASKS

    def after(self, effect: Effect) -> None:
        """Stand still where the turn is over."""
        if effect.folder:
            return
        with self.changed:
            if not self.requested and effect.name not in _GOES_ON:
                self._stand_still()

    def _stand_still(self) -> None:
        self.is_on = False
        self.changed.notify_all()
        self.changed.wait_for(lambda: self.is_on or self.is_free)

    def _label(self, effect: Effect) -> Label:
        parameters = effect.parameters
        if effect.name == "create_instant" and parameters["state"] == "REQUESTED":
            self.own = parameters["requested"]
        return label_of({"effect": effect.name, **parameters}, self.own)

    def _may_pass(self, label: Label) -> bool:
        if not self.is_on and not self.is_free:
            return False
        if self.requested[label]:
            self.requested -= Counter([label])
        elif label == _LET_GO and self.later[label] and self.more[_TAKE] == self.more[_LET_GO]:
            self.early[label] += 1
        elif self._has_to_wait(label):
            return False
        else:
            self.more[label] += 1
        return True

    def _has_to_wait(self, label: Label) -> bool:
        """Whether a later turn asks for an effect that is not one which the engine has more often."""
        once_more = label[0] in _ONCE_MORE and any(one[0] not in _UNNEEDED for one in self.requested)
        return not self.is_free and bool(self.later[label]) and not once_more

    def start(self, phases: Iterable[str]) -> None:
        """Begin; the process stands still before its first phase and between any two. The last states the outcome."""
        self.thread = threading.Thread(target=self._run, args=(phases,), name=self.process, daemon=True)
        self.thread.start()

    def _run(self, phases: Iterable[str]) -> None:
        with self.changed:
            self.changed.wait_for(lambda: self.is_on or self.is_free)
        try:
            outcome = self._outcome(phases)
        except HudiError as refusal:
            outcome = f"rejected {refusal.reason.value}"
        except UnsupportedFeature as lack:
            outcome = f"unsupported {lack.feature}"
        except Exception as error:  # noqa: BLE001 - what goes wrong in a thread is reported by the play
            outcome = f"errored {type(error).__name__}: {error}"
        with self.changed:
            self.outcome, self.is_on = outcome, False
            self.changed.notify_all()

    def _outcome(self, phases: Iterable[str]) -> str:
        outcomes = [""]
        for outcome in phases:
            outcomes.append(outcome)
            with self.changed:
                if not self.requested:
                    self._stand_still()
        return outcomes[-1]

    def turn(self, labels: Sequence[Label], later: Mapping[Label, int]) -> None:
        """One turn; comes back when the process stands still again, or has ended.

        Raises:
            StuckError: it does neither.

        """
        with self.changed:
            self.requested, self.later = Counter(labels), Counter(later)
            had = self.requested & self.early
            self.requested, self.early = self.requested - had, self.early - had
            if self.outcome is None and (self.requested or not had):
                self.is_on = True
                self.changed.notify_all()
                self._wait()
            self.missing += self.requested
            self.requested = Counter()

    def _wait(self) -> None:
        until = time.monotonic() + PATIENCE_S
        while not self.changed.wait_for(lambda: not self.is_on, _LOOK_S):
            looks = (self._waits_for_lock(), not self.changed.wait_for(lambda: not self.is_on, _LOOK_S))
            if all((*looks, self._waits_for_lock())):
                raise LockHeldError(f"{self.process} waits for the lock before {dict(self.requested)}")
            if time.monotonic() > until:
                raise StuckError(f"{self.process} waits, and {dict(self.requested)} did not happen")

    def _waits_for_lock(self) -> bool:
        """Whether the thread stands in the engine's function that takes the lock."""
        frame = sys._current_frames().get(self.thread.ident or 0) if self.thread else None
        return frame is not None and frame.f_code is table_lock.__wrapped__.__code__

    def end(self) -> None:
        """Let it run to its end; what it still does counts as more than was asked for.

        Raises:
            StuckError: it does not end.

        """
        with self.changed:
            self.is_free = True
            self.changed.notify_all()
        if self.thread is not None:
            self.thread.join(PATIENCE_S)
            if self.thread.is_alive():
                raise StuckError(f"{self.process} does not end")
