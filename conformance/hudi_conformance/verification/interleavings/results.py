"""What came of playing the paths of one graph: a value that is kept as JSON until the page is written."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Result:
    """One graph and one player.

    `grain`: coarse, joined (effects that nobody sees join the one before them), whole. `edges`: of the graph; `played`:
    those on a path that was played. `barred`: edges that the player's own locks make impossible; `beyond`: those that
    are reached over such edges alone. `more`, `missing`: effects that a player had besides, and those it did without.
    """

    schedule: str
    grain: str
    executor: str
    states: int
    edges: int
    played: int
    paths: int
    turns: int
    failures: tuple[str, ...] = ()
    barred: int = 0
    beyond: int = 0
    more: tuple[tuple[str, int], ...] = ()
    missing: tuple[tuple[str, int], ...] = ()


def counted(kinds: Counter[str]) -> tuple[tuple[str, int], ...]:
    """Kinds and how often, by name."""
    return tuple(sorted(kinds.items()))


def save(path: Path, results: Sequence[Result]) -> None:
    """Keep results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(one) for one in results], indent=1) + "\n", encoding="utf-8")


def add(path: Path, result: Result) -> None:
    """Keep one more, in place of the one of the same schedule, grain and player."""
    others = [one for one in load(path) if _key(one) != _key(result)]
    save(path, [*others, result])


def _key(one: Result) -> tuple[str, ...]:
    return one.schedule, one.grain, one.executor


def load(path: Path) -> tuple[Result, ...]:
    """Results that were kept; none where there is no file."""
    if not path.exists():
        return ()
    entries = json.loads(path.read_text(encoding="utf-8"))
    return tuple(Result(**{key: _frozen(value) for key, value in one.items()}) for one in entries)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
