"""Why mutants survive, kept in explanations.toml, held against what became of them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hudi_format.compat import tomllib
from mutation_targets import ROOT
from results import Result

FILE: Final = ROOT / "tests" / "mutation" / "explanations.toml"
KINDS: Final = {
    "equivalent": "no answer can differ",
    "speed": "only how much is read or computed differs",
    "words": "only the words of a message differ",
    "open": "a gap that is not closed yet",
}
Key = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is said of one mutant: why it survives, or, of one that did, by what it is reported since."""

    key: Key
    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class Explanations:
    """Survivors explained, and gaps that were found and closed, by the mutants' keys."""

    survivors: Mapping[Key, Explanation]
    closed: Mapping[Key, Explanation]


def explanations(path: Path = FILE) -> Explanations:
    """Those of a file.

    Raises:
        ValueError: it does not parse, or an entry has no known kind, no reason, or stands twice.

    """
    stored = tomllib.loads(path.read_text(encoding="utf-8"))
    return Explanations(_by_key(stored.get("survivor", ()), KINDS), _by_key(stored.get("closed", ()), ("closed",)))


def _by_key(entries: Iterable[Mapping[str, Any]], kinds: Iterable[str]) -> dict[Key, Explanation]:
    found: dict[Key, Explanation] = {}
    for entry in entries:
        for key in _keys(entry):
            one = Explanation(key, entry.get("kind", "closed"), entry.get("why", "").strip())
            if key in found or one.kind not in kinds or not one.why:
                raise ValueError(f"{key}: stands twice, or has no kind of {', '.join(kinds)}, or no reason")
            found[key] = one
    return found


def _keys(entry: Mapping[str, Any]) -> Iterator[Key]:
    """One entry may stand for several operators, or several places, on equal lines."""
    operators, places = entry["operator"], entry.get("nth", 1)
    for operator in operators if isinstance(operators, list) else [operators]:
        for nth in places if isinstance(places, list) else [places]:
            yield entry["module"], entry["text"], operator, nth


def complaints(results: Iterable[Result], explained: Explanations) -> list[str]:
    """Survivors that nothing explains, and what is said of mutants of which it does not hold."""
    by_key = {one.key: one for one in results}
    silent = [one for one in by_key.values() if one.survived and one.key not in explained.survivors]
    lost = [key for key in explained.survivors if key not in by_key or not by_key[key].survived]
    reopened = [key for key in explained.closed if key not in by_key or not by_key[key].tried or by_key[key].survived]
    return [
        *(f"survived and not explained: {_shown(one.key)}, line {one.line}: {one.becomes}" for one in silent),
        *(f"explained, but killed, gone or not tried: {_shown(key)}" for key in lost),
        *(f"said to be closed, but survived, gone or not tried: {_shown(key)}" for key in reopened),
    ]


def _shown(key: Key) -> str:
    module, text, operator, nth = key
    return f"{module}: {text} [{operator} {nth}]"
