"""The loop of an adapter process: one JSON message a line in, one out, until `stop` or the end of input."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from hudi_adapter.protocol import (
    PROTOCOL_VERSION,
    Adapter,
    Answer,
    AnswerWarning,
    Rejected,
    Request,
    RowsAnswer,
    Unsupported,
)
from hudi_adapter.rows import Rows, write_arrow, write_rows

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_FILE = "rows.jsonl"
ARROW_FILE = "rows.arrow"


def serve(adapter: Adapter, requests: TextIO | None = None, answers: TextIO | None = None) -> None:
    """Answer protocol messages until `stop`.

    With no streams given, stdin and stdout are taken over at the level of file descriptors:
    whatever this process or its children print to stdout goes to stderr, and nobody else reads the requests.
    """
    if requests is not None and answers is not None:
        _serve(adapter, requests, answers)
        return
    with _standard_streams() as (stdin, stdout):
        _serve(adapter, stdin, stdout)


@contextlib.contextmanager
def _standard_streams() -> Iterator[tuple[TextIO, TextIO]]:
    sys.stdout.flush()
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    printed = sys.stdout
    with requests, answers, Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        try:
            yield requests, answers
        finally:
            sys.stdout = printed


def _serve(adapter: Adapter, requests: TextIO, answers: TextIO) -> None:
    try:
        for line in requests:
            if not line.strip():
                continue
            answer = _answer_line(adapter, line)
            if answer is None:
                return
            answers.write(_line(answer))
            answers.flush()
    finally:
        adapter.on_stop()


def _line(answer: dict[str, Any]) -> str:
    """One message; bytes of a file name that are no text travel as question marks."""
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8") + "\n"


def _answer_line(adapter: Adapter, line: str) -> dict[str, Any] | None:
    """The message that answers a line; None at `stop`."""
    message: Any = None
    try:
        message = json.loads(line)
        if message["cmd"] == "stop":
            return None
        if message["cmd"] == "start":
            return _start(adapter, message)
        if message["cmd"] == "run":
            return {"seq": message["seq"], **_run(adapter, _request(message))}
        raise ValueError(f"unknown command {message['cmd']!r}")  # noqa: TRY301 - answered like any other error
    except Exception as error:  # noqa: BLE001 - whatever happens, the runner gets an answer
        seq = message.get("seq") if isinstance(message, dict) else None
        return {"seq": seq, "errored": {"message": _one_line(error), "traceback": traceback.format_exc()}}


def _start(adapter: Adapter, message: dict[str, Any]) -> dict[str, Any]:
    if message.get("protocol") != PROTOCOL_VERSION:
        raise ValueError(f"protocol {message.get('protocol')!r} is not {PROTOCOL_VERSION}")
    adapter.on_start()
    who = adapter.implementation
    return {
        "protocol": PROTOCOL_VERSION,
        "implementation": {"name": who.name, "version": who.version, "language": who.language},
        "features": list(adapter.features),
        "ops": sorted(adapter.operations),
    }


def _request(message: dict[str, Any]) -> Request:
    return Request(
        op=message["op"],
        table=Path(message["table"]),
        params=message.get("params") or {},
        out_dir=Path(message["out_dir"]),
        limit_s=float(message.get("limit_s", 60)),
        location=message["table"],
    )


def _run(adapter: Adapter, request: Request) -> dict[str, Any]:
    try:
        if request.op not in adapter.operations:
            raise Unsupported(request.op)  # noqa: TRY301 - one place turns refusals into messages
        return _result(adapter.operations[request.op](request), request.out_dir)
    except Rejected as refusal:
        native = {"native": refusal.native} if refusal.native else {}
        return {"rejected": {"reason": refusal.reason.value, "message": refusal.message, **native}}
    except Unsupported as lack:
        return {"unsupported": {"feature": lack.feature}}


def _result(answer: Answer, out_dir: Path) -> dict[str, Any]:
    warnings = {"warnings": [_warning(warning) for warning in answer.warnings]} if answer.warnings else {}
    if isinstance(answer, RowsAnswer):
        return {"result": {"rows_file": _rows_file(answer.rows, out_dir)}, **warnings}
    return {"result": {"value": answer.value}, **warnings}


def _rows_file(rows: Rows | pa.Table | str, out_dir: Path) -> str:
    if isinstance(rows, str):
        return rows
    if isinstance(rows, Rows):
        write_rows(out_dir / ROWS_FILE, rows)
        return ROWS_FILE
    write_arrow(out_dir / ARROW_FILE, rows)
    return ARROW_FILE


def _warning(warning: AnswerWarning) -> dict[str, Any]:
    return {"clause": warning.clause, "file": warning.file, "offset": warning.offset, "message": warning.message}


def _one_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]
