"""Runs a page's steps: files are written, commands run, outputs compared. `--write PAGE` puts the outputs down.

A fence names what its lines are: "console" for commands (lines that begin with a dollar and a blank) and what they
print, a language and a file's name for a file, anything else is only read.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(?P<info>.*)\n(?P<text>(?:(?!^```$).*\n)*)^```$", re.MULTILINE)
BIN = Path(sys.executable).parent
# A reader types at a terminal: pytest cuts no line where a CI service says that it is one, and colours differ.
OF_THE_MACHINE = {"CI", "BUILD_NUMBER", "FORCE_COLOR", "NO_COLOR", "PY_COLORS"}
# What differs from one machine, or one day's corpus, to the next.
TIME = re.compile(r" in ([0-9.]+s( \([0-9:]+\))?|\.\.\.s)")
VARYING = (
    (TIME, " in ...s"),
    (re.compile(r"\b[0-9]+/[0-9]+\b"), "N/N"),
    (re.compile(r"\b[0-9]+ (passed|failed|skipped|unsupported|xfailed|warnings?|cases|answered)\b"), r"N \1"),
    (re.compile(r"/[^ :\"']*/(hudi-conformance-[^ :\"']*|pytest-of-[^ :\"']*)"), "/a/folder"),
    (re.compile(r"[│┃━─┏┓┡┩├┤└┘┬┴┼╇╈ ]+"), " "),
)


@dataclass(frozen=True)
class Command:
    """A command of a page, and the output that the page has for it."""

    line: str
    output: str


def steps(page: str) -> Iterator[tuple[str, str]]:
    """The fences of a page: what they are, and their text."""
    for match in FENCE.finditer(page):
        yield match["info"].strip(), match["text"]


def commands(text: str) -> list[Command]:
    """The commands of a console fence."""
    found = [part.partition("\n") for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]]
    return [Command(line, output) for line, _, output in found]


def run(command: str, folder: Path) -> str:
    """What a command prints, errors beside it."""
    environment = {
        **{name: value for name, value in os.environ.items() if name not in OF_THE_MACHINE},
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "120",
        "PYTEST_ADDOPTS": "",
    }
    done = subprocess.run(  # noqa: S602 - a page's own commands
        f"set -o pipefail; {command}",
        shell=True,
        executable="/bin/bash",
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def write_file(info: str, text: str, folder: Path) -> None:
    """The file of a fence such as "python my_adapter.py"; nothing where it names none."""
    words = info.split()
    if len(words) == 2:
        (folder / words[1]).write_text(text, encoding="utf-8")


def comparable(output: str) -> list[str]:
    """An output without what varies, line by line."""
    for pattern, instead in VARYING:
        output = pattern.sub(instead, output)
    return [line.strip() for line in output.splitlines() if line.strip()]


def written_anew(page: str, folder: Path) -> str:
    """The page with what its commands print now."""

    def again(match: re.Match[str]) -> str:
        if match["info"].strip() != "console":
            write_file(match["info"], match["text"], folder)
            return match[0]
        printed = ((one.line, TIME.sub(" in ...s", run(one.line, folder))) for one in commands(match["text"]))
        printed_lines = "".join(f"$ {line}\n{output}" for line, output in printed)
        return f"```console\n{printed_lines}```"

    return FENCE.sub(again, page)


if __name__ == "__main__":
    target = Path(sys.argv[sys.argv.index("--write") + 1])
    with tempfile.TemporaryDirectory() as empty:
        target.write_text(written_anew(target.read_text(encoding="utf-8"), Path(empty)), encoding="utf-8")
