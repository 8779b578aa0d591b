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

# Strings and comments of Python, nearly: what is left are names.
TEXTS = re.compile(
    r'''"""(?:[^\\]|\\.)*?"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\#[^\n]*''',
    re.DOTALL,
)
IDENTIFIER = re.compile(r"\b[A-Za-z_]\w*")
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
TLA_COMMENT = re.compile(r"\\\*.*|\(\*.*?\*\)")
# What a reader expects in place of the word, and how often it may still stand; a number only ever goes down.
WORDS = {
    "told": ("reports, says, records", 31),
    "tells": ("reports, says", 17),
    "telling": ("reporting", 0),
    "unless told": ("by default", 0),
    "heard": ("response, received", 0),
    "deed": ("edit", 0),
    "deeds": ("edits", 0),
    "killing": ("mutation matrix; ending a process", 0),
    "lots": ("samples, shards", 0),
    "hearts": ("heartbeats", 0),
    "stranger": ("an unknown writer", 1),
    "strangers": ("unknown writers", 0),
    "affair": ("implementation-defined", 0),
    "whoever comes": ("any worker", 0),
    "comes out otherwise": ("gives another result", 0),
    "house": ("architecture, repository", 1),
    "rooms": ("packages", 0),
    "floors": ("layers", 0),
}

# Words that no name in Python has: what a reader expects in their place.
IN_NAMES = {
    "told": "reported, recorded, described",
    "telling": "reporting, describing",
    "asked": "requested, wanted, queried",
    "heard": "response, received",
    "said": "output, message, stated",
    "begun": "started, pending",
    "obligation": "property",
    "obligations": "properties",
    "judging": "verdict",
    "judged": "decided",
    "player": "executor",
    "players": "executors",
    "playing": "running, executing",
    "cast": "pool, participants",
    "casts": "pools",
    "mind": "local state",
    "deed": "edit, operation",
    "harm": "corruption",
    "heart": "heartbeat",
    "hearts": "heartbeats",
    "stranger": "unknown",
    "strangers": "unknown",
    "whoever": "any writer, any worker",
    "affair": "implementation-defined",
    "dead": "failed, crashed, deleted",
    "living": "active, running",
    "dies": "crashes",
    "dying": "crashing",
    "undoing": "rollback",
    "idle": "unneeded, nothing to do",
    "alternation": "mixed-writer run",
    "killing": "mutation matrix",
    "settling": "upgrade",
}
# Names that keep one: a form on disk or a protocol has it, TLA+ modules and recorded traces do, or cases cite it.
EXCEPTIONS = frozenset(
    {
        # Types: `typing.cast`, and columns in another type.
        "cast",
        "_cast",
        "cast_rows",
        # Keys of recorded results and of counterexamples.
        "asked",
        "dies",
        # Recipes, which their cases cite.
        "dead_after_staging",
        "dead_among_the_living",
        "dead_at_once",
        "dead_delete",
        "heart_that_beats",
        "lease_of_the_dead",
        "living_writer",
        "of_the_dead",
        "the_dead_leave_a_prefix",
        "widened_when_asked",
    }
)


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


def test_names_have_the_words_of_the_field(names: dict[str, str]):
    """Every part of a name, in snake case or camel case, outside of the exceptions."""
    found = {
        f"{place}: {name}, write {IN_NAMES[part]}"
        for name, place in names.items()
        if name not in EXCEPTIONS
        for part in parts(name) & IN_NAMES.keys()
    }

    assert found == set()


def test_every_exception_is_a_name_that_is_there(names: dict[str, str]):
    assert {name for name in EXCEPTIONS if name not in names} == set()


@pytest.fixture(scope="module")
def names() -> dict[str, str]:
    """Every identifier of the Python sources, with a file that has it; a tokenizer would take ten times as long."""
    done = subprocess.run(["git", "ls-files", "-z", "*.py"], cwd=ROOT, capture_output=True, check=True)  # noqa: S607
    found: dict[str, str] = {}
    for file in filter(None, done.stdout.decode().split("\0")):
        if (ROOT / file).is_file() and ROOT / file != Path(__file__):
            code = TEXTS.sub("", (ROOT / file).read_text(encoding="utf-8"))
            found |= dict.fromkeys(IDENTIFIER.findall(code), file)
    return found


def parts(name: str) -> set[str]:
    """The words of a name."""
    return set(CAMEL.sub("_", name).lower().split("_"))


def test_names_are_no_prose_and_messages_are():
    """The list holds for what people read."""
    file = Path(__file__).relative_to(ROOT).as_posix()

    texts = [text for _, _, text in pieces(file)]

    assert any("codespell finds words" in text for text in texts)
    assert not any("def " + "pieces" in text for text in texts)
