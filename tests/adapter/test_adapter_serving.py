"""The loop of an adapter process."""

import io
import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hudi_adapter import (
    Adapter,
    AnswerWarning,
    Implementation,
    Reason,
    Rejected,
    Request,
    Rows,
    RowsAnswer,
    Unsupported,
    ValueAnswer,
    serve,
)
from hudi_adapter.protocol import Answer, Operation
from hudi_adapter.rows import read_rows
from hudi_conformance.runner.messages import check_message

START = {"cmd": "start", "protocol": 1}
STOP = {"cmd": "stop"}
ROWS = Rows((("id", "string"),), (("k",),))


def _adapter(operation: Operation) -> Adapter:
    return Adapter(Implementation("test", "1"), ("cow",), {"read_snapshot": operation})


def _run(out_dir: Path, **more: Any) -> dict[str, Any]:
    question = {"cmd": "run", "seq": 7, "op": "read_snapshot", "table": str(out_dir), "params": {}}
    return {**question, "out_dir": str(out_dir), "limit_s": 60, **more}


def _served(adapter: Adapter, *messages: Any) -> list[dict[str, Any]]:
    lines = [message if isinstance(message, str) else json.dumps(message) for message in messages]
    answers = io.StringIO()
    serve(adapter, io.StringIO("\n".join(lines) + "\n"), answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def _says(answer: Answer) -> Operation:
    def operation(_request: Request) -> Answer:
        return answer

    return operation


def _raises(error: Exception) -> Operation:
    def operation(_request: Request) -> Answer:
        raise error

    return operation


def test_start_names_the_implementation():
    """Name, version, language, features, ops: as the schema asks."""
    (started,) = _served(_adapter(_says(ValueAnswer(1))), START, STOP)

    check_message("started", started)
    assert started["implementation"] == {"name": "test", "version": "1", "language": "python"}
    assert started["ops"] == ["read_snapshot"]


@pytest.mark.parametrize("rows", [ROWS, pa.table({"id": ["k"]})])
def test_rows_are_written_below_the_out_dir(tmp_path: Path, rows: Rows | pa.Table):
    """Logical rows or an Arrow table: the answer names the file."""
    (answer,) = _served(_adapter(_says(RowsAnswer(rows))), _run(tmp_path))

    check_message("answer", answer)
    assert read_rows(tmp_path / answer["result"]["rows_file"]) == ROWS


def test_a_file_written_by_the_adapter_is_named(tmp_path: Path):
    """An implementation that writes Parquet itself gives only the name."""
    (answer,) = _served(_adapter(_says(RowsAnswer("mine.parquet"))), _run(tmp_path))

    assert answer["result"] == {"rows_file": "mine.parquet"}


def test_warnings_go_with_the_answer(tmp_path: Path):
    """What was skipped is reported, with file and offset."""
    warning = AnswerWarning("LF-010", "torn", "a.log", 12)
    (answer,) = _served(_adapter(_says(ValueAnswer([], (warning,)))), _run(tmp_path))

    check_message("answer", answer)
    assert answer["warnings"] == [{"clause": "LF-010", "file": "a.log", "offset": 12, "message": "torn"}]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Rejected(Reason.NOT_A_TABLE, "no"), {"rejected": {"reason": "NOT_A_TABLE", "message": "no"}}),
        (
            Rejected("BASE_FILE_MISSING", "no", "java.io.X"),
            {"rejected": {"reason": "BASE_FILE_MISSING", "message": "no", "native": "java.io.X"}},
        ),
        (Unsupported("log-hfile"), {"unsupported": {"feature": "log-hfile"}}),
    ],
)
def test_typed_refusals_become_messages(tmp_path: Path, error: Exception, expected: dict[str, Any]):
    """Refusing and lacking are answers, not errors."""
    (answer,) = _served(_adapter(_raises(error)), _run(tmp_path))

    check_message("answer", answer)
    assert answer == {"seq": 7, **expected}


def test_any_other_exception_is_errored_with_its_traceback(tmp_path: Path):
    """The process lives on."""
    first, second = _served(_adapter(_raises(ZeroDivisionError("by zero"))), _run(tmp_path), _run(tmp_path, seq="b"))

    check_message("answer", first)
    assert first["errored"]["message"] == "by zero"
    assert "ZeroDivisionError" in first["errored"]["traceback"]
    assert second["seq"] == "b"


@pytest.mark.parametrize("seq", [0, "seven", None, [1, {"a": 2}], 1.5])
def test_seq_comes_back_as_it_was(tmp_path: Path, seq: Any):
    """It is the runner's, whatever it is."""
    (answer,) = _served(_adapter(_says(ValueAnswer(1))), _run(tmp_path, seq=seq))

    assert answer["seq"] == seq


def test_an_absent_op_is_unsupported_by_its_name(tmp_path: Path):
    """An adapter needs no code for what it does not have."""
    (answer,) = _served(_adapter(_says(ValueAnswer(1))), _run(tmp_path, op="write"))

    assert answer["unsupported"] == {"feature": "write"}


@pytest.mark.parametrize("line", ["not json", "[]", "3", '{"cmd":"fly"}', "{}", '{"cmd":"start","protocol":2}'])
def test_a_bad_line_is_answered_and_survived(line: str):
    """Nothing that is said ends the process but `stop`."""
    bad, good = _served(_adapter(_says(ValueAnswer(1))), line, START)

    assert "errored" in bad
    assert good["protocol"] == 1


def test_a_file_name_that_is_no_text_does_not_end_the_process(tmp_path: Path):
    adapter = _adapter(_raises(Rejected(Reason.INSTANT_MALFORMED, "in \udcff.commit")))
    requests, answers = tmp_path / "requests", tmp_path / "answers"
    requests.write_text(json.dumps(_run(tmp_path)) + "\n", encoding="utf-8")

    with requests.open(encoding="utf-8") as stdin, answers.open("w", encoding="utf-8") as stdout:
        serve(adapter, stdin, stdout)

    assert json.loads(answers.read_text(encoding="utf-8"))["rejected"]["message"] == "in ?.commit"


def test_nothing_is_answered_after_stop():
    """`stop` ends the loop, and the adapter is closed."""
    closed: list[bool] = []
    adapter = Adapter(Implementation("t", "1"), (), {}, on_stop=lambda: closed.append(True))

    assert _served(adapter, STOP, START) == []
    assert closed == [True]


NOISY = textwrap.dedent("""\
    import os, subprocess, sys
    from hudi_adapter import Adapter, Implementation, ValueAnswer, serve

    def noisy(request):
        print("a stray print")
        os.write(1, b"a stray write\\n")
        subprocess.run([sys.executable, "-c", "print('a stray child'); input()"], check=False)
        return ValueAnswer(1)

    serve(Adapter(Implementation("noisy", "1"), (), {"read_snapshot": noisy}))
    print("after the end")
    """)


def test_stdout_is_reserved_and_stdin_too(tmp_path: Path):
    """Prints of the adapter, its libraries and its children go to stderr, and no child eats the requests."""
    requests = "".join(json.dumps(message) + "\n" for message in (START, _run(tmp_path), _run(tmp_path), STOP))

    done = subprocess.run(
        [sys.executable, "-c", NOISY], input=requests, capture_output=True, text=True, check=True, timeout=60
    )

    assert [json.loads(line).get("seq") for line in done.stdout.splitlines()[:3]] == [None, 7, 7]
    for stray in ("a stray print", "a stray write", "a stray child"):
        assert stray in done.stderr
        assert stray not in done.stdout
