"""The examples of a page: Python blocks, which share their names, and commands; and the output below them."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(
    r"^```(?P<kind>\w+)[^\n]*\n(?P<text>.*?)^```$(?:\s*^```text\n(?P<shown>.*?)^```$)?", re.DOTALL | re.MULTILINE
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
    """A Python block, and the text block below it."""

    code: str
    shown: str | None


@dataclass(frozen=True)
class Command:
    """A command and the lines below it."""

    line: str
    shown: str


def python_blocks(page: Path) -> list[Block]:
    """The Python blocks of a page, in order."""
    found = FENCE.finditer(page.read_text(encoding="utf-8"))
    return [Block(match["text"], match["shown"]) for match in found if match["kind"] == "python"]


def commands(page: Path) -> Iterator[Command]:
    """The commands of a page's console blocks, in order."""
    for match in FENCE.finditer(page.read_text(encoding="utf-8")):
        if match["kind"] == "console":
            for part in re.split(r"^\$ ", match["text"], flags=re.MULTILINE)[1:]:
                line, _, shown = part.partition("\n")
                yield Command(line, shown)


def printed(blocks: list[Block], root: Path) -> list[str]:
    """What each block prints, all run in one process."""
    done = subprocess.run(
        [sys.executable, "-c", RUN_BLOCKS],
        input=json.dumps([one.code for one in blocks]),
        cwd=root,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return list(json.loads(done.stdout.splitlines()[-1]))


def written_anew(page: Path, root: Path) -> str:
    """The page with what its Python blocks print now below those that show it."""
    texts = iter(printed(python_blocks(page), root))

    def again(match: re.Match[str]) -> str:
        if match["kind"] != "python":
            return match[0]
        out = next(texts)
        if match["shown"] is None:
            return match[0]
        start, end = match.start("shown") - match.start(), match.end("shown") - match.start()
        return match[0][:start] + out + match[0][end:]

    return FENCE.sub(again, page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(written_anew(Path(name), Path.cwd()), encoding="utf-8")
