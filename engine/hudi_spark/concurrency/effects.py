"""Every durable effect of a writer: one helper with two hooks, and what fails after an action has completed.

A caller that saw an error would do the action again, and an insert that is done again stands twice.

A lock with a lease may end at any instruction of its holder. So an effect of a holder first confirms the lock, and a
timeline file that others rely on is first claimed: from the claim on it appears, whoever puts it.

Whatever makes a durable change is a method here, named as in the vocabulary of effects; so traces are whole, and a test
can stop a writer between any two effects without a list of places to keep.

Clauses: OW-010.
"""

import json
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import Any, Final, ParamSpec, Protocol, TypeVar, cast

from hudi_format.names import TimelineFileName, TimelineState, parse_timeline_file_name, timeline_file_name
from hudi_format.storage import Storage
from hudi_format.table.markers import HEARTBEATS_FOLDER, MARKERS_FOLDER

from hudi_spark.errors import HudiError, OutcomeUnknownError, Reason, UnsupportedFeature
from hudi_spark.table_state import Instant, TableConfiguration, subfolder

_COLLECTED = threading.local()


@dataclass(frozen=True, slots=True)
class Failure:
    """A step after the completion that failed: which one, why, and the error's text.

    `reason`: one of specs/reasons.toml, `unsupported` for a feature that is not built, else the name of the error's
    class.
    """

    step: str
    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.step} failed: {self.message}"


class ServiceWarning(UserWarning):
    """A step after a completed action failed; the action stands."""


