"""Prose in plain words: pages, docstrings, comments and messages use the terms of docs/reference/glossary.md.

codespell finds words that are spelt wrongly (`make check`); these are spelt right, and are words of nobody's field.
"""

import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROSE = frozenset({".md", ".toml", ".tla", ".j2"})
DATA = ("golden_tables/", "conformance/writing_cases/", "conformance/trace_cases/")

TLA_COMMENT = re.compile(r"\\\*.*|\(\*.*?\*\)")
# What a reader expects in place of the word, and how often it may still stand; a number only ever goes down.
WORDS = {
    "told": ("reports, says, records", 353),
    "tells": ("reports, says", 170),
    "telling": ("reporting", 8),
    "unless told": ("by default", 34),
    "heard": ("response, received", 4),
    "deed": ("edit", 1),
    "deeds": ("edits", 0),
    "killing": ("mutation matrix; ending a process", 0),
    "lots": ("samples, shards", 0),
    "hearts": ("heartbeats", 15),
    "stranger": ("an unknown writer", 1),
    "strangers": ("unknown writers", 1),
    "affair": ("implementation-defined", 7),
    "whoever comes": ("any worker", 3),
    "comes out otherwise": ("gives another result", 7),
    "house": ("architecture, repository", 1),
    "rooms": ("packages", 0),
    "floors": ("layers", 0),
}


@pytest.mark.parametrize("word", WORDS)
def test_a_word_of_nobodys_field_does_not_come_back(word: str, prose: list[tuple[str, int, str]]):
    instead, ceiling = WORDS[word]
    pattern = re.compile(r"\b" + r"\s+".join(word.split()) + r"\b", re.IGNORECASE)

    found = [f"{file}:{line}" for file, line, text in prose for _ in pattern.finditer(text)]

    assert len(found) <= ceiling, f"{len(found)} times {word!r}, write: {instead}\n" + "\n".join(found)


@pytest.fixture(scope="module")
def prose() -> list[tuple[str, int, str]]:
    """All texts of the repository, by file and line."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)  # noqa: S607
    names = [name for name in done.stdout.decode().split("\0") if name and not name.startswith(DATA)]
    return [piece for name in names if ROOT / name != Path(__file__) for piece in pieces(name)]


def pieces(name: str) -> Iterator[tuple[str, int, str]]:
    """The texts of a file: of Python comments and strings, of TLA+ comments, and everything of what is no program."""
    path = ROOT / name
    if not path.is_file() or path.suffix not in PROSE | {".py"}:
        return
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        for number, line in enumerate(text.splitlines(), start=1):
            yield name, number, " ".join(TLA_COMMENT.findall(line)) if path.suffix == ".tla" else line
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in {tokenize.COMMENT, tokenize.STRING}:
            # What an f-string puts in are names.
            shown = re.sub(r"\{[^{}]*\}", "", token.string) if token.string[:1] in "fF" else token.string
            yield name, token.start[0], shown


def test_names_are_no_prose_and_messages_are():
    """The list holds for what people read."""
    file = Path(__file__).relative_to(ROOT).as_posix()

    texts = [text for _, _, text in pieces(file)]

    assert any("codespell finds words" in text for text in texts)
    assert not any("def " + "pieces" in text for text in texts)
