"""An adapter that misbehaves as a question's parameter `do` says; the other questions it answers as it should.

`hostile_adapter.py PIDS [START]`: the process and each child that it leaves behind write their ids below the folder
PIDS; START names a way in which the start goes wrong.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Message = dict[str, Any]
Answers = Callable[[Message], None]
GOOD = '{"schema":[{"name":"id","type":"string"}]}\n{"id":"k1"}\n'
ROWS = {"rows_file": "r.jsonl"}
LIMIT = 8 << 20


def send(text: str | bytes) -> None:
    """Write to stdout as it is."""
    left = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    while left:
        left = left[os.write(1, left) :]


def answer(request: Message, **content: Any) -> None:
    """A message of the protocol."""
    send(json.dumps({"seq": request["seq"], **content}) + "\n")


def result(request: Message, value: Any) -> None:
    """A value."""
    answer(request, result={"value": value})


def send_value(request: Message, text: str) -> None:
    """A value as it is written."""
    send(f'{{"seq":{request["seq"]},"result":{{"value":{text}}}}}\n')


def errored(request: Message, message: str, traceback: str = "") -> None:
    """An error of the adapter's own."""
    answer(request, errored={"message": message, "traceback": traceback})


def good(request: Message) -> None:
    """The rows that are expected."""
    rows(request, GOOD)


def rows(request: Message, text: str | bytes, name: str = "r.jsonl") -> None:
    """A rows file of these bytes."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    out(request, name).write_bytes(data)
    answer(request, result={"rows_file": name})


def out(request: Message, name: str = "r.jsonl") -> Path:
    """A file of the answer."""
    return Path(request["out_dir"]) / name


def linked(request: Message, target: str) -> None:
    """A rows file that is a link."""
    out(request).symlink_to(target)
    answer(request, result=ROWS)


def fifo(request: Message) -> None:
    """A rows file that nobody ever writes."""
    os.mkfifo(out(request))
    answer(request, result=ROWS)


def folder(request: Message) -> None:
    """A rows file that is a folder."""
    out(request).mkdir()
    answer(request, result=ROWS)


def linked_folder(request: Message) -> None:
    """A rows file below a folder that is a link."""
    away = Path(request["table"]) / "away"
    away.mkdir()
    (away / "r.jsonl").write_text(GOOD, encoding="utf-8")
    out(request, "sub").symlink_to(away)
    answer(request, result={"rows_file": "sub/r.jsonl"})


def sparse(request: Message) -> None:
    """A rows file of a terabyte of nothing."""
    with out(request).open("wb") as file:
        file.truncate(1 << 40)
    answer(request, result=ROWS)


def table_of(kind: str) -> Any:
    """Few bytes that become very many."""
    import pyarrow as pa  # noqa: PLC0415 - a process that starts again does so in no time

    nothing = 50_000_000
    match kind:
        case "one-cell":
            return pa.table({"id": pa.array([bytes(70 << 20)], pa.binary())})
        case "words":
            return pa.table({"id": pa.array(["x" * 100_000]).take(pa.array([0] * 2000))})
        case "dictionary":
            words = pa.array(["x" * 1_000_000])
            return pa.table({"id": pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), words)})
        case "views":
            view = pa.array(["x" * 1_000_000], pa.string_view()).buffers()
            views = pa.py_buffer(view[1].to_pybytes()[:16] * 100_000)
            return pa.table({"id": pa.Array.from_buffers(pa.string_view(), 100_000, [None, views, view[2]])})
        case "list":
            offsets = pa.array([0, nothing], pa.int32())
            return pa.table({"id": pa.ListArray.from_arrays(offsets, pa.nulls(nothing, pa.int8()))})
        case "nulls":
            return pa.table({f"c{number}": pa.nulls(500_000, pa.int8()) for number in range(4)})
        case _:
            raise ValueError(kind)


def parquet(request: Message, kind: str, **options: Any) -> None:
    """A Parquet file."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - likewise

    pq.write_table(table_of(kind), out(request, "r.parquet"), compression="zstd", **options)
    answer(request, result={"rows_file": "r.parquet"})


def arrow(request: Message, kind: str, compression: str | None = None) -> None:
    """An Arrow file."""
    import pyarrow as pa  # noqa: PLC0415 - a process that starts again does so in no time

    table, options = table_of(kind), pa.ipc.IpcWriteOptions(compression=compression)
    with (
        pa.OSFile(str(out(request, "r.arrow")), "wb") as sink,
        pa.ipc.new_file(sink, table.schema, options=options) as to,
    ):
        to.write_table(table)
    answer(request, result={"rows_file": "r.arrow"})


def offsets(request: Message) -> None:
    """An Arrow file whose text lies outside of it."""
    import pyarrow as pa  # noqa: PLC0415 - likewise

    table, sink = pa.table({"id": ["k" * 77]}), pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as to:
        to.write_table(table)
    good_offsets, bad_offsets = (pa.array([0, end], pa.int32()).buffers()[1].to_pybytes()[:8] for end in (77, 1 << 20))
    rows(request, sink.getvalue().to_pybytes().replace(good_offsets, bad_offsets), "r.arrow")


