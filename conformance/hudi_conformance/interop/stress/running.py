"""A stress run played: processes started, stopped, and what they did judged."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from hudi_conformance.interop.stress.actors import (
    Actor,
    DiedError,
    Stage,
    keep_on,
    keep_once,
    read_on,
    write_on,
    write_once,
)
from hudi_conformance.interop.stress.generating import WriteGenerator
from hudi_conformance.interop.stress.locks import lock_named
from hudi_conformance.interop.stress.records import Record
from hudi_conformance.interop.stress.settings import Setting
from hudi_conformance.interop.stress.verdicts import StressVerdict, check_run, describe_writes

CONFLICT = ": WRITE_CONFLICT"


@dataclass(frozen=True, slots=True)
class Played:
    """A stress run that is over, and how many seconds its processes ran."""

    setting: Setting
    seed: int
    seconds: float
    record: Record
    verdict: StressVerdict
    table: Path
    rereads: int = 0

    @property
    def conflicts(self) -> int:
        """How many writes and services were refused as they conflict with another."""
        return sum(one.endswith(CONFLICT) for one in self.record.refused)

    def describe(self) -> str:
        """One line of figures, then what is wrong."""
        record, decided = self.record, self.verdict
        services = {name: record.services.count(name) for name in sorted(set(record.services))}
        figures = (
            f"{self.setting.name}, seed {self.seed}: writes {describe_writes(record.written)}; "
            f"{len(record.refused)} refusals; {len(record.started)} processes, "
            f"{len(record.killed)} of them killed, {len(record.tasks_killed)} tasks killed; "
            f"{decided.reads} reads, {self.rereads} of the end; services {services}; {decided.trace_lines} trace lines"
        )
        return "\n".join((figures, *(f"  wrong: {one}" for one in decided.wrong)))


def run_stress(  # noqa: PLR0917 - all that a stress run is made of
    setting: Setting,
    command: tuple[str, ...],
    folder: Path,
    seconds: float,
    seed: int,
    helper: tuple[str, ...] = (),
    *,
    kills: bool,
) -> Played:
    """Run one stress run below an empty folder; `helper`: the command that begins, reads and ends it, if another."""
    record, started = Record(), time.monotonic()
    (folder / "table").mkdir(parents=True)
    (folder / "logs").mkdir()
    with lock_named(setting.lock, folder / "lock") as lock:
        stage = Stage(setting, lock, command, helper or command, folder, record, seed, time.monotonic() + 3600)
        _begin(stage)
        stage = replace(stage, until=time.monotonic() + seconds)
        _run(stage, kills=kills)
        _end(stage)
    took = time.monotonic() - started
    return Played(setting, seed, took, record, check_run(setting, record, stage.table, stage.trace), stage.table)


def _begin(stage: Stage) -> None:
    """The table, and every key that writers share."""
    actor = Actor("first", stage, mortal=False, helps=True)
    actor.request("create_table", stage.setting.create_params())
    write_once(actor, WriteGenerator(0, 1, stage.seed).first())
    actor.stop()


def _run(stage: Stage, *, kills: bool) -> None:
    """Everybody at once."""
    works: list[Callable[[], None]] = []
    writers = stage.setting.writers
    for number in range(writers):
        actor = Actor(f"writer-{number}", stage, mortal=kills)
        works.append(partial(write_on, actor, WriteGenerator(number, writers, stage.seed)))
    works.append(partial(keep_on, Actor("keeper", stage, mortal=kills)))
    works.append(partial(read_on, Actor("reader", stage, mortal=False, helps=True)))
    threads = [threading.Thread(target=_guarded, args=(work, stage)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _guarded(work: Callable[[], None], stage: Stage) -> None:
    try:
        work()
    except DiedError:
        return
    except Exception as error:  # noqa: BLE001 - whatever it is, the stress run has failed
        stage.record.add(stage.record.wrong, f"{type(error).__name__}: {error}")


def _end(stage: Stage) -> None:
    """One more write and one more read by processes that live, after the heartbeats of failed ones stopped."""
    time.sleep(1.5 * stage.setting.heartbeat_s)
    actor = Actor("last", stage, mortal=False, helps=True)
    write_once(actor, WriteGenerator(stage.setting.writers, stage.setting.writers + 1, stage.seed).next())
    for service in stage.setting.services:
        keep_once(actor, service)
    actor.stop()
