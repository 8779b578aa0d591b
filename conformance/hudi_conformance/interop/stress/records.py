"""What a stress run recorded: writes with what became of them, reads with what they answered, and who died."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hudi_adapter.rows import Rows

from hudi_conformance.interop.stress.generating import GeneratedWrite


@dataclass(frozen=True, slots=True)
class Written:
    """A write that was requested: `outcome` is committed, refused for a reason, or unknown as its process died."""

    process: str
    requested: str
    made: GeneratedWrite
    outcome: str


@dataclass(frozen=True, slots=True)
class Read:
    """A read: what was asked, the writes completed before and after it, and what it answered.

    `before` and `after`: requested times of the completed actions on the timeline.
    """

    op: str
    params: Mapping[str, str]
    before: frozenset[str]
    after: frozenset[str]
    rows: Rows


@dataclass(slots=True)
class Record:
    """Gathers what all actors tell; they run side by side."""

    written: list[Written] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    services: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    killed: list[str] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    tasks_killed: list[str] = field(default_factory=list)
    """Requests that failed as the process of a task was killed, on Spark."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, to: list[Any], what: Any) -> None:
        """One more entry in one of the lists."""
        with self._lock:
            to.append(what)

    @property
    def failed(self) -> bool:
        """Whether an actor met what must not be."""
        return bool(self.wrong)
