"""What readers and writers of written tables are known to get wrong, each with what shows that the table is right."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hudi_format.compat import tomllib

from hudi_conformance.interop.fuzzing.reading_back import SAME, RowResult

_FILE = Path(__file__).with_name("known_readers.toml")


@dataclass(frozen=True, slots=True, eq=False)
class KnownReader:
    """One entry: whose word, on which tables (features), how the word looks, and why it is theirs."""

    who: str
    word: str
    why: str
    evidence: str
    features: Mapping[str, tuple[str, ...]]

    def explains(self, result: RowResult, who: str, word: str) -> bool:
        """Whether a word on a table is this one."""
        fits = all(result.features.get(name) in values for name, values in self.features.items())
        return fits and re.search(self.who, who) is not None and re.search(self.word, word) is not None


@cache
def known_readers() -> tuple[KnownReader, ...]:
    """All entries."""
    entries = tomllib.loads(_FILE.read_text(encoding="utf-8")).get("known", [])
    return tuple(
        KnownReader(
            one["who"],
            one["word"],
            one["why"],
            one["evidence"],
            {name: tuple(values) for name, values in one.get("features", {}).items()},
        )
        for one in entries
    )


def explained(result: RowResult) -> dict[KnownReader, list[str]]:
    """The entries that explain words on a table, with `row: who` for each word."""
    found: dict[KnownReader, list[str]] = {}
    for who, word in _others(result).items():
        for one in known_readers():
            if one.explains(result, who, word):
                found.setdefault(one, []).append(f"`{result.row}` {who}")
                break
    return found


def unexplained(result: RowResult) -> list[str]:
    """The words on a table that are neither `same` nor unsupported nor known."""
    return [
        f"{result.row}: {who}: {word}"
        for who, word in _others(result).items()
        if not any(one.explains(result, who, word) for one in known_readers())
    ]


def _others(result: RowResult) -> dict[str, str]:
    words = {"written": result.written, **result.read, **result.continued}
    return {who: word for who, word in words.items() if word != SAME and not word.startswith("unsupported")}