def leave_child() -> None:
    """A child that keeps stdout, in a session of its own: it has left the process group."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    note(child.pid)


def note(pid: int) -> None:
    """Leave a process id."""
    (Path(sys.argv[1]) / str(pid)).touch()


def child_and_answer(request: Message) -> None:
    """A child in a session of its own, and a good answer."""
    leave_child()
    good(request)


def child_and_death(_: Message) -> None:
    """A child that keeps the pipe while the adapter ends without an answer."""
    leave_child()
    os.write(2, b"last words\n")
    os._exit(7)


def flood(to: int) -> None:
    """Megabytes of lines, until somebody ends it."""
    block = b"INFO this and that\n" * 50_000
    while True:
        os.write(to, block)


def endless_line(_: Message) -> None:
    """A line that never ends."""
    block = b"x" * (1 << 20)
    while True:
        os.write(1, block)


def sleep(_: Message) -> None:
    """No answer."""
    time.sleep(600)


def dribble(_: Message) -> None:
    """A character now and then, never a line."""
    while True:
        send(" ")
        time.sleep(0.05)


def late(request: Message) -> None:
    """A good answer, and another one that nobody has requested."""
    good(request)
    time.sleep(0.5)
    send('{"seq":1,"unsupported":{"feature":"guessed"}}\n')


def deaf(request: Message) -> None:
    """A good answer, and no more questions are read."""
    good(request)
    time.sleep(600)


def nothing(request: Message) -> None:
    """Nothing is supported."""
    answer(request, unsupported={"feature": request["op"]})


NESTED = "[" * 100_000 + "]" * 100_000
WRITES: dict[str, Any] = {
    "sound": {"requested": "20250101000000000", "completed": "20250101000001000", "action": "commit"},
    "no-times": {"requested": None, "completed": None, "action": "commit"},
    "odd-times": {"requested": {"a": [1]}, "completed": ["\x1b"], "action": {"b": "\x00"}},
    "empty": {},
    "text": "\x1b[2J",
    "list": [1],
    "nothing": None,
    "number": 7,
}
DO: dict[str, Answers] = {
    "good": good,
    "fifo": fifo,
    "folder": folder,
    "endless-device": lambda request: linked(request, "/dev/zero"),
    "link-out": lambda request: linked(request, os.path.realpath(__file__)),
    "link-to-itself": lambda request: linked(request, "r.jsonl"),
    "linked-folder": linked_folder,
    "sparse": sparse,
    "no-file": lambda request: answer(request, result=ROWS),
    "name-with-nul": lambda request: answer(request, result={"rows_file": "a\0b.jsonl"}),
    "long-name": lambda request: answer(request, result={"rows_file": "a" * 100_000 + ".jsonl"}),
    "name-out": lambda request: answer(request, result={"rows_file": "../r.jsonl"}),
    "rows-surrogate": lambda request: rows(request, GOOD.replace("k1", "\\ud800")),
    "rows-no-utf8": lambda request: rows(request, GOOD.encode().replace(b"k1", b"\xff\xfe")),
    "rows-nested": lambda request: rows(request, GOOD.replace('"k1"', NESTED)),
    "rows-key-twice": lambda request: rows(request, GOOD.replace('"id":"k1"', '"id":"k2","id":"k1"')),
    "rows-nan": lambda request: rows(request, GOOD.replace('"string"', '"float64"').replace('"k1"', "NaN")),
    "rows-many-columns": lambda request: rows(
        request,
        json.dumps({"schema": [{"name": f"c{i}", "type": "int64"} for i in range(200_000)]}) + "\n" + "{}\n" * 1000,
    ),
    "rows-many": lambda request: rows(request, GOOD + '{"id":"k2"}\n' * 300_000),
    "rows-huge-decimal": lambda request: rows(
        request, GOOD.replace('"string"', '"decimal(10,2)"').replace("k1", "1E+999999999")
    ),
    "rows-long-type": lambda request: rows(
        request, GOOD.replace("string", "struct<" + "a:int32," * 500_000 + "a:int32>")
    ),
    "parquet-broken": lambda request: rows(request, b"PAR1" + b"\xff" * 1000 + b"PAR1", "r.parquet"),
    "parquet-one-cell": lambda request: parquet(request, "one-cell", use_dictionary=False, write_statistics=False),
    "parquet-words": lambda request: parquet(request, "words"),
    "parquet-delta": lambda request: parquet(
        request, "words", use_dictionary=False, column_encoding={"id": "DELTA_BYTE_ARRAY"}
    ),
    "parquet-nulls": lambda request: parquet(request, "nulls"),
    "parquet-list": lambda request: parquet(request, "list"),
    "arrow-broken": lambda request: rows(request, b"ARROW1\0\0" + b"\xff" * 1000 + b"ARROW1", "r.arrow"),
    "arrow-one-cell": lambda request: arrow(request, "one-cell", "zstd"),
    "arrow-one-cell-lz4": lambda request: arrow(request, "one-cell", "lz4"),
    "arrow-dictionary": lambda request: arrow(request, "dictionary"),
    "arrow-views": lambda request: arrow(request, "views"),
    "arrow-list": lambda request: arrow(request, "list", "zstd"),
    "arrow-nulls": lambda request: arrow(request, "nulls", "zstd"),
    "arrow-offsets": offsets,
    "surrogate": lambda request: errored(request, "\ud800"),
    "surrogate-bytes": lambda request: send(f'{{"seq":{request["seq"]},"errored":{{"message":"\ud800"}}}}\n'),
    "no-utf8": lambda _: send(b'{"seq":1,"errored":{"message":"\xff"}}\n'),
    "nul": lambda _: send(b"\0\n"),
    "controls": lambda request: errored(request, "\x1b[2J\x1b]0;title\x07 \r\b\x9b1A \u202eabc", "\x1b[31m\n\x00\x7f"),
    "megabytes": lambda request: errored(request, "long " * 500_000, "line\n" * 500_000),
    "unsupported-controls": lambda request: answer(request, unsupported={"feature": "\x1b[2J" + "f" * 1_000_000}),
    "rejected-controls": lambda request: answer(
        request, rejected={"reason": "NOT_A_TABLE", "message": "\x1b[2J\x00", "native": "\x1b"}
    ),
    "nested": lambda request: send_value(request, NESTED),
    "nested-a-little": lambda request: send_value(request, "[" * 900 + "]" * 900),
    "huge-int": lambda request: send_value(request, "9" * 100_000),
    "large-int": lambda request: send_value(request, "9" * 4000),
    "infinite": lambda request: send_value(request, "1e999"),
    "nan": lambda request: result(request, float("nan")),
    "key-twice": lambda request: send_value(request, '{"a":1,"a":2}'),
    "array": lambda _: send("[1]\n"),
    "null": lambda _: send("null\n"),
    "empty-line": lambda _: send("\n"),
    "half-a-line": lambda _: (send('{"seq":'), os._exit(0)),
    "wrong-seq": lambda _: send('{"seq":"other","unsupported":{"feature":"x"}}\n'),
    "seq-true": lambda _: send('{"seq":true,"unsupported":{"feature":"x"}}\n'),
    "nothing-in-it": answer,
    "two-kinds": lambda request: answer(request, unsupported={"feature": "x"}, errored={"message": "y"}),
    "unknown-reason": lambda request: answer(request, rejected={"reason": "NO_SUCH", "message": ""}),
    "many-violations": lambda request: answer(
        request, warnings=[{"a": i} for i in range(300_000)], result={"value": []}
    ),
    "two-at-once": lambda request: send(2 * f'{{"seq":{request["seq"]},"unsupported":{{"feature":"x"}}}}\n'),
    "long-message": lambda request: result(request, "x" * (LIMIT + 1)),
    "endless-line": endless_line,
    "flood": lambda _: flood(1),
    "flood-stderr": lambda _: flood(2),
    "dribble": dribble,
    "sleep": sleep,
    "die": lambda _: os._exit(7),
    "child-and-answer": child_and_answer,
    "child-and-death": child_and_death,
}


def start(way: str) -> None:
    """The answer to `start`."""
    who = {"name": "hostile", "version": "1", "language": "python"}
    features: list[Any] = []
    ops: list[Any] = ["read_snapshot", "create_table", "write"]
    if way == "mistyped":
        ops = ["read_snapshoot"]
    elif way == "odd-name":
        who = {"name": "\x1b[2J\u202e" + "n" * 100_000, "version": "\x00", "language": "x", "more": "y" * 100_000}
    elif way == "many-features":
        features = [{"a": i} for i in range(200_000)]
    elif way == "no-ops":
        ops = []
    send(json.dumps({"protocol": 1, "implementation": who, "features": features, "ops": ops}) + "\n")


def main() -> None:
    """Answer until `stop`."""
    way = sys.argv[2] if len(sys.argv) > 2 else ""
    note(os.getpid())
    for line in iter(sys.stdin.readline, ""):
        message = json.loads(line)
        if message["cmd"] == "stop":
            if way == "answers-stop":
                send('{"seq":0,"unsupported":{"feature":"stop"}}\n')
            if way == "stays":
                time.sleep(600)
            return
        if message["cmd"] == "start":
            start(way)
        else:
            do = message["params"].get("do", "nothing")
            if message["op"] in {"create_table", "write"}:
                result(message, WRITES[do])
                continue
            (DO.get(do) or {"late": late, "deaf": deaf, "nothing": nothing}[do])(message)


if __name__ == "__main__":
    main()
