"""A process of somebody else's program: what it writes is read in bounds, and what it started ends with it."""

import contextlib
import os
import select
import selectors
import signal
import subprocess
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from pathlib import Path

from hudi_adapter.limits import LOG_BYTES, MESSAGE_BYTES

_CHUNK = 1 << 16
_TAIL_BYTES = 2000
_LOOK_EVERY_S = 0.1
_AFTER_DEATH_S = 0.5
_MARK = "HUDI_CONFORMANCE_PROCESS"


class Nothing(Enum):
    """Why there is no line."""

    SILENT = auto()
    ENDED = auto()
    TOO_LONG = auto()


class ChildProcess:
    """A process with a session of its own; its stderr goes to `log`, as much as the limit allows.

    Raises:
        OSError: it cannot be started.

    """

    def __init__(self, command: Sequence[str], log: Path, folder: Path | None = None, *, append: bool = False) -> None:
        # Whoever inherits this environment belongs to the process, in whatever group or session.
        self._mark = f"{_MARK}={uuid.uuid4().hex}"
        self._process = subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, "TZ": "UTC", _MARK: self._mark.partition("=")[2]},
            start_new_session=True,
        )
        streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._stdin, self._stdout, self._stderr = (stream.fileno() for stream in streams if stream is not None)
        for descriptor in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(descriptor, False)
        self._stop_reading, self._stopped = os.pipe()
        self._news = threading.Condition()
        self._lines: deque[bytes] = deque()
        self._rest, self._tail = b"", b""
        self._unread = 0
        self._ended = self._too_long = False
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log.open("ab" if append else "wb", buffering=0)
        self._room = LOG_BYTES - self._log.tell()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def status(self) -> int | None:
        """The exit status; None while it lives."""
        return self._process.poll()

    @property
    def tail(self) -> str:
        """The end of what it wrote to stderr."""
        return self._tail.decode("utf-8", "replace")

    def unread(self) -> str:
        """The beginning of what it wrote to stdout and nobody has requested; empty where there is nothing."""
        with self._news:
            if not self._unread and _readable(self._stdout):
                self._news.wait_for(lambda: self._unread or self._ended, _AFTER_DEATH_S)
            pending = (self._lines[0] if self._lines else self._rest)[:200]
            return pending.decode("utf-8", "replace") or ("..." if self._unread else "")

    def send(self, data: bytes, limit_s: float) -> None:
        """Write to its stdin.

        Raises:
            OSError: it has ended, or does not read.
            TimeoutError: it has not read all within the limit.

        """
        deadline, left = time.monotonic() + limit_s, memoryview(data)
        while left:
            try:
                left = left[os.write(self._stdin, left) :]
            except BlockingIOError:
                if self.status is not None:
                    raise BrokenPipeError from None
                if time.monotonic() > deadline:
                    raise TimeoutError from None
                _wait(self._stdin, select.POLLOUT, _LOOK_EVERY_S)

    def close_stdin(self) -> None:
        """Say that nothing more comes."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    def line(self, limit_s: float) -> bytes | Nothing:
        """The next line, or why there is none; who keeps the pipe of a process that has died is not waited for."""
        deadline, died = time.monotonic() + limit_s, 0.0
        with self._news:
            while self._too_long or not self._lines:
                now = time.monotonic()
                if self._too_long:
                    return Nothing.TOO_LONG
                if self._ended or (died and now > died + _AFTER_DEATH_S):
                    return Nothing.ENDED
                if now >= deadline:
                    return Nothing.SILENT
                if not died and self.status is not None:
                    died = now
                self._news.wait(min(_LOOK_EVERY_S, deadline - now))
            found = self._lines.popleft()
            self._unread -= len(found)
            return found

    def wait(self, limit_s: float) -> int | None:
        """The exit status; None where it has not ended within the limit."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(limit_s)
        return None

    def kill(self) -> None:
        """End the process and everything that it started, also what has left its process group."""
        _end_group(self._process.pid)
        for process in _marked(self._mark.encode()):
            _end(process)
        self.wait(10.0)
        os.write(self._stopped, b".")
        self._reader.join(10.0)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError, ValueError):
                if stream is not None:
                    stream.close()
        os.close(self._stopped)
        os.close(self._stop_reading)
        self._log.close()

    def _read(self) -> None:
        """Read both streams until they end, or until nobody wants to know."""
        with selectors.DefaultSelector() as ready:
            ready.register(self._stdout, selectors.EVENT_READ, self._take_output)
            ready.register(self._stderr, selectors.EVENT_READ, self._take_log)
            ready.register(self._stop_reading, selectors.EVENT_READ)
            while len(ready.get_map()) > 1:
                for key, _ in ready.select():
                    if key.data is None:
                        self._take_output(_chunk(self._stdout))
                        self._take_log(_chunk(self._stderr))
                        return
                    if not key.data(_chunk(key.fd)):
                        ready.unregister(key.fd)

    def _take_output(self, data: bytes | None) -> bool:
        """Put what was read into lines; no more is read where nobody has requested so much."""
        if data is None:
            return True
        with self._news:
            *lines, self._rest = (self._rest + data).split(b"\n") if b"\n" in data else (self._rest + data,)
            self._lines.extend(one + b"\n" for one in lines)
            self._unread += len(data)
            self._ended = not data
            self._too_long = self._unread > MESSAGE_BYTES
            self._news.notify_all()
            return not (self._ended or self._too_long)

    def _take_log(self, data: bytes | None) -> bool:
        if data is None:
            return True
        kept = data[: max(0, self._room)]
        self._room -= len(kept)
        self._log.write(kept)
        self._tail = (self._tail + data)[-_TAIL_BYTES:]
        return bool(data)


def _chunk(descriptor: int) -> bytes | None:
    """What there is to read; None where there is nothing yet."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _wait(descriptor: int, event: int, limit_s: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, event)
    return any(found & event for _, found in poll.poll(int(1000 * limit_s)))


def _readable(descriptor: int) -> bool:
    return _wait(descriptor, select.POLLIN, 0.0)


def _end_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _end(process: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, signal.SIGKILL)


def _marked(mark: bytes) -> Iterator[int]:
    """The processes whose environment holds a mark, where the system shows it (Linux); again for what they started."""
    for _ in range(5):
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (place / "environ").read_bytes():
                    found.append(int(place.name))
        yield from found
        if not found:
            return
