"""The processes of a stress run, each an adapter process driven by a thread: writers, a keeper of services, readers.

A process may be set to crash before one of its effects, as by `kill -9`; another then takes its place.
"""

import itertools
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hudi_adapter.rows import Rows

from hudi_conformance.interop.stress.generating import GeneratedWrite, WriteGenerator
from hudi_conformance.interop.stress.locks import Lock
from hudi_conformance.interop.stress.records import Read, Record, Written
from hudi_conformance.interop.stress.settings import Setting
from hudi_conformance.runner.session import Session
from hudi_conformance.runner.step_executor import Answer, Kind, StepExecutor

LIMIT_S = 120.0
# Whom a conflict or a lock refuses tries again; that is no fault.
_MAY_REFUSE = ("WRITE_CONFLICT", "LOCK_UNAVAILABLE", "LOCK_LOST")
# What Spark says of a task whose process was killed, and of the work that it was part of.
_TASK_KILLED = "Python worker exited unexpectedly"
# A plan may be carried out, or rolled back, by another process first.
_SERVICE_MAY_REFUSE = (*_MAY_REFUSE, "INSTANT_NOT_FOUND")


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a stress run plays: the setting, its lock, the folder with the table, the record.

    `command`: the adapter's, of writers and the keeper; `helper`: of who begins, reads and ends the stress run.
    """

    setting: Setting
    lock: Lock
    command: tuple[str, ...]
    helper: tuple[str, ...]
    folder: Path
    record: Record
    seed: int
    until: float

    @property
    def table(self) -> Path:
        """The table's folder."""
        return self.folder / "table"

    @property
    def trace(self) -> Path:
        """The file that every process adds its effects to."""
        return self.folder / "trace.ndjson"

    @property
    def configs(self) -> dict[str, str]:
        """The keys of every write and every service."""
        return {**self.setting.write_configs(), **self.lock.configs}

    @property
    def is_over(self) -> bool:
        """Whether time is up, or something went wrong."""
        return time.monotonic() > self.until or self.record.failed


class DiedError(Exception):
    """The actor's process ended, as configured."""


@dataclass(slots=True)
class Actor:
    """One process after another under one name; `mortal` ones get an effect to die at, others may help."""

    name: str
    stage: Stage
    mortal: bool = True
    helps: bool = False
    chance: random.Random = field(init=False)
    _session: Session | None = None
    _executor: StepExecutor | None = None
    _lives: int = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(f"{self.stage.seed}/{self.name}")  # noqa: S311 - not for secrets

    @property
    def process(self) -> str:
        """The name of the process of this life."""
        return f"{self.name}.{self._lives}"

    def request(self, op: str, params: Mapping[str, Any]) -> Answer:
        """The answer of the process.

        Raises:
            DiedError: the process ended before it answered.

        """
        answer = self._running().request(op, params)
        if answer.kind in {Kind.BROKEN, Kind.TIMEOUT}:
            self._bury(op, answer)
            raise DiedError
        return answer

    def input_file(self, rows: Rows) -> Path:
        """A new file with these rows."""
        return self._running().input_file(rows)

    def stop(self) -> None:
        """End the process."""
        if self._session is not None:
            self._session.stop()
            self._session = None

    def _bury(self, op: str, answer: Answer) -> None:
        record = self.stage.record
        self.stop()
        if self.mortal and "status -9" in answer.message:
            record.add(record.killed, self.process)
        else:
            record.add(record.wrong, f"{self.process}, {op}: {answer.describe()}")

    def _running(self) -> StepExecutor:
        """The player of a live process: the one of this life, or of a new one, with the files of all its lives."""
        if self._session is None:
            self._lives += 1
            self._session = self._started()
            files = self.stage.folder / "out" / self.name
            executor = self._executor or StepExecutor(self._session, self.stage.table, files, LIMIT_S, self.name)
            self._executor = replace(executor, adapter=self._session)
        assert self._executor is not None
        return self._executor

    def _started(self) -> Session:
        stage = self.stage
        stage.record.add(stage.record.started, self.process)
        environment = {"HUDI_SPARK_TRACE": str(stage.trace), "HUDI_SPARK_TRACE_PROCESS": self.process}
        if self.mortal:
            environment["HUDI_SPARK_KILL_AT_EFFECT"] = str(self.chance.randint(*stage.setting.lives))
        environment.update(stage.lock.environment)
        chosen = stage.helper if self.helps else stage.command
        command = ("env", *(f"{name}={value}" for name, value in environment.items()), *chosen)
        return Session(command, stage.folder / "logs" / f"{self.process}.log")


def write_on(actor: Actor, generator: WriteGenerator) -> None:
    """Write until time is up."""
    while not actor.stage.is_over:
        write_once(actor, generator.next())
    actor.stop()


