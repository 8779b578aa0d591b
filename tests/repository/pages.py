"""The code blocks of a page, run: files are written, commands executed, Python blocks executed in one process.

The first word after a fence says what the block is: `console` for commands, which begin with a dollar, and what they
print; `python` for code, whose output may stand in a `text` block below it; any word and a file's name for a file.
`python spark-4` is code for one major version of Spark: it runs, and is written again, where that one is installed.
Python goes before commands. `python tests/repository/pages.py PAGE` writes the outputs of a page again, `--here` where
it is run.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

FENCE = re.compile(
    r"^```(?P<info>\w[^\n]*)?\n(?P<text>(?:(?!^```$).*\n)*)^```$"
    r"(?:\n\n?^```text\n(?P<shown>(?:(?!^```$).*\n)*)^```$)?",
    re.MULTILINE,
)
VERSION_OF_SPARK = re.compile(r"spark-([0-9]+)(?:\.[0-9]+)*")
BIN = Path(sys.executable).parent
# A reader types at a terminal: pytest cuts no line where a CI service says that it is one, and colours differ.
OF_THE_MACHINE = {"CI", "BUILD_NUMBER", "FORCE_COLOR", "NO_COLOR", "PY_COLORS", "PYTEST_XDIST_WORKER"}
# What differs from one machine, or one day's corpus, to the next.
TIME = re.compile(r" in ([0-9.]+s( \([0-9:]+\))?|\.\.\.s)")
VARYING = (
    (TIME, " in ...s"),
    (re.compile(r"\b[0-9]+/[0-9]+\b"), "N/N"),
    (re.compile(r"\b[0-9]+ (passed|failed|skipped|unsupported|xfailed|warnings?|cases|answered)\b"), r"N \1"),
    # Instants, moments, and how long an action took; bars are as long as it did.
    # Those of the corpus stand: they are the same on each day.
    (re.compile(r"\b(?!20250101)20[0-9]{15}\b"), "an instant"),
    (re.compile(r"\b(?!2025-01-0)20[0-9]{2}-[0-9]{2}-[0-9]{2}[ T][0-9:.]+"), "a moment"),
    (re.compile(r"(?<= )[0-9.]+ (ms|s|min)(?= )"), "1 s"),
    (re.compile(r"█+"), ""),
    (re.compile(r"\b(to scale|even steps)\b"), "to scale"),
    (re.compile(r"/[^ :\"']*/(hudi-conformance-[^ :\"']*|pytest-of-[^ :\"']*)"), "/a/folder"),
    # How far a command is, which it says on stderr where it takes more than two seconds.
    (re.compile(r"^[^:\n]+: [0-9]+( of [0-9]+| s)$", re.MULTILINE), ""),
    (re.compile(r"[│┃━─┏┓┡┩├┤└┘┬┴┼╇╈ ]+"), " "),
)
RUN_BLOCKS = """
import contextlib, io, json, sys
names, printed = {"__name__": "__main__"}, []
for code in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "page", "exec"), names)
    printed.append(out.getvalue())
print(json.dumps(printed))
"""


@dataclass(frozen=True)
class Block:
    """A fenced block: what it is, the file that it is for, its text, and the text block below a Python block.

    `spark`: the major version of Spark that it is for, empty for any.
    """

    kind: str
    file: str
    text: str
    shown: str | None = None
    spark: str = ""


@dataclass(frozen=True)
class Command:
    """A command and the lines below it."""

    line: str
    shown: str


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return list(map(_block, FENCE.finditer(page)))


def _block(match: re.Match[str]) -> Block:
    kind, _, name = (match["info"] or "").strip().partition(" ")
    found = VERSION_OF_SPARK.fullmatch(name)
    return Block(kind, "" if found else name, match["text"], match["shown"], found[1] if found else "")


def commands(text: str) -> list[Command]:
    """The commands of a console block."""
    parts = (part.partition("\n") for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:])
    return [Command(line, shown) for line, _, shown in parts]


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as in a wide terminal, its errors beside its output."""
    environment = {
        **{name: value for name, value in os.environ.items() if name not in OF_THE_MACHINE},
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "120",
        "PYTEST_ADDOPTS": "",
    }
    return subprocess.run(  # noqa: S602 - a page's own commands
        f"set -o pipefail; {command}",
        shell=True,
        executable="/bin/bash",
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=280,
        check=False,
    )


def output(command: str, folder: Path) -> str:
    """What a command prints, without blanks at the ends of lines."""
    return "".join(f"{line.rstrip()}\n" for line in run(command, folder).stdout.splitlines())


def write_file(block: Block, folder: Path) -> None:
    """Write the file that a block is for, if it names one."""
    if block.file:
        (folder / block.file).write_text(block.text, encoding="utf-8")


def comparable(text: str) -> list[str]:
    """An output without what varies, line by line."""
    for pattern, instead in VARYING:
        text = pattern.sub(instead, text)
    return [line.strip() for line in text.splitlines() if line.strip()]


def printed(examples: list[Block], folder: Path) -> list[str]:
    """What each Python block prints, all run in one process."""
    done = subprocess.run(
        [sys.executable, "-c", RUN_BLOCKS],
        input=json.dumps([one.text for one in examples]),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return list(json.loads(done.stdout.splitlines()[-1]))


def is_example(block: Block, left_out: Mapping[str, str]) -> bool:
    """Whether a block is Python to run; `left_out` holds parts of blocks that are not run, with the reasons."""
    if block.spark not in {"", version("pyspark").partition(".")[0]}:
        return False
    return block.kind == "python" and not block.file and not any(part in block.text for part in left_out)


def written_anew(page: str, folder: Path, left_out: Mapping[str, str]) -> str:
    """The page with what its blocks print now."""
    texts = iter(printed([one for one in blocks(page) if is_example(one, left_out)], folder))

    def again(match: re.Match[str]) -> str:
        block = _block(match)
        write_file(block, folder)
        if block.kind == "console":
            pairs = [(one.line, TIME.sub(" in ...s", output(one.line, folder))) for one in commands(block.text)]
            return "```console\n" + "".join(f"$ {line}\n{shown}" for line, shown in pairs) + "```"
        if not is_example(block, left_out):
            return match[0]
        now = next(texts)
        if block.shown is None:
            return match[0]
        start, end = match.start("shown") - match.start(), match.end("shown") - match.start()
        return match[0][:start] + now + match[0][end:]

    return FENCE.sub(again, page)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as empty:
        where = Path.cwd() if "--here" in sys.argv else Path(empty)
        target.write_text(
            written_anew(target.read_text(encoding="utf-8"), where, {"s3://": "needs an object store"}),
            encoding="utf-8",
        )