P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def afterwards(step: str) -> Iterator[None]:
    """Inside is a step after a completed action: an error of it is noted, and nothing is raised."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever failed, the action stands
        note(step, error)


def note(step: str, error: Exception) -> None:
    """A failed step becomes part of what the action under way answers; a warning as well."""
    failure = Failure(step, _reason(error), str(error) or type(error).__name__)
    stack = _stack()
    if stack:
        stack[-1].append(failure)
    # Where warnings are turned into errors the failure is in the answer all the same.
    with suppress(Warning):
        warnings.warn(f"the action stands; {failure}", ServiceWarning, stacklevel=3)


def with_failures(act: Callable[P, R]) -> Callable[P, R]:
    """A function that answers with an Outcome, into which goes what was noted while it ran."""

    @wraps(act)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        found: list[Failure] = []
        _stack().append(found)
        try:
            outcome = act(*args, **kwargs)
        finally:
            _stack().pop()
        if not found or not hasattr(outcome, "failures"):
            return outcome
        done: Any = outcome
        return cast("R", replace(done, failures=(*done.failures, *found)))

    return run


def _stack() -> list[list[Failure]]:
    if not hasattr(_COLLECTED, "stack"):
        _COLLECTED.stack = []
    return cast("list[list[Failure]]", _COLLECTED.stack)


def _reason(error: Exception) -> str:
    if isinstance(error, UnsupportedFeature):
        return "unsupported"
    return str(getattr(error, "reason", "")) or type(error).__name__


_HELD = threading.local()


class Fence(Protocol):
    """The lock that a thread holds, as effects see it."""

    def confirm(self) -> None:
        """Nothing while the lock is held; HudiError LOCK_LOST after."""

    def claim(self, path: str, content: bytes, parameters: Mapping[str, Any], folder: str) -> bool:
        """Whether the file, a path below the table, was claimed and has to appear now; False needs no claim.

        Raises:
            HudiError: LOCK_LOST, and then it does not appear.

        """

    def overtaken(self) -> bool:
        """Whether somebody has gone on since the last claim, and so has put its file."""


def fence_of(base: str) -> Fence | None:
    """The lock of a table that this thread holds."""
    found: Fence | None = _fences().get(base)
    return found


@contextmanager
def fenced(base: str, fence: Fence) -> Iterator[None]:
    """Inside, effects of this thread on a table ask its lock."""
    _fences()[base] = fence
    try:
        yield
    finally:
        del _fences()[base]


def _fences() -> dict[str, Fence]:
    if not hasattr(_HELD, "fences"):
        _HELD.fences = {}
    fences: dict[str, Fence] = _HELD.fences
    return fences


EffectName = str
"""A name of the vocabulary of effects: `create_instant`, `put_base_file`, ..."""

KILL_AT_VARIABLE: Final = "HUDI_SPARK_KILL_AT_EFFECT"
STOP_AT_VARIABLE: Final = "HUDI_SPARK_STOP_AT_EFFECT"
STOP_AFTER_VARIABLE: Final = "HUDI_SPARK_STOP_AFTER_EFFECT"
TRACE_VARIABLE: Final = "HUDI_SPARK_TRACE"
PROCESS_VARIABLE: Final = "HUDI_SPARK_TRACE_PROCESS"


@dataclass(frozen=True, slots=True)
class Effect:
    """One durable effect: its name, its parameters, and below which folder it happens (empty: the data table)."""

    name: EffectName
    parameters: Mapping[str, str] = field(hash=False)
    folder: str = ""

    def __str__(self) -> str:
        where = f" in {self.folder}" if self.folder else ""
        return f"{self.name}{where} {json.dumps(dict(self.parameters), sort_keys=True)}"


class Hook(Protocol):
    """Called around every effect; may raise, wait or end the process."""

    def before(self, effect: Effect) -> None:
        """The effect is about to happen."""

    def after(self, effect: Effect) -> None:
        """The effect has happened."""


@dataclass(frozen=True, slots=True)
class NoHook:
    """Nothing happens around effects."""

    def before(self, effect: Effect) -> None:
        """Nothing."""

    def after(self, effect: Effect) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True)
class TraceFile:
    """Appends a line of JSON for each effect on the data table; tasks on other hosts append to a file of theirs.

    Effects inside the metadata table are parts of `commit_metadata_table`, which has a line of its own.
    """

    path: str
    process: str = "writer"

    def before(self, effect: Effect) -> None:
        """Nothing."""

    def after(self, effect: Effect) -> None:
        """Append the line in one write, so that lines of several processes never mix."""
        if effect.folder:
            return
        # Who holds a lock is a process; its threads and actions take turns inside it.
        holder = {"holder": self.process} if "holder" in effect.parameters else {}
        line_fields = {"process": self.process, "effect": effect.name, **effect.parameters, **holder}
        line = json.dumps(line_fields, ensure_ascii=False)
        with Path(self.path).open("ab", buffering=0) as stream:
            stream.write(line.encode() + b"\n")


@dataclass(slots=True)
class KillAt:
    """Ends this process, as `kill -9` does, before the effect of a number (from 0) happens."""

    number: int
    seen: int = 0

    def before(self, effect: Effect) -> None:  # noqa: ARG002 - the number decides
        """Count, and die at the number."""
        if self.seen == self.number:
            os.kill(os.getpid(), signal.SIGKILL)
        self.seen += 1

    def after(self, effect: Effect) -> None:
        """Nothing."""


@dataclass(slots=True)
class StopAt:
    """Stops this process, as `kill -STOP` does, before the effect of a number (from 0), or right after it."""

    number: int
    after_it: bool = False
    seen: int = 0

    def before(self, effect: Effect) -> None:  # noqa: ARG002 - the number decides
        """Stop at the number."""
        if self.seen == self.number and not self.after_it:
            os.kill(os.getpid(), signal.SIGSTOP)
        self.seen += 1

    def after(self, effect: Effect) -> None:  # noqa: ARG002 - the number decides
        """Stop at the number."""
        if self.seen == self.number + 1 and self.after_it:
            self.after_it = False
            os.kill(os.getpid(), signal.SIGSTOP)


@dataclass(frozen=True, slots=True)
class Hooks:
    """Several hooks as one; those before an effect in order, those after it in reverse."""

    each: tuple[Hook, ...] = ()

    def before(self, effect: Effect) -> None:
        """Every hook, first to last."""
        for hook in self.each:
            hook.before(effect)

    def after(self, effect: Effect) -> None:
        """Every hook, last to first."""
        for hook in reversed(self.each):
            hook.after(effect)


def traced_process() -> str:
    """The name of this process in traces."""
    return os.environ.get(PROCESS_VARIABLE, "writer")


def hooks_of_environment() -> Hook:
    """The hooks that environment variables ask for: a trace file, and the number of the effect to die or stop at."""
    found: list[Hook] = []
    if trace := os.environ.get(TRACE_VARIABLE):
        found.append(TraceFile(trace, traced_process()))
    if number := os.environ.get(KILL_AT_VARIABLE):
        found.append(KillAt(int(number)))
    if number := os.environ.get(STOP_AT_VARIABLE):
        found.append(StopAt(int(number)))
    if number := os.environ.get(STOP_AFTER_VARIABLE):
        found.append(StopAt(int(number), after_it=True))
    return Hooks(tuple(found)) if found else NoHook()


_LEFT_FOR_SECONDS: Final = 3600.0
"""No living process leaves a file alone for so long while it puts it."""


@dataclass(frozen=True, slots=True)
class Effects:
    """Changes one table's storage; can be pickled, so that tasks of other processes write through it, too.

    Clauses: SA-001, TL-002.
    """

    storage: Storage
    hook: Hook = field(default_factory=NoHook)
    folder: str = ""

    def inside(self, folder: str) -> "Effects":
        """The same over a folder that holds a table of its own."""
        return Effects(subfolder(self.storage, folder), self.hook, f"{self.folder}/{folder}".strip("/"))

    def create_instant(self, configuration: TableConfiguration, name: TimelineFileName, content: bytes = b"") -> None:
        """A file of the active timeline appears, whole.

        Raises:
            HudiError: WRITE_CONFLICT when the file is there already.

        Clauses: TL-002, TL-007, SA-001.

        """
        path, parameters = timeline_path(configuration, name), _instant(name)
        self._create_instant(path, content, parameters, self._claimed(path, content, parameters))

    def complete_instant(self, configuration: TableConfiguration, name: TimelineFileName, content: bytes) -> None:
        """The completed file of an action appears: the action stands.

        After an error the file is looked for, so that an action that stands is not reported as failed.

        Raises:
            HudiError: WRITE_CONFLICT when another one's file is there already.
            OutcomeUnknownError: whether the file is there, or will be, is not known.

        Clauses: TL-002, SA-001, OW-010.

        """
        path, parameters = timeline_path(configuration, name), _instant(name)
        claimed = self._claimed(path, content, parameters)
        try:
            self._create_instant(path, content, parameters, claimed)
        except Exception as error:
            if not self._stands(path, content, parameters, error, claimed=claimed is not None):
                raise
            note("completion", error)

    def _claimed(self, path: str, content: bytes, parameters: Mapping[str, str]) -> Fence | None:
        """The lock by which a file of the timeline is claimed, where it has to be."""
        fence = self._fence()
        if fence is None or not fence.claim(joined(self.folder, path), content, parameters, self.folder):
            return None
        return fence

    def _create_instant(self, path: str, content: bytes, parameters: Mapping[str, str], claimed: Fence | None) -> None:
        with self._effect("create_instant", sure=claimed is not None, **parameters):
            if claimed is not None and claimed.overtaken():
                return
            if not self.storage.put_if_absent(path, content) and not (claimed and self.storage.read(path) == content):
                hint = "another writer has the same instant: write again"
                raise HudiError(Reason.WRITE_CONFLICT, "TL-002", "the instant is there already", path, hint=hint)

    def _stands(
        self, path: str, content: bytes, parameters: Mapping[str, str], error: Exception, *, claimed: bool
    ) -> bool:
        """Whether a completed file is there after an error; one that was claimed and is not will be put by others.

        Raises:
            OutcomeUnknownError: neither can be known.

        Clauses: LK-002, OW-010.

        """
        failure: Exception = error
        try:
            if self.storage.exists(path):
                return self.storage.read(path) == content
            known = not claimed
        except OSError as unread:
            known, failure = False, unread
        if known:
            return False
        raise OutcomeUnknownError(parameters["action"], parameters["requested"], path, str(failure)) from error

    def finish_instant(self, path: str, content: bytes, parameters: Mapping[str, Any]) -> None:
        """A timeline file that its writer claimed and did not put appears; nothing happens where it is there.

        Clauses: LK-002, TL-002.
        """
        with self._effect("create_instant", **parameters):
            self.storage.put_if_absent(path, content)

    def delete_instant(self, configuration: TableConfiguration, name: TimelineFileName) -> None:
        """A file of the active timeline disappears."""
        with self._effect("delete_instant", **_instant(name)):
            self.storage.delete(timeline_path(configuration, name))

    def put_marker(self, requested: str, partition: str, file: str, io_type: str) -> None:
        """A marker announces the data file that is about to be written.

        Clauses: MK-001.
        """
        with self._effect("put_marker", requested=requested, partition=partition, file=file, io_type=io_type):
            path = joined(MARKERS_FOLDER, requested, partition, f"{file}.marker.{io_type}")
            self.storage.put(path, b"")

    def delete_markers(self, requested: str) -> None:
        """The markers of one write disappear.

        Clauses: MK-001.
        """
        with self._effect("delete_markers", requested=requested):
            self.storage.delete_folder(joined(MARKERS_FOLDER, requested))

    def put_base_file(self, requested: str, partition: str, file: str, data: bytes) -> None:
        """A base file appears in a partition, whole."""
        with self._effect("put_base_file", requested=requested, partition=partition, file=file):
            self.storage.put(joined(partition, file), data)

    def put_log_file(self, requested: str, partition: str, file: str, data: bytes) -> None:
        """A log file appears in a partition, whole.

        Raises:
            HudiError: WRITE_CONFLICT when a file of the name is there already.

        """
        with self._effect("put_log_file", requested=requested, partition=partition, file=file):
            if not self.storage.put_if_absent(joined(partition, file), data):
                hint = "another writer appends to the same file group: write again"
                raise HudiError(Reason.WRITE_CONFLICT, "SL-005", "the log file is there already", file, hint=hint)

    def put_partition_metafile(self, requested: str, partition: str, file: str, data: bytes) -> bool:
        """A folder becomes a partition; False when it was one already.

        Clauses: SL-002.
        """
        path = joined(partition, file)
        if self.storage.exists(path):
            return False
        with self._effect("put_partition_metafile", requested=requested, partition=partition):
            return self.storage.put_if_absent(path, data)

    def delete_data_file(self, requested: str, partition: str, file: str) -> None:
        """A base or log file disappears."""
        with self._effect("delete_data_file", requested=requested, partition=partition, file=file):
            self.storage.delete(joined(partition, file))

    def delete_partition_metafile(self, requested: str, partition: str, file: str) -> None:
        """A folder that holds no file but this stops being a partition; locally the empty folder goes, too.

        Clauses: CN-011.
        """
        with self._effect("delete_data_file", requested=requested, partition=partition, file=file):
            self.storage.delete(joined(partition, file))
            if not self.storage.list_files(partition):
                self.storage.delete_folder(partition)

    def sweep(self) -> None:
        """What puts left whose process died goes: no effect of the table, as nobody lists it.

        That it cannot be removed fails nothing.

        Clauses: SA-001.
        """
        with suppress(OSError):
            self.storage.sweep(_LEFT_FOR_SECONDS)

    def put_properties(self, file: str, data: bytes) -> None:
        """The table's properties or their backup are written; `file` is a path below the table."""
        with self._effect("put_properties", file=file):
            self.storage.put(file, data)

    def put_new_properties(self, file: str, data: bytes) -> bool:
        """The properties of a new table appear; False, with nothing changed, where there are some."""
        with self._effect("put_properties", file=file):
            return self.storage.put_if_absent(file, data)

    def delete_properties(self, file: str) -> None:
        """The table's properties or their backup disappear, a step of their replacement."""
        with self._effect("put_properties", file=file):
            self.storage.delete(file)

    def put_index_file(self, path: str, data: bytes) -> None:
        """A file beside the timeline appears: an index definition, a hash ring, a schema's history."""
        with self._effect("put_properties", file=path):
            self.storage.put(path, data)

    def put_history_file(self, path: str, level: int, data: bytes) -> None:
        """A file of the history appears, which no manifest names yet.

        Clauses: AR-010.
        """
        with self._effect("put_history_file", file=path.rpartition("/")[2], level=str(level)):
            self.storage.put(path, data)

    def delete_history_file(self, path: str) -> None:
        """A file of the history disappears that no manifest in use names: an old file, manifest or log.

        Clauses: HS-011.
        """
        with self._effect("delete_history_file", file=path.rpartition("/")[2]):
            self.storage.delete(path)

    def append_archived_log(self, path: str, data: bytes, actions: int) -> None:
        """Before version 8 actions are archived: the next file of the archived log appears, whole.

        Clauses: HS-010.
        """
        with self._effect("append_archived_log", actions=str(actions)):
            self.storage.put(path, data)

    def put_manifest(self, path: str, version: int, data: bytes) -> None:
        """A manifest of the history appears, which is not current yet.

        Clauses: HS-003, AR-010.
        """
        with self._effect("put_manifest", version=str(version)):
            self.storage.put(path, data)

    def swap_version(self, path: str, version: int) -> None:
        """The history's version file names another manifest.

        Clauses: HS-002, AR-010.
        """
        with self._effect("swap_version", version=str(version)):
            self.storage.put(path, str(version).encode())

    def write_heartbeat(self, requested: str, content: bytes = b"") -> None:
        """The heartbeat of a write is renewed; `content` says whose it is.

        Clauses: MK-005.
        """
        with self._effect("write_heartbeat", requested=requested):
            self.storage.put(joined(HEARTBEATS_FOLDER, requested), content)

    def remove_heartbeat(self, requested: str) -> None:
        """The heartbeat of a write that has completed or was given up disappears.

        Clauses: MK-005.
        """
        with self._effect("delete_markers", requested=requested):
            self.storage.delete(joined(HEARTBEATS_FOLDER, requested))

    @contextmanager
    def commit_metadata_table(self, requested: str) -> Iterator[None]:
        """The metadata table records an action: what happens inside belongs to this one effect."""
        with self._effect("commit_metadata_table", requested=requested):
            yield

    @contextmanager
    def record(self, name: str, **parameters: str) -> Iterator[None]:
        """An effect that is no file of the table: a lock taken or let go, a time generated."""
        with self._effect(name, sure=False, **parameters):
            yield

    @contextmanager
    def _effect(self, name: str, *, sure: bool = False, **parameters: str) -> Iterator[None]:
        """What happens inside, between the hooks; under a lock only while it is held, unless it is `sure` to happen."""
        fence = None if sure else self._fence()
        if fence is not None:
            fence.confirm()
        effect = Effect(name, parameters, self.folder)
        self.hook.before(effect)
        yield
        self.hook.after(effect)

    def _fence(self) -> Fence | None:
        """The lock of the whole table, where this thread holds it."""
        return fence_of(self.storage.base.removesuffix(f"/{self.folder}") if self.folder else self.storage.base)


