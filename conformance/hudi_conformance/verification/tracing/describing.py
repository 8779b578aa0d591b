"""What came of a trace, in the words of the trace again."""

from collections.abc import Iterable, Mapping

from hudi_conformance.verification.tla.expressions import Function
from hudi_conformance.verification.tracing.modules import INSTANTS, TEXTS, Names

SHOWN = 6
ANY = "*"


def named(line: Function, names: Names) -> dict[str, str]:
    """A line of the module as the trace would have it, without what its effect has no use for."""
    names_of_value: dict[str, str] = {}
    for name, value in sorted(line.pairs, key=str):
        if name in INSTANTS and value:
            names_of_value[str(name)] = names.instants.get(int(str(value)), "")
        elif name in TEXTS and value not in {"", ANY}:
            names_of_value[str(name)] = names.texts.get(str(value), str(value))
        elif name not in {*INSTANTS, *TEXTS} and value not in {"", 0}:
            names_of_value[str(name)] = str(value)
    return names_of_value


def describe_allowed(effect: str, allowed: Iterable[dict[str, str]]) -> str:
    """What a process might have done: first the lines of the effect that it had, then what else."""
    by_effect: dict[str, list[str]] = {}
    for line in allowed:
        by_effect.setdefault(line["effect"], []).append(in_words(line))
    same = by_effect.pop(effect, [])
    return "; ".join([*shortened(same), *(each for one in sorted(by_effect) for each in shortened(by_effect[one], 2))])


def shortened(lines: list[str], most: int = SHOWN) -> list[str]:
    """The first few, and how many there are besides."""
    return lines if len(lines) <= most else [*lines[: most - 1], f"{len(lines) - most + 1} more {lines[0].split()[0]}"]


def in_words(line: Mapping[str, str]) -> str:
    """An effect and what distinguishes it."""
    if line["effect"] == "generate_time":
        return "generate_time of a later time"
    kept = ("action", "state", "requested", "completed", "partition", "file", "number")
    return " ".join([line["effect"], *(line[name] for name in kept if name in line)])
