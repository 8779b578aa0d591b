"""A history played: processes started, stopped, and what they did judged."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hudi_conformance.histories.actors import Actor, DiedError, Stage, keep_on, keep_once, read_on, write_on, write_once
from hudi_conformance.histories.drawing import Drawing
from hudi_conformance.histories.judging import Judgement, judge, told_writes
from hudi_conformance.histories.records import Record
from hudi_conformance.histories.settings import Setting


@dataclass(frozen=True, slots=True)
class Played:
    """A history that is over."""

    setting: Setting
    seed: int
    record: Record
    judgement: Judgement
    table: Path

    def told(self) -> str:
        """One line of figures, then what is wrong."""
        record, judged = self.record, self.judgement
        services = {name: record.services.count(name) for name in sorted(set(record.services))}
        figures = (
            f"{self.setting.name}, seed {self.seed}: writes {told_writes(record.written)}; "
            f"{len(record.refused)} refusals; "
            f"{len(record.killed)} killed; {judged.reads} reads; services {services}; {judged.trace_lines} trace lines"
        )
        return "\n".join((figures, *(f"  wrong: {one}" for one in judged.wrong)))


def play(setting: Setting, command: tuple[str, ...], folder: Path, seconds: float, seed: int, *, kills: bool) -> Played:
    """Play one history below an empty folder."""
    record = Record()
    (folder / "table").mkdir(parents=True)
    (folder / "logs").mkdir()
    stage = Stage(setting, command, folder, record, seed, time.monotonic() + 3600)
    _begin(stage)
    stage = Stage(setting, command, folder, record, seed, time.monotonic() + seconds)
    _run(stage, kills=kills)
    _end(stage)
    return Played(setting, seed, record, judge(setting, record, stage.table, stage.trace), stage.table)


def _begin(stage: Stage) -> None:
    """The table, and every key that writers share."""
    actor = Actor("first", stage, mortal=False)
    actor.ask("create_table", stage.setting.create_params())
    write_once(actor, Drawing(0, 1, stage.seed).first())
    actor.stop()


def _run(stage: Stage, *, kills: bool) -> None:
    """Everybody at once."""
    works: list[Callable[[], None]] = []
    writers = stage.setting.writers
    for number in range(writers):
        actor = Actor(f"writer-{number}", stage, mortal=kills)
        works.append(partial(write_on, actor, Drawing(number, writers, stage.seed)))
    works.append(partial(keep_on, Actor("keeper", stage, mortal=kills)))
    works.append(partial(read_on, Actor("reader", stage, mortal=False)))
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
    except Exception as error:  # noqa: BLE001 - whatever it is, the history has failed
        stage.record.add(stage.record.wrong, f"{type(error).__name__}: {error}")


def _end(stage: Stage) -> None:
    """One more write and one more read by processes that live, after the hearts of the dead stand still."""
    time.sleep(1.5)
    actor = Actor("last", stage, mortal=False)
    write_once(actor, Drawing(stage.setting.writers, stage.setting.writers + 1, stage.seed).next())
    for service in stage.setting.services:
        keep_once(actor, service)
    actor.stop()
