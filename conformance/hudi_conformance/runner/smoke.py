"""A first check of a new adapter: every message against its schema, the first violation reported readably."""

import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from hudi_conformance.runner.adapters_config import AdapterConfig, AdapterConfigError
from hudi_conformance.runner.plain_text import plain
from hudi_conformance.runner.session import Broken, Hung, Reply, Response, Session
from hudi_conformance.runner.work_folders import work_folder

_ABSENT_OP = "hudi_conformance_no_such_op"
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class _Check:
    """A rule of the protocol and how it is tried; the trial answers what is wrong, or nothing."""

    rule: str
    trial: Callable[[Session, Path], str]


def smoke(adapter: AdapterConfig, out: Console, limit_s: float = 60.0) -> int:
    """Try the protocol's rules one after the other; 0 when all hold, 1 at the first that does not."""
    with work_folder("hudi-conformance-smoke-") as folder:
        work = Path(folder)
        log = work / "stderr.log"
        with Session(adapter.command, log, limit_s, adapter.folder) as session:
            for check in _checks(limit_s):
                fault = check.trial(session, work)
                out.print(f"{'FAIL' if fault else 'ok  '} {check.rule}", markup=False)
                if fault:
                    _print_fault(adapter, fault, log, out)
                    return 1
    out.print(f"{adapter.name} speaks the protocol", markup=False)
    return 0


def _checks(limit_s: float) -> Iterator[_Check]:
    yield _Check("start is answered with protocol, implementation, features and ops", _started)
    yield _Check(
        "an op that the adapter does not have is answered `unsupported`", _requests(_ABSENT_OP, limit_s, _lacks)
    )
    yield _Check("a folder that is no table is answered `rejected` NOT_A_TABLE", _requests("", limit_s, _refuses))
    yield _Check("seq comes back as it was given, the process lives on", _requests("", limit_s, _refuses))
    yield _Check("stop is not answered, and the process exits with status 0", _stopped)


def _started(session: Session, _work: Path) -> str:
    try:
        return _fault(session.start())
    except AdapterConfigError as error:
        return str(error)


def _requests(op: str, limit_s: float, fault_of: Callable[[Reply], str]) -> Callable[[Session, Path], str]:
    def trial(session: Session, work: Path) -> str:
        number = len(list(work.iterdir()))
        table, answers = work / f"table-{number}", work / f"out-{number}"
        table.mkdir()
        answers.mkdir()
        response = session.request(op or _first_op(session), table, {}, answers, limit_s)
        return fault_of(response) if isinstance(response, Reply) else _fault(response)

    return trial


def _first_op(session: Session) -> str:
    ops = session.started["ops"] if session.started else []
    return "read_snapshot" if "read_snapshot" in ops or not ops else str(ops[0])


def _lacks(reply: Reply) -> str:
    return "" if "unsupported" in reply.message else f"answered {_kind(reply)}"


def _refuses(reply: Reply) -> str:
    # An adapter may begin with nothing but its name: what it lacks it says.
    if "unsupported" in reply.message:
        return ""
    refusal = reply.message.get("rejected")
    if refusal is None:
        return f"answered {_kind(reply)}"
    return "" if refusal["reason"] == "NOT_A_TABLE" else f"refused with {refusal['reason']}"


def _kind(reply: Reply) -> str:
    found = ("result", "rejected", "unsupported", "errored")
    kind = next(word for word in found if word in reply.message)
    body = reply.message[kind]
    return f"{kind}: {body['message']}" if kind == "errored" else f"{kind} {str(body)[:200]}"


def _stopped(session: Session, _work: Path) -> str:
    status = session.stop()
    if session.output_at_stop:
        return f"answered stop: {session.output_at_stop.strip()!r:.200}"
    return "" if status == 0 else f"exit status {status}" if status is not None else "still running after stop"


def _fault(response: Response) -> str:
    if isinstance(response, Hung):
        return f"no answer within {response.limit_s:g} s; is stdout flushed after every line?"
    return response.why if isinstance(response, Broken) else ""


def _print_fault(adapter: AdapterConfig, fault: str, log: Path, out: Console) -> None:
    out.print(f"     {plain(fault, _LONGEST)}", markup=False)
    tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-10:] if log.is_file() else []
    for line in tail:
        out.print(f"     stderr: {plain(line, _LONGEST)}", markup=False)
    command = " ".join("python" if word == sys.executable else shlex.quote(word) for word in adapter.command)
    out.print(f'     try it by hand: echo \'{{"cmd":"start","protocol":1}}\' | {command}', markup=False)
