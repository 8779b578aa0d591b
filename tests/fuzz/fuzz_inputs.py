"""Real bytes to damage, and how a parser is called on them."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hudi_conformance.runner.archive import unpacked_corpus
from hudi_format.errors import FormatError, UnsupportedFormat
from hudi_format.log import blocks
from hudi_format.storage import LocalStorage

GOLDEN = unpacked_corpus()
REFUSALS = (FormatError, UnsupportedFormat)
# The longest input that is damaged: what makes a parser fail is in heads and tails, not in the number of rows.
LONGEST = 48 * 1024


@dataclass(frozen=True)
class Target:
    """What reads bytes, bytes to damage, and the parsers that this reaches."""

    name: str
    run: Callable[[bytes], object]
    seeds: Callable[[], tuple[bytes, ...]]
    covers: tuple[Callable[..., Any], ...]

    def refuses_or_answers(self, data: bytes) -> None:
        """Anything but an answer or one of the two errors of this package comes out."""
        allowed(self.run, data)


def allowed(parse: Callable[..., object], *arguments: object) -> None:
    """Call a parser; its two errors are as good as an answer."""
    with contextlib.suppress(*REFUSALS):
        parse(*arguments)


@cache
def golden(pattern: str, count: int = 8) -> tuple[bytes, ...]:
    """Contents of files of the golden tables, of tables as different as can be."""
    tables = [table for version in ("v9", "v6", "v8", "v5") for table in sorted(GOLDEN.glob(f"{version}/*/table"))]
    found = (path for table in tables for path in sorted(table.glob(pattern))[:1])
    sized = (path.read_bytes() for path in found if 0 < path.stat().st_size <= LONGEST)
    distinct = {len(data): data for data in sized}
    chosen = [distinct[size] for size in sorted(distinct)]
    return tuple(chosen[:: max(1, len(chosen) // count)])


def real(*patterns: str) -> Callable[[], tuple[bytes, ...]]:
    return lambda: tuple(data for pattern in patterns for data in golden(pattern))


def fixed(*seeds: bytes | str) -> Callable[[], tuple[bytes, ...]]:
    return lambda: tuple(seed.encode() if isinstance(seed, str) else seed for seed in seeds)


def text(data: bytes) -> str:
    """What a listing makes of a name's bytes."""
    return data.decode("utf-8", "surrogateescape")


def each_block(data: bytes) -> Iterator[blocks.RawBlock]:
    for one in blocks.read_blocks(data, "f"):
        if isinstance(one, blocks.RawBlock):
            yield one


@cache
def folder() -> LocalStorage:
    """One place for files that are read by name; it lives as long as the process."""
    return LocalStorage(Path(tempfile.mkdtemp(prefix="hudi-fuzz-")))


PLACED: set[str] = set()


def placed(name: str, data: bytes) -> LocalStorage:
    """The folder with a file of that name and content in it."""
    folder().put(name, data)
    PLACED.add(name)
    return folder()
