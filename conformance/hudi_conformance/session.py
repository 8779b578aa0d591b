"""One adapter process: started once, asked step by step under a time limit, started again when it died or hung."""

import contextlib
import itertools
import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from hudi_adapter.messages import MessageError, check_message, check_value
from hudi_adapter.protocol import PROTOCOL_VERSION

START_LIMIT_S = 180.0
START: Mapping[str, Any] = {"cmd": "start", "protocol": PROTOCOL_VERSION}
_TAIL_BYTES = 2000
_START_ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class Reply:
    """A message that answers, in the form of the protocol."""

    message: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Broken:
    """No usable answer: the process died, or what it said breaks the protocol (`caught` tells them apart)."""

    why: str
    caught: bool


@dataclass(frozen=True, slots=True)
class Hung:
    """No answer within the limit."""

    limit_s: float


Heard = Reply | Broken | Hung


class Session:
    """A long-lived adapter process; its stderr goes to `log`, and it runs in `folder` where one is given."""

    def __init__(
        self, command: Sequence[str], log: Path, start_limit_s: float = START_LIMIT_S, folder: Path | None = None
    ) -> None:
        self._command = tuple(command)
        self._log = log
        self._folder = folder
        self._start_limit_s = start_limit_s
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._numbers = itertools.count(1)
        self.started: Mapping[str, Any] | None = None
        self.starts = 0
        self._failed_starts = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> Heard:
        """Start the process (again) and say hello; the reply is kept in `started`."""
        self.kill()
        if self._failed_starts >= _START_ATTEMPTS:
            return Broken("the adapter could not be started before", caught=False)
        self._failed_starts += 1
        try:
            self._spawn()
        except OSError as error:
            return Broken(f"{self._command[0]}: {error.strerror}", caught=False)
        heard = self._exchange(START, self._start_limit_s)
        if isinstance(heard, Reply):
            heard = _checked("started", heard)
        if isinstance(heard, Reply):
            self.started = heard.message
            self._failed_starts = 0
        else:
            self.kill()
        return heard

    def ask(self, op: str, table: Path, params: Mapping[str, Any], out_dir: Path, limit_s: float) -> Heard:
        """One question; a process that died or hung before is started first, one that does so now is ended."""
        if self._process is None or self._process.poll() is not None:
            heard = self.start()
            if not isinstance(heard, Reply):
                return heard
        seq = next(self._numbers)
        heard = self._exchange(question(seq, op, table, params, out_dir, limit_s), limit_s)
        heard = checked_answer(op, seq, heard)
        if not isinstance(heard, Reply):
            # Whatever it still says would be taken for the next answer.
            self.kill()
        return heard

    def stop(self, limit_s: float = 15.0) -> int | None:
        """Ask the process to leave; the exit status, or None when it had to be killed or never ran."""
        process = self._process
        if process is None:
            return None
        with contextlib.suppress(OSError, ValueError):
            _send(process, {"cmd": "stop"})
            _stdin(process).close()
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self.kill()

    def kill(self) -> None:
        """End the process and what it started: the process group that was made for it."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError, ValueError):
                if stream is not None:
                    stream.close()

    def _spawn(self) -> None:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._lines = queue.SimpleQueue()
        # A log of its own for each run, that of all its processes.
        with self._log.open("ab" if self.starts else "wb") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self._folder,
                env={**os.environ, "TZ": "UTC"},
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        self.starts += 1
        threading.Thread(target=_listen, args=(_stdout(self._process), self._lines), daemon=True).start()

    def _exchange(self, message: Mapping[str, Any], limit_s: float) -> Heard:
        process = self._process
        if process is None:
            return Broken("the process is not running", caught=False)
        try:
            _send(process, message)
            line = self._lines.get(timeout=limit_s)
        except (OSError, ValueError):
            return self._died(process)
        except queue.Empty:
            return Hung(limit_s)
        return self._died(process) if line is None else _parsed(line)

    def _died(self, process: subprocess.Popen[str]) -> Broken:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
        tail = self._log.read_bytes()[-_TAIL_BYTES:].decode("utf-8", "replace").strip().splitlines()
        last = f": {tail[-1]}" if tail else ""
        return Broken(f"the adapter's process ended with status {process.returncode}{last}", caught=False)


def _listen(stream: IO[str], lines: "queue.SimpleQueue[str | None]") -> None:
    with contextlib.suppress(OSError, ValueError):
        for line in stream:
            lines.put(line)
    lines.put(None)


def _send(process: subprocess.Popen[str], message: Mapping[str, Any]) -> None:
    stream = _stdin(process)
    stream.write(json.dumps(message, ensure_ascii=False) + "\n")
    stream.flush()


def _stdin(process: subprocess.Popen[str]) -> IO[str]:
    if process.stdin is None:
        raise ValueError("the process was started without a pipe to its stdin")
    return process.stdin


def _stdout(process: subprocess.Popen[str]) -> IO[str]:
    if process.stdout is None:
        raise ValueError("the process was started without a pipe from its stdout")
    return process.stdout


def _parsed(line: str) -> Heard:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return Broken(f"protocol: not a line of JSON on stdout: {line.strip()!r:.200}", caught=True)
    if not isinstance(message, dict):
        return Broken(f"protocol: a message is an object, not {line.strip()!r:.200}", caught=True)
    return Reply(message)


def _checked(name: str, reply: Reply) -> Heard:
    try:
        check_message(name, reply.message)
    except MessageError as error:
        return Broken(f"protocol: {error}", caught=True)
    return reply


def question(  # noqa: PLR0917 - the fields of the message
    seq: int, op: str, table: Path, params: Mapping[str, Any], out_dir: Path, limit_s: float
) -> Mapping[str, Any]:
    """The message that asks."""
    asked = {"cmd": "run", "seq": seq, "op": op, "table": str(table), "params": dict(params)}
    return {**asked, "out_dir": str(out_dir), "limit_s": limit_s}


def checked_answer(op: str, seq: int, heard: Heard) -> Heard:
    """An answer, unless its form or its value breaks the protocol."""
    checked = _checked("answer", heard) if isinstance(heard, Reply) else heard
    if not isinstance(checked, Reply):
        return checked
    if checked.message["seq"] != seq:
        return Broken(f"protocol: asked as seq {seq}, answered as {checked.message['seq']!r:.60}", caught=True)
    try:
        if "value" in checked.message.get("result", {}):
            check_value(op, checked.message["result"]["value"])
    except MessageError as error:
        return Broken(f"protocol: {error}", caught=True)
    return checked
