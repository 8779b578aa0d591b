"""Tables with old versions to clean and old actions to archive, and services that die where a test wants it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hudi_format.storage import LocalStorage
from hudi_spark import read_arrow
from hudi_spark.testing import Effect, Hook, Instant, Timeline, full_timeline, load_table
from written_tables import Written, rows

WITHOUT_METADATA = {"hoodie.metadata.enable": "false"}


class Died(BaseException):
    """The process ended: nothing in the code under test may answer to this."""


@dataclass
class CrashesAt:
    """Ends the work before the effect of a number."""

    number: int
    seen: list[str] = field(default_factory=list)

    def before(self, effect: Effect) -> None:
        if len(self.seen) == self.number:
            raise Died
        self.seen.append(effect.name)

    def after(self, effect: Effect) -> None:
        """Nothing."""


@dataclass
class Seen:
    """Remembers every effect."""

    effects: list[Effect] = field(default_factory=list)

    def before(self, effect: Effect) -> None:
        """Nothing."""

    def after(self, effect: Effect) -> None:
        self.effects.append(effect)

    def named(self, name: str) -> list[Mapping[str, Any]]:
        return [one.parameters for one in self.effects if one.name == name and not one.folder]


def upserted(path: Path, writes: int = 5, **more: Any) -> Written:
    """A table whose rows were all written so many times."""
    table = Written(path, **{"configs": WITHOUT_METADATA, **more})
    for n in range(writes):
        table.write("upsert", rows(range(4), ts=n, price=float(n)))
    return table


def timeline_of(table: Written) -> Timeline:
    return load_table(LocalStorage(table.path))[1]


def full_timeline_of(table: Written) -> list[Instant]:
    storage = LocalStorage(table.path)
    return list(full_timeline(storage, *load_table(storage)).instants)


def data_files(table: Written) -> list[str]:
    return [name for name in table.files() if not name.startswith(".hoodie/") and "_metadata" not in name]


def answers(table: Written, since: str = "") -> list[Any]:
    """What queries now, and as of every write from a time on, answer."""
    times = [one.requested for one in full_timeline_of(table) if one.action.endswith("commit")]
    moments = [None, *(time for time in times if time >= since)]
    return [sorted(map(repr, read_arrow(table.path, as_of=time).to_pylist())) for time in moments]


def deaths(run: Callable[[Hook], Any]) -> Iterator[CrashesAt]:
    """Runs something that dies before its first effect, then before its second, until it lives."""
    for number in range(200):
        hook = CrashesAt(number)
        try:
            run(hook)
        except Died:
            yield hook
        else:
            return
