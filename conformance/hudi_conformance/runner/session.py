"""One adapter process: started once, asked step by step under a time limit, started again when it died or hung."""

import contextlib
import difflib
import json
import secrets
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from hudi_adapter.limits import MESSAGE_BYTES
from hudi_adapter.protocol import OPS, PROTOCOL_VERSION
from hudi_adapter.strict_json import JsonError, parse_json
from hudi_format.compat import Self

from hudi_conformance.runner.adapters_config import AdapterConfigError
from hudi_conformance.runner.child_process import ChildProcess, Nothing
from hudi_conformance.runner.messages import MessageError, check_message, check_value

START_LIMIT_S = 180.0
START: Mapping[str, Any] = {"cmd": "start", "protocol": PROTOCOL_VERSION}
START_FAILED = "the adapter could not be started"
"""How the message begins of every question to an adapter whose start has failed more than once."""
_START_ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class Reply:
    """A message that answers, in the form of the protocol."""

    message: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Broken:
    """No usable answer: the process died, or what it said breaks the protocol (`caught` distinguishes them)."""

    why: str
    caught: bool


@dataclass(frozen=True, slots=True)
class Hung:
    """No answer within the limit."""

    limit_s: float


Response = Reply | Broken | Hung


class Session:
    """A long-lived adapter process; its stderr goes to `log`, and it runs in `folder` where one is given."""

    def __init__(
        self, command: Sequence[str], log: Path, start_limit_s: float = START_LIMIT_S, folder: Path | None = None
    ) -> None:
        self._command = tuple(command)
        self._log = log
        self._folder = folder
        self._start_limit_s = start_limit_s
        self._process: ChildProcess | None = None
        self.started: Mapping[str, Any] | None = None
        self.starts = 0
        self._failed_starts = 0
        self._fault = ""
        self.output_at_stop = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> Response:
        """Start the process (again) and say hello; the reply is kept in `started`.

        Raises:
            AdapterConfigError: it names an op that the protocol does not have.

        """
        self.kill()
        if self._failed_starts >= _START_ATTEMPTS:
            return Broken(f"{START_FAILED}: {self._fault}", caught=False)
        self._failed_starts += 1
        try:
            self._process = ChildProcess(self._command, self._log, self._folder, append=self.starts > 0)
        except OSError as error:
            return self._failed(Broken(f"{self._command[0]}: {error.strerror}", caught=False))
        self.starts += 1
        response = self._exchange(START, self._start_limit_s)
        if isinstance(response, Reply):
            response = _checked("started", response)
        if not isinstance(response, Reply):
            return self._failed(response)
        try:
            refuse_unknown_ops(response.message["ops"])
        except AdapterConfigError:
            self.kill()
            raise
        self.started = response.message
        self._failed_starts = 0
        return response

    def _failed(self, response: Response) -> Response:
        self.kill()
        self._fault = response.why if isinstance(response, Broken) else f"no answer within {self._start_limit_s:g} s"
        return response

    def request(self, op: str, table: Path | str, params: Mapping[str, Any], out_dir: Path, limit_s: float) -> Response:
        """One question; a process that died or hung before is started first, one that does so now is ended."""
        if self._process is None or self._process.status is not None:
            response = self.start()
            if not isinstance(response, Reply):
                return response
        # Not to be guessed: an answer cannot come before its question.
        seq = secrets.randbelow(1 << 31)
        response = self._exchange(question(seq, op, table, params, out_dir, limit_s), limit_s)
        response = checked_answer(op, seq, response)
        if not isinstance(response, Reply):
            # Whatever it still says would be taken for the next answer.
            self.kill()
        return response

    def stop(self, limit_s: float = 15.0) -> int | None:
        """Ask the process to leave; the exit status, or None when it had to be killed or never ran."""
        process = self._process
        if process is None:
            return None
        with contextlib.suppress(OSError):
            process.send(_line({"cmd": "stop"}), limit_s)
            process.close_stdin()
        status = process.wait(limit_s)
        self.output_at_stop = process.unread()
        self.kill()
        return status

    def kill(self) -> None:
        """End the process and what it started."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()

    def _exchange(self, message: Mapping[str, Any], limit_s: float) -> Response:
        process = self._process
        if process is None:
            return Broken("the process is not running", caught=False)
        early = process.unread()
        if early:
            return Broken(f"protocol: on stdout without being asked: {early.strip()!r:.200}", caught=True)
        deadline = time.monotonic() + limit_s
        try:
            process.send(_line(message), limit_s)
        except TimeoutError:
            return Hung(limit_s)
        except OSError:
            return self._died(process)
        return self._received(process, process.line(deadline - time.monotonic()), limit_s)

    def _received(self, process: ChildProcess, line: bytes | Nothing, limit_s: float) -> Response:
        if line is Nothing.SILENT:
            return Hung(limit_s)
        if line is Nothing.TOO_LONG:
            return Broken(f"protocol: a line on stdout is longer than {MESSAGE_BYTES} bytes", caught=True)
        if isinstance(line, Nothing):
            return self._died(process)
        more = process.unread()
        return Broken(f"protocol: more than one answer: {more.strip()!r:.200}", caught=True) if more else _parsed(line)

    def _died(self, process: ChildProcess) -> Broken:
        status = process.wait(5.0)
        self.kill()
        tail = process.tail.strip().splitlines()
        last = f": {tail[-1]}" if tail else ""
        ended = (
            "the adapter closed its stdout" if status is None else f"the adapter's process ended with status {status}"
        )
        return Broken(f"{ended}{last}", caught=False)


def _line(message: Mapping[str, Any]) -> bytes:
    return (json.dumps(message, ensure_ascii=False) + "\n").encode()


def _parsed(line: bytes) -> Response:
    try:
        message = parse_json(line.decode())
    except (UnicodeDecodeError, JsonError) as error:
        shown = line.decode("utf-8", "replace").strip()
        return Broken(f"protocol: not a line of JSON on stdout, {error!s:.100}: {shown!r:.200}", caught=True)
    if not isinstance(message, dict):
        return Broken(f"protocol: a message is an object, not {message!r:.200}", caught=True)
    return Reply(message)


def refuse_unknown_ops(ops: Sequence[str]) -> None:
    """Hold the ops that an adapter names against those of the protocol: a misspelt one would never be asked.

    Raises:
        AdapterConfigError: one is unknown.

    """
    for op in ops:
        if op not in OPS:
            near = difflib.get_close_matches(op[:80], OPS, n=1, cutoff=0.0)[0]
            raise AdapterConfigError(
                f"the adapter's answer to start names an unknown op, {op!r:.80}; did you mean {near!r}? "
                f"The ops are {', '.join(OPS)}"
            )


def _checked(name: str, reply: Reply) -> Response:
    try:
        check_message(name, reply.message)
    except MessageError as error:
        return Broken(f"protocol: {error}", caught=True)
    # Not in the schema: validators compare every two of a long list.
    for words in (reply.message["features"], reply.message["ops"]) if name == "started" else ():
        if len(set(words)) < len(words):
            twice, _ = Counter(words).most_common(1)[0]
            return Broken(f"protocol: {name}: {twice!r:.80} stands in a list twice", caught=True)
    return reply


def question(  # noqa: PLR0917 - the fields of the message
    seq: int, op: str, table: Path | str, params: Mapping[str, Any], out_dir: Path, limit_s: float
) -> Mapping[str, Any]:
    """The message that asks."""
    message = {"cmd": "run", "seq": seq, "op": op, "table": str(table), "params": dict(params)}
    return {**message, "out_dir": str(out_dir), "limit_s": limit_s}


def checked_answer(op: str, seq: int, response: Response) -> Response:
    """An answer, unless its form or its value breaks the protocol."""
    checked = _checked("answer", response) if isinstance(response, Reply) else response
    if not isinstance(checked, Reply):
        return checked
    # True equals 1.
    if isinstance(checked.message["seq"], bool) or checked.message["seq"] != seq:
        return Broken(f"protocol: asked as seq {seq}, answered as {checked.message['seq']!r:.60}", caught=True)
    try:
        if "value" in checked.message.get("result", {}):
            check_value(op, checked.message["result"]["value"])
    except MessageError as error:
        return Broken(f"protocol: {error}", caught=True)
    return checked