def write_once(actor: Actor, made: GeneratedWrite) -> None:
    """One write in its three phases; who dies in the first has written nothing."""
    file = actor.input_file(made.rows)
    configs = actor.stage.configs
    params = {"txn": f"{actor.name}-{file.stem}", "operation": made.operation, "input": str(file), "configs": configs}
    record, process, requested = actor.stage.record, actor.process, ""
    try:
        for op in ("begin_write", "stage_write", "commit_write"):
            answer = actor.request(op, params)
            if not answer.is_result:
                _note_refusal(actor, op, answer, _MAY_REFUSE)
                outcome = f"refused {answer.reason if answer.kind is Kind.REJECTED else 'for an error'}"
                break
            requested = answer.value["requested"]
        else:
            outcome = "committed"
    except DiedError:
        outcome = "unknown"
    if requested:
        record.add(record.written, Written(process, requested, made, outcome))


def keep_on(actor: Actor) -> None:
    """Run services, in turn, until time is up."""
    for service in itertools.cycle(actor.stage.setting.services):
        if actor.stage.is_over:
            break
        try:
            keep_once(actor, service)
        except DiedError:
            continue
        time.sleep(actor.chance.random() / 5)
    actor.stop()


def keep_once(actor: Actor, service: str) -> None:
    """One service: planned and carried out, after what an earlier life left pending."""
    record, configs = actor.stage.record, {"configs": actor.stage.configs}
    if service == "archive":
        _serve(actor, "service", {"name": service, **configs})
        return
    for pending in _pending(actor, service):
        _serve(actor, "execute", {"requested": pending, **configs})
    found = _serve(actor, "schedule", {"service": service, **configs})
    if found is not None and found["requested"] is not None:
        _serve(actor, "execute", {"requested": found["requested"], **configs})
        record.add(record.services, service)


# Before version 8 a clustering is planned as a replacecommit; no write of a stress run replaces anything.
_PLANS = {"compaction": ("compaction",), "clustering": ("clustering", "replacecommit"), "clean": ("clean",)}


def _pending(actor: Actor, service: str) -> list[str]:
    """Plans that wait; those that an earlier life left."""
    named = _PLANS.get(service, ())
    return [
        one["requested"]
        for one in actor.request("list_timeline", {}).content or ()
        if one["state"] != "COMPLETED" and one["action"] in named
    ]


def _serve(actor: Actor, op: str, params: Mapping[str, Any]) -> Mapping[str, Any] | None:
    answer = actor.request(op, params)
    if answer.is_result:
        return answer.value
    _note_refusal(actor, f"{op} {params.get('service', params.get('name', ''))}", answer, _SERVICE_MAY_REFUSE)
    return None


def _note_refusal(actor: Actor, op: str, answer: Answer, allowed: tuple[str, ...]) -> None:
    record = actor.stage.record
    if answer.kind is Kind.REJECTED and answer.reason in allowed:
        record.add(record.refused, f"{op}: {answer.reason}")
    elif actor.mortal and answer.kind is Kind.ERRORED and _TASK_KILLED in f"{answer.message} {answer.detail}":
        record.add(record.tasks_killed, f"{actor.process}, {op}")
    else:
        record.add(record.wrong, f"{actor.process}, {op}: {answer.describe()}\n{answer.detail}"[:3000])


def read_on(actor: Actor) -> None:
    """Read the newest state, and what was new since the last read, until time is up."""
    begin = "0"
    while not actor.stage.is_over:
        known = completed_times(actor)
        read_once(actor, "read_snapshot", {}, frozenset(known))
        end = max((*known.values(), begin))
        if end > begin:
            read_once(actor, "read_incremental", {"begin": begin, "end": end}, frozenset(known))
            begin = end
    actor.stop()


def completed_times(actor: Actor) -> dict[str, str]:
    """By requested time of each completed action that writes, the time that ranges know it by."""
    listed = actor.request("list_timeline", {"include_history": True}).content or ()
    done = (one for one in listed if one["state"] == "COMPLETED")
    return {one["requested"]: one["completed"] or one["requested"] for one in done if one["action"] in _WRITES}


_WRITES = ("commit", "deltacommit", "replacecommit")


def read_once(actor: Actor, op: str, params: Mapping[str, str], before: frozenset[str]) -> None:
    """One read between two looks at the timeline."""
    record = actor.stage.record
    answer = actor.request(op, params)
    if answer.rows is None:
        record.add(record.wrong, f"{actor.process}, {op} {dict(params)}: {answer.describe()}\n{answer.detail}"[:3000])
        return
    record.add(record.reads, Read(op, params, before, frozenset(completed_times(actor)), answer.rows))