def timeline_path(configuration: TableConfiguration, name: TimelineFileName) -> str:
    """Where a file of the active timeline lies.

    Clauses: TL-007, PR-007.
    """
    return f"{configuration.timeline_folder}/{timeline_file_name(name, configuration.timeline_layout)}"


def joined(*parts: str) -> str:
    """Parts of a path with `/` between them; empty ones left out."""
    return "/".join(part for part in parts if part)


def _instant(name: TimelineFileName) -> dict[str, Any]:
    parameters = {"action": name.action, "state": name.state, "requested": name.requested}
    return parameters if name.completed is None else {**parameters, "completed": name.completed}


DOWNWARDS: Final[tuple[TimelineState, ...]] = ("COMPLETED", "INFLIGHT", "REQUESTED")


def delete_entries(
    effects: Effects,
    configuration: TableConfiguration,
    instant: Instant,
    states: tuple[TimelineState, ...] = DOWNWARDS,
) -> None:
    """Entries of an action leave the timeline, the highest state first; those that are gone already are passed over.

    Clauses: RB-009, SR-003, TL-017.
    """
    for state in states:
        path = instant.files.get(state)
        if path is not None and effects.storage.exists(path):
            delete_entry(effects, configuration, path)


def delete_entry(effects: Effects, configuration: TableConfiguration, path: str) -> None:
    """One file of the timeline goes.

    Clauses: TL-007.
    """
    name = parse_timeline_file_name(path.rpartition("/")[2], configuration.timeline_layout, path)
    if name is None:
        raise ValueError(f"{path} is no file of a timeline")
    effects.delete_instant(configuration, name)
